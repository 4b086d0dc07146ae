//! What the parts of a running adapter share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use matrix_sdk::ruma::{OwnedEventId, OwnedRoomId, OwnedUserId, RoomId, UserId};
use matrix_sdk::{Client, Room};
use muninn_platform::{ConversationId, Recent};
use tokio_util::task::TaskTracker;

use crate::event::{Event, What};
use crate::meaning::Known;
use crate::options::Options;
use crate::outbox::Outbox;

/// Events that are remembered; what is older is asked of the homeserver.
const REMEMBERED: usize = 4_096;

pub(crate) struct Hub {
    pub(crate) client: Client,
    pub(crate) me: OwnedUserId,
    pub(crate) options: Options,
    pub(crate) outbox: Outbox,
    /// What is still to be done for replies that were given up.
    pub(crate) chores: TaskTracker,
    memory: Mutex<Memory>,
}

struct Memory {
    /// Messages, with their authors and threads.
    messages: Recent<OwnedEventId, Known>,
    /// Questions and the conversations they belong to.
    conversations: Recent<OwnedEventId, ConversationId>,
    reactions: Recent<OwnedEventId, ()>,
    /// By the question, and by the answer as soon as there is one.
    under_way: HashMap<OwnedEventId, ConversationId>,
    /// How many replies are being worked on in a room.
    working: HashMap<OwnedRoomId, usize>,
}

impl Hub {
    pub(crate) fn new(client: Client, me: &UserId, options: Options) -> Arc<Self> {
        Arc::new(Self {
            client,
            me: me.to_owned(),
            options,
            outbox: Outbox::default(),
            chores: TaskTracker::new(),
            memory: Mutex::new(Memory {
                messages: Recent::new(REMEMBERED),
                conversations: Recent::new(REMEMBERED),
                reactions: Recent::new(REMEMBERED),
                under_way: HashMap::new(),
                working: HashMap::new(),
            }),
        })
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        // Tables of ids: whatever a panic left of them is sound.
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers what later events refer to.
    pub(crate) fn saw(&self, event: &Event) {
        match &event.what {
            What::Message(message) => self.memory().messages.insert(
                event.id.clone(),
                Known {
                    sender: event.sender.clone(),
                    thread: message.relates.thread.clone(),
                },
            ),
            What::Reaction { .. } => self.memory().reactions.insert(event.id.clone(), ()),
            What::Edit { .. }
            | What::Redaction { .. }
            | What::Undecryptable(_)
            | What::Membership { .. }
            | What::Other => {}
        }
    }

    pub(crate) fn is_reaction(&self, id: &OwnedEventId) -> bool {
        self.memory().reactions.get(id).is_some()
    }

    pub(crate) fn is_message(&self, id: &OwnedEventId) -> bool {
        self.memory().messages.get(id).is_some()
    }

    /// What is known of a message, asked of the homeserver if need be. None where it gives nothing.
    pub(crate) async fn message(&self, room: &Room, id: &OwnedEventId) -> Option<Known> {
        if let Some(known) = self.memory().messages.get(id) {
            return Some(known.clone());
        }
        let event = room.event(id, None).await.ok()?;
        let event = Event::read(event.raw().json().get())?;
        self.saw(&event);
        self.memory().messages.get(id).cloned()
    }

    pub(crate) fn remember_conversation(&self, question: OwnedEventId, of: ConversationId) {
        self.memory().conversations.insert(question, of);
    }

    pub(crate) fn conversation_of(&self, question: &OwnedEventId) -> Option<ConversationId> {
        self.memory().conversations.get(question).cloned()
    }

    /// From now on a stop at this event stops that conversation.
    pub(crate) fn is_under_way(&self, event: OwnedEventId, conversation: ConversationId) {
        self.memory().under_way.insert(event, conversation);
    }

    pub(crate) fn is_over(&self, event: &OwnedEventId) {
        self.memory().under_way.remove(event);
    }

    pub(crate) fn under_way(&self, event: &OwnedEventId) -> Option<ConversationId> {
        self.memory().under_way.get(event).cloned()
    }

    pub(crate) fn begin_work(&self, room: &RoomId) {
        *self.memory().working.entry(room.to_owned()).or_default() += 1;
    }

    /// Whether this was the last work in the room.
    pub(crate) fn end_work(&self, room: &RoomId) -> bool {
        let mut memory = self.memory();
        let Some(number) = memory.working.get_mut(room) else {
            return false;
        };
        *number -= 1;
        let is_last = *number == 0;
        if is_last {
            memory.working.remove(room);
        }
        is_last
    }
}
