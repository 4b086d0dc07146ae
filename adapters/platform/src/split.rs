//! Splits an answer at a platform's length limit.
//!
//! The text is split only as far as needed: into blocks (paragraphs, fenced code, tables), a block
//! that is too long into lines, a line into sentences, words, characters. Pieces are packed in
//! order into as few messages as that allows.

mod blocks;
mod pieces;

use crate::fence::{Fences, OpeningFence};
use crate::safe_text::ZERO_WIDTH_SPACE;
use crate::{SafeText, TextLimit};
use blocks::{Block, Code};
use pieces::SplitGranularity;

impl SafeText {
    /// Cuts the text into messages within `limit`; a text of blanks into none.
    ///
    /// Nothing is lost or reordered except blanks at the cuts. Fenced code stays whole if it fits
    /// into one message; otherwise each message closes the fence and the next one reopens it. An
    /// unclosed fence is closed. Where a cut would create a false fence, a zero-width space
    /// prevents it.
    ///
    /// A limit so small that a message cannot hold a fence and a few characters is kept, but
    /// fences are cut like other text then; a limit below one character is one character.
    pub fn split(&self, limit: TextLimit) -> Vec<Self> {
        let mut packer = Packer::new(limit);
        for block in blocks::of(self.as_str()) {
            match block {
                Block::Text(text) => packer.add_text(text, SplitGranularity::Block),
                Block::Code(code) => packer.add_code(&code),
            }
        }
        packer.finish()
    }
}

impl TextLimit {
    fn measure(self, text: &str) -> usize {
        match self {
            Self::Chars(_) => text.chars().count(),
            Self::Bytes(_) => text.len(),
            Self::Unlimited => 0,
        }
    }

    fn most(self) -> usize {
        match self {
            Self::Chars(most) | Self::Bytes(most) => most,
            Self::Unlimited => usize::MAX,
        }
    }
}

struct Packer {
    limit: TextLimit,
    parts: Vec<SafeText>,
    /// The message being filled, its fences balanced between two blocks.
    current: String,
    /// The length of `current`.
    length: usize,
    /// The last line of `current` is cut, so it may look like a fence.
    has_cut_line: bool,
}

impl Packer {
    fn new(limit: TextLimit) -> Self {
        Self {
            limit,
            parts: Vec::new(),
            current: String::new(),
            length: 0,
            has_cut_line: false,
        }
    }

    /// Adds text outside of fences, whole if it fits into a message, otherwise in finer pieces.
    fn add_text(&mut self, text: &str, grain: SplitGranularity) {
        let cuts_line = grain.cuts_lines();
        if self.has_room_for(text, cuts_line) {
            self.push(text, cuts_line);
        } else if let Some(finer) = grain.finer().filter(|_| !self.fits_alone(text, cuts_line)) {
            for piece in finer.pieces(text) {
                self.add_text(piece, finer);
            }
        } else {
            self.flush();
            self.push(text, cuts_line);
        }
    }

    fn add_code(&mut self, code: &Code<'_>) {
        let whole = code.whole();
        if self.has_room_for(&whole, false) {
            return self.push(&whole, false);
        }
        if self.fits_alone(&whole, false) {
            self.flush();
            return self.push(&whole, false);
        }
        let Some(frame) = Frame::of(code, self.limit) else {
            return self.add_text(&whole, SplitGranularity::Line);
        };
        self.flush();
        let bodies = frame.bodies(code.body);
        let last = bodies.len().saturating_sub(1);
        for (index, body) in bodies.into_iter().enumerate() {
            let line_end = if body.ends_with('\n') { "" } else { "\n" };
            let close = &frame.close;
            self.push(&format!("{}{body}{line_end}{close}", frame.open), false);
            if index == last {
                self.push(code.after_close(), false);
            } else {
                self.flush();
            }
        }
    }

    fn has_room_for(&self, text: &str, cuts_line: bool) -> bool {
        let needed = self.limit.measure(text.trim_end());
        let guard = self.guard(cuts_line || self.has_cut_line);
        self.length.saturating_add(needed).saturating_add(guard) <= self.limit.most()
    }

    fn fits_alone(&self, text: &str, cuts_line: bool) -> bool {
        self.limit.measure(text.trim_end()) + self.guard(cuts_line) <= self.limit.most()
    }

    /// Reserves space for a blank before the first and the last line, in case they look like
    /// fences.
    fn guard(&self, cuts_line: bool) -> usize {
        let space = self
            .limit
            .measure(ZERO_WIDTH_SPACE.encode_utf8(&mut [0; 4]));
        if cuts_line && !self.is_tiny() {
            2 * space
        } else {
            0
        }
    }

