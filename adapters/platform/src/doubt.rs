//! Whether a message that was not confirmed may stand all the same.

use std::sync::atomic::{AtomicBool, Ordering};

/// Why a message was not confirmed.
#[derive(Debug)]
pub struct Unconfirmed<E> {
    pub error: E,
    /// An attempt may have posted it.
    pub is_in_doubt: bool,
}

/// Whether one of the attempts to post a message may have done it without being confirmed.
#[derive(Debug, Default)]
pub struct Doubt(AtomicBool);

impl Doubt {
    /// Records an attempt that failed.
    pub fn record(&self, may_be_done: bool) {
        self.0.fetch_or(may_be_done, Ordering::Relaxed);
    }

    /// Returns the error of the last attempt, with what is known of all of them.
    pub fn about<E>(&self, error: E) -> Unconfirmed<E> {
        Unconfirmed {
            error,
            is_in_doubt: self.0.load(Ordering::Relaxed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_attempt_that_may_be_done_is_enough_for_doubt() {
        for (attempts, expected) in [
            (vec![], false),
            (vec![false, false], false),
            (vec![true, false], true),
        ] {
            let doubt = Doubt::default();
            for may_be_done in attempts {
                doubt.record(may_be_done);
            }
            assert_eq!(doubt.about("away").is_in_doubt, expected);
        }
    }
}
