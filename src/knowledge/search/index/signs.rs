//! The signs of a vector that are kept in memory.

use super::layout::SIGNED;
use crate::retrieval::vectors::Quantised;

/// Returns the signs of a vector that are kept in memory.
pub(super) fn signs(vector: &Quantised) -> Vec<u64> {
    let mut signs = vector.signs();
    signs.truncate(SIGNED / u64::BITS as usize);
    signs
}
