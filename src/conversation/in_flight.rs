//! The messages that are being answered, so that edits, deletions and stops reach the running turn.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use dashmap::DashMap;
use muninn_platform::{
    AudienceId, Body, ConversationId, EventId, IncomingMessage, KeptMessage, Reply,
};

use crate::conversation::interrupt::{Interrupt, Interruption};
use crate::graph::marks::Covered;

/// The messages in flight.
#[derive(Debug, Default)]
pub struct InFlight {
    messages: DashMap<EventId, InFlightMessage>,
}

/// An edit or a deletion of a message.
pub struct Revision {
    pub message: IncomingMessage,
    pub reply: Box<dyn Reply>,
}

impl Revision {
    /// Whether the message was deleted.
    pub fn is_deletion(&self) -> bool {
        matches!(self.message.body, Body::Deletion { .. })
    }
}

/// The state in which answering a message begins.
#[derive(Debug)]
pub struct Begin {
    pub interrupt: Interrupt,
    /// The newest edit since the last beginning.
    pub revision: Option<Box<Revision>>,
    /// Whether the message is not to be answered any more.
    pub is_taken_back: bool,
    /// Whether the message was delivered before, and its answer was stopped then, or nobody waits for it any more.
    pub is_stopped: bool,
}

#[derive(Debug)]
struct InFlightMessage {
    conversation: ConversationId,
    audience: AudienceId,
    /// Stable ID of the person.
    author: String,
    platform: String,
    /// As [`IncomingMessage::sent_at`].
    sent_at: DateTime<Utc>,
    /// As [`IncomingMessage::received_at`].
    received_at: DateTime<Utc>,
    /// Number of deliveries that are still being worked on.
    deliveries: usize,
    /// `None` while the message waits for its turn.
    running: Option<Interrupt>,
    revision: Option<Box<Revision>>,
    /// The newest revision attached to it, and when that was sent.
    newest: Option<(EventId, DateTime<Utc>)>,
    is_taken_back: bool,
    is_stopped: bool,
    /// Whether nobody waits for its answer any more.
    is_given_up: bool,
}

impl InFlightMessage {
    /// Whether a newer revision of the message is already known. Revisions left by a dead process arrive in any order. A
    /// deletion is always the last.
    fn is_outdated(&self, revision: &Revision) -> bool {
        let Some((event, sent_at)) = &self.newest else {
            return false;
        };
        let message = &revision.message;
        // A repeated delivery is not outdated by itself.
        let is_another = message.event != *event;
        is_another && !revision.is_deletion() && (self.is_taken_back || message.sent_at < *sent_at)
    }

    /// Ends the work on one delivery. Returns whether it was the last.
    fn end_delivery(&mut self) -> bool {
        self.deliveries -= 1;
        self.running = None;
        self.deliveries == 0
    }

    /// Whether the message was asked before the command. The platform's clock counts, as a command that is delivered again
    /// after a crash has a new time of receipt. Between two platforms with different clocks, the times of receipt count.
    fn was_asked_before(&self, command: &IncomingMessage) -> bool {
        if self.platform == command.audience.platform {
            self.sent_at <= command.sent_at
        } else {
            self.received_at <= command.received_at
        }
    }
}

impl InFlight {
    /// Adds a message, even if it is already in flight: whether its answer was delivered is only known afterwards.
    pub fn add_message(&self, message: &IncomingMessage) {
        self.entry(message, &message.conversation);
    }

    /// Adds a request to regenerate an earlier answer, in the conversation of that answer, and begins it.
    pub fn begin_regeneration(
        &self,
        message: &IncomingMessage,
        conversation: &ConversationId,
    ) -> Interrupt {
        self.entry(message, conversation);
        self.begin(&message.event).interrupt
    }

    fn entry(&self, message: &IncomingMessage, conversation: &ConversationId) {
        let entry = self.messages.entry(message.event.clone());
        let mut entry = entry.or_insert_with(|| InFlightMessage {
            conversation: conversation.clone(),
            audience: message.audience.id.clone(),
            author: message.author.id.clone(),
            platform: message.audience.platform.clone(),
            sent_at: message.sent_at,
            received_at: message.received_at,
            deliveries: 0,
            running: None,
            revision: None,
            newest: None,
            is_taken_back: false,
            is_stopped: false,
            is_given_up: false,
        });
        entry.deliveries += 1;
        // Whoever delivers it again waits for it.
        entry.is_given_up = false;
    }

    /// Begins to answer a message, or begins again when the earlier start is out of date.
    pub fn begin(&self, event: &EventId) -> Begin {
        let interrupt = Interrupt::default();
        let Some(mut entry) = self.messages.get_mut(event) else {
            return Begin {
                interrupt,
                revision: None,
                is_taken_back: false,
                is_stopped: false,
            };
        };
        entry.running = Some(interrupt.clone());
        Begin {
            interrupt,
            revision: entry.revision.take(),
            is_taken_back: entry.is_taken_back,
            is_stopped: entry.is_stopped || entry.is_given_up,
        }
    }

