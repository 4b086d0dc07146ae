//! Turns that somebody forgets just now, as far as an answer met one.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::graph::ResponseId;

/// Older ones are out of the graph by then.
const MOST: usize = 1_000;

/// What is marked as forgotten and still in the graph: no answer is given it again.
#[derive(Debug, Default)]
pub(super) struct Leaving(Mutex<VecDeque<ResponseId>>);

impl Leaving {
    pub(super) fn add(&self, turns: &[ResponseId]) {
        let mut leaving = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for turn in turns {
            if !leaving.contains(turn) {
                leaving.push_back(*turn);
            }
        }
        let excess = leaving.len().saturating_sub(MOST);
        leaving.drain(..excess);
    }

    pub(super) fn all(&self) -> Vec<ResponseId> {
        let leaving = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        leaving.iter().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_thousand_are_known_each_once() {
        let leaving = Leaving::default();
        let turns: Vec<ResponseId> = (0..MOST + 5).map(|_| ResponseId::fresh()).collect();
        leaving.add(&turns);
        leaving.add(&turns[MOST..]);
        assert_eq!(leaving.all(), turns[5..]);
    }
}
