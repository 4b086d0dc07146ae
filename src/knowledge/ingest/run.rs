//! One ingest, and what comes of it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::graph::ingest::Lease;
use crate::graph::{GraphStore, StoreError};
use crate::knowledge::plan::Counts;
use crate::knowledge::source_error::SourceError;
use crate::llm::{Embedder, ModelError};

/// Number of stored records read at once.
pub(super) const PAGE: usize = 2_000;

/// The result of an ingest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IngestSummary {
    /// The version that is served now.
    pub version: i64,
    /// Nothing had changed, so the version is the previous one.
    pub is_same: bool,
    pub counts: Counts,
    pub rejected: u64,
    /// Number of the refused documents and files that may be readable soon.
    pub unread: u64,
    pub rejects: Option<PathBuf>,
    /// Examples of refused records.
    pub examples: Vec<String>,
    /// Number of documents of which something was left out, and the first of them in words.
    pub warned: u64,
    pub warnings: Vec<String>,
    /// Chunks that were embedded now.
    pub chunks: u64,
    /// Number of those in which the embedder found nothing to embed.
    pub without_vector: u64,
    /// Relationships that were made now.
    pub links: u64,
    /// The channels that may see it; empty: everybody.
    pub channels: Vec<String>,
    /// Number of links to records that do not exist.
    pub dangling: u64,
    /// Number of hierarchy links that formed a cycle.
    pub circles: u64,
    /// The fate of each document, by its name in the source; dry runs only.
    pub files: Vec<(String, FileFate)>,
}

/// What an ingest would do with a document.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileFate {
    New,
    Changed,
    Unchanged,
    Gone,
    /// With the reason.
    Refused(String),
}

/// Why an ingest failed. The previous version is still served.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    #[error("the source {name} is being ingested already, by {holder}")]
    Busy { name: String, holder: String },
    #[error(
        "the embeddings failed; nothing that is served has changed, and the next `muninn ingest` goes on from there"
    )]
    Embedder(#[source] ModelError),
    #[error("a file of the data folder cannot be used")]
    Files(#[from] std::io::Error),
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Counters of the reading thread.
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) bytes: AtomicU64,
    pub(super) records: AtomicU64,
    pub(super) chunks: AtomicU64,
}

/// One run for one version of a source.
#[derive(Clone, Copy)]
pub(super) struct IngestRun<'a> {
    pub(super) store: &'a Arc<GraphStore>,
    pub(super) embedder: &'a Arc<Embedder>,
    pub(super) embedder_name: &'a str,
    pub(super) lease: &'a Lease,
}
