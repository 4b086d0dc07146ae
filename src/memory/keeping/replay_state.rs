//! The state of replaying.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use muninn_platform::in_one_line;

use crate::graph::StoreError;

/// The state of replaying.
#[derive(Debug)]
pub(in crate::memory) struct Replay {
    /// Number of turns per transaction.
    batch: AtomicUsize,
    /// The last logged reason why turns wait.
    said: Mutex<Option<String>>,
}

impl Default for Replay {
    fn default() -> Self {
        Self {
            batch: AtomicUsize::new(MAX_TURNS_PER_TRANSACTION),
            said: Mutex::default(),
        }
    }
}

impl Replay {
    pub(in crate::memory) fn batch(&self) -> usize {
        self.batch.load(Ordering::Relaxed)
    }

    pub(in crate::memory) fn went_well(&self) {
        let batch = (self.batch() * 2).min(MAX_TURNS_PER_TRANSACTION);
        self.batch.store(batch, Ordering::Relaxed);
        self.said().take();
    }

    pub(in crate::memory) fn went_badly(&self, error: &StoreError) {
        let batch = (self.batch() / 4).max(1);
        self.batch.store(batch, Ordering::Relaxed);
        let why = in_one_line(error);
        let mut said = self.said();
        if said.as_ref() != Some(&why) {
            tracing::error!(
                why,
                "turns wait for the graph; they are saved when it takes them"
            );
            *said = Some(why);
        }
    }

    fn said(&self) -> std::sync::MutexGuard<'_, Option<String>> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Maximum number of turns per transaction; fewer if the graph is too slow for that.
pub(in crate::memory) const MAX_TURNS_PER_TRANSACTION: usize = 400;
