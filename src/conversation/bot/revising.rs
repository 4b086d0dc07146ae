//! Handles edits and deletions of messages.

use std::sync::Arc;

use muninn_platform::{
    Addressed, Attention, Body, ConversationId, EventId, IncomingMessage, Reply,
};
use tokio::sync::OwnedSemaphorePermit;

use super::Bot;
use super::revision_retries::{RevisionRetries, RevisionWait};
use crate::conversation::attachments::Files;
use crate::conversation::commands::CommandContext;
use crate::conversation::in_flight::Revision;
use crate::conversation::turn::{KeptReason, Regenerated, Regeneration, TurnError, tell_asker};
use crate::conversation::withdrawals::WithdrawalOutcome;
use crate::graph::answers::WhichResponse;
use crate::graph::session::SessionGuard;
use crate::graph::{ResponseId, StoreError, Turn};

/// How often the message of an edit is looked up again, 15 s in all, if nobody knows it and it may still be saved: another
/// process may have answered it while the graph was away, and what people say to one another may wait to be embedded.
const MAX_LOOKUPS: u32 = 6;

/// The result of one try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RevisionAttempt {
    Done,
    /// Another process may be answering the message, or a dead process may have left it unanswered.
    Open,
    /// Nobody knows the message.
    Unknown,
    /// The message was said to others, and the edit asks the bot, which answers there.
    Asks,
    /// The new answer is kept, and is delivered when its platform is back.
    Undelivered,
}

impl Bot {
    /// The queue of the revisions of one message.
    pub(super) fn revision_queue_id(event: &EventId) -> ConversationId {
        ConversationId::new(event.as_str())
    }

    /// Whether an edit leaves no words of its message; files may be left.
    pub(super) fn is_emptying(message: &IncomingMessage) -> bool {
        matches!(&message.body, Body::Edit { text, .. } if text.trim().is_empty())
    }

    /// Follows a revision, now or when the graph is back. Returns whether it did. It keeps its inbox permit until then, or until
    /// its message is found to be unknown.
    pub(super) async fn revise(
        self: &Arc<Self>,
        revision: Box<Revision>,
        mut room: Option<OwnedSemaphorePermit>,
    ) -> bool {
        let Some(of) = revised(&revision.message).cloned() else {
            return true;
        };
        let is_deletion = revision.is_deletion();
        if is_deletion {
            self.commands.listening.drop_held(&of);
        }
        let Err(mut revision) = self.attach_to_in_flight(&of, revision) else {
            return false;
        };
        let mut retries = RevisionRetries::default();
        let mut looks = self.lookups(&revision);
        loop {
            let wait = match self.try_revise(&mut revision).await {
                Ok(RevisionAttempt::Unknown) if looks > 0 => {
                    looks -= 1;
                    // Most messages that nobody here knows are not for the bot.
                    drop(room.take());
                    RevisionWait::Message
                }
                Ok(RevisionAttempt::Done | RevisionAttempt::Unknown) => {
                    if is_deletion {
                        self.pending.erase(&of).await;
                    }
                    return true;
                }
                Ok(RevisionAttempt::Asks) => return self.answer_edit(*revision, &of).await,
                Ok(RevisionAttempt::Undelivered) => return false,
                Ok(RevisionAttempt::Open) => RevisionWait::Message,
                Err(error) if error.is_transient() => RevisionWait::Graph,
                Err(error) => {
                    tracing::error!(error = &error as &dyn std::error::Error, event = %revision.message.event, "a revision failed");
                    return true;
                }
            };
            let Some(pause) = retries.pause(wait) else {
                tracing::error!(event = %revision.message.event, "a revision is left to whoever takes it next");
                return false;
            };
            tokio::select! {
                () = self.closing.cancelled() => return false,
                () = tokio::time::sleep(pause) => {}
            }
            // The message may have arrived meanwhile, left by a dead process.
            revision = match self.attach_to_in_flight(&of, revision) {
                Ok(()) => return false,
                Err(revision) => revision,
            };
        }
    }

    /// How often the message of a revision is looked up again if nobody knows it.
    fn lookups(&self, revision: &Revision) -> u32 {
        let audience = &revision.message.audience.id;
        let may_be_saved_later =
            self.archive.store().is_shared() || self.commands.hearing.heard.hears(audience);
        match may_be_saved_later && !revision.is_deletion() {
            true => MAX_LOOKUPS,
            false => 0,
        }
    }

