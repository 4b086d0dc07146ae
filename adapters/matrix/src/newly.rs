//! Handles messages that mention the bot only since an edit. The specification notifies people who
//! are newly mentioned by an edit, so the message is answered as if it had been sent like that.

use matrix_sdk::Room;
use matrix_sdk::ruma::OwnedEventId;
use muninn_platform::{Addressed, IgnoreReason, InboxClosed, Request};

use crate::event::{MatrixEvent, MatrixEventKind, MatrixMessage};
use crate::inbound::{At, MatrixEventHandler};
use crate::intent::{EventIntent, intent};
use crate::removal;

/// A message as if it had been sent in its edited form.
struct EditedMessage {
    said: MatrixEvent,
    /// It is where the bot may take part, and may have been answered already.
    was_overheard: bool,
}

impl MatrixEventHandler {
    /// Delivers an edit that mentions the bot for the first time. Returns false for other edits: of
    /// a message that was already addressed to the bot, or still is not.
    pub(crate) async fn newly_mentioned(
        &self,
        room: &Room,
        edit: &MatrixEvent,
        is_late: bool,
    ) -> Result<bool, InboxClosed> {
        let Some(EditedMessage {
            said,
            was_overheard,
        }) = self.newly(room, edit).await
        else {
            return Ok(false);
        };
        let facts = self.facts(room, &said).await;
        let EventIntent::Said {
            addressed,
            said: what,
            file,
            place,
        } = intent(&said, &facts)
        else {
            return Ok(false);
        };
        if was_overheard {
            // Only the bot knows whether it was answered; if so, it ignores the repetition.
            let text = match &what {
                Request::Text(text) => text.clone(),
                Request::Command(_) => return Ok(false),
            };
            let at = At {
                room,
                event: edit,
                is_late,
            };
            let edited = self.edited(at, said.id.clone(), addressed, (text, file.clone()));
            self.inbox.deliver(edited.await).await?;
        }
        let at = At {
            room,
            event: &said,
            is_late,
        };
        let told = self.said(at, addressed, what, file, &place).await;
        self.inbox.deliver(told).await?;
        Ok(true)
    }

    async fn newly(&self, room: &Room, edit: &MatrixEvent) -> Option<EditedMessage> {
        let MatrixEventKind::Edit {
            of,
            new,
            newly_mentions,
        } = &edit.what
        else {
            return None;
        };
        if !newly_mentions.contains(&self.hub.me) {
            return None;
        }
        let found = room.event(of, None).await.ok()?;
        let first = MatrixEvent::read(found.raw().json().get())?;
        let first = self.without_foreign_thread(room, first);
        let before = intent(&first, &self.facts(room, &first).await);
        let was_overheard = match before {
            EventIntent::Nothing(IgnoreReason::NotAddressed)
            | EventIntent::Said {
                addressed: Addressed::Overheard,
                ..
            } => false,
            EventIntent::Said {
                addressed: Addressed::InConversation,
                ..
            } => true,
            EventIntent::Said { .. }
            | EventIntent::Nothing(_)
            | EventIntent::Edited { .. }
            | EventIntent::Deleted { .. }
            | EventIntent::Opinion { .. }
            | EventIntent::Stop { .. }
            | EventIntent::Decided { .. } => return None,
        };
        let MatrixEventKind::Message(MatrixMessage { relates, .. }) = first.what else {
            return None;
        };
        if self.was_mentioned_by_an_edit(room, of, edit).await {
            return None;
        }
        let mut mentions = new.mentions.clone().unwrap_or_default();
        mentions.extend_from_slice(newly_mentions);
        let said = MatrixMessage {
            mentions: Some(mentions),
            relates,
            ..new.clone()
        };
        Some(EditedMessage {
            said: MatrixEvent {
                id: of.clone(),
                sender: edit.sender.clone(),
                sent_at: edit.sent_at,
                what: MatrixEventKind::Message(said),
            },
            was_overheard,
        })
    }

    /// Some clients repeat all mentions in every edit.
    async fn was_mentioned_by_an_edit(
        &self,
        room: &Room,
        of: &OwnedEventId,
        edit: &MatrixEvent,
    ) -> bool {
        let Ok(edits) = removal::edits_of(room, of).await else {
            return false;
        };
        let when = |event: &MatrixEvent| (event.sent_at, event.id.clone());
        edits.iter().any(|earlier| {
            let mentions = matches!(&earlier.what, MatrixEventKind::Edit { newly_mentions, .. } if newly_mentions.contains(&self.hub.me));
            mentions && earlier.sender == edit.sender && when(earlier) < when(edit)
        })
    }
}
