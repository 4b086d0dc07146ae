//! Removes a message of the bot with all its versions: an edit is an event of its own, which stays
//! readable if only the message is redacted.

use futures::FutureExt as _;
use futures::future::BoxFuture;
use matrix_sdk::Room;
use matrix_sdk::room::{IncludeRelations, MessagesOptions, RelationsOptions};
use matrix_sdk::ruma::events::relation::RelationType;
use matrix_sdk::ruma::{OwnedEventId, TransactionId, uint};
use serde_json::Value;

use crate::event::{MatrixEvent, MatrixEventKind};
use crate::hub::MatrixHub;
use crate::outbox::SendError;

/// Maximum pages of a hundred events that are searched for the edits of one message.
const MOST_PAGES: usize = 20;

/// Redacts a message of the bot and all its edits. A message that is already gone is no error.
pub(crate) fn remove<'a>(
    hub: &'a MatrixHub,
    room: &'a Room,
    message: &'a OwnedEventId,
) -> BoxFuture<'a, Result<(), SendError>> {
    async move {
        // Searched first: a homeserver does not return the edits of a redacted message.
        let found = hub.outbox.retry(|| edits(hub, room, message)).await;
        let mut edits = match found {
            Ok(edits) => edits,
            // The message is redacted in any case.
            Err(SendError::Refused(error)) => {
                tracing::debug!(room = %room.room_id(), %error, "its edits are not told");
                Vec::new()
            }
            Err(error) => return Err(error),
        };
        for known in hub.own_edits_of(message) {
            if !edits.contains(&known) {
                edits.push(known);
            }
        }
        hub.outbox.redact(room, message).await?;
        for edit in &edits {
            hub.outbox.redact(room, edit).await?;
        }
        Ok(())
    }
    .boxed()
}

async fn edits(
    hub: &MatrixHub,
    room: &Room,
    message: &OwnedEventId,
) -> Result<Vec<OwnedEventId>, matrix_sdk::Error> {
    let edits: Vec<MatrixEvent> = edits_of(room, message).await?;
    let own = edits.into_iter().filter(|event| event.sender == hub.me);
    let edits: Vec<OwnedEventId> = own.map(|event| event.id).collect();
    if edits.is_empty() && is_redacted(room, message).await? {
        return edits_after(hub, room, message).await;
    }
    Ok(edits)
}

/// Returns the edits of an existing message from the homeserver, newest first.
pub(crate) async fn edits_of(
    room: &Room,
    message: &OwnedEventId,
) -> Result<Vec<MatrixEvent>, matrix_sdk::Error> {
    let mut edits = Vec::new();
    let mut from = None;
    for _ in 0..MOST_PAGES {
        let options = RelationsOptions {
            from: from.take(),
            limit: Some(uint!(100)),
            include_relations: IncludeRelations::RelationsOfType(RelationType::Replacement),
            ..RelationsOptions::default()
        };
        let page = room.relations(message.clone(), options).await?;
        let events = page.chunk.iter();
        edits.extend(events.filter_map(|event| MatrixEvent::read(event.raw().json().get())));
        from = page.next_batch_token;
        if from.is_none() {
            break;
        }
    }
    Ok(edits)
}

async fn is_redacted(room: &Room, message: &OwnedEventId) -> Result<bool, matrix_sdk::Error> {
    let event = room.event(message, None).await?;
    let event = MatrixEvent::read(event.raw().json().get());
    Ok(event.is_some_and(|event| event.what == MatrixEventKind::Other))
}

/// Returns the edits of a message that somebody else redacted, by searching what the bot wrote
/// after it.
async fn edits_after(
    hub: &MatrixHub,
    room: &Room,
    message: &OwnedEventId,
) -> Result<Vec<OwnedEventId>, matrix_sdk::Error> {
    let edit = |event: &str| MatrixEvent::read(event).filter(|event| changes(event, message));
    let edits = said_after(hub, room, message, edit).await?.into_iter();
    Ok(edits.map(|event| event.id).collect())
}

/// Returns the bot's messages that answer a message, as far as they are readable, by searching what
/// the bot wrote after it.
pub(crate) async fn answers_to(
    hub: &MatrixHub,
    room: &Room,
    question: &OwnedEventId,
) -> Result<Vec<OwnedEventId>, matrix_sdk::Error> {
    said_after(hub, room, question, |event| answer_to(event, question)).await
}

/// Redacts what this session of the bot sent after an event with this transaction id, if the
/// homeserver took it.
pub(crate) fn remove_sent<'a>(
    hub: &'a MatrixHub,
    room: &'a Room,
    after: &'a OwnedEventId,
    transaction: &'a TransactionId,
) -> BoxFuture<'a, Result<(), SendError>> {
    async move {
        let is_it = |event: &str| sent_with(event, transaction);
        let found = hub.outbox.retry(|| said_after(hub, room, after, is_it));
        for sent in found.await? {
            remove(hub, room, &sent).await?;
        }
        Ok(())
    }
    .boxed()
}

/// Returns what the bot wrote after an event, filtered by `read`.
pub(crate) async fn said_after<T>(
    hub: &MatrixHub,
    room: &Room,
    event: &OwnedEventId,
    read: impl Fn(&str) -> Option<T>,
) -> Result<Vec<T>, matrix_sdk::Error> {
    let around = room.event_with_context(event, true, uint!(0), None);
    let mut from = around.await?.next_batch_token;
    let mut said = Vec::new();
    for _ in 0..MOST_PAGES {
        let Some(token) = from.take() else { break };
        let mut options = MessagesOptions::forward().from(token.as_str());
        options.limit = uint!(100);
        options.filter.senders = Some(vec![hub.me.clone()]);
        let page = room.messages(options).await?;
        let events = page.chunk.iter();
        said.extend(events.filter_map(|event| read(event.raw().json().get())));
        from = page.end.filter(|end| *end != token);
    }
    Ok(said)
}

/// Returns the id of an event that answers another. Also in a thread, where other programs show no
/// reply; relations are not encrypted.
fn answer_to(event: &str, question: &OwnedEventId) -> Option<OwnedEventId> {
    let event: Value = serde_json::from_str(event).ok()?;
    let answered = &event["content"]["m.relates_to"]["m.in_reply_to"]["event_id"];
    let id = event["event_id"].as_str()?.try_into().ok()?;
    (answered.as_str() == Some(question.as_str())).then_some(id)
}

/// Returns the id of an event that was sent with this transaction id, which a homeserver tells only
/// the session that sent it.
fn sent_with(event: &str, transaction: &TransactionId) -> Option<OwnedEventId> {
    let event: Value = serde_json::from_str(event).ok()?;
    let id = event["event_id"].as_str()?.try_into().ok()?;
    (event["unsigned"]["transaction_id"] == transaction.as_str()).then_some(id)
}

fn changes(event: &MatrixEvent, message: &OwnedEventId) -> bool {
    match &event.what {
        MatrixEventKind::Edit { of, .. } => of == message,
        MatrixEventKind::Undecryptable(sealed) => sealed.relates.replaces.as_ref() == Some(message),
        MatrixEventKind::Message(_)
        | MatrixEventKind::Redaction { .. }
        | MatrixEventKind::Reaction { .. }
        | MatrixEventKind::Membership { .. }
        | MatrixEventKind::Other => false,
    }
}
