//! Writes one version of a source to a file, from chunks and relationships in any order. Memory is
//! bounded except for a few bytes per chunk: sorting happens on disk.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufWriter, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use half::f16;
use private_files::unnamed_file;

use super::identifiers::{day, has_digit, identifiers};
use super::layout::{ChunkEntry, Description, FORMAT, IndexInputs, Near};
use super::names;
use super::signs::signs;
use crate::graph::ingest::ServedChunk;
use crate::graph::ingest::searching::{ServedLink, SourceVersion};
use crate::knowledge::search::policy::POLICY;
use crate::llm::tokens::estimate;
use crate::retrieval::disk::blocks::{BlockWriter, FileRange, write_offset};
use crate::retrieval::disk::bytes::{Bytes, put_bytes};
use crate::retrieval::disk::lists;
use crate::retrieval::disk::runs::{Merged, SortedRun, Sorter};
use crate::retrieval::disk::table::{TablePart, TableWriter};
use crate::retrieval::disk::words::WordsWriter;
use crate::retrieval::postings::Wording;
use crate::retrieval::text::WordStemmer;
use crate::retrieval::vectors::Quantised;

/// Memory in bytes for sorting chunks, and for words.
const CHUNK_BYTES: usize = 24 << 20;
const WORD_BYTES: usize = 48 << 20;
/// Memory in bytes for sorting each kind of small items.
const SMALL_BYTES: usize = 8 << 20;
/// Maximum policies per source; further ones are not read.
const POLICIES: usize = 1_000;

/// The chunks do not belong to the served version: a version was exchanged meanwhile.
#[derive(Debug, PartialEq, Eq)]
pub struct Moved;

/// A file under construction.
#[derive(Debug)]
pub struct Builder {
    source: SourceVersion,
    embedder: Option<(String, usize)>,
    folder: PathBuf,
    chunks: Sorter,
    links: Sorter,
    count: usize,
    has_moved: bool,
}

impl Builder {
    /// Begins a file for the chunks of this version; `embedder` is the one whose vectors are
    /// compared, with their dimension. Temporary files for sorting are in `folder`.
    pub fn new(source: &SourceVersion, embedder: Option<(&str, usize)>, folder: &Path) -> Self {
        Self {
            source: source.clone(),
            embedder: embedder.map(|(name, dimension)| (name.to_owned(), dimension)),
            folder: folder.to_owned(),
            chunks: Sorter::new(folder, CHUNK_BYTES),
            links: Sorter::new(folder, SMALL_BYTES),
            count: 0,
            has_moved: false,
        }
    }

    /// Adds a chunk. A chunk of another version shows that the source has moved.
    ///
    /// # Errors
    /// Fails when it cannot be written.
    pub fn push(&mut self, chunk: &ServedChunk) -> io::Result<()> {
        self.has_moved |= chunk.source != self.source.name || chunk.version > self.source.version;
        self.count += 1;
        let vector = chunk.embedding.as_ref().filter(|own| {
            let told = self.embedder.as_ref();
            told.is_some_and(|(name, length)| *name == own.embedder && *length == own.vector.len())
        });
        let vector = vector.and_then(|embedding| Quantised::new(&halved(&embedding.vector)));
        let mut key = chunk.record.as_bytes().to_vec();
        key.push(0);
        key.extend((chunk.sequence as u64 ^ 1 << 63).to_be_bytes());
        key.extend(chunk.chunk.as_bytes());
        let mut value = Vec::new();
        put_bytes(&mut value, &serde_json::to_vec(chunk)?);
        value.extend(vector.iter().flat_map(row));
        self.chunks.push(&key, &value)
    }

    /// Adds a relationship between chunks of the source.
    ///
    /// # Errors
    /// Fails when it cannot be written.
    pub fn link(&mut self, link: &ServedLink) -> io::Result<()> {
        let mut to = Vec::new();
        put_bytes(&mut to, link.kind.as_bytes());
        put_bytes(&mut to, link.to.as_bytes());
        self.links.push(link.from.as_bytes(), &to)
    }

    /// Whether it has as many chunks as the version.
    pub fn is_whole(&self) -> bool {
        self.source.chunks.is_none_or(|chunks| chunks == self.count)
    }

