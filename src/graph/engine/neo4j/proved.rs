//! Plans that were found to be confined.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Statements whose plan was verified recently, and what to run for each: the statement itself, or
/// with hints.
#[derive(Debug, Default)]
pub(super) struct Proved(Mutex<HashMap<String, (Instant, String)>>);

impl Proved {
    pub(super) fn get(&self, statement: &str) -> Option<String> {
        let proved = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, runs) = proved.get(statement)?;
        (since.elapsed() < CACHE_LIFETIME).then(|| runs.clone())
    }

    pub(super) fn add(&self, statement: &str, runs: &str) {
        let mut proved = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if proved.len() >= REMEMBERED {
            proved.retain(|_, (since, _)| since.elapsed() < CACHE_LIFETIME);
        }
        if proved.len() < REMEMBERED {
            proved.insert(statement.to_owned(), (Instant::now(), runs.to_owned()));
        }
    }
}

/// Number of cached statements, and for how long: with other numbers of nodes or without an index,
/// the server may choose another plan.
const REMEMBERED: usize = 256;

const CACHE_LIFETIME: Duration = Duration::from_secs(10);
