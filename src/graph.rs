//! The conversation graph: everything kept of each turn, and the operations on it.
//!
//! [`GraphStore`] implements the operations once, in Cypher. Two engines run it (`engine::Engine`): the
//! embedded one in this process, and Neo4j. This module knows nothing of platforms or models;
//! [`crate::memory`] ranks what was read.

pub mod accounts;
pub mod answers;
mod appending;
pub mod attention;
mod batches;
pub mod browsing;
pub mod claims;
mod config;
pub mod confine;
pub(crate) mod delivered_answer;
mod embedded;
pub(crate) mod embedding;
mod embeddings;
mod engine;
mod error;
mod explaining;
pub mod forgetting;
pub(crate) mod graph_node;
pub mod hearing;
mod holding;
mod indexes;
pub mod ingest;
pub mod items;
pub mod knowledge;
mod labels;
mod messages;
mod migrate;
#[cfg(feature = "neo4j")]
mod neo4j;
pub mod nodes;
mod open;
mod outcomes;
mod outgrown;
pub mod own_copy;
pub mod pending;
pub mod query;
pub mod reading;
mod record;
pub(crate) mod redacted;
mod repeating;
pub(crate) mod response_id;
mod said;
pub mod schema;
pub mod session;
pub(crate) mod source;
pub mod spending;
mod statements;
mod store;
mod streaming;
mod timed;
pub mod tokens;
pub mod trace;
pub mod transfer;
mod trust;
mod turn;
mod turns;
pub(crate) mod unfinished;
pub(crate) mod value;

pub use self::config::{GraphConfig, ReaderCredentials};
pub use self::embedding::Embedding;
pub use self::error::StoreError;
pub use self::labels::{MEMORY_LABELS, MEMORY_RELATIONSHIPS};
pub use self::open::{StagedGraph, discard_set_aside, exists, open, open_unfinished};
pub use self::outcomes::Outcome;
pub use self::outgrown::StoreAdvice;
pub use self::repeating::repeats_turn;
pub use self::response_id::ResponseId;
pub use self::source::Source;
pub use self::store::GraphStore;
pub use self::timed::SPAN_TARGET;
pub use self::trust::Trust;
pub use self::turn::{
    Appended, AttachedText, AudienceChanges, ChainShape, EmbeddedBy, Explanation, Forget,
    Forgotten, KnowledgeNode, NODE_NAMES, NewTurn, Replaced, ReplacementKind, SessionOverview,
    StoreHealth, Summary, Turn, TurnContext, TurnRead,
};
