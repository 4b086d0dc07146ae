//! The place of an answer: an existing channel, or a thread that is opened when there is something
//! to post in it.

use std::sync::Arc;

use serde_json::json;
use serenity::model::Permissions;
use serenity::model::id::{ChannelId, MessageId};
use tokio::sync::OnceCell;

use crate::earlier::EarlierAnswerQuery;
use crate::errors::{Failure, RefusalReason};
use crate::hub::DiscordHub;
use crate::rights;

/// A thread to open at a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PendingThread {
    pub(crate) channel: ChannelId,
    pub(crate) message: MessageId,
    pub(crate) name: String,
}

/// Shared by an answer and its typing indicator: whoever needs the thread first opens it.
pub(crate) struct AnswerThread {
    pub(crate) hub: Arc<DiscordHub>,
    channel: ChannelId,
    opening: Option<PendingThread>,
    opened: OnceCell<ChannelId>,
}

impl AnswerThread {
    /// `channel` exists already, or is the thread that `opening` creates. Where that could not be
    /// opened before, what belongs to it stands in the channel, and so does the rest.
    pub(crate) fn new(
        hub: Arc<DiscordHub>,
        channel: ChannelId,
        opening: Option<PendingThread>,
    ) -> Self {
        let beside = opening.as_ref();
        let beside = beside.and_then(|_| hub.unopened.channel_of(channel));
        Self {
            hub,
            channel,
            opening,
            opened: OnceCell::new_with(beside),
        }
    }

    /// Returns the channel for messages; opens the thread if necessary.
    pub(crate) async fn channel(&self) -> Result<ChannelId, Failure> {
        match &self.opening {
            None => Ok(self.channel),
            Some(opening) => {
                let opened = self.opened.get_or_try_init(|| self.open(opening)).await?;
                Ok(*opened)
            }
        }
    }

    /// Returns the channel for messages, unless it is a thread that is not opened.
    pub(crate) fn opened(&self) -> Option<ChannelId> {
        match &self.opening {
            None => Some(self.channel),
            Some(_) => self.opened.get().copied(),
        }
    }

    /// Returns the question, if it is in this channel: messages there reply to it.
    pub(crate) fn reply_to(&self, channel: ChannelId) -> Option<MessageId> {
        let opening = self.opening.as_ref()?;
        (channel == opening.channel).then_some(opening.message)
    }

    /// Returns how to find the answer in this channel: beside the question it is a reply.
    pub(crate) fn sought_in(
        &self,
        channel: ChannelId,
        sought: EarlierAnswerQuery,
    ) -> EarlierAnswerQuery {
        let question = self.reply_to(channel);
        question.map_or(sought, EarlierAnswerQuery::ReplyTo)
    }

    /// Renames a thread that is open already after the question's current text.
    pub(crate) async fn rename(&self) {
        let Some(opening) = &self.opening else { return };
        let DiscordHub {
            api, outbox, me, ..
        } = &*self.hub;
        let renaming = async {
            let found = api.channel(self.channel).await?;
            if found.owner_id == Some(*me) && found.name != opening.name {
                let change = json!({ "name": opening.name });
                api.change_channel(self.channel, &change).await?;
            }
            Ok(())
        };
        let _ = outbox.try_once(renaming).await;
    }

    async fn open(&self, opening: &PendingThread) -> Result<ChannelId, Failure> {
        let PendingThread {
            channel,
            message,
            name,
        } = opening;
        let DiscordHub { api, outbox, .. } = &*self.hub;
        let opened = outbox
            .retry(|| api.open_thread(*channel, *message, name))
            .await;
        let failure = match opened {
            Err(failure) if !failure.is(RefusalReason::ThreadThere) => failure,
            // An earlier process opened it, or somebody was faster.
            Ok(()) | Err(_) => {
                self.hub.unopened.remove(self.channel);
                return Ok(self.channel);
            }
        };
        let missing = if failure.is(RefusalReason::MayNot) {
            Some(Permissions::CREATE_PUBLIC_THREADS | Permissions::READ_MESSAGE_HISTORY)
        } else if failure.is(RefusalReason::TooManyThreads) {
            None
        } else {
            return Err(failure);
        };
        let why = rights::describe_unopened_thread(&self.hub, *channel, missing);
        tracing::warn!(%failure, "{why}");
        self.hub.unopened.add(self.channel, *channel);
        Ok(*channel)
    }
}
