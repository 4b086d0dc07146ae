//! Assembles lines from bytes, and parses them.

use std::fmt;

use muninn_platform::{Body, Command};

/// A line with its position.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// Counted from one.
    pub(crate) number: usize,
    pub(crate) text: Result<String, Fault>,
}

/// Why a line is not valid text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    NotUtf8,
    TooLong { limit: usize },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotUtf8 => f.write_str("is not valid UTF-8; it was skipped"),
            Self::TooLong { limit } => {
                write!(f, "is longer than {limit} bytes; it was skipped")
            }
        }
    }
}

/// Assembles lines from chunks of bytes, and buffers at most one line of the maximum length.
#[derive(Debug)]
pub(crate) struct Assembler {
    limit: usize,
    partial: Vec<u8>,
    /// The line is already too long; the rest is skipped.
    overflowed: bool,
    number: usize,
}

impl Assembler {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            partial: Vec::new(),
            overflowed: false,
            number: 0,
        }
    }

    /// Returns the lines that `chunk` completes.
    pub(crate) fn feed(&mut self, chunk: &[u8]) -> Vec<Line> {
        let mut lines = Vec::new();
        for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
            match piece.strip_suffix(b"\n") {
                Some(end) => {
                    self.keep(end);
                    lines.push(self.take());
                }
                None => self.keep(piece),
            }
        }
        lines
    }

    /// Returns the last line, if the input did not end with a newline.
    pub(crate) fn end(&mut self) -> Option<Line> {
        (self.overflowed || !self.partial.is_empty()).then(|| self.take())
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.overflowed || self.partial.len() + bytes.len() > self.limit {
            self.overflowed = true;
            self.partial = Vec::new();
        } else {
            self.partial.extend_from_slice(bytes);
        }
    }

    fn take(&mut self) -> Line {
        self.number += 1;
        let bytes = std::mem::take(&mut self.partial);
        let text = if std::mem::take(&mut self.overflowed) {
            Err(Fault::TooLong { limit: self.limit })
        } else {
            String::from_utf8(bytes).map_err(|_| Fault::NotUtf8)
        };
        Line {
            number: self.number,
            text,
        }
    }
}

/// Parses a line; `None` if it is blank. Commands work with or without their slash, as on the
/// platforms: the help lists them without one.
pub(crate) fn parse_line(line: &str) -> Option<Body> {
    let line = line.trim();
    match line.strip_prefix('/') {
        _ if line.is_empty() => None,
        Some(command) => Some(Body::Command(Command::parse(command))),
        None => Some(match Command::parse(line) {
            Command::Unknown(_) => Body::Text(line.to_owned()),
            command => Body::Command(command),
        }),
    }
}

/// Whether a line ends the conversation.
pub(crate) fn is_exit(line: &str) -> bool {
    matches!(line.trim().to_lowercase().as_str(), "/quit" | "/exit")
}

/// Returns the line without the backslash that continues it on the next line. Two backslashes at
/// the end are a literal one.
pub(crate) fn continued(line: &str) -> Option<&str> {
    let backslashes = line.len() - line.trim_end_matches('\\').len();
    (backslashes % 2 == 1).then(|| &line[..line.len() - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(limit: usize, chunks: &[&[u8]]) -> Vec<(usize, Result<String, Fault>)> {
        let mut assembler = Assembler::new(limit);
        let mut lines: Vec<Line> = Vec::new();
        for chunk in chunks {
            lines.extend(assembler.feed(chunk));
            assert!(assembler.partial.len() <= limit);
        }
        lines.extend(assembler.end());
        lines
            .into_iter()
            .map(|line| (line.number, line.text))
            .collect()
    }

    #[test]
    fn lines_are_assembled() {
        let text = |text: &str| Ok(text.to_owned());
        let long = Err(Fault::TooLong { limit: 4 });
        assert_eq!(all(4, &[]), []);
        assert_eq!(all(4, &[b"a\nb"]), [(1, text("a")), (2, text("b"))]);
        assert_eq!(
            all(4, &[b"a", b"b\n", b"\n"]),
            [(1, text("ab")), (2, text(""))]
        );
        assert_eq!(
            all(4, &[b"\xff\n", b"12345", b"67\nok\n"]),
            [(1, Err(Fault::NotUtf8)), (2, long.clone()), (3, text("ok"))]
        );
        assert_eq!(all(4, &[b"1234\n12345"]), [(1, text("1234")), (2, long)]);
        // A character in two chunks.
        assert_eq!(all(4, &[b"\xc3", b"\xa9\n"]), [(1, text("é"))]);
    }

    #[test]
    fn lines_have_a_meaning() {
        assert_eq!(parse_line("  \t"), None);
        assert_eq!(parse_line(" hi \r"), Some(Body::Text("hi".to_owned())));
        assert_eq!(parse_line("/why"), Some(Body::Command(Command::Why)));
        assert_eq!(parse_line("why"), Some(Body::Command(Command::Why)));
        assert_eq!(parse_line("why?"), Some(Body::Text("why?".to_owned())));
        assert_eq!(
            parse_line("help me with the rent"),
            Some(Body::Text("help me with the rent".to_owned()))
        );
        assert_eq!(
            parse_line("/nope"),
            Some(Body::Command(Command::Unknown("nope".to_owned())))
        );
    }

    #[test]
    fn a_backslash_continues() {
        assert_eq!(continued("a\\"), Some("a"));
        assert_eq!(continued("a\\\\"), None);
        assert_eq!(continued("a"), None);
        assert_eq!(continued(""), None);
    }
}
