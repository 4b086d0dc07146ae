//! Pauses between attempts, and when to give up.

use std::future::Future;
use std::time::Duration;

use tokio::time::Instant;

use crate::RequestFailure;

/// Pause for a rate limit for which the platform named no duration.
pub const RATE_LIMIT_PAUSE: Duration = Duration::from_secs(5);

/// Minimum pause for a rate limit: platforms count in seconds, and may say that no pause is needed
/// and limit it again.
const MIN_RATE_LIMIT_PAUSE: Duration = Duration::from_secs(1);

/// Returns the pause for a rate limit for which the platform may have named a duration.
pub fn rate_limit_pause(named: Option<Duration>) -> Duration {
    named.unwrap_or(RATE_LIMIT_PAUSE).max(MIN_RATE_LIMIT_PAUSE)
}

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
            RequestFailure::Limited(rest) => self.pause_for(rate_limit_pause(rest)),
            RequestFailure::Away => self.pause(),
            RequestFailure::LoggedOut | RequestFailure::Refused => None,
        }
    }

    /// Reports that the platform is away. `None`: give up.
    pub fn pause(&mut self) -> Option<Duration> {
        let pause = self.backoff.pause();
        self.pause_for(pause)
    }

    /// Reports a pause that is to follow. `None`: that is too long.
    fn pause_for(&mut self, rest: Duration) -> Option<Duration> {
        let since = *self.since.get_or_insert_with(Instant::now);
        // The platform may say any duration, also one that overflows the clock.
        (since.elapsed().saturating_add(rest) <= self.patience).then_some(rest)
    }
}

/// Repeats a request until it succeeds, is refused, or the budget is used up.
///
/// # Errors
/// Fails with the last attempt's error.
pub async fn retry<T, E, F>(
    mut budget: RetryBudget,
    attempt: impl Fn() -> F,
    classify: impl Fn(&E) -> RequestFailure,
) -> Result<T, E>
where
    F: Future<Output = Result<T, E>>,
{
    loop {
        let failed = match attempt().await {
            Ok(done) => return Ok(done),
            Err(failed) => failed,
        };
        match budget.pause_after(classify(&failed)) {
            Some(pause) => tokio::time::sleep(pause).await,
            None => return Err(failed),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

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

    const BUDGET: Duration = Duration::from_secs(60);

    /// Returns how it ended, after how many attempts and seconds.
    async fn after(
        mut failures: Vec<RequestFailure>,
    ) -> (Result<&'static str, RequestFailure>, usize, u64) {
        failures.reverse();
        let (left, attempts) = (RefCell::new(failures), RefCell::new(0));
        let began = Instant::now();
        let attempt = || async {
            *attempts.borrow_mut() += 1;
            left.borrow_mut().pop().map_or(Ok("done"), Err)
        };
        let ended = retry(RetryBudget::new(BUDGET), attempt, |failure| *failure).await;
        (ended, attempts.take(), began.elapsed().as_secs())
    }

    #[tokio::test(start_paused = true)]
    async fn only_what_may_pass_is_tried_again() {
        use RequestFailure::{Away, Limited, LoggedOut, Refused};
        let seconds = |seconds| Limited(Some(Duration::from_secs(seconds)));
        assert_eq!(after(vec![]).await, (Ok("done"), 1, 0));
        assert_eq!(after(vec![Away, Away]).await, (Ok("done"), 3, 1));
        assert_eq!(after(vec![seconds(30), Away]).await, (Ok("done"), 3, 30));
        assert_eq!(after(vec![Limited(None)]).await, (Ok("done"), 2, 5));
        for last in [Refused, LoggedOut] {
            assert_eq!(after(vec![Away, last]).await, (Err(last), 2, 0));
        }
        // No pause at all would be a loop.
        assert_eq!(after(vec![seconds(0); 4]).await, (Ok("done"), 5, 4));
        let (ended, attempts, took) = after(vec![seconds(0); 10_000]).await;
        assert_eq!(ended, Err(seconds(0)));
        assert!(attempts <= 61 && took <= 60, "{attempts} in {took} s");
        // Longer than the budget, or longer than the clock can count.
        for last in [seconds(61), seconds(u64::MAX)] {
            assert_eq!(after(vec![last]).await, (Err(last), 1, 0));
        }
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
