//! What ingested knowledge is found by: keys. Words and vectors are searched in files of the bot's own
//! (`docs/retrieval.md`), so no index of the server's holds them.
//!
//! They are made when something is ingested first, not when the graph is opened: a graph of
//! somebody else's may have chunks of its own.

use crate::graph::indexes::Index;

/// Chunks are staged, served to everyone, or served to some. What is staged is unique, so what is served is, too: to be told
/// so once more, an exchange of 12,000 chunks for as many took 5 s longer, and that time grew with their square.
pub(super) const OF_KNOWLEDGE: &[Index] = &[
    Index::unique("staged_id", "MuninnStaged", "n.chunkId"),
    Index::plain("staged_record", "MuninnStaged", "n.recordKey"),
    Index::plain("chunk_key", "Chunk", "n.chunkId"),
    Index::plain("chunk_record", "Chunk", "n.recordKey"),
    Index::plain("private_key", "MuninnPrivate", "n.chunkId"),
    Index::plain("private_record", "MuninnPrivate", "n.recordKey"),
];
