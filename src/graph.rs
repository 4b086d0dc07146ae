//! The conversation graph: everything kept of each turn, and the operations on it.
//!
//! [`GraphStore`] implements the operations once, in Cypher. Two engines run it (`engine::Engine`): the
//! embedded one in this process, and Neo4j. This module knows nothing of platforms or models;
//! [`crate::memory`] ranks what was read.

pub mod accounts;
pub mod answers;
mod appending;
pub mod attention;
pub mod browsing;
pub mod claims;
mod config;
pub mod confine;
mod embedded;
mod embeddings;
mod engine;
mod error;
mod explaining;
pub mod forgetting;
pub mod hearing;
mod holding;
mod indexes;
pub mod ingest;
pub mod items;
pub mod knowledge;
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
mod repeating;
mod said;
pub mod schema;
pub mod session;
pub mod spending;
mod statements;
mod store;
mod timed;
pub mod tokens;
pub mod trace;
pub mod transfer;
mod trust;
mod turn;
mod turns;
pub(crate) mod value;

pub use self::config::{GraphConfig, ReaderCredentials};
pub use self::error::StoreError;
pub use self::open::{Staged, discard_set_aside, exists, open, open_unfinished};
pub use self::outcomes::Outcome;
pub use self::outgrown::Outgrown;
pub use self::repeating::repeats_turn;
pub use self::store::GraphStore;
pub use self::timed::SPAN_TARGET;
pub use self::trust::Trust;
pub use self::turn::{
    Appended, AttachedText, ChainShape, EmbeddedBy, Embedding, Explanation, Forget, Forgotten, How,
    KnowledgeNode, NODE_NAMES, NewTurn, News, Replaced, ResponseId, SessionOverview, Source,
    StoreHealth, Summary, Turn, TurnContext, TurnRead,
};

/// Labels of the bot's own nodes; no generated query may reach them.
pub const MEMORY_LABELS: &[&str] = &[
    "Channel",
    "MuninnAccount",
    "MuninnClaim",
    "MuninnForgotten",
    "MuninnHeld",
    "MuninnPerson",
    ingest::PRIVATE,
    "MuninnProcess",
    ingest::RETIRED,
    "MuninnSchema",
    "MuninnSource",
    ingest::STAGED,
    "MuninnToken",
    "Pending",
    "Response",
    "Session",
];

/// Relationship types of the bot's own nodes.
pub const MEMORY_RELATIONSHIPS: &[&str] = &[
    "CONTEXT",
    "HAS_ACCOUNT",
    "HAS_RESPONSE",
    "IN",
    "LAST_RESPONSE",
    "NEXT",
    "RECALLED",
    "SUPERSEDES",
];
