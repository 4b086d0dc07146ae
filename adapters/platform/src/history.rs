//! The contract between a backfill and the platforms that can read the history of their channels:
//! what was said before the bot listened there.

use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use muninn_texts::{Text, text};

use crate::{AudienceId, ByPlatform, InboxClosed};

/// Reads the history of channels, page by page.
#[async_trait]
pub trait History: Send + Sync {
    /// Reads the next page of a channel's messages since then, with its threads, and delivers them
    /// as [overheard](crate::Incoming::Overheard). When this returns, the bot has accepted them.
    /// `at`: the cursor that the page before returned. A page may be read twice: each message keeps
    /// its event id.
    ///
    /// # Errors
    /// Fails when the platform does not give it, now or ever.
    async fn read_page(
        &self,
        channel: &AudienceId,
        since: DateTime<Utc>,
        at: Option<&str>,
    ) -> Result<HistoryPage, HistoryError>;
}

/// A page that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistoryPage {
    /// Number of messages by people.
    pub messages: usize,
    /// When the latest message that was read was sent.
    pub reached: Option<DateTime<Utc>>,
    /// The cursor of the next page; `None` after the last one.
    pub next: Option<String>,
}

/// Why there is no page.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HistoryError {
    #[error("the platform limits how often I may read")]
    Limited(Option<Duration>),
    #[error("the platform cannot be reached")]
    Away,
    /// As the end of a sentence that says what to do.
    #[error("{0}")]
    Refused(Text),
    #[error("the bot is ending")]
    Closed,
}

impl HistoryError {
    /// The channel is none of the platform's, or none that the bot is in.
    pub fn not_there(channel: &AudienceId, platform: &'static str) -> Self {
        let place = channel.as_str();
        Self::Refused(text!("history-not-there", place, platform))
    }
}

impl From<InboxClosed> for HistoryError {
    fn from(InboxClosed: InboxClosed) -> Self {
        Self::Closed
    }
}

/// The platforms of a process that can read the history of their channels.
pub type Histories = ByPlatform<dyn History>;
