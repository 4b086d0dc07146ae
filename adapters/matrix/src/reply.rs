//! The messages of one answer in a room.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use matrix_sdk::Room;
use matrix_sdk::ruma::events::reaction::ReactionEventContent;
use matrix_sdk::ruma::events::relation::Annotation;
use matrix_sdk::ruma::{
    EventId, OwnedEventId, OwnedTransactionId, OwnedUserId, TransactionId, UserId,
};
use muninn_platform::{
    AnswerPart, AnswerSink, AnswerStage, Attachment, ConversationId, Delivered, Directly,
    DisplayOutcome, DownloadError, DroppedReplyState, Edited, HandedOver, Language, LiveReply,
    MessageId, NotHandedOver, OwnFile, Pace, PlatformError, PriorMessages, SafeText, ShownItem,
    TextLimit, Withdraw, in_one_line, misconfigured,
};
use muninn_texts::text;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;

use crate::content::{self, Relation};
use crate::errors::{disconnected, is_forbidden};
use crate::event::{MatrixEvent, MatrixEventKind};
use crate::hub::MatrixHub;
use crate::intent::{NO, YES};
use crate::opaque::Opaque;
use crate::outbox::{SendError, TriedSend};
use crate::presence::{TYPING_EVERY, TypingIndicator};
use crate::withdraw::MatrixWithdrawer;
use crate::{attachment, background, handing, ids, login, removal, rooms};

/// Minimum interval of updates: the default limit of a homeserver.
const UPDATE_EVERY: Duration = Duration::from_secs(5);

/// What a reply answers, and where.
pub(crate) struct MatrixReplyTarget {
    pub(crate) room: Opaque<Room>,
    /// The message that is answered; for an edit, the edit.
    pub(crate) question: OwnedEventId,
    /// Who asked.
    pub(crate) asker: OwnedUserId,
    /// An earlier process may have posted the answer already, wholly or in part.
    pub(crate) may_be_repetition: bool,
    pub(crate) conversation: ConversationId,
    pub(crate) relation: Relation,
}

/// Creates the reply for one answer in a room.
pub(crate) fn reply(hub: Arc<MatrixHub>, target: MatrixReplyTarget) -> LiveReply<RoomSink> {
    hub.record_in_flight(target.question.clone(), target.conversation.clone());
    let signs = TypingIndicator::new(&target.room, &target.question, &target.relation);
    let may_be_repetition = target.may_be_repetition;
    let sink = RoomSink {
        hub,
        target,
        may_be_repetition: AtomicBool::new(may_be_repetition),
        may_be_unseen: AtomicBool::new(false),
        signs: Mutex::new(signs),
    };
    LiveReply::new(sink, may_be_repetition)
}

pub(crate) struct RoomSink {
    hub: Arc<MatrixHub>,
    target: MatrixReplyTarget,
    may_be_repetition: AtomicBool,
    /// The homeserver may have taken the first message without confirming it.
    may_be_unseen: AtomicBool,
    signs: Mutex<TypingIndicator>,
}

/// A message in the room.
#[derive(Clone)]
pub(crate) struct MatrixLiveMessage {
    id: OwnedEventId,
    /// `None`: unknown, as it was posted by an earlier process, or as no edit was confirmed.
    text: Option<String>,
}

enum MessageState {
    /// It exists, with this text if it is the one that was sent.
    As(Option<String>),
    Gone,
}

impl RoomSink {
    /// Returns the transaction id: the same for the same part of the same answer, so that the
    /// homeserver recognises a repetition.
    fn transaction(&self, part: usize) -> OwnedTransactionId {
        format!("muninn-{}-{part}", self.target.question).into()
    }

    /// Returns the content of a part, by which it is found again where the transaction id is forgotten.
    fn content(&self, part: usize, text: &SafeText, relation: &Relation) -> Value {
        let content = content::message(text, relation);
        content::of_answer(content, &self.target.question, part)
    }

