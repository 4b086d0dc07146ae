//! Answers one message, and follows what happens to the message meanwhile.

use std::sync::Arc;

use muninn_platform::{Addressed, Body, EventId, IncomingMessage, Reply};
use tracing::Instrument as _;

use super::Bot;
use crate::agent::telemetry;
use crate::conversation::in_flight::{Begin, Revision};
use crate::conversation::notice::Notice;
use crate::conversation::turn::{After, MOST_AGAIN, TurnError, deliver};
use crate::graph::session::SessionGuard;

/// What became of the turn of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TurnEnd {
    /// Nothing more is to be delivered.
    Over,
    /// The answer is kept, and its platform was away for too long to deliver it now.
    Undelivered,
    /// Another process may have answered the message, so whichever process takes it continues.
    Unknown,
}

impl TurnEnd {
    fn of(over: &Result<After, TurnError>) -> Self {
        match over {
            Ok(After::EarlierUndelivered | After::Undelivered) => Self::Undelivered,
            Ok(After::Unknown) => Self::Unknown,
            Ok(
                After::Nothing
                | After::Earlier
                | After::Elsewhere
                | After::Silent
                | After::Summarize
                | After::Stopped
                | After::GivenUp
                | After::Superseded
                | After::Outdated,
            )
            | Err(_) => Self::Over,
        }
    }
}

impl Bot {
    /// Answers a message, and starts again whenever it is edited meanwhile.
    pub(super) async fn take_turn(
        self: &Arc<Self>,
        guard: &SessionGuard,
        message: &IncomingMessage,
        text: &str,
        reply: Box<dyn Reply>,
    ) -> TurnEnd {
        let mut followed = Vec::new();
        let end = self
            .take_turn_as_revised(guard, message, text, reply, &mut followed)
            .await;
        // Not before the answer is kept: after a crash, the message is delivered with its original text.
        for revision in &followed {
            self.pending.mark_done(revision);
        }
        end
    }

    async fn take_turn_as_revised(
        self: &Arc<Self>,
        guard: &SessionGuard,
        message: &IncomingMessage,
        text: &str,
        mut reply: Box<dyn Reply>,
        followed: &mut Vec<EventId>,
    ) -> TurnEnd {
        let mut message = message.clone();
        let mut text = text.to_owned();
        let mut again = 0;
        let mut newest = None;
        loop {
            let Begin {
                interrupt,
                revision,
                mut is_taken_back,
                is_stopped,
            } = self.in_flight.begin(&message.event);
            if let Some(mut revision) = revision {
                let event = revision.message.event.clone();
                if self.refuse_too_long(&mut revision).await {
                    self.pending.mark_done(&event);
                } else {
                    followed.push(event);
                    is_taken_back |= became_deletion(&mut revision, &message);
                    if let Body::Edit { text: newer, .. } = &revision.message.body {
                        text.clone_from(newer);
                        message = with_edit(message, &revision.message);
                    }
                    newest = Some(revision);
                }
            }
            if is_taken_back {
                if !self.retract_deleted(guard, &message, newest).await {
                    followed.pop();
                }
                return TurnEnd::Over;
            }
            if is_stopped && newest.is_none() {
                return TurnEnd::Over;
            }
            let turns = self.turns.load_full();
            let revised_at = newest.as_ref().map(|it| it.message.sent_at);
            let taken = turns
                .run_turn(
                    guard,
                    &message,
                    &text,
                    revised_at,
                    reply.as_mut(),
                    &interrupt,
                )
                .instrument(telemetry::turn(&turns.config.bot_name, &message))
                .await;
            let over = match taken {
                Ok(After::Superseded) => continue,
                Ok(After::Outdated) if again < MOST_AGAIN => {
                    again += 1;
                    continue;
                }
                over @ (Ok(
                    After::Outdated
                    | After::Nothing
                    | After::Stopped
                    | After::GivenUp
                    | After::Earlier
                    | After::EarlierUndelivered
                    | After::Undelivered
                    | After::Elsewhere
                    | After::Unknown
                    | After::Silent
                    | After::Summarize,
                )
                | Err(_)) => over,
            };
            let end = TurnEnd::of(&over);
            let concluding = self.conclude(guard, &message, &text, newest, over, reply.as_mut());
            if !concluding.await {
                followed.pop();
            }
            return end;
        }
    }

    /// Does what remains after a turn of a message, which has its newest text. Returns whether its newest revision was followed.
    async fn conclude(
        self: &Arc<Self>,
        guard: &SessionGuard,
        message: &IncomingMessage,
        text: &str,
        newest: Option<Box<Revision>>,
        over: Result<After, TurnError>,
        reply: &mut dyn Reply,
    ) -> bool {
        let failed = Notice::Failed.in_language(message.language());
        match over {
            Ok(After::Nothing | After::Superseded | After::GivenUp | After::Undelivered) => {}
            Ok(After::Outdated) => {
                tracing::error!(event = %message.event, "what an answer is made from changes again and again");
                deliver(reply, &failed).await;
            }
            Ok(After::Stopped) => self.in_flight.mark_stopped(&message.event),
            // The answer belongs to the text before the edit.
            Ok(After::Earlier | After::EarlierUndelivered) => {
                return self.follow_revision(guard, newest).await;
            }
            Ok(After::Elsewhere | After::Unknown) => {
                // The process that answered it may not know of the revisions made here.
                if let Some(revision) = newest {
                    self.revise_later(revision);
                    return false;
                }
            }
            Ok(After::Silent) => {
                let revised_at = newest.as_ref().map(|it| it.message.sent_at);
                self.keep_unanswered(message, revised_at).await;
                // If it was delivered before, its text before the edit is kept.
                let is_followed = self.follow_revision(guard, newest).await;
                self.commands.listening.hold_as_context(message, text);
                return is_followed;
            }
            Ok(After::Summarize) => self.summarize(message),
            Err(error) => {
                metrics::counter!("muninn_failed_turns_total").increment(1);
                tracing::error!(error = &error as &dyn std::error::Error, event = %message.event, "a turn failed");
                deliver(reply, &failed).await;
            }
        }
        true
    }

