//! The bounded way into the bot.

use std::sync::Arc;
use std::time::Duration;

use chrono::{TimeDelta, Utc};
use parking_lot::Mutex;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::timeout;

use crate::redact::without_secrets;
use crate::{
    AudienceId, EventId, Feedback, HeardAudiences, Incoming, IncomingMessage, KeptMessage, SafeText,
};

/// What was said longer ago is not looked at again.
const LATELY: TimeDelta = TimeDelta::days(7);
/// Of one audience.
const KEPT: usize = 200;
/// For the graph to tell what is kept.
const PATIENCE: Duration = Duration::from_secs(30);

/// Where adapters put what arrives. Bounded: a bot with too much to do is felt by its platforms.
#[derive(Clone, Debug)]
pub struct Inbox {
    sender: mpsc::Sender<Arrival>,
    /// What was said to others: it takes nobody's place who asks something.
    overheard: mpsc::Sender<Arrival>,
    heard: HeardAudiences,
    left_over: LeftOver,
    is_shared: bool,
}

/// Messages that were accepted by a process that is gone, for their platforms to deliver again. Does
/// not keep the inbox open.
#[derive(Clone, Debug, Default)]
pub struct LeftOver(Arc<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    messages: Mutex<Vec<IncomingMessage>>,
    came: Notify,
}

impl LeftOver {
    /// Leaves messages to their platforms.
    pub fn add(&self, messages: Vec<IncomingMessage>) {
        if messages.is_empty() {
            return;
        }
        let mut all = self.0.messages.lock();
        all.extend(messages);
        drop(all);
        self.0.came.notify_waiters();
    }

    /// Whether every platform took what was left to it.
    pub fn is_empty(&self) -> bool {
        let all = self.0.messages.lock();
        all.is_empty()
    }

    fn take(&self, platform: &str) -> Vec<IncomingMessage> {
        let mut all = self.0.messages.lock();
        all.extract_if(.., |message| message.answered_by() == platform)
            .collect()
    }
}

/// The bot's end of an [`Inbox`].
#[derive(Debug)]
pub struct Arrivals {
    messages: mpsc::Receiver<Arrival>,
    overheard: mpsc::Receiver<Arrival>,
}

impl Arrivals {
    /// What comes next, what was overheard last; none when the inbox is closed and empty.
    pub async fn recv(&mut self) -> Option<Arrival> {
        tokio::select! {
            biased;
            Some(arrival) = self.messages.recv() => Some(arrival),
            Some(arrival) = self.overheard.recv() => Some(arrival),
            else => None,
        }
    }

    /// What is for the bot, and what was overheard, each at its own pace.
    pub fn split(self) -> (mpsc::Receiver<Arrival>, mpsc::Receiver<Arrival>) {
        (self.messages, self.overheard)
    }
}

/// Something that arrived, and how its adapter learns that it is in good hands.
#[derive(Debug)]
pub struct Arrival {
    pub incoming: Incoming,
    accepted: Option<oneshot::Sender<()>>,
}

impl Arrival {
    /// What arrived, for a bot that keeps it nowhere; it counts as accepted.
    pub fn accept(self) -> Incoming {
        let (incoming, ack) = self.into_parts();
        ack.ack();
        incoming
    }

    /// What arrived, and what is to be given once it cannot be lost any more.
    pub fn into_parts(self) -> (Incoming, Ack) {
        (self.incoming, Ack(self.accepted))
    }
}

/// Tells an adapter that the bot has what it delivered, also if the process is killed.
#[derive(Debug)]
pub struct Ack(Option<oneshot::Sender<()>>);

