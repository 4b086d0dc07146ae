//! The way an answer goes back.

use std::time::Duration;

use async_trait::async_trait;

use crate::{PlatformError, SafeText};

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
    /// [`Reply::working`] is called again after this long, as long as there is no text.
    pub working_every: Duration,
}

/// One answer on its way to the person who asked.
///
/// The bot calls `working` at once and again at its pace, `update` with all the text there is so
/// far (a later call replaces an earlier one; calls may be skipped), and `finish` exactly once.
/// A reply that is dropped without `finish` was given up, which an adapter has to clean up after.
#[async_trait]
pub trait Reply: Send {
    fn limit(&self) -> TextLimit;

    fn pace(&self) -> Pace;

    /// Shows a sign of life. What goes wrong here is of no consequence to the answer, so it is not
    /// reported.
    async fn working(&mut self);

    /// Shows the answer so far. Not reported either: [`Reply::finish`] has all of the text.
    async fn update(&mut self, so_far: &SafeText);

    /// Delivers the answer, each part a message within [`Reply::limit`].
    ///
    /// # Errors
    /// When the platform did not take it, after the retries the adapter found sensible.
    async fn finish(&mut self, parts: &[SafeText]) -> Result<(), PlatformError>;
}
