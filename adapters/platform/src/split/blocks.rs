//! Parses a text into paragraphs, tables and fenced code.

use crate::fence::OpeningFence;

/// A unit that is kept whole if possible.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Block<'a> {
    /// A paragraph or a table, with the blank lines after it.
    Text(&'a str),
    Code(Code<'a>),
}

/// Fenced code.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Code<'a> {
    pub(super) opening: OpeningFence,
    pub(super) open_line: &'a str,
    pub(super) body: &'a str,
    /// Empty if the text ended inside the fence.
    close_line: &'a str,
}

impl Code<'_> {
    /// Returns the whole block, closed.
    pub(super) fn whole(&self) -> String {
        let mut whole = [self.open_line, self.body].concat();
        if self.close_line.is_empty() {
            if !whole.ends_with('\n') {
                whole.push('\n');
            }
            whole.push_str(&self.opening.closing_line());
        }
        whole.push_str(self.close_line);
        whole
    }

    /// Returns the line break that separates it from the following text.
    pub(super) fn after_close(&self) -> &str {
        if self.close_line.ends_with('\n') {
            "\n"
        } else {
            ""
        }
    }
}

pub(super) fn of(text: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut rest = text;
    while let Some(line) = rest.split_inclusive('\n').next() {
        let (block, length) = match OpeningFence::of(line) {
            Some(opening) => code(rest, line, opening),
            None => paragraph(rest),
        };
        blocks.push(block);
        rest = &rest[length..];
    }
    blocks
}

fn code<'a>(text: &'a str, open_line: &'a str, opening: OpeningFence) -> (Block<'a>, usize) {
    let inside = &text[open_line.len()..];
    let mut body = 0;
    let mut close_line = "";
    for line in inside.split_inclusive('\n') {
        if opening.is_closed_by(line) {
            close_line = line;
            break;
        }
        body += line.len();
    }
    let length = open_line.len() + body + close_line.len();
    let block = Block::Code(Code {
        opening,
        open_line,
        body: &inside[..body],
        close_line,
    });
    (block, length)
}

/// Returns the text up to the next fence, through the next blank lines, or to the beginning or end
/// of a table.
fn paragraph(text: &str) -> (Block<'_>, usize) {
    let mut end = 0;
    let mut before: Option<&str> = None;
    for line in text.split_inclusive('\n') {
        let begins_another = before.is_some_and(|before| {
            !is_blank(line)
                && (is_blank(before)
                    || is_row(line) != is_row(before)
                    || OpeningFence::of(line).is_some())
        });
        if begins_another {
            break;
        }
        end += line.len();
        before = Some(line);
    }
    (Block::Text(&text[..end]), end)
}

fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

fn is_row(line: &str) -> bool {
    line.trim_start().starts_with('|')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_taken_apart() {
        for (text, blocks) in [
            ("", &[][..]),
            ("a\nb\n\n\nc", &["a\nb\n\n\n", "c"][..]),
            (
                "a\n```\nx\n\ny\n```\nb",
                &["a\n", "```\nx\n\ny\n```\n", "b"][..],
            ),
            ("a\n|r|\n|s|\nb", &["a\n", "|r|\n|s|\n", "b"][..]),
            ("```\nx", &["```\nx\n```"][..]),
            ("\n\na", &["\n\n", "a"][..]),
        ] {
            let found: Vec<String> = of(text)
                .iter()
                .map(|block| match block {
                    Block::Text(text) => (*text).to_owned(),
                    Block::Code(code) => code.whole(),
                })
                .collect();
            assert_eq!(found, blocks, "{text:?}");
        }
    }
}
