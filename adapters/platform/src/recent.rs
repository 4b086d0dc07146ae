//! The last so many entries of a map, for what an adapter has to know for a while and not for ever.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

/// Forgets the oldest entry where there is one too many.
#[derive(Debug)]
pub struct Recent<K, V> {
    entries: HashMap<K, V>,
    order: VecDeque<K>,
    most: usize,
}

impl<K: Clone + Eq + Hash, V> Recent<K, V> {
    /// At most `most` entries.
    pub fn new(most: usize) -> Self {
        Self {
            entries: HashMap::new(),
            order: VecDeque::new(),
            most,
        }
    }

    /// Keeps the place in the order of a key that is there already.
    pub fn insert(&mut self, key: K, value: V) {
        if self.entries.insert(key.clone(), value).is_none() {
            self.order.push_back(key);
        }
        if self.order.len() > self.most
            && let Some(oldest) = self.order.pop_front()
        {
            self.entries.remove(&oldest);
        }
    }

    /// The value, where it is not forgotten yet.
    pub fn get(&self, key: &K) -> Option<&V> {
        self.entries.get(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_go() {
        let mut recent = Recent::new(2);
        for key in [1, 2, 1, 3] {
            recent.insert(key, key * 10);
        }
        assert_eq!(
            [1, 2, 3].map(|key| recent.get(&key).copied()),
            [None, Some(20), Some(30)]
        );
    }
}
