//! What an index file says of itself and of its chunks, in bytes. Pure.

use std::sync::Arc;

use chrono::{DateTime, Datelike as _, NaiveDate, Utc};
use serde::{Deserialize, Serialize};

use crate::graph::ingest::searching::SourceVersion;
use crate::retrieval::disk::blocks::Part;
use crate::retrieval::disk::bytes::{Bytes, put_bytes, put_number, put_option};
use crate::retrieval::disk::table::TablePart;
use crate::retrieval::disk::words::WordsPart;
use crate::retrieval::postings::Wording;

/// Of these files. A file of another one is made anew, as it has to be when words are read otherwise.
pub(super) const FORMAT: u32 = 1;
/// Numbers of a vector whose signs are in memory: with longer vectors, what is held does not grow.
pub(super) const SIGNED: usize = 512;
/// Bytes that tell where a chunk is: the beginning of what is told of it, and how long that is.
pub(super) const PLACE: usize = 12;

/// Of what a file was made. Another version, another embedder or another graph makes another file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MadeOf {
    source: String,
    version: i64,
    since: Option<DateTime<Utc>>,
    chunks: Option<usize>,
    /// Whose vectors are in it, and how long they are.
    pub(super) embedder: Option<(String, usize)>,
}

impl MadeOf {
    pub(super) fn new(source: &SourceVersion, embedder: Option<(&str, usize)>) -> Self {
        Self {
            source: source.name.clone(),
            version: source.version,
            since: source.since,
            chunks: source.chunks,
            embedder: embedder.map(|(name, dimension)| (name.to_owned(), dimension)),
        }
    }

    /// Whether this is what is wanted. Whose vectors a service makes is known only once it has answered: until
    /// then those that are there are not compared, and not made anew.
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

/// What is written at the end of a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Description {
    pub(super) format: u32,
    pub(super) of: MadeOf,
    /// Not every chunk was there: it is searched, and made anew at the next start.
    pub(super) is_partial: bool,
    pub(super) count: usize,
    pub(super) labels: Vec<String>,
    /// Of relationships.
    pub(super) kinds: Vec<String>,
    /// Chunks that are policies.
    pub(super) policies: Vec<u32>,
    /// [`PLACE`] bytes a chunk.
    pub(super) places: Part,
    /// Where what is near each chunk begins; and where the last one ends.
    pub(super) near: Part,
    /// A vector a chunk: its numbers, and its scale.
    pub(super) rows: Part,
    pub(super) signs: Part,
    /// A bit a chunk that has a vector.
    pub(super) has_vector: Part,
    pub(super) words: WordsPart,
    pub(super) names: TablePart,
    pub(super) identifiers: TablePart,
}

/// A chunk, as it is searched.
#[derive(Clone, Debug, Default)]
pub struct Entry {
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
    /// The first chunk of its record, in the file.
    pub(super) head: u32,
    /// Bytes of its text, which stands before it.
    pub(super) text: u64,
}

impl Entry {
    /// The label's number stands for the label.
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
            // Before the year 1 nothing is dated.
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

    /// Nothing where it is none.
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

/// What is near a chunk, in the same file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Near {
    pub(super) parent: Option<u32>,
    pub(super) children: Vec<u32>,
    /// The numbers of the kind and of the other end.
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

    /// At most so many of each.
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
        let made = MadeOf::new(&source, Some(("small", 4)));
        assert!(made.fits(&MadeOf::new(&source, Some(("small", 4)))));
        // Nobody knows yet whose vectors will be asked for.
        assert!(made.fits(&MadeOf::new(&source, None)));
        assert!(!made.fits(&MadeOf::new(&source, Some(("large", 4)))));
        assert!(!made.fits(&MadeOf::new(&source, Some(("small", 8)))));
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
                !made.fits(&MadeOf::new(&other, Some(("small", 4)))),
                "{other:?}"
            );
        }
        // Who may see it is asked of the graph, always.
        let hidden = SourceVersion {
            channels: vec!["C1".to_owned()],
            ..source
        };
        assert!(made.fits(&MadeOf::new(&hidden, Some(("small", 4)))));
    }

    #[test]
    fn a_chunk_and_what_is_near_it_are_read_as_they_were_written() {
        let labels: Vec<Arc<str>> = vec!["Document".into(), "Policy".into()];
        let entry = Entry {
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
        let read = Entry::read(&bytes, &labels).unwrap();
        assert_eq!(format!("{read:?}"), format!("{entry:?}"));
        for end in 0..bytes.len() {
            assert!(Entry::read(&bytes[..end], &labels).is_none(), "{end}");
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
