//! The way an answer goes back.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use muninn_texts::{Language, text};
use serde::{Deserialize, Serialize};

use crate::{
    Attachment, Cut, EventId, HandedOver, MessageId, NotHandedOver, NothingStands, OwnFile,
    PlatformError, SafeText, ShownItem, Vocabulary, Withdraw,
};

/// How long one message of a platform may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextLimit {
    /// Unicode scalar values, as Slack and Discord count.
    Chars(usize),
    /// Bytes of UTF-8, as Matrix counts.
    Bytes(usize),
    /// A terminal scrolls.
    Unlimited,
}

/// How fast a platform likes to be talked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// At least this long between two calls of [`Reply::update`].
    pub update_every: Duration,
    /// [`Reply::working`] is called again after this long without any text, or without more of it.
    pub working_every: Duration,
}

impl Pace {
    /// Of a platform that shows neither.
    pub const RARELY: Self = Self {
        update_every: Duration::from_secs(3600),
        working_every: Duration::from_secs(3600),
    };
}

/// The messages an answer went out as, in their order. Empty where the platform keeps none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Delivered(pub Vec<MessageId>);

/// Where something is told that cannot be told to one person alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Otherwise {
    /// Where they asked: those who are there may read it.
    Here,
    /// Nowhere. They are told why.
    Nowhere,
}

/// One answer on its way to the person who asked.
///
/// The bot calls `working` at once and again at its pace, `update` with all the text there is so
/// far (a later call replaces an earlier one; calls may be skipped), and `finish` at most once. A
/// reply that is dropped without `finish` was given up: whatever it showed is taken away again, and
/// where it showed nothing, nobody notices.
///
/// Delivering again what may have been delivered already (the process was killed in between) has to
/// give one message where the platform allows it.
#[async_trait]
pub trait Reply: Send + Sync {
    fn limit(&self) -> TextLimit;

    /// As rarely as can be, for a platform that shows nothing before the answer is whole.
    fn pace(&self) -> Pace {
        Pace::RARELY
    }

    /// From now on this reply changes an earlier answer instead of giving a new one. Called before
    /// anything else, or not at all. Where nothing that was said can be changed, it gives a new one.
    fn replace(&mut self, _earlier: Delivered) {}

    /// What this delivers may have been delivered before, by a process that did not live to say so: where
    /// the platform does not see to it, it is looked for first. Called before [`Reply::finish`], or not
    /// at all.
    fn may_repeat(&mut self) {}

    /// In which language what belongs to the answer is labelled, such as its buttons. Called before anything else, or
    /// not at all.
    fn speak(&mut self, _language: Language) {}

    /// What is delivered next lists these things: where the platform has buttons, each gets two, one to have it forgotten
    /// and one to correct it; what [asks something](ShownItem::is_question), one to approve and one to decline it. Whoever presses one is asked for their rights then. Called before [`Reply::finish`], or not
    /// at all.
    fn offer_items(&mut self, _items: &[ShownItem]) {}

    /// Shows a sign of life. What goes wrong here is of no consequence to the answer, so it is not
    /// reported.
    async fn working(&mut self) {}

    /// Shows the answer so far. Not reported either: [`Reply::finish`] has all of the text.
    async fn update(&mut self, _so_far: &SafeText) {}

    /// Delivers the answer, each part a message within [`Reply::limit`].
    ///
    /// # Errors
    /// When the platform did not take it, after the retries the adapter found sensible.
    async fn finish(&mut self, parts: &[SafeText]) -> Result<Delivered, PlatformError>;

    /// As [`Reply::finish`], of what only concerns the one who asked: shown to nobody else where the
    /// platform has such messages.
    ///
    /// # Errors
    /// As [`Reply::finish`].
    async fn finish_for_asker(&mut self, parts: &[SafeText]) -> Result<(), PlatformError> {
        self.finish(parts).await.map(drop)
    }

