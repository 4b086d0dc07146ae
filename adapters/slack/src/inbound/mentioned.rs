//! Mentions whose messages arrive after them.
//!
//! Slack sends a mention of the bot as a mention event and as a message, in any order, and may leave
//! the message's files out of the mention event. The message is the one that counts. Where the app
//! hears only mentions, no message follows.

use std::time::Duration;

use muninn_platform::{Addressed, EventId, SharedRecent};
use tokio::sync::Notify;
use tokio::time::timeout;

/// Maximum time between a mention event and its message. The rest of the time in which Slack wants
/// its acknowledgement is for delivering it.
const MESSAGE_TIMEOUT: Duration = Duration::from_millis(700);

/// Number of remembered messages: they are needed only for a moment.
const REMEMBERED: usize = 1_024;

/// The messages that arrived as such, and how each was addressed. Either the bot gets them, or Slack
/// sends them again.
pub(super) struct ArrivedMessages {
    addressed: SharedRecent<EventId, Addressed>,
    arrived: Notify,
}

impl Default for ArrivedMessages {
    fn default() -> Self {
        Self {
            addressed: SharedRecent::new(REMEMBERED),
            arrived: Notify::new(),
        }
    }
}

impl ArrivedMessages {
    pub(super) fn arrive(&self, message: EventId, addressed: Addressed) {
        self.addressed.insert(message, addressed);
        self.arrived.notify_waiters();
    }

    /// Waits for a message that is addressed as its mention event is. Returns false if it does not
    /// arrive in time.
    pub(super) async fn arrives_in_time(&self, message: &EventId, addressed: Addressed) -> bool {
        let arrival = async {
            loop {
                // Before it looks: from here on, no arrival is missed.
                let next = self.arrived.notified();
                if self.addressed.get(message) == Some(addressed) {
                    return;
                }
                next.await;
            }
        };
        timeout(MESSAGE_TIMEOUT, arrival).await.is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_mention_waits_for_its_message_and_no_other() {
        let arrived = ArrivedMessages::default();
        let (one, other) = (EventId::new("1"), EventId::new("2"));
        // Nobody asked in it: an edit added the mention.
        arrived.arrive(one.clone(), Addressed::Overheard);
        arrived.arrive(other.clone(), Addressed::Directly);
        assert!(!arrived.arrives_in_time(&one, Addressed::Directly).await);
        assert!(arrived.arrives_in_time(&other, Addressed::Directly).await);
        let arriving = async { arrived.arrive(one.clone(), Addressed::Directly) };
        let waiting = arrived.arrives_in_time(&one, Addressed::Directly);
        assert!(tokio::join!(waiting, arriving).0);
    }
}
