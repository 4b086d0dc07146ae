//! Finds the code in a Markdown text: it contains no links, images or mentions, and can be copied
//! byte for byte.
//!
//! Reads from left to right, so that a text can be read while it is still being written. Where
//! renderers could disagree (a backtick without a partner, an escaped one) it counts as prose.

use std::ops::Range;

use super::undecided::TextCompleteness;
use crate::backticks::{backticks, closing_backticks};
use crate::fence::{Fences, OpeningFence};

/// A text, divided into code and prose.
#[derive(Debug)]
pub(super) struct Scan {
    /// Ranges of code with its marks, in order.
    pub(super) code: Vec<Range<usize>>,
    /// Text after this position may still become either.
    pub(super) decided: usize,
}

/// A range of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MarkdownSpan {
    Code(Range<usize>),
    Prose(Range<usize>),
}

/// The state of the line reader.
#[derive(Debug)]
struct CodeBlockScanner {
    fences: Fences,
    /// The indentation of the fence.
    indent: usize,
    /// No backtick of this paragraph is unpaired.
    is_balanced: bool,
    after_blank: bool,
    /// In a list, an indentation of four blanks is not code.
    has_list: bool,
    /// The column where the text of each open list item begins, outermost first.
    items: Vec<usize>,
}

impl Scan {
    pub(super) fn of(text: &str, end: TextCompleteness) -> Self {
        let mut reader = CodeBlockScanner {
            fences: Fences::Outside,
            indent: 0,
            is_balanced: true,
            after_blank: true,
            has_list: false,
            items: Vec::new(),
        };
        let mut scan = Self {
            code: Vec::new(),
            decided: text.len(),
        };
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let is_open = end == TextCompleteness::Open && !line.ends_with('\n');
            if let Some(undecided) = reader.read(line, start, is_open, &mut scan.code) {
                scan.decided = undecided;
                return scan;
            }
            start += line.len();
        }
        scan
    }

    /// Returns the decided text as parts, from beginning to end.
    pub(super) fn parts(&self) -> Vec<MarkdownSpan> {
        let mut parts = Vec::with_capacity(2 * self.code.len() + 1);
        let mut at = 0;
        for code in &self.code {
            if at < code.start {
                parts.push(MarkdownSpan::Prose(at..code.start));
            }
            parts.push(MarkdownSpan::Code(code.clone()));
            at = code.end;
        }
        if at < self.decided {
            parts.push(MarkdownSpan::Prose(at..self.decided));
        }
        parts
    }
}

impl CodeBlockScanner {
    /// Reads a line. Returns the position from which it is undecided, if there is one.
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
        let item = self.item_of(indent);
        let opening = OpeningFence::within(line, item);
        let could_open = !content.is_empty() && content.chars().all(|c| matches!(c, '~' | '`'));
        // This may become a fence.
        if is_open && self.fences == Fences::Outside && indent <= item + 3 && could_open {
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
        if self.fences == Fences::Outside && opening.is_none() {
            self.note_item(content, indent);
        }
        self.fences = self.fences.after_within(line, item);
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

    /// Whether it is indented by four blanks after an empty line, outside of lists.
    fn is_indented_code(&self, line: &str) -> bool {
        self.after_blank && !self.has_list && (line.starts_with("    ") || line.starts_with('\t'))
    }

    /// Returns the column of the text of the list item that a line with this indentation belongs
    /// to.
    fn item_of(&self, indent: usize) -> usize {
        let mut items = self.items.iter().rev();
        items.find(|item| **item <= indent).copied().unwrap_or(0)
    }

    fn note_item(&mut self, content: &str, indent: usize) {
        let Some(marker) = marker(content) else {
            // Text at the margin after an empty line ends all lists.
            if self.after_blank && indent == 0 && !content.trim().is_empty() {
                self.items.clear();
            }
            return;
        };
        self.has_list = true;
        self.items.retain(|item| *item <= indent);
        self.items.push(indent + marker);
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
            let length = backticks(&line[opening..]);
            let closing = closing_backticks(&line[opening + length..], length);
            match closing {
                _ if line[..opening].ends_with('\\') => self.is_balanced = false,
                // It may still grow longer, and then match nothing.
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

/// Adds a range, merged with the previous one if they touch.
fn push(code: &mut Vec<Range<usize>>, range: Range<usize>) {
    match code.last_mut() {
        Some(last) if last.end == range.start => last.end = range.end,
        Some(_) | None => code.push(range),
    }
}

/// Returns the length of a list marker with the blank after it.
fn marker(content: &str) -> Option<usize> {
    if ["- ", "* ", "+ "].iter().any(|it| content.starts_with(it)) {
        return Some(2);
    }
    let behind = content.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = content.len() - behind.len();
    let is_numbered = digits > 0 && (behind.starts_with(". ") || behind.starts_with(") "));
    is_numbered.then_some(digits + 2)
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
            // A fence is indented like the text of its item.
            (
                "1. a\n   - b\n\n     ```\n     <!here>\n     ```\n`c",
                vec!["     ```\n     <!here>\n     ```\n"],
            ),
            (
                "12. a\n    ```\n    b\n    ```\nc",
                vec!["    ```\n    b\n    ```\n"],
            ),
            ("- a\n\nb\n    ```\n`c", vec![]),
            ("~~~\n`\n~~~\n`a`", vec!["~~~\n`\n~~~\n`a`"]),
        ] {
            let scan = Scan::of(text, TextCompleteness::Final);
            let found: Vec<&str> = scan.code.iter().map(|code| &text[code.clone()]).collect();
            assert_eq!(found, code, "{text:?}");
        }
    }
}
