//! Sends requests until they succeed or are given up.
//!
//! serenity's rate limiter delays requests that Discord would refuse, per route. The outbox retries
//! failures, and keeps growing answers from exhausting the limits: an update that is only for show
//! is skipped shortly after another.

use std::future::Future;
use std::time::Duration;

use muninn_platform::{RateLimit, Recent, RetryBudget, retry};
use parking_lot::Mutex;
use serenity::model::id::ChannelId;
use tokio::time::{Instant, timeout};

use crate::errors::Failure;

/// How long Discord may be unavailable before a request is given up.
const UNREACHABLE_TIMEOUT: Duration = Duration::from_secs(120);

/// Maximum time of an attempt, including the rate limiter's waiting: for a slow route, or a pause
/// of the whole bot.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(300);

/// Maximum time of a request that is only for show.
const SHORT_ATTEMPT: Duration = Duration::from_secs(5);

/// Interval of shown updates: Discord allows about five edits in five seconds per channel; the rest
/// is for answers.
pub(crate) const SHOW_EVERY: Duration = Duration::from_millis(1_200);

/// Maximum number of channels whose last update is remembered.
const REMEMBERED: usize = 1_024;

pub(crate) struct DiscordOutbox {
    shown: Mutex<Recent<ChannelId, Instant>>,
    /// A rate limit of the whole bot. serenity's rate limiter waits for it by itself, but does not
    /// run behind a proxy.
    limit: RateLimit,
}

impl Default for DiscordOutbox {
    fn default() -> Self {
        Self {
            shown: Mutex::new(Recent::new(REMEMBERED)),
            limit: RateLimit::default(),
        }
    }
}

impl DiscordOutbox {
    /// Whether an update may be shown in a channel now; if so, the next has to wait.
    pub(crate) fn may_show(&self, channel: ChannelId) -> bool {
        let mut shown = self.shown.lock();
        let is_early = shown
            .get(&channel)
            .is_some_and(|at| at.elapsed() < SHOW_EVERY);
        if !is_early {
            shown.insert(channel, Instant::now());
        }
        !is_early
    }

    /// Makes a request for show: once, with a short time-out.
    pub(crate) async fn try_once<T>(
        &self,
        attempt: impl Future<Output = Result<T, Failure>>,
    ) -> Option<T> {
        self.try_to_show(attempt).await.ok()
    }

    /// Like [`DiscordOutbox::try_once`], with the reason.
    pub(crate) async fn try_to_show<T>(
        &self,
        attempt: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let attempt = async {
            let answer = timeout(SHORT_ATTEMPT, attempt).await;
            answer.unwrap_or_else(|_| Err(Failure::timed_out()))
        };
        let shown = self.unless_limited(attempt).await;
        shown.inspect_err(|error| tracing::debug!(%error, "not shown"))
    }

    /// Retries a request until it succeeds or is given up.
    pub(crate) async fn retry<T, F>(&self, attempt: impl Fn() -> F) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        let budget = RetryBudget::from_now(UNREACHABLE_TIMEOUT);
        let attempt = || self.unless_limited(in_time(attempt()));
        retry(budget, attempt, Failure::request_failure).await
    }

    /// Makes a request, or none during a rate limit of the whole bot: Discord blocks an address that sends too many of those.
    async fn unless_limited<T>(
        &self,
        attempt: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        if let Some(rest) = self.limit.rest() {
            return Err(Failure::limited(Some(rest), true));
        }
        attempt.await.inspect_err(|failure| {
            if failure.is_global {
                self.limit.record(failure.rest);
            }
        })
    }
}

/// Bounds one attempt of a request.
pub(crate) async fn in_time<T>(
    attempt: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let answer = timeout(ATTEMPT_TIMEOUT, attempt).await;
    answer.unwrap_or_else(|_| Err(Failure::timed_out()))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::errors::{FailureKind, RefusalReason};

    #[tokio::test(start_paused = true)]
    async fn what_is_away_is_tried_again_for_two_minutes() {
        let tries = Cell::new(0);
        let outbox = DiscordOutbox::default();
        let began = Instant::now();
        let failed = outbox
            .retry(|| async {
                tries.set(tries.get() + 1);
                Err::<(), _>(Failure::timed_out())
            })
            .await;
        assert_eq!(failed.unwrap_err().kind, FailureKind::Away);
        assert!((8..20).contains(&tries.get()), "{}", tries.get());
        assert!(began.elapsed() <= UNREACHABLE_TIMEOUT);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_refused_is_not_tried_again() {
        let tries = Cell::new(0);
        let failed = DiscordOutbox::default()
            .retry(|| async {
                tries.set(tries.get() + 1);
                Err::<(), _>(Failure::refused(RefusalReason::MayNot, "no"))
            })
            .await;
        assert!(failed.unwrap_err().is(RefusalReason::MayNot));
        assert_eq!(tries.get(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn during_a_rate_limit_of_the_whole_bot_nothing_is_requested() {
        const LONG: Duration = Duration::from_secs(300);
        let tries = Cell::new(0);
        let outbox = DiscordOutbox::default();
        let limited = |is_global| {
            tries.set(tries.get() + 1);
            async move { Err::<(), _>(Failure::limited(Some(LONG), is_global)) }
        };
        // A limit of one route does not concern the others.
        let failed = outbox.retry(|| limited(false)).await;
        assert_eq!(failed.unwrap_err().kind, FailureKind::Limited);
        assert!(outbox.try_once(async { Ok(()) }).await.is_some());
        let failed = outbox.retry(|| limited(true)).await;
        assert_eq!(failed.unwrap_err().rest, Some(LONG));
        assert_eq!(tries.get(), 2);
        tokio::time::advance(LONG / 2).await;
        assert!(outbox.try_once(async { Ok(()) }).await.is_none());
        let failed = outbox.retry(|| async { Ok(()) }).await;
        assert_eq!(failed.unwrap_err().rest, Some(LONG / 2));
        // Soon over: this is waited for.
        tokio::time::advance(LONG / 3).await;
        let began = Instant::now();
        assert!(outbox.retry(|| async { Ok(()) }).await.is_ok());
        assert_eq!(began.elapsed().as_secs(), 50);
        assert!(outbox.try_once(async { Ok(()) }).await.is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_channel_shows_one_thing_at_a_time() {
        let outbox = DiscordOutbox::default();
        let (here, there) = (ChannelId::new(1), ChannelId::new(2));
        assert_eq!(
            [here, here, there].map(|channel| outbox.may_show(channel)),
            [true, false, true]
        );
        tokio::time::advance(SHOW_EVERY).await;
        assert!(outbox.may_show(here));
    }
}
