//! Plans which of the bot's messages to withdraw, before the record of them is deleted.

use std::collections::BTreeMap;
use std::sync::Arc;

use muninn_platform::IncomingMessage;

use super::{CommandContext, Commands};
use crate::conversation::withdrawals::{ForgottenConversation, PlannedWithdrawals};
use crate::graph::session::SessionGuard;
use crate::graph::{Forget, Forgotten, ResponseId, StoreError};

/// The whole session of a message, as what its author wants forgotten.
pub(super) fn whole_session(message: &IncomingMessage) -> Forget {
    Forget::Session {
        said_until: message.sent_at,
    }
}

impl Commands {
    /// Plans to withdraw the messages of emptied answers, including those sent since an earlier look.
    pub(super) async fn plan_emptied(
        &self,
        forgotten: &Forgotten,
        message: &IncomingMessage,
        context: &CommandContext,
    ) -> PlannedWithdrawals {
        let all =
            ForgottenConversation::of(&message.conversation, forgotten.emptied.clone(), false);
        self.plan_on_platforms(all, message, context).await
    }

    /// Plans to withdraw the bot's messages of a turn or of a whole session, before these are forgotten. The turns are
    /// marked first: an answer that shows them and is kept after this look is withdrawn by the process that shows it.
    pub(super) async fn plan_withdrawal(
        &self,
        guard: &SessionGuard,
        message: &IncomingMessage,
        turn: Option<ResponseId>,
        context: &CommandContext,
    ) -> Result<PlannedWithdrawals, StoreError> {
        let (session, store) = (guard.session(), self.archive.store());
        let mut spoken = self.archive.offline_deliveries(session, turn);
        let saved = async {
            store
                .mark_being_forgotten(
                    session,
                    turn.map_or_else(|| whole_session(message), Forget::Turn),
                )
                .await?;
            store.delivered_messages(session, turn).await
        };
        match saved.await {
            Ok(saved) => spoken.extend(saved),
            // Turns that wait for the graph can be forgotten without it.
            Err(error) if error.is_outage() && turn.is_some() && !spoken.is_empty() => {}
            Err(error) => return Err(error),
        }
        let has_title = match turn {
            // The title of a conversation is its first question.
            Some(turn) => {
                let first = store.answers_after(session, None, 1).await;
                let first = first.unwrap_or_default();
                first.first().is_none_or(|first| first.id == turn)
            }
            None => true,
        };
        let all = ForgottenConversation::of(session, spoken, has_title);
        Ok(self.plan_on_platforms(all, message, context).await)
    }

    /// Writes down what to withdraw, on whatever platform it is.
    pub(super) async fn plan_on_platforms(
        &self,
        all: Vec<ForgottenConversation>,
        message: &IncomingMessage,
        context: &CommandContext,
    ) -> PlannedWithdrawals {
        let here = &message.audience.platform;
        let mut by_platform = BTreeMap::from([(here.clone(), Vec::new())]);
        for one in all {
            let platform = one.conversation.platform().to_owned();
            by_platform.entry(platform).or_default().push(one);
        }
        let mut planned = PlannedWithdrawals::default();
        for (platform, all) in by_platform {
            let withdraw = if platform == *here {
                Arc::clone(&context.withdraw)
            } else {
                self.withdrawals.of(&platform)
            };
            let more = self.withdrawals.plan_withdrawal(&platform, withdraw, all);
            planned.add(more.await);
        }
        planned
    }
}
