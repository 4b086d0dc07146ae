//! The bounded way into the bot.

use tokio::sync::mpsc;

use crate::Incoming;

/// Where adapters put what arrives. Bounded: a bot with too much to do is felt by its platforms.
#[derive(Clone, Debug)]
pub struct Inbox(mpsc::Sender<Incoming>);

/// The bot takes nothing any more: it is ending.
#[derive(Debug, thiserror::Error)]
#[error("the bot is shutting down")]
pub struct InboxClosed;

/// The bot has too much to do; what was offered comes back.
#[derive(Debug, thiserror::Error)]
#[error("the bot has more messages waiting than it can take")]
pub struct InboxFull(pub Box<Incoming>);

impl Inbox {
    /// An inbox that holds at most `capacity` messages, and its reading end.
    pub fn new(capacity: usize) -> (Self, mpsc::Receiver<Incoming>) {
        let (sender, receiver) = mpsc::channel(capacity);
        (Self(sender), receiver)
    }

    /// Waits for room. For a platform that can wait, which is its back-pressure.
    ///
    /// # Errors
    /// When the bot is ending.
    pub async fn deliver(&self, incoming: Incoming) -> Result<(), InboxClosed> {
        self.0.send(incoming).await.map_err(|_| InboxClosed)
    }

    /// Never waits. For a platform that must acknowledge at once and can say that it is busy.
    ///
    /// # Errors
    /// When the inbox is full, or the bot is ending; both give the message back.
    pub fn offer(&self, incoming: Incoming) -> Result<(), InboxFull> {
        self.0.try_send(incoming).map_err(|refused| match refused {
            mpsc::error::TrySendError::Full(incoming)
            | mpsc::error::TrySendError::Closed(incoming) => InboxFull(Box::new(incoming)),
        })
    }
}
