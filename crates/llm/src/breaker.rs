//! A circuit breaker: skips a failing service, and tries it again after increasing pauses.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::ModelError;

/// Consecutive failures after which a service is skipped; a time-out counts as that many.
const FAILURES: u32 = 2;
/// First pause, doubling up to [`MAX_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_secs(5);
const MAX_PAUSE: Duration = Duration::from_mins(5);

/// Whether to call a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    Ask,
    /// It failed; this call checks whether it works again, and does not wait long.
    Probe,
    Skip,
}

/// The state of a service.
#[derive(Debug, Default)]
pub struct Breaker {
    state: Mutex<BreakerState>,
}

#[derive(Debug, Default)]
struct BreakerState {
    failures: u32,
    /// Number of pauses since it last answered.
    pauses: u32,
    until: Option<Instant>,
}

impl BreakerState {
    fn leave_alone(&mut self) {
        let pause = FIRST_PAUSE
            .saturating_mul(1 << self.pauses.min(10))
            .min(MAX_PAUSE);
        self.until = Some(Instant::now() + pause);
        self.pauses += 1;
    }
}

impl Breaker {
    /// Whether to call now. Of several callers after a pause, one probes.
    pub fn admission(&self) -> Admission {
        let mut state = self.state();
        match state.until {
            None => Admission::Ask,
            Some(until) if Instant::now() < until => Admission::Skip,
            Some(_) => {
                state.leave_alone();
                Admission::Probe
            }
        }
    }

    /// Whether the service is skipped now.
    pub fn is_open(&self) -> bool {
        self.state()
            .until
            .is_some_and(|until| Instant::now() < until)
    }

    /// Records how a call ended.
    pub fn record<T>(&self, outcome: &Result<T, ModelError>) {
        let Err(error) = outcome else {
            return self.succeeded();
        };
        match error {
            ModelError::Unreachable { .. }
            | ModelError::TimedOut(_)
            | ModelError::Unauthorized
            | ModelError::UnknownModel { .. }
            | ModelError::QuotaExhausted
            | ModelError::RateLimited
            | ModelError::Failed(_)
            | ModelError::CutOff => self.failed(error),
            // It answered, so it works: the next request may succeed.
            ModelError::OnlyReasoned(_)
            | ModelError::Refused(_)
            | ModelError::BadAnswer(_)
            | ModelError::ContextTooLong(_) => self.succeeded(),
            // Our own limits, before it was called.
            ModelError::OverBudget { .. } | ModelError::Busy => {}
        }
    }

    /// Records that the service works.
    pub fn succeeded(&self) {
        *self.state() = BreakerState::default();
    }

    fn failed(&self, error: &ModelError) {
        let mut state = self.state();
        if state.until.is_some() {
            // This failure is of a call that was already running.
            return;
        }
        let was_waited_for = matches!(error, ModelError::TimedOut(_));
        state.failures += if was_waited_for { FAILURES } else { 1 };
        if state.failures >= FAILURES {
            state.leave_alone();
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, BreakerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TimedOutWait, TooLong, Usage};

    #[tokio::test(start_paused = true)]
    async fn a_service_that_hangs_is_left_alone_for_a_growing_time() {
        let breaker = Breaker::default();
        let late = ModelError::TimedOut(TimedOutWait::Silent(Duration::from_secs(60)));
        breaker.failed(&late);
        for seconds in [5, 10, 20] {
            assert_eq!(breaker.admission(), Admission::Skip);
            // Calls that were waiting at the same time do not lengthen the pause.
            breaker.failed(&late);
            tokio::time::advance(Duration::from_secs(seconds)).await;
            assert_eq!(breaker.admission(), Admission::Probe);
        }
        breaker.succeeded();
        assert_eq!(breaker.admission(), Admission::Ask);
    }

    #[tokio::test(start_paused = true)]
    async fn a_service_that_refuses_a_request_works() {
        let failed = || Err::<(), _>(ModelError::Failed("no".to_owned()));
        for (probed, next) in [
            (Ok(()), Admission::Ask),
            (Err(ModelError::Refused("no".to_owned())), Admission::Ask),
            (
                Err(ModelError::ContextTooLong(TooLong::default())),
                Admission::Ask,
            ),
            (
                Err(ModelError::OnlyReasoned(Usage::default())),
                Admission::Ask,
            ),
            (Err(ModelError::BadAnswer("no".to_owned())), Admission::Ask),
            (Err(ModelError::Busy), Admission::Skip),
            (failed(), Admission::Skip),
        ] {
            let breaker = Breaker::default();
            breaker.record(&failed());
            breaker.record(&failed());
            tokio::time::advance(Duration::from_secs(5)).await;
            assert_eq!(breaker.admission(), Admission::Probe);
            breaker.record(&probed);
            assert_eq!(breaker.admission(), next, "{probed:?}");
        }
    }

    #[test]
    fn one_failure_that_costs_no_time_does_no_harm() {
        let breaker = Breaker::default();
        let failure = ModelError::Failed("no".to_owned());
        breaker.failed(&failure);
        assert_eq!(breaker.admission(), Admission::Ask);
        breaker.failed(&failure);
        assert_eq!(breaker.admission(), Admission::Skip);
    }
}
