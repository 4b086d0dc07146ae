//! The messages that are being answered, so that edits, deletions and stops reach the running turn.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use dashmap::DashMap;
use muninn_platform::{Body, ConversationId, EventId, IncomingMessage, Reply};

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
    /// Stable id of the person.
    author: String,
    /// As [`IncomingMessage::received_at`].
    received_at: DateTime<Utc>,
    /// How often it was delivered and is still worked on.
    deliveries: usize,
    /// None as long as it waits for its turn.
    running: Option<Interrupt>,
    revision: Option<Box<Revision>>,
    is_taken_back: bool,
    is_stopped: bool,
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
            author: message.author.id.clone(),
            received_at: message.received_at,
            deliveries: 0,
            running: None,
            revision: None,
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

    /// Leaves a revision with the message and interrupts its turn. Gives the revision back where the
    /// message is not in flight, and otherwise an earlier one that this one replaces.
    ///
    /// # Errors
    /// When the message is not in flight.
    pub fn revise(
        &self,
        of: &EventId,
        revision: Box<Revision>,
    ) -> Result<Option<Box<Revision>>, Box<Revision>> {
        let Some(mut entry) = self.messages.get_mut(of) else {
            return Err(revision);
        };
        entry.is_taken_back |= revision.is_deletion();
        let replaced = entry.revision.replace(revision);
        if let Some(running) = &entry.running {
            running.raise(Interruption::Superseded);
        }
        Ok(replaced)
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

    /// Takes back all that some people asked until a moment and is not answered yet; says in which conversations.
    pub fn take_back(&self, people: &[String], until: DateTime<Utc>) -> HashSet<ConversationId> {
        let mut conversations = HashSet::new();
        for mut entry in self.messages.iter_mut() {
            if people.contains(&entry.author) && entry.received_at <= until {
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
