//! Withdraws the bot's messages when they were forgotten.

use async_trait::async_trait;
use muninn_texts::Value;

use crate::{ConversationId, EventId, MessageId};

/// Withdraws messages of the bot, one at a time. A [`Reply`](crate::Reply) has one, and an adapter
/// provides one with [`Incoming::Connected`](crate::Incoming) for what an earlier process did not
/// finish.
///
/// Each call is one attempt, bounded in time and at the pace that the platform allows; the bot
/// decides about retries.
#[async_trait]
pub trait Withdraw: Send + Sync {
    /// Removes a message with all its earlier wordings, or empties it on platforms that cannot
    /// remove messages.
    async fn withdraw(&self, conversation: &ConversationId, message: &MessageId) -> Withdrawn;

    /// Returns the messages of the answer to a question when they are not recorded: the process
    /// that posted them was killed before that.
    ///
    /// # Errors
    /// Fails when the platform cannot be asked now.
    async fn find_answer(
        &self,
        _conversation: &ConversationId,
        _question: &EventId,
    ) -> Result<Vec<MessageId>, NotNow> {
        Ok(Vec::new())
    }

    /// Replaces a title that the bot gave the conversation by one that says nothing of its content.
    async fn clear_title(&self, _conversation: &ConversationId) -> Withdrawn {
        Withdrawn::Gone
    }
}

/// The platform is unreachable or rate limits: ask again later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotNow;

/// The result of withdrawing a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Withdrawn {
    /// Nobody can read it any more; also if it was already gone.
    Gone,
    /// The platform is unreachable or rate limits: try again later.
    NotYet,
    /// It stays for good. Holds the reason, as the end of a sentence after "because".
    Stays(Value),
}

impl Withdrawn {
    /// It stays for good, for this reason: the end of a sentence after "because".
    pub fn stays(why: impl Into<Value>) -> Self {
        Self::Stays(why.into())
    }
}

/// For a platform where earlier messages cannot be found.
#[derive(Clone, Copy, Debug)]
pub struct NoEarlierMessages;

#[async_trait]
impl Withdraw for NoEarlierMessages {
    async fn withdraw(&self, _: &ConversationId, _: &MessageId) -> Withdrawn {
        Withdrawn::Gone
    }
}
