//! Reads the index file of one version of a source. In memory are the signs of the vectors, the
//! lengths of the texts, and the first keys of the tables' pages: some forty bytes per chunk.
//! Everything else is read on demand.
//!
//! Reads from a damaged file return nothing and set a flag: callers have to check
//! [`Segment::is_damaged`] before they trust a result.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::layout::{ChunkEntry, Description, FORMAT, IndexInputs, Near, PLACE, SIGNED};
use super::signs;
use crate::graph::ingest::searching::SourceVersion;
use crate::retrieval::best::NOWHERE;
use crate::retrieval::disk::blocks::{BlockFile, BlockReader, FileRange};
use crate::retrieval::disk::lists;
use crate::retrieval::disk::table::Table;
use crate::retrieval::disk::words::{Searched, WordLists};
use crate::retrieval::vectors::{Quantised, QuantisedVectors, Signs};

/// Maximum relationships read per chunk; more are not followed.
const NEAR: usize = 2_000;
/// Rows compared at once.
const ROWS: usize = 1_024;
/// Bytes read at once when a file is opened.
const READ_BYTES: u64 = 1 << 20;

/// An open index file.
#[derive(Debug)]
pub struct Segment {
    file: BlockFile,
    of: IndexInputs,
    is_partial: bool,
    count: usize,
    dimension: usize,
    labels: Vec<Arc<str>>,
    kinds: Vec<Arc<str>>,
    policies: Vec<u32>,
    places: FileRange,
    near: FileRange,
    rows: FileRange,
    signs: Signs,
    /// A bit per chunk.
    has_vector: Vec<u8>,
    lists: WordLists,
    names: Table,
    identifiers: Table,
}

impl Segment {
    /// Opens a file. `None`: it has another format, or is damaged.
    pub(super) fn open(path: &Path) -> io::Result<Option<Self>> {
        let Some((file, description)) = BlockFile::open(File::open(path)?)? else {
            return Ok(None);
        };
        let description: Result<Description, _> = serde_json::from_slice(&description);
        Ok(description
            .ok()
            .filter(|told| told.format == FORMAT)
            .and_then(|told| Self::of(file, told)))
    }

    fn of(file: BlockFile, told: Description) -> Option<Self> {
        let dimension = told.of.embedder.as_ref().map_or(0, |(_, length)| *length);
        let shared = |texts: Vec<String>| texts.into_iter().map(Arc::from).collect();
        let segment = Self {
            signs: signs(&file, told.signs, dimension, told.count)?,
            has_vector: told.has_vector.read(&file)?,
            lists: WordLists::open(&file, told.words)?,
            names: Table::open(&file, told.names)?,
            identifiers: Table::open(&file, told.identifiers)?,
            of: told.of,
            is_partial: told.is_partial,
            count: told.count,
            dimension,
            labels: shared(told.labels),
            kinds: shared(told.kinds),
            policies: told.policies,
            places: told.places,
            near: told.near,
            rows: told.rows,
            file,
        };
        let is_whole = segment.lists.count() == segment.count
            && segment.has_vector.len() == segment.count.div_ceil(8);
        is_whole.then_some(segment)
    }

    /// Whether it belongs to this version of this source, with vectors of this embedder.
    pub fn is_of(&self, source: &SourceVersion, embedder: Option<(&str, usize)>) -> bool {
        !self.is_damaged() && self.of.fits(&IndexInputs::new(source, embedder))
    }

    /// Whether damage was found since it was opened, so that results are unreliable.
    pub fn is_damaged(&self) -> bool {
        self.file.is_damaged()
    }

    /// Whether chunks were missing when it was built.
    pub fn is_partial(&self) -> bool {
        self.is_partial
    }

    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the entry of a chunk; an empty one if the file is damaged.
    pub(super) fn entry(&self, number: usize) -> ChunkEntry {
        let mut reader = self.file.reader();
        let entry = self.place(&mut reader, number).and_then(|(start, length)| {
            ChunkEntry::read(reader.read(start, length)?, &self.labels)
        });
        self.trusted(entry)
    }

    /// Returns the text of a chunk.
    pub(super) fn text(&self, number: usize) -> String {
        self.entry_and_text(number).1
    }

    /// Returns the entry and the text of a chunk.
    pub(super) fn entry_and_text(&self, number: usize) -> (ChunkEntry, String) {
        let mut reader = self.file.reader();
        let place = self.place(&mut reader, number);
        let read = place.and_then(|(start, length)| {
            let entry = ChunkEntry::read(reader.read(start, length)?, &self.labels)?;
            let text = self.file.read(
                start.checked_sub(entry.text)?,
                usize::try_from(entry.text).ok()?,
            )?;
            Some((entry, String::from_utf8(text).ok()?))
        });
        self.trusted(read)
    }

    fn place(&self, reader: &mut BlockReader<'_>, number: usize) -> Option<(u64, usize)> {
        if number >= self.count {
            return None;
        }
        let place = reader.read(self.places.start + (number * PLACE) as u64, PLACE)?;
        let (start, length) = place.split_first_chunk::<8>()?;
        let length = u32::from_le_bytes(*length.first_chunk()?);
        Some((u64::from_le_bytes(*start), length as usize))
    }

    pub(super) fn near(&self, number: usize) -> Near {
        let mut reader = self.file.reader();
        let mut read = || {
            let at = self.near.start + (number * size_of::<u64>()) as u64;
            let (start, end) = (
                reader.number(at)?,
                reader.number(at + size_of::<u64>() as u64)?,
            );
            match usize::try_from(end.checked_sub(start)?).ok()? {
                0 => Some(Near::default()),
                length => Near::read(reader.read(start, length)?, NEAR),
            }
        };
        let near = read();
        self.trusted(near)
    }