    /// As [`Reply::finish_for_asker`], of what is for the one who asked alone: in a direct message, where the
    /// platform shows nobody anything of their own in a channel. `otherwise`: what is done where that cannot be.
    ///
    /// # Errors
    /// As [`Reply::finish`].
    async fn finish_privately(
        &mut self,
        parts: &[SafeText],
        _otherwise: Otherwise,
    ) -> Result<(), PlatformError> {
        self.finish_for_asker(parts).await
    }

    /// How large each file may be that is [handed over](Reply::hand_over), in bytes.
    ///
    /// # Errors
    /// When none can be given to the one who asked.
    async fn largest_file(&mut self) -> Result<u64, NotHandedOver> {
        Err(NotHandedOver::new(text!("no-copy-here")))
    }

    /// Gives files to the one who asked alone, wherever that is: in a direct message, or else where nobody else sees
    /// them. This takes the place of no answer: [`Reply::finish`] is still called.
    ///
    /// # Errors
    /// When they cannot be given so; some may have been.
    async fn hand_over(&mut self, _files: &[OwnFile]) -> Result<HandedOver, NotHandedOver> {
        self.largest_file().await.map(|_| HandedOver::Here)
    }

    /// Takes earlier messages of the bot away.
    fn withdrawer(&self) -> Arc<dyn Withdraw> {
        Arc::new(NothingStands)
    }

    /// The question was taken back, and its answer is seen to: whatever else stands of it goes, as half an answer of
    /// a process that was killed.
    async fn take_back_rest(&mut self) {}

    /// What the people here call things.
    fn vocabulary(&self) -> &'static Vocabulary {
        &Vocabulary::PLAIN
    }

    /// What was said in the conversation before the bot came to it, all of it as far as the platform
    /// gives it in time. Asked once, before the first answer there.
    async fn prior_messages(&mut self) -> PriorMessages {
        PriorMessages::default()
    }

    /// Reads a file of the message this answers, at most `most` bytes of it.
    ///
    /// # Errors
    /// When it is larger, is not there any more, or cannot be read in time.
    async fn download(
        &mut self,
        _attachment: &Attachment,
        _most: usize,
    ) -> Result<Vec<u8>, DownloadError> {
        Err(DownloadError::Refused("there are no files here".to_owned()))
    }
}

/// The longest wait for one file.
const PATIENCE: Duration = Duration::from_secs(60);

impl Attachment {
    /// What `fetch` reads of it. What says itself that it is larger than `most` bytes is not even
    /// asked for.
    ///
    /// # Errors
    /// As [`Reply::download`].
    pub async fn read(
        &self,
        most: usize,
        fetch: impl Future<Output = Result<Vec<u8>, DownloadError>>,
    ) -> Result<Vec<u8>, DownloadError> {
        if self.size.is_some_and(|size| size > most as u64) {
            return Err(DownloadError::TooLarge { most });
        }
        tokio::time::timeout(PATIENCE, fetch)
            .await
            .unwrap_or(Err(DownloadError::TimedOut))
    }
}

/// What was said in a conversation before the bot came to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PriorMessages {
    /// Oldest first.
    pub said: Vec<PriorMessage>,
    /// Why this is not all of it; none where it is.
    pub cut: Option<Cut>,
}

/// Something that was said while the bot was not there: context, and no memory of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriorMessage {
    /// The message's event, by which it is known whether it was forgotten; none where nobody could
    /// have it forgotten.
    pub event: Option<EventId>,
    /// Stable id of the person; none where the platform does not say.
    pub author_id: Option<String>,
    /// As people see them.
    pub author: String,
    pub text: String,
    pub at: DateTime<Utc>,
}

/// Why there is nothing to read of a file.
#[derive(Debug, thiserror::Error)]
pub enum DownloadError {
    #[error("it has more than {most} bytes")]
    TooLarge { most: usize },
    #[error("the platform does not give it: {0}")]
    Refused(String),
    #[error("it did not come in time")]
    TimedOut,
}
