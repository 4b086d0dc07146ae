//! Preselects the chunks whose vectors are compared.
//!
//! Vectors are on disk, their signs in memory. Up to [`MAX_FULLY_COMPARED`] vectors, all are compared; with more,
//! only those whose signs differ least from the question's.

use super::index::KnowledgeIndex;
use crate::retrieval::best::{NOWHERE, nearest};
use crate::retrieval::vectors::Quantised;

/// Up to this number of vectors, all are compared.
const MAX_FULLY_COMPARED: usize = 16_384;
/// Number of vectors preselected by their signs.
const COMPARED: usize = 4_096;

/// Returns the chunks of visible sources whose vectors are compared, in order.
pub(super) fn compared(index: &KnowledgeIndex, seen: &[bool], query: &Quantised) -> Vec<usize> {
    let distances = index.sign_distances(seen, query);
    let there = distances.iter().filter(|it| **it != NOWHERE).count();
    nearest(
        &distances,
        if there <= MAX_FULLY_COMPARED {
            MAX_FULLY_COMPARED
        } else {
            COMPARED
        },
    )
}