    /// Whether a message is being answered or waits to be.
    pub fn has(&self, event: &EventId) -> bool {
        self.messages.contains_key(event)
    }

    /// The messages of an audience that are in flight.
    pub fn in_audience(&self, audience: &AudienceId) -> Vec<KeptMessage> {
        let here = self.messages.iter().filter(|it| it.audience == *audience);
        let kept = here.map(|it| KeptMessage {
            event: it.key().clone(),
            conversation: it.conversation.clone(),
        });
        kept.collect()
    }

    /// Attaches a revision to its message and interrupts the turn, unless a newer revision is attached already. Of two
    /// revisions, returns the event of the older one, which needs nothing more.
    ///
    /// # Errors
    /// Returns the revision when the message is not in flight.
    pub fn revise(
        &self,
        of: &EventId,
        revision: Box<Revision>,
    ) -> Result<Option<EventId>, Box<Revision>> {
        let Some(mut entry) = self.messages.get_mut(of) else {
            return Err(revision);
        };
        let event = revision.message.event.clone();
        if entry.is_outdated(&revision) {
            return Ok(Some(event));
        }
        entry.is_taken_back |= revision.is_deletion();
        entry.newest = Some((event.clone(), revision.message.sent_at));
        let replaced = entry.revision.replace(revision);
        if let Some(running) = &entry.running {
            running.raise(Interruption::Superseded);
        }
        let replaced = replaced.map(|earlier| earlier.message.event);
        // A repeated delivery is not marked as done: after a crash nobody else would know of the revision.
        Ok(replaced.filter(|earlier| *earlier != event))
    }

    /// Stops the answers of a conversation. Returns whether there were any.
    pub fn stop(&self, conversation: &ConversationId) -> bool {
        let mut is_any = false;
        for entry in &self.messages {
            if let (true, Some(running)) = (entry.conversation == *conversation, &entry.running) {
                running.raise(Interruption::Stopped);
                is_any = true;
            }
        }
        is_any
    }

    /// Ends the answer to a message for which nobody waits any more, also if it still waits for its turn.
    pub fn give_up(&self, event: &EventId) {
        if let Some(mut entry) = self.messages.get_mut(event) {
            entry.is_given_up = true;
            if let Some(running) = &entry.running {
                running.raise(Interruption::GivenUp);
            }
        }
    }

    /// Records that a message was stopped before any of its answer was visible. If it was delivered twice, it is not
    /// answered after all.
    pub fn mark_stopped(&self, event: &EventId) {
        if let Some(mut entry) = self.messages.get_mut(event) {
            entry.is_stopped = true;
        }
    }

    /// Takes back everything of some people or places that was asked before a command and is not answered yet. Returns the
    /// conversations concerned.
    pub fn cancel_asked_before(
        &self,
        command: &IncomingMessage,
        what: &[Covered<'_>],
    ) -> HashSet<ConversationId> {
        let mut conversations = HashSet::new();
        for mut entry in self.messages.iter_mut() {
            let is_meant = |what: &Covered<'_>| {
                what.includes(&entry.author, &entry.conversation, &entry.audience)
            };
            if what.iter().any(is_meant) && entry.was_asked_before(command) {
                entry.is_taken_back = true;
                if let Some(running) = &entry.running {
                    running.raise(Interruption::Superseded);
                }
                conversations.insert(entry.conversation.clone());
            }
        }
        conversations
    }

    /// Removes a message that is to take effect as it was sent. Returns `false`, and leaves it, if it was edited or taken back.
    pub fn remove_as_sent(&self, event: &EventId) -> bool {
        // A single lookup: what is revised between two lookups would take effect all the same.
        let dashmap::Entry::Occupied(mut occupied) = self.messages.entry(event.clone()) else {
            return true;
        };
        let entry = occupied.get_mut();
        if entry.is_taken_back || entry.newest.is_some() {
            return false;
        }
        if entry.end_delivery() {
            occupied.remove();
        }
        true
    }

    /// Removes a message, unless there is a revision that nobody has followed yet.
    pub fn remove_unless_revised(&self, event: &EventId) -> Option<Box<Revision>> {
        // A single lookup: a revision made between two lookups would be lost with the entry.
        let dashmap::Entry::Occupied(mut occupied) = self.messages.entry(event.clone()) else {
            return None;
        };
        let entry = occupied.get_mut();
        if let Some(revision) = entry.revision.take() {
            return Some(revision);
        }
        if entry.end_delivery() {
            occupied.remove();
        }
        None
    }
}

impl std::fmt::Debug for Revision {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Revision")
            .field("message", &self.message)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use futures::FutureExt as _;
    use proptest::prelude::*;

