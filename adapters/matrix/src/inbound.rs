//! Delivers a room's events to the bot.

use std::sync::Arc;

use async_trait::async_trait;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use matrix_sdk::Room;
use matrix_sdk::ruma::OwnedEventId;
use muninn_platform::{
    Addressed, Addressees, Body, Command, ConversationId, EventId, Feedback, Inbox, InboxClosed,
    Incoming, IncomingMessage, MessageId, Readdress, Reply, Request, clamp_platform_time,
};

use crate::content::Relation;
use crate::event::{MatrixEvent, MatrixEventKind, MatrixFile, MatrixMessage};
use crate::hub::MatrixHub;
use crate::intent::{
    AnswerPlacement, EventIntent, MatrixEventContext, decision, intent, overheard, toward,
};
use crate::opaque::Opaque;
use crate::options::Threads;
use crate::reply::{MatrixReplyTarget, reply};
use crate::{attachment, ids, rooms};

/// Delivers events of rooms to the bot.
#[derive(Clone)]
pub(crate) struct MatrixEventHandler {
    pub(crate) hub: Arc<MatrixHub>,
    pub(crate) inbox: Inbox,
}

/// An event and its room.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    pub(crate) room: &'a Room,
    pub(crate) event: &'a MatrixEvent,
    /// An earlier process may have delivered it already.
    pub(crate) is_late: bool,
}

impl MatrixEventHandler {
    /// Delivers an event, if it is relevant, and waits until the bot has it. `is_late`: an earlier
    /// process may have delivered it already.
    pub(crate) async fn take(
        &self,
        room: &Room,
        event: &MatrixEvent,
        is_late: bool,
    ) -> Result<(), InboxClosed> {
        self.hub.record_event(room.room_id(), event);
        if event.sender == self.hub.me {
            return Ok(());
        }
        let event = match self.redaction_as_edit(room, event).await {
            Some(edit) => edit,
            None => self.without_foreign_thread(room, event.clone()),
        };
        if self.hold_edit(room, &event, false).await {
            return Ok(());
        }
        self.take_as(room, &event, is_late).await
    }

    /// Like [`MatrixEventHandler::take`], for what an event of somebody else means.
    pub(crate) async fn take_as(
        &self,
        room: &Room,
        event: &MatrixEvent,
        is_late: bool,
    ) -> Result<(), InboxClosed> {
        let facts = self.facts(room, event).await;
        let at = At {
            room,
            event,
            is_late,
        };
        let told = match intent(event, &facts) {
            EventIntent::Nothing(why) => {
                let is_message = matches!(event.what, MatrixEventKind::Message(_));
                if is_message && why.is_worth_telling() {
                    let allow = &self.hub.options.allow;
                    allow.note_not_answered(room.room_id(), &event.sender);
                }
                return Ok(());
            }
            EventIntent::Stop { at } => {
                match self.hub.conversation_in_flight(room.room_id(), &at) {
                    Some(conversation) => Incoming::Stop(conversation),
                    None => return Ok(()),
                }
            }
            EventIntent::Opinion { answer, opinion } => Incoming::Feedback {
                audience: self.hub.audience_of(room.room_id()),
                feedback: Feedback::Given {
                    event: ids::event(room.room_id(), &event.id),
                    answer: MessageId::new(answer.as_str()),
                    person: rooms::author(room, &event.sender).await.id,
                    opinion,
                },
            },
            EventIntent::Decided { at: asked, is_yes } => self.decided(at, asked, is_yes).await,
            EventIntent::Deleted { of } => return self.deleted(at, of).await,
            EventIntent::Edited {
                of,
                addressed,
                text,
                file,
            } => {
                if self.newly_mentioned(room, event, is_late).await? {
                    return Ok(());
                }
                self.edited(at, of, addressed, (text, file)).await
            }
            EventIntent::Said {
                addressed,
                said,
                file,
                place,
            } => {
                let told = self.said(at, addressed, said, file, &place).await;
                with_toward(told, toward(event, &facts))
            }
        };
        self.inbox.deliver(told).await
    }

