//! Stores ingested knowledge: a new version of a source is staged beside the one that is served, and
//! the two are exchanged in one transaction.
//!
//! Staged chunks have a label that no generated query and no search can reach. A separate node, also
//! out of reach, describes the source and says which version is served.

mod exchange;
pub mod searching;
mod statements;
mod store;

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::types::embedding::Embedding;

/// Labels of chunks: those served to everybody, those that only some channels may see, those not
/// served yet, and those not served any more.
pub const CHUNK: &str = "Chunk";
pub const PRIVATE: &str = "MuninnPrivate";
pub const STAGED: &str = "MuninnStaged";
pub const RETIRED: &str = "MuninnRetired";

/// From the whole to its parts, and from a record to its chunks.
pub const INCLUDES: &str = "Includes";

/// From each chunk of a record to the next.
pub const NEXT: &str = "Next";

/// The bot's own properties of a chunk: not in the schema, not in results.
pub const HIDDEN_PROPERTIES: &[&str] = &[
    "contentHash",
    "embedder",
    "leavingWith",
    "recordKey",
    "sourceVersion",
    "stagedAs",
];

/// One chunk of a record, ready to be staged.
#[derive(Clone, Debug, PartialEq)]
pub struct NewChunk {
    /// Its record; unique within the source.
    pub record: String,
    /// Position among the record's chunks, from 0.
    pub sequence: usize,
    /// Its label beside [`CHUNK`]: `Document`, `Passage`, a record type…
    pub label: String,
    pub text: String,
    /// `title`, `heading`, `link` and whatever the source has; types that JSON lacks are tagged.
    pub properties: Map<String, Value>,
    /// `None` if the embedder can embed nothing of the text.
    pub vector: Option<Vec<f32>>,
    /// Hash of the whole record; only on its first chunk.
    pub hash: Option<String>,
}

/// A relationship between two chunks of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewLink {
    pub kind: String,
    /// Record and sequence.
    pub from: (String, usize),
    pub to: (String, usize),
    /// Replaces every other relationship of this kind that ends there.
    pub replaces: bool,
    /// Both ends are new in this version.
    pub is_among_new: bool,
}

/// The exclusive right to change a source, for as long as it is renewed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    pub source: String,
    /// `MACHINE/PROCESS`: a process that crashed is recognised by its machine.
    pub holder: String,
    /// The version that is being built.
    pub version: i64,
    /// Whether only some channels may see the source.
    pub private: bool,
}

/// A request to change a source.
#[derive(Clone, Debug)]
pub struct Claim<'a> {
    pub source: &'a str,
    /// Names the data folder; the caller holds that folder's lock for this source.
    pub machine: &'a str,
    pub process: &'a str,
    /// Empty: everybody may see it.
    pub channels: &'a [String],
}

/// A record as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownRecord {
    pub key: String,
    pub hash: String,
    pub embedder: String,
}

/// Selects chunks of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkSelection {
    Served,
    Staged,
}

/// The parts of an exchange, sent in this order.
#[derive(Debug)]
pub enum Exchange {
    /// Records whose served chunks are removed.
    Remove(Vec<String>),
    /// Relationships with at least one new end; those among new chunks come first.
    Link(Vec<NewLink>),
    /// All parts were sent.
    Finish(Box<Completed>),
}

/// For each label the names of its properties, most important first.
pub type PropertyOrder = BTreeMap<String, Vec<String>>;

/// The description of a complete version.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Completed {
    pub kind: String,
    pub embedder: String,
    pub mapping: String,
    pub property_order: PropertyOrder,
    pub paths: Vec<String>,
    pub channels: Vec<String>,
    pub records: u64,
    pub rejected: u64,
    /// Number of places where a hierarchy has a cycle.
    pub circles: u64,
}

/// A source as the catalog shows it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceOverview {
    pub name: String,
    /// The served version; 0 before the first one is complete.
    pub version: i64,
    /// When that version became current.
    pub since: Option<DateTime<Utc>>,
    pub of: Completed,
    pub chunks: u64,
    /// Number of chunks without a vector.
    pub without_vector: u64,
    /// Staged chunks of a version that is in progress or was interrupted.
    pub staged: u64,
    /// The current holder, if it has renewed its lease.
    pub holder: Option<String>,
}

/// A served chunk and its position.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServedChunk {
    pub chunk: String,
    pub record: String,
    pub sequence: i64,
    pub source: String,
    /// The version of the source that introduced it.
    pub version: i64,
    /// Its label beside the one of chunks.
    pub label: String,
    pub title: Option<String>,
    pub heading: Option<String>,
    pub link: Option<String>,
    pub text: String,
    /// Stored separately from the rest of a stored chunk.
    #[serde(skip)]
    pub embedding: Option<Embedding>,
    /// Its subjects, in words of the source; policies refer to them.
    pub tags: Vec<String>,
    /// As in the source: `2026-01-02`, or anything that begins like this.
    pub date: Option<String>,
    /// The chunk above it, along [`INCLUDES`].
    pub parent: Option<String>,
}

/// The ID of a chunk in the whole graph.
pub fn chunk_id(source: &str, record: &str, sequence: usize) -> String {
    format!("{source}/{record}#{sequence}")
}

/// The ID of a record in the whole graph.
pub fn record_key(source: &str, record: &str) -> String {
    format!("{source}/{record}")
}