    /// Follows the newest revision of a message that has a turn, now or later. Returns whether that is done.
    async fn follow_revision(
        self: &Arc<Self>,
        guard: &SessionGuard,
        newest: Option<Box<Revision>>,
    ) -> bool {
        let Some(revision) = newest else {
            return true;
        };
        match self.revise_within(guard, revision).await {
            Ok(is_done) => is_done,
            Err(revision) => {
                self.revise_later(revision);
                false
            }
        }
    }

    /// Makes sure that a deleted message is not answered, and that an earlier answer to it is removed. Returns
    /// whether that is done.
    pub(super) async fn retract_deleted(
        self: &Arc<Self>,
        guard: &SessionGuard,
        message: &IncomingMessage,
        revision: Option<Box<Revision>>,
    ) -> bool {
        if let Some(deletion) = revision.filter(|it| it.is_deletion()) {
            return match self.revise_within(guard, deletion).await {
                Ok(is_done) => is_done,
                Err(deletion) => {
                    self.revise_later(deletion);
                    false
                }
            };
        }
        let (session, event) = (&message.conversation, &message.event);
        if let Err(error) = self.archive.mark_forgotten(session, event).await {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, %event, "that a message was taken back could not be kept");
        }
        true
    }

    /// Follows revisions that came after the answer was complete.
    pub(super) async fn follow_late_revisions(
        self: &Arc<Self>,
        guard: &SessionGuard,
        message: &IncomingMessage,
    ) {
        let mut later = Vec::new();
        while let Some(revision) = self.in_flight.remove_unless_revised(&message.event) {
            // It is answered as a new message. Where that is not known yet, it is found out later.
            if self
                .addresses_heard_message(&revision)
                .await
                .unwrap_or(true)
            {
                later.push(revision);
                continue;
            }
            let event = revision.message.event.clone();
            match self.revise_within(guard, revision).await {
                Ok(true) => self.pending.mark_done(&event),
                // It is delivered later, and stays accepted until then.
                Ok(false) => {}
                Err(revision) => later.push(revision),
            }
        }
        // Only now: until the message is removed from those in flight, each revision would be attached to it again.
        later.into_iter().for_each(|it| self.revise_later(it));
    }

    /// Follows the revisions of a message that another process answers, once it is answered.
    pub(super) fn follow_answered_elsewhere(self: &Arc<Self>, message: &IncomingMessage) {
        let mut left = Vec::new();
        while let Some(revision) = self.in_flight.remove_unless_revised(&message.event) {
            left.push(revision);
        }
        left.into_iter().for_each(|it| self.revise_later(it));
    }

    /// Updates the summary after the answer, without delaying it.
    pub(super) fn summarize(self: &Arc<Self>, message: &IncomingMessage) {
        let (bot, message) = (Arc::clone(self), message.clone());
        self.spawn(async move {
            let Some(summarizer) = &bot.maintenance.summarizer else {
                return;
            };
            tokio::select! {
                () = bot.closing.cancelled() => {}
                () = summarizer.extend_summary(&bot.sessions, &message) => {}
            }
        });
    }
}

/// Turns an edit that leaves nothing of a message into a deletion of it. Returns whether it did.
fn became_deletion(revision: &mut Revision, message: &IncomingMessage) -> bool {
    let Body::Edit { of, text } = &revision.message.body else {
        return false;
    };
    let is_empty = text.trim().is_empty() && message.attachments.is_empty();
    if is_empty {
        revision.message.body = Body::Deletion { of: of.clone() };
    }
    is_empty
}

/// The message with the text of an edit. The edit may have added a mention of the bot.
fn with_edit(message: IncomingMessage, edit: &IncomingMessage) -> IncomingMessage {
    let Body::Edit { text, .. } = &edit.body else {
        return message;
    };
    let addressed = match edit.addressed {
        Addressed::Directly => Addressed::Directly,
        Addressed::InConversation | Addressed::Overheard => message.addressed,
    };
    IncomingMessage {
        body: Body::Text(text.clone()),
        addressed,
        ..message
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_of_which_nobody_knows_whether_it_is_kept_is_not_over() {
        for (after, expected) in [
            (After::Nothing, TurnEnd::Over),
            (After::Elsewhere, TurnEnd::Over),
            (After::Undelivered, TurnEnd::Undelivered),
            (After::EarlierUndelivered, TurnEnd::Undelivered),
            (After::Unknown, TurnEnd::Unknown),
        ] {
            let over = Ok(after);
            assert_eq!(TurnEnd::of(&over), expected, "{over:?}");
        }
    }
}
