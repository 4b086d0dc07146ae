//! Forgets a session up to the turn that was its last when a command was given, so that the command forgets nothing that was
//! said since, however often its event is delivered.

use std::slice;

use muninn_platform::{ConversationId, IncomingMessage};

use super::once::{SessionTarget, retry_until_done};
use super::{CommandContext, Commands};
use crate::conversation::withdrawals::PlannedWithdrawals;
use crate::graph::session::SessionGuard;
use crate::graph::{Forgotten, ResponseId, StoreError, Turn};

impl Commands {
    /// The last turn of a session, in the graph or still waiting for it.
    pub(super) async fn last_turn(
        &self,
        session: &ConversationId,
    ) -> Result<Option<ResponseId>, StoreError> {
        let last = self.archive.ends_of(slice::from_ref(session)).await?;
        Ok(last.get(session).copied())
    }

    /// Sessions with their last turns.
    pub(super) async fn targets(
        &self,
        sessions: Vec<ConversationId>,
    ) -> Result<Vec<SessionTarget>, StoreError> {
        let last = self.archive.ends_of(&sessions).await?;
        let target = |session: ConversationId| {
            let last = last.get(&session).copied();
            SessionTarget::Until(session, last)
        };
        Ok(sessions.into_iter().map(target).collect())
    }

    /// Forgets a session up to the turn that was its last, if it had any.
    pub(super) async fn forget_until(
        &self,
        guard: &SessionGuard,
        message: &IncomingMessage,
        last: Option<ResponseId>,
        context: &CommandContext,
    ) -> Result<(Forgotten, PlannedWithdrawals), StoreError> {
        let looking = || self.last_turn(guard.session());
        let newest = retry_until_done(looking, StoreError::is_transient).await?;
        if newest == last {
            return self.forget_whole(guard, message, context).await;
        }
        let Some(last) = last else {
            // Those that were set aside are on no chain.
            let is_meant = |turn: &Turn| turn.created_at <= message.sent_at;
            let forgetting = || self.forget_unsaved_turns(guard.session(), is_meant);
            let aside = retry_until_done(forgetting, StoreError::is_transient).await?;
            return Ok((aside, PlannedWithdrawals::default()));
        };
        let looking = || self.archive.turns_until(guard, last);
        let turns = retry_until_done(looking, StoreError::is_transient).await?;
        let about = turns.as_slice();
        let forgetting = || self.forget_turns(guard, message, about, context);
        let (forgotten, planned) = retry_until_done(forgetting, StoreError::is_transient).await?;
        let is_meant = |turn: &Turn| turn.id <= last || turns.contains(&turn.id);
        let forgetting = || self.forget_unsaved_turns(guard.session(), is_meant);
        let aside = retry_until_done(forgetting, StoreError::is_transient).await?;
        Ok((forgotten.plus(aside), planned))
    }

    /// Forgets some turns of a session at once, and plans to withdraw the bot's messages of them.
    async fn forget_turns(
        &self,
        guard: &SessionGuard,
        message: &IncomingMessage,
        turns: &[ResponseId],
        context: &CommandContext,
    ) -> Result<(Forgotten, PlannedWithdrawals), StoreError> {
        if turns.is_empty() {
            return Ok((Forgotten::default(), PlannedWithdrawals::default()));
        }
        let planning = self.plan_turns_withdrawal(guard, message, turns, context);
        let mut planned = planning.await?;
        let forgetting = self
            .archive
            .forget_saved_turns(guard, turns, message.sent_at);
        let there = forgetting.await?;
        planned.add(self.plan_emptied(&there, message, context).await);
        self.listening.forget(guard.session());
        Ok((there, planned))
    }
}