    /// Returns what an earlier process sent of the answer, by part.
    fn sent_before(&self) -> BoxFuture<'_, Result<Vec<Option<MatrixLiveMessage>>, SendError>> {
        async move {
            let (hub, question) = (&self.hub, &self.target.question);
            let room = &self.target.room;
            let read = |event: &str| sent_part(event, question, &hub.me);
            let asked = || removal::said_after(hub, room, question, read);
            match hub.outbox.retry(asked).await {
                Ok(sent) => Ok(by_part(sent)),
                // What cannot be read cannot be found; transaction ids still protect.
                Err(SendError::Refused(error)) => {
                    tracing::debug!(room = %room.room_id(), %error, "an answer is not looked for");
                    Ok(Vec::new())
                }
                Err(error) => Err(error),
            }
        }
        .boxed()
    }

    /// Whether a refused message may be accepted without a relation.
    fn may_be_unrelated(&self, error: &matrix_sdk::Error) -> bool {
        self.target.relation != Relation::None && !is_forbidden(error)
    }

    fn send<'a>(
        &'a self,
        number: usize,
        text: &'a SafeText,
    ) -> BoxFuture<'a, Result<OwnedEventId, SendError>> {
        async move {
        let content = self.content(number, text, &self.target.relation);
        let (outbox, room) = (&self.hub.outbox, &self.target.room);
        let sent = outbox.send(room, &content, &self.transaction(number)).await;
        match sent {
            Err(SendError::Refused(error)) if self.may_be_unrelated(&error) => {
                tracing::warn!(room = %room.room_id(), %error, "an answer is sent without its place, as the homeserver refuses it there");
                let content = self.content(number, text, &Relation::None);
                let plain = OwnedTransactionId::from(format!("{}-plain", self.transaction(number)));
                outbox.send(room, &content, &plain).await
            }
            sent => sent,
        }
    }.boxed()
    }

    /// Returns what the homeserver has under the id of a message just sent.
    fn standing<'a>(
        &'a self,
        id: &'a OwnedEventId,
        sent: &'a SafeText,
    ) -> BoxFuture<'a, MessageState> {
        async move {
            let as_sent = || MessageState::As(Some(sent.to_string()));
            if !self.may_be_repetition.load(Ordering::Relaxed) {
                return as_sent();
            }
            let Ok(found) = self.target.room.event(id, None).await else {
                // A superfluous edit does less harm.
                return MessageState::As(None);
            };
            match MatrixEvent::read(found.raw().json().get()).map(|event| event.what) {
                Some(MatrixEventKind::Message(message)) if message.text == sent.as_str() => {
                    as_sent()
                }
                Some(MatrixEventKind::Message(_) | MatrixEventKind::Undecryptable(_)) => {
                    MessageState::As(None)
                }
                Some(_) | None => MessageState::Gone,
            }
        }
        .boxed()
    }

    /// Adds the reactions yes and no below an answer that asks something. Clients show them as
    /// buttons with a count; people can also answer in words.
    fn offer_to_decide(&self, message: &MatrixLiveMessage, part: &AnswerPart<'_, SafeText>) {
        let asks = part.items.iter().any(ShownItem::is_question);
        if part.stage != AnswerStage::Last || !asks {
            return;
        }
        let (hub, room) = (Arc::clone(&self.hub), self.target.room.clone());
        let id = message.id.clone();
        self.hub.chores.spawn(async move {
            for key in [YES, NO] {
                let reaction = ReactionEventContent::new(Annotation::new(id.clone(), key.to_owned()));
                let send = || async { room.send(reaction.clone()).await.map(drop) };
                if let Err(error) = hub.outbox.retry(send).await {
                    tracing::debug!(%error, "a reaction to press could not be put below a question");
                }
            }
        });
    }

    fn deliver_to_asker<'a>(&'a self, parts: &'a [SafeText]) -> BoxFuture<'a, Directly> {
        async move {
            let MatrixHub { client, outbox, .. } = &*self.hub;
            let (asked_in, asker) = (&self.target.room, &self.target.asker);
            if rooms::is_private_to(asked_in, asker).await {
                return Directly::NotNeeded;
            }
            let Some(direct) = rooms::open_direct(client, asked_in, asker).await else {
                return Directly::Impossible(text!("no-direct-room"));
            };
            let mut delivered = Vec::new();
            for (number, text) in parts.iter().enumerate() {
                let content = content::message(text, &Relation::None);
                let transaction = format!("{}-direct", self.transaction(number)).into();
                match outbox.send(&direct, &content, &transaction).await {
                    Ok(id) => delivered.push(ids::elsewhere(direct.room_id(), &id)),
                    Err(error) => {
                        return Directly::broken_off(delivered, self.explain_error(error));
                    }
                }
            }
            Directly::Tried(Ok(Delivered(delivered)))
        }
        .boxed()
    }
}

