//! A file that is written once, sequentially, and read at any position. Each block has a checksum that is verified at every
//! read, so that damaged data is never used.
//!
//! ```text
//! content | a checksum for each block | description | closing record
//! ```
//! The closing record is written last, so that an unfinished file is not accepted.

use std::fs::File;
use std::io::{self, BufWriter, Read as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes of a block: one page of the operating system's cache, so that reading one row is cheap.
const BLOCK: u64 = 4 << 10;
/// The end of the closing record.
const MAGIC: &[u8; 8] = b"muninnix";
/// Bytes of the closing record: two lengths, a checksum, and [`MAGIC`].
const CLOSING: u64 = 8 + 8 + 4 + 8;

/// Writes a file.
#[derive(Debug)]
pub struct BlockWriter {
    file: BufWriter<File>,
    block: crc32fast::Hasher,
    checksums: Vec<u8>,
    written: u64,
}

impl BlockWriter {
    pub fn new(file: File) -> Self {
        Self {
            file: BufWriter::with_capacity(256 << 10, file),
            block: crc32fast::Hasher::new(),
            checksums: Vec::new(),
            written: 0,
        }
    }

    /// Number of bytes written: the offset of the next ones.
    pub fn position(&self) -> u64 {
        self.written
    }

    /// # Errors
    /// Fails when the file cannot be written, for example because the disk is full.
    pub fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        while !bytes.is_empty() {
            let left = (BLOCK - self.written % BLOCK) as usize;
            let (now, later) = bytes.split_at(left.min(bytes.len()));
            self.block.update(now);
            self.written += now.len() as u64;
            if self.written.is_multiple_of(BLOCK) {
                self.end_block();
            }
            bytes = later;
        }
        Ok(())
    }

    /// Copies the rest of a file from its current position.
    ///
    /// # Errors
    /// Fails when one of the two files fails.
    pub fn copy(&mut self, mut from: File) -> io::Result<()> {
        let mut part = vec![0; 256 << 10];
        loop {
            match from.read(&mut part)? {
                0 => return Ok(()),
                read => self.write(&part[..read])?,
            }
        }
    }

    fn end_block(&mut self) {
        let block = std::mem::take(&mut self.block).finalize();
        self.checksums.extend(block.to_le_bytes());
    }

    /// Completes the file and syncs it to disk.
    ///
    /// # Errors
    /// Fails when it cannot be written.
    pub fn finish(mut self, description: &[u8]) -> io::Result<()> {
        if !self.written.is_multiple_of(BLOCK) {
            self.end_block();
        }
        let mut end = std::mem::take(&mut self.checksums);
        end.extend_from_slice(description);
        end.extend(self.written.to_le_bytes());
        end.extend((description.len() as u64).to_le_bytes());
        end.extend(crc32fast::hash(&end).to_le_bytes());
        end.extend(MAGIC);
        self.file.write_all(&end)?;
        let file = self.file.into_inner().map_err(|error| error.into_error())?;
        file.sync_all()
    }
}

/// A complete file.
#[derive(Debug)]
pub struct BlockFile {
    file: File,
    length: u64,
    checksums: Vec<u32>,
    is_damaged: AtomicBool,
}

impl BlockFile {
    /// Returns the file and its description; `None` if it was not finished or its end is damaged.
    ///
    /// # Errors
    /// Fails when it cannot be read.
    pub fn open(file: File) -> io::Result<Option<(Self, Vec<u8>)>> {
        let whole = file.metadata()?.len();
        let Some(start) = whole.checked_sub(CLOSING) else {
            return Ok(None);
        };
        let mut closing = [0; CLOSING as usize];
        read_at(&file, &mut closing, start)?;
        let number = |at: usize| {
            let bytes = closing[at..].first_chunk().copied();
            u64::from_le_bytes(bytes.unwrap_or_default())
        };
        let (length, description) = (number(0), number(8));
        let sums = length.div_ceil(BLOCK).saturating_mul(4);
        let told = length.checked_add(sums);
        let told = told.and_then(|told| told.checked_add(description));
        if !closing.ends_with(MAGIC) || told != Some(start) {
            return Ok(None);
        }
        let mut end = vec![0; (whole - length) as usize];
        read_at(&file, &mut end, length)?;
        let is_summed = end.len() - MAGIC.len() - 4;
        let expected = end[is_summed..].first_chunk().copied();
        if crc32fast::hash(&end[..is_summed]) != u32::from_le_bytes(expected.unwrap_or_default()) {
            return Ok(None);
        }
        let (sums, rest) = end.split_at(sums as usize);
        let (sums, _) = sums.as_chunks::<4>();
        let opened = Self {
            file,
            length,
            checksums: sums.iter().map(|it| u32::from_le_bytes(*it)).collect(),
            is_damaged: AtomicBool::new(false),
        };
        Ok(Some((opened, rest[..description as usize].to_vec())))
    }

    /// Whether a block that was read differs from what was written. Then nothing read since the file was opened is reliable.
    pub fn is_damaged(&self) -> bool {
        self.is_damaged.load(Ordering::Relaxed)
    }

    /// Marks the file as damaged, because its content contradicts itself.
    pub fn mark_damaged(&self) {
        self.is_damaged.store(true, Ordering::Relaxed);
    }

