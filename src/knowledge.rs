//! The team's knowledge: documents, conversations and records become chunks in the graph.
//!
//! What a file says ([`documents`], [`conversations`], [`mapping`]) is made into [`Record`]s of
//! [`Chunk`]s by pure functions. [`ingest`] streams a source through them, compares content hashes
//! with what the store has, embeds what is new, stages it, and exchanges the versions at the end.
//! What a store does with that is the business of [`crate::graph::ingest`].

pub mod access;
pub mod anonymise;
pub mod catalog;
pub mod changing;
mod chunking;
pub mod conversations;
pub mod documents;
pub mod folder;
pub mod ingest;
mod lines;
mod lock;
pub mod mapping;
mod numbered;
pub mod origins;
mod plan;
mod plural;
mod record;
pub mod rejects;
mod rows;
pub mod search;
pub mod source;
pub mod source_error;
mod spool;
mod transcripts;

pub use self::record::{
    Chunk, LinkEndpoint, Record, RecordLink, Rejection, RejectionLasts, SourceLocation,
};
