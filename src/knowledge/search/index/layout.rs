//! The binary layout of an index file: its description and its entries. Pure.

use std::sync::Arc;

use chrono::{DateTime, Datelike as _, NaiveDate, Utc};
use serde::{Deserialize, Serialize};

use crate::graph::ingest::searching::SourceVersion;
use crate::retrieval::disk::blocks::FileRange;
use crate::retrieval::disk::bytes::{Bytes, put_bytes, put_number, put_option};
use crate::retrieval::disk::table::TablePart;
use crate::retrieval::disk::words::WordsPart;
use crate::retrieval::postings::Wording;

/// Version of the format. A file of another version is rebuilt, as it must be when words are
/// tokenised differently.
pub(super) const FORMAT: u32 = 3;
/// Number of dimensions whose signs are in memory, so that longer vectors need no more memory.
pub(super) const SIGNED: usize = 512;
/// Bytes that locate an entry: its offset, and its length.
pub(super) const PLACE: usize = 12;

/// What a file was built from. Another version, embedder or graph needs another file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct IndexInputs {
    source: String,
    version: i64,
    since: Option<DateTime<Utc>>,
    chunks: Option<usize>,
    /// The embedder of its vectors, with their dimension.
    pub(super) embedder: Option<(String, usize)>,
}

impl IndexInputs {
    pub(super) fn new(source: &SourceVersion, embedder: Option<(&str, usize)>) -> Self {
        Self {
            source: source.name.clone(),
            version: source.version,
            since: source.since,
            chunks: source.chunks,
            embedder: embedder.map(|(name, dimension)| (name.to_owned(), dimension)),
        }
    }

    /// Whether the file matches what is wanted. The name of a service's embedder is unknown until
    /// it has answered: until then existing vectors are neither compared nor rebuilt.
    pub(super) fn fits(&self, wanted: &Self) -> bool {
        let embedder = match &wanted.embedder {
            None => self.embedder.clone(),
            some => some.clone(),
        };
        let wanted = Self {
            embedder,
            ..wanted.clone()
        };
        *self == wanted
    }
}

/// The footer of a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Description {
    pub(super) format: u32,
    pub(super) of: IndexInputs,
    /// Chunks were missing: the file is searched, and rebuilt at the next start.
    pub(super) is_partial: bool,
    pub(super) count: usize,
    pub(super) labels: Vec<String>,
    /// Types of relationships.
    pub(super) kinds: Vec<String>,
    /// Numbers of policy chunks.
    pub(super) policies: Vec<u32>,
    /// [`PLACE`] bytes per chunk.
    pub(super) places: FileRange,
    /// The offset of each chunk's relationships, and the end of the last ones.
    pub(super) near: FileRange,
    /// A vector per chunk: its numbers, and its scale.
    pub(super) rows: FileRange,
    pub(super) signs: FileRange,
    /// A bit per chunk: whether it has a vector.
    pub(super) has_vector: FileRange,
    pub(super) words: WordsPart,
    pub(super) names: TablePart,
    pub(super) identifiers: TablePart,
}

/// The index entry of a chunk.
#[derive(Clone, Debug, Default)]
pub struct ChunkEntry {
    pub chunk: String,
    pub record: String,
    pub sequence: i64,
    pub label: Arc<str>,
    pub title: Option<String>,
    pub heading: Option<String>,
    pub link: Option<String>,
    pub tags: Vec<String>,
    pub date: Option<NaiveDate>,
    pub tokens: u32,
    pub(crate) wording: Wording,
    /// The first chunk of its record, within the file.
    pub(super) head: u32,
    /// Length of its text in bytes; the text is stored before the entry.
    pub(super) text: u64,
}

impl ChunkEntry {
    /// Serializes it, with the label's number in place of the label.
    pub(super) fn write(&self, label: usize) -> Vec<u8> {
        let mut into = Vec::new();
        for number in [
            self.text,
            u64::from(self.head),
            self.sequence as u64,
            label as u64,
            u64::from(self.tokens),
            u64::from(self.wording.words),
            u64::from(self.wording.numbers),
            // Years before 1 are not stored.
            self.date
                .map_or(0, |date| date.num_days_from_ce().max(0) as u64),
        ] {
            put_number(&mut into, number);
        }
        put_bytes(&mut into, self.record.as_bytes());
        put_bytes(&mut into, self.chunk.as_bytes());
        for text in [&self.title, &self.heading, &self.link] {
            put_option(&mut into, text.as_deref());
        }
        put_number(&mut into, self.tags.len() as u64);
        for tag in &self.tags {
            put_bytes(&mut into, tag.as_bytes());
        }
        into
    }

