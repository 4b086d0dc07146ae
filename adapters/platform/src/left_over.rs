//! Messages that an earlier process accepted and did not answer, and what it did not take away.

use std::sync::Arc;

use async_trait::async_trait;

use crate::{Announce, Inbox, InboxClosed, Incoming, IncomingMessage, Reply, Withdraw};

/// Gives the messages of an earlier process replies of this one.
#[async_trait]
pub trait Readdress: Send + Sync {
    /// The way the answer goes back; none where its place is not known any more.
    async fn reply_again(&self, message: &IncomingMessage) -> Option<Box<dyn Reply>>;
}

impl Inbox {
    /// Delivers once more what an earlier process accepted and did not answer, as soon as the adapter
    /// is connected.
    ///
    /// # Errors
    /// When the bot is ending.
    pub async fn deliver_left_over(
        &self,
        platform: &str,
        replies: &dyn Readdress,
    ) -> Result<(), InboxClosed> {
        self.deliver_again(self.take_left_over(platform), replies)
            .await
    }

    /// Delivers what processes accepted that end later, for as long as it is polled or until the bot
    /// ends. Whoever polls it holds the inbox open.
    pub async fn follow_left_over(&self, platform: &str, replies: &dyn Readdress) -> InboxClosed {
        loop {
            let messages = self.next_left_over(platform).await;
            if let Err(closed) = self.deliver_again(messages, replies).await {
                return closed;
            }
        }
    }

    async fn deliver_again(
        &self,
        messages: Vec<IncomingMessage>,
        replies: &dyn Readdress,
    ) -> Result<(), InboxClosed> {
        for message in messages {
            match replies.reply_again(&message).await {
                Some(reply) => self.deliver(Incoming::Message { message, reply }).await?,
                None => {
                    tracing::warn!(event = %message.event, "a message left over is of a place that is not known any more");
                }
            }
        }
        Ok(())
    }

    /// Tells the bot that the platform can be reached: what is to be taken away can be, and what is to be said
    /// unasked.
    ///
    /// # Errors
    /// When the bot is ending; the next process is told again.
    pub async fn tell_connected(
        &self,
        platform: &'static str,
        withdraw: Arc<dyn Withdraw>,
        announce: Arc<dyn Announce>,
    ) -> Result<(), InboxClosed> {
        let connected = Incoming::Connected {
            platform,
            withdraw,
            announce,
        };
        self.deliver(connected).await
    }
}