    use super::*;
    use crate::conversation::bot_connection::DiscardingReply;

    /// A revision of the message `q`, sent so many seconds after it.
    fn revision(event: &str, seconds: i64, body: impl FnOnce(EventId) -> Body) -> Box<Revision> {
        let of = crate::testing::message("q");
        let message = IncomingMessage {
            body: body(of.event),
            sent_at: DateTime::UNIX_EPOCH + TimeDelta::seconds(seconds),
            ..crate::testing::message(event)
        };
        Box::new(Revision {
            message,
            reply: Box::new(DiscardingReply),
        })
    }

    fn edit(event: &str, seconds: i64) -> Box<Revision> {
        revision(event, seconds, |of| Body::Edit {
            of,
            text: event.to_owned(),
        })
    }

    fn deletion(event: &str, seconds: i64) -> Box<Revision> {
        revision(event, seconds, |of| Body::Deletion { of })
    }

    #[test]
    fn only_what_was_neither_edited_nor_taken_back_takes_effect_as_sent() {
        let of = EventId::new("q");
        let question = crate::testing::message("q");
        let add = || {
            let in_flight = InFlight::default();
            in_flight.add_message(&question);
            in_flight
        };
        assert!(InFlight::default().remove_as_sent(&of), "not in flight");
        let in_flight = add();
        assert!(in_flight.remove_as_sent(&of) && !in_flight.has(&of));
        // Delivered twice: the other delivery still needs it.
        let in_flight = add();
        in_flight.add_message(&question);
        assert!(in_flight.remove_as_sent(&of) && in_flight.has(&of));

        for revision in [edit("e", 1), deletion("d", 1)] {
            let in_flight = add();
            in_flight.revise(&of, revision).unwrap();
            assert!(!in_flight.remove_as_sent(&of) && in_flight.has(&of));
            // Also after another delivery followed it.
            in_flight.begin(&of);
            assert!(!in_flight.remove_as_sent(&of) && in_flight.has(&of));
        }
        let in_flight = add();
        let author = Covered::Person(&question.author.id);
        in_flight.cancel_asked_before(&crate::testing::message("forget me"), &[author]);
        assert!(!in_flight.remove_as_sent(&of) && in_flight.has(&of));
    }

    #[test]
    fn a_message_is_given_up_until_somebody_waits_for_it_again() {
        let (of, question) = (EventId::new("q"), crate::testing::message("q"));
        let in_flight = InFlight::default();
        in_flight.give_up(&of);
        in_flight.add_message(&question);
        let begun = in_flight.begin(&of);
        assert!(!begun.is_stopped);
        in_flight.give_up(&of);
        let raised = begun.interrupt.wait_until_raised().now_or_never();
        assert_eq!(raised, Some(Interruption::GivenUp));
        assert!(in_flight.begin(&of).is_stopped);
        in_flight.add_message(&question);
        assert!(!in_flight.begin(&of).is_stopped);
        // A delivery that waits for its turn.
        let other = crate::testing::message("r");
        in_flight.add_message(&other);
        in_flight.give_up(&other.event);
        assert!(in_flight.begin(&other.event).is_stopped);
        assert!(!in_flight.begin(&of).is_stopped);
    }

    proptest! {
        /// The revisions that a dead process left arrive in any order, some of them twice, and some after an earlier one
        /// was already followed.
        #[test]
        fn the_newest_edit_is_followed_and_nothing_after_a_deletion(
            told in prop::collection::vec((0_i64..5, any::<bool>()), 1..8),
            deleted in prop::option::of(0_usize..8),
        ) {
            let (in_flight, of) = (InFlight::default(), EventId::new("q"));
            in_flight.add_message(&crate::testing::message("q"));
            let (mut followed, mut done) = (Vec::new(), Vec::new());
            for (at, (second, begins)) in told.iter().enumerate() {
                if deleted == Some(at) {
                    done.extend(in_flight.revise(&of, deletion("d", 9)).unwrap());
                }
                let edit = edit(&format!("e{second}"), *second);
                done.extend(in_flight.revise(&of, edit).unwrap());
                if *begins {
                    followed.extend(in_flight.begin(&of).revision);
                }
            }
            let begun = in_flight.begin(&of);
            followed.extend(begun.revision);
            let is_deleted = deleted.is_some_and(|at| at < told.len());
            prop_assert_eq!(begun.is_taken_back, is_deleted);
            let newest = told.iter().map(|(second, _)| format!("e{second}")).max().unwrap();
            let last = followed.last().map(|it| it.message.event.as_str());
            prop_assert_eq!(last, Some(if is_deleted { "d" } else { &newest }));
            prop_assert!(done.iter().all(|event| Some(event.as_str()) != last), "{:?}", done);
        }
    }
}
