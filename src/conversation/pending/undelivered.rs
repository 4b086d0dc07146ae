//! Messages whose answers are kept, but could not be delivered, and when they are tried again. Pure except for the clock.

use std::collections::HashMap;
use std::time::Duration;

use muninn_platform::{Backoff, EventId, IncomingMessage};
use tokio::time::Instant;

/// First pause before an answer is tried again: its adapter has waited for two minutes already.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// Longest pause.
const LONGEST_PAUSE: Duration = Duration::from_mins(10);
/// An answer that could not be delivered for this long is given up; it stays kept.
const RETENTION: Duration = Duration::from_hours(24);
/// Maximum number of answers of a platform that are tried at the same time: each may wait for a platform that is away. As many
/// more are tried of those whose last try never ended.
const MOST_AT_ONCE: usize = 4;
/// A try that did not end within this time is forgotten, for example because its place is not known any more. An adapter
/// waits 15 minutes at most.
const TRY_TIMEOUT: Duration = Duration::from_mins(20);

/// The messages, by event.
#[derive(Debug, Default)]
pub(super) struct Undelivered(HashMap<EventId, Postponed>);

#[derive(Debug)]
struct Postponed {
    message: IncomingMessage,
    since: Instant,
    backoff: Backoff,
    /// When it is tried again, or when a try that is under way is forgotten.
    next: Instant,
    is_under_way: bool,
    /// The try before the one that is under way never ended.
    was_lost: bool,
}

impl Postponed {
    fn is_too_old(&self, now: Instant) -> bool {
        now.duration_since(self.since) >= RETENTION
    }

    /// Where it is counted among those that are tried. What was lost may be lost again and again, and holds up no other.
    fn counted_as(&self) -> (String, bool) {
        (self.message.answered_by().to_owned(), self.was_lost)
    }
}

impl Undelivered {
    /// Adds a message, or ends a try in vain. Returns false if it is given up.
    pub(super) fn postpone(&mut self, message: IncomingMessage) -> bool {
        let now = Instant::now();
        let event = message.event.clone();
        let postponed = self.0.entry(event.clone()).or_insert_with(|| Postponed {
            message,
            since: now,
            backoff: Backoff::new(FIRST_PAUSE, LONGEST_PAUSE),
            next: now,
            is_under_way: false,
            was_lost: false,
        });
        if postponed.is_too_old(now) {
            warn_given_up(&event);
            self.0.remove(&event);
            return false;
        }
        postponed.next = now + postponed.backoff.pause();
        postponed.is_under_way = false;
        postponed.was_lost = false;
        true
    }

    /// Gives up the messages that are too old and due. A try that never ends does not postpone its message again.
    pub(super) fn take_too_old(&mut self) -> Vec<EventId> {
        let now = Instant::now();
        let too_old = self
            .0
            .extract_if(|_, postponed| postponed.next <= now && postponed.is_too_old(now));
        let events: Vec<EventId> = too_old.map(|(event, _)| event).collect();
        events.iter().for_each(warn_given_up);
        events
    }

    pub(super) fn contains(&self, event: &EventId) -> bool {
        self.0.contains_key(event)
    }

    /// Removes a message that needs nothing more. Its platform may be back, so the others there are due at once.
    pub(super) fn remove(&mut self, event: &EventId) {
        let Some(done) = self.0.remove(event) else {
            return;
        };
        let now = Instant::now();
        let platform = done.message.answered_by();
        for other in self.0.values_mut() {
            if !other.is_under_way && other.message.answered_by() == platform {
                other.next = now;
            }
        }
    }

    /// Begins to try messages that are due, oldest first.
    pub(super) fn take_due(&mut self) -> Vec<IncomingMessage> {
        let now = Instant::now();
        let mut trying: HashMap<(String, bool), usize> = HashMap::new();
        for postponed in self.0.values_mut() {
            if !postponed.is_under_way {
                continue;
            }
            if now < postponed.next {
                *trying.entry(postponed.counted_as()).or_default() += 1;
            } else {
                postponed.was_lost = true;
            }
        }
        let mut due: Vec<&mut Postponed> = self.0.values_mut().collect();
        due.retain(|postponed| postponed.next <= now);
        due.sort_by_key(|postponed| postponed.message.sent_at);
        due.retain(|postponed| {
            let trying = trying.entry(postponed.counted_as()).or_default();
            *trying += 1;
            *trying <= MOST_AT_ONCE
        });
        let begun = due.into_iter().map(|postponed| {
            postponed.is_under_way = true;
            postponed.next = now + TRY_TIMEOUT;
            postponed.message.clone()
        });
        begun.collect()
    }
}

