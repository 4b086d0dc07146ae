//! Which tokens are looked up in the graph, so that made-up ones do not keep it busy.

use std::collections::HashSet;
use std::net::IpAddr;
use std::num::NonZeroU32;

use governor::{DefaultDirectRateLimiter, DefaultKeyedRateLimiter, Quota, RateLimiter};
use parking_lot::Mutex;

/// Maximum lookups of tokens that are not known to be valid, per second and in a burst: after a restart that is all of them.
const MAX_LOOKUPS_PER_SECOND: NonZeroU32 = NonZeroU32::new(40).expect("40 is not 0");

const MAX_LOOKUP_BURST: NonZeroU32 = NonZeroU32::new(200).expect("200 is not 0");

/// The same from one address: half of all, so that it leaves as many to the others.
const MAX_ADDRESS_LOOKUPS_PER_SECOND: NonZeroU32 = NonZeroU32::new(20).expect("20 is not 0");

const MAX_ADDRESS_LOOKUP_BURST: NonZeroU32 = NonZeroU32::new(100).expect("100 is not 0");

/// Limits the lookups.
#[derive(Debug)]
pub(super) struct TokenLookups {
    /// The hashes of tokens that were valid at their last lookup. Nobody can make them up.
    valid: Mutex<HashSet<String>>,
    others: DefaultDirectRateLimiter,
    by_address: DefaultKeyedRateLimiter<IpAddr>,
}

impl TokenLookups {
    pub(super) fn new() -> Self {
        let quota = Quota::per_second(MAX_LOOKUPS_PER_SECOND).allow_burst(MAX_LOOKUP_BURST);
        let of_address =
            Quota::per_second(MAX_ADDRESS_LOOKUPS_PER_SECOND).allow_burst(MAX_ADDRESS_LOOKUP_BURST);
        Self {
            valid: Mutex::default(),
            others: RateLimiter::direct(quota),
            by_address: RateLimiter::keyed(of_address),
        }
    }

    /// Whether the token with this hash, which came from this address, may be looked up now.
    pub(super) fn may_look_up(&self, hash: &str, from: IpAddr) -> bool {
        if self.valid.lock().contains(hash) {
            return true;
        }
        // First, as an address that is over its own limit must not use up the lookups of the others.
        self.by_address.check_key(&from).is_ok() && self.others.check().is_ok()
    }

    /// Keeps whether the token with this hash is valid.
    pub(super) fn looked_up(&self, hash: String, is_valid: bool) {
        if !is_valid {
            self.by_address.retain_recent();
        }
        let mut valid = self.valid.lock();
        match is_valid {
            true => valid.insert(hash),
            false => valid.remove(&hash),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_up_tokens_are_looked_up_a_few_times_and_valid_ones_always() {
        let lookups = TokenLookups::new();
        let from = IpAddr::from([192, 0, 2, 1]);
        assert!(lookups.may_look_up("ann", from));
        lookups.looked_up("ann".to_owned(), true);
        let made_up = (0..10_000).filter(|number| lookups.may_look_up(&number.to_string(), from));
        let looked_up = made_up.count();
        assert!((50..5_000).contains(&looked_up), "{looked_up}");
        assert!((0..1_000).all(|_| lookups.may_look_up("ann", from)));
        lookups.looked_up("ann".to_owned(), false);
        assert!(!(0..1_000).all(|_| lookups.may_look_up("ann", from)));
    }

    #[test]
    fn made_up_tokens_from_one_address_leave_lookups_for_the_others() {
        let lookups = TokenLookups::new();
        let (from, other) = (IpAddr::from([192, 0, 2, 1]), IpAddr::from([192, 0, 2, 2]));
        let made_up = (0..10_000).filter(|number| lookups.may_look_up(&number.to_string(), from));
        assert!(made_up.count() < 5_000);
        assert!((0..20).all(|number| lookups.may_look_up(&format!("program {number}"), other)));
    }
}
