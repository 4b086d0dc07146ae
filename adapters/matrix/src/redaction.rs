//! Handles the redaction of an edit: the message has the text of before again.

use std::time::Duration;

use matrix_sdk::Room;
use matrix_sdk::ruma::{OwnedEventId, OwnedUserId, UserId};
use tokio::time::Instant;

use crate::event::{MatrixEvent, MatrixEventKind, MatrixMessage};
use crate::hub::MatrixHub;
use crate::inbound::MatrixEventHandler;
use crate::outbox::SendError;
use crate::removal;

/// How long a redaction is held back while the homeserver does not say what the message says now. A
/// homeserver that is away altogether lets no event through either; one that fails for this message
/// alone must not silence the bot for good.
const HOLD_BACK_TIMEOUT: Duration = Duration::from_secs(3_600);

const HOLD_BACK_PAUSE: Duration = Duration::from_secs(15);

impl MatrixEventHandler {
    /// Returns the redaction of an edit as an edit to the text before, which the message has again.
    /// `None` for other events.
    pub(crate) async fn redaction_as_edit(
        &self,
        room: &Room,
        event: &MatrixEvent,
    ) -> Option<MatrixEvent> {
        let MatrixEventKind::Redaction { of: edit } = &event.what else {
            return None;
        };
        let of = self.hub.edited_by_others(edit)?;
        let (sender, text) = match self.wait_for_text_before(room, event, &of).await {
            Some((author, text)) => (author, text),
            None => (event.sender.clone(), None),
        };
        let what = match text {
            Some(new) => MatrixEventKind::Edit {
                of,
                new,
                newly_mentions: Vec::new(),
            },
            // Its message is redacted, too, or not given.
            None => MatrixEventKind::Other,
        };
        Some(MatrixEvent {
            id: event.id.clone(),
            sender,
            sent_at: event.sent_at,
            what,
        })
    }

    /// Waits until the homeserver says what a message says without a redacted edit; see
    /// [`text_before`].
    ///
    /// Meanwhile the redaction is held back, and with it the events after it: if the process ends,
    /// the next one reads them again. To take it for the redaction of the message would lose the
    /// message, and to skip it would keep the words that were redacted.
    async fn wait_for_text_before(
        &self,
        room: &Room,
        event: &MatrixEvent,
        of: &OwnedEventId,
    ) -> Option<(OwnedUserId, Option<MatrixMessage>)> {
        let begun = Instant::now();
        loop {
            let error = match text_before(&self.hub, room, of).await {
                Ok(before) => return before,
                Err(error) => error,
            };
            tracing::warn!(room = %room.room_id(), event = %event.id, %error, "what a message says without a redacted edit is not told; waiting for it");
            if begun.elapsed() > HOLD_BACK_TIMEOUT {
                tracing::error!(room = %room.room_id(), message = %of, "a redacted edit stays remembered");
                return None;
            }
            tokio::time::sleep(HOLD_BACK_PAUSE).await;
        }
    }
}

/// Returns the author of a message, and its text with its remaining edits. `None` if the homeserver
/// does not give the message; its text is `None` if it was redacted.
///
/// # Errors
/// Fails when the homeserver does not answer for a while.
async fn text_before(
    hub: &MatrixHub,
    room: &Room,
    of: &OwnedEventId,
) -> Result<Option<(OwnedUserId, Option<MatrixMessage>)>, SendError> {
    let Some(author) = hub.sender_of(room, of).await? else {
        return Ok(None);
    };
    let text = says_now(hub, room, of, &author).await?;
    Ok(Some((author, text)))
}

/// Returns the text of a message with its remaining edits; `None` if the message was redacted.
///
/// # Errors
/// Fails when the homeserver does not answer for a while.
async fn says_now(
    hub: &MatrixHub,
    room: &Room,
    of: &OwnedEventId,
    author: &UserId,
) -> Result<Option<MatrixMessage>, SendError> {
    let event = hub.event(room, of).await?;
    let Some(MatrixEventKind::Message(first)) = event.map(|event| event.what) else {
        return Ok(None);
    };
    let edits = match hub.outbox.retry(|| removal::edits_of(room, of)).await {
        Ok(edits) => edits.into_iter(),
        Err(SendError::Refused(_)) => return Ok(None),
        Err(error) => return Err(error),
    };
    let edits = edits.filter_map(|event| {
        let (changed, new) = event.what.into_edit()?;
        let is_theirs = changed == *of && event.sender == author;
        is_theirs.then_some(((event.sent_at, event.id), new))
    });
    let newest = edits.max_by(|one, other| one.0.cmp(&other.0));
    Ok(Some(newest.map_or(first, |(_, new)| new)))
}
