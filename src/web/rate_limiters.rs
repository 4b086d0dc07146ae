//! How often one may ask.

use std::net::IpAddr;
use std::num::NonZeroU32;

use governor::clock::DefaultClock;
use governor::state::keyed::DefaultKeyedStateStore;
use governor::{Quota, RateLimiter};

/// Maximum requests per second and in a burst, for each account, for the operators together, and for each address without a
/// session: behind a proxy, everybody has the same address.
const MAX_REQUESTS_PER_SECOND: NonZeroU32 = NonZeroU32::new(20).expect("20 is not 0");

pub(super) const MAX_REQUEST_BURST: NonZeroU32 = NonZeroU32::new(120).expect("120 is not 0");

/// Maximum number of invalid links per minute from one address.
const WRONG_LINKS: NonZeroU32 = NonZeroU32::new(10).expect("10 is not 0");

pub(super) type Limiter<K> = RateLimiter<K, DefaultKeyedStateStore<K>, DefaultClock>;

/// Who is rate limited.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Asker {
    Operator,
    /// The ID of the account, which may have many sessions.
    Account(String),
    Address(IpAddr),
}

/// The rate limiters.
#[derive(Debug)]
pub(super) struct RateLimiters {
    requests: Limiter<Asker>,
    wrong_links: Limiter<IpAddr>,
}

impl RateLimiters {
    pub(super) fn new() -> Self {
        Self {
            requests: RateLimiter::keyed(
                Quota::per_second(MAX_REQUESTS_PER_SECOND).allow_burst(MAX_REQUEST_BURST),
            ),
            wrong_links: RateLimiter::keyed(Quota::per_minute(WRONG_LINKS)),
        }
    }

    /// Counts an invalid link. Returns whether there were too many.
    pub(super) fn is_guessing(&self, address: IpAddr) -> bool {
        self.wrong_links.check_key(&address).is_err()
    }

    pub(super) fn is_too_much(&self, asker: &Asker) -> bool {
        let is_too_much = self.requests.check_key(asker).is_err();
        // Drops those that were inactive since.
        self.requests.retain_recent();
        self.wrong_links.retain_recent();
        is_too_much
    }
}
