//! Search in exchanges and documents, in memory or on disk. Words are searched by BM25 with stems and a table of word rarities;
//! vectors are quantised, and come from a small embedding model that needs no service.
//!
//! The crate knows nothing of conversations, models or graphs.

pub mod best;
pub mod disk;
pub mod language;
mod local_embedder;
pub mod postings;
pub mod proximity;
pub mod rarity;
pub mod scores;
pub mod speech;
pub mod stems;
pub mod text;
pub mod translation;
pub mod vectors;
mod wordpiece;

pub use local_embedder::{LocalEmbedder, LocalEmbedderError, MAX_EMBEDDED_CHARS};
