//! What ingested knowledge is found by: keys, words and vectors.
//!
//! They are made when something is ingested first, not when the graph is opened: a graph of
//! somebody else's may have chunks of its own.

use crate::graph::indexes::{Index, NamedStatement};

/// Chunks are staged, served to everyone, or served to some.
const KEYS: [Index; 6] = [
    Index::unique("staged_id", "MuninnStaged", "n.chunkId"),
    Index::plain("staged_record", "MuninnStaged", "n.recordKey"),
    Index::unique("chunk_id", "Chunk", "n.chunkId"),
    Index::plain("chunk_record", "Chunk", "n.recordKey"),
    Index::unique("private_id", "MuninnPrivate", "n.chunkId"),
    Index::plain("private_record", "MuninnPrivate", "n.recordKey"),
];

/// Names and statements, for vectors of this length.
pub(super) fn knowledge(dimension: usize) -> Vec<NamedStatement> {
    let keys = KEYS.iter().map(|key| (key.name(), key.to_string()));
    let mut all: Vec<NamedStatement> = keys.collect();
    // Staged vectors are in no index: they become part of one when they are served.
    for (name, label) in [("chunk", "Chunk"), ("private", "MuninnPrivate")] {
        let index = format!("muninn_{name}_vectors_{dimension}");
        // Quantization, on by default, distorts the score.
        let statement = format!(
            "CREATE VECTOR INDEX {index} IF NOT EXISTS FOR (n:{label}) ON (n.embedding) \
             OPTIONS {{indexConfig: {{`vector.dimensions`: {dimension}, \
             `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}}}}"
        );
        all.push((index, statement));
    }
    all.push((
        "muninn_chunk_text".to_owned(),
        "CREATE FULLTEXT INDEX muninn_chunk_text IF NOT EXISTS \
         FOR (n:Chunk|MuninnPrivate) ON EACH [n.title, n.heading, n.text]"
            .to_owned(),
    ));
    all
}
