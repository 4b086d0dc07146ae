//! Which chunks' vectors are worth a look.
//!
//! Vectors are on disk, their signs in memory. Up to [`ALL`] vectors every one is compared; beyond, those whose signs
//! differ least from the question's are.

use super::index::KnowledgeIndex;
use crate::retrieval::best::{NOWHERE, nearest};
use crate::retrieval::vectors::Quantised;

/// Vectors up to which every one is compared.
const ALL: usize = 16_384;
/// Vectors that are compared because of their signs.
const COMPARED: usize = 4_096;

/// The chunks of the sources that are seen whose vectors are compared, in their order.
pub(super) fn compared(index: &KnowledgeIndex, seen: &[bool], query: &Quantised) -> Vec<usize> {
    let distances = index.sign_distances(seen, query);
    let there = distances.iter().filter(|it| **it != NOWHERE).count();
    nearest(&distances, if there <= ALL { ALL } else { COMPARED })
}
