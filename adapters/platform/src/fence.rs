//! Parses fenced code blocks line by line, as `CommonMark` does.
//!
//! Only one whole line and the open fence are needed, so a text can be read while it is still being
//! written.

/// A line that opens a fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpeningFence {
    marker: char,
    length: usize,
    indent: usize,
}

/// The state of the parser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Fences {
    #[default]
    Outside,
    Inside(OpeningFence),
}

impl Fences {
    /// The state after `line`, which may end in its newline.
    pub(crate) fn after(self, line: &str) -> Self {
        self.after_within(line, 0)
    }

    /// As [`Fences::after`], within a list item whose text begins after so many blanks.
    pub(crate) fn after_within(self, line: &str, item: usize) -> Self {
        match self {
            Self::Outside => OpeningFence::within(line, item).map_or(Self::Outside, Self::Inside),
            Self::Inside(opening) if opening.is_closed_by(line) => Self::Outside,
            Self::Inside(_) => self,
        }
    }
}

impl OpeningFence {
    pub(crate) fn of(line: &str) -> Option<Self> {
        Self::within(line, 0)
    }

    /// As [`Fences::after_within`].
    pub(crate) fn within(line: &str, item: usize) -> Option<Self> {
        let (indent, marker, length, rest) = marker_run(line, item)?;
        // `` ```a`b `` is inline code, not a fence.
        let is_fence = marker != '`' || !rest.contains('`');
        is_fence.then_some(Self {
            marker,
            length,
            indent,
        })
    }

    pub(crate) fn is_closed_by(self, line: &str) -> bool {
        marker_run(line, self.indent).is_some_and(|(_, marker, length, rest)| {
            marker == self.marker
                && length >= self.length
                && rest.chars().all(|c| matches!(c, ' ' | '\t' | '\n'))
        })
    }

    /// The line that closes it, without a newline.
    pub(crate) fn closing_line(self) -> String {
        let mut line = " ".repeat(self.indent);
        line.extend(std::iter::repeat_n(self.marker, self.length));
        line
    }
}

/// Parses at most three blanks of indentation beyond `item`, then at least three of one marker,
/// then the rest.
fn marker_run(line: &str, item: usize) -> Option<(usize, char, usize, &str)> {
    let line = line.strip_suffix('\n').unwrap_or(line);
    let content = line.trim_start_matches(' ');
    let indent = line.len() - content.len();
    let marker = content.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let rest = content.trim_start_matches(marker);
    let length = content.len() - rest.len();
    (indent <= item + 3 && length >= 3).then_some((indent, marker, length, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_open_and_close_fences() {
        for (text, inside_at_the_end) in [
            ("", false),
            ("```", true),
            ("```rust\nlet x;\n```", false),
            ("``\n", false),
            ("   ```\n", true),
            ("    ```\n", false),
            ("```a`b\n", false),
            ("~~~a`b\n", true),
            ("~~~\n```\n", true),
            ("~~~\n```\n~~~\n", false),
            ("````\n```\n", true),
            ("````\n```\n`````  \n", false),
            ("```\n``` x\n", true),
            ("text ```\n", false),
        ] {
            let state = text
                .split_inclusive('\n')
                .fold(Fences::Outside, Fences::after);
            assert_eq!(state != Fences::Outside, inside_at_the_end, "{text:?}");
        }
    }
}