    /// Writes the file, unless chunks of several versions were added.
    ///
    /// # Errors
    /// Fails when it cannot be written.
    pub fn finish(self, file: File) -> io::Result<Result<(), Moved>> {
        if self.has_moved {
            return Ok(Err(Moved));
        }
        let is_partial = !self.is_whole();
        let made_by = self.embedder.as_ref();
        let made_by = made_by.map(|(name, dimension)| (name.as_str(), *dimension));
        let dimension = made_by.map_or(0, |(_, dimension)| dimension);
        let of = IndexInputs::new(&self.source, made_by);
        let mut writer = SegmentWriter::new(
            &self.source.name,
            dimension,
            &self.folder,
            BlockWriter::new(file),
        )?;
        for pair in self.chunks.finish()? {
            let (_, value) = pair?;
            let mut read = Bytes(&value);
            let chunk = serde_json::from_slice(read.bytes().unwrap_or_default())?;
            writer.take(chunk, unrow(read.0))?;
        }
        writer.finish(self.links.finish()?, of, is_partial)?;
        Ok(Ok(()))
    }
}

/// Rounds to half precision like the embedded store, so that both stores give the same cosines.
fn halved(vector: &[f32]) -> Vec<f32> {
    let half = |x: &f32| f16::from_f32(*x).to_f32();
    vector.iter().map(half).collect()
}

/// Serializes a vector: its numbers, and its scale.
fn row(vector: &Quantised) -> Vec<u8> {
    let numbers = vector.bytes().map(|it| it as u8);
    numbers.chain(vector.scale.to_le_bytes()).collect()
}

fn unrow(bytes: &[u8]) -> Option<Quantised> {
    let (numbers, scale) = bytes.split_last_chunk::<4>()?;
    Some(Quantised {
        values: numbers.iter().map(|&it| i16::from(it as i8)).collect(),
        scale: f32::from_le_bytes(*scale),
    })
}

/// Data per chunk that is buffered beside the texts, and appended after them.
#[derive(Debug)]
struct Column(BufWriter<File>);

impl Column {
    fn new(folder: &Path) -> io::Result<Self> {
        Ok(Self(BufWriter::with_capacity(
            256 << 10,
            unnamed_file(folder)?,
        )))
    }

    fn put(self, to: &mut BlockWriter) -> io::Result<FileRange> {
        let start = to.position();
        let mut file = self.0.into_inner().map_err(|error| error.into_error())?;
        file.rewind()?;
        to.copy(file)?;
        Ok(FileRange::since(start, to))
    }
}

/// Writes the chunks in order.
struct SegmentWriter {
    to: BlockWriter,
    folder: PathBuf,
    dimension: usize,
    of_source: BTreeSet<String>,
    words: WordStemmer,
    lists: WordsWriter,
    places: Column,
    rows: Column,
    signs: Column,
    has_vector: Vec<u8>,
    names: Sorter,
    identifiers: Sorter,
    /// The name of the parent, by chunk number.
    above: SortedRun,
    /// Hashes of the chunks' names, with their numbers.
    by_name: Vec<([u8; 16], u32)>,
    labels: Vec<String>,
    policies: Vec<u32>,
    /// The record of the last chunk, and that record's first chunk.
    record: (String, u32),
}

impl SegmentWriter {
    fn new(source: &str, dimension: usize, folder: &Path, to: BlockWriter) -> io::Result<Self> {
        let words = WordStemmer::default();
        Ok(Self {
            of_source: names::of_source(&words, source),
            words,
            to,
            folder: folder.to_owned(),
            dimension,
            lists: WordsWriter::new(folder, WORD_BYTES),
            places: Column::new(folder)?,
            rows: Column::new(folder)?,
            signs: Column::new(folder)?,
            has_vector: Vec::new(),
            names: Sorter::new(folder, SMALL_BYTES),
            identifiers: Sorter::new(folder, SMALL_BYTES),
            above: SortedRun::new(folder)?,
            by_name: Vec::new(),
            labels: Vec::new(),
            policies: Vec::new(),
            record: (String::new(), 0),
        })
    }

    /// Adds the next chunk.
    fn take(&mut self, chunk: ServedChunk, vector: Option<Quantised>) -> io::Result<()> {
        let number = u32::try_from(self.by_name.len()).map_err(io::Error::other)?;
        self.by_name.push((hash(&chunk.chunk), number));
        if number == 0 || self.record.0 != chunk.record {
            self.record = (chunk.record.clone(), number);
            self.identify(&chunk, number)?;
        }
        self.name(&chunk, number)?;
        self.vector(vector, number)?;
        if let Some(above) = &chunk.parent {
            self.above.push(&number.to_be_bytes(), above.as_bytes())?;
        }
        if chunk.label == POLICY && self.policies.len() < POLICIES {
            self.policies.push(number);
        }
        let heads = [&chunk.title, &chunk.heading];
        let heads = heads.into_iter().flatten().map(String::as_str);
        let tags = chunk.tags.iter().map(String::as_str);
        let wording = self.lists.push([&chunk.text, ""], heads.chain(tags))?;
        self.put(chunk, wording)
    }

