//! Keeps vectors of nodes outside the nodes, because the graph may belong to somebody else.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use half::f16;
use private_files::line_log::{LineLog, Slots, all_logs, json_line, read_lines};
use serde::{Deserialize, Serialize};

use crate::graph::Embedding;
use crate::graph::ingest::ServedChunk;
use crate::llm::Embedder;

/// Maximum texts sent to a service per look; the rest waits for the next one.
const MAX_TEXTS_PER_PASS: usize = 512;
/// Prefix of the logs of processes that share a folder.
const LOG: &str = "vectors";

/// Vectors made by a service, by embedded text.
#[derive(Debug)]
pub(super) struct NodeVectors {
    /// `None`: they are only kept in memory.
    folder: Option<PathBuf>,
    kept: OnceLock<VectorCache>,
}

#[derive(Debug, Default)]
struct VectorCache {
    /// By [`hash`].
    known: Mutex<HashMap<String, Arc<[f16]>>>,
    log: Option<LineLog>,
}

/// A line of the log.
#[derive(Serialize, Deserialize)]
struct VectorLogEntry {
    hash: String,
    /// Little-endian 16-bit floats in base64; empty if the text has no embedding.
    vector: String,
}

impl NodeVectors {
    pub(super) fn new(folder: Option<&Path>) -> Self {
        Self {
            folder: folder.map(|folder| folder.join("nodes")),
            kept: OnceLock::new(),
        }
    }

    /// Adds vectors to the chunks. Returns true if more of them can be embedded at once. After a
    /// failure of the service, the texts wait for the next look.
    pub(super) async fn embed(&self, embedder: &Embedder, chunks: Vec<&mut ServedChunk>) -> bool {
        match embedder {
            Embedder::Local(local) => {
                let texts: Vec<String> = chunks.iter().map(|chunk| text(chunk)).collect();
                let vectors = embedder.embed(&texts).await.unwrap_or_default();
                for (chunk, vector) in chunks.into_iter().zip(vectors) {
                    chunk.embedding = vector.map(|vector| Embedding {
                        embedder: local.name().to_owned(),
                        vector,
                    });
                }
                false
            }
            Embedder::Remote(remote) => {
                self.embed_by_service(embedder, remote.model(), chunks)
                    .await
            }
        }
    }

    async fn embed_by_service(
        &self,
        embedder: &Embedder,
        model: &str,
        mut chunks: Vec<&mut ServedChunk>,
    ) -> bool {
        let kept = self.kept();
        let hashes: Vec<String> = chunks
            .iter()
            .map(|chunk| hash(model, &text(chunk)))
            .collect();
        let asked = kept.to_ask(&hashes, embedder.name().is_none());
        let texts: Vec<String> = asked.iter().map(|at| text(chunks[*at])).collect();
        let embedded = embedder.embed(&texts).await;
        match &embedded {
            Ok(vectors) => {
                for (at, vector) in asked.iter().zip(vectors) {
                    kept.keep(&hashes[*at], vector.as_deref().unwrap_or_default());
                }
            }
            Err(error) => tracing::warn!(
                error = error as &dyn std::error::Error,
                "nodes of the graph are found by words and names until the embedding service answers"
            ),
        }
        let name = embedder.name();
        let is_whole = name.is_some_and(|name| kept.give(name, &hashes, &mut chunks));
        embedded.is_ok() && !is_whole
    }

    /// Returns the vectors kept by earlier processes, read on first use.
    fn kept(&self) -> &VectorCache {
        self.kept.get_or_init(|| {
            let Some(folder) = &self.folder else {
                return VectorCache::default();
            };
            VectorCache::open(folder).unwrap_or_else(|error| {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    folder = %folder.display(),
                    "vectors of nodes cannot be kept: they are made anew at each start"
                );
                VectorCache::default()
            })
        })
    }
}

impl VectorCache {
    fn open(folder: &Path) -> io::Result<Self> {
        let slots = Slots::take(folder, LOG)?;
        let mut known = HashMap::new();
        for path in all_logs(folder, LOG)? {
            read_lines(&path, |_, bytes| -> io::Result<()> {
                // The vector of a damaged line is computed again.
                if let Ok(VectorLogEntry { hash, vector }) = serde_json::from_slice(bytes)
                    && let Ok(bytes) = STANDARD.decode(vector)
                {
                    let (numbers, _) = bytes.as_chunks::<2>();
                    let vector = numbers.iter().map(|two| f16::from_le_bytes(*two));
                    known.insert(hash, vector.collect());
                }
                Ok(())
            })?;
        }
        Ok(Self {
            known: Mutex::new(known),
            log: Some(LineLog::start("muninn-node-vectors", slots.own)?),
        })
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, Arc<[f16]>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the indices of the texts to send to the service now. At least one if the embedder
    /// `is_nameless`, since only an answer tells its name.
    fn to_ask(&self, hashes: &[String], is_nameless: bool) -> Vec<usize> {
        let known = self.known();
        let unknown = (0..hashes.len()).filter(|at| !known.contains_key(&hashes[*at]));
        let now: Vec<usize> = unknown.take(MAX_TEXTS_PER_PASS).collect();
        if now.is_empty() && is_nameless && !hashes.is_empty() {
            return vec![0];
        }
        now
    }

    /// Adds the known vectors to the chunks. Returns false if some are missing.
    fn give(&self, embedder: &str, hashes: &[String], chunks: &mut [&mut ServedChunk]) -> bool {
        let known = self.known();
        let mut is_whole = true;
        for (chunk, hash) in chunks.iter_mut().zip(hashes) {
            match known.get(hash) {
                Some(vector) if !vector.is_empty() => {
                    chunk.embedding = Some(Embedding {
                        embedder: embedder.to_owned(),
                        vector: vector.iter().map(|it| it.to_f32()).collect(),
                    });
                }
                // It has no embedding.
                Some(_) => {}
                None => is_whole = false,
            }
        }
        is_whole
    }

    fn keep(&self, hash: &str, vector: &[f32]) {
        let vector: Arc<[f16]> = vector.iter().map(|it| f16::from_f32(*it)).collect();
        if let Some(log) = &self.log {
            let bytes: Vec<u8> = vector.iter().flat_map(|it| it.to_le_bytes()).collect();
            let kept = json_line(&VectorLogEntry {
                hash: hash.to_owned(),
                vector: STANDARD.encode(bytes),
            });
            // A lost line is computed again.
            if let Ok(bytes) = kept {
                drop(log.append(bytes, false));
            }
        }
        self.known().insert(hash.to_owned(), vector);
    }
}

/// Returns the text to embed: the name is part of the text, or precedes it.
fn text(chunk: &ServedChunk) -> String {
    match &chunk.title {
        Some(title) if !chunk.text.contains(title.as_str()) => format!("{title}\n{}", chunk.text),
        Some(_) | None => chunk.text.clone(),
    }
}

fn hash(model: &str, text: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher
        .update(model.as_bytes())
        .update(&[0])
        .update(text.as_bytes());
    hasher.finalize().to_hex()[..32].to_owned()
}
