//! The bounded way into the bot.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{mpsc, oneshot};

use crate::{Incoming, IncomingMessage};

/// Where adapters put what arrives. Bounded: a bot with too much to do is felt by its platforms.
#[derive(Clone, Debug)]
pub struct Inbox {
    sender: mpsc::Sender<Arrival>,
    left_over: Arc<Mutex<Vec<IncomingMessage>>>,
}

/// The bot's end of an [`Inbox`].
pub type Arrivals = mpsc::Receiver<Arrival>;

/// Something that arrived, and how its adapter learns that it is in good hands.
#[derive(Debug)]
pub struct Arrival {
    pub incoming: Incoming,
    accepted: Option<oneshot::Sender<()>>,
}

impl Arrival {
    /// What arrived, for a bot that keeps it nowhere; it counts as accepted.
    pub fn accept(self) -> Incoming {
        let (incoming, acceptance) = self.into_parts();
        acceptance.give();
        incoming
    }

    /// What arrived, and what is to be given once it cannot be lost any more.
    pub fn into_parts(self) -> (Incoming, Acceptance) {
        (self.incoming, Acceptance(self.accepted))
    }
}

/// Tells an adapter that the bot has what it delivered, also if the process is killed.
#[derive(Debug)]
pub struct Acceptance(Option<oneshot::Sender<()>>);

impl Acceptance {
    pub fn give(self) {
        if let Some(accepted) = self.0 {
            // An adapter that ended meanwhile does not want to know.
            let _ = accepted.send(());
        }
    }
}

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
    pub fn new(capacity: usize) -> (Self, Arrivals) {
        Self::with_left_over(capacity, Vec::new())
    }

    /// As [`Inbox::new`], of a bot that was killed before it had answered `left_over`.
    pub fn with_left_over(capacity: usize, left_over: Vec<IncomingMessage>) -> (Self, Arrivals) {
        let (sender, receiver) = mpsc::channel(capacity);
        let left_over = Arc::new(Mutex::new(left_over));
        (Self { sender, left_over }, receiver)
    }

    /// The messages of a platform that an earlier process accepted and did not answer, given once.
    /// The adapter delivers them again, each with a new reply, as soon as it is connected.
    pub fn take_left_over(&self, platform: &str) -> Vec<IncomingMessage> {
        let mut left_over = self
            .left_over
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        left_over
            .extract_if(.., |message| message.audience.platform == platform)
            .collect()
    }

    /// Waits for room, and until the bot has it in good hands: what was delivered is not lost when
    /// the process is killed. For a platform that can wait, which is its back-pressure.
    ///
    /// # Errors
    /// When the bot is ending.
    pub async fn deliver(&self, incoming: Incoming) -> Result<(), InboxClosed> {
        let (accepted, is_accepted) = oneshot::channel();
        let arrival = Arrival {
            incoming,
            accepted: Some(accepted),
        };
        self.sender.send(arrival).await.map_err(|_| InboxClosed)?;
        is_accepted.await.map_err(|_| InboxClosed)
    }

    /// Never waits. For a platform that must acknowledge at once and can say that it is busy.
    ///
    /// # Errors
    /// When the inbox is full, or the bot is ending; both give the message back.
    pub fn offer(&self, incoming: Incoming) -> Result<(), InboxFull> {
        let arrival = Arrival {
            incoming,
            accepted: None,
        };
        self.sender
            .try_send(arrival)
            .map_err(|refused| match refused {
                mpsc::error::TrySendError::Full(arrival)
                | mpsc::error::TrySendError::Closed(arrival) => {
                    InboxFull(Box::new(arrival.incoming))
                }
            })
    }
}
