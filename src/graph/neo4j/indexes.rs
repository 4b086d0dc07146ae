//! What ingested knowledge is found by: keys, words and vectors.
//!
//! They are made when something is ingested first, not when the graph is opened: a graph of
//! somebody else's may have chunks of its own.

/// The labels under which chunks stand: staged, served to everyone, served to some.
const LABELS: [(&str, &str); 3] = [
    ("staged", "MuninnStaged"),
    ("chunk", "Chunk"),
    ("private", "MuninnPrivate"),
];

/// Names and statements, for vectors of this length.
pub(super) fn knowledge(dimension: usize) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for (name, label) in LABELS {
        all.push((
            format!("muninn_{name}_id"),
            format!(
                "CREATE CONSTRAINT muninn_{name}_id IF NOT EXISTS \
                 FOR (n:{label}) REQUIRE n.chunkId IS UNIQUE"
            ),
        ));
        all.push((
            format!("muninn_{name}_record"),
            format!(
                "CREATE INDEX muninn_{name}_record IF NOT EXISTS FOR (n:{label}) ON (n.recordKey)"
            ),
        ));
    }
    // Staged vectors are in no index: they become part of one when they are served.
    for (name, label) in &LABELS[1..] {
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
