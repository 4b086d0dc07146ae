//! The messages that are being answered, so that edits, deletions and stops reach the running turn.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use dashmap::DashMap;
use muninn_platform::{
    AudienceId, Body, ConversationId, EventId, IncomingMessage, KeptMessage, Reply,
};

use crate::conversation::interrupt::{Interrupt, Interruption};

/// The messages in flight.
#[derive(Debug, Default)]
pub struct InFlight {
    messages: DashMap<EventId, Entry>,
}

/// That a message says something else now, or was taken back.
pub struct Revision {
    pub message: IncomingMessage,
    pub reply: Box<dyn Reply>,
}

impl Revision {
    /// Whether the message was taken back.
    pub fn is_deletion(&self) -> bool {
        matches!(self.message.body, Body::Deletion { .. })
    }
}

/// How the answer to a message begins.
#[derive(Debug)]
pub struct Begin {
    pub interrupt: Interrupt,
    /// What it says instead, since it was begun last.
    pub revision: Option<Box<Revision>>,
    /// It is not to be answered any more.
    pub is_taken_back: bool,
    /// It was told before, and the answer to that was stopped.
    pub is_stopped: bool,
}

#[derive(Debug)]
struct Entry {
    conversation: ConversationId,
    audience: AudienceId,
    /// Stable id of the person.
    author: String,
    platform: String,
    /// As [`IncomingMessage::sent_at`].
    sent_at: DateTime<Utc>,
    /// As [`IncomingMessage::received_at`].
    received_at: DateTime<Utc>,
    /// How often it was delivered and is still worked on.
    deliveries: usize,
    /// None as long as it waits for its turn.
    running: Option<Interrupt>,
    revision: Option<Box<Revision>>,
    /// The newest that was left with it, and when that was sent.
    newest: Option<(EventId, DateTime<Utc>)>,
    is_taken_back: bool,
    is_stopped: bool,
}

impl Entry {
    /// Whether a revision says what its message said before the newest: those that are left over of a process that is gone
    /// come in any order. Nothing comes after a deletion.
    fn is_outdated(&self, revision: &Revision) -> bool {
        let Some((event, sent_at)) = &self.newest else {
            return false;
        };
        let message = &revision.message;
        // Told twice, it is not outdated by itself.
        let is_another = message.event != *event;
        is_another && !revision.is_deletion() && (self.is_taken_back || message.sent_at < *sent_at)
    }

    /// A command that is told again after a crash is received anew, so the platform's clock counts. Two platforms have two
    /// clocks: between them it counts when each was received.
    fn was_asked_before(&self, command: &IncomingMessage) -> bool {
        if self.platform == command.audience.platform {
            self.sent_at <= command.sent_at
        } else {
            self.received_at <= command.received_at
        }
    }
}

impl InFlight {
    /// Takes a message in, also one that is in flight already: whether its answer went out is only
    /// known afterwards.
    pub fn take(&self, message: &IncomingMessage) {
        self.entry(message, &message.conversation);
    }

    /// Takes in what asks for an earlier answer to be regenerated, in the conversation of that, and begins
    /// with it.
    pub fn again(&self, message: &IncomingMessage, conversation: &ConversationId) -> Interrupt {
        self.entry(message, conversation);
        self.begin(&message.event).interrupt
    }

    fn entry(&self, message: &IncomingMessage, conversation: &ConversationId) {
        let entry = self.messages.entry(message.event.clone());
        let mut entry = entry.or_insert_with(|| Entry {
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
        });
        entry.deliveries += 1;
    }

    /// Begins to answer it, once more where what was begun is out of date.
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
            is_stopped: entry.is_stopped,
        }
    }

    /// Whether a message is answered just now, or waits for that.
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

    /// Leaves a revision with the message and interrupts its turn, unless a newer one was left there. Gives the event of
    /// the older of two, of which nothing more is to be done.
    ///
    /// # Errors
    /// The revision, when the message is not in flight.
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
        // Told twice, it is not done: after a crash nobody else would know of it.
        Ok(replaced.filter(|earlier| *earlier != event))
    }

    /// Stops what is being answered in a conversation; says whether anything is.
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

    /// Says that a message was stopped before anything of its answer was there: where it was told twice, it is not answered
    /// after all.
    pub fn stopped(&self, event: &EventId) {
        if let Some(mut entry) = self.messages.get_mut(event) {
            entry.is_stopped = true;
        }
    }

    /// Takes back all that whoever gives a command asked before it and is not answered yet; says in which conversations.
    pub fn take_back(&self, command: &IncomingMessage) -> HashSet<ConversationId> {
        let people = command.accounts();
        let mut conversations = HashSet::new();
        for mut entry in self.messages.iter_mut() {
            if people.contains(&entry.author) && entry.was_asked_before(command) {
                entry.is_taken_back = true;
                if let Some(running) = &entry.running {
                    running.raise(Interruption::Superseded);
                }
                conversations.insert(entry.conversation.clone());
            }
        }
        conversations
    }

    /// Lets go of a message, unless something was revised that nobody has seen yet.
    pub fn let_go(&self, event: &EventId) -> Option<Box<Revision>> {
        // One look: what is revised between two of them would go with the entry.
        let dashmap::Entry::Occupied(mut occupied) = self.messages.entry(event.clone()) else {
            return None;
        };
        let entry = occupied.get_mut();
        if let Some(revision) = entry.revision.take() {
            return Some(revision);
        }
        entry.deliveries -= 1;
        entry.running = None;
        if entry.deliveries == 0 {
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
    use proptest::prelude::*;

    use super::*;
    use crate::conversation::to_bot::Unheard;

    /// What is said of the message `q` so many seconds after it was sent.
    fn revision(event: &str, seconds: i64, body: impl FnOnce(EventId) -> Body) -> Box<Revision> {
        let of = crate::testing::message("q");
        let message = IncomingMessage {
            body: body(of.event),
            sent_at: DateTime::UNIX_EPOCH + TimeDelta::seconds(seconds),
            ..crate::testing::message(event)
        };
        Box::new(Revision {
            message,
            reply: Box::new(Unheard),
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

    proptest! {
        /// What a process that is gone left is told in any order, some of it twice, and some of it when what came before
        /// is followed already.
        #[test]
        fn the_newest_edit_is_followed_and_nothing_after_a_deletion(
            told in prop::collection::vec((0_i64..5, any::<bool>()), 1..8),
            deleted in prop::option::of(0_usize..8),
        ) {
            let (in_flight, of) = (InFlight::default(), EventId::new("q"));
            in_flight.take(&crate::testing::message("q"));
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