#[async_trait]
impl AnswerSink for RoomSink {
    type Message = MatrixLiveMessage;
    type Text = SafeText;
    type Error = SendError;

    fn limit(&self) -> TextLimit {
        content::LIMIT
    }

    fn pace(&self) -> Pace {
        Pace {
            update_every: UPDATE_EVERY,
            working_every: TYPING_EVERY,
        }
    }

    fn texts(&self, parts: &[SafeText]) -> Vec<SafeText> {
        parts.to_vec()
    }

    fn first_text(&self, so_far: &SafeText) -> Option<SafeText> {
        so_far.split(content::LIMIT).into_iter().next()
    }

    fn has_content(&self, message: &MatrixLiveMessage, part: &AnswerPart<'_, SafeText>) -> bool {
        message.text.as_deref() == Some(part.text.as_str())
    }

    async fn post(&self, part: &AnswerPart<'_, SafeText>) -> Result<MatrixLiveMessage, SendError> {
        let id = self.send(part.number, part.text).await?;
        let posted = match self.standing(&id, part.text).await {
            MessageState::As(text) => MatrixLiveMessage { id, text },
            // Redacted when an earlier delivery was given up.
            MessageState::Gone => {
                let content = self.content(part.number, part.text, &self.target.relation);
                let again = format!("{}-again", self.transaction(part.number)).into();
                let (outbox, room) = (&self.hub.outbox, &self.target.room);
                let id = outbox.send(room, &content, &again).await?;
                let text = Some(part.text.to_string());
                MatrixLiveMessage { id, text }
            }
        };
        self.offer_to_decide(&posted, part);
        Ok(posted)
    }

    async fn edit(
        &self,
        message: &MatrixLiveMessage,
        part: &AnswerPart<'_, SafeText>,
    ) -> Result<Edited<MatrixLiveMessage>, SendError> {
        let content = content::edit(&message.id, part.text);
        let (outbox, room) = (&self.hub.outbox, &self.target.room);
        outbox.send(room, &content, &TransactionId::new()).await?;
        self.offer_to_decide(message, part);
        Ok(Edited::As(message.saying(part.text)))
    }

    async fn delete(&self, message: &MatrixLiveMessage) -> Result<(), SendError> {
        removal::remove(&self.hub, &self.target.room, &message.id).await
    }

    async fn find(&self) -> Result<Vec<Option<MatrixLiveMessage>>, SendError> {
        self.sent_before().await
    }

