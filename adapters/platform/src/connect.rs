//! Waits at the start of an adapter until its platform can be reached.

use std::future::Future;
use std::time::Duration;

use tokio::time::Instant;

use crate::{Backoff, PlatformError, RequestFailure, RetryBudget, in_one_line};

/// How long a platform may be unreachable, at the start and later, before its adapter gives up.
pub const UNREACHABLE_TIMEOUT: Duration = Duration::from_secs(24 * 3600);

/// First pause between two warnings, doubling up to [`MAX_WARNING_INTERVAL`].
const FIRST_WARNING_INTERVAL: Duration = Duration::from_secs(60);
const MAX_WARNING_INTERVAL: Duration = Duration::from_secs(3600);

/// Why an adapter could not connect at its start.
#[derive(Debug)]
pub struct StartError {
    failure: RequestFailure,
    error: PlatformError,
}

impl StartError {
    pub fn new(failure: RequestFailure, error: PlatformError) -> Self {
        Self { failure, error }
    }

    /// Whether waiting may help.
    pub fn failure(&self) -> RequestFailure {
        self.failure
    }

    /// Returns the reason, for a caller that asks only once.
    pub fn into_error(self) -> PlatformError {
        self.error
    }
}

/// What concerns this machine or the settings does not pass by itself.
impl From<PlatformError> for StartError {
    fn from(error: PlatformError) -> Self {
        Self::new(RequestFailure::Refused, error)
    }
}

/// Repeats the first requests of an adapter until the platform is reached, refuses them, or was
/// unreachable for [`UNREACHABLE_TIMEOUT`]: a process that is restarted during an outage waits for
/// its end, as one does that runs already. Ends when it is dropped.
///
/// # Errors
/// Fails with the last attempt's error.
pub async fn connect_at_start<T, F>(
    platform: &'static str,
    attempt: impl Fn() -> F,
) -> Result<T, PlatformError>
where
    F: Future<Output = Result<T, StartError>>,
{
    let mut budget = RetryBudget::new(UNREACHABLE_TIMEOUT);
    let mut warnings = Warnings::default();
    let mut away_since: Option<Instant> = None;
    loop {
        let StartError { failure, error } = match attempt().await {
            Ok(connected) => {
                if let Some(since) = away_since {
                    tracing::info!(platform, after = ?since.elapsed(), "can be reached now");
                }
                return Ok(connected);
            }
            Err(failed) => failed,
        };
        let Some(pause) = budget.pause_after(failure) else {
            return Err(error);
        };
        let since = *away_since.get_or_insert_with(Instant::now);
        if warnings.is_due(since.elapsed()) {
            tracing::warn!(
                platform,
                error = in_one_line(&error),
                "cannot be reached yet; it is tried again for up to 24 hours"
            );
        }
        tokio::time::sleep(pause).await;
    }
}

/// Decides when to warn again: the first time at once, then less and less often.
#[derive(Debug)]
pub struct Warnings {
    backoff: Backoff,
    next: Duration,
}

impl Default for Warnings {
    fn default() -> Self {
        Self {
            backoff: Backoff::new(FIRST_WARNING_INTERVAL, MAX_WARNING_INTERVAL),
            next: Duration::ZERO,
        }
    }
}

impl Warnings {
    /// Whether to warn, so long after the first failure.
    pub fn is_due(&mut self, elapsed: Duration) -> bool {
        let is_due = elapsed >= self.next;
        if is_due {
            self.next = elapsed + self.backoff.pause();
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::misconfigured;

    const HOUR: Duration = Duration::from_secs(3600);

    /// Connects to a platform that fails for so long. Returns how that ended, and after how long.
    async fn connected_to(
        failing: Duration,
        failure: RequestFailure,
    ) -> (Result<usize, String>, Duration) {
        let (begun, attempts) = (Instant::now(), Cell::new(0));
        let attempt = || async {
            attempts.set(attempts.get() + 1);
            if begun.elapsed() >= failing {
                return Ok(attempts.get());
            }
            Err(StartError::new(failure, misconfigured("not now")))
        };
        let ended = connect_at_start("fake", attempt).await;
        (ended.map_err(|error| error.to_string()), begun.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn an_outage_at_the_start_is_waited_out_for_a_day() {
        let away = RequestFailure::Away;
        let (connected, after) = connected_to(Duration::ZERO, away).await;
        assert_eq!((connected, after), (Ok(1), Duration::ZERO));
        let (connected, after) = connected_to(20 * HOUR, away).await;
        assert!(connected.is_ok(), "{connected:?}");
        assert!(after < 21 * HOUR, "{after:?}");
        let (connected, after) = connected_to(25 * HOUR, away).await;
        assert_eq!(connected, Err("not now".to_owned()));
        assert!((23 * HOUR..=24 * HOUR).contains(&after), "{after:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_rest_that_the_platform_asks_for_is_taken() {
        let limited = RequestFailure::Limited(Some(HOUR));
        let (connected, after) = connected_to(HOUR, limited).await;
        assert_eq!(connected, Ok(2));
        assert!((HOUR..2 * HOUR).contains(&after), "{after:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn what_does_not_pass_is_not_waited_for() {
        for failure in [RequestFailure::LoggedOut, RequestFailure::Refused] {
            let (connected, after) = connected_to(HOUR, failure).await;
            assert_eq!(
                (connected, after),
                (Err("not now".to_owned()), Duration::ZERO)
            );
        }
        let settings = StartError::from(misconfigured("no token"));
        assert_eq!(settings.failure(), RequestFailure::Refused);
        assert_eq!(settings.into_error().to_string(), "no token");
    }

    #[test]
    fn warnings_become_rare() {
        let mut warnings = Warnings::default();
        let minutes: Vec<u64> = (0..24 * 60)
            .filter(|minute| warnings.is_due(Duration::from_secs(minute * 60)))
            .collect();
        assert_eq!(minutes[..8], [0, 1, 3, 7, 15, 31, 63, 123]);
        assert_eq!(minutes.len(), 29);
    }
}
