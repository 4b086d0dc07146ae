//! Indexes on the keys of ingested knowledge. Words and vectors are searched in the bot's own files (`docs/retrieval.md`),
//! so the server has no index on them.
//!
//! They are created at the first ingest and not when the graph is opened, as somebody else's graph may have its own chunks.

use crate::graph::engine::indexes::Index;

/// Chunks are staged, served to everyone, or served to some. Staged ones are unique, and therefore served ones are too. A
/// second uniqueness constraint made an exchange of 12,000 chunks for as many take 5 s longer, growing quadratically.
pub(super) const OF_KNOWLEDGE: &[Index] = &[
    Index::unique("staged_id", "MuninnStaged", "n.chunkId"),
    Index::plain("staged_record", "MuninnStaged", "n.recordKey"),
    Index::plain("chunk_key", "Chunk", "n.chunkId"),
    Index::plain("chunk_record", "Chunk", "n.recordKey"),
    Index::plain("private_key", "MuninnPrivate", "n.chunkId"),
    Index::plain("private_record", "MuninnPrivate", "n.recordKey"),
];