    /// A reader for parts that are near one another.
    pub fn reader(&self) -> BlockReader<'_> {
        BlockReader {
            of: self,
            first: 0,
            blocks: Vec::new(),
        }
    }

    /// `None` if it is damaged.
    pub fn read(&self, offset: u64, length: usize) -> Option<Vec<u8>> {
        let mut reader = self.reader();
        let read = reader.read(offset, length)?;
        Some(read.to_vec())
    }

    pub fn heap_bytes(&self) -> usize {
        self.checksums.capacity() * size_of::<u32>()
    }

    fn blocks(&self, first: u64, past: u64, into: &mut Vec<u8>) -> io::Result<()> {
        let (start, end) = (first * BLOCK, (past * BLOCK).min(self.length));
        into.resize((end - start) as usize, 0);
        read_at(&self.file, into, start)?;
        let expected = &self.checksums[first as usize..past as usize];
        let blocks = into.chunks(BLOCK as usize).zip(expected);
        for (block, expected) in blocks {
            if crc32fast::hash(block) != *expected {
                return Err(io::Error::other("a block is damaged"));
            }
        }
        Ok(())
    }
}

/// Reads a file and caches the blocks that were read last.
#[derive(Debug)]
pub struct BlockReader<'a> {
    of: &'a BlockFile,
    first: u64,
    blocks: Vec<u8>,
}

impl BlockReader<'_> {
    /// `None` if the file is damaged.
    pub fn read(&mut self, offset: u64, length: usize) -> Option<&[u8]> {
        let end = offset.checked_add(length as u64);
        let Some(end) = end.filter(|&end| end <= self.of.length) else {
            self.of.mark_damaged();
            return None;
        };
        let kept = self.first * BLOCK..self.first * BLOCK + self.blocks.len() as u64;
        if offset < kept.start || end > kept.end {
            let (first, past) = (offset / BLOCK, end.div_ceil(BLOCK).max(offset / BLOCK));
            if self.of.blocks(first, past, &mut self.blocks).is_err() {
                self.blocks.clear();
                self.of.mark_damaged();
                return None;
            }
            self.first = first;
        }
        let start = (offset - self.first * BLOCK) as usize;
        self.blocks.get(start..start + length)
    }

    /// An eight-byte number.
    pub fn number(&mut self, offset: u64) -> Option<u64> {
        let bytes = self.read(offset, 8)?;
        Some(u64::from_le_bytes(*bytes.first_chunk()?))
    }
}

#[cfg(unix)]
fn read_at(file: &File, into: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, into, offset)
}

#[cfg(windows)]
fn read_at(file: &File, mut into: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !into.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, into, offset)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => {
                into = &mut into[read..];
                offset += read as u64;
            }
        }
    }
    Ok(())
}

/// The position of a part of a file, kept in its description.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FileRange {
    pub start: u64,
    pub length: u64,
}

impl FileRange {
    /// From `start` to the writer's current position.
    pub fn since(start: u64, to: &BlockWriter) -> Self {
        Self {
            start,
            length: to.position() - start,
        }
    }

    /// Reads the whole part.
    pub fn read(self, file: &BlockFile) -> Option<Vec<u8>> {
        file.read(self.start, usize::try_from(self.length).ok()?)
    }
}

/// Writes an eight-byte number, for offsets of entries with variable length.
///
/// # Errors
/// Fails when it cannot be written.
pub fn write_offset(to: &mut impl io::Write, offset: u64) -> io::Result<()> {
    to.write_all(&offset.to_le_bytes())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(content: &[u8], description: &[u8]) -> Vec<u8> {
        let mut file = tempfile::tempfile().unwrap();
        let mut writer = BlockWriter::new(file.try_clone().unwrap());
        for part in content.chunks(5_000) {
            writer.write(part).unwrap();
        }
        assert_eq!(writer.position(), content.len() as u64);
        writer.finish(description).unwrap();
        let mut bytes = Vec::new();
        io::Seek::rewind(&mut file).unwrap();
        file.read_to_end(&mut bytes).unwrap();
        bytes
    }

    fn opened(bytes: &[u8]) -> Option<(BlockFile, Vec<u8>)> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        BlockFile::open(file).unwrap()
    }

    fn content(length: usize) -> Vec<u8> {
        (0..length).map(|at| (at * 7 % 251) as u8).collect()
    }

    #[test]
    fn any_part_is_read_as_it_was_written() {
        for length in [0, 1, 8_191, 8_192, 8_193, 40_000] {
            let content = content(length);
            let (file, description) = opened(&written(&content, b"of what")).unwrap();
            assert_eq!(description, b"of what");
            let mut reader = file.reader();
            for (start, end) in [(0, length), (length / 3, length / 2), (length, length)] {
                let expected = Some(&content[start..end]);
                assert_eq!(reader.read(start as u64, end - start), expected);
            }
            assert!(!file.is_damaged());
            assert_eq!(file.read(length as u64, 1), None);
            assert!(file.is_damaged());
        }
    }

    #[test]
    fn a_file_that_was_not_finished_is_none() {
        let whole = written(&content(20_000), b"description");
        for length in [0, 1, 27, 28, 20_000, whole.len() - 1] {
            assert!(opened(&whole[..length]).is_none(), "{length}");
        }
        assert!(opened(&[whole.as_slice(), b" "].concat()).is_none());
    }

    proptest! {
        #[test]
        fn no_other_byte_is_believed(at in 0..20_100_usize, other in 1..=255_u8) {
            let content = content(20_000);
            let mut bytes = written(&content, b"description");
            let at = at % bytes.len();
            bytes[at] ^= other;
            if let Some((file, description)) = opened(&bytes) {
                prop_assert_eq!(description, b"description");
                prop_assert_eq!(file.read(0, content.len()), None);
                prop_assert!(file.is_damaged());
            }
        }
    }
}
