//! Turns that are being forgotten, as far as answers came across them.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::graph::ResponseId;

/// Maximum number of entries; older ones are deleted from the graph by then.
const MAX_ENTRIES: usize = 1_000;

/// Turns that are marked as forgotten and still in the graph; they are not recalled again.
pub(in crate::memory) type Leaving = RecentValues<ResponseId>;

/// The most recent values, each once.
#[derive(Debug)]
pub(in crate::memory) struct RecentValues<T>(Mutex<VecDeque<T>>);

impl<T> Default for RecentValues<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone + PartialEq> RecentValues<T> {
    pub(in crate::memory) fn add(&self, new: impl IntoIterator<Item = T>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for one in new {
            if !all.contains(&one) {
                all.push_back(one);
            }
        }
        let excess = all.len().saturating_sub(MAX_ENTRIES);
        all.drain(..excess);
    }

    pub(in crate::memory) fn all(&self) -> Vec<T> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().cloned().collect()
    }
}

impl RecentValues<String> {
    pub(in crate::memory) fn has(&self, one: &str) -> bool {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().any(|it| it == one)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_thousand_are_known_each_once() {
        let leaving = Leaving::default();
        let turns: Vec<ResponseId> = (0..MAX_ENTRIES + 5).map(|_| ResponseId::fresh()).collect();
        leaving.add(turns.iter().copied());
        leaving.add(turns[MAX_ENTRIES..].iter().copied());
        assert_eq!(leaving.all(), turns[5..]);
    }
}
