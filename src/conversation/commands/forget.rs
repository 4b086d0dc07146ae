//! Forgets a turn, a conversation, everything in an audience, or a place that no longer exists.
//!
//! What a command is about is stored before anything is deleted. When the same event is delivered again, after a kill at
//! any moment, it therefore has the same targets.

use std::collections::BTreeSet;

use muninn_platform::{AudienceId, ConversationId, IncomingMessage, Language};

use super::meant_turn::{LOOK_BACK, MeantTurn, TheirTurn, described};
use super::once::{CommandOutcome, SessionTarget, retry_until_done};
use super::withdrawing::whole_session;
use super::{CommandContext, Commands, outcome_text};
use crate::conversation::audit::AuditAction;
use crate::conversation::in_flight::InFlight;
use crate::conversation::notice::{ForgetNotice, Notice};
use crate::conversation::withdrawals::{PlannedWithdrawals, WithdrawalOutcome};
use crate::graph::answers::WhichSessions;
use crate::graph::marks::Covered;
use crate::graph::session::{SessionGuard, Sessions};
use crate::graph::{Forget, Forgotten, ResponseId, StoreError, Turn};
use crate::memory::MessageError;

impl Commands {
    /// Forgets the author's last turn, or the one to which they reply, and returns the reply. The caller holds no session, as
    /// the turn may be in another one.
    pub async fn forget_last(
        &self,
        sessions: &Sessions,
        message: &IncomingMessage,
        context: &CommandContext,
    ) -> String {
        let forgotten = self.try_forget_last(sessions, message, context).await;
        outcome_text(forgotten, message.language())
    }

    async fn try_forget_last(
        &self,
        sessions: &Sessions,
        message: &IncomingMessage,
        context: &CommandContext,
    ) -> Result<String, StoreError> {
        let meant = match self.outcome_if_reachable(message).await? {
            Some(CommandOutcome::Said(said)) => return Ok(said),
            Some(CommandOutcome::Turn(session, response, described)) => {
                MeantTurn::Theirs(TheirTurn {
                    session,
                    response,
                    described,
                    is_waiting: false,
                })
            }
            Some(
                CommandOutcome::Session(_)
                | CommandOutcome::Sessions(_)
                | CommandOutcome::Person { .. },
            )
            | None => self.meant_turn(message).await?,
        };
        let notice = match meant {
            MeantTurn::Theirs(turn) => {
                return self.forget_theirs(sessions, message, turn, context).await;
            }
            MeantTurn::NotTheirs => ForgetNotice::NotYourMessage(context.vocabulary),
            MeantTurn::Nothing => ForgetNotice::Nothing,
        };
        let said = Notice::Forget(notice).in_language(message.language());
        self.save_reply(message, said).await
    }

    async fn forget_theirs(
        &self,
        sessions: &Sessions,
        message: &IncomingMessage,
        turn: TheirTurn,
        context: &CommandContext,
    ) -> Result<String, StoreError> {
        let session = turn.session.clone();
        let outcome = CommandOutcome::Turn(session, turn.response, turn.described);
        match self.keep_outcome(message, &outcome).await {
            // A turn that still waits for the graph can be forgotten without it.
            Err(error) if turn.is_waiting && error.is_outage() => {}
            kept => kept?,
        }
        let turn = &turn;
        let forgetting = || self.forget_and_say(sessions, message, turn, context);
        retry_until_done(forgetting, StoreError::is_transient).await
    }

    async fn forget_and_say(
        &self,
        sessions: &Sessions,
        message: &IncomingMessage,
        last: &TheirTurn,
        context: &CommandContext,
    ) -> Result<String, StoreError> {
        let guard = sessions.lock(&last.session).await;
        let (outcome, planned) = self
            .forget_turn(&guard, message, last.response, context)
            .await;
        drop(guard);
        let visible = self.withdrawals.carry_out(planned).await;
        let language = message.language();
        match outcome {
            Ok(forgotten) => {
                let (about, turns) = (last.session.as_str(), Some(forgotten.turns));
                let action = AuditAction::ForgotTurn;
                self.audit
                    .record_message_action(message, action, about, turns)
                    .await;
                let zone = self.recaller.time_zone_of(message);
                let what = described(last.described, zone);
                let quotes = forgotten.quotes;
                let notice = Notice::Forget(ForgetNotice::Turn { what, quotes });
                let said = forgotten_text(&notice, &forgotten, visible, language);
                self.save_reply(message, said).await
            }
            Err(error) if last.is_waiting && error.is_outage() => {
                let (notice, nothing) = (
                    Notice::Forget(ForgetNotice::WaitingTurn),
                    Forgotten::default(),
                );
                Ok(forgotten_text(&notice, &nothing, visible, language))
            }
            Err(error) => Err(error),
        }
    }

