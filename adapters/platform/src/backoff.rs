//! Pauses between attempts, and when to give up.

use std::time::Duration;

use tokio::time::Instant;

/// Pauses that double, up to a longest.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    first: Duration,
    longest: Duration,
    next: Duration,
}

impl Backoff {
    pub const fn new(first: Duration, longest: Duration) -> Self {
        Self {
            first,
            longest,
            next: first,
        }
    }

    /// The pause before the next attempt.
    pub fn pause(&mut self) -> Duration {
        let pause = self.next;
        self.next = (pause * 2).min(self.longest);
        pause
    }

    /// Something worked: the next pause is the first one again.
    pub fn reset(&mut self) {
        self.next = self.first;
    }
}

/// How often something that has to go out is tried while the platform is away: at once again, and
/// less and less often, until the patience is over.
#[derive(Debug)]
pub struct RetryBudget {
    backoff: Backoff,
    patience: Duration,
    since: Option<Instant>,
}

impl RetryBudget {
    const FIRST_PAUSE: Duration = Duration::from_millis(500);
    const LONGEST_PAUSE: Duration = Duration::from_secs(15);

    /// Of a platform that may be away for so long, counted from the first failure.
    pub fn new(patience: Duration) -> Self {
        Self {
            backoff: Backoff::new(Self::FIRST_PAUSE, Self::LONGEST_PAUSE),
            patience,
            since: None,
        }
    }

    /// As [`RetryBudget::new`], counted from now.
    pub fn from_now(patience: Duration) -> Self {
        Self {
            since: Some(Instant::now()),
            ..Self::new(patience)
        }
    }

    /// An attempt failed: the pause before the next. None: it is given up.
    pub fn pause(&mut self) -> Option<Duration> {
        let pause = self.backoff.pause();
        self.rest(pause)
    }

    /// An attempt failed, and the platform says how long to wait. None: that is too long.
    pub fn rest(&mut self, rest: Duration) -> Option<Duration> {
        let since = *self.since.get_or_insert_with(Instant::now);
        // Whatever the platform says, also what no clock can tell.
        (since.elapsed().saturating_add(rest) <= self.patience).then_some(rest)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest() {
        let second = Duration::from_secs;
        let mut backoff = Backoff::new(second(1), second(5));
        let pauses: Vec<u64> = (0..5).map(|_| backoff.pause().as_secs()).collect();
        assert_eq!(pauses, [1, 2, 4, 5, 5]);
        backoff.reset();
        assert_eq!(backoff.pause(), second(1));
    }

    proptest! {
        #[test]
        fn every_budget_ends_in_time(patience in 0_u64..300, attempts_take in 0_u64..20_000) {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_time()
                .start_paused(true)
                .build()
                .unwrap();
            runtime.block_on(async {
                let patience = Duration::from_secs(patience);
                let began = Instant::now();
                let mut budget = RetryBudget::from_now(patience);
                let mut tries = 0;
                loop {
                    tries += 1;
                    tokio::time::sleep(Duration::from_millis(attempts_take)).await;
                    match budget.pause() {
                        Some(pause) => tokio::time::sleep(pause).await,
                        None => break,
                    }
                }
                let attempt = Duration::from_millis(attempts_take);
                // The last attempt begins in time.
                assert!(began.elapsed() <= patience + attempt);
                assert!(tries <= 30, "{tries}");
            });
        }
    }
}