    /// Keeps a message that was accepted as an edit, if its answer waits for its platform: it is delivered again under its own
    /// event. Returns whether it is kept, so that the edit needs nothing more.
    pub(super) async fn keep_undelivered(&self, message: &IncomingMessage) -> bool {
        let event = &message.event;
        if !self.pending.is_undelivered(event) {
            return false;
        }
        self.pending.accept(message).await;
        if !self.pending.is_undelivered(event) {
            // It was delivered meanwhile.
            self.pending.mark_done(event);
        }
        true
    }

    /// Attaches a revision to its message, if that is in flight. Whoever answers the message follows the revision and updates the
    /// ledger.
    fn attach_to_in_flight(
        &self,
        of: &EventId,
        revision: Box<Revision>,
    ) -> Result<(), Box<Revision>> {
        let is_deletion = revision.is_deletion();
        if let Some(older) = self.in_flight.revise(of, revision)? {
            self.pending.mark_done(&older);
        }
        if is_deletion {
            self.pending.mark_done(of);
        }
        Ok(())
    }

    /// Whether the bot is muted there, so that it does not answer again either.
    async fn is_muted(&self, message: &IncomingMessage) -> bool {
        let (store, audience) = (self.archive.store(), message.channel());
        let listening = &self.commands.listening;
        let attention = listening.attention(store, &message.conversation, audience);
        attention.await == Attention::Muted
    }