fn warn_given_up(event: &EventId) {
    tracing::warn!(%event, "an answer was not delivered for a day, and is given up; it stays kept");
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;
    use crate::testing::message;

    fn events(due: &[IncomingMessage]) -> Vec<&str> {
        due.iter().map(|message| message.event.as_str()).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_is_tried_less_and_less_often_and_given_up_after_a_day() {
        let mut undelivered = Undelivered::default();
        let mut tries = 0;
        let began = Instant::now();
        while undelivered.postpone(message("e")) {
            assert!(undelivered.take_due().is_empty());
            tokio::time::advance(LONGEST_PAUSE).await;
            assert_eq!(events(&undelivered.take_due()), ["e"]);
            // It is under way.
            assert!(undelivered.take_due().is_empty());
            assert!(undelivered.contains(&EventId::new("e")));
            tries += 1;
        }
        assert!((100..200).contains(&tries), "{tries}");
        assert!(began.elapsed() >= RETENTION);
        assert!(!undelivered.contains(&EventId::new("e")));
    }

    #[tokio::test(start_paused = true)]
    async fn few_are_tried_while_a_platform_is_away_and_the_others_when_it_is_back() {
        let mut undelivered = Undelivered::default();
        let first = message("0");
        for number in 0..=MOST_AT_ONCE {
            let older = TimeDelta::seconds(i64::try_from(number).unwrap());
            assert!(undelivered.postpone(IncomingMessage {
                sent_at: first.sent_at + older,
                ..message(&number.to_string())
            }));
        }
        tokio::time::advance(FIRST_PAUSE).await;
        assert_eq!(events(&undelivered.take_due()), ["0", "1", "2", "3"]);
        assert!(undelivered.take_due().is_empty());
        // In vain once more.
        assert!(undelivered.postpone(message("0")));
        assert_eq!(events(&undelivered.take_due()), ["4"]);
        assert!(undelivered.take_due().is_empty());
        // One arrives.
        undelivered.remove(&EventId::new("1"));
        assert_eq!(events(&undelivered.take_due()), ["0"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_try_that_never_ends_is_made_again() {
        let mut undelivered = Undelivered::default();
        assert!(undelivered.postpone(message("e")));
        tokio::time::advance(FIRST_PAUSE).await;
        assert_eq!(undelivered.take_due().len(), 1);
        tokio::time::advance(TRY_TIMEOUT).await;
        assert_eq!(undelivered.take_due().len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn answers_whose_place_is_gone_hold_up_no_other_and_are_given_up_after_a_day() {
        let mut undelivered = Undelivered::default();
        let first = message("0");
        for number in 0..MOST_AT_ONCE {
            assert!(undelivered.postpone(IncomingMessage {
                sent_at: first.sent_at,
                ..message(&number.to_string())
            }));
        }
        tokio::time::advance(FIRST_PAUSE).await;
        assert_eq!(undelivered.take_due().len(), MOST_AT_ONCE);
        // None of these ends, and all are tried once more.
        tokio::time::advance(TRY_TIMEOUT).await;
        assert_eq!(undelivered.take_due().len(), MOST_AT_ONCE);
        assert!(undelivered.postpone(IncomingMessage {
            sent_at: first.sent_at + TimeDelta::minutes(20),
            ..message("new")
        }));
        tokio::time::advance(FIRST_PAUSE).await;
        assert_eq!(events(&undelivered.take_due()), ["new"]);
        undelivered.remove(&EventId::new("new"));

        tokio::time::advance(RETENTION).await;
        assert_eq!(undelivered.take_too_old().len(), MOST_AT_ONCE);
        assert!(undelivered.take_due().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_try_that_is_under_way_may_end_after_a_day() {
        let mut undelivered = Undelivered::default();
        assert!(undelivered.postpone(message("e")));
        tokio::time::advance(RETENTION - FIRST_PAUSE).await;
        assert!(undelivered.take_too_old().is_empty());
        assert_eq!(undelivered.take_due().len(), 1);
        tokio::time::advance(FIRST_PAUSE).await;
        assert!(undelivered.take_too_old().is_empty());
        tokio::time::advance(TRY_TIMEOUT).await;
        assert_eq!(undelivered.take_too_old(), [EventId::new("e")]);
    }
}
