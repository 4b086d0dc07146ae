//! Reads what Slack could not deliver over HTTP while the process lived.
//!
//! Slack repeats an event for five minutes and then drops it. Over HTTP there is no connection whose
//! end would tell: while the proxy or the network before the bot is down, nothing comes, as in a quiet
//! workspace. So after each long enough pause it reads what was said in it, at a pace that leaves room
//! in Slack's rate limits for answers, and not again soon. So it does with the minutes in which Slack
//! dropped events, because there were more than it sends to one app.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use muninn_platform::InboxClosed;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

use crate::inbound::SlackEventHandler;
use crate::missed::{CatchUp, Extent};

/// Minimum time from the end of one read to the begin of the next. A pause in between is read then.
const REST: Duration = Duration::from_secs(30 * 60);

/// Allowance for this machine's clock being ahead of Slack's. Messages read twice are recognised.
const CLOCK_SKEW_ALLOWANCE: TimeDelta = TimeDelta::minutes(1);

/// How long Slack drops events once it began: until the end of the minute.
const DROPPED: TimeDelta = TimeDelta::minutes(1);

/// Longest wait for minutes that Slack drops one after another. The last of them is then read later.
const MAX_DROPPED_WAIT: Duration = Duration::from_secs(600);

/// The pauses between requests of Slack that are still to be read, and what Slack dropped.
#[derive(Debug)]
pub(crate) struct Gaps {
    /// A shorter one cannot have lost anything.
    shortest: Duration,
    state: Mutex<GapsState>,
    found: Notify,
}

#[derive(Debug)]
struct GapsState {
    /// The last request that the bot accepted.
    last: DateTime<Utc>,
    /// When the first unread pause began.
    unread: Option<DateTime<Utc>>,
    /// Until when Slack drops events.
    dropped_until: DateTime<Utc>,
    is_reading: bool,
}

impl GapsState {
    fn leave_unread(&mut self, since: DateTime<Utc>) {
        self.unread = Some(self.unread.map_or(since, |unread| unread.min(since)));
    }
}

impl Gaps {
    /// `now`: what was before is read at the start.
    pub(crate) fn new(shortest: Duration, now: DateTime<Utc>) -> Self {
        Self {
            shortest,
            state: Mutex::new(GapsState {
                last: now,
                unread: None,
                dropped_until: now,
                is_reading: false,
            }),
            found: Notify::new(),
        }
    }

    /// Records that the bot accepted a request. Returns whether nothing before it is unread.
    pub(crate) fn record(&self, now: DateTime<Utc>) -> bool {
        let mut state = self.state.lock();
        let since = std::mem::replace(&mut state.last, now);
        // A clock may have been set back.
        let pause = (now - since).to_std().unwrap_or_default();
        if pause >= self.shortest {
            state.leave_unread(since);
            self.found.notify_one();
        }
        state.unread.is_none() && !state.is_reading
    }

    /// Records that Slack drops the events of the minute that begins then.
    pub(crate) fn record_dropped(&self, since: DateTime<Utc>, now: DateTime<Utc>) {
        let since = since.min(now);
        let mut state = self.state.lock();
        state.leave_unread(since);
        let until = since + DROPPED + CLOCK_SKEW_ALLOWANCE;
        state.dropped_until = state.dropped_until.max(until);
        self.found.notify_one();
    }

    /// Returns how long Slack still drops events, which would be read too early.
    fn rest_of_dropped(&self, now: DateTime<Utc>) -> Duration {
        let rest = self.state.lock().dropped_until - now;
        rest.to_std().unwrap_or_default()
    }

    /// Waits until Slack drops nothing. Meanwhile it may drop the next minute, too.
    async fn wait_for_dropped(&self, now: impl Fn() -> DateTime<Utc>) {
        let deadline = Instant::now() + MAX_DROPPED_WAIT;
        loop {
            let rest = self.rest_of_dropped(now());
            if rest.is_zero() || Instant::now() >= deadline {
                return;
            }
            sleep(rest).await;
        }
    }

    /// Returns since when is to be read, if anything is. What Slack drops now is read after it.
    fn begin(&self, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let mut state = self.state.lock();
        let since = state.unread.take()?;
        state.is_reading = true;
        if state.dropped_until > now {
            let last = state.dropped_until - CLOCK_SKEW_ALLOWANCE - DROPPED;
            state.leave_unread(last);
            self.found.notify_one();
        }
        Some(since)
    }

    /// `is_read`: everything since then was read; otherwise it is tried again.
    fn end(&self, since: DateTime<Utc>, is_read: bool) {
        let mut state = self.state.lock();
        state.is_reading = false;
        if !is_read {
            state.leave_unread(since);
            self.found.notify_one();
        }
    }

