//! Caches the vectors of recent queries to an embedding service, so that they need not be embedded again as the
//! context of the next message.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// Maximum number of vectors; with 1,536 dimensions they take 1.6 MB.
const MAX_VECTORS: usize = 256;

/// Keyed by hashes, so that forgotten texts do not stay here.
#[derive(Debug, Default)]
pub(in crate::memory) struct RecentVectors(Mutex<VecDeque<(blake3::Hash, Vec<f32>)>>);

impl RecentVectors {
    pub(in crate::memory) fn keep(&self, text: &str, vector: &[f32]) {
        let hash = blake3::hash(text.as_bytes());
        let mut recent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        recent.retain(|(known, _)| *known != hash);
        recent.truncate(MAX_VECTORS - 1);
        recent.push_front((hash, vector.to_vec()));
    }

    pub(in crate::memory) fn get(&self, text: &str) -> Option<Vec<f32>> {
        let hash = blake3::hash(text.as_bytes());
        let recent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = recent.iter().find(|(known, _)| *known == hash);
        found.map(|(_, vector)| vector.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_are_held() {
        let recent = RecentVectors::default();
        for n in 0..=MAX_VECTORS {
            recent.keep(&n.to_string(), &[n as f32]);
        }
        recent.keep("1", &[0.5]);
        assert_eq!(recent.get("0"), None);
        assert_eq!(recent.get("1"), Some(vec![0.5]));
        assert_eq!(recent.get("2"), Some(vec![2.0]));
        assert_eq!(
            recent.get(&MAX_VECTORS.to_string()),
            Some(vec![MAX_VECTORS as f32])
        );
        assert_eq!(recent.0.lock().unwrap().len(), MAX_VECTORS);
    }
}
