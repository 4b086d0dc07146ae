//! A map of bounded size, for what an adapter has to know only for a while.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

use parking_lot::Mutex;

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

    /// Inserts a value, and returns the one that it replaces. A key that is already there keeps its
    /// place in the order.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        let before = self.entries.insert(key.clone(), value);
        if before.is_none() {
            self.order.push_back(key);
        }
        if self.order.len() > self.most
            && let Some(oldest) = self.order.pop_front()
        {
            self.entries.remove(&oldest);
        }
        before
    }

    /// Returns the value, unless it was dropped.
    pub fn get(&self, key: &K) -> Option<&V> {
        self.entries.get(key)
    }
}

/// A [`Recent`] that several tasks use, one operation at a time.
#[derive(Debug)]
pub struct SharedRecent<K, V>(Mutex<Recent<K, V>>);

impl<K: Clone + Eq + Hash, V: Clone> SharedRecent<K, V> {
    /// Creates a map of at most `most` entries.
    pub fn new(most: usize) -> Self {
        Self(Mutex::new(Recent::new(most)))
    }

    /// Inserts a value, and returns the one that it replaces.
    pub fn insert(&self, key: K, value: V) -> Option<V> {
        self.0.lock().insert(key, value)
    }

    /// Returns the value, unless it was dropped.
    pub fn get(&self, key: &K) -> Option<V> {
        self.0.lock().get(key).cloned()
    }

    pub fn has(&self, key: &K) -> bool {
        self.0.lock().get(key).is_some()
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

    #[test]
    fn what_is_inserted_again_replaces_what_was_there() {
        let recent = SharedRecent::new(2);
        assert_eq!((recent.insert("a", 1), recent.has(&"a")), (None, true));
        assert_eq!(
            (recent.insert("a", 2), recent.get(&"a")),
            (Some(1), Some(2))
        );
        assert_eq!((recent.get(&"b"), recent.has(&"b")), (None, false));
    }
}
