//! A vector of a turn, and what made it.

use serde::{Deserialize, Serialize};

/// A vector and the embedder that made it; vectors of different embedders are never compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Embedding {
    pub embedder: String,
    /// Of unit length.
    pub vector: Vec<f32>,
}
