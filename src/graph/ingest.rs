//! What a store does with ingested knowledge: it stages a version of a source beside the one that is
//! served, and exchanges the two in one transaction.
//!
//! Staged chunks carry a label that no generated query and no search can reach. What a source is,
//! and which version of it is served, stands on a node of its own, out of reach as well.

pub mod searching;
mod statements;
mod store;

use std::collections::BTreeMap;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde_json::{Map, Value};
use tokio::sync::mpsc;

use super::{Embedding, StoreError};

/// Labels of chunks: of every one that is served to everybody, of those that only some channels
/// may see, and of those that are not served yet.
pub const CHUNK: &str = "Chunk";
pub const PRIVATE: &str = "MuninnPrivate";
pub const STAGED: &str = "MuninnStaged";

/// From the whole to its parts, and from a record to its chunks.
pub const INCLUDES: &str = "Includes";

/// From each chunk of a record to the next.
pub const NEXT: &str = "Next";

/// Properties that the bot keeps for itself on a chunk: not in the schema, not in results.
pub const HIDDEN_PROPERTIES: &[&str] = &[
    "contentHash",
    "embedder",
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

/// What the exchange is to do, a part at a time.
#[derive(Debug)]
pub enum Exchange {
    /// Records whose served chunks go.
    Remove(Vec<String>),
    /// Relationships of which at least one end is new.
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
#[derive(Clone, Debug, PartialEq)]
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

/// What a store does with ingested knowledge.
#[async_trait]
pub trait Ingesting: Send + Sync {
    /// Makes what knowledge is found by, for vectors of this length.
    async fn prepare_knowledge(&self, dimension: usize) -> Result<(), StoreError>;

    /// Takes the right to change a source. `Err` says who has it.
    async fn claim(&self, claim: &Claim<'_>) -> Result<Result<Lease, String>, StoreError>;

    /// A sign of life.
    async fn renew(&self, lease: &Lease) -> Result<(), StoreError>;

    /// Gives the right back; what was staged stays for the next.
    async fn release(&self, lease: &Lease) -> Result<(), StoreError>;

    /// Records of the source after a key, at most `limit`, in the order of their keys.
    async fn records(
        &self,
        source: &str,
        stage: Stage,
        after: &str,
        limit: usize,
    ) -> Result<Vec<KnownRecord>, StoreError>;

    /// Stages whole records, and renews the lease. Those of `stale` were staged otherwise before.
    async fn stage(
        &self,
        lease: &Lease,
        embedder: &str,
        chunks: Vec<NewChunk>,
        stale: &[String],
    ) -> Result<(), StoreError>;

    /// Removes staged records.
    async fn unstage(&self, lease: &Lease, records: &[String]) -> Result<(), StoreError>;

    /// Exchanges the served version for the staged one, in one transaction; nothing happens unless
    /// [`Exchange::Finish`] comes. Says how many relationships were made.
    async fn exchange(
        &self,
        lease: &Lease,
        parts: mpsc::Receiver<Exchange>,
    ) -> Result<u64, StoreError>;

    /// All sources, by name.
    async fn sources(&self) -> Result<Vec<SourceOverview>, StoreError>;

    /// Every served chunk of every source, on one snapshot, as fast as they are taken. What belongs
    /// to other versions than [`Ingesting::sources`] says before *and* after was exchanged meanwhile,
    /// and fewer or more chunks than [`SourceVersion::chunks`](searching::SourceVersion::chunks) says
    /// means that the store had not shown all of a version yet: then read again.
    async fn served_chunks(&self, to: mpsc::Sender<ServedChunk>) -> Result<(), StoreError>;

    /// Removes a source with everything of it. Says how many chunks there were. The answers that were
    /// made from it keep its name.
    async fn remove_source(&self, lease: &Lease) -> Result<u64, StoreError>;

    /// Calls a source by another name, which none has, with everything of it; ends the lease. Says
    /// how many chunks there are.
    async fn rename_source(&self, lease: &Lease, name: &str) -> Result<u64, StoreError>;
}
