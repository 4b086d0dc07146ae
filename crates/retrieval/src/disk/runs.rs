//! External sorting of more data than fits into memory: sorted runs in unnamed files, which are merged at the
//! end.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, BufWriter, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use private_files::unnamed_file;

/// A sort key and its value.
pub type Pair = (Vec<u8>, Vec<u8>);
/// A key and all its values.
pub type KeyGroup = (Vec<u8>, Vec<Vec<u8>>);
/// A key, the number of its run, and its value: the smallest is the next.
type Next = Reverse<(Vec<u8>, usize, Vec<u8>)>;

/// Bytes read at once from each run.
const READ_AHEAD: usize = 64 << 10;

/// Takes pairs in any order and returns them sorted by key; those with the same key in order of insertion.
#[derive(Debug)]
pub struct Sorter {
    folder: PathBuf,
    /// Maximum bytes in memory.
    most: usize,
    held: Vec<u8>,
    /// For each pair the start, the end of the key, and the end.
    places: Vec<[u32; 3]>,
    runs: Vec<SortedRun>,
}

impl Sorter {
    /// Its files are in `folder`; about `most` bytes are held in memory.
    pub fn new(folder: &Path, most: usize) -> Self {
        Self {
            folder: folder.to_owned(),
            most: most.min(u32::MAX as usize / 2),
            held: Vec::new(),
            places: Vec::new(),
            runs: Vec::new(),
        }
    }

    /// # Errors
    /// Fails when a run cannot be written.
    pub fn push(&mut self, key: &[u8], value: &[u8]) -> io::Result<()> {
        let bytes = key.len() + value.len();
        let held = self.held.len() + self.places.len() * size_of::<[u32; 3]>();
        if held + bytes > self.most && !self.places.is_empty() {
            self.spill()?;
        }
        let start = self.held.len() as u32;
        self.held.extend_from_slice(key);
        let middle = self.held.len() as u32;
        self.held.extend_from_slice(value);
        self.places.push([start, middle, self.held.len() as u32]);
        Ok(())
    }

    fn spill(&mut self) -> io::Result<()> {
        let held = &self.held;
        let part = |from: u32, to: u32| &held[from as usize..to as usize];
        self.places
            .sort_by(|a, b| part(a[0], a[1]).cmp(part(b[0], b[1])));
        let mut run = SortedRun::new(&self.folder)?;
        for &[start, middle, end] in &self.places {
            run.push(part(start, middle), part(middle, end))?;
        }
        self.runs.push(run);
        self.held.clear();
        self.places.clear();
        Ok(())
    }

    /// # Errors
    /// Fails when the last run cannot be written.
    pub fn finish(mut self) -> io::Result<Merged> {
        if !self.places.is_empty() {
            self.spill()?;
        }
        Merged::of(self.runs)
    }
}

/// Pairs in a file, sorted by key.
#[derive(Debug)]
pub struct SortedRun(BufWriter<File>);

impl SortedRun {
    /// # Errors
    /// Fails when its file cannot be created.
    pub fn new(folder: &Path) -> io::Result<Self> {
        Ok(Self(BufWriter::with_capacity(
            READ_AHEAD,
            unnamed_file(folder)?,
        )))
    }

    /// Appends a pair, whose key must not be less than the last one's.
    ///
    /// # Errors
    /// Fails when it cannot be written.
    pub fn push(&mut self, key: &[u8], value: &[u8]) -> io::Result<()> {
        for bytes in [key, value] {
            let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
            self.0.write_all(&length.to_le_bytes())?;
            self.0.write_all(bytes)?;
        }
        Ok(())
    }

    fn read(self) -> io::Result<BufReader<File>> {
        let mut file = self.0.into_inner().map_err(|error| error.into_error())?;
        file.rewind()?;
        Ok(BufReader::with_capacity(READ_AHEAD, file))
    }
}

/// The merged pairs of several runs; pairs with the same key in the order of the runs.
#[derive(Debug)]
pub struct Merged {
    runs: Vec<BufReader<File>>,
    /// The next pair of each run.
    next: BinaryHeap<Next>,
}

impl Merged {
    /// # Errors
    /// Fails when a run cannot be read.
    pub fn of(runs: Vec<SortedRun>) -> io::Result<Self> {
        let runs: io::Result<Vec<_>> = runs.into_iter().map(SortedRun::read).collect();
        let mut merged = Self {
            runs: runs?,
            next: BinaryHeap::new(),
        };
        for run in 0..merged.runs.len() {
            merged.read(run)?;
        }
        Ok(merged)
    }

    fn read(&mut self, run: usize) -> io::Result<()> {
        let file = &mut self.runs[run];
        if file.fill_buf()?.is_empty() {
            return Ok(());
        }
        let (key, value) = (read_bytes(file)?, read_bytes(file)?);
        self.next.push(Reverse((key, run, value)));
        Ok(())
    }

    fn take(&mut self) -> io::Result<Option<Pair>> {
        let Some(Reverse((key, run, value))) = self.next.pop() else {
            return Ok(None);
        };
        self.read(run)?;
        Ok(Some((key, value)))
    }

    /// Returns the next key with all its values.
    ///
    /// # Errors
    /// Fails when a run cannot be read.
    pub fn group(&mut self) -> io::Result<Option<KeyGroup>> {
        let Some((key, value)) = self.take()? else {
            return Ok(None);
        };
        let mut values = vec![value];
        while self.next.peek().is_some_and(|Reverse(next)| next.0 == key) {
            values.extend(self.take()?.map(|(_, value)| value));
        }
        Ok(Some((key, values)))
    }
}

impl Iterator for Merged {
    type Item = io::Result<Pair>;

    fn next(&mut self) -> Option<Self::Item> {
        self.take().transpose()
    }
}

fn read_bytes(file: &mut BufReader<File>) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    file.read_exact(&mut length)?;
    let mut bytes = vec![0; u32::from_le_bytes(length) as usize];
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pairs_are_sorted_as_in_memory(
            pairs in prop::collection::vec(("[a-c]{0,3}", "[a-z]{0,5}"), 0..60),
            most in 1..300_usize,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let mut sorter = Sorter::new(folder.path(), most);
            for (key, value) in &pairs {
                sorter.push(key.as_bytes(), value.as_bytes()).unwrap();
            }
            let merged = sorter.finish().unwrap();
            let found: Vec<(String, String)> = merged
                .map(|pair| {
                    let (key, value) = pair.unwrap();
                    (String::from_utf8(key).unwrap(), String::from_utf8(value).unwrap())
                })
                .collect();
            let mut expected = pairs;
            expected.sort_by(|a, b| a.0.cmp(&b.0));
            prop_assert_eq!(found, expected);
            // No file is left.
            prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }

    #[test]
    fn what_has_one_key_comes_together() {
        let folder = tempfile::tempdir().unwrap();
        let mut sorter = Sorter::new(folder.path(), 1);
        for (key, value) in [("b", "1"), ("a", "2"), ("b", "3")] {
            sorter.push(key.as_bytes(), value.as_bytes()).unwrap();
        }
        let mut merged = sorter.finish().unwrap();
        let group = |key: &str, values: &[&str]| {
            let values = values.iter().map(|it| it.as_bytes().to_vec()).collect();
            Some((key.as_bytes().to_vec(), values))
        };
        assert_eq!(merged.group().unwrap(), group("a", &["2"]));
        assert_eq!(merged.group().unwrap(), group("b", &["1", "3"]));
        assert_eq!(merged.group().unwrap(), None);
    }
}