    /// Delivers a message to others from before the bot listened, or too old to be answered.
    /// Returns false if it was not said to others, or is not a person's message.
    pub(crate) async fn deliver_earlier_message(
        &self,
        room: &Room,
        event: MatrixEvent,
    ) -> Result<bool, InboxClosed> {
        if !self.inbox.hears(&self.hub.audience_of(room.room_id())) {
            return Ok(false);
        }
        let event = &self.without_foreign_thread(room, event);
        let facts = self.facts(room, event).await;
        let at = At {
            room,
            event,
            is_late: true,
        };
        let told = match overheard(event, &facts).unwrap_or_else(|| intent(event, &facts)) {
            EventIntent::Said {
                addressed: addressed @ Addressed::Overheard,
                said,
                file,
                place,
            } => self.said(at, addressed, said, file, &place).await,
            // For heard messages only; a question is not answered again.
            EventIntent::Edited { of, text, file, .. } => {
                self.edited(at, of, Addressed::Overheard, (text, file))
                    .await
            }
            EventIntent::Said { .. }
            | EventIntent::Deleted { .. }
            | EventIntent::Opinion { .. }
            | EventIntent::Stop { .. }
            | EventIntent::Decided { .. }
            | EventIntent::Nothing(_) => return Ok(false),
        };
        self.inbox.deliver(told).await.map(|()| true)
    }

    /// Delivers an edit that is too old for its message to be answered as a new one, if it adds the
    /// mention. What was answered gets its answer edited.
    pub(crate) async fn deliver_old_edit(
        &self,
        room: &Room,
        event: MatrixEvent,
    ) -> Result<(), InboxClosed> {
        let facts = self.facts(room, &event).await;
        let EventIntent::Edited { of, text, file, .. } = intent(&event, &facts) else {
            return Ok(());
        };
        let at = At {
            room,
            event: &event,
            is_late: true,
        };
        let told = self.edited(at, of, Addressed::InConversation, (text, file));
        let told = told.await;
        self.inbox.deliver(told).await
    }

    /// Removes a thread of another room, which anybody can refer to.
    pub(crate) fn without_foreign_thread(
        &self,
        room: &Room,
        mut event: MatrixEvent,
    ) -> MatrixEvent {
        if let MatrixEventKind::Message(message) = &mut event.what {
            let is_elsewhere = |root: &mut _| self.hub.is_elsewhere(room.room_id(), root);
            message.relates.thread.take_if(is_elsewhere);
        }
        event
    }

    pub(crate) async fn facts(&self, room: &Room, event: &MatrixEvent) -> MatrixEventContext {
        let MatrixHub { me, options, .. } = &*self.hub;
        let refers_to = match &event.what {
            MatrixEventKind::Message(MatrixMessage { relates, .. }) => relates.reply_to.as_ref(),
            MatrixEventKind::Edit { of, .. } => Some(of),
            MatrixEventKind::Reaction { to, key } => decision(key).map(|_| to),
            MatrixEventKind::Redaction { .. }
            | MatrixEventKind::Undecryptable(_)
            | MatrixEventKind::Membership { .. }
            | MatrixEventKind::Other => None,
        };
        MatrixEventContext {
            me: me.clone(),
            my_name: rooms::name_of(room, me).await,
            is_direct: rooms::is_direct(&self.hub, room).await,
            is_allowed: self.hub.serves(&event.sender, room.room_id()),
            is_heard: self.inbox.hears(&self.hub.audience_of(room.room_id())),
            refers_to: match refers_to {
                Some(id) => self.hub.message(room, id).await,
                None => None,
            },
            threads: options.threads,
            command_prefix: options.command_prefix.clone(),
        }
    }

