//! State shared by the parts of a running adapter.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use matrix_sdk::ruma::{EventId, OwnedEventId, OwnedRoomId, OwnedUserId, RoomId, UserId};
use matrix_sdk::{Client, Room};
use muninn_platform::{AudienceId, ConversationId, Language, SharedRecent};
use parking_lot::{Mutex, MutexGuard};
use tokio_util::task::TaskTracker;

use crate::allow::is_let_in;
use crate::event::{MatrixEvent, MatrixEventKind};
use crate::intent::EarlierMessage;
use crate::lineage::Replaced;
use crate::member_lists::MemberLists;
use crate::opaque::Opaque;
use crate::options::MatrixOptions;
use crate::outbox::{MatrixOutbox, SendError};
use crate::position::{HeldChange, KnownEdit, Position};
use crate::{ids, lineage};

/// Number of remembered events; the homeserver is asked about older ones.
const REMEMBERED: usize = 4_096;

/// Number of remembered edits, which are kept for the next process.
const REMEMBERED_EDITS: usize = 500;

/// Maximum number of held changes; beyond it the oldest is dropped.
const MOST_HELD: usize = 500;

pub(crate) struct MatrixHub {
    pub(crate) client: Opaque<Client>,
    pub(crate) me: OwnedUserId,
    pub(crate) options: MatrixOptions,
    pub(crate) outbox: MatrixOutbox,
    /// Background tasks for replies that were given up.
    pub(crate) chores: TaskTracker,
    /// Messages, with their rooms, authors and threads.
    pub(crate) messages: SharedRecent<OwnedEventId, (OwnedRoomId, EarlierMessage)>,
    /// Questions and their conversations.
    pub(crate) conversations: SharedRecent<OwnedEventId, ConversationId>,
    pub(crate) reactions: SharedRecent<OwnedEventId, ()>,
    pub(crate) member_lists: Mutex<MemberLists>,
    memory: Mutex<MatrixHubState>,
}

struct MatrixHubState {
    /// The latest edits by others than the bot.
    edits: VecDeque<KnownEdit>,
    /// The latest edits by the bot.
    own_edits: VecDeque<KnownEdit>,
    /// Edits, and redactions of them, whose messages the homeserver does not give now.
    held: VecDeque<HeldChange>,
    /// Rooms that replaced others.
    replaced: BTreeMap<OwnedRoomId, Replaced>,
    /// Rooms that the bot tried to join as successors.
    followed: HashSet<OwnedRoomId>,
    /// By question, and by answer as soon as there is one.
    under_way: HashMap<OwnedEventId, ConversationId>,
    /// Number of replies in progress per room.
    working: HashMap<OwnedRoomId, usize>,
}

impl MatrixHub {
    pub(crate) fn new(
        client: Client,
        me: &UserId,
        options: MatrixOptions,
        position: &Position,
    ) -> Arc<Self> {
        Arc::new(Self {
            client: Opaque::new(client),
            me: me.to_owned(),
            options,
            outbox: MatrixOutbox::default(),
            chores: TaskTracker::new(),
            messages: SharedRecent::new(REMEMBERED),
            conversations: SharedRecent::new(REMEMBERED),
            reactions: SharedRecent::new(REMEMBERED),
            member_lists: Mutex::default(),
            memory: Mutex::new(MatrixHubState {
                edits: position.edits.clone(),
                own_edits: VecDeque::new(),
                held: position.held.clone(),
                replaced: position.replaced.clone(),
                followed: HashSet::new(),
                under_way: HashMap::new(),
                working: HashMap::new(),
            }),
        })
    }

