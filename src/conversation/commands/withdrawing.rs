//! Plans which of the bot's messages to withdraw, before the record of them is deleted.

use std::collections::BTreeMap;
use std::sync::Arc;

use muninn_platform::{ConversationId, IncomingMessage};

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
        let is_meant = |id: ResponseId| turn.is_none_or(|turn| turn == id);
        let mut spoken = self.archive.offline_deliveries(session, is_meant);
        let is_waiting = !spoken.is_empty();
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
                first.map_or(true, |first| {
                    // Without an answer, a message that was only heard is no title.
                    first.first().map_or(is_waiting, |first| first.id == turn)
                })
            }
            None => true,
        };
        let all = ForgottenConversation::of(session, spoken, has_title);
        Ok(self.plan_on_platforms(all, message, context).await)
    }

    /// The same for some turns of a session.
    pub(super) async fn plan_turns_withdrawal(
        &self,
        guard: &SessionGuard,
        message: &IncomingMessage,
        turns: &[ResponseId],
        context: &CommandContext,
    ) -> Result<PlannedWithdrawals, StoreError> {
        let (session, store) = (guard.session(), self.archive.store());
        let is_meant = |id: ResponseId| turns.contains(&id);
        let mut spoken = self.archive.offline_deliveries(session, is_meant);
        store
            .mark_turns_being_forgotten(session, turns, message.sent_at)
            .await?;
        spoken.extend(store.delivered_messages_of(turns).await?);
        let first = store.answers_after(session, None, 1).await?;
        let has_title = first.first().is_some_and(|first| is_meant(first.id));
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
            let is_seen =
                |it: &ForgottenConversation| !is_aside_of_other(&it.conversation, message);
            let (seen, unseen) = all.into_iter().partition(is_seen);
            let plan = |all| {
                let withdraw = Arc::clone(&withdraw);
                self.withdrawals.plan_withdrawal(&platform, withdraw, all)
            };
            planned.add(plan(seen).await);
            planned.add(plan(unseen).await.untold());
        }
        planned
    }
}

/// Whether a conversation is what somebody other than the author asked privately in a channel. They alone see whether its
/// messages stay.
fn is_aside_of_other(conversation: &ConversationId, message: &IncomingMessage) -> bool {
    let Some((_, owner)) = conversation.as_str().split_once("/private/") else {
        return false;
    };
    // It ends with the part of the account's ID that is not in the channel's.
    !message.accounts().iter().any(|own| own.ends_with(owner))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::message;

    #[test]
    fn what_others_ask_privately_is_not_the_authors() {
        let mut message = message("e");
        for (author, conversation, is_others) in [
            ("slack/T/U1", "slack/T/C/private/U2", true),
            ("slack/T/U1", "slack/T/C/private/U1", false),
            ("slack/T/U1", "slack/T/C/main", false),
            ("discord/3", "discord/1/2/private/3", false),
            ("discord/3", "discord/1/2/private/4", true),
            ("matrix/@ann/b:a", "matrix/!room:a/private/@ann/b:a", false),
        ] {
            message.author.id = author.to_owned();
            let conversation = ConversationId::new(conversation);
            let is_aside = is_aside_of_other(&conversation, &message);
            assert_eq!(is_aside, is_others, "{author} {conversation}");
        }
    }
}