    pub(crate) async fn said(
        &self,
        at: At<'_>,
        addressed: Addressed,
        said: Request,
        file: Option<MatrixFile>,
        place: &AnswerPlacement,
    ) -> Incoming {
        let At { room, event, .. } = at;
        let conversation = ids::conversation(room.room_id(), place.thread.as_deref());
        self.hub
            .conversations
            .insert(event.id.clone(), conversation.clone());
        let relation = relation(place, &event.id);
        let (message, reply) = self.message(at, conversation, said.into(), relation).await;
        let attachment = file.map(|file| attachment::of(&event.id, file));
        let message = IncomingMessage {
            addressed,
            attachments: attachment.into_iter().collect(),
            ..message
        };
        match addressed {
            Addressed::Overheard => Incoming::Overheard(message),
            Addressed::Directly | Addressed::InConversation => Incoming::Message { message, reply },
        }
    }

    pub(crate) async fn edited(
        &self,
        at: At<'_>,
        of: OwnedEventId,
        addressed: Addressed,
        (text, file): (String, Option<MatrixFile>),
    ) -> Incoming {
        let room = at.room.room_id();
        let place = self.place_of(at.room, &of).await;
        let known = self.hub.conversation_of(room, &of);
        let conversation =
            known.unwrap_or_else(|| ids::conversation(room, place.thread.as_deref()));
        let relation = relation(&place, &of);
        let of = ids::event(room, &of);
        let body = Body::Edit { of, text };
        let (message, reply) = self.message(at, conversation, body, relation).await;
        let attachment = file.map(|file| attachment::of(&at.event.id, file));
        let message = IncomingMessage {
            addressed,
            attachments: attachment.into_iter().collect(),
            ..message
        };
        Incoming::Message { message, reply }
    }

    /// Delivers a yes or no below a message of the bot, in the place of that message.
    async fn decided(&self, at: At<'_>, asked: OwnedEventId, is_yes: bool) -> Incoming {
        let room = at.room.room_id();
        let place = self.place_of(at.room, &asked).await;
        let conversation = ids::conversation(room, place.thread.as_deref());
        let relation = relation(&place, &asked);
        let asked = MessageId::new(asked.as_str());
        let body = Body::Command(Command::Decide { asked, is_yes });
        let (message, reply) = self.message(at, conversation, body, relation).await;
        Incoming::Message { message, reply }
    }

    /// Returns the place of the answer to a question that is not remembered.
    async fn place_of(&self, room: &Room, question: &OwnedEventId) -> AnswerPlacement {
        let is_direct = rooms::is_direct(&self.hub, room).await;
        let known = self.hub.message(room, question).await;
        let thread = known.and_then(|known| known.thread);
        let thread = match (self.hub.options.threads, thread) {
            (Threads::Never, _) => None,
            (Threads::Always | Threads::Follow, Some(thread)) => Some(thread),
            (Threads::Always, None) if !is_direct => Some(question.clone()),
            (Threads::Always | Threads::Follow, None) => None,
        };
        AnswerPlacement {
            is_reply: thread.is_none() && !is_direct,
            thread,
        }
    }

    /// A redaction does not say what it redacts; if that is not remembered, both possibilities are
    /// delivered.
    async fn deleted(&self, at: At<'_>, of: OwnedEventId) -> Result<(), InboxClosed> {
        let room = at.room.room_id();
        // Redacting an edit of an answer means the answer. The edits of others only change the text.
        let of = self.hub.edited_by_bot(&of).unwrap_or(of);
        let id = ids::event(room, &of);
        if !self.hub.messages.has(&of) {
            let withdrawn = Incoming::Feedback {
                audience: self.hub.audience_of(room),
                feedback: Feedback::Withdrawn { event: id.clone() },
            };
            self.inbox.deliver(withdrawn).await?;
        }
        if self.hub.reactions.has(&of) {
            return Ok(());
        }
        let known = self.hub.conversation_of(room, &of);
        let conversation = known.unwrap_or_else(|| ids::conversation(room, None));
        let body = Body::Deletion { of: id };
        let (message, reply) = self.message(at, conversation, body, Relation::None).await;
        let message = IncomingMessage {
            addressed: Addressed::InConversation,
            ..message
        };
        self.inbox
            .deliver(Incoming::Message { message, reply })
            .await
    }

