//! The documented rate limits, which apply if a test enables them.
//!
//! "Rate limits" of the Web API: a tier allows a number of calls per minute, method and workspace.
//! Posting allows one message per second and channel, with short bursts. `conversations.history`
//! and `.replies` allow one call per minute for apps that are distributed outside the Marketplace.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use crate::methods::Tier;

const MINUTE: Duration = Duration::from_secs(60);

/// "Short bursts of more than one request per second": how many is not documented.
const BURST: u32 = 4;

#[derive(Debug, Default)]
pub(crate) struct Limits {
    /// Whether tiers and the posting limit apply.
    pub(crate) are_kept: bool,
    /// Distributed outside the Marketplace: one call per minute, 15 items.
    pub(crate) is_unlisted: bool,
    /// How many messages a page has that names no cursor of the next.
    pub(crate) page_by_time: Option<usize>,
    /// The times of each key's admitted calls.
    passed: BTreeMap<String, Vec<Instant>>,
}

/// Returns how many calls are admitted in which time.
fn rule(tier: Tier, is_unlisted: bool) -> (u32, Duration) {
    match tier {
        Tier::Two => (20, MINUTE),
        Tier::Three => (50, MINUTE),
        Tier::Four => (100, MINUTE),
        Tier::Special => (600, MINUTE),
        Tier::Posting => (BURST, Duration::from_secs(u64::from(BURST))),
        Tier::Reading if is_unlisted => (1, MINUTE),
        Tier::Reading => (50, MINUTE),
    }
}

impl Limits {
    /// Admits a call, or returns how many seconds to wait.
    pub(crate) fn admit(&mut self, method: &str, channel: &str, tier: Tier) -> Result<(), u64> {
        let holds = self.are_kept || (self.is_unlisted && tier == Tier::Reading);
        if !holds {
            return Ok(());
        }
        let key = match tier {
            Tier::Posting => format!("{method}/{channel}"),
            Tier::Two | Tier::Three | Tier::Four | Tier::Special | Tier::Reading => {
                method.to_owned()
            }
        };
        let (most, window) = rule(tier, self.is_unlisted);
        let now = Instant::now();
        let passed = self.passed.entry(key).or_default();
        passed.retain(|at| now.duration_since(*at) < window);
        if passed.len() < most as usize {
            passed.push(now);
            return Ok(());
        }
        let oldest = passed.first().copied().unwrap_or(now);
        let wait = window.saturating_sub(now.duration_since(oldest));
        Err(wait.as_secs().max(1))
    }
}
