//! Withdraws what the bot posted.

use std::sync::Arc;

use async_trait::async_trait;
use muninn_platform::{ConversationId, EventId, MessageId as SentId, NotNow, Withdraw, Withdrawn};
use muninn_texts::text;
use serde_json::json;
use serenity::model::id::{ChannelId, MessageId};

use crate::archived::in_open_thread;
use crate::directory::DiscordChannelKind;
use crate::earlier::{self, EarlierAnswerQuery};
use crate::errors::{Failure, FailureKind, RefusalReason};
use crate::hub::DiscordHub;
use crate::ids::{self, DiscordPlace};
use crate::intent::neutral_name;
use crate::interaction_token::EditRoute;

pub(crate) struct DiscordWithdrawer(pub(crate) Arc<DiscordHub>);

#[async_trait]
impl Withdraw for DiscordWithdrawer {
    async fn withdraw(&self, conversation: &ConversationId, message: &SentId) -> Withdrawn {
        let Some((channel, id)) = ids::parse_sent(message) else {
            return Withdrawn::Gone;
        };
        let place = DiscordPlace::parse(conversation.as_str());
        if let Some(guild) = place.and_then(|place| place.guild) {
            if self.0.is_known_gone(guild, Some(channel)) {
                return Withdrawn::Gone;
            }
            if self.0.is_known_gone(guild, None) {
                return Withdrawn::stays(text!("stays-removed"));
            }
        }
        self.0.removed.insert(id, ());
        let is_aside =
            place.is_some_and(|place| place.private_to.is_some() && place.channel == channel);
        if !is_aside && !self.0.private_answers.has(&id) {
            return outcome(self.remove(channel, id).await);
        }
        match self.remove_ephemeral(id).await {
            // The reply to a command, which whoever forgets what it shows may not even see.
            Err(failure) if failure.is(RefusalReason::InteractionOver) && !is_aside => {
                Withdrawn::Gone
            }
            removed => outcome(removed),
        }
    }

    async fn find_answer(
        &self,
        conversation: &ConversationId,
        question: &EventId,
    ) -> Result<Vec<SentId>, NotNow> {
        let asked =
            DiscordPlace::parse(conversation.as_str()).zip(ids::DiscordEventId::parse(question));
        let sought = asked.and_then(|(place, event)| {
            let (since, sought) = earlier::answer_search_criteria(&place, &event)?;
            let is_in_thread = sought == EarlierAnswerQuery::FirstInThread;
            let beside = self.0.unopened.channel_of(place.channel);
            Some(match beside.filter(|_| is_in_thread) {
                Some(channel) => (channel, since, EarlierAnswerQuery::ReplyTo(since)),
                None => (place.channel, since, sought),
            })
        });
        let Some((channel, since, sought)) = sought else {
            return Ok(Vec::new());
        };
        match self.0.api.messages_after(channel, since).await {
            Ok(mut said) => {
                said.sort_by_key(|message| message.id);
                let found = earlier::find(&said, self.0.me, sought).into_iter();
                Ok(found.map(|it| ids::sent(channel, it.id)).collect())
            }
            Err(failure) if failure.request_failure().is_temporary() => Err(NotNow),
            // An unreadable channel cannot be searched.
            Err(_) => Ok(Vec::new()),
        }
    }

    async fn clear_title(&self, conversation: &ConversationId) -> Withdrawn {
        let place = DiscordPlace::parse(conversation.as_str());
        let is_there = |it: &DiscordPlace| match it.guild {
            Some(guild) => {
                !self.0.is_known_gone(guild, Some(it.channel)) && !self.0.is_known_gone(guild, None)
            }
            None => false,
        };
        let place = place.filter(|it| it.private_to.is_none() && is_there(it));
        match place {
            Some(place) => outcome(self.rename(place.channel).await),
            None => Withdrawn::Gone,
        }
    }
}

impl DiscordWithdrawer {
    async fn remove(&self, channel: ChannelId, id: MessageId) -> Result<(), Failure> {
        let api = &self.0.api;
        in_open_thread(api, channel, || api.delete(channel, id)).await
    }

    /// Deletes it with the interaction's token, which is valid for fifteen minutes.
    async fn remove_ephemeral(&self, id: MessageId) -> Result<(), Failure> {
        let over = || Failure::refused(RefusalReason::InteractionOver, "the interaction is over");
        let (token, via) = self.0.private_answers.get(&id).ok_or_else(over)?;
        let secret = token.secret_or_over()?;
        match via {
            EditRoute::Original => self.0.api.delete_original(secret).await,
            EditRoute::FollowUp | EditRoute::Bot => self.0.api.delete_follow_up(secret, id).await,
        }
    }

    /// Renames a thread that the bot opened, which is named after its first question. The message
    /// that it posted to open it has the same text.
    async fn rename(&self, thread: ChannelId) -> Result<(), Failure> {
        let found = self.0.api.channel(thread).await?;
        let is_thread = DiscordChannelKind::from(found.kind).is_thread();
        if !is_thread || found.owner_id != Some(self.0.me) {
            return Ok(());
        }
        let is_archived = found.thread_metadata.is_some_and(|data| data.archived);
        let there = DiscordPlace::new(Some(found.guild_id), thread);
        let name = neutral_name(self.0.language_there(there));
        if found.name != name {
            let mut change = json!({ "name": name });
            if is_archived {
                change["archived"] = json!(false);
            }
            self.0.api.change_channel(thread, &change).await?;
        }
        match found.parent_id {
            Some(parent) => {
                self.remove_starter(parent, MessageId::new(thread.get()))
                    .await
            }
            None => Ok(()),
        }
    }

    async fn remove_starter(&self, channel: ChannelId, id: MessageId) -> Result<(), Failure> {
        let api = &self.0.api;
        match api.message(channel, id).await {
            Ok(starter) if starter.author.id == self.0.me => {
                self.0.removed.insert(id, ());
                api.delete(channel, id).await
            }
            Ok(_) => Ok(()),
            // The bot may always read its own threads, so an unreadable one is not its own.
            Err(failure) if failure.is(RefusalReason::MayNot) => Ok(()),
            Err(failure) => Err(failure),
        }
    }
}

fn outcome(removed: Result<(), Failure>) -> Withdrawn {
    let Err(failure) = removed else {
        return Withdrawn::Gone;
    };
    match failure.kind {
        FailureKind::Away | FailureKind::Limited | FailureKind::LoggedOut => Withdrawn::NotYet,
        FailureKind::Refused(RefusalReason::NoMessage | RefusalReason::NoChannel) => {
            Withdrawn::Gone
        }
        FailureKind::Refused(RefusalReason::InteractionOver) => {
            Withdrawn::stays(text!("stays-only-you-discord"))
        }
        FailureKind::Refused(RefusalReason::MayNot) => Withdrawn::stays(text!("stays-no-access")),
        FailureKind::Refused(RefusalReason::Locked) => Withdrawn::stays(text!("stays-locked")),
        FailureKind::Refused(
            RefusalReason::AcknowledgedAlready
            | RefusalReason::NoHistory
            | RefusalReason::ThreadThere
            | RefusalReason::TooManyThreads
            | RefusalReason::NoDirect
            | RefusalReason::Other,
        ) => Withdrawn::stays(text!("stays-discord", why = failure.to_string())),
    }
}
