//! The names of the bot's own nodes and relationships.

use crate::graph::ingest;

/// Labels of the bot's own nodes; no generated query may reach them.
pub const MEMORY_LABELS: &[&str] = &[
    "Channel",
    "MuninnAccount",
    "MuninnClaim",
    "MuninnForgotten",
    "MuninnHeld",
    "MuninnImported",
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