    /// Forgets one turn, wherever it is kept. The caller still has to carry out the returned plan, which withdraws the
    /// bot's messages of the turn.
    ///
    /// # Errors
    /// Fails when the graph cannot be used.
    pub async fn forget_turn(
        &self,
        guard: &SessionGuard,
        message: &IncomingMessage,
        turn: ResponseId,
        context: &CommandContext,
    ) -> (Result<Forgotten, StoreError>, PlannedWithdrawals) {
        // An answer that repeats the turn may still wait for the graph, which is searched for it.
        if let Err(error) = self.archive.save_before_forgetting(guard, turn).await {
            return (Err(error), PlannedWithdrawals::default());
        }
        let mut planned = match self
            .plan_withdrawal(guard, message, Some(turn), context)
            .await
        {
            Ok(planned) => planned,
            Err(error) => return (Err(error), PlannedWithdrawals::default()),
        };
        let here = self.forget_unsaved_turns(guard.session(), |waiting| waiting.id == turn);
        let here = match here.await {
            Ok(here) => here,
            Err(error) => return (Err(error), planned),
        };
        let there = self.archive.forget_saved(guard, Forget::Turn(turn)).await;
        if let Ok(there) = &there {
            planned.add(self.plan_emptied(there, message, context).await);
        }
        self.recaller.forget(&message.audience.id);
        (there.map(|there| there.plus(here)), planned)
    }