    /// Writes a text, followed by its entry.
    fn put(&mut self, chunk: ServedChunk, wording: Wording) -> io::Result<()> {
        self.to.write(chunk.text.as_bytes())?;
        let label = place_of(&mut self.labels, &chunk.label);
        let entry = ChunkEntry {
            text: chunk.text.len() as u64,
            tokens: estimate(&chunk.text),
            date: chunk.date.as_deref().and_then(day),
            label: Arc::default(),
            chunk: chunk.chunk,
            record: chunk.record,
            sequence: chunk.sequence,
            title: chunk.title,
            heading: chunk.heading,
            link: chunk.link,
            tags: chunk.tags,
            wording,
            head: self.record.1,
        };
        let told = entry.write(label);
        write_offset(&mut self.places.0, self.to.position())?;
        self.places
            .0
            .write_all(&(told.len() as u32).to_le_bytes())?;
        self.to.write(&told)
    }

    /// Adds the identifiers of a chunk's record.
    fn identify(&mut self, chunk: &ServedChunk, number: u32) -> io::Result<()> {
        let tags = chunk.tags.iter().map(|tag| tag.to_lowercase());
        let tags = tags.filter(|tag| has_digit(tag) && !tag.contains(char::is_whitespace));
        let own = identifiers(&chunk.record, chunk.title.as_deref()).into_iter();
        for identifier in own.chain(tags) {
            self.identifiers
                .push(identifier.as_bytes(), &number.to_be_bytes())?;
        }
        Ok(())
    }

    fn name(&mut self, chunk: &ServedChunk, number: u32) -> io::Result<()> {
        let name = match (&chunk.heading, chunk.sequence) {
            (Some(heading), _) => Some(heading.as_str()),
            (None, 0) => chunk.title.as_deref(),
            (None, _) => None,
        };
        let stems = name.map(|name| names::of_name(&self.words, name, &self.of_source));
        let stems = stems.unwrap_or_default();
        let mut value = number.to_be_bytes().to_vec();
        value.push(stems.len() as u8);
        for stem in stems {
            self.names.push(stem.as_bytes(), &value)?;
        }
        Ok(())
    }

    fn vector(&mut self, vector: Option<Quantised>, number: u32) -> io::Result<()> {
        if number.is_multiple_of(8) {
            self.has_vector.push(0);
        }
        let nothing = Quantised {
            values: vec![0; self.dimension],
            scale: 0.0,
        };
        if let (Some(bits), true) = (self.has_vector.last_mut(), vector.is_some()) {
            *bits |= 1 << (number % 8);
        }
        let vector = vector.unwrap_or(nothing);
        self.rows.0.write_all(&row(&vector))?;
        for signs in signs(&vector) {
            self.signs.0.write_all(&signs.to_le_bytes())?;
        }
        Ok(())
    }

    fn finish(mut self, links: Merged, of: IndexInputs, is_partial: bool) -> io::Result<()> {
        let count = self.by_name.len();
        self.by_name.sort_unstable();
        let above = Merged::of(vec![self.above])?;
        let mut kinds = Vec::new();
        let mut relations = Sorter::new(&self.folder, SMALL_BYTES);
        relate(&self.by_name, above, links, &mut kinds, &mut relations)?;
        drop(self.by_name);
        let offsets = write_near(relations.finish()?, count, &self.folder, &mut self.to)?;
        let to = &mut self.to;
        let words = self.lists.finish(to)?;
        let names = numbered(self.names.finish()?, to)?;
        let identifiers = numbered(self.identifiers.finish()?, to)?;
        let start = to.position();
        to.write(&self.has_vector)?;
        let has_vector = FileRange::since(start, to);
        let description = Description {
            format: FORMAT,
            of,
            is_partial,
            count,
            labels: self.labels,
            kinds,
            policies: self.policies,
            places: self.places.put(to)?,
            near: offsets.put(to)?,
            rows: self.rows.put(to)?,
            signs: self.signs.put(to)?,
            has_vector,
            words,
            names,
            identifiers,
        };
        self.to.finish(&serde_json::to_vec(&description)?)
    }
}

