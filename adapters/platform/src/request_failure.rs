//! Why a request to a platform failed, and what follows from that on every platform.

use std::future::Future;
use std::time::Duration;

use crate::RetryBudget;

/// What to do about a request that failed. Each adapter classifies its client's errors once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestFailure {
    /// Rate limited, for this long if the platform said so.
    Limited(Option<Duration>),
    /// The platform is unreachable or unwell; a retry may succeed.
    Away,
    /// The token or session is not accepted: nothing succeeds until somebody changes it.
    LoggedOut,
    /// A retry will not succeed.
    Refused,
}

impl RequestFailure {
    /// Whether the same request may succeed later. A new token may be set, so this includes
    /// [`RequestFailure::LoggedOut`].
    pub const fn is_temporary(self) -> bool {
        match self {
            Self::Limited(_) | Self::Away | Self::LoggedOut => true,
            Self::Refused => false,
        }
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

    use tokio::time::Instant;

    use super::*;

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
        // Longer than the budget, or longer than the clock can count.
        for last in [seconds(61), seconds(u64::MAX)] {
            assert_eq!(after(vec![last]).await, (Err(last), 1, 0));
        }
    }
}
