//! A sorted table in a file: keys with values, in pages. The first key of each page is in memory.

use std::io;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::blocks::{BlockFile, BlockWriter, FileRange};
use super::bytes::{Bytes, put_bytes, put_number};

/// Bytes of a page; a longer entry has its own page.
const PAGE: usize = 4 << 10;

/// The position of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TablePart {
    /// The first key and the offset of each page, followed by the end of the last one.
    pages: FileRange,
    count: u64,
}

/// Writes a table, in the order of its keys.
#[derive(Debug, Default)]
pub struct TableWriter {
    page: Vec<u8>,
    /// First key of the current page.
    first: Option<Vec<u8>>,
    pages: Vec<u8>,
    count: u64,
}

impl TableWriter {
    /// Adds an entry. Nothing else may be written to the file meanwhile.
    ///
    /// # Errors
    /// Fails when it cannot be written.
    pub fn push(&mut self, key: &[u8], value: &[u8], to: &mut BlockWriter) -> io::Result<()> {
        let mut entry = Vec::with_capacity(key.len() + value.len() + 10);
        put_bytes(&mut entry, key);
        put_bytes(&mut entry, value);
        if self.page.len() + entry.len() > PAGE {
            self.end_page(to)?;
        }
        self.first.get_or_insert_with(|| key.to_vec());
        self.page.extend(entry);
        self.count += 1;
        Ok(())
    }

    fn end_page(&mut self, to: &mut BlockWriter) -> io::Result<()> {
        if let Some(first) = self.first.take() {
            put_bytes(&mut self.pages, &first);
            put_number(&mut self.pages, to.position());
            to.write(&self.page)?;
            self.page.clear();
        }
        Ok(())
    }

    /// # Errors
    /// Fails when it cannot be written.
    pub fn finish(mut self, to: &mut BlockWriter) -> io::Result<TablePart> {
        self.end_page(to)?;
        let end = to.position();
        put_bytes(&mut self.pages, &[]);
        put_number(&mut self.pages, end);
        to.write(&self.pages)?;
        Ok(TablePart {
            pages: FileRange::since(end, to),
            count: self.count,
        })
    }
}

/// A readable table.
#[derive(Debug)]
pub struct Table {
    /// The concatenated first keys of all pages.
    keys: Vec<u8>,
    /// The end of each key, and the start of its page. The last entry is the end of the table.
    pages: Vec<(u32, u64)>,
}

impl Table {
    /// `None` if the file is damaged.
    pub fn open(file: &BlockFile, part: TablePart) -> Option<Self> {
        let bytes = part.pages.read(file)?;
        let mut read = Bytes(&bytes);
        let mut table = Self {
            keys: Vec::new(),
            pages: Vec::new(),
        };
        while !read.is_empty() {
            table.keys.extend_from_slice(read.bytes()?);
            let end = u32::try_from(table.keys.len()).ok()?;
            table.pages.push((end, read.number()?));
        }
        table.keys.shrink_to_fit();
        table.pages.shrink_to_fit();
        Some(table)
    }

    fn key(&self, page: usize) -> &[u8] {
        let start = page.checked_sub(1).map_or(0, |before| self.pages[before].0);
        &self.keys[start as usize..self.pages[page].0 as usize]
    }

    /// The position of a key's value.
    pub fn find(&self, file: &BlockFile, key: &[u8]) -> Option<Range<u64>> {
        let count = self.pages.len().checked_sub(1)?;
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.key(middle) <= key {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let page = low.checked_sub(1)?;
        let (start, end) = (self.pages[page].1, self.pages[page + 1].1);
        // An entry longer than a page is alone in its page, so its beginning is enough.
        let length = (end.checked_sub(start)? as usize).min(PAGE.max(key.len() + 20));
        let bytes = file.read(start, length)?;
        let mut read = Bytes(&bytes);
        while !read.is_empty() {
            let own = read.bytes()?;
            let length: usize = read.small()?;
            let at = start + (bytes.len() - read.0.len()) as u64;
            if own == key {
                return Some(at..at + length as u64);
            }
            read.take(length)?;
        }
        None
    }

    /// The value of a key.
    pub fn get(&self, file: &BlockFile, key: &[u8]) -> Option<Vec<u8>> {
        let place = self.find(file, key)?;
        file.read(place.start, (place.end - place.start) as usize)
    }

    pub fn heap_bytes(&self) -> usize {
        self.keys.capacity() + self.pages.capacity() * size_of::<(u32, u64)>()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_value_is_found_by_its_key_and_nothing_else(
            values in prop::collection::btree_map("[a-d]{0,6}", 0..9_000_usize, 0..40),
            others in prop::collection::vec("[a-e]{0,6}", 20),
        ) {
            let file = tempfile::tempfile().unwrap();
            let mut to = BlockWriter::new(file.try_clone().unwrap());
            to.write(b"something before").unwrap();
            let mut writer = TableWriter::default();
            let value = |key: &str, length: usize| key.bytes().chain([b'-']).cycle().take(length).collect::<Vec<u8>>();
            let values: BTreeMap<String, Vec<u8>> =
                values.into_iter().map(|(key, length)| { let it = value(&key, length); (key, it) }).collect();
            for (key, value) in &values {
                writer.push(key.as_bytes(), value, &mut to).unwrap();
            }
            let part = writer.finish(&mut to).unwrap();
            to.finish(b"").unwrap();
            let (file, _) = BlockFile::open(file).unwrap().unwrap();
            let table = Table::open(&file, part).unwrap();
            for key in values.keys().chain(&others) {
                let found = table.get(&file, key.as_bytes());
                prop_assert_eq!(found.as_ref(), values.get(key), "{}", key);
            }
            prop_assert!(!file.is_damaged());
        }
    }
}