    fn memory(&self) -> MutexGuard<'_, MatrixHubState> {
        self.memory.lock()
    }

    /// Remembers what later events refer to.
    pub(crate) fn record_event(&self, room: &RoomId, event: &MatrixEvent) {
        match &event.what {
            MatrixEventKind::Message(message) => {
                let known = EarlierMessage {
                    sender: event.sender.clone(),
                    thread: message.relates.thread.clone(),
                };
                self.messages
                    .insert(event.id.clone(), (room.to_owned(), known));
            }
            MatrixEventKind::Reaction { .. } => {
                self.reactions.insert(event.id.clone(), ());
            }
            MatrixEventKind::Edit { of, .. } => self.saw_edit(&event.sender, &event.id, of),
            MatrixEventKind::Redaction { .. }
            | MatrixEventKind::Undecryptable(_)
            | MatrixEventKind::Membership { .. }
            | MatrixEventKind::Other => {}
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

    /// Returns the edits that the next process has to know.
    pub(crate) fn edits(&self) -> VecDeque<KnownEdit> {
        self.memory().edits.clone()
    }

    /// Holds a change until the homeserver gives its message, also in the next process.
    pub(crate) fn hold_change(&self, change: HeldChange) {
        let mut memory = self.memory();
        let held = &mut memory.held;
        held.retain(|known| known.event != change.event);
        held.push_back(change);
        if held.len() > MOST_HELD {
            held.pop_front();
        }
    }

    pub(crate) fn release_change(&self, event: &EventId) {
        self.memory().held.retain(|known| known.event != event);
    }

    pub(crate) fn held_changes(&self) -> VecDeque<HeldChange> {
        self.memory().held.clone()
    }

    /// Returns the message that an edit by somebody else than the bot changed, also if the edit was
    /// redacted meanwhile.
    pub(crate) fn edited_by_others(&self, edit: &EventId) -> Option<OwnedEventId> {
        changed_by(&self.memory().edits, edit)
    }

    /// Returns the message that an edit by the bot changed, also if the edit was redacted meanwhile.
    pub(crate) fn edited_by_bot(&self, edit: &EventId) -> Option<OwnedEventId> {
        changed_by(&self.memory().own_edits, edit)
    }

    /// Returns the edits of one of the bot's messages, as far as this process made them.
    pub(crate) fn own_edits_of(&self, message: &EventId) -> Vec<OwnedEventId> {
        let memory = self.memory();
        let edits = memory.own_edits.iter();
        edits
            .filter(|known| known.of == message)
            .map(|known| known.edit.clone())
            .collect()
    }

    /// Records that a room replaces another one.
    pub(crate) fn record_replacement(&self, room: OwnedRoomId, replaced: Replaced) {
        self.memory().replaced.insert(room, replaced);
    }

    /// Whether this is the first attempt to follow to this room.
    pub(crate) fn begins_to_follow(&self, room: &RoomId) -> bool {
        self.memory().followed.insert(room.to_owned())
    }

    /// Returns the audience of a room: that of the room it replaced, if it has the same members.
    pub(crate) fn audience_of(&self, room: &RoomId) -> AudienceId {
        ids::audience(lineage::audience(&self.memory().replaced, room))
    }

    /// Returns the language for everybody in a room; Matrix does not tell a person's language.
    pub(crate) fn language(&self, room: &RoomId) -> Language {
        let audience = self.audience_of(room);
        self.options.channels.language(&audience, None)
    }

    /// Whether messages of this person in this room are answered. A successor room is allowed if
    /// its predecessor is.
    pub(crate) fn serves(&self, person: &UserId, room: &RoomId) -> bool {
        let memory = self.memory();
        lineage::room_lineage(&memory.replaced, room)
            .any(|room| is_let_in(&self.options.allow, person, room))
    }

    /// Whether a message is known to be in another room.
    pub(crate) fn is_elsewhere(&self, room: &RoomId, id: &OwnedEventId) -> bool {
        let known = self.messages.get(id);
        known.is_some_and(|(of, _)| of != room)
    }

    /// Returns an event, asking until the homeserver answers. `None` if it does not give it.
    ///
    /// # Errors
    /// Fails when the homeserver does not answer for a while.
    pub(crate) fn event<'a>(
        &'a self,
        room: &'a Room,
        id: &'a OwnedEventId,
    ) -> BoxFuture<'a, Result<Option<MatrixEvent>, SendError>> {
        async move {
            match self.outbox.retry(|| room.event(id, None)).await {
                Ok(event) => Ok(MatrixEvent::read(event.raw().json().get())),
                Err(SendError::Refused(_)) => Ok(None),
                Err(error) => Err(error),
            }
        }
        .boxed()
    }

    /// Returns what is known of a message, asking the homeserver if necessary. `None` if it does
    /// not give it, or does not answer for a while.
    pub(crate) async fn message(&self, room: &Room, id: &OwnedEventId) -> Option<EarlierMessage> {
        match self.message_or_away(room, id).await {
            Ok(known) => known,
            Err(error) => {
                tracing::warn!(room = %room.room_id(), event = %id, %error, "an earlier message is not given");
                None
            }
        }
    }

    /// Like [`MatrixHub::message`].
    ///
    /// # Errors
    /// Fails when the homeserver does not answer for a while.
    pub(crate) async fn message_or_away(
        &self,
        room: &Room,
        id: &OwnedEventId,
    ) -> Result<Option<EarlierMessage>, SendError> {
        if let Some((of, known)) = self.messages.get(id) {
            // Anybody can refer to an event of another room.
            return Ok((of == room.room_id()).then_some(known));
        }
        let Some(event) = self.event(room, id).await? else {
            return Ok(None);
        };
        self.record_event(room.room_id(), &event);
        Ok(self.messages.get(id).map(|(_, known)| known))
    }

    /// Returns the author of a message, also if it was redacted meanwhile. `None` if the homeserver
    /// does not give it.
    ///
    /// # Errors
    /// Fails when the homeserver does not answer for a while.
    pub(crate) async fn sender_of(
        &self,
        room: &Room,
        id: &OwnedEventId,
    ) -> Result<Option<OwnedUserId>, SendError> {
        if let Some((of, known)) = self.messages.get(id) {
            return Ok((of == room.room_id()).then_some(known.sender));
        }
        let event = self.event(room, id).await?;
        Ok(event.map(|event| event.sender))
    }

    pub(crate) fn conversation_of(
        &self,
        room: &RoomId,
        question: &OwnedEventId,
    ) -> Option<ConversationId> {
        let known = self.conversations.get(question);
        known.filter(|conversation| ids::is_in(conversation, room))
    }

    /// Records that a stop at this event stops that conversation.
    pub(crate) fn record_in_flight(&self, event: OwnedEventId, conversation: ConversationId) {
        self.memory().under_way.insert(event, conversation);
    }

    pub(crate) fn remove_in_flight(&self, event: &OwnedEventId) {
        self.memory().under_way.remove(event);
    }

    /// Returns the conversation that a stop at this event in this room stops.
    pub(crate) fn conversation_in_flight(
        &self,
        room: &RoomId,
        event: &OwnedEventId,
    ) -> Option<ConversationId> {
        let known = self.memory().under_way.get(event).cloned();
        known.filter(|conversation| ids::is_in(conversation, room))
    }

    pub(crate) fn begin_work(&self, room: &RoomId) {
        *self.memory().working.entry(room.to_owned()).or_default() += 1;
    }

    /// Ends a reply's work; returns whether it was the last one in the room.
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

/// Returns the message that an edit changed.
fn changed_by(edits: &VecDeque<KnownEdit>, edit: &EventId) -> Option<OwnedEventId> {
    let found = edits.iter().find(|known| known.edit == edit);
    found.map(|known| known.of.clone())
}