    fn is_tiny(&self) -> bool {
        self.limit.most() < Frame::SMALLEST
    }

    fn push(&mut self, text: &str, cuts_line: bool) {
        // Blank lines between two messages belong to neither.
        let text = if self.current.is_empty() {
            text.trim_start_matches('\n')
        } else {
            text
        };
        self.current.push_str(text);
        self.length += self.limit.measure(text);
        self.has_cut_line |= cuts_line;
    }

    fn flush(&mut self) {
        let current = std::mem::take(&mut self.current);
        self.length = 0;
        let part = current.trim_end();
        if !part.trim_start().is_empty() {
            let part = if self.has_cut_line && !self.is_tiny() {
                without_false_fences(part)
            } else {
                part.to_owned()
            };
            self.parts.push(SafeText::trusted(part));
        }
        self.has_cut_line = false;
    }

    fn finish(mut self) -> Vec<SafeText> {
        self.flush();
        self.parts
    }
}

/// Breaks each fence that is never closed: it is the first or last line of a message, cut out of a
/// line that was no fence.
fn without_false_fences(part: &str) -> String {
    let mut part = part.to_owned();
    // Each round removes one opening fence, so it ends.
    while let Some(at) = unclosed_fence(&part) {
        part.insert(at, ZERO_WIDTH_SPACE);
    }
    part
}

fn unclosed_fence(text: &str) -> Option<usize> {
    let mut fences = Fences::Outside;
    let mut opened_at = 0;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let after = fences.after(line);
        if fences == Fences::Outside {
            opened_at = at;
        }
        fences = after;
        at += line.len();
    }
    (fences != Fences::Outside).then_some(opened_at)
}

/// The text around each part of code that is too long for one message.
struct Frame {
    opening: OpeningFence,
    open: String,
    close: String,
    /// The remaining length for the code itself.
    room: usize,
    limit: TextLimit,
}

impl Frame {
    /// Below this limit a message cannot hold a fence with anything worth reading.
    const SMALLEST: usize = 32;

    fn of(code: &Code<'_>, limit: TextLimit) -> Option<Self> {
        let marker = code.opening.closing_line();
        [code.open_line.trim_end(), &marker]
            .into_iter()
            .map(|open| (format!("{open}\n"), marker.clone()))
            // A fence of hundreds of backticks, or an info string as long as a message, leaves no
            // room for the code: first the info string is dropped, then the fence.
            .find(|(open, close)| limit.measure(open) + limit.measure(close) < limit.most() / 2)
            .filter(|_| limit.most() >= Self::SMALLEST)
            .map(|(open, close)| Self {
                opening: code.opening,
                // One newline before the closing line, if the code does not end in one.
                room: limit.most() - limit.measure(&open) - limit.measure(&close) - 1,
                open,
                close,
                limit,
            })
    }

    /// Splits the code at lines, and lines that are too long at words or characters.
    fn bodies(&self, code: &str) -> Vec<String> {
        let mut bodies = Vec::new();
        self.fill(code, SplitGranularity::Block, &mut bodies);
        bodies
            .into_iter()
            .map(|body| self.kept_open(&body.text))
            .collect()
    }

    fn fill(&self, text: &str, grain: SplitGranularity, bodies: &mut Vec<Body>) {
        // The first or last line of a body may be a piece that looks like a closing fence.
        let spaces = 2 * self
            .limit
            .measure(ZERO_WIDTH_SPACE.encode_utf8(&mut [0; 4]));
        let room = self.room - spaces;
        let length = self.limit.measure(text);
        match bodies.last_mut() {
            Some(body) if body.length + length <= room => {
                body.text.push_str(text);
                body.length += length;
            }
            Some(_) | None => match grain.finer_in_code() {
                Some(finer) if length > room => {
                    for piece in finer.pieces(text) {
                        self.fill(piece, finer, bodies);
                    }
                }
                Some(_) | None => bodies.push(Body {
                    text: text.to_owned(),
                    length,
                }),
            },
        }
    }

    /// Puts a space before each line that would close the fence.
    fn kept_open(&self, body: &str) -> String {
        let mut kept = String::with_capacity(body.len());
        for line in body.split_inclusive('\n') {
            if self.opening.is_closed_by(line) {
                kept.push(ZERO_WIDTH_SPACE);
            }
            kept.push_str(line);
        }
        kept
    }
}

/// A part of code with its length.
struct Body {
    text: String,
    length: usize,
}

#[cfg(test)]
mod tests;
