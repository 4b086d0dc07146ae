//! How an answer is delivered.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use muninn_texts::{Language, text};
use serde::{Deserialize, Serialize};

use crate::{
    Attachment, Cut, EventId, HandedOver, MessageId, NoEarlierMessages, NotHandedOver, OwnFile,
    PlatformError, PlatformVocabulary, SafeText, ShownItem, Withdraw,
};

/// The maximum length of one message on a platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextLimit {
    /// Unicode scalar values, as counted by Slack and Discord.
    Chars(usize),
    /// Bytes of UTF-8, as counted by Matrix.
    Bytes(usize),
    /// A terminal scrolls.
    Unlimited,
}

/// How often a platform accepts updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Minimum time between two calls of [`Reply::update`].
    pub update_every: Duration,
    /// How long after the last new text [`Reply::show_typing`] is called again.
    pub working_every: Duration,
}

impl Pace {
    /// For a platform that shows neither.
    pub const RARELY: Self = Self {
        update_every: Duration::from_secs(3600),
        working_every: Duration::from_secs(3600),
    };
}

/// The messages in which an answer was delivered, in order. Empty on platforms that keep none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Delivered(pub Vec<MessageId>);

/// Where to deliver what cannot be delivered to one person alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrivateFallback {
    /// Where they asked: everybody there may read it.
    Here,
    /// Nowhere. They are told why.
    Nowhere,
}

/// One answer on its way to the person who asked.
///
/// The bot calls `show_typing` at once and again at its pace, `update` with all the text so far (a
/// later call replaces an earlier one; calls may be skipped), and `finish` at most once. A reply
/// that is dropped without `finish` was given up: everything it showed is removed, and if it showed
/// nothing, nobody notices.
///
/// Delivering again what may have been delivered before (the process was killed in between) results
/// in a single message where the platform allows it.
#[async_trait]
pub trait Reply: Send + Sync {
    fn limit(&self) -> TextLimit;

    /// As rarely as possible, for a platform that shows nothing before the answer is complete.
    fn pace(&self) -> Pace {
        Pace::RARELY
    }

    /// Makes this reply change an earlier answer instead of giving a new one. Called before
    /// anything else, or not at all. If the earlier messages cannot be changed, it gives a new one.
    fn replace(&mut self, _earlier: Delivered) {}

    /// Tells that the same may have been delivered before, by a process that was killed before it
    /// recorded that: unless the platform removes duplicates, it is searched first. Called before
    /// [`Reply::finish`], or not at all.
    fn expect_earlier_delivery(&mut self) {}

    /// Sets the language of labels in the answer, such as its buttons. Called before anything else,
    /// or not at all.
    fn set_label_language(&mut self, _language: Language) {}

    /// The next delivery lists these items. On platforms with buttons each item gets two: to forget
    /// it and to correct it; a [question](ShownItem::is_question) gets two to approve and to
    /// decline it. The rights of whoever presses one are checked then. Called before
    /// [`Reply::finish`], or not at all.
    fn offer_items(&mut self, _items: &[ShownItem]) {}

    /// Shows a typing indicator. Failures do not affect the answer, so they are not reported.
    async fn show_typing(&mut self) {}

    /// Shows the answer so far. Failures are not reported either: [`Reply::finish`] has all of the
    /// text.
    async fn update(&mut self, _so_far: &SafeText) {}

    /// Delivers the answer; each part is a message within [`Reply::limit`].
    ///
    /// # Errors
    /// Fails when the platform rejected it, after the adapter's retries.
    async fn finish(&mut self, parts: &[SafeText]) -> Result<Delivered, PlatformError>;

    /// As [`Reply::finish`], for what only concerns the one who asked: nobody else sees it on
    /// platforms with such messages. Returns the messages that the bot can remove later.
    ///
    /// # Errors
    /// As [`Reply::finish`].
    async fn finish_for_asker(&mut self, parts: &[SafeText]) -> Result<Delivered, PlatformError> {
        self.finish(parts).await
    }

    /// As [`Reply::finish_for_asker`], for what is private: in a direct message, on platforms that
    /// cannot show somebody a message of their own in a channel. `otherwise`: what to do where that
    /// is impossible.
    ///
    /// # Errors
    /// As [`Reply::finish`].
    async fn finish_privately(
        &mut self,
        parts: &[SafeText],
        _otherwise: PrivateFallback,
    ) -> Result<Delivered, PlatformError> {
        self.finish_for_asker(parts).await
    }

