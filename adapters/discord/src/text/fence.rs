//! Fences of code blocks.

/// Breaks a word for machines but not for readers.
pub(super) const ZERO_WIDTH_SPACE: char = '\u{200B}';

pub(super) const FENCE: &str = "```";

/// The opening fence of a code block.
#[derive(Clone, Copy)]
pub(super) struct CodeFence<'a> {
    marker: char,
    pub(super) length: usize,
    pub(super) indent: usize,
    pub(super) language: &'a str,
}

impl<'a> CodeFence<'a> {
    pub(super) fn of(line: &'a str) -> Option<Self> {
        let content = line.trim_start_matches(' ');
        let marker = content.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let rest = content.trim_start_matches(marker);
        let length = content.len() - rest.len();
        // `` ```a`b `` is inline code.
        if length < 3 || (marker == '`' && rest.contains('`')) {
            return None;
        }
        let word = rest.split_whitespace().next().unwrap_or_default();
        let is_name =
            |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '#' | '-' | '_' | '.');
        Some(Self {
            marker,
            length,
            indent: line.len() - content.len(),
            language: if word.chars().all(is_name) { word } else { "" },
        })
    }

    pub(super) fn is_closed_by(self, line: &str) -> bool {
        let content = line.trim();
        content.len() >= self.length && content.chars().all(|c| c == self.marker)
    }
}

/// Inserts an invisible space in each three backticks.
pub(super) fn unfenced(code: &str) -> String {
    code.replace(FENCE, &format!("``{ZERO_WIDTH_SPACE}`"))
}
