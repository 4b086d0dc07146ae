//! The bounded queue into the bot.

use std::sync::Arc;
use std::time::Duration;

use chrono::{TimeDelta, Utc};
use parking_lot::Mutex;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::timeout;

use crate::redact::without_secrets;
use crate::{
    AudienceId, ConversationId, EventId, Feedback, HeardAudiences, Incoming, IncomingMessage,
    KeptMessage, SafeText,
};

/// Maximum age of messages that [`Inbox::request_kept_messages`] returns.
const MAX_KEPT_MESSAGE_AGE: TimeDelta = TimeDelta::days(7);
/// Maximum number of messages that [`Inbox::request_kept_messages`] returns per audience.
const MAX_KEPT_MESSAGES: usize = 200;
/// How long an adapter waits for the graph.
const GRAPH_TIMEOUT: Duration = Duration::from_secs(30);

/// The queue into which adapters put what arrives. It is bounded, so a busy bot slows its platforms
/// down.
#[derive(Clone, Debug)]
pub struct Inbox {
    sender: mpsc::Sender<Arrival>,
    /// Overheard messages have their own queue, so that they do not displace questions.
    overheard: mpsc::Sender<Arrival>,
    heard: HeardAudiences,
    left_over: LeftOver,
    is_shared: bool,
}

/// Messages that a process accepted before it ended, for their platforms to deliver again. Does not
/// keep the inbox open.
#[derive(Clone, Debug, Default)]
pub struct LeftOver(Arc<LeftOverQueue>);

#[derive(Debug, Default)]
struct LeftOverQueue {
    messages: Mutex<Vec<IncomingMessage>>,
    came: Notify,
}

impl LeftOver {
    /// Adds messages for their platforms to deliver again.
    pub fn add(&self, messages: Vec<IncomingMessage>) {
        if messages.is_empty() {
            return;
        }
        let mut all = self.0.messages.lock();
        all.extend(messages);
        drop(all);
        self.0.came.notify_waiters();
    }

    /// Whether messages wait for this platform to take them.
    pub fn waits_for(&self, platform: &str) -> bool {
        let all = self.0.messages.lock();
        all.iter().any(|message| message.answered_by() == platform)
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
    /// Returns the next arrival, overheard ones last; `None` when the inbox is closed and empty.
    pub async fn recv(&mut self) -> Option<Arrival> {
        tokio::select! {
            biased;
            Some(arrival) = self.messages.recv() => Some(arrival),
            Some(arrival) = self.overheard.recv() => Some(arrival),
            else => None,
        }
    }

    /// Splits it into what is for the bot and what was overheard, so that each is read at its own
    /// pace.
    pub fn split(self) -> (mpsc::Receiver<Arrival>, mpsc::Receiver<Arrival>) {
        (self.messages, self.overheard)
    }
}

/// Something that arrived, with the acknowledgement for its adapter.
#[derive(Debug)]
pub struct Arrival {
    pub incoming: Incoming,
    accepted: Option<oneshot::Sender<()>>,
}

impl Arrival {
    /// Acknowledges it and returns what arrived, for a bot that keeps it nowhere.
    pub fn accept(self) -> Incoming {
        let (incoming, ack) = self.into_parts();
        ack.ack();
        incoming
    }

    /// Returns what arrived, and the acknowledgement to give once it cannot be lost.
    pub fn into_parts(self) -> (Incoming, Ack) {
        (self.incoming, Ack(self.accepted))
    }
}

/// Tells an adapter that what it delivered survives, even if the process is killed.
#[derive(Debug)]
pub struct Ack(Option<oneshot::Sender<()>>);

impl Ack {
    pub fn ack(self) {
        if let Some(accepted) = self.0 {
            // An adapter that ended meanwhile does not need it.
            let _ = accepted.send(());
        }
    }
}

/// The bot is ending and accepts nothing more.
#[derive(Debug, thiserror::Error)]
#[error("the bot is shutting down")]
pub struct InboxClosed;

/// The bot is too busy; returns what was offered.
#[derive(Debug, thiserror::Error)]
#[error("the bot has more messages waiting than it can take")]
pub struct InboxFull(pub Box<Incoming>);

impl Inbox {
    /// Creates an inbox of `capacity` messages, and as many overheard ones, and its receiving end.
    pub fn new(capacity: usize) -> (Self, Arrivals) {
        Self::with_left_over(capacity, Vec::new())
    }

    /// As [`Inbox::new`], with messages that an earlier process accepted and did not answer.
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

    /// Sets whether other processes may be this bot at the same time.
    #[must_use]
    pub fn with_shared(self, is_shared: bool) -> Self {
        Self { is_shared, ..self }
    }

    /// Sets which audiences are heard; none before this is called.
    #[must_use]
    pub fn with_heard_audiences(self, heard: HeardAudiences) -> Self {
        Self { heard, ..self }
    }

    /// Whether overheard messages of an audience are wanted, as [`Incoming::Overheard`]. Never
    /// waits.
    pub fn hears(&self, audience: &AudienceId) -> bool {
        self.heard.hears(audience)
    }

