//! What the parts of a running adapter share.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use matrix_sdk::ruma::{EventId, OwnedEventId, OwnedRoomId, OwnedUserId, RoomId, UserId};
use matrix_sdk::{Client, Room};
use muninn_platform::{AudienceId, ConversationId, Language, Recent};
use parking_lot::{Mutex, MutexGuard};
use tokio_util::task::TaskTracker;

use crate::allow::is_let_in;
use crate::event::{Event, EventKind};
use crate::intent::Known;
use crate::opaque::Opaque;
use crate::options::Options;
use crate::outbox::Outbox;
use crate::position::{KnownEdit, Position};
use crate::upgrade::Replaced;
use crate::{ids, upgrade};

/// Events that are remembered; what is older is asked of the homeserver.
const REMEMBERED: usize = 4_096;

/// Edits that are remembered, also by the next process.
const REMEMBERED_EDITS: usize = 500;

pub(crate) struct Hub {
    pub(crate) client: Opaque<Client>,
    pub(crate) me: OwnedUserId,
    pub(crate) options: Options,
    pub(crate) outbox: Outbox,
    /// What is still to be done for replies that were given up.
    pub(crate) chores: TaskTracker,
    memory: Mutex<Memory>,
}

struct Memory {
    /// Messages, with their rooms, authors and threads.
    messages: Recent<OwnedEventId, (OwnedRoomId, Known)>,
    /// The last edits by others than the bot.
    edits: VecDeque<KnownEdit>,
    /// The last edits by the bot.
    own_edits: VecDeque<KnownEdit>,
    /// Rooms that took the place of others.
    replaced: BTreeMap<OwnedRoomId, Replaced>,
    /// Rooms that the bot tried to follow another one to.
    followed: HashSet<OwnedRoomId>,
    /// Questions and the conversations they belong to.
    conversations: Recent<OwnedEventId, ConversationId>,
    reactions: Recent<OwnedEventId, ()>,
    /// By the question, and by the answer as soon as there is one.
    under_way: HashMap<OwnedEventId, ConversationId>,
    /// How many replies are being worked on in a room.
    working: HashMap<OwnedRoomId, usize>,
}

impl Hub {
    pub(crate) fn new(
        client: Client,
        me: &UserId,
        options: Options,
        position: &Position,
    ) -> Arc<Self> {
        Arc::new(Self {
            client: Opaque::new(client),
            me: me.to_owned(),
            options,
            outbox: Outbox::default(),
            chores: TaskTracker::new(),
            memory: Mutex::new(Memory {
                messages: Recent::new(REMEMBERED),
                edits: position.edits.clone(),
                own_edits: VecDeque::new(),
                replaced: position.replaced.clone(),
                followed: HashSet::new(),
                conversations: Recent::new(REMEMBERED),
                reactions: Recent::new(REMEMBERED),
                under_way: HashMap::new(),
                working: HashMap::new(),
            }),
        })
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock()
    }

    /// Remembers what later events refer to.
    pub(crate) fn saw(&self, room: &RoomId, event: &Event) {
        match &event.what {
            EventKind::Message(message) => {
                let known = Known {
                    sender: event.sender.clone(),
                    thread: message.relates.thread.clone(),
                };
                self.memory()
                    .messages
                    .insert(event.id.clone(), (room.to_owned(), known));
            }
            EventKind::Reaction { .. } => self.memory().reactions.insert(event.id.clone(), ()),
            EventKind::Edit { of, .. } => self.saw_edit(&event.sender, &event.id, of),
            EventKind::Redaction { .. }
            | EventKind::Undecryptable(_)
            | EventKind::Membership { .. }
            | EventKind::Other => {}
        }
    }

    fn saw_edit(&self, sender: &UserId, edit: &OwnedEventId, of: &OwnedEventId) {
        let mut memory = self.memory();
        let edits = if sender == self.me {
            &mut memory.own_edits
        } else {
            &mut memory.edits
        };
        if edits.iter().any(|known| known.edit == *edit) {
            return;
        }
        edits.push_back(KnownEdit {
            edit: edit.clone(),
            of: of.clone(),
        });
        if edits.len() > REMEMBERED_EDITS {
            edits.pop_front();
        }
    }

    /// What the next process has to know of edits.
    pub(crate) fn edits(&self) -> VecDeque<KnownEdit> {
        self.memory().edits.clone()
    }

