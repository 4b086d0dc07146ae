//! Answering an event once, where several processes are told of it.

use std::time::Duration;

use muninn_platform::{ConversationId, EventId, IncomingMessage};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::archive::Archive;
use crate::graph::StoreError;
use crate::graph::claims::{Claimed, Renewed};

/// A claim without a sign of life for this long is anybody's.
const LASTS: Duration = Duration::from_secs(10);
/// Signs of life are given this often, so that one may fail, and then another.
const RENEW_EVERY: Duration = Duration::from_secs(2);
/// How often what another process works on is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(300);
/// The longest pause while the graph does not say whose an event is.
const SLOWEST_LOOK: Duration = Duration::from_secs(5);
/// Longer than a turn takes.
const PATIENCE: Duration = Duration::from_mins(30);
/// How long it is known that an event is done: Slack tells again after five minutes at the latest.
const KEPT: Duration = Duration::from_hours(1);

impl Archive {
    /// Claims the event of a message for this process, waiting for another that works on it.
    /// [`Claimed::Held`]: it still does, or that cannot be known, and `closing` or patience came first.
    ///
    /// While the graph does not say whose the event is, a process that is told it alone goes on with
    /// it; one beside which others are told the same waits (docs/storage.md).
    pub async fn claim(
        &self,
        message: &IncomingMessage,
        holder: &str,
        closing: &CancellationToken,
    ) -> Claimed {
        let deadline = Instant::now() + PATIENCE;
        let mut pause = LOOK_EVERY;
        loop {
            match self.try_claim(message, holder).await {
                Some(Claimed::Held) => pause = LOOK_EVERY,
                Some(claimed) => return claimed,
                None if self.is_alone(message) => return Claimed::Ours,
                None => pause = (pause * 2).min(SLOWEST_LOOK),
            }
            if Instant::now() >= deadline {
                return Claimed::Held;
            }
            tokio::select! {
                () = closing.cancelled() => return Claimed::Held,
                () = sleep(pause) => {}
            }
        }
    }

    /// Whose the event is. None: the graph does not say.
    async fn try_claim(&self, message: &IncomingMessage, holder: &str) -> Option<Claimed> {
        if self.is_away() {
            return None;
        }
        let (event, session) = (&message.event, &message.conversation);
        match self.store().claim(event, session, holder, LASTS).await {
            Ok(claimed) => Some(claimed),
            Err(error) => {
                self.cannot_claim(&error);
                None
            }
        }
    }

    /// Whether nobody else is told the message, as far as is known.
    fn is_alone(&self, message: &IncomingMessage) -> bool {
        self.neighbours().is_alone(&message.audience.platform)
    }

    fn cannot_claim(&self, error: &StoreError) {
        if error.is_transient() {
            self.went_away(error);
        } else {
            let error = error as &dyn std::error::Error;
            tracing::error!(error, "the graph refused a claim");
        }
    }

    /// Gives signs of life of a claim until somebody wants its turn stopped.
    pub async fn renew_until_stopped(&self, event: &EventId, holder: &str) {
        loop {
            sleep(RENEW_EVERY).await;
            match self.store().renew_claim(event, holder, LASTS).await {
                Ok(Renewed::Kept) => {}
                Ok(Renewed::Stopped) => return,
                Ok(Renewed::Lost) => {
                    tracing::debug!(%event, "a claim was lost: the first to keep its turn delivers it");
                }
                Err(error) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::debug!(error, %event, "a claim could not be renewed");
                }
            }
        }
    }

    /// Whether another process works on an event, or will.
    ///
    /// # Errors
    /// When the graph cannot be asked.
    pub async fn is_claimed(&self, event: &EventId, holder: &str) -> Result<bool, StoreError> {
        self.store().is_claimed(event, holder).await
    }

    /// Tells other processes to stop what they answer in a conversation.
    pub async fn stop_elsewhere(&self, session: &ConversationId) {
        if !self.is_away()
            && let Err(error) = self.store().stop_claims(session).await
        {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "other processes could not be told to stop a turn");
        }
    }

    /// Removes claims of the past.
    pub async fn sweep_claims(&self) {
        if !self.is_away()
            && let Err(error) = self.store().sweep_claims(KEPT).await
        {
            let error = &error as &dyn std::error::Error;
            tracing::debug!(error, "old claims could not be removed");
        }
    }
}
