//! Rate and concurrency limits for all model calls.
//!
//! Every attempt needs a permit, including retries. A permit that would come too late is refused at once, so that
//! nobody waits for a refusal. This module knows nothing of HTTP.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use governor::clock::Clock;
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::DashMapStateStore;
use governor::state::{InMemoryState, NotKeyed};
use governor::{NotUntil, Quota, RateLimiter};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::{ModelError, RateLimits};

/// Number of admissions between two sweeps, which drop people whose share is full again.
const SWEEP_EVERY: u32 = 256;

type Direct = RateLimiter<NotKeyed, InMemoryState, TokioClock, NoOpMiddleware<Duration>>;
type PerPerson =
    RateLimiter<String, DashMapStateStore<String>, TokioClock, NoOpMiddleware<Duration>>;

/// Runs `governor` on the runtime's clock, so that tests can pause it.
#[derive(Clone, Debug)]
struct TokioClock {
    start: Instant,
}

impl Clock for TokioClock {
    type Instant = Duration;

    fn now(&self) -> Duration {
        self.start.elapsed()
    }
}

/// A permit for one attempt; the call counts as running until it is dropped.
#[derive(Debug)]
pub struct Permit {
    _in_flight: OwnedSemaphorePermit,
}

/// Limits requests and tokens per minute for the whole bot, requests per minute for each person, and concurrent calls.
#[derive(Debug)]
pub struct Limiter {
    clock: TokioClock,
    requests: Option<Direct>,
    /// With the number of tokens per minute.
    tokens: Option<(Direct, NonZeroU32)>,
    people: Option<PerPerson>,
    in_flight: Arc<Semaphore>,
    longest_wait: Duration,
    admissions: AtomicU32,
}

impl Limiter {
    /// A full minute's share is available at the start. At least one call can run.
    pub fn new(limits: &RateLimits) -> Self {
        let clock = TokioClock {
            start: Instant::now(),
        };
        let direct = |per_minute: Option<NonZeroU32>| {
            per_minute.map(|n| Direct::direct_with_clock(Quota::per_minute(n), clock.clone()))
        };
        Self {
            requests: direct(limits.requests_per_minute),
            tokens: direct(limits.tokens_per_minute).zip(limits.tokens_per_minute),
            people: limits
                .person_requests_per_minute
                .map(|n| PerPerson::dashmap_with_clock(Quota::per_minute(n), clock.clone())),
            in_flight: Arc::new(Semaphore::new(
                limits.in_flight.clamp(1, Semaphore::MAX_PERMITS),
            )),
            longest_wait: limits.longest_wait,
            admissions: AtomicU32::new(0),
            clock,
        }
    }

    /// Waits for a permit for one attempt of about `tokens` tokens; [`ModelError::Busy`] when that takes too long.
    ///
    /// A call larger than a minute's tokens takes the whole minute. The person's share is taken first and the slot
    /// before the bot's rates, so that one person's queue does not keep slots from others. Shares taken before a
    /// refusal are not returned.
    pub async fn admit(&self, person: Option<&str>, tokens: u32) -> Result<Permit, ModelError> {
        self.sweep_sometimes();
        let deadline = Instant::now() + self.longest_wait;
        if let (Some(people), Some(person)) = (&self.people, person) {
            let person = person.to_owned();
            self.until(deadline, || people.check_key(&person)).await?;
        }
        let in_flight = Arc::clone(&self.in_flight).acquire_owned();
        let in_flight = tokio::time::timeout_at(deadline, in_flight)
            .await
            .map_err(|_| ModelError::Busy)?
            .map_err(|_| ModelError::Busy)?;
        if let Some(requests) = &self.requests {
            self.until(deadline, || requests.check()).await?;
        }
        if let Some((limit, most)) = &self.tokens {
            let wanted =
                NonZeroU32::new(tokens).map_or(NonZeroU32::MIN, |tokens| tokens.min(*most));
            let check = || limit.check_n(wanted).unwrap_or(Ok(()));
            self.until(deadline, check).await?;
        }
        Ok(Permit {
            _in_flight: in_flight,
        })
    }

    /// Number of people whose share is not full at the moment.
    pub fn people(&self) -> usize {
        self.people.as_ref().map_or(0, RateLimiter::len)
    }

    /// Retries until it succeeds or the next chance is after the deadline.
    async fn until<T>(
        &self,
        deadline: Instant,
        mut check: impl FnMut() -> Result<T, NotUntil<Duration>>,
    ) -> Result<(), ModelError> {
        loop {
            let Err(refused) = check() else {
                return Ok(());
            };
            let chance = Instant::now() + refused.wait_time_from(self.clock.now());
            if chance > deadline {
                return Err(ModelError::Busy);
            }
            tokio::time::sleep_until(chance).await;
        }
    }

