//! What ingested knowledge is found by: keys. Words and vectors are searched in files of the bot's own
//! (`docs/retrieval.md`), so no index of the server's holds them.
//!
//! They are made when something is ingested first, not when the graph is opened: a graph of
//! somebody else's may have chunks of its own.

use crate::graph::indexes::Index;

/// Chunks are staged, served to everyone, or served to some.
pub(super) const OF_KNOWLEDGE: &[Index] = &[
    Index::unique("staged_id", "MuninnStaged", "n.chunkId"),
    Index::plain("staged_record", "MuninnStaged", "n.recordKey"),
    Index::unique("chunk_id", "Chunk", "n.chunkId"),
    Index::plain("chunk_record", "Chunk", "n.recordKey"),
    Index::unique("private_id", "MuninnPrivate", "n.chunkId"),
    Index::plain("private_record", "MuninnPrivate", "n.recordKey"),
];