fn hash(name: &str) -> [u8; 16] {
    let hash = blake3::hash(name.as_bytes());
    hash.as_bytes().first_chunk().copied().unwrap_or_default()
}

/// Returns the index of a text, which is added if it is new.
fn place_of(texts: &mut Vec<String>, text: &str) -> usize {
    let place = texts.iter().position(|known| known == text);
    place.unwrap_or_else(|| {
        texts.push(text.to_owned());
        texts.len() - 1
    })
}

/// Kinds of relations, which determine their order within a chunk.
const CHILD: u8 = 0;
const EDGE: u8 = 1;
const PARENT: u8 = 2;

/// Resolves the names in relationships to chunk numbers, and sorts by them.
fn relate(
    by_name: &[([u8; 16], u32)],
    above: Merged,
    links: Merged,
    kinds: &mut Vec<String>,
    relations: &mut Sorter,
) -> io::Result<()> {
    let number = |name: &[u8]| {
        let hash = hash(std::str::from_utf8(name).unwrap_or_default());
        let place = by_name.binary_search_by_key(&hash, |(own, _)| *own);
        place.ok().map(|place| by_name[place].1)
    };
    let mut relate = |one: u32, what: u8, other: u32, kind: &str| {
        let mut key = one.to_be_bytes().to_vec();
        key.push(what);
        key.extend(other.to_be_bytes());
        key.extend(kind.as_bytes());
        let kind = if what == EDGE {
            place_of(kinds, kind)
        } else {
            0
        };
        relations.push(&key, &(kind as u32).to_be_bytes())
    };
    for pair in above {
        let (child, parent) = pair?;
        let child = u32::from_be_bytes(child.first_chunk().copied().unwrap_or_default());
        if let Some(parent) = number(&parent).filter(|parent| *parent != child) {
            relate(parent, CHILD, child, "")?;
            relate(child, PARENT, parent, "")?;
        }
    }
    for pair in links {
        let (from, told) = pair?;
        let mut read = Bytes(&told);
        let (kind, to) = (
            read.text().unwrap_or_default(),
            read.bytes().unwrap_or_default(),
        );
        if let (Some(from), Some(to)) = (number(&from), number(to)) {
            relate(from, EDGE, to, kind)?;
            relate(to, EDGE, from, kind)?;
        }
    }
    Ok(())
}

/// Writes the relationships of each chunk. Returns the offset of each.
fn write_near(
    relations: Merged,
    count: usize,
    folder: &Path,
    to: &mut BlockWriter,
) -> io::Result<Column> {
    let mut offsets = Column::new(folder)?;
    let mut relations = relations.peekable();
    for number in 0..count as u32 {
        write_offset(&mut offsets.0, to.position())?;
        let mut near = Near::default();
        let is_own = |pair: &io::Result<(Vec<u8>, Vec<u8>)>| {
            let Ok((key, _)) = pair else { return true };
            key.starts_with(&number.to_be_bytes())
        };
        while let Some(pair) = relations.next_if(is_own) {
            let (key, kind) = pair?;
            let read =
                |bytes: &[u8]| u32::from_be_bytes(bytes.first_chunk().copied().unwrap_or_default());
            let other = read(&key[5..]);
            match key[4] {
                CHILD => near.children.push(other),
                EDGE => near.edges.push((read(&kind), other)),
                _parent => near.parent = Some(other),
            }
        }
        if near != Near::default() {
            to.write(&near.write())?;
        }
    }
    write_offset(&mut offsets.0, to.position())?;
    Ok(offsets)
}

/// Writes a table of lists: the numbers of each key, with a byte of data each.
fn numbered(mut merged: Merged, to: &mut BlockWriter) -> io::Result<TablePart> {
    let mut table = TableWriter::default();
    while let Some((key, values)) = merged.group()? {
        let postings = values.iter().filter_map(|value| {
            let (number, told) = value.split_first_chunk::<4>()?;
            let told = told.first().copied().unwrap_or_default();
            Some((u32::from_be_bytes(*number), u16::from(told)))
        });
        let postings: Vec<lists::Having> = postings.collect();
        let list = lists::join_parts(&[lists::encode_part(postings.into_iter())]);
        table.push(&key, &list, to)?;
    }
    table.finish(to)
}
