//! The conversation graph: everything kept of each turn, and the operations on it.
//!
//! [`GraphStore`] implements the operations once, in Cypher. Two engines run it (`engine::Engine`): the
//! embedded one in this process, and Neo4j. This module knows nothing of platforms or models;
//! [`crate::memory`] ranks what was read.

mod config;
pub mod confine;
mod engine;
pub mod ingest;
mod migrate;
mod open;
pub mod query;
pub mod schema;
pub mod session;
mod store;
#[cfg(test)]
pub(crate) mod testing;
pub mod transfer;
mod types;
pub(crate) mod unfinished;

pub use self::config::{GraphConfig, ReaderCredentials};
pub use self::engine::timed::SPAN_TARGET;
pub(crate) use self::engine::value;
pub use self::open::{StagedGraph, discard_set_aside, exists, open, open_unfinished};
pub use self::store::outcomes::Outcome;
pub use self::store::outgrown::StoreAdvice;
pub use self::store::repeating::repeats_turn;
pub use self::store::{
    GraphStore, accounts, answers, attention, browsing, claims, forgetting, hearing, items,
    knowledge, marks, nodes, own_copy, pending, said, spending, tokens,
};
pub use self::types::embedding::Embedding;
pub use self::types::error::StoreError;
pub use self::types::file_notes::{file_note, file_notes, without_file_notes};
pub use self::types::labels::{MEMORY_LABELS, MEMORY_RELATIONSHIPS};
pub(crate) use self::types::redacted;
pub use self::types::response_id::ResponseId;
pub use self::types::source::Source;
pub use self::types::trust::Trust;
pub use self::types::turn::{
    Appended, AttachedText, AudienceChanges, ChainShape, EmbeddedBy, EmbedderFilter, Explanation,
    Forget, Forgotten, KnowledgeNode, NODE_NAMES, NewTurn, Replaced, ReplacementKind,
    SessionOverview, StoreHealth, Summary, Turn, TurnContext, TurnRead,
};
pub use self::types::{reading, trace};
