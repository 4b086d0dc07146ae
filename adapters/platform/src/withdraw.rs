//! Taking away what the bot said, when it was forgotten.

use async_trait::async_trait;
use muninn_texts::Value;

use crate::{ConversationId, EventId, MessageId};

/// Takes messages of the bot away, one at a time. A [`Reply`](crate::Reply) has one, and an adapter gives one
/// with [`Incoming::Connected`](crate::Incoming) for what an earlier process did not finish.
///
/// Each call is one attempt, bounded in time and at the pace the platform allows; the bot decides how often it
/// tries again.
#[async_trait]
pub trait Withdraw: Send + Sync {
    /// Removes a message with all its earlier wordings, or empties it where the platform removes nothing.
    async fn withdraw(&self, conversation: &ConversationId, message: &MessageId) -> Withdrawn;

    /// The messages of the answer to a question, where nobody knows what it went out as: the process that posted it was
    /// killed before it kept that.
    ///
    /// # Errors
    /// When the platform cannot be asked now.
    async fn find_answer(
        &self,
        _conversation: &ConversationId,
        _question: &EventId,
    ) -> Result<Vec<MessageId>, NotNow> {
        Ok(Vec::new())
    }

    /// Gives the conversation a title that says nothing of what was asked in it, where the bot gave it one.
    async fn clear_title(&self, _conversation: &ConversationId) -> Withdrawn {
        Withdrawn::Gone
    }
}

/// The platform is away or wants a rest: to be asked again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotNow;

/// What became of a message that was to be taken away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Withdrawn {
    /// Nobody can read it any more; also where it was gone already.
    Gone,
    /// The platform is away or wants a rest: to be tried again.
    NotYet,
    /// It stays for good. Says why, as the end of a sentence after "because".
    Stays(Value),
}

impl Withdrawn {
    /// It stays for good: why, as the end of a sentence after "because".
    pub fn stays(why: impl Into<Value>) -> Self {
        Self::Stays(why.into())
    }
}

/// For a platform where nothing that was said can be found again.
#[derive(Clone, Copy, Debug)]
pub struct NothingStands;

#[async_trait]
impl Withdraw for NothingStands {
    async fn withdraw(&self, _: &ConversationId, _: &MessageId) -> Withdrawn {
        Withdrawn::Gone
    }
}