    /// Returns the maximum size in bytes of each file that is [handed over](Reply::hand_over).
    ///
    /// # Errors
    /// Fails when the one who asked cannot be given any.
    async fn largest_file(&mut self) -> Result<u64, NotHandedOver> {
        Err(NotHandedOver::new(text!("no-copy-here")))
    }

    /// Gives files to the one who asked alone: in a direct message, or where nobody else sees them.
    /// This does not replace an answer: [`Reply::finish`] is still called.
    ///
    /// # Errors
    /// Fails when they cannot be handed over privately; some may have been.
    async fn hand_over(&mut self, _files: &[OwnFile]) -> Result<HandedOver, NotHandedOver> {
        self.largest_file().await.map(|_| HandedOver::Here)
    }

    /// Returns what removes earlier messages of the bot.
    fn withdrawer(&self) -> Arc<dyn Withdraw> {
        Arc::new(NoEarlierMessages)
    }

    /// The question was deleted, and its answer is handled elsewhere: removes whatever else is left
    /// of it, such as half an answer of a process that was killed.
    async fn remove_remaining_messages(&mut self) {}

    /// The platform's words for channels, threads and the like.
    fn vocabulary(&self) -> &'static PlatformVocabulary {
        &PlatformVocabulary::PLAIN
    }

    /// Returns what was said in the conversation before the message that this answers, as far as the
    /// platform delivers it in time. Called for the first answer there, and for later ones as long
    /// as that is in their prompt: what it returns is not kept.
    async fn prior_messages(&mut self) -> PriorMessages {
        PriorMessages::default()
    }

    /// Downloads a file of the message that this answers, at most `most` bytes.
    ///
    /// # Errors
    /// Fails when it is larger, does not exist any more, or cannot be read in time.
    async fn download(
        &mut self,
        _attachment: &Attachment,
        _most: usize,
    ) -> Result<Vec<u8>, DownloadError> {
        Err(DownloadError::Refused("there are no files here".to_owned()))
    }
}

/// Maximum time for one file.
const DOWNLOAD_TIMEOUT: Duration = Duration::from_secs(60);

impl Attachment {
    /// Returns what `fetch` downloads. A file that declares more than `most` bytes is not
    /// requested.
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
        tokio::time::timeout(DOWNLOAD_TIMEOUT, fetch)
            .await
            .unwrap_or(Err(DownloadError::TimedOut))
    }
}

/// Adds a chunk to what was downloaded of a file.
///
/// # Errors
/// Fails when the file has more than `most` bytes.
pub fn add_chunk(content: &mut Vec<u8>, chunk: &[u8], most: usize) -> Result<(), DownloadError> {
    if content.len() + chunk.len() > most {
        return Err(DownloadError::TooLarge { most });
    }
    content.extend_from_slice(chunk);
    Ok(())
}

/// What was said in a conversation before the bot joined it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PriorMessages {
    /// Oldest first.
    pub said: Vec<PriorMessage>,
    /// Why this is incomplete; `None` when it is complete.
    pub cut: Option<Cut>,
}

/// A message from before the bot joined: context only, not memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriorMessage {
    /// The message's event, which tells whether it was forgotten; `None` if nobody could have had
    /// it forgotten.
    pub event: Option<EventId>,
    /// Stable id of the person; `None` where the platform does not say.
    pub author_id: Option<String>,
    /// The display name.
    pub author: String,
    pub text: String,
    pub at: DateTime<Utc>,
}

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DownloadError {
    #[error("it has more than {most} bytes")]
    TooLarge { most: usize },
    #[error("the platform does not give it: {0}")]
    Refused(String),
    #[error("it did not come in time")]
    TimedOut,
}

/// A reply to what nobody asked, or where there is no place to post in: it shows nothing.
pub struct SilentReply(pub Arc<dyn Withdraw>);

impl fmt::Debug for SilentReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SilentReply").finish_non_exhaustive()
    }
}

#[async_trait]
impl Reply for SilentReply {
    fn limit(&self) -> TextLimit {
        TextLimit::Unlimited
    }

    async fn finish(&mut self, _: &[SafeText]) -> Result<Delivered, PlatformError> {
        Ok(Delivered::default())
    }

    fn withdrawer(&self) -> Arc<dyn Withdraw> {
        Arc::clone(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let mut content = Vec::new();
        for chunk in [b"ab".as_slice(), b"c"] {
            add_chunk(&mut content, chunk, 3).unwrap();
        }
        assert_eq!(content, b"abc");
        let refused = add_chunk(&mut content, b"d", 3);
        assert!(matches!(refused, Err(DownloadError::TooLarge { most: 3 })));
    }
}
