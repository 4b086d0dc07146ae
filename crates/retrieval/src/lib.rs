//! Search in exchanges and documents, in memory and, for what does not fit there, on disk: words by BM25 with stems and a table
//! of how rare words are, and vectors in 16 bits, with a small embedding model that needs no service.
//!
//! Knows nothing of conversations, models or graphs.

pub mod best;
pub mod disk;
pub mod language;
mod local_embedder;
pub mod postings;
pub mod proximity;
pub mod rarity;
pub mod speech;
pub mod stems;
pub mod text;
pub mod translation;
pub mod vectors;
mod wordpiece;

pub use local_embedder::{LocalEmbedder, LocalEmbedderError, MAX_EMBEDDED_CHARS};