    async fn show(
        &self,
        shown: Option<&MatrixLiveMessage>,
        part: &AnswerPart<'_, SafeText>,
    ) -> DisplayOutcome<MatrixLiveMessage> {
        self.show_typing(part.language);
        let (outbox, room) = (&self.hub.outbox, &self.target.room);
        match shown {
            Some(shown) if self.has_content(shown, part) => DisplayOutcome::As(shown.clone()),
            Some(shown) => {
                let content = content::edit(&shown.id, part.text);
                match outbox.try_send(room, content, TransactionId::new()).await {
                    TriedSend::Sent(_) => DisplayOutcome::As(shown.saying(part.text)),
                    TriedSend::NotSent => DisplayOutcome::NotNow,
                    TriedSend::Unknown => DisplayOutcome::As(MatrixLiveMessage {
                        text: None,
                        ..shown.clone()
                    }),
                }
            }
            None => {
                let content = self.content(0, part.text, &self.target.relation);
                match outbox.try_send(room, content, self.transaction(0)).await {
                    TriedSend::Sent(id) => {
                        let conversation = self.target.conversation.clone();
                        self.hub.record_in_flight(id.clone(), conversation);
                        let text = Some(part.text.to_string());
                        DisplayOutcome::As(MatrixLiveMessage { id, text })
                    }
                    TriedSend::NotSent => DisplayOutcome::NotNow,
                    // The same transaction id later returns this message, with this text.
                    TriedSend::Unknown => {
                        self.may_be_repetition.store(true, Ordering::Relaxed);
                        self.may_be_unseen.store(true, Ordering::Relaxed);
                        DisplayOutcome::Unknown
                    }
                }
            }
        }
    }

    fn id(&self, message: &MatrixLiveMessage) -> MessageId {
        MessageId::new(message.id.as_str())
    }

    fn messages_to_replace(&self, earlier: &Delivered) -> Vec<MatrixLiveMessage> {
        let ids = earlier.0.iter();
        let ids = ids.filter_map(|id| OwnedEventId::try_from(id.as_str()).ok());
        ids.map(|id| MatrixLiveMessage { id, text: None }).collect()
    }

    fn expect_earlier_delivery(&self) -> bool {
        self.may_be_repetition.store(true, Ordering::Relaxed);
        true
    }

    fn show_typing(&self, _: Language) {
        self.signs.lock().show(&self.hub);
    }

    fn has_typing_to_hide(&self) -> bool {
        self.signs.lock().are_shown()
    }

    async fn hide_typing(&self, _: DroppedReplyState) {
        let mut signs = self.signs.lock().take();
        signs.hide(&self.hub).await;
    }

    fn on_reply_dropped(&self, first: Option<&MatrixLiveMessage>) {
        self.hub.remove_in_flight(&self.target.question);
        if let Some(first) = first {
            self.hub.remove_in_flight(&first.id);
        }
    }

    /// Only what this reply may have sent without knowing.
    fn remove_found(&self) -> bool {
        let may_be_unseen = self.may_be_unseen.load(Ordering::Relaxed);
        if let (true, Ok(runtime)) = (may_be_unseen, Handle::try_current()) {
            let (hub, room) = (Arc::clone(&self.hub), self.target.room.clone());
            let (question, transaction) = (self.target.question.clone(), self.transaction(0));
            let chore = async move {
                let removed = removal::remove_sent(&hub, &room, &question, &transaction).await;
                if let Err(error) = removed {
                    tracing::warn!(%error, "an answer that was given up may stay");
                }
            };
            self.hub.chores.spawn_on(chore, &runtime);
        }
        may_be_unseen
    }

    fn cleanup_tasks(&self) -> &TaskTracker {
        &self.hub.chores
    }

    fn explain_error(&self, error: SendError) -> PlatformError {
        let room = self.target.room.room_id();
        match error {
            SendError::LoggedOut => login::logged_out(&self.hub.options),
            SendError::Refused(error) if is_forbidden(&error) => misconfigured(format!(
                "Muninn may not write in {room}: {}; let it send messages there, or let it leave",
                in_one_line(&error)
            )),
            SendError::Refused(error) => misconfigured(format!(
                "the homeserver refuses a message in {room}: {}",
                in_one_line(&error)
            )),
            error @ (SendError::Away(_) | SendError::TimedOut) => disconnected(error),
        }
    }

    async fn deliver_directly(&self, parts: &[SafeText]) -> Directly {
        self.deliver_to_asker(parts).await
    }

    async fn largest_file(&self) -> Result<u64, NotHandedOver> {
        Ok(handing::largest_file(&self.hub).await)
    }

    async fn hand_over(&self, files: &[OwnFile]) -> Result<HandedOver, NotHandedOver> {
        let MatrixReplyTarget { room, asker, .. } = &self.target;
        let transaction = self.transaction(0);
        handing::hand_over(&self.hub, room, asker, transaction.as_str(), files).await
    }

