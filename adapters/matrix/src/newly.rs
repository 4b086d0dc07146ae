//! A message that mentions the bot only since it was edited: the specification has those notified
//! whom an edit mentions newly, so it is answered as if it had been said so.

use matrix_sdk::Room;
use matrix_sdk::ruma::OwnedEventId;
use muninn_platform::{Addressed, IgnoreReason, InboxClosed, Request};

use crate::event::{Event, EventKind, Message};
use crate::inbound::{At, Inbound};
use crate::intent::{Intent, intent};
use crate::removal;

/// A message as if it had been said as it was edited.
struct Newly {
    said: Event,
    /// It stands where the bot may take part, and may have been answered already.
    was_overheard: bool,
}

impl Inbound {
    /// Tells the bot of an edit that mentions it for the first time. False: this is none, but the edit
    /// of a message that was meant for it, or still is not.
    pub(crate) async fn newly_mentioned(
        &self,
        room: &Room,
        edit: &Event,
        is_late: bool,
    ) -> Result<bool, InboxClosed> {
        let Some(Newly {
            said,
            was_overheard,
        }) = self.newly(room, edit).await
        else {
            return Ok(false);
        };
        let facts = self.facts(room, &said).await;
        let Intent::Said {
            addressed,
            said: what,
            file,
            place,
        } = intent(&said, &facts)
        else {
            return Ok(false);
        };
        if was_overheard {
            // Only the bot knows whether it was answered; if so, the next is nothing new to it.
            let text = match &what {
                Request::Text(text) => text.clone(),
                Request::Command(_) => return Ok(false),
            };
            let at = At {
                room,
                event: edit,
                is_late,
            };
            let edited = self.edited(at, said.id.clone(), addressed, text);
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

    async fn newly(&self, room: &Room, edit: &Event) -> Option<Newly> {
        let EventKind::Edit {
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
        let first = Event::read(found.raw().json().get())?;
        let first = self.at_home(room, first);
        let before = intent(&first, &self.facts(room, &first).await);
        let was_overheard = match before {
            Intent::Nothing(IgnoreReason::NotAddressed)
            | Intent::Said {
                addressed: Addressed::Overheard,
                ..
            } => false,
            Intent::Said {
                addressed: Addressed::InConversation,
                ..
            } => true,
            Intent::Said { .. }
            | Intent::Nothing(_)
            | Intent::Edited { .. }
            | Intent::Deleted { .. }
            | Intent::Opinion { .. }
            | Intent::Stop { .. }
            | Intent::Decided { .. } => return None,
        };
        let EventKind::Message(Message { relates, .. }) = first.what else {
            return None;
        };
        if self.was_mentioned_by_an_edit(room, of, edit).await {
            return None;
        }
        let mut mentions = new.mentions.clone().unwrap_or_default();
        mentions.extend_from_slice(newly_mentions);
        let said = Message {
            mentions: Some(mentions),
            relates,
            ..new.clone()
        };
        Some(Newly {
            said: Event {
                id: of.clone(),
                sender: edit.sender.clone(),
                sent_at: edit.sent_at,
                what: EventKind::Message(said),
            },
            was_overheard,
        })
    }

    /// Some clients repeat all mentions in every edit.
    async fn was_mentioned_by_an_edit(&self, room: &Room, of: &OwnedEventId, edit: &Event) -> bool {
        let Ok(edits) = removal::edits_of(room, of).await else {
            return false;
        };
        let when = |event: &Event| (event.sent_at, event.id.clone());
        edits.iter().any(|earlier| {
            let mentions = matches!(&earlier.what, EventKind::Edit { newly_mentions, .. } if newly_mentions.contains(&self.hub.me));
            mentions && earlier.sender == edit.sender && when(earlier) < when(edit)
        })
    }
}
