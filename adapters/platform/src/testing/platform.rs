//! The fake as a platform that the bot runs itself.

use async_trait::async_trait;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::ids::NAME;
use super::{TIMEOUT, TestConversation};
use crate::{Inbox, Platform, PlatformError};

/// The fake as a [`Platform`], for tests that let the bot run its platforms.
#[derive(Debug)]
pub struct TestPlatform {
    opened: mpsc::UnboundedSender<Inbox>,
    until: CancellationToken,
}

/// The test's end of a [`TestPlatform`].
#[derive(Debug)]
pub struct TestChat {
    opened: mpsc::UnboundedReceiver<Inbox>,
    until: CancellationToken,
}

impl TestPlatform {
    pub fn new() -> (Self, TestChat) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let until = CancellationToken::new();
        let platform = Self {
            opened: sender,
            until: until.clone(),
        };
        let chat = TestChat {
            opened: receiver,
            until,
        };
        (platform, chat)
    }
}

impl TestChat {
    /// Returns a room on the platform, once the bot runs it.
    ///
    /// # Panics
    /// Panics when the bot does not run it in time.
    pub async fn room(&mut self, conversation: &str, audience: &str) -> TestConversation {
        let opened = tokio::time::timeout(TIMEOUT, self.opened.recv()).await;
        let inbox = opened
            .ok()
            .flatten()
            .unwrap_or_else(|| panic!("the bot did not run the platform within {TIMEOUT:?}"));
        TestConversation::new(inbox, conversation, audience)
    }

    /// Ends the platform by itself, like a terminal whose input closed.
    pub fn close(&self) {
        self.until.cancel();
    }
}

#[async_trait]
impl Platform for TestPlatform {
    fn name(&self) -> &'static str {
        NAME
    }

    async fn run(&self, inbox: Inbox, shutdown: CancellationToken) -> Result<(), PlatformError> {
        // A test that stopped looking does not keep the bot from running.
        let _ = self.opened.send(inbox);
        tokio::select! {
            () = shutdown.cancelled() => {}
            () = self.until.cancelled() => {}
        }
        Ok(())
    }
}