    /// Builds a message to the bot, and the reply for its answer.
    async fn message(
        &self,
        at: At<'_>,
        conversation: ConversationId,
        body: Body,
        relation: Relation,
    ) -> (IncomingMessage, Box<dyn Reply>) {
        let At {
            room,
            event,
            is_late,
        } = at;
        let message = IncomingMessage {
            reply_to: reply_to(room, event),
            link: Some(rooms::link(room.room_id(), &event.id, &event.sender)),
            sent_at: clamp_platform_time(event.sent_at),
            ..IncomingMessage::new(
                ids::event(room.room_id(), &event.id),
                conversation.clone(),
                rooms::audience(&self.hub, room).await,
                rooms::author(room, &event.sender).await,
                body,
            )
        };
        let message = if rooms::is_said_alone(&self.hub, room, &event.sender).await {
            message.said_alone()
        } else {
            message
        };
        let target = MatrixReplyTarget {
            room: Opaque::new(room.clone()),
            question: event.id.clone(),
            asker: event.sender.clone(),
            may_be_repetition: is_late,
            conversation,
            relation,
        };
        (message, Box::new(reply(Arc::clone(&self.hub), target)))
    }
}

impl MatrixEventHandler {
    fn reply_to_again<'a>(
        &'a self,
        message: &'a IncomingMessage,
    ) -> BoxFuture<'a, Option<Box<dyn Reply>>> {
        async move {
            let (id, question) = ids::parse(message.event.as_str())?;
            let (_, thread) = ids::parse(message.conversation.as_str())?;
            let room = self.hub.client.get_room(&id)?;
            let question = question?;
            let answers = match &message.body {
                Body::Edit { of, .. } | Body::Deletion { of } => ids::parse(of.as_str())?.1?,
                Body::Text(_) | Body::Command(_) => question.clone(),
            };
            let place = AnswerPlacement {
                is_reply: thread.is_none() && !rooms::is_direct(&self.hub, &room).await,
                thread,
            };
            let conversation = message.conversation.clone();
            self.hub
                .conversations
                .insert(question.clone(), conversation.clone());
            let target = MatrixReplyTarget {
                room: Opaque::new(room),
                question,
                asker: ids::person(&message.author.id)?,
                may_be_repetition: true,
                conversation,
                relation: relation(&place, &answers),
            };
            let reply: Box<dyn Reply> = Box::new(reply(Arc::clone(&self.hub), target));
            Some(reply)
        }
        .boxed()
    }
}

#[async_trait]
impl Readdress for MatrixEventHandler {
    async fn reply_again(&self, message: &IncomingMessage) -> Option<Box<dyn Reply>> {
        self.reply_to_again(message).await
    }
}

/// Adds to whom the message is addressed.
fn with_toward(told: Incoming, toward: Addressees) -> Incoming {
    match told {
        Incoming::Message { message, reply } => Incoming::Message {
            message: IncomingMessage { toward, ..message },
            reply,
        },
        Incoming::Overheard(message) => Incoming::Overheard(IncomingMessage { toward, ..message }),
        other => other,
    }
}

/// Returns the message that another one replies to.
fn reply_to(room: &Room, event: &MatrixEvent) -> Option<EventId> {
    let MatrixEventKind::Message(message) = &event.what else {
        return None;
    };
    let answered = message.relates.reply_to.as_ref()?;
    Some(ids::event(room.room_id(), answered))
}

fn relation(place: &AnswerPlacement, answers: &OwnedEventId) -> Relation {
    match &place.thread {
        Some(root) => Relation::Thread {
            root: root.clone(),
            answers: answers.clone(),
        },
        None if place.is_reply => Relation::Reply(answers.clone()),
        None => Relation::None,
    }
}
