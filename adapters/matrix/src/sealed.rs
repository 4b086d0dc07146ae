//! Messages whose keys are missing: they wait, are answered when the key arrives, and are reported
//! once if it does not arrive soon.

use chrono::{DateTime, Utc};
use matrix_sdk::Room;
use muninn_platform::{InboxClosed, SafeText};
use muninn_texts::text;

use crate::content::{self, Relation};
use crate::event::{MatrixEvent, MatrixEventKind, Sealed};
use crate::inbound::MatrixEventHandler;
use crate::options::Threads;
use crate::outbox::TriedSend;
use crate::position::{Position, SealedEvent};
use crate::rooms;

/// Keys usually arrive within moments of their message.
const KEY_WAIT_TIMEOUT: chrono::Duration = chrono::Duration::seconds(10);

/// Keeps a message until its key arrives.
pub(crate) fn put_aside(
    position: &mut Position,
    room: &Room,
    event: &MatrixEvent,
    sealed: &Sealed,
) {
    // Some clients do not name the session any more; then there is one report per sender.
    let session = sealed
        .session
        .clone()
        .unwrap_or_else(|| event.sender.to_string());
    position.wait_for_key(SealedEvent {
        room: room.room_id().to_owned(),
        event: event.id.clone(),
        session,
        thread: sealed.relates.thread.clone(),
        sent_at: event.sent_at,
        waits_since: Utc::now(),
        is_settled: false,
    });
}

/// Whether something has to be checked even without new keys.
pub(crate) fn are_due(position: &Position) -> bool {
    position.sealed.iter().any(|sealed| !sealed.is_settled)
}

/// Checks the messages of these sessions again, and all that have waited long enough. `oldest`:
/// earlier messages are not answered any more.
pub(crate) async fn retry_decryption(
    inbound: &MatrixEventHandler,
    position: &mut Position,
    sessions: &[String],
    oldest: DateTime<Utc>,
) -> Result<(), InboxClosed> {
    let now = Utc::now();
    for sealed in std::mem::take(&mut position.sealed) {
        if sealed.sent_at < oldest {
            continue;
        }
        let has_waited = !sealed.is_settled && now - sealed.waits_since >= KEY_WAIT_TIMEOUT;
        if !has_waited && !sessions.contains(&sealed.session) {
            position.sealed.push_back(sealed);
            continue;
        }
        let Some(room) = inbound.hub.client.get_room(&sealed.room) else {
            continue;
        };
        match opened(&room, &sealed).await {
            // Perhaps answered by an earlier process that had the key and was killed.
            Some(event) => inbound.take(&room, &event, true).await?,
            None => {
                // Messages that were not for the bot are not reported.
                let concerns = has_waited && would_be_answered(inbound, &room, &sealed).await;
                if concerns && position.mark_reported(&sealed.session) {
                    complain(inbound, &room, &sealed).await;
                }
                position.sealed.push_back(SealedEvent {
                    is_settled: sealed.is_settled || has_waited,
                    ..sealed
                });
            }
        }
    }
    Ok(())
}

async fn opened(room: &Room, sealed: &SealedEvent) -> Option<MatrixEvent> {
    let event = room.event(&sealed.event, None).await.ok()?;
    let event = MatrixEvent::read(event.raw().json().get())?;
    match event.what {
        MatrixEventKind::Undecryptable(_) => None,
        MatrixEventKind::Message(_)
        | MatrixEventKind::Edit { .. }
        | MatrixEventKind::Redaction { .. }
        | MatrixEventKind::Reaction { .. }
        | MatrixEventKind::Membership { .. }
        | MatrixEventKind::Other => Some(event),
    }
}

/// Whether the bot would answer any message there. The mentions of an encrypted message are
/// encrypted too.
async fn would_be_answered(
    inbound: &MatrixEventHandler,
    room: &Room,
    sealed: &SealedEvent,
) -> bool {
    if rooms::is_direct(&inbound.hub, room).await {
        return true;
    }
    match (&sealed.thread, inbound.hub.options.threads) {
        (Some(thread), Threads::Always | Threads::Follow) => rooms::takes_part(room, thread).await,
        (Some(_), Threads::Never) | (None, _) => false,
    }
}

async fn complain(inbound: &MatrixEventHandler, room: &Room, sealed: &SealedEvent) {
    tracing::warn!(room = %sealed.room, event = %sealed.event, "a message cannot be decrypted");
    let answers = sealed.event.clone();
    let relation = match (sealed.thread.clone(), inbound.hub.options.threads) {
        (Some(root), Threads::Always | Threads::Follow) => Relation::Thread { root, answers },
        (Some(_), Threads::Never) | (None, _) => Relation::Reply(answers),
    };
    let said = text!("sealed-message").in_language(inbound.hub.language(&sealed.room));
    let content = content::message(&SafeText::new(&said), &relation);
    let transaction = format!("muninn-sealed-{}", sealed.event).into();
    let sent = inbound
        .hub
        .outbox
        .try_send(room, content, transaction)
        .await;
    if !matches!(sent, TriedSend::Sent(_)) {
        tracing::warn!(room = %sealed.room, "and that could not be said");
    }
}
