//! Reads the lines of a file in any encoding as UTF-8.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use encoding_rs::{CoderResult, Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE};

use crate::extract::text::guessed;
use crate::knowledge::lines::{Line, Lines, MAX_LINE};

/// Buffer size in bytes; the encoding is looked for in the first one.
pub(super) const BUFFER: usize = 256 * 1024;

/// The lines of a file.
pub(super) struct TextLines {
    lines: Lines<Box<dyn BufRead>>,
    /// `None` as long as there was nothing but ASCII.
    encoding: Option<&'static Encoding>,
    /// Bytes of the file.
    pub(super) size: u64,
}

impl TextLines {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let size = file.metadata()?.len();
        let mut reader = BufReader::with_capacity(BUFFER, file);
        let beginning = reader.fill_buf()?;
        let marked = Encoding::for_bom(beginning).map(|(encoding, _)| encoding);
        // In UTF-16 a line end is no single byte, so the whole is decoded before it is divided.
        let wide = marked.filter(|encoding| [UTF_16LE, UTF_16BE].contains(encoding));
        let encoding = match wide {
            Some(_) => Some(UTF_8),
            None => marked.or_else(|| encoding_of(beginning)),
        };
        let reader: Box<dyn BufRead> = match wide {
            Some(wide) => Box::new(BufReader::with_capacity(BUFFER, Decoded::new(reader, wide))),
            None => Box::new(reader),
        };
        Ok(Self {
            lines: Lines::new(reader, MAX_LINE),
            encoding,
            size,
        })
    }

    /// Returns the next line, or `None` after the last. Lines of a file in UTF-8 that are not UTF-8
    /// stay as they are.
    pub(super) fn next(&mut self) -> io::Result<Option<Line>> {
        Ok(match self.lines.next()? {
            Some(Line::Text(line)) => Some(Line::Text(self.decoded(line))),
            other @ (Some(Line::TooLong) | None) => other,
        })
    }

    /// Number of the line read last, from 1.
    pub(super) fn number(&self) -> u64 {
        self.lines.number
    }

    /// Number of bytes read.
    pub(super) fn bytes(&self) -> u64 {
        self.lines.bytes
    }

    fn decoded(&mut self, line: Vec<u8>) -> Vec<u8> {
        self.encoding = self.encoding.or_else(|| encoding_of(&line));
        match self.encoding {
            Some(encoding) if encoding != UTF_8 => {
                let (text, _) = encoding.decode_without_bom_handling(&line);
                text.into_owned().into_bytes()
            }
            Some(_) | None => line,
        }
    }
}

/// Returns the encoding of a text; `None` if it is ASCII. A few broken lines do not make UTF-8
/// another encoding.
fn encoding_of(text: &[u8]) -> Option<&'static Encoding> {
    // The last line may be cut within a letter.
    let cut = (text.len() >= BUFFER).then(|| {
        let end = text.iter().rposition(|byte| *byte == b'\n');
        end.unwrap_or_else(|| end_of_whole_letters(text))
    });
    let text = cut.map_or(text, |end| &text[..end]);
    let lines = text.split(|byte| *byte == b'\n');
    let (mut utf8, mut other) = (0, 0);
    for line in lines.filter(|line| !line.is_ascii()) {
        match std::str::from_utf8(line) {
            Ok(_) => utf8 += 1,
            Err(_) => other += 1,
        }
    }
    match (utf8, other) {
        (0, 0) => None,
        // Text in another encoding is hardly ever UTF-8 by chance.
        (utf8, other) if utf8 > 0 && utf8 >= other => Some(UTF_8),
        (_, _) => Some(guessed(text)),
    }
}

/// Returns where a text ends without the part of a letter of UTF-8 at its end.
fn end_of_whole_letters(text: &[u8]) -> usize {
    match std::str::from_utf8(text) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        Ok(_) | Err(_) => text.len(),
    }
}

/// Decodes while it reads.
struct Decoded<R> {
    reader: R,
    decoder: Decoder,
    text: Vec<u8>,
    /// How much of `text` was passed on.
    at: usize,
    is_over: bool,
}

impl<R: BufRead> Decoded<R> {
    fn new(reader: R, encoding: &'static Encoding) -> Self {
        Self {
            reader,
            decoder: encoding.new_decoder_with_bom_removal(),
            text: Vec::new(),
            at: 0,
            is_over: false,
        }
    }

    fn decode(&mut self) -> io::Result<()> {
        let bytes = self.reader.fill_buf()?;
        let is_last = bytes.is_empty();
        self.text.resize(BUFFER, 0);
        let (done, read, written, _) = self.decoder.decode_to_utf8(bytes, &mut self.text, is_last);
        self.reader.consume(read);
        self.text.truncate(written);
        self.at = 0;
        self.is_over = is_last && done == CoderResult::InputEmpty;
        Ok(())
    }
}

impl<R: BufRead> Read for Decoded<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        while self.at == self.text.len() && !self.is_over {
            self.decode()?;
        }
        let count = (&self.text[self.at..]).read(to)?;
        self.at += count;
        Ok(count)
    }
}
