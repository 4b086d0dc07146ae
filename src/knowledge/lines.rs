//! Reads the lines of a file of any size, one at a time, up to a maximum length.

use std::io::{self, BufRead, Read as _};

/// Maximum bytes of a line.
pub(super) const MAX_LINE: usize = 16 * 1024 * 1024;

/// A line, or a marker that it is too long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Line {
    Text(Vec<u8>),
    TooLong,
}

/// Reads lines and counts them.
#[derive(Debug)]
pub(super) struct Lines<R> {
    reader: R,
    limit: usize,
    /// Number of the line read last, from 1.
    pub(super) number: u64,
    /// Number of bytes read.
    pub(super) bytes: u64,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(reader: R, limit: usize) -> Self {
        Self {
            reader,
            limit,
            number: 0,
            bytes: 0,
        }
    }

    /// Returns the next line without its line end, or `None` after the last. A line that is too
    /// long is skipped without buffering it.
    pub(super) fn next(&mut self) -> io::Result<Option<Line>> {
        let mut line = Vec::new();
        let most = self.limit as u64 + 1;
        let read = self
            .reader
            .by_ref()
            .take(most)
            .read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        self.bytes += read as u64;
        if line.last() == Some(&b'\n') {
            line.pop();
        } else if line.len() > self.limit {
            self.bytes += self.reader.skip_until(b'\n')? as u64;
            return Ok(Some(Line::TooLong));
        }
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        if self.number == 1 && line.starts_with(b"\xef\xbb\xbf") {
            line.drain(..3);
        }
        Ok(Some(Line::Text(line)))
    }
}

/// The reason for refusing a line that is too long.
pub(super) fn too_long() -> String {
    format!("a line of more than {} MB", MAX_LINE >> 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &[u8], limit: usize, buffer: usize) -> Vec<Line> {
        let mut lines = Lines::new(io::BufReader::with_capacity(buffer, text), limit);
        let mut found = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            found.push(line);
        }
        assert_eq!(lines.number as usize, found.len());
        assert_eq!(lines.bytes as usize, text.len());
        found
    }

    #[test]
    fn lines_are_read_whole_and_long_ones_passed_over() {
        let text = |text: &str| Line::Text(text.as_bytes().to_vec());
        for buffer in [1, 3, 100] {
            let found = all(b"\xef\xbb\xbfa\r\n\nlonger than\nend", 5, buffer.max(4));
            assert_eq!(found, [text("a"), text(""), Line::TooLong, text("end")]);
            assert_eq!(all(b"abc\n", 3, buffer), [text("abc")]);
            assert!(all(b"", 3, buffer).is_empty());
        }
    }

    /// Yields the same byte up to a length.
    struct Endless(u64);

    impl io::Read for Endless {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            let n = to.len().min(usize::try_from(self.0).unwrap_or(usize::MAX));
            to[..n].fill(b'x');
            self.0 -= n as u64;
            Ok(n)
        }
    }

    #[test]
    fn a_line_of_two_gigabytes_is_not_held() {
        let reader = io::BufReader::with_capacity(1 << 20, Endless(2 << 30));
        let mut lines = Lines::new(reader, MAX_LINE);
        assert_eq!(lines.next().unwrap(), Some(Line::TooLong));
        assert_eq!(lines.next().unwrap(), None);
    }
}
