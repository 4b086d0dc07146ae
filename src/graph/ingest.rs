//! What a store does with ingested knowledge: it stages a version of a source beside the one that is
//! served, and exchanges the two in one transaction.
//!
//! Staged chunks carry a label that no generated query and no search can reach. What a source is,
//! and which version of it is served, stands on a node of its own, out of reach as well.

mod exchange;
pub mod searching;
mod statements;
mod store;

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Embedding;

/// Labels of chunks: of every one that is served to everybody, of those that only some channels
/// may see, of those that are not served yet, and of those that are not served any more.
pub const CHUNK: &str = "Chunk";
pub const PRIVATE: &str = "MuninnPrivate";
pub const STAGED: &str = "MuninnStaged";
pub const RETIRED: &str = "MuninnRetired";

/// From the whole to its parts, and from a record to its chunks.
pub const INCLUDES: &str = "Includes";

/// From each chunk of a record to the next.
pub const NEXT: &str = "Next";

/// Properties that the bot keeps for itself on a chunk: not in the schema, not in results.
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
    /// Of the record it is part of; unique within the source.
    pub record: String,
    /// Place among the record's chunks, from 0.
    pub sequence: usize,
    /// What it is beside a [`CHUNK`]: `Document`, `Passage`, a record type…
    pub label: String,
    pub text: String,
    /// `title`, `heading`, `link` and whatever the source has; what JSON has no word for is tagged.
    pub properties: Map<String, Value>,
    /// None where the embedder knows nothing of the text.
    pub vector: Option<Vec<f32>>,
    /// Of the whole record; only on its first chunk.
    pub hash: Option<String>,
}

/// A relationship between two chunks of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewLink {
    pub kind: String,
    /// Record and sequence.
    pub from: (String, usize),
    pub to: (String, usize),
    /// Takes the place of every other relationship of this kind that ends there.
    pub replaces: bool,
    /// Both ends come with this version.
    pub is_among_new: bool,
}

/// The right to change a source, for as long as it is renewed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    pub source: String,
    /// `MACHINE/PROCESS`: one that ended without a word is known by its machine.
    pub holder: String,
    /// The version that is being made.
    pub version: i64,
    /// Whether only some channels see the source.
    pub private: bool,
}

/// Who wants to change a source.
#[derive(Clone, Debug)]
pub struct Claim<'a> {
    pub source: &'a str,
    /// Names the data folder; whoever asks holds that folder's lock for this source.
    pub machine: &'a str,
    pub process: &'a str,
    /// Empty: everybody may see it.
    pub channels: &'a [String],
}

/// A record as the store has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownRecord {
    pub key: String,
    pub hash: String,
    pub embedder: String,
}

/// Which chunks of a source are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Served,
    Staged,
}

/// What the exchange is to do, a part at a time, in this order.
#[derive(Debug)]
pub enum Exchange {
    /// Records whose served chunks go.
    Remove(Vec<String>),
    /// Relationships of which at least one end is new, first those among what is new.
    Link(Vec<NewLink>),
    /// Everything was said.
    Finish(Box<Completed>),
}

/// The names of each label's properties, the most important first.
pub type PropertyOrder = BTreeMap<String, Vec<String>>;

/// What a version is, once it is complete.
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
    /// Places in a hierarchy that ran in a circle.
    pub circles: u64,
}

/// A source as the catalog shows it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceOverview {
    pub name: String,
    /// The served version; 0 before the first is complete.
    pub version: i64,
    /// When it became current.
    pub since: Option<DateTime<Utc>>,
    pub of: Completed,
    pub chunks: u64,
    /// Chunks that have no vector.
    pub without_vector: u64,
    /// Staged chunks of a version that is under way, or was interrupted.
    pub staged: u64,
    /// Who is at it now, by the last sign of life.
    pub holder: Option<String>,
}

/// A served chunk, with where it stands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServedChunk {
    pub chunk: String,
    pub record: String,
    pub sequence: i64,
    pub source: String,
    /// The version of the source in which it came.
    pub version: i64,
    /// What it is beside a chunk.
    pub label: String,
    pub title: Option<String>,
    pub heading: Option<String>,
    pub link: Option<String>,
    pub text: String,
    /// Kept for itself, where a chunk is kept.
    #[serde(skip)]
    pub embedding: Option<Embedding>,
    /// What it is about, in words of the source; policies name them.
    pub tags: Vec<String>,
    /// As the source has it: `2026-01-02`, or anything that begins so.
    pub date: Option<String>,
    /// The chunk above it, along [`INCLUDES`].
    pub parent: Option<String>,
}

/// The name of a chunk in the whole graph.
pub fn chunk_id(source: &str, record: &str, sequence: usize) -> String {
    format!("{source}/{record}#{sequence}")
}

/// The name of a record in the whole graph.
pub fn record_key(source: &str, record: &str) -> String {
    format!("{source}/{record}")
}
