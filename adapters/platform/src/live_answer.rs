//! An answer that grows, on any platform whose messages can be changed.
//!
//! What has to be done next is decided by a pure machine ([`LiveAnswer`]), which knows messages and
//! parts and nothing of texts or platforms. [`LiveReply`] does it over an [`AnswerSink`], which is what
//! an adapter writes: how one message is posted, changed, removed and found again.

mod machine;
mod reply;

use std::fmt::Display;
use std::sync::Arc;

use async_trait::async_trait;
use muninn_texts::{Text, text};
use tokio_util::task::TaskTracker;

use crate::{
    Attachment, Delivered, DownloadError, HandedOver, Language, MessageId, NotHandedOver, OwnFile,
    Pace, PlatformError, PriorMessages, SafeText, ShownItem, TextLimit, Vocabulary, Withdraw,
};

pub use machine::{Action, Edited, Event, GivenUp, LiveAnswer, Shown};
pub use reply::LiveReply;

/// How far an answer is when one of its messages is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It still grows; this is its first message.
    Growing,
    /// The message is whole, and others follow.
    Whole,
    /// The last message of a whole answer.
    Last,
}

/// What one message of an answer is to say.
#[derive(Debug)]
pub struct Part<'a, T> {
    /// From 0.
    pub number: usize,
    pub text: &'a T,
    pub stage: Stage,
}

/// How the reply that is being dropped ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Delivered,
    Failed,
    GivenUp,
}

/// What became of something that is for the one who asked alone.
#[derive(Debug)]
pub enum Directly {
    /// It went to them in a direct message, or was to.
    Tried(Result<(), PlatformError>),
    /// They are alone with the bot already, or the platform has no direct messages.
    NotNeeded,
    /// Not as they asked, but in another way that they have here. They read which.
    ByAnotherWay(Text),
    /// Others would read it. They read why, or else it is told here all the same: as [`Otherwise`](crate::Otherwise) says.
    Impossible(Text),
}

/// The messages of one answer on one platform. Everything here is bounded in time.
#[async_trait]
pub trait AnswerSink: Send + Sync + 'static {
    /// A message that stands, with what is known of what it says.
    type Message: Clone + Send + Sync;
    /// What a message is made from: a text, converted as far as that decides where it is cut.
    type Text: Send + Sync;
    /// Why the platform did not take something, after the retries it is worth.
    type Error: Display + Send;

    fn limit(&self) -> TextLimit;

    fn pace(&self) -> Pace;

    /// Whether the sink itself sees to that pace, as one that several answers share.
    fn keeps_pace(&self) -> bool {
        false
    }

    /// What a whole answer is made from: one text per message.
    fn texts(&self, parts: &[SafeText]) -> Vec<Self::Text>;

    /// What fits into the first message of an answer that grows; none where there is nothing to show.
    fn first_text(&self, so_far: &SafeText) -> Option<Self::Text>;

    /// The same in plainer words, where it was refused for its looks.
    fn plainer(&self, _error: &Self::Error, _parts: &[SafeText]) -> Option<Vec<Self::Text>> {
        None
    }

    /// Whether a message says this already.
    fn says(&self, message: &Self::Message, part: &Part<'_, Self::Text>) -> bool;

    /// Posts a message. It may be one that an earlier process posted, and then say something else.
    async fn post(&self, part: &Part<'_, Self::Text>) -> Result<Self::Message, Self::Error>;

    /// Gives a message another text.
    async fn edit(
        &self,
        message: &Self::Message,
        part: &Part<'_, Self::Text>,
    ) -> Result<Edited<Self::Message>, Self::Error>;

    /// Removes a message. One that is gone already is no error.
    async fn delete(&self, message: &Self::Message) -> Result<(), Self::Error>;

    /// The messages of this answer that an earlier process may have posted, by their part.
    async fn find(&self) -> Result<Vec<Option<Self::Message>>, Self::Error> {
        Ok(Vec::new())
    }

    /// Shows an answer that grows: posts its first message, or changes it. Once, and not where the
    /// platform wants a rest.
    async fn show(
        &self,
        shown: Option<&Self::Message>,
        part: &Part<'_, Self::Text>,
    ) -> Shown<Self::Message>;

    /// What a message is called.
    fn id(&self, message: &Self::Message) -> MessageId;

    /// The messages of an earlier answer, whose place this one takes.
    fn replaces(&self, earlier: &Delivered) -> Vec<Self::Message>;

    /// The answer may have been delivered before. False: that is known without being looked for.
    fn may_repeat(&self) -> bool {
        true
    }

    /// Shows that somebody is at work. Nothing waits for it.
    fn working(&self) {}

    /// Whether signs of work are shown still.
    fn has_signs(&self) -> bool {
        false
    }

    /// Takes the signs of work away.
    async fn end_signs(&self, _ending: Ending) {}

    /// The reply is dropped; `first` is the message its answer begins with.
    fn ends(&self, _first: Option<&Self::Message>) {}

    /// Removes all messages of the answer that can be found: posted by an earlier process, or by this one
    /// although the platform did not say so. Nothing waits for it. False: nothing is looked for.
    fn remove_found(&self) -> bool {
        false
    }

    /// What is still to be done when a reply is dropped; the adapter waits for it at its end.
    fn chores(&self) -> &TaskTracker;

    /// What a person can do about it.
    fn sentence(&self, error: Self::Error) -> PlatformError;

    /// Delivers what only concerns the one who asked to them alone. None: as any answer.
    async fn deliver_aside(&self, _parts: &[SafeText]) -> Option<Result<(), PlatformError>> {
        None
    }

    /// Delivers to the one who asked in a direct message.
    async fn deliver_directly(&self, _parts: &[SafeText]) -> Directly {
        Directly::NotNeeded
    }

    /// As [`Reply::speak`](crate::Reply::speak).
    fn speak(&self, _language: Language) {}

    /// As [`Reply::offer_items`](crate::Reply::offer_items).
    fn offer_items(&self, _items: &[ShownItem]) {}

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

    fn vocabulary(&self) -> &'static Vocabulary {
        &Vocabulary::PLAIN
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
