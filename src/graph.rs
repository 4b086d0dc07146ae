//! The conversation graph: what is kept of every turn, and the operations on it.
//!
//! [`GraphStore`] has the operations, in Cypher and written once. Two engines run it (`engine::Engine`): the
//! embedded one in this process, and Neo4j. Knows nothing of platforms or models; ranking what was
//! read is the business of [`crate::memory`].

pub mod accounts;
pub mod answers;
mod appending;
pub mod attention;
pub mod browsing;
pub mod claims;
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

pub use self::error::StoreError;
pub use self::open::{
    GraphConfig, Reader, Staged, discard_set_aside, exists, open, open_unfinished,
};
pub use self::outcomes::Outcome;
pub use self::outgrown::Outgrown;
pub use self::repeating::says_again;
pub use self::store::GraphStore;
pub use self::timed::SPAN_TARGET;
pub use self::trust::Trust;
pub use self::turn::{
    Appended, AttachedText, ChainShape, EmbeddedBy, Embedding, Explanation, Forget, Forgotten, How,
    KnowledgeNode, NODE_NAMES, NewTurn, News, Replaced, ResponseId, SessionOverview, Source,
    StoreHealth, Summary, Turn, TurnContext, TurnRead,
};

/// Labels of what the bot keeps for itself; no generated query may reach them.
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

/// Relationship types of what the bot keeps for itself.
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
