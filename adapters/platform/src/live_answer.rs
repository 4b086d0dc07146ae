//! An answer that grows, on any platform whose messages can be changed.
//!
//! A pure state machine ([`LiveAnswer`]) decides the next step; it knows messages and parts, but no
//! texts or platforms. [`LiveReply`] carries the steps out over an [`AnswerSink`], which an adapter
//! implements: how to post, change, remove and find one message.

mod machine;
mod reply;

use std::fmt::Display;
use std::sync::Arc;

use async_trait::async_trait;
use muninn_texts::{Text, text};
use tokio_util::task::TaskTracker;

use crate::{
    Attachment, Delivered, DownloadError, HandedOver, Language, MessageId, NotHandedOver, OwnFile,
    Pace, PlatformError, PlatformVocabulary, PriorMessages, SafeText, ShownItem, TextLimit,
    Withdraw,
};

pub use machine::{
    AbandonedAnswer, DisplayOutcome, Edited, LiveAnswer, LiveAnswerAction, LiveAnswerEvent,
};
pub use reply::LiveReply;

/// The state of an answer when one of its messages is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerStage {
    /// The answer still grows; this is its first message.
    Growing,
    /// The message is complete, and others follow.
    Whole,
    /// The last message of a complete answer.
    Last,
}

/// The content of one message of an answer.
#[derive(Debug)]
pub struct AnswerPart<'a, T> {
    /// Counted from 0.
    pub number: usize,
    pub text: &'a T,
    pub stage: AnswerStage,
    /// As [`Reply::set_label_language`](crate::Reply::set_label_language).
    pub language: Language,
    /// As [`Reply::offer_items`](crate::Reply::offer_items). The buttons are below the last message.
    pub items: &'a [ShownItem],
}

/// How a dropped reply ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DroppedReplyState {
    Delivered,
    Failed,
    GivenUp,
}

/// The result of delivering something to the one who asked alone.
#[derive(Debug)]
pub enum Directly {
    /// It was sent, or attempted, in a direct message.
    Tried(Result<Delivered, PlatformError>),
    /// Not needed: they are alone with the bot already, or the platform has no direct messages.
    NotNeeded,
    /// It went another way than they asked for. The text tells them which.
    ByAnotherWay(Text),
    /// Others would read it. As [`PrivateFallback`](crate::PrivateFallback) says, it is delivered here all the
    /// same, or the text tells them why not.
    Impossible(Text),
}

impl Directly {
    /// It broke off after some messages. These are told all the same, so that they can be removed later.
    pub fn broken_off(delivered: Vec<MessageId>, error: PlatformError) -> Self {
        if delivered.is_empty() {
            return Self::Tried(Err(error));
        }
        let error = &error as &dyn std::error::Error;
        tracing::warn!(error, "the rest of a private answer was not delivered");
        Self::Tried(Ok(Delivered(delivered)))
    }
}

