//! What of a Markdown text is code: nothing in it is a link, an image or a mention, and whoever
//! copies it gets every byte that was written.
//!
//! Read from left to right, so that a text can be read while it is still being written. Where
//! renderers could disagree (a backtick without a partner, an escaped one) it is taken for prose.

use std::ops::Range;

use super::End;
use crate::fence::{Fences, Opening};

/// A text, told apart.
#[derive(Debug)]
pub(super) struct Scan {
    /// Code with its marks, in order.
    pub(super) code: Vec<Range<usize>>,
    /// What comes after it may still become either.
    pub(super) decided: usize,
}

/// A stretch of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Code(Range<usize>),
    Prose(Range<usize>),
}

/// What a line is read with.
#[derive(Debug)]
struct Reader {
    fences: Fences,
    /// How far the fence is indented.
    indent: usize,
    /// No backtick of this paragraph waits for its partner.
    is_balanced: bool,
    after_blank: bool,
    /// In a list, four blanks are no code.
    has_list: bool,
}

impl Scan {
    pub(super) fn of(text: &str, end: End) -> Self {
        let mut reader = Reader {
            fences: Fences::Outside,
            indent: 0,
            is_balanced: true,
            after_blank: true,
            has_list: false,
        };
        let mut scan = Self {
            code: Vec::new(),
            decided: text.len(),
        };
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let is_open = end == End::Open && !line.ends_with('\n');
            if let Some(undecided) = reader.read(line, start, is_open, &mut scan.code) {
                scan.decided = undecided;
                return scan;
            }
            start += line.len();
        }
        scan
    }

    /// The decided text from its beginning to its end.
    pub(super) fn parts(&self) -> Vec<Part> {
        let mut parts = Vec::with_capacity(2 * self.code.len() + 1);
        let mut at = 0;
        for code in &self.code {
            if at < code.start {
                parts.push(Part::Prose(at..code.start));
            }
            parts.push(Part::Code(code.clone()));
            at = code.end;
        }
        if at < self.decided {
            parts.push(Part::Prose(at..self.decided));
        }
        parts
    }
}

impl Reader {
    /// Reads a line; says from where on it is undecided, if it is.
    fn read(
        &mut self,
        line: &str,
        start: usize,
        is_open: bool,
        code: &mut Vec<Range<usize>>,
    ) -> Option<usize> {
        let content = line.trim_start_matches(' ');
        let indent = line.len() - content.len();
        let is_blank = line.trim().is_empty();
        let opening = Opening::of(line);
        let could_open = !content.is_empty() && content.chars().all(|c| matches!(c, '~' | '`'));
        // A fence may be in the making.
        if is_open && self.fences == Fences::Outside && indent <= 3 && could_open {
            return Some(start + indent);
        }
        let is_code = match self.fences {
            Fences::Inside(_) => is_blank || indent >= self.indent,
            Fences::Outside if opening.is_some() => {
                if is_open {
                    return Some(start + indent);
                }
                self.indent = indent;
                true
            }
            Fences::Outside => !is_blank && self.is_indented_code(line),
        };
        self.has_list |= is_item(content);
        self.fences = self.fences.after(line);
        if is_code {
            push(code, start..start + line.len());
            self.is_balanced = true;
            return None;
        }
        if is_blank {
            self.after_blank = true;
            self.is_balanced = true;
            return None;
        }
        self.after_blank = false;
        self.spans(line, start, is_open, code)
    }

    /// Four blanks after an empty line, outside of lists.
    fn is_indented_code(&self, line: &str) -> bool {
        self.after_blank && !self.has_list && (line.starts_with("    ") || line.starts_with('\t'))
    }

    fn spans(
        &mut self,
        line: &str,
        start: usize,
        is_open: bool,
        code: &mut Vec<Range<usize>>,
    ) -> Option<usize> {
        let mut at = 0;
        while self.is_balanced {
            let opening = at + line[at..].find('`')?;
            let length = run(&line[opening..]);
            let closing = closing(&line[opening + length..], length);
            match closing {
                _ if line[..opening].ends_with('\\') => self.is_balanced = false,
                // It may still grow longer, and be none.
                Some(end) if is_open && opening + length + end == line.len() => {
                    return Some(start + opening);
                }
                Some(end) => {
                    at = opening + length + end;
                    push(code, start + opening..start + at);
                }
                None if is_open => return Some(start + opening),
                None => self.is_balanced = false,
            }
        }
        None
    }
}

/// Joined to the one before it where they touch.
fn push(code: &mut Vec<Range<usize>>, range: Range<usize>) {
    match code.last_mut() {
        Some(last) if last.end == range.start => last.end = range.end,
        Some(_) | None => code.push(range),
    }
}

fn run(text: &str) -> usize {
    text.len() - text.trim_start_matches('`').len()
}

/// Where the run of so many backticks that closes a span ends.
fn closing(text: &str, length: usize) -> Option<usize> {
    let mut at = 0;
    loop {
        at += text[at..].find('`')?;
        let found = run(&text[at..]);
        at += found;
        if found == length {
            return Some(at);
        }
    }
}

fn is_item(content: &str) -> bool {
    let digits = content.trim_start_matches(|c: char| c.is_ascii_digit());
    ["- ", "* ", "+ "].iter().any(|it| content.starts_with(it))
        || digits.len() < content.len() && (digits.starts_with(". ") || digits.starts_with(") "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_told_from_prose() {
        for (text, code) in [
            ("a `b` c", vec!["`b`"]),
            ("``a`b`` `c", vec!["``a`b``"]),
            ("`a\nb` `c`", vec![]),
            ("a ` b\n\n`c`", vec!["`c`"]),
            (r"\`a`b`", vec![]),
            ("x\n```rust\na\n```\ny", vec!["```rust\na\n```\n"]),
            ("- a\n  ```\n  b\n![c](d)", vec!["  ```\n  b\n"]),
            ("a\n\n    b\n\n    c\nd", vec!["    b\n", "    c\n"]),
            ("- a\n\n    b", vec![]),
            ("~~~\n`\n~~~\n`a`", vec!["~~~\n`\n~~~\n`a`"]),
        ] {
            let scan = Scan::of(text, End::Final);
            let found: Vec<&str> = scan.code.iter().map(|code| &text[code.clone()]).collect();
            assert_eq!(found, code, "{text:?}");
        }
    }
}