    /// Parses it; `None` if invalid.
    pub(super) fn read(bytes: &[u8], labels: &[Arc<str>]) -> Option<Self> {
        let mut read = Bytes(bytes);
        let mut entry = Self {
            text: read.number()?,
            head: read.small()?,
            sequence: read.number()? as i64,
            label: Arc::clone(labels.get(read.small::<usize>()?)?),
            tokens: read.small()?,
            wording: Wording {
                words: read.small()?,
                numbers: read.small()?,
            },
            date: match read.small::<i32>()? {
                0 => None,
                days => NaiveDate::from_num_days_from_ce_opt(days),
            },
            record: read.text()?.to_owned(),
            chunk: read.text()?.to_owned(),
            title: read.option()?.map(str::to_owned),
            heading: read.option()?.map(str::to_owned),
            link: read.option()?.map(str::to_owned),
            tags: Vec::new(),
        };
        for _ in 0..read.number()? {
            entry.tags.push(read.text()?.to_owned());
        }
        Some(entry)
    }
}

/// The relationships of a chunk within the same file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Near {
    pub(super) parent: Option<u32>,
    pub(super) children: Vec<u32>,
    /// The numbers of the type and of the other end.
    pub(super) edges: Vec<(u32, u32)>,
}

impl Near {
    pub(super) fn write(&self) -> Vec<u8> {
        let mut into = Vec::new();
        put_number(
            &mut into,
            self.parent.map_or(0, |parent| u64::from(parent) + 1),
        );
        put_number(&mut into, self.children.len() as u64);
        for child in &self.children {
            put_number(&mut into, u64::from(*child));
        }
        for (kind, other) in &self.edges {
            put_number(&mut into, u64::from(*kind));
            put_number(&mut into, u64::from(*other));
        }
        into
    }

    /// Parses it, with at most `most` of each.
    pub(super) fn read(bytes: &[u8], most: usize) -> Option<Self> {
        let mut read = Bytes(bytes);
        let mut near = Self {
            parent: read.small::<u32>()?.checked_sub(1),
            ..Self::default()
        };
        for at in 0..read.small::<usize>()? {
            let child = read.small()?;
            if at < most {
                near.children.push(child);
            }
        }
        while !read.is_empty() && near.edges.len() < most {
            near.edges.push((read.small()?, read.small()?));
        }
        Some(near)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_fits_what_it_was_made_of_and_nothing_else() {
        let source = SourceVersion {
            name: "wiki".to_owned(),
            version: 3,
            chunks: Some(7),
            ..SourceVersion::default()
        };
        let made = IndexInputs::new(&source, Some(("small", 4)));
        assert!(made.fits(&IndexInputs::new(&source, Some(("small", 4)))));
        // The embedder is not known yet.
        assert!(made.fits(&IndexInputs::new(&source, None)));
        assert!(!made.fits(&IndexInputs::new(&source, Some(("large", 4)))));
        assert!(!made.fits(&IndexInputs::new(&source, Some(("small", 8)))));
        for other in [
            SourceVersion {
                version: 4,
                ..source.clone()
            },
            SourceVersion {
                chunks: Some(8),
                ..source.clone()
            },
            SourceVersion {
                name: "book".to_owned(),
                ..source.clone()
            },
            SourceVersion {
                since: Some(DateTime::UNIX_EPOCH),
                ..source.clone()
            },
        ] {
            assert!(
                !made.fits(&IndexInputs::new(&other, Some(("small", 4)))),
                "{other:?}"
            );
        }
        // Access is always checked with the graph.
        let hidden = SourceVersion {
            channels: vec!["C1".to_owned()],
            ..source
        };
        assert!(made.fits(&IndexInputs::new(&hidden, Some(("small", 4)))));
    }

    #[test]
    fn a_chunk_and_what_is_near_it_are_read_as_they_were_written() {
        let labels: Vec<Arc<str>> = vec!["Document".into(), "Policy".into()];
        let entry = ChunkEntry {
            chunk: "wiki/a#-1".to_owned(),
            record: "wiki/a".to_owned(),
            sequence: -1,
            label: "Policy".into(),
            title: Some("Ä".to_owned()),
            heading: None,
            link: Some(String::new()),
            tags: vec!["one".to_owned(), String::new()],
            date: NaiveDate::from_ymd_opt(1950, 1, 1),
            tokens: 12,
            wording: Wording {
                words: 3,
                numbers: u32::MAX,
            },
            head: 9,
            text: 1 << 40,
        };
        let bytes = entry.write(1);
        let read = ChunkEntry::read(&bytes, &labels).unwrap();
        assert_eq!(format!("{read:?}"), format!("{entry:?}"));
        for end in 0..bytes.len() {
            assert!(ChunkEntry::read(&bytes[..end], &labels).is_none(), "{end}");
        }
        let near = Near {
            parent: Some(0),
            children: vec![3, 1, 2],
            edges: vec![(0, 5), (1, 0)],
        };
        assert_eq!(Near::read(&near.write(), 9), Some(near.clone()));
        let fewer = Near::read(&near.write(), 1).unwrap();
        assert_eq!((fewer.children, fewer.edges), (vec![3], vec![(0, 5)]));
    }
}