    fn sender_of(&self, incoming: &Incoming) -> &mpsc::Sender<Arrival> {
        match incoming {
            Incoming::Overheard(_) => &self.overheard,
            Incoming::Message { .. }
            | Incoming::Connected { .. }
            | Incoming::Stop(_)
            | Incoming::GivenUp(_)
            | Incoming::Feedback { .. }
            | Incoming::Conversations { .. }
            | Incoming::Kept { .. }
            | Incoming::Sessions { .. } => &self.sender,
        }
    }

    /// Whether a message under the bot's name may be written by another living process at this
    /// moment.
    pub fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// Returns the list of messages that processes left over.
    pub fn left_over(&self) -> LeftOver {
        self.left_over.clone()
    }

    /// Makes people's text safe for titles and quotes: without secrets and without pings.
    pub fn sanitize_for_quoting(&self, text: &str) -> SafeText {
        SafeText::new(&without_secrets(text))
    }

    /// The messages of a platform that an earlier process accepted and did not answer, given once.
    /// The adapter delivers them again, each with a new reply, as soon as it is connected.
    pub fn take_left_over(&self, platform: &str) -> Vec<IncomingMessage> {
        self.left_over.take(platform)
    }

    /// As [`Inbox::take_left_over`], but waits until there is something. The waiting caller holds
    /// the inbox open, so it ends with the adapter.
    pub async fn next_left_over(&self, platform: &str) -> Vec<IncomingMessage> {
        loop {
            let came = self.left_over.0.came.notified();
            tokio::pin!(came);
            // Registers before looking, so that nothing is missed from here on.
            came.as_mut().enable();
            let taken = self.left_over.take(platform);
            if !taken.is_empty() {
                return taken;
            }
            came.await;
        }
    }

    /// Whether the bot is ending, and accepts nothing more.
    pub fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }

    /// Waits for room, and until the bot has made the message durable: it is not lost when the
    /// process is killed. For a platform that can wait, which is its back-pressure.
    ///
    /// # Errors
    /// Fails when the bot is ending.
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

    /// Delivers a person's opinion, after taking back their earlier one.
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

    /// Returns the newest messages of an audience that the bot keeps, for an adapter that checks
    /// what became of them while it was offline: at most 200, from the last 7 days. `None` when the
    /// graph does not answer.
    ///
    /// # Errors
    /// As [`Inbox::deliver`].
    pub async fn request_kept_messages(
        &self,
        audience: &AudienceId,
    ) -> Result<Option<Vec<KeptMessage>>, InboxClosed> {
        let (found, answer) = oneshot::channel();
        let asked = Incoming::Kept {
            audience: audience.clone(),
            since: Utc::now() - MAX_KEPT_MESSAGE_AGE,
            most: MAX_KEPT_MESSAGES,
            found,
        };
        self.deliver(asked).await?;
        match timeout(GRAPH_TIMEOUT, answer).await {
            Ok(Ok(kept)) => Ok(Some(kept)),
            Ok(Err(_)) | Err(_) => {
                tracing::warn!(%audience, "what is kept is not known: edits and deletions of meanwhile cannot be followed now");
                Ok(None)
            }
        }
    }

    /// Returns the conversations that the bot remembers, newest first, for an adapter that checks
    /// what became of them while it was offline: at most `most`, whose ids begin with `prefix`.
    /// `None` when the graph does not answer.
    ///
    /// # Errors
    /// As [`Inbox::deliver`].
    pub async fn request_conversations(
        &self,
        prefix: String,
        most: usize,
    ) -> Result<Option<Vec<ConversationId>>, InboxClosed> {
        let (found, answer) = oneshot::channel();
        let asked = Incoming::Conversations {
            prefix,
            most,
            found,
        };
        self.deliver(asked).await?;
        let answered = timeout(GRAPH_TIMEOUT, answer).await;
        Ok(answered.ok().and_then(Result::ok))
    }

    /// Offers a message without waiting. For a platform that must acknowledge at once and can say
    /// that it is busy.
    ///
    /// # Errors
    /// Fails when the inbox is full or the bot is ending; both return the message.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers the next question about conversations; `None` is a graph that does not answer.
    async fn bot(mut arrivals: Arrivals, answer: Option<Vec<ConversationId>>) {
        let Some(arrival) = arrivals.recv().await else {
            panic!("nothing was asked");
        };
        match arrival.accept() {
            Incoming::Conversations {
                prefix,
                most,
                found,
            } => {
                assert_eq!((prefix.as_str(), most), ("test/", 7));
                if let Some(all) = answer {
                    found.send(all).unwrap();
                }
            }
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn an_adapter_is_told_the_conversations_unless_the_graph_does_not_answer() {
        let known = vec![ConversationId::new("test/a/1")];
        for answer in [Some(known), None] {
            let (inbox, arrivals) = Inbox::new(1);
            let asked = inbox.request_conversations("test/".to_owned(), 7);
            let (found, ()) = tokio::join!(asked, bot(arrivals, answer.clone()));
            assert_eq!(found.unwrap(), answer);
        }
    }
}