    /// Reads each pause after it, one at a time.
    ///
    /// # Errors
    /// Fails when the bot is ending.
    pub(crate) async fn follow(&self, inbound: &SlackEventHandler) -> Result<(), InboxClosed> {
        loop {
            self.found.notified().await;
            self.wait_for_dropped(Utc::now).await;
            let Some(since) = self.begin(Utc::now()) else {
                continue;
            };
            tracing::info!(%since, "Slack sent nothing for a while, or dropped events; what was said is read");
            let extent = Extent::after_pause(&inbound.hub);
            let reading = CatchUp::new(inbound, since - CLOCK_SKEW_ALLOWANCE, extent).run();
            self.end(since, reading.await?);
            sleep(REST).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_700_000_000 + seconds, 0).unwrap()
    }

    #[test]
    fn each_long_pause_is_read_once() {
        let gaps = Gaps::new(Duration::from_secs(300), at(0));
        for (seconds, is_seen) in [(10, true), (309, true), (300, true), (500, true)] {
            assert_eq!(gaps.record(at(seconds)), is_seen, "{seconds}");
        }
        assert_eq!(gaps.begin(at(9_000)), None);
        // What was seen stands still until the pause is read, also for later requests.
        assert!(!gaps.record(at(800)));
        assert!(!gaps.record(at(801)));
        // A later pause is read with it.
        assert!(!gaps.record(at(2_000)));
        assert_eq!(gaps.begin(at(9_000)), Some(at(500)));
        assert!(!gaps.record(at(2_001)));
        // One that falls into the read is read after it.
        assert!(!gaps.record(at(3_000)));
        gaps.end(at(500), true);
        assert!(!gaps.record(at(3_001)));
        assert_eq!(gaps.begin(at(9_000)), Some(at(2_001)));
        // What could not be read is read again.
        gaps.end(at(2_001), false);
        assert!(!gaps.record(at(3_002)));
        assert_eq!(gaps.begin(at(9_000)), Some(at(2_001)));
        gaps.end(at(2_001), true);
        assert!(gaps.record(at(3_003)));
        assert_eq!(gaps.begin(at(9_000)), None);
    }

    #[test]
    fn what_slack_drops_is_read_when_its_minute_is_over() {
        let gaps = Gaps::new(Duration::from_secs(300), at(0));
        assert!(gaps.record(at(70)));
        assert_eq!(gaps.rest_of_dropped(at(70)), Duration::ZERO);
        gaps.record_dropped(at(60), at(71));
        assert!(!gaps.record(at(71)));
        // With what this machine's clock may be ahead.
        assert_eq!(gaps.rest_of_dropped(at(80)), Duration::from_secs(100));
        // So does the next minute, which is read with it.
        gaps.record_dropped(at(120), at(121));
        assert_eq!(gaps.rest_of_dropped(at(180)), Duration::from_secs(60));
        assert_eq!(gaps.begin(at(240)), Some(at(60)));
        // A minute that falls into the read is read after it.
        gaps.record_dropped(at(240), at(241));
        gaps.end(at(60), true);
        assert!(!gaps.record(at(300)));
        assert_eq!(gaps.begin(at(360)), Some(at(240)));
        // What could not be read is read again, from the earliest on.
        gaps.record_dropped(at(360), at(361));
        gaps.end(at(240), false);
        assert_eq!(gaps.begin(at(480)), Some(at(240)));
        gaps.end(at(240), true);
        assert!(gaps.record(at(401)));
    }

    #[tokio::test(start_paused = true)]
    async fn minutes_that_slack_drops_in_a_row_are_waited_for() {
        let gaps = Gaps::new(Duration::from_secs(300), at(0));
        let begun = Instant::now();
        let now = || at(0) + TimeDelta::from_std(begun.elapsed()).unwrap();
        gaps.record_dropped(at(0), now());
        let next = async {
            sleep(Duration::from_secs(70)).await;
            gaps.record_dropped(at(60), now());
        };
        tokio::join!(gaps.wait_for_dropped(now), next);
        assert!(now() >= at(180) && now() < at(190), "{}", now());
        assert_eq!(gaps.begin(now()), Some(at(0)));
        gaps.end(at(0), true);
        assert_eq!(gaps.begin(now()), None);
    }

    #[tokio::test(start_paused = true)]
    async fn what_slack_drops_for_long_is_read_in_parts() {
        let gaps = Gaps::new(Duration::from_secs(300), at(0));
        let begun = Instant::now();
        let now = || at(0) + TimeDelta::from_std(begun.elapsed()).unwrap();
        let dropping = async {
            for minute in 0..60 {
                gaps.record_dropped(at(60 * minute), now());
                sleep(Duration::from_secs(60)).await;
            }
        };
        let waited = tokio::select! {
            biased;
            () = dropping => false,
            () = gaps.wait_for_dropped(now) => true,
        };
        assert!(waited && now() < at(900), "{}", now());
        assert_eq!(gaps.begin(now()), Some(at(0)));
        gaps.end(at(0), true);
        let rest = gaps.begin(now());
        assert!(rest.is_some_and(|rest| rest > at(500)), "{rest:?}");
    }
}