/// The messages of one answer on one platform. Every call is bounded in time.
#[async_trait]
pub trait AnswerSink: Send + Sync + 'static {
    /// A posted message, with what is known of its content.
    type Message: Clone + Send + Sync;
    /// The content of a message, converted as far as that decides where it is cut.
    type Text: Send + Sync;
    /// Why the platform rejected something, after sensible retries.
    type Error: Display + Send;

    fn limit(&self) -> TextLimit;

    fn pace(&self) -> Pace;

    /// Whether the sink itself keeps that pace, because several answers share it.
    fn keeps_pace(&self) -> bool {
        false
    }

    /// Converts a complete answer: one text per message.
    fn texts(&self, parts: &[SafeText]) -> Vec<Self::Text>;

    /// Returns what fits into the first message of a growing answer; `None` when there is nothing
    /// to show.
    fn first_text(&self, so_far: &SafeText) -> Option<Self::Text>;

    /// Returns the same in simpler formatting, if it was rejected for its formatting.
    fn simplify_format(
        &self,
        _error: &Self::Error,
        _parts: &[SafeText],
    ) -> Option<Vec<Self::Text>> {
        None
    }

    /// Whether a message has this content already.
    fn has_content(&self, message: &Self::Message, part: &AnswerPart<'_, Self::Text>) -> bool;

    /// Posts a message. The result may be a message that an earlier process posted, with other
    /// content.
    async fn post(&self, part: &AnswerPart<'_, Self::Text>) -> Result<Self::Message, Self::Error>;

    /// Changes the text of a message.
    async fn edit(
        &self,
        message: &Self::Message,
        part: &AnswerPart<'_, Self::Text>,
    ) -> Result<Edited<Self::Message>, Self::Error>;

    /// Removes a message. A message that is already gone is no error.
    async fn delete(&self, message: &Self::Message) -> Result<(), Self::Error>;

    /// Returns the messages of this answer that an earlier process may have posted, by part.
    async fn find(&self) -> Result<Vec<Option<Self::Message>>, Self::Error> {
        Ok(Vec::new())
    }

    /// Shows a growing answer: posts or changes its first message. Tries once, and not during a
    /// rate limit.
    async fn show(
        &self,
        shown: Option<&Self::Message>,
        part: &AnswerPart<'_, Self::Text>,
    ) -> DisplayOutcome<Self::Message>;

    /// Returns the id of a message.
    fn id(&self, message: &Self::Message) -> MessageId;

    /// Returns the messages of the earlier answer that this one replaces.
    fn messages_to_replace(&self, earlier: &Delivered) -> Vec<Self::Message>;

    /// Tells that the answer may have been delivered before. Returns false when the sink knows that
    /// without a search.
    fn expect_earlier_delivery(&self) -> bool {
        true
    }

    /// Shows a typing indicator, in this language if it has words. Nothing waits for it.
    fn show_typing(&self, _language: Language) {}

    /// Whether a dropped reply has to hide an indicator that does not end by itself.
    fn has_typing_to_hide(&self) -> bool {
        false
    }

    /// Removes the typing indicator.
    async fn hide_typing(&self, _ending: DroppedReplyState) {}

    /// Called when the reply is dropped; `first` is the first message of its answer.
    fn on_reply_dropped(&self, _first: Option<&Self::Message>) {}

    /// Removes all messages of the answer that can be found: those of an earlier process, or of
    /// this one without a confirmation by the platform. Nothing waits for it. Returns false when
    /// nothing is searched.
    fn remove_found(&self) -> bool {
        false
    }

    /// Tasks that remain when a reply is dropped; the adapter waits for them when it ends.
    fn cleanup_tasks(&self) -> &TaskTracker;

    /// Turns an error into a sentence that says what a person can do.
    fn explain_error(&self, error: Self::Error) -> PlatformError;

    /// Delivers what only concerns the one who asked to them alone. Returns the messages that the
    /// bot can remove later. `None`: deliver it like any answer.
    async fn deliver_aside(&self, _parts: &[SafeText]) -> Option<Result<Delivered, PlatformError>> {
        None
    }

    /// Delivers to the one who asked in a direct message.
    async fn deliver_directly(&self, _parts: &[SafeText]) -> Directly {
        Directly::NotNeeded
    }

    /// As [`Reply::largest_file`](crate::Reply::largest_file).
    ///
    /// # Errors
    /// As there.
    async fn largest_file(&self) -> Result<u64, NotHandedOver> {
        Err(NotHandedOver::new(text!("no-copy-undirect")))
    }

    /// As [`Reply::hand_over`](crate::Reply::hand_over).
    ///
    /// # Errors
    /// As there.
    async fn hand_over(&self, _files: &[OwnFile]) -> Result<HandedOver, NotHandedOver> {
        self.largest_file().await.map(|_| HandedOver::Here)
    }

    fn withdrawer(&self) -> Arc<dyn Withdraw>;

    fn vocabulary(&self) -> &'static PlatformVocabulary {
        &PlatformVocabulary::PLAIN
    }

    async fn prior_messages(&self) -> PriorMessages {
        PriorMessages::default()
    }

    /// As [`Reply::download`](crate::Reply::download).
    ///
    /// # Errors
    /// As there.
    async fn download(
        &self,
        _attachment: &Attachment,
        _most: usize,
    ) -> Result<Vec<u8>, DownloadError> {
        Err(DownloadError::Refused("there are no files here".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_delivered_before_a_failure_is_told() {
        for (delivered, is_told) in [(vec![], false), (vec![MessageId::new("1")], true)] {
            let error = crate::misconfigured("the channel is gone");
            let told = match Directly::broken_off(delivered.clone(), error) {
                Directly::Tried(told) => told.ok(),
                other => panic!("{other:?}"),
            };
            assert_eq!(told, is_told.then_some(Delivered(delivered)));
        }
    }
}