    /// What an edit changed, also where it was redacted meanwhile.
    pub(crate) fn edited_by(&self, edit: &EventId) -> Option<OwnedEventId> {
        let memory = self.memory();
        let mut edits = memory.edits.iter().chain(&memory.own_edits);
        let found = edits.find(|known| known.edit == edit);
        found.map(|known| known.of.clone())
    }

    /// The edits of one of the bot's messages, as far as this process made them.
    pub(crate) fn own_edits_of(&self, message: &EventId) -> Vec<OwnedEventId> {
        let memory = self.memory();
        let edits = memory.own_edits.iter();
        edits
            .filter(|known| known.of == message)
            .map(|known| known.edit.clone())
            .collect()
    }

    /// From now on a room stands for the one whose place it took.
    pub(crate) fn takes_place(&self, room: OwnedRoomId, replaced: Replaced) {
        self.memory().replaced.insert(room, replaced);
    }

    /// Whether this is the first time that a room is followed to this one.
    pub(crate) fn begins_to_follow(&self, room: &RoomId) -> bool {
        self.memory().followed.insert(room.to_owned())
    }

    /// The audience of a room: that of the room whose place it took, where it has the same members.
    pub(crate) fn audience_of(&self, room: &RoomId) -> AudienceId {
        ids::audience(upgrade::audience(&self.memory().replaced, room))
    }

    /// In which language everybody in a room is told something: Matrix tells nobody's own.
    pub(crate) fn language(&self, room: &RoomId) -> Language {
        let audience = self.audience_of(room);
        self.options.channels.language(&audience, None)
    }

    /// Whether what this person says in this room is answered. A room that took the place of another
    /// is allowed with that.
    pub(crate) fn serves(&self, person: &UserId, room: &RoomId) -> bool {
        let memory = self.memory();
        upgrade::line(&memory.replaced, room)
            .any(|room| is_let_in(&self.options.allow, person, room))
    }

    /// Whether a message is known to be of another room.
    pub(crate) fn is_elsewhere(&self, room: &RoomId, id: &OwnedEventId) -> bool {
        let memory = self.memory();
        let known = memory.messages.get(id);
        known.is_some_and(|(of, _)| of != room)
    }

    pub(crate) fn is_reaction(&self, id: &OwnedEventId) -> bool {
        self.memory().reactions.get(id).is_some()
    }

    pub(crate) fn is_message(&self, id: &OwnedEventId) -> bool {
        self.memory().messages.get(id).is_some()
    }

    /// What is known of a message, asked of the homeserver if need be. None where it gives nothing.
    pub(crate) async fn message(&self, room: &Room, id: &OwnedEventId) -> Option<Known> {
        if let Some((of, known)) = self.memory().messages.get(id) {
            // Anybody can name an event of another room.
            return (of == room.room_id()).then(|| known.clone());
        }
        let event = room.event(id, None).await.ok()?;
        let event = Event::read(event.raw().json().get())?;
        self.saw(room.room_id(), &event);
        let memory = self.memory();
        memory.messages.get(id).map(|(_, known)| known.clone())
    }

    /// Who wrote a message, also where it was redacted meanwhile.
    pub(crate) async fn sender_of(&self, room: &Room, id: &OwnedEventId) -> Option<OwnedUserId> {
        if let Some((of, known)) = self.memory().messages.get(id) {
            return (of == room.room_id()).then(|| known.sender.clone());
        }
        let event = room.event(id, None).await.ok()?;
        Some(Event::read(event.raw().json().get())?.sender)
    }

    pub(crate) fn remember_conversation(&self, question: OwnedEventId, of: ConversationId) {
        self.memory().conversations.insert(question, of);
    }

    pub(crate) fn conversation_of(
        &self,
        room: &RoomId,
        question: &OwnedEventId,
    ) -> Option<ConversationId> {
        let memory = self.memory();
        let known = memory.conversations.get(question).cloned();
        known.filter(|conversation| ids::is_in(conversation, room))
    }

    /// From now on a stop at this event stops that conversation.
    pub(crate) fn is_under_way(&self, event: OwnedEventId, conversation: ConversationId) {
        self.memory().under_way.insert(event, conversation);
    }

    pub(crate) fn is_over(&self, event: &OwnedEventId) {
        self.memory().under_way.remove(event);
    }

    /// The conversation that a stop at this event stops, given in this room.
    pub(crate) fn under_way(&self, room: &RoomId, event: &OwnedEventId) -> Option<ConversationId> {
        let known = self.memory().under_way.get(event).cloned();
        known.filter(|conversation| ids::is_in(conversation, room))
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