    fn withdrawer(&self) -> Arc<dyn Withdraw> {
        Arc::new(MatrixWithdrawer(Arc::clone(&self.hub)))
    }

    async fn prior_messages(&self) -> PriorMessages {
        let MatrixReplyTarget {
            room,
            question,
            relation,
            ..
        } = &self.target;
        match relation {
            Relation::Thread { root, .. } if root != question => {
                background::read_prior_messages(&self.hub, room, root, question).await
            }
            Relation::Thread { .. } | Relation::Reply(_) | Relation::None => {
                PriorMessages::default()
            }
        }
    }

    async fn download(
        &self,
        attachment: &Attachment,
        most: usize,
    ) -> Result<Vec<u8>, DownloadError> {
        attachment::download(&self.hub.client, &self.target.room, attachment, most).await
    }
}

impl MatrixLiveMessage {
    fn saying(&self, text: &SafeText) -> Self {
        Self {
            id: self.id.clone(),
            text: Some(text.to_string()),
        }
    }
}

/// Reads a message of the answer to a question, and which part it is. Its text is known unless it was edited.
fn sent_part(event: &str, question: &EventId, me: &UserId) -> Option<(usize, MatrixLiveMessage)> {
    let raw: Value = serde_json::from_str(event).ok()?;
    let part = content::part_of(&raw["content"], question)?;
    let MatrixEvent {
        id, sender, what, ..
    } = MatrixEvent::read(event)?;
    let MatrixEventKind::Message(message) = what else {
        return None;
    };
    let is_edited = !raw["unsigned"]["m.relations"]["m.replace"].is_null();
    let text = (!is_edited).then_some(message.text);
    (sender == me).then_some((part, MatrixLiveMessage { id, text }))
}

/// Puts messages in the places of their parts. Of two for one part, the first counts.
fn by_part(sent: Vec<(usize, MatrixLiveMessage)>) -> Vec<Option<MatrixLiveMessage>> {
    let mut parts: Vec<Option<MatrixLiveMessage>> = Vec::new();
    for (part, message) in sent {
        if parts.len() <= part {
            parts.resize(part + 1, None);
        }
        parts[part].get_or_insert(message);
    }
    parts
}

#[cfg(test)]
mod tests {
    use matrix_sdk::ruma::{event_id, user_id};
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_sent_of_an_answer_is_found_by_what_it_says() {
        let question = event_id!("$q");
        let event = |id: &str, sender: &str, of: &EventId, part: usize, unsigned: Value| {
            let message = content::message(&SafeText::new("moin"), &Relation::None);
            let content = content::of_answer(message, of, part);
            json!({ "type": "m.room.message", "event_id": id, "sender": sender,
                "origin_server_ts": 1, "content": content, "unsigned": unsigned })
        };
        let edits = json!({ "m.relations": { "m.replace": { "event_id": "$new" } } });
        let other = json!({ "type": "m.room.message", "event_id": "$5", "sender": "@me:b",
            "origin_server_ts": 1, "content": { "msgtype": "m.notice", "body": "moin" } });
        let events = [
            event("$1", "@me:b", event_id!("$other"), 0, json!({})),
            event("$2", "@ann:b", question, 0, json!({})),
            event("$3", "@me:b", question, 2, json!({})),
            event("$4", "@me:b", question, 0, edits),
            other,
            event("$6", "@me:b", question, 2, json!({})),
        ];
        let read = |event: &Value| sent_part(&event.to_string(), question, user_id!("@me:b"));
        let found = by_part(events.iter().filter_map(read).collect());
        let found = found.into_iter();
        let found: Vec<_> = found
            .map(|message| message.map(|it| (it.id.to_string(), it.text)))
            .collect();
        let edited = Some(("$4".to_owned(), None));
        let whole = Some(("$3".to_owned(), Some("moin".to_owned())));
        assert_eq!(found, [edited, None, whole]);
    }
}
