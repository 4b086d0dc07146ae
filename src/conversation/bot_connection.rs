//! Lets pages and programs act like people in chat: what they do reaches the bot as a message, with all rules for
//! messages.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use muninn_platform::{
    Audience, Author, Body, ConversationId, Delivered, EventId, Inbox, Incoming, IncomingMessage,
    PlatformError, Reply, SafeText, TextLimit, Withdraw,
};
use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::conversation::bot::Bot;
use crate::graph::accounts::Account;

/// The connection to the bot.
#[derive(Debug)]
pub struct BotConnection {
    /// `None` once the bot is shutting down: it ends when nobody can send to it any more.
    inbox: Mutex<Option<Inbox>>,
    bot: Arc<Bot>,
    waiters: Waiters,
}

/// How many wait for the answer to each message.
#[derive(Debug, Default)]
struct Waiters(Mutex<HashMap<EventId, usize>>);

impl Waiters {
    fn add(&self, event: &EventId) {
        *self.0.lock().entry(event.clone()).or_default() += 1;
    }

    /// Removes one of them. Returns whether nobody is left.
    fn remove(&self, event: &EventId) -> bool {
        let mut all = self.0.lock();
        let left = all
            .get(event)
            .map_or(0, |waiting| waiting.saturating_sub(1));
        match left {
            0 => all.remove(event),
            _ => all.insert(event.clone(), left),
        };
        left == 0
    }
}

/// The bot's reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BotReply {
    Answer(String),
    /// Why there is no answer, or a text for the author alone.
    Notice(String),
}

impl BotReply {
    pub fn into_text(self) -> String {
        match self {
            Self::Answer(text) | Self::Notice(text) => text,
        }
    }
}

/// Why the bot did not reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoBotReply {
    #[error("the bot is ending")]
    Ending,
    /// It chose not to, or did so at an earlier delivery.
    #[error("the bot said nothing")]
    Silent,
    /// It continues, but nobody waits any more.
    #[error("the bot said nothing in time")]
    TooLate,
}

impl BotConnection {
    pub fn new(inbox: Inbox, bot: Arc<Bot>) -> Self {
        Self {
            inbox: Mutex::new(Some(inbox)),
            bot,
            waiters: Waiters::default(),
        }
    }

    /// As [`Bot::running_tasks`].
    pub fn running_tasks(&self) -> usize {
        self.bot.running_tasks()
    }

    /// Accepts nothing more from now on.
    pub fn close(&self) {
        self.inbox.lock().take();
    }

    /// Sends a message to the bot and returns its reply within this time.
    ///
    /// # Errors
    /// Fails when it did not reply.
    pub async fn send_and_wait(
        &self,
        message: IncomingMessage,
        patience: Duration,
    ) -> Result<BotReply, NoBotReply> {
        let inbox = self.inbox.lock().clone().ok_or(NoBotReply::Ending)?;
        let (said, receipt) = oneshot::channel();
        let reply = HeldReply {
            said: Some(said),
            withdraw: self.bot.withdrawals().of(&message.audience.platform),
        };
        let reply = Box::new(reply);
        let heard = async {
            let delivered = inbox.deliver(Incoming::Message { message, reply });
            delivered.await.map_err(|_| NoBotReply::Ending)?;
            receipt.await.map_err(|_| NoBotReply::Silent)
        };
        let heard = timeout(patience, heard).await;
        heard.unwrap_or(Err(NoBotReply::TooLate))
    }

    /// Registers somebody who waits for the answer to a message.
    pub fn wait_for(&self, event: &EventId) -> Waiting<'_> {
        self.waiters.add(event);
        Waiting {
            connection: self,
            event: event.clone(),
            is_over: false,
        }
    }

    fn give_up(&self, event: &EventId) {
        if let Some(inbox) = self.inbox.lock().as_ref() {
            // An overloaded bot drops this request.
            let _ = inbox.offer(Incoming::GivenUp(event.clone()));
        }
    }
}

/// Somebody who waits for an answer. If they go before it is there, and nobody else waits for it, it is not written on.
#[derive(Debug)]
pub struct Waiting<'a> {
    connection: &'a BotConnection,
    event: EventId,
    is_over: bool,
}

impl Waiting<'_> {
    /// The wait is over: there is an answer, or none is to come.
    pub fn end(mut self) {
        self.is_over = true;
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if self.connection.waiters.remove(&self.event) && !self.is_over {
            self.connection.give_up(&self.event);
        }
    }
}

/// A message that somebody writes outside of chat, in a place that they read.
pub fn message_from(
    person: &Account,
    event: EventId,
    (conversation, audience): (ConversationId, Audience),
    body: Body,
) -> IncomingMessage {
    let author = Author {
        id: person.id.clone(),
        name: person.name.clone(),
        // The messages of others stay protected, whatever this person may do in chat.
        is_admin: false,
        time_zone: None,
        language: None,
    };
    IncomingMessage::new(event, conversation, audience, author, body)
}

/// Collects the bot's reply for whoever waits for it.
struct HeldReply {
    said: Option<oneshot::Sender<BotReply>>,
    withdraw: Arc<dyn Withdraw>,
}

impl HeldReply {
    fn tell(&mut self, parts: &[SafeText], said: impl FnOnce(String) -> BotReply) {
        let parts: Vec<&str> = parts.iter().map(SafeText::as_str).collect();
        if let Some(receipt) = self.said.take() {
            // Whoever asked may have gone.
            let _ = receipt.send(said(parts.join("\n")));
        }
    }
}

#[async_trait]
impl Reply for HeldReply {
    fn limit(&self) -> TextLimit {
        TextLimit::Unlimited
    }

    async fn finish(&mut self, parts: &[SafeText]) -> Result<Delivered, PlatformError> {
        self.tell(parts, BotReply::Answer);
        Ok(Delivered::default())
    }

    async fn finish_for_asker(&mut self, parts: &[SafeText]) -> Result<Delivered, PlatformError> {
        self.tell(parts, BotReply::Notice);
        Ok(Delivered::default())
    }

    fn withdrawer(&self) -> Arc<dyn Withdraw> {
        Arc::clone(&self.withdraw)
    }
}

/// A reply to somebody who is not there any more: the answer is kept, and shown to nobody.
#[derive(Clone, Copy, Debug)]
pub struct DiscardingReply;

#[async_trait]
impl Reply for DiscardingReply {
    fn limit(&self) -> TextLimit {
        TextLimit::Unlimited
    }

    async fn finish(&mut self, _: &[SafeText]) -> Result<Delivered, PlatformError> {
        Ok(Delivered::default())
    }
}

#[async_trait]
impl muninn_platform::Readdress for DiscardingReply {
    async fn reply_again(&self, _: &IncomingMessage) -> Option<Box<dyn Reply>> {
        Some(Box::new(Self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_who_waits_for_an_answer_is_known() {
        let (waiters, tea, milk) = (Waiters::default(), EventId::new("t"), EventId::new("m"));
        for event in [&tea, &milk, &tea] {
            waiters.add(event);
        }
        assert!(!waiters.remove(&tea));
        assert!(waiters.remove(&milk) && waiters.remove(&tea));
        assert!(waiters.0.lock().is_empty());
    }
}