    fn sweep_sometimes(&self) {
        let admissions = self.admissions.fetch_add(1, Ordering::Relaxed);
        if let Some(people) = &self.people
            && admissions % SWEEP_EVERY == SWEEP_EVERY - 1
        {
            people.retain_recent();
            people.shrink_to_fit();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> RateLimits {
        RateLimits {
            requests_per_minute: None,
            tokens_per_minute: None,
            person_requests_per_minute: None,
            in_flight: 100,
            longest_wait: Duration::from_secs(5),
        }
    }

    async fn is_busy(limiter: &Limiter, person: Option<&str>, tokens: u32) -> bool {
        matches!(limiter.admit(person, tokens).await, Err(ModelError::Busy))
    }

    #[tokio::test(start_paused = true)]
    async fn requests_of_the_whole_bot() {
        let limiter = Limiter::new(&RateLimits {
            requests_per_minute: NonZeroU32::new(20),
            ..limits()
        });
        let start = Instant::now();
        for _ in 0..20 {
            limiter.admit(None, 1).await.unwrap();
        }
        assert_eq!(start.elapsed(), Duration::ZERO);
        limiter.admit(None, 1).await.unwrap();
        let waited = start.elapsed();
        assert!(
            waited >= Duration::from_secs(3) && waited < Duration::from_millis(3100),
            "{waited:?}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn who_would_wait_too_long_is_told_at_once() {
        let limiter = Limiter::new(&RateLimits {
            requests_per_minute: NonZeroU32::new(1),
            ..limits()
        });
        limiter.admit(None, 1).await.unwrap();
        let start = Instant::now();
        assert!(is_busy(&limiter, None, 1).await);
        assert_eq!(start.elapsed(), Duration::ZERO);
        tokio::time::advance(Duration::from_secs(60)).await;
        limiter.admit(None, 1).await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn tokens_of_the_whole_bot() {
        let limiter = Limiter::new(&RateLimits {
            tokens_per_minute: NonZeroU32::new(6000),
            ..limits()
        });
        limiter.admit(None, 5800).await.unwrap();
        assert!(is_busy(&limiter, None, 1000).await);
        let start = Instant::now();
        limiter.admit(None, 400).await.unwrap();
        assert!(
            start.elapsed() >= Duration::from_secs(2),
            "{:?}",
            start.elapsed()
        );
        // A request above the limit takes a whole minute's share, but does succeed.
        tokio::time::advance(Duration::from_secs(61)).await;
        limiter.admit(None, u32::MAX).await.unwrap();
        assert!(is_busy(&limiter, None, 1000).await);
    }

    #[tokio::test(start_paused = true)]
    async fn each_person_has_a_share() {
        let limiter = Limiter::new(&RateLimits {
            person_requests_per_minute: NonZeroU32::new(2),
            ..limits()
        });
        for person in ["alice", "alice", "bob", "bob"] {
            limiter.admit(Some(person), 1).await.unwrap();
        }
        assert!(is_busy(&limiter, Some("alice"), 1).await);
        limiter.admit(None, 1).await.unwrap();
        assert_eq!(limiter.people(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn quiet_people_are_forgotten() {
        let limiter = Limiter::new(&RateLimits {
            person_requests_per_minute: NonZeroU32::new(2),
            ..limits()
        });
        for n in 0..200 {
            limiter.admit(Some(&n.to_string()), 1).await.unwrap();
        }
        assert_eq!(limiter.people(), 200);
        tokio::time::advance(Duration::from_secs(120)).await;
        for _ in 0..SWEEP_EVERY {
            limiter.admit(None, 1).await.unwrap();
        }
        assert_eq!(limiter.people(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn calls_in_flight() {
        let limiter = Limiter::new(&RateLimits {
            in_flight: 1,
            ..limits()
        });
        let first = limiter.admit(None, 1).await.unwrap();
        let start = Instant::now();
        assert!(is_busy(&limiter, None, 1).await);
        assert_eq!(start.elapsed(), Duration::from_secs(5));
        drop(first);
        limiter.admit(None, 1).await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn one_persons_queue_keeps_no_slot() {
        let limiter = Limiter::new(&RateLimits {
            in_flight: 1,
            person_requests_per_minute: NonZeroU32::new(30),
            ..limits()
        });
        for _ in 0..30 {
            limiter.admit(Some("alice"), 1).await.unwrap();
        }
        let (alice, bob) = tokio::join!(limiter.admit(Some("alice"), 1), async {
            let start = Instant::now();
            limiter.admit(Some("bob"), 1).await.unwrap();
            start.elapsed()
        });
        alice.unwrap();
        assert_eq!(bob, Duration::ZERO);
    }
}