    /// Unwraps a read; a failed one marks the file as damaged and gives the default.
    fn trusted<T: Default>(&self, read: Option<T>) -> T {
        read.unwrap_or_else(|| {
            self.file.mark_damaged();
            T::default()
        })
    }

    pub(super) fn kind(&self, number: u32) -> Arc<str> {
        let kind = self.kinds.get(number as usize).cloned();
        self.trusted(kind)
    }

    pub(super) fn policies(&self) -> &[u32] {
        &self.policies
    }

    /// Returns the entries with a word in their name, and the number of words in that name.
    pub(crate) fn named(&self, stem: &str) -> Vec<lists::Having> {
        self.listed(&self.names, stem)
    }

    /// Returns how many entries have a word in their names.
    pub(crate) fn named_count(&self, stem: &str) -> usize {
        let place = self.names.find(&self.file, stem.as_bytes());
        place.map_or(0, |place| lists::length_in(&self.file, &place))
    }

    /// Returns the first chunks of the records with this identifier.
    pub(super) fn identified(&self, identifier: &str) -> Vec<usize> {
        let listed = self.listed(&self.identifiers, identifier);
        listed
            .into_iter()
            .map(|(number, _)| number as usize)
            .collect()
    }

    fn listed(&self, table: &Table, key: &str) -> Vec<lists::Having> {
        let place = table.find(&self.file, key.as_bytes());
        place.map_or_else(Vec::new, |place| {
            lists::read(&self.file, &place, self.count)
        })
    }

    /// Returns the word index of its texts, to be searched with those of other files.
    pub(super) fn words(&self, is_seen: bool) -> Searched<'_> {
        Searched {
            file: &self.file,
            lists: &self.lists,
            is_seen,
        }
    }

    /// Returns the dimension of its vectors.
    pub(super) fn dimension(&self) -> usize {
        self.dimension
    }

    pub(super) fn has_vector(&self, number: usize) -> bool {
        let bits = self.has_vector.get(number / 8);
        bits.is_some_and(|bits| bits >> (number % 8) & 1 == 1)
    }

    /// Returns the number of signs in which each chunk differs from the query; [`NOWHERE`] for
    /// chunks without a vector.
    pub(super) fn sign_distances(&self, query: &Quantised) -> Vec<u16> {
        let mut distances = self.signs.distances(&signs::signs(query));
        let eights = distances.chunks_mut(8).zip(&self.has_vector);
        for (eight, bits) in eights.filter(|(_, bits)| **bits != u8::MAX) {
            for (place, distance) in eight.iter_mut().enumerate() {
                if bits >> place & 1 == 0 {
                    *distance = NOWHERE;
                }
            }
        }
        distances
    }

    /// Returns the cosines of chunks, in order, with the query; NaN for chunks without a vector.
    pub(super) fn cosines(&self, numbers: &[usize], query: &Quantised) -> Vec<f32> {
        if self.dimension == 0 || self.dimension != query.values.len() {
            return vec![f32::NAN; numbers.len()];
        }
        let mut reader = self.file.reader();
        let mut rows = QuantisedVectors::new(self.dimension);
        let mut cosines = Vec::with_capacity(numbers.len());
        for numbers in numbers.chunks(ROWS) {
            rows.clear();
            for &number in numbers {
                self.read_row(&mut reader, number, &mut rows);
            }
            cosines.extend(rows.cosines(0..rows.len(), query));
        }
        cosines
    }

    /// Returns a chunk's own vector, to compare others with.
    pub(super) fn vector(&self, number: usize) -> Option<Quantised> {
        if !self.has_vector(number) {
            return None;
        }
        let mut rows = QuantisedVectors::new(self.dimension);
        self.read_row(&mut self.file.reader(), number, &mut rows);
        rows.get(0)
    }

    fn read_row(&self, reader: &mut BlockReader<'_>, number: usize, into: &mut QuantisedVectors) {
        let length = self.dimension + size_of::<f32>();
        let start = self.rows.start + (number * length) as u64;
        let row = reader
            .read(start, length)
            .and_then(<[u8]>::split_last_chunk);
        match row {
            Some((numbers, scale)) => {
                let numbers = numbers.iter().map(|&it| it as i8);
                into.push(numbers, f32::from_le_bytes(*scale));
            }
            None => into.push(std::iter::empty(), 0.0),
        }
    }

    /// Returns its size in memory, in bytes.
    pub fn heap_bytes(&self) -> usize {
        self.file.heap_bytes()
            + self.signs.heap_bytes()
            + self.has_vector.capacity()
            + self.lists.heap_bytes()
            + self.names.heap_bytes()
            + self.identifiers.heap_bytes()
    }
}

fn signs(file: &BlockFile, part: FileRange, dimension: usize, count: usize) -> Option<Signs> {
    let mut signs = Signs::with_capacity(dimension.min(SIGNED), count);
    let words = signs.words();
    let length = words * size_of::<u64>();
    if part.length != (count * length) as u64 {
        return None;
    }
    let rows_at_once = (READ_BYTES as usize / length.max(1)).max(1);
    let mut reader = file.reader();
    let mut of_row = vec![0; words];
    for start in (0..count).step_by(rows_at_once) {
        let rows = rows_at_once.min(count - start);
        let bytes = reader.read(part.start + (start * length) as u64, rows * length)?;
        let (numbers, _) = bytes.as_chunks::<8>();
        for row in 0..rows {
            for (word, bytes) in of_row.iter_mut().zip(&numbers[row * words..]) {
                *word = u64::from_le_bytes(*bytes);
            }
            signs.push(&of_row);
        }
    }
    Some(signs)
}