    /// Follows a revision of a turn whose session is held. Returns whether the revision needs nothing more.
    ///
    /// # Errors
    /// Returns the revision if it has to be retried later.
    pub(super) async fn revise_within(
        &self,
        guard: &SessionGuard,
        mut revision: Box<Revision>,
    ) -> Result<bool, Box<Revision>> {
        let followed = async {
            // This comes first, as looking for a deleted answer takes time.
            self.record_deletion(&revision.message).await?;
            self.revise_turn(guard, &mut revision).await
        };
        match followed.await {
            Ok(is_done) => Ok(is_done),
            Err(error) => {
                let is_transient = error.is_transient();
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, event = %revision.message.event, is_transient, "a revision was not followed");
                if is_transient {
                    Err(revision)
                } else {
                    Ok(true)
                }
            }
        }
    }

    /// Follows a revision as soon as possible: when its message is answered or the graph is back.
    pub(super) fn revise_later(self: &Arc<Self>, revision: Box<Revision>) {
        let bot = Arc::clone(self);
        self.spawn(async move {
            let event = revision.message.event.clone();
            let is_done = bot.revise(revision, None).await;
            bot.pending.end_work(&event, is_done);
        });
    }

    async fn try_revise(&self, revision: &mut Revision) -> Result<RevisionAttempt, TurnError> {
        let Some(of) = revised(&revision.message) else {
            return Ok(RevisionAttempt::Done);
        };
        // This comes first: the message may be delivered again at any moment, and looking for a deleted answer takes time.
        self.record_deletion(&revision.message).await?;
        // Checked before the turn is looked up, as whoever answers the message may keep the turn in between.
        let is_open = self.is_open(of).await?;
        let turn = match self.archive.turn_of_event(of).await? {
            Some(turn) => Some(turn),
            None if is_open => return Ok(RevisionAttempt::Open),
            None => self.find_revised_turn(&revision.message).await?,
        };
        let Some(turn) = turn else {
            return Ok(RevisionAttempt::Unknown);
        };
        if self.addresses_heard_message(revision).await? {
            return Ok(RevisionAttempt::Asks);
        }
        let guard = self.sessions.lock(&ConversationId::new(turn.session)).await;
        let _place = self.acquire_turn_permit(&revision.message).await;
        Ok(match self.revise_turn(&guard, revision).await? {
            true => RevisionAttempt::Done,
            false => RevisionAttempt::Undelivered,
        })
    }

    /// Whether a message is being worked on, or was left by a dead process.
    async fn is_open(&self, event: &EventId) -> Result<bool, StoreError> {
        Ok(self.in_flight.has(event)
            || self
                .archive
                .is_claimed(event, self.pending.holder())
                .await?
            || self.pending.is_pending(event).await?)
    }

    /// Records that a message was deleted. It may still arrive: delivered again after a kill in the middle of this, or late.
    async fn record_deletion(&self, revision: &IncomingMessage) -> Result<(), StoreError> {
        match &revision.body {
            Body::Deletion { of } => {
                let session = &revision.conversation;
                self.archive.mark_deleted(session, of).await
            }
            Body::Edit { .. } | Body::Text(_) | Body::Command(_) => Ok(()),
        }
    }

    /// Follows a revision. Returns whether it needs nothing more.
    async fn revise_turn(
        &self,
        guard: &SessionGuard,
        revision: &mut Revision,
    ) -> Result<bool, TurnError> {
        // Looked up again, as it may have changed while this waited for the session.
        let Some(turn) = self.find_revised_turn(&revision.message).await? else {
            return Ok(true);
        };
        // Where the bot is muted, it neither answers again nor says why.
        let is_silent = turn.is_answered() && self.is_muted(&revision.message).await;
        if turn.is_answered() && !is_silent && self.refuse_too_long(revision).await {
            return Ok(true);
        }
        let Revision { message, reply } = revision;
        match &message.body {
            Body::Edit { .. } if turn.is_note() => {
                self.revise_note(guard, message, &turn, reply.as_ref())
                    .await?;
            }
            Body::Edit { text, .. } if leaves_nothing(text, &turn) => {
                self.forget_taken_back(guard, message, &turn, reply.as_mut())
                    .await?;
            }
            Body::Edit { text, .. } if turn.is_message() => {
                let text = text.clone();
                let is_off = self
                    .commands
                    .hearing
                    .reason_text_not_kept(&message.audience.id, &text);
                if is_off.is_some() {
                    let context = CommandContext::of(reply.as_ref());
                    let forgotten = self.commands.forget_turn(guard, message, turn.id, &context);
                    let (forgotten, planned) = forgotten.await;
                    self.commands.withdrawals.carry_out(planned).await;
                    forgotten?;
                } else {
                    self.update_heard_message(message, &EventId::new(&turn.event), &text)
                        .await?;
                }
            }
            // The edit came too late to be answered.
            Body::Edit { .. } if message.addressed == Addressed::Overheard || is_silent => {}
            Body::Edit { text, .. } => {
                let regeneration = Regeneration::Edited(text);
                let taken = self
                    .regenerate(guard, message, turn.id, regeneration, reply.as_mut())
                    .await?;
                tracing::debug!(?taken, "an edit was followed");
                return Ok(self.is_shown(message, taken));
            }
            Body::Deletion { .. } => {
                self.forget_taken_back(guard, message, &turn, reply.as_mut())
                    .await?;
            }
            Body::Text(_) | Body::Command(_) => {}
        }
        Ok(true)
    }

    /// Postpones a message whose new answer could not be delivered now. Returns whether the message needs nothing more.
    pub(super) fn is_shown(
        &self,
        message: &IncomingMessage,
        regenerated: Result<Regenerated, KeptReason>,
    ) -> bool {
        match regenerated {
            Ok(Regenerated::Undelivered) => !self.pending.postpone(message),
            Ok(Regenerated::Over)
            | Err(
                KeptReason::Same
                | KeptReason::OutOfWindow
                | KeptReason::NotTheirs
                | KeptReason::CallResult
                | KeptReason::Stopped,
            ) => true,
        }
    }

    /// Forgets a turn whose message was deleted or emptied, with its answer.
    async fn forget_taken_back(
        &self,
        guard: &SessionGuard,
        message: &IncomingMessage,
        turn: &Turn,
        reply: &mut dyn Reply,
    ) -> Result<(), TurnError> {
        let context = CommandContext::of(reply);
        let forgotten = self.commands.forget_turn(guard, message, turn.id, &context);
        let (forgotten, planned) = forgotten.await;
        let outcome = self.commands.withdrawals.carry_out(planned).await;
        forgotten?;
        reply.remove_remaining_messages().await;
        if outcome != WithdrawalOutcome::default() {
            tracing::warn!(?outcome, "an answer could not be taken away");
        }
        Ok(())
    }

    /// Refuses an edit that is longer than a question may be, and tells its author. Only edits that mention the bot are measured
    /// when they arrive, as what people say to one another may be longer.
    pub(super) async fn refuse_too_long(&self, revision: &mut Revision) -> bool {
        let Revision { message, reply } = revision;
        let Err(notice) = self.admission.within_length(message) else {
            return false;
        };
        metrics::counter!("muninn_refusals_total").increment(1);
        if self.admission.claim_refusal_notice(message, &notice) {
            let said = notice.in_language(message.languages.person);
            tell_asker(reply.as_mut(), &said).await;
        }
        true
    }

    /// Regenerates an answer so that it can be stopped meanwhile.
    pub(super) async fn regenerate(
        &self,
        guard: &SessionGuard,
        message: &IncomingMessage,
        of: ResponseId,
        regeneration: Regeneration<'_>,
        reply: &mut dyn Reply,
    ) -> Result<Result<Regenerated, KeptReason>, TurnError> {
        let interrupt = self.in_flight.begin_regeneration(message, guard.session());
        let taken = self
            .turns
            .load_full()
            .regenerate(guard, message, of, regeneration, reply, &interrupt)
            .await;
        // No notice is needed for a revision or click that would have waited here.
        self.in_flight.remove_unless_revised(&message.event);
        taken
    }

    /// The turn that a revision is about, if there is one and its author may revise it.
    pub(super) async fn find_revised_turn(
        &self,
        message: &IncomingMessage,
    ) -> Result<Option<Turn>, StoreError> {
        let Some(of) = revised(message) else {
            return Ok(None);
        };
        let turn = match self.archive.turn_of_event(of).await? {
            None if matches!(message.body, Body::Deletion { .. }) => {
                self.turn_answered_by(message, of).await?
            }
            turn => turn,
        };
        if let (Body::Edit { .. }, Some(turn)) = (&message.body, &turn)
            && !self.is_in_same_audience(message, turn).await?
        {
            tracing::warn!(event = %of, "an edit came from another place than its message");
            return Ok(None);
        }
        // The platform decides who may delete: moderators may, for example.
        Ok(turn.filter(|turn| match message.body {
            Body::Edit { .. } => turn.author == message.author.id,
            Body::Deletion { .. } => true,
            Body::Text(_) | Body::Command(_) => false,
        }))
    }
}

