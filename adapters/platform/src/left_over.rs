//! Redelivers messages that an earlier process accepted and did not answer, and reports the
//! connection so that the bot finishes withdrawals.

use std::sync::Arc;

use async_trait::async_trait;
use tokio_util::task::TaskTracker;

use crate::{Announce, Inbox, InboxClosed, Incoming, IncomingMessage, Reply, Withdraw};

/// Creates new replies for messages of an earlier process.
#[async_trait]
pub trait Readdress: Send + Sync {
    /// Returns the reply for the answer; `None` when its place is unknown now.
    async fn reply_again(&self, message: &IncomingMessage) -> Option<Box<dyn Reply>>;
}

impl Inbox {
    /// Delivers again what an earlier process accepted and did not answer. Called once the adapter
    /// is connected.
    ///
    /// # Errors
    /// Fails when the bot is ending.
    pub async fn deliver_left_over(
        &self,
        platform: &str,
        replies: &dyn Readdress,
    ) -> Result<(), InboxClosed> {
        self.deliver_again(self.take_left_over(platform), replies)
            .await
    }

    /// Delivers messages of processes that end later, while it is polled or until the bot ends. The
    /// polling caller holds the inbox open.
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

    /// Tells the bot that the platform is connected, so that withdrawals and announcements are
    /// possible.
    ///
    /// # Errors
    /// Fails when the bot is ending; the next process is told again.
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

    /// As [`Inbox::tell_connected`], in one of the tasks: nothing waits for it.
    pub fn tell_connected_in(
        &self,
        tasks: &TaskTracker,
        platform: &'static str,
        withdraw: Arc<dyn Withdraw>,
        announce: Arc<dyn Announce>,
    ) {
        let inbox = self.clone();
        tasks.spawn(async move {
            let told = inbox.tell_connected(platform, withdraw, announce).await;
            if let Err(error) = told {
                tracing::debug!(platform, %error, "the bot is not told that it is connected");
            }
        });
    }
}
