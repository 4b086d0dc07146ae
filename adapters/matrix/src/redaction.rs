//! Handles the redaction of an edit: the message has the text of before again. Holds edits and such
//! redactions while the homeserver does not give the message.

use std::time::Duration;

use chrono::{TimeDelta, Utc};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use matrix_sdk::Room;
use matrix_sdk::ruma::{OwnedEventId, OwnedUserId, UserId};
use muninn_platform::InboxClosed;

use crate::event::{MatrixEvent, MatrixEventKind, MatrixMessage};
use crate::hub::MatrixHub;
use crate::inbound::MatrixEventHandler;
use crate::outbox::SendError;
use crate::position::HeldChange;
use crate::removal;
use crate::sync::LISTENING_AGE;

/// How long a change is held while the homeserver does not say what the message says now.
const MAX_HOLD: TimeDelta = TimeDelta::days(1);

/// Pause between two looks at what is held.
const HOLD_PAUSE: Duration = Duration::from_secs(15);

impl MatrixEventHandler {
    /// Returns the redaction of an edit as an edit to the text before, which the message has again.
    /// `None` for other events.
    ///
    /// While the homeserver does not say that text, the redaction is held, and later events are
    /// delivered: to take it for the redaction of the message would lose the message, and to skip it
    /// would keep the words that were redacted.
    pub(crate) async fn redaction_as_edit(
        &self,
        room: &Room,
        event: &MatrixEvent,
    ) -> Option<MatrixEvent> {
        let MatrixEventKind::Redaction { of: edit } = &event.what else {
            return None;
        };
        let held = HeldChange {
            of: self.hub.edited_by_others(edit)?,
            room: room.room_id().to_owned(),
            event: event.id.clone(),
            sender: event.sender.clone(),
            is_edit: false,
            is_old: false,
            sent_at: event.sent_at,
            held_since: Utc::now(),
        };
        let error = match text_before(&self.hub, room, &held.of).await {
            Ok(before) => return Some(as_edit(&held, before)),
            Err(error) => error,
        };
        tracing::warn!(room = %held.room, event = %held.event, %error, "what a message says without a redacted edit is not told; it is asked for again");
        let nothing_yet = as_edit(&held, None);
        self.hub.hold_change(held);
        Some(nothing_yet)
    }

    /// Holds an edit if the homeserver does not say whose message it changes. Otherwise it would
    /// count as somebody else's, and the old words would stay remembered. Returns whether it is held.
    /// `is_old`: it is too old for an answer.
    pub(crate) async fn hold_edit(&self, room: &Room, event: &MatrixEvent, is_old: bool) -> bool {
        let MatrixEventKind::Edit { of, .. } = &event.what else {
            return false;
        };
        let Err(error) = self.hub.message_or_away(room, of).await else {
            return false;
        };
        tracing::warn!(room = %room.room_id(), event = %event.id, %error, "whose message was edited is not told; it is asked for again");
        self.hub.hold_change(HeldChange {
            of: of.clone(),
            room: room.room_id().to_owned(),
            event: event.id.clone(),
            sender: event.sender.clone(),
            is_edit: true,
            is_old,
            sent_at: event.sent_at,
            held_since: Utc::now(),
        });
        true
    }

    /// Delivers the changes that are held, once the homeserver says what their messages say now.
    /// Returns when the bot is ending.
    pub(crate) fn follow_held_changes(&self) -> BoxFuture<'_, InboxClosed> {
        async move {
            loop {
                tokio::time::sleep(HOLD_PAUSE).await;
                for held in self.hub.held_changes() {
                    if let Err(closed) = self.follow_held(&held).await {
                        return closed;
                    }
                }
            }
        }
        .boxed()
    }

    async fn follow_held(&self, held: &HeldChange) -> Result<(), InboxClosed> {
        if Utc::now() - held.held_since > MAX_HOLD {
            tracing::error!(room = %held.room, message = %held.of, "what an edit, or its redaction, took away stays remembered");
            self.hub.release_change(&held.event);
            return Ok(());
        }
        let Some(room) = self.hub.client.get_room(&held.room) else {
            return Ok(());
        };
        match text_before(&self.hub, &room, &held.of).await {
            Ok(now) => {
                let author = now.as_ref().map(|(author, _)| author);
                if !held.is_edit || author == Some(&held.sender) {
                    let edit = as_edit(held, now);
                    self.take_held(&room, edit, held).await?;
                }
                self.hub.release_change(&held.event);
            }
            Err(error) => {
                tracing::debug!(room = %held.room, event = %held.event, %error, "still not told");
            }
        }
        Ok(())
    }

    async fn take_held(
        &self,
        room: &Room,
        edit: MatrixEvent,
        held: &HeldChange,
    ) -> Result<(), InboxClosed> {
        let most = self.hub.options.catch_up.max(LISTENING_AGE);
        let most = TimeDelta::from_std(most).unwrap_or(TimeDelta::MAX);
        // Too late for an answer to what it newly asks.
        let is_late = held.is_old || Utc::now() - held.sent_at > most;
        if held.is_edit && is_late {
            self.deliver_old_edit(room, edit).await
        } else {
            self.take_as(room, &edit, true).await
        }
    }
}

/// Returns a change as an edit to the text that the message has with it.
fn as_edit(held: &HeldChange, before: Option<(OwnedUserId, Option<MatrixMessage>)>) -> MatrixEvent {
    let (sender, text) = match before {
        Some((author, text)) => (author, text),
        None => (held.sender.clone(), None),
    };
    let what = match text {
        Some(new) => MatrixEventKind::Edit {
            of: held.of.clone(),
            // Whether they are new is found out when it is delivered. A redaction mentions nobody.
            newly_mentions: match &new.mentions {
                Some(mentions) if held.is_edit => mentions.clone(),
                Some(_) | None => Vec::new(),
            },
            new,
        },
        // Its message is redacted, too, or not given.
        None => MatrixEventKind::Other,
    };
    MatrixEvent {
        id: held.event.clone(),
        sender,
        sent_at: held.sent_at,
        what,
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

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use crate::event::{MessageKind, Relates};

    #[test]
    fn a_held_edit_still_mentions_people_and_a_redaction_nobody() {
        let mentioned: OwnedUserId = "@muninn:b".try_into().unwrap();
        let ann: OwnedUserId = "@ann:b".try_into().unwrap();
        let said = MatrixMessage {
            kind: MessageKind::Text,
            text: "when is the fair?".to_owned(),
            mentions: Some(vec![mentioned.clone()]),
            mentions_room: false,
            relates: Relates::default(),
        };
        for (is_edit, expected) in [(true, vec![mentioned]), (false, Vec::new())] {
            let held = HeldChange {
                room: "!a:b".try_into().unwrap(),
                event: "$edit".try_into().unwrap(),
                of: "$of".try_into().unwrap(),
                sender: ann.clone(),
                is_edit,
                is_old: false,
                sent_at: DateTime::UNIX_EPOCH,
                held_since: DateTime::UNIX_EPOCH,
            };
            let edit = as_edit(&held, Some((ann.clone(), Some(said.clone()))));
            let MatrixEventKind::Edit { newly_mentions, .. } = edit.what else {
                panic!("it is no edit");
            };
            assert_eq!(newly_mentions, expected);
        }
    }
}