impl Bot {
    /// The turn whose answer was deleted, for example by a moderator. An answer that was removed from its channel is not
    /// remembered either.
    async fn turn_answered_by(
        &self,
        message: &IncomingMessage,
        deleted: &EventId,
    ) -> Result<Option<Turn>, StoreError> {
        let archive = &self.archive;
        let audience = &message.audience.id;
        let here = self.in_flight.in_audience(audience);
        // Most deletions are not about the bot. The message of an answer of this process is known once no other question is in
        // flight; that of another process may just be recorded.
        let may_be_recorded_later = !archive.neighbours().is_alone(&message.audience.platform)
            || here.iter().any(|it| it.event != *deleted);
        for answer in deleted.as_messages() {
            let found = if may_be_recorded_later {
                archive.response_of_message(audience, &answer).await?
            } else {
                let sent = WhichResponse::SentAs(audience, &answer);
                archive.store().find_response(sent).await?
            };
            let Some((_, response)) = found else {
                continue;
            };
            if let Some(item) = archive.store().item(response).await? {
                return Ok(Some(item.turn));
            }
        }
        Ok(None)
    }
}

impl Bot {
    /// Whether a turn belongs to the audience of a message, as no answer may be regenerated from what another place remembers. A
    /// turn that still waits for the graph belongs to the process that kept it.
    async fn is_in_same_audience(
        &self,
        message: &IncomingMessage,
        turn: &Turn,
    ) -> Result<bool, StoreError> {
        let session = ConversationId::new(&turn.session);
        let audience = self.archive.store().audience_of(&session).await?;
        Ok(audience.is_none_or(|audience| audience == message.audience.id))
    }
}

/// Whether neither words nor files remain of a turn's message with this text.
fn leaves_nothing(text: &str, turn: &Turn) -> bool {
    let left = Files::of_turn(turn).text_with_file_notes(text);
    left.trim().is_empty()
}

fn revised(message: &IncomingMessage) -> Option<&EventId> {
    match &message.body {
        Body::Edit { of, .. } | Body::Deletion { of } => Some(of),
        Body::Text(_) | Body::Command(_) => None,
    }
}