impl Ack {
    pub fn ack(self) {
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
    /// An inbox that holds at most `capacity` messages, and as many that were overheard, and its reading end.
    pub fn new(capacity: usize) -> (Self, Arrivals) {
        Self::with_left_over(capacity, Vec::new())
    }

    /// As [`Inbox::new`], of a bot that was killed before it had answered `left_over`.
    pub fn with_left_over(capacity: usize, left_over: Vec<IncomingMessage>) -> (Self, Arrivals) {
        let (sender, messages) = mpsc::channel(capacity);
        let (overheard_sender, overheard) = mpsc::channel(capacity);
        let all = LeftOver::default();
        all.add(left_over);
        (
            Self {
                sender,
                overheard: overheard_sender,
                heard: HeardAudiences::default(),
                left_over: all,
                is_shared: false,
            },
            Arrivals {
                messages,
                overheard,
            },
        )
    }

    /// Says whether other processes may be this bot as well, at the same time.
    #[must_use]
    pub fn shared(self, is_shared: bool) -> Self {
        Self { is_shared, ..self }
    }

    /// Says where what people say to one another is wanted; nowhere, as long as nothing is said.
    #[must_use]
    pub fn hearing(self, heard: HeardAudiences) -> Self {
        Self { heard, ..self }
    }

    /// Whether what people say to one another there is wanted, as [`Incoming::Overheard`]. Never waits.
    pub fn hears(&self, audience: &AudienceId) -> bool {
        self.heard.hears(audience)
    }

    fn sender_of(&self, incoming: &Incoming) -> &mpsc::Sender<Arrival> {
        match incoming {
            Incoming::Overheard(_) => &self.overheard,
            Incoming::Message { .. }
            | Incoming::Connected { .. }
            | Incoming::Stop(_)
            | Incoming::Feedback { .. }
            | Incoming::Conversations { .. }
            | Incoming::Kept { .. }
            | Incoming::Sessions { .. } => &self.sender,
        }
    }

    /// Whether what is being written under the bot's name may be another living process's.
    pub fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// Where the bot leaves messages of processes that ended meanwhile.
    pub fn left_over(&self) -> LeftOver {
        self.left_over.clone()
    }

    /// What people wrote, as it may stand in a title or be repeated: without secrets, pinging nobody.
    pub fn repeatable(&self, text: &str) -> SafeText {
        SafeText::new(&without_secrets(text))
    }

    /// The messages of a platform that an earlier process accepted and did not answer, given once.
    /// The adapter delivers them again, each with a new reply, as soon as it is connected.
    pub fn take_left_over(&self, platform: &str) -> Vec<IncomingMessage> {
        self.left_over.take(platform)
    }

    /// As [`Inbox::take_left_over`], waiting until there is something. Whoever waits here holds the
    /// inbox open, so it ends with the adapter.
    pub async fn next_left_over(&self, platform: &str) -> Vec<IncomingMessage> {
        loop {
            let came = self.left_over.0.came.notified();
            tokio::pin!(came);
            // What comes from here on is not missed.
            came.as_mut().enable();
            let taken = self.left_over.take(platform);
            if !taken.is_empty() {
                return taken;
            }
            came.await;
        }
    }

    /// Waits for room, and until the bot has it in good hands: what was delivered is not lost when
    /// the process is killed. For a platform that can wait, which is its back-pressure.
    ///
    /// # Errors
    /// When the bot is ending.
    pub async fn deliver(&self, incoming: Incoming) -> Result<(), InboxClosed> {
        let (accepted, is_accepted) = oneshot::channel();
        let sender = self.sender_of(&incoming);
        let arrival = Arrival {
            incoming,
            accepted: Some(accepted),
        };
        sender.send(arrival).await.map_err(|_| InboxClosed)?;
        is_accepted.await.map_err(|_| InboxClosed)
    }

    /// Tells of a person's opinion in the place of their earlier one, which is taken back first.
    ///
    /// # Errors
    /// As [`Inbox::deliver`].
    pub async fn deliver_opinion(
        &self,
        audience: AudienceId,
        given: Feedback,
        earlier: EventId,
    ) -> Result<(), InboxClosed> {
        for feedback in [Feedback::Withdrawn { event: earlier }, given] {
            let audience = audience.clone();
            self.deliver(Incoming::Feedback { audience, feedback })
                .await?;
        }
        Ok(())
    }

    /// The newest messages of the last days that the bot keeps of an audience, for an adapter that looks what became
    /// of them while nobody listened: at most 200 of 7 days. None where the graph does not tell.
    ///
    /// # Errors
    /// As [`Inbox::deliver`].
    pub async fn kept(&self, audience: &AudienceId) -> Result<Vec<KeptMessage>, InboxClosed> {
        let (found, answer) = oneshot::channel();
        let asked = Incoming::Kept {
            audience: audience.clone(),
            since: Utc::now() - LATELY,
            most: KEPT,
            found,
        };
        self.deliver(asked).await?;
        match timeout(PATIENCE, answer).await {
            Ok(Ok(kept)) => Ok(kept),
            Ok(Err(_)) | Err(_) => {
                tracing::warn!(%audience, "what is kept is not known: edits and deletions of meanwhile are not followed");
                Ok(Vec::new())
            }
        }
    }

    /// Never waits. For a platform that must acknowledge at once and can say that it is busy.
    ///
    /// # Errors
    /// When the inbox is full, or the bot is ending; both give the message back.
    pub fn offer(&self, incoming: Incoming) -> Result<(), InboxFull> {
        let sender = self.sender_of(&incoming);
        let arrival = Arrival {
            incoming,
            accepted: None,
        };
        sender.try_send(arrival).map_err(|refused| match refused {
            mpsc::error::TrySendError::Full(arrival)
            | mpsc::error::TrySendError::Closed(arrival) => InboxFull(Box::new(arrival.incoming)),
        })
    }
}