    /// Forgets everything said in a deleted place and below it. Nobody is told. Returns whether it needs nothing more: no
    /// platform reports a deletion twice, so one for which the graph stays away is tried again later.
    pub async fn forget_deleted_place(
        &self,
        answering: (&Sessions, &InFlight),
        message: &IncomingMessage,
        context: &CommandContext,
    ) -> bool {
        let (sessions, _) = answering;
        let forgotten = async {
            let place = message.conversation.as_str();
            let looking = || async move {
                self.end_answers(answering, message, Covered::Under(place))
                    .await?;
                self.sessions_under(place).await
            };
            let found = retry_until_done(looking, StoreError::is_transient).await?;
            let mut all = PlannedWithdrawals::default();
            let mut forgotten = Forgotten::default();
            for (session, audience) in found {
                let guard = sessions.lock(&session).await;
                let (of_session, planned) = self.forget_whole(&guard, message, context).await?;
                all.add(planned);
                forgotten = forgotten.plus(of_session);
                self.recaller.forget(&audience);
            }
            self.withdrawals.carry_out(all).await;
            Ok::<_, StoreError>(forgotten.turns)
        };
        match forgotten.await {
            Ok(turns) => {
                tracing::info!(place = %message.conversation, turns, "forgotten: the place is gone");
                true
            }
            Err(error) => {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    place = %message.conversation,
                    "a place is gone, but what was said there could not be forgotten"
                );
                !error.is_transient()
            }
        }
    }

    /// The sessions of a place and below it, in the graph or still waiting for it, with their audiences.
    async fn sessions_under(
        &self,
        place: &str,
    ) -> Result<BTreeSet<(ConversationId, AudienceId)>, StoreError> {
        // Read first: what is saved in between is then found in the graph.
        let waiting = self.archive.waiting_sessions_under(place);
        let under = WhichSessions::Under(place);
        let found = self.archive.store().find_sessions(under).await?;
        Ok(found.into_iter().chain(waiting).collect())
    }

    /// Ends the answers to what was asked before a command and is forgotten by it: here at once, and in another process when
    /// it keeps them. A session whose first question is being answered is not found otherwise. The caller holds no session.
    async fn end_answers(
        &self,
        (sessions, in_flight): (&Sessions, &InFlight),
        message: &IncomingMessage,
        what: Covered<'_>,
    ) -> Result<(), StoreError> {
        let store = self.archive.store();
        store.mark_covered(what, message.sent_at).await?;
        for session in in_flight.cancel_asked_before(message, &[what]) {
            // When the lock is free, the turn that held the session has ended.
            drop(sessions.lock(&session).await);
        }
        Ok(())
    }

    /// Forgets everything said in an audience, one session after the other, and returns the reply. The caller holds no
    /// session, so that two concurrent calls do not deadlock.
    pub async fn forget_audience(
        &self,
        answering: (&Sessions, &InFlight),
        message: &IncomingMessage,
        context: &CommandContext,
    ) -> String {
        let vocabulary = context.vocabulary;
        if !message.may_moderate(&message.audience.id) {
            return Notice::Forget(ForgetNotice::ModeratorNeeded(vocabulary))
                .in_language(message.language());
        }
        let forgotten = self.try_forget_audience(answering, message, context).await;
        outcome_text(forgotten, message.language())
    }

    async fn try_forget_audience(
        &self,
        answering: (&Sessions, &InFlight),
        message: &IncomingMessage,
        context: &CommandContext,
    ) -> Result<String, StoreError> {
        let about = match self.outcome(message).await? {
            Some(CommandOutcome::Said(said)) => return Ok(said),
            Some(CommandOutcome::Sessions(about)) => about,
            Some(
                CommandOutcome::Session(_)
                | CommandOutcome::Turn(..)
                | CommandOutcome::Person { .. },
            )
            | None => {
                let here = Covered::Audience(&message.audience.id);
                self.end_answers(answering, message, here).await?;
                let about = self.sessions_here(message).await?;
                let outcome = CommandOutcome::Sessions(about.clone());
                self.keep_outcome(message, &outcome).await?;
                about
            }
        };
        let (forgotten, planned) = self
            .forget_sessions(answering.0, message, about, context)
            .await?;
        let (about, turns) = (message.audience.id.as_str(), Some(forgotten.turns));
        let action = AuditAction::ForgotChannel;
        self.audit
            .record_message_action(message, action, about, turns)
            .await;
        let visible = self.withdrawals.carry_out(planned).await;
        let vocabulary = context.vocabulary;
        let notice = match forgotten.turns {
            0 => Notice::NothingYet,
            turns => Notice::Forget(ForgetNotice::Audience { turns, vocabulary }),
        };
        let said = forgotten_text(&notice, &forgotten, visible, message.language());
        self.save_reply(message, said).await
    }

    /// The sessions of the audience, in the graph or still waiting for it.
    async fn sessions_here(
        &self,
        message: &IncomingMessage,
    ) -> Result<Vec<SessionTarget>, StoreError> {
        let audience = &message.audience.id;
        // Read first: what is saved in between is then found in the graph.
        let waiting = self.archive.waiting_sessions(audience);
        let here = WhichSessions::Of(audience);
        let found = self.archive.store().find_sessions(here).await?;
        let sessions = found.into_iter().map(|(session, _)| session);
        self.targets(sessions.chain(waiting).collect()).await
    }

    async fn forget_sessions(
        &self,
        sessions: &Sessions,
        message: &IncomingMessage,
        about: Vec<SessionTarget>,
        context: &CommandContext,
    ) -> Result<(Forgotten, PlannedWithdrawals), StoreError> {
        let mut forgotten = Forgotten::default();
        let mut all = PlannedWithdrawals::default();
        for target in about {
            let (of_session, planned) = match target {
                SessionTarget::Until(session, last) => {
                    let guard = sessions.lock(&session).await;
                    self.forget_until(&guard, message, last, context).await?
                }
                SessionTarget::Whole(session) => {
                    let guard = sessions.lock(&session).await;
                    self.forget_whole(&guard, message, context).await?
                }
            };
            all.add(planned);
            forgotten = forgotten.plus(of_session);
        }
        self.recaller.forget(&message.audience.id);
        Ok((forgotten, all))
    }

    /// Forgets a whole session, including what still waits for the graph, and plans to withdraw the bot's messages there.
    pub(super) async fn forget_whole(
        &self,
        guard: &SessionGuard,
        message: &IncomingMessage,
        context: &CommandContext,
    ) -> Result<(Forgotten, PlannedWithdrawals), StoreError> {
        let forgetting = || self.try_forget_whole(guard, message, context);
        retry_until_done(forgetting, StoreError::is_transient).await
    }

    async fn try_forget_whole(
        &self,
        guard: &SessionGuard,
        message: &IncomingMessage,
        context: &CommandContext,
    ) -> Result<(Forgotten, PlannedWithdrawals), StoreError> {
        self.archive.save_held_session(guard).await?;
        let mut planned = self.plan_withdrawal(guard, message, None, context).await?;
        let what = whole_session(message);
        let there = self.archive.forget_saved(guard, what).await?;
        planned.add(self.plan_emptied(&there, message, context).await);
        let here = self.forget_unsaved_turns(guard.session(), |_| true).await?;
        self.listening.forget(guard.session());
        Ok((there.plus(here), planned))
    }

    pub(super) async fn forget_session(
        &self,
        guard: &SessionGuard,
        message: &IncomingMessage,
        context: &CommandContext,
    ) -> Result<String, StoreError> {
        let vocabulary = context.vocabulary;
        if !message.may_moderate(&message.audience.id) && !self.all_mine(guard, message).await? {
            let notice = Notice::Forget(ForgetNotice::NotYours(vocabulary));
            return Ok(notice.in_language(message.language()));
        }
        let last = match self.outcome(message).await? {
            Some(CommandOutcome::Said(said)) => return Ok(said),
            Some(CommandOutcome::Session(last)) => last,
            Some(
                CommandOutcome::Sessions(_)
                | CommandOutcome::Turn(..)
                | CommandOutcome::Person { .. },
            )
            | None => {
                let last = self.last_turn(guard.session()).await?;
                let outcome = CommandOutcome::Session(last);
                self.keep_outcome(message, &outcome).await?;
                last
            }
        };
        let (forgotten, planned) = self.forget_until(guard, message, last, context).await?;
        self.recaller.forget(&message.audience.id);
        let about = guard.session().as_str();
        let turns = Some(forgotten.turns);
        self.audit
            .record_message_action(message, AuditAction::ForgotConversation, about, turns)
            .await;
        let notice = match forgotten.turns {
            0 if last.is_none() => Notice::Forget(ForgetNotice::Nothing),
            // The reply to an earlier try was lost.
            0 => Notice::Forget(ForgetNotice::All),
            turns => Notice::Forget(ForgetNotice::Session { turns, vocabulary }),
        };
        let visible = self.withdrawals.carry_out(planned).await;
        self.save_reply(
            message,
            forgotten_text(&notice, &forgotten, visible, message.language()),
        )
        .await
    }

    /// Forgets turns that still wait for the graph, or that it refused.
    ///
    /// # Errors
    /// Fails when the graph takes no copy of what is under a legal hold.
    pub(super) async fn forget_unsaved_turns(
        &self,
        session: &ConversationId,
        gone: impl Fn(&Turn) -> bool + Send + Sync,
    ) -> Result<Forgotten, StoreError> {
        let forgotten = self.archive.forget(session, gone).await;
        let (turns, is_in_file) = match forgotten {
            Ok(turns) => (turns, false),
            Err(MessageError::Graph(error)) => return Err(error),
            Err(error @ MessageError::Journal(_)) => {
                let error = &error as &dyn std::error::Error;
                tracing::error!(error, "what was forgotten is still in the journal's file");
                (1, true)
            }
        };
        Ok(Forgotten {
            turns,
            is_in_file,
            ..Forgotten::default()
        })
    }

    /// Whether this person alone talked in the session.
    async fn all_mine(
        &self,
        guard: &SessionGuard,
        message: &IncomingMessage,
    ) -> Result<bool, StoreError> {
        if self
            .archive
            .others_wait(guard.session(), &message.author.id)
        {
            return Ok(false);
        }
        let mut after = None;
        loop {
            let turns = self
                .archive
                .store()
                .chain(guard.session(), after, LOOK_BACK)
                .await?;
            if turns.iter().any(|turn| turn.author != message.author.id) {
                return Ok(false);
            }
            match turns.last() {
                Some(last) => after = Some(last.id),
                None => return Ok(true),
            }
        }
    }
}

/// What was forgotten, and what could not be: messages in the chat, and a file.
pub(super) fn forgotten_text(
    notice: &Notice,
    forgotten: &Forgotten,
    visible: WithdrawalOutcome,
    language: Language,
) -> String {
    let mut said = notice.in_language(language);
    if visible != WithdrawalOutcome::default() {
        let visible = Notice::Forget(ForgetNotice::StillVisible(visible)).in_language(language);
        said = format!("{said} {visible}");
    }
    if forgotten.is_in_file {
        let in_file = Notice::Forget(ForgetNotice::StillInFile).in_language(language);
        said = format!("{said}\n\n{in_file}");
    }
    said
}
