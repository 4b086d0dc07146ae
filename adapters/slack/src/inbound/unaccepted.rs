//! Events that the bot does not have yet.
//!
//! Slack sends them again for some minutes. If the process ends before, the next one reads them: until
//! then, the time until which all events were seen does not pass them.

use std::collections::HashMap;

use chrono::{DateTime, TimeDelta, Utc};
use parking_lot::Mutex;

/// Maximum number of events that are remembered. Later ones are covered by the earlier ones.
const REMEMBERED: usize = 4_096;

/// Slack does not send an event again that came so long ago: it does so three times, within about
/// five minutes.
const REPEATED: TimeDelta = TimeDelta::minutes(10);

/// The events that the bot does not have, by Slack's id, with the time when each came first.
#[derive(Debug, Default)]
pub(super) struct UnacceptedEvents(Mutex<HashMap<String, DateTime<Utc>>>);

impl UnacceptedEvents {
    /// Slack sent an event, perhaps again.
    pub(super) fn arrive(&self, event: &str, now: DateTime<Utc>) {
        let mut events = self.0.lock();
        if events.len() < REMEMBERED {
            events.entry(event.to_owned()).or_insert(now);
        }
    }

    /// The bot has an event.
    pub(super) fn accept(&self, event: &str) {
        self.0.lock().remove(event);
    }

    /// Removes the events that Slack does not send again any more. Returns when the first of them
    /// came.
    pub(super) fn take_unrepeated(&self, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let mut events = self.0.lock();
        let came_until = now - REPEATED;
        let earliest = events.values().min().copied();
        let earliest = earliest.filter(|came| *came <= came_until)?;
        events.retain(|_, came| *came > came_until);
        Some(earliest)
    }

    /// All of them are being read.
    pub(super) fn clear(&self) {
        self.0.lock().clear();
    }

    /// Returns until when the bot has everything, at most `until`.
    pub(super) fn seen_until(&self, until: DateTime<Utc>) -> DateTime<Utc> {
        let earliest = self.0.lock().values().min().copied();
        earliest.map_or(until, |earliest| earliest.min(until))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_ends_before_the_earliest_event_that_the_bot_has_not() {
        let at = |seconds: i64| DateTime::from_timestamp(seconds, 0).unwrap();
        let events = UnacceptedEvents::default();
        assert_eq!(events.seen_until(at(1)), at(1));
        events.arrive("Ev1", at(10));
        events.arrive("Ev2", at(20));
        // It is sent again.
        events.arrive("Ev1", at(70));
        assert_eq!(events.seen_until(at(5)), at(5));
        assert_eq!(events.seen_until(at(80)), at(10));
        events.accept("Ev1");
        assert_eq!(events.seen_until(at(80)), at(20));
        events.clear();
        assert_eq!(events.seen_until(at(80)), at(80));
    }

    #[test]
    fn what_slack_does_not_send_again_is_to_be_read() {
        let at = |seconds: i64| DateTime::from_timestamp(seconds, 0).unwrap();
        let events = UnacceptedEvents::default();
        events.arrive("Ev1", at(0));
        events.arrive("Ev2", at(10));
        events.arrive("Ev3", at(300));
        assert_eq!(events.take_unrepeated(at(599)), None);
        assert_eq!(events.take_unrepeated(at(610)), Some(at(0)));
        // The last of them may still come.
        assert_eq!(events.take_unrepeated(at(610)), None);
        assert_eq!(events.seen_until(at(610)), at(300));
    }
}
