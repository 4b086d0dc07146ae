//! Withdraws the bot's messages.

use std::sync::Arc;

use async_trait::async_trait;
use muninn_platform::{
    ConversationId, EventId, MessageId, NotNow, PlatformVocabulary, Withdraw, Withdrawn,
};
use muninn_texts::text;

use crate::errors::ApiError;
use crate::hub::SlackHub;
use crate::ids::{self, SlackPlace};
use crate::reply_target::{SlackReplyTarget, remove};
use crate::standing;

/// Slack's terms.
pub(crate) const VOCABULARY: PlatformVocabulary = PlatformVocabulary {
    channel: "channel",
    conversation: "thread",
    moderator: "workspace-admin",
    forget_last: "forget last",
    forget_me_for_good: "forget me yes",
    has_slash_commands: false,
    refused: &[],
};

pub(crate) struct SlackWithdrawer(pub(crate) Arc<SlackHub>);

#[async_trait]
impl Withdraw for SlackWithdrawer {
    async fn withdraw(&self, _: &ConversationId, message: &MessageId) -> Withdrawn {
        let Some((channel, _)) = message.as_str().split_once('/') else {
            return Withdrawn::Gone;
        };
        let Some(ts) = ids::standing_ts(message) else {
            return Withdrawn::stays(text!("stays-only-you-slack"));
        };
        let found = match ids::announcement_mark(message) {
            None => ts.to_owned(),
            Some(mark) => match standing::find_marked_announcement(&self.0, channel, mark).await {
                Ok(Some(ts)) => ts,
                Ok(None) => return Withdrawn::Gone,
                Err(error) => return outcome(Err(error)),
            },
        };
        outcome(remove(&self.0, channel, &found).await)
    }

    async fn find_answer(
        &self,
        conversation: &ConversationId,
        question: &EventId,
    ) -> Result<Vec<MessageId>, NotNow> {
        let Some(place) = SlackPlace::parse(conversation.as_str()) else {
            return Ok(Vec::new());
        };
        let channel = place.channel.clone();
        let target = SlackReplyTarget {
            place,
            question: question.clone(),
            question_ts: ids::ts_of(question).map(str::to_owned),
            asker: String::new(),
            team: self.0.me.team.clone(),
            may_be_repetition: true,
        };
        let (found, failure) = standing::search(&self.0, &target).await;
        if failure.is_some_and(|error| error.request_failure().is_temporary()) {
            return Err(NotNow);
        }
        let parts = found.parts.iter().flatten();
        Ok(parts.map(|ts| ids::message(&channel, ts)).collect())
    }
}

fn outcome(removed: Result<(), ApiError>) -> Withdrawn {
    match removed {
        Ok(()) => Withdrawn::Gone,
        Err(ApiError::Limited { .. } | ApiError::Away { .. } | ApiError::Revoked { .. }) => {
            Withdrawn::NotYet
        }
        Err(ApiError::MissingScope { needed, .. }) => {
            Withdrawn::stays(text!("stays-scope", needed))
        }
        Err(ApiError::Refused { code, .. }) => Withdrawn::stays(text!("stays-slack", code)),
    }
}

#[cfg(test)]
mod tests {
    use loopback_slack::ResponseFault;
    use muninn_platform::{Announce as _, Announced, SafeText};

    use super::*;
    use crate::announce::SlackAnnouncer;
    use crate::testing::opened;

    #[tokio::test]
    async fn an_announcement_of_which_slack_did_not_tell_is_searched_and_removed() {
        let (slack, hub) = opened().await;
        let channel = slack.channel("general");
        let chat = slack.person("Ann").in_channel(&channel);
        let audience = ids::audience(&hub.me.team, channel.id());
        slack.fail_next("chat.postMessage", ResponseFault::LostAnswer);
        let unreadable = ResponseFault::Error("not_in_channel");
        slack.fail_next("conversations.history", unreadable);
        let announcer = SlackAnnouncer(Arc::clone(&hub));
        let said = announcer
            .announce(&audience, &SafeText::new("A digest."))
            .await;
        let Announced::Said(messages) = said else {
            panic!("{said:?}");
        };
        let standing = || chat.said().into_iter().filter(|it| !it.is_deleted).count();
        assert_eq!(standing(), 1);
        let conversation = ConversationId::new(audience.as_str());
        let withdrawer = SlackWithdrawer(hub);
        slack.fail_next("conversations.history", ResponseFault::Status(503));
        let [message] = &messages.0[..] else {
            panic!("{messages:?}");
        };
        for (expected, left) in [
            (Withdrawn::NotYet, 1),
            (Withdrawn::Gone, 0),
            (Withdrawn::Gone, 0),
        ] {
            let withdrawn = withdrawer.withdraw(&conversation, message).await;
            assert_eq!(withdrawn, expected);
            assert_eq!(standing(), left);
        }
    }

    #[tokio::test]
    async fn without_an_answer_of_slack_nothing_is_known_of_an_answer() {
        let (slack, hub) = opened().await;
        let team = hub.me.team.clone();
        let channel = slack.channel("general").id().to_owned();
        let withdrawer = SlackWithdrawer(hub);
        for (fault, expected) in [
            (None, Ok(Vec::new())),
            (Some("token_revoked"), Err(NotNow)),
            // It cannot be searched at any time.
            (Some("not_in_channel"), Ok(Vec::new())),
        ] {
            if let Some(error) = fault {
                slack.fail_next("conversations.history", ResponseFault::Error(error));
            }
            let conversation = ConversationId::new(format!("slack/{team}/{channel}/main"));
            let question = ids::message_event(&team, &channel, "1700000000.000001");
            let found = withdrawer.find_answer(&conversation, &question).await;
            assert_eq!(found, expected, "{fault:?}");
        }
    }
}
