//! What was said in a channel before the bot listened there, as a platform gives it: the contract
//! between a backfill and the platforms that can read their history.

use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use muninn_texts::Text;

use crate::{AudienceId, ByPlatform};

/// Reads the history of channels, page by page.
#[async_trait]
pub trait History: Send + Sync {
    /// Reads the next page of what was said in a channel since then, with its threads, and delivers it as
    /// [overheard](crate::Incoming::Overheard): when this returns, it is in good hands. `at`: where the page before
    /// ended, as it said. The same page may be read again: each message has the event id that it has everywhere.
    ///
    /// # Errors
    /// When the platform does not give it, now or ever.
    async fn read_page(
        &self,
        channel: &AudienceId,
        since: DateTime<Utc>,
        at: Option<&str>,
    ) -> Result<HistoryPage, HistoryError>;
}

/// One page that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistoryPage {
    /// How many messages of people it had.
    pub messages: usize,
    /// When what was read last was said.
    pub reached: Option<DateTime<Utc>>,
    /// Where the next page begins; none behind the last one.
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

/// The platforms of a process that can read the history of their channels.
pub type Histories = ByPlatform<dyn History>;
