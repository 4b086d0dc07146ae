//! Rate limits, and how clients are told of them.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Value, json};

/// The strictness of the rate limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Limits {
    /// The usual headers, but buckets that no test exhausts.
    #[default]
    Generous,
    /// The buckets that Discord has been seen to use, and 50 requests a second over all.
    AsDiscord,
}

/// Tolerated requests to an exhausted bucket before it reopens: those in flight at that time and a
/// retry or two. A client with more ignores the limit.
const MAX_TOLERATED_REQUESTS: usize = 8;

/// Discord's global limit per second.
const GLOBAL: u64 = 50;

#[derive(Debug, Default)]
pub(crate) struct Buckets {
    pub(crate) limits: Limits,
    windows: HashMap<String, Window>,
    /// The end of the refusal on the server's clock, and the number of requests before it.
    closed: HashMap<String, (Duration, usize)>,
    closed_globally: Option<(Duration, usize)>,
    /// Number of 401, 403 and 429 responses, of which Discord tolerates 10,000 in ten minutes.
    pub(crate) invalid: usize,
}

#[derive(Clone, Copy, Debug)]
struct Window {
    ends: Duration,
    used: u64,
}

/// The rate limit state of a request's bucket.
#[derive(Clone, Debug)]
pub(crate) struct Verdict {
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) refused: Option<RateLimitRefusal>,
    /// The client was told to wait, and did not.
    pub(crate) impatient: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct RateLimitRefusal {
    pub(crate) after: Duration,
    pub(crate) global: bool,
}

impl RateLimitRefusal {
    pub(crate) fn body(&self) -> Value {
        json!({ "message": "You are being rate limited.", "retry_after": round(self.after), "global": self.global, "code": 0 })
    }
}

/// Rounds up to the millisecond, as Discord does.
fn round(time: Duration) -> f64 {
    (time.as_secs_f64() * 1000.0).ceil() / 1000.0
}

/// Returns the number of requests, and their period.
fn allowance(limits: Limits, bucket: &str) -> (u64, Duration) {
    let seconds = Duration::from_secs;
    if limits == Limits::Generous {
        return (10_000, seconds(1));
    }
    match bucket {
        "POST /channels/{channel_id}/messages"
        | "PATCH /channels/{channel_id}/messages/{message_id}"
        | "POST /channels/{channel_id}/typing"
        | "POST /webhooks/{webhook_id}/{webhook_token}"
        | "PATCH /webhooks/{webhook_id}/{webhook_token}/messages/{message_id}"
        | "PATCH /webhooks/{webhook_id}/{webhook_token}/messages/@original" => (5, seconds(5)),
        "DELETE /channels/{channel_id}/messages/{message_id}" => (5, seconds(1)),
        _ => (50, seconds(1)),
    }
}

impl Buckets {
    /// Refuses a bucket, or everything, for a while.
    pub(crate) fn close(&mut self, key: &str, until: Duration, globally: bool) {
        if globally {
            self.closed_globally = Some((until, 0));
        } else {
            self.closed.insert(key.to_owned(), (until, 0));
        }
    }

    /// Counts a request of `bucket` with the major parameter `major`.
    pub(crate) fn count(&mut self, bucket: &str, major: &str, now: Duration) -> Verdict {
        let key = key(bucket, major);
        // Interaction responses are exempt from the global limit.
        let is_free = bucket.contains("/interactions/") || bucket.contains("{webhook_token}");
        if let Some(verdict) = self.still_closed(&key, now, is_free) {
            return verdict;
        }
        let (most, length) = allowance(self.limits, bucket);
        if self.limits == Limits::AsDiscord && !is_free {
            let over_all = self.enter("", now, GLOBAL, Duration::from_secs(1));
            if over_all.used > GLOBAL {
                self.close("", over_all.ends, true);
                return refusal(over_all.ends.saturating_sub(now), true, false);
            }
        }
        let window = self.enter(&key, now, most, length);
        let left = window.ends.saturating_sub(now);
        if window.used > most {
            self.close(&key, window.ends, false);
            return refusal(left, false, false);
        }
        Verdict {
            headers: headers(&key, most, most - window.used, left),
            refused: None,
            impatient: false,
        }
    }

