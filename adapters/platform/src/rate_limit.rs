//! A rate limit of a whole bot or account.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::rate_limit_pause;

/// Longest pause for a rate limit, after which the platform is asked again.
const LONGEST_REST: Duration = Duration::from_secs(15 * 60);

/// The end of a rate limit, during which a platform wants no requests. By default there is none.
#[derive(Debug, Default)]
pub struct RateLimit(Mutex<Option<Instant>>);

impl RateLimit {
    /// Returns when a limit of now ends, for which the platform may have named a duration.
    pub fn end(named: Option<Duration>) -> Instant {
        Instant::now() + rate_limit_pause(named).min(LONGEST_REST)
    }

    /// Records a limit.
    pub fn record(&self, named: Option<Duration>) {
        *self.0.lock() = Some(Self::end(named));
    }

    /// Returns the remaining time of the limit; `None` if there is none.
    pub fn rest(&self) -> Option<Duration> {
        let until = *self.0.lock();
        let rest = until?.saturating_duration_since(Instant::now());
        (!rest.is_zero()).then_some(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_without_a_pause_is_no_loop() {
        for (told, expected) in [
            (Some(Duration::ZERO), Duration::from_secs(1)),
            (Some(Duration::from_secs(30)), Duration::from_secs(30)),
            (Some(Duration::MAX), LONGEST_REST),
            (None, Duration::from_secs(5)),
        ] {
            let limit = RateLimit::default();
            limit.record(told);
            let rest = limit.rest().unwrap_or_default();
            assert!(rest <= expected && rest > expected / 2, "{rest:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_limit_ends() {
        let limit = RateLimit::default();
        assert_eq!(limit.rest(), None);
        let rest = Duration::from_secs(30);
        limit.record(Some(rest));
        tokio::time::advance(rest / 3).await;
        assert_eq!(limit.rest(), Some(rest - rest / 3));
        tokio::time::advance(rest).await;
        assert_eq!(limit.rest(), None);
    }
}
