//! Pauses between attempts, and when to give up.

use std::time::Duration;

use tokio::time::Instant;

use crate::RequestFailure;

/// Pause for a rate limit for which the platform named no duration.
pub const RATE_LIMIT_PAUSE: Duration = Duration::from_secs(5);

/// Pauses that double, up to a maximum.
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

/// Limits how long something is retried while the platform is unreachable: at once, then less and
/// less often, until the patience is over.
#[derive(Debug)]
pub struct RetryBudget {
    backoff: Backoff,
    patience: Duration,
    since: Option<Instant>,
}

impl RetryBudget {
    const FIRST_PAUSE: Duration = Duration::from_millis(500);
    const LONGEST_PAUSE: Duration = Duration::from_secs(15);

    /// For a platform that may be unreachable for so long, counted from the first failure.
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

    /// Reports a failed attempt. Returns the pause before the next one; `None`: give up.
    pub fn pause_after(&mut self, failure: RequestFailure) -> Option<Duration> {
        match failure {
            RequestFailure::Limited(rest) => self.pause_for(rest.unwrap_or(RATE_LIMIT_PAUSE)),
            RequestFailure::Away => self.pause(),
            RequestFailure::LoggedOut | RequestFailure::Refused => None,
        }
    }

    /// Reports that the platform is away. `None`: give up.
    pub fn pause(&mut self) -> Option<Duration> {
        let pause = self.backoff.pause();
        self.pause_for(pause)
    }

    /// Reports a pause that the platform asked for. `None`: that is too long.
    pub fn pause_for(&mut self, rest: Duration) -> Option<Duration> {
        let since = *self.since.get_or_insert_with(Instant::now);
        // The platform may say any duration, also one that overflows the clock.
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