    fn enter(&mut self, key: &str, now: Duration, most: u64, length: Duration) -> Window {
        let fresh = Window {
            ends: now + length,
            used: 0,
        };
        let window = self.windows.entry(key.to_owned()).or_insert(fresh);
        if window.ends <= now {
            *window = fresh;
        }
        window.used = (window.used + 1).min(most + 1);
        *window
    }

    fn still_closed(&mut self, key: &str, now: Duration, is_free: bool) -> Option<Verdict> {
        let global = self
            .closed_globally
            .as_mut()
            .filter(|(until, _)| *until > now && !is_free);
        let is_global = global.is_some();
        let closed = match global {
            Some(closed) => closed,
            None => self.closed.get_mut(key).filter(|(until, _)| *until > now)?,
        };
        closed.1 += 1;
        let is_impatient = closed.1 == MAX_TOLERATED_REQUESTS + 1;
        Some(refusal(closed.0 - now, is_global, is_impatient))
    }
}

pub(crate) fn key(bucket: &str, major: &str) -> String {
    format!("{bucket} {major}")
}

fn refusal(after: Duration, global: bool, impatient: bool) -> Verdict {
    let scope = if global { "global" } else { "user" };
    let mut headers = headers("", 1, 0, after);
    headers.push(("retry-after", format!("{}", after.as_secs_f64().ceil())));
    headers.push(("x-ratelimit-scope", scope.to_owned()));
    if global {
        headers.push(("x-ratelimit-global", "true".to_owned()));
    }
    Verdict {
        headers,
        refused: Some(RateLimitRefusal { after, global }),
        impatient,
    }
}

fn headers(key: &str, most: u64, left: u64, after: Duration) -> Vec<(&'static str, String)> {
    // Discord names a bucket by a hash; any stable name works.
    let name = key.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let reset = chrono::Utc::now() + after;
    vec![
        ("x-ratelimit-limit", most.to_string()),
        ("x-ratelimit-remaining", left.to_string()),
        (
            "x-ratelimit-reset",
            format!(
                "{:.3}",
                round(Duration::from_millis(
                    reset.timestamp_millis().unsigned_abs()
                ))
            ),
        ),
        ("x-ratelimit-reset-after", format!("{:.3}", round(after))),
        ("x-ratelimit-bucket", format!("{name:016x}")),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    const CREATE: &str = "POST /channels/{channel_id}/messages";

    fn as_discord() -> Buckets {
        Buckets {
            limits: Limits::AsDiscord,
            ..Buckets::default()
        }
    }

    #[test]
    fn five_messages_in_five_seconds_for_each_channel() {
        let mut buckets = as_discord();
        for _ in 0..5 {
            assert!(buckets.count(CREATE, "1", Duration::ZERO).refused.is_none());
        }
        let refused = buckets
            .count(CREATE, "1", Duration::from_secs(1))
            .refused
            .unwrap();
        assert_eq!(
            (refused.after, refused.global),
            (Duration::from_secs(4), false)
        );
        assert!(
            buckets
                .count(CREATE, "2", Duration::from_secs(1))
                .refused
                .is_none()
        );
        assert!(
            buckets
                .count(CREATE, "1", Duration::from_secs(6))
                .refused
                .is_none()
        );
    }

    #[test]
    fn fifty_a_second_over_all_but_for_interactions() {
        let mut buckets = as_discord();
        for number in 0..50 {
            assert!(
                buckets
                    .count(CREATE, &number.to_string(), Duration::ZERO)
                    .refused
                    .is_none()
            );
        }
        assert!(
            buckets
                .count(CREATE, "x", Duration::ZERO)
                .refused
                .unwrap()
                .global
        );
        let callback = "POST /interactions/{interaction_id}/{interaction_token}/callback";
        assert!(
            buckets
                .count(callback, "x", Duration::ZERO)
                .refused
                .is_none()
        );
    }

    #[test]
    fn who_does_not_wait_is_noticed_once() {
        let mut buckets = Buckets::default();
        buckets.close(&key(CREATE, "1"), Duration::from_secs(1), false);
        let impatient = (0..20)
            .filter(|_| buckets.count(CREATE, "1", Duration::ZERO).impatient)
            .count();
        assert_eq!(impatient, 1);
    }
}
