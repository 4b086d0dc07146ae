//! The typing indicator, which Discord shows for ten seconds.
//!
//! Nothing waits for it, and its failures do not matter.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;

use crate::answer_thread::AnswerThread;
use crate::hub::DiscordHub;

pub(crate) const TYPING_EVERY: Duration = Duration::from_secs(8);

/// Maximum number of repetitions for a long turn.
const MAX_REPETITIONS: u32 = 120;

/// Shows that the bot is typing, until it is dropped.
pub(crate) struct Typing(JoinHandle<()>);

impl Typing {
    pub(crate) fn start(hub: Arc<DiscordHub>, answer_thread: Arc<AnswerThread>) -> Self {
        Self(tokio::spawn(async move {
            let Ok(channel) = answer_thread.channel().await else {
                return;
            };
            for _ in 0..MAX_REPETITIONS {
                let shown = hub.api.show_typing(channel);
                let _ = hub.outbox.try_once(shown).await;
                tokio::time::sleep(TYPING_EVERY).await;
            }
        }))
    }
}

impl Drop for Typing {
    fn drop(&mut self) {
        self.0.abort();
    }
}
