//! A map of bounded size, for what an adapter has to know only for a while.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

/// A map that drops its oldest entry when it is full.
#[derive(Debug)]
pub struct Recent<K, V> {
    entries: HashMap<K, V>,
    order: VecDeque<K>,
    most: usize,
}

impl<K: Clone + Eq + Hash, V> Recent<K, V> {
    /// Creates a map of at most `most` entries.
    pub fn new(most: usize) -> Self {
        Self {
            entries: HashMap::new(),
            order: VecDeque::new(),
            most,
        }
    }

    /// Inserts a value. A key that is already there keeps its place in the order.
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

    /// Returns the value, unless it was dropped.
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
