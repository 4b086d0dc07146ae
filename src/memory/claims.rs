//! Answering an event once, where several processes are told of it.

use std::time::Duration;

use muninn_platform::{ConversationId, EventId, IncomingMessage};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::archive::Archive;
use crate::graph::StoreError;
use crate::graph::claims::{Claimed, Claims, Renewed};

/// A claim without a sign of life for this long is anybody's.
const LASTS: Duration = Duration::from_secs(10);
/// Signs of life are given this often, so that one may fail, and then another.
const RENEW_EVERY: Duration = Duration::from_secs(2);
/// How often what another process works on is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(300);
/// Longer than a turn takes.
const PATIENCE: Duration = Duration::from_mins(30);
/// How long it is known that an event is done: Slack tells again after five minutes at the latest.
const KEPT: Duration = Duration::from_hours(1);

impl Archive {
    fn claims(&self) -> &dyn Claims {
        self.store().claims()
    }

    /// Claims the event of a message for this process, waiting for another that works on it.
    /// [`Claimed::Held`]: it still does, and `closing` or patience came first. While the graph is away
    /// nobody can know, so the event is everybody's; it is kept once all the same.
    pub async fn claim(
        &self,
        message: &IncomingMessage,
        holder: &str,
        closing: &CancellationToken,
    ) -> Claimed {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if self.is_away() {
                return Claimed::Ours;
            }
            let (event, session) = (&message.event, &message.conversation);
            match self.claims().claim(event, session, holder, LASTS).await {
                Ok(Claimed::Held) if Instant::now() < deadline => {}
                Ok(claimed) => return claimed,
                Err(error) => {
                    self.cannot_claim(&error);
                    return Claimed::Ours;
                }
            }
            tokio::select! {
                () = closing.cancelled() => return Claimed::Held,
                () = sleep(LOOK_EVERY) => {}
            }
        }
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
            if self.is_away() {
                continue;
            }
            match self.claims().renew_claim(event, holder, LASTS).await {
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

    /// Says that an event needs nothing more. Where that fails, its claim ends by itself, and the
    /// turn in the graph says as much.
    pub async fn finish_claim(&self, event: &EventId, holder: &str) {
        if !self.is_away()
            && let Err(error) = self.claims().finish_claim(event, holder).await
        {
            let error = &error as &dyn std::error::Error;
            tracing::debug!(error, %event, "a claim could not be ended");
        }
    }

    /// Whether another process works on an event.
    ///
    /// # Errors
    /// When the graph cannot be asked.
    pub async fn is_claimed(&self, event: &EventId) -> Result<bool, StoreError> {
        self.claims().is_claimed(event).await
    }

    /// Tells other processes to stop what they answer in a conversation.
    pub async fn stop_elsewhere(&self, session: &ConversationId) {
        if !self.is_away()
            && let Err(error) = self.claims().stop_claims(session).await
        {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "other processes could not be told to stop a turn");
        }
    }

    /// Removes claims of the past.
    pub async fn sweep_claims(&self) {
        if !self.is_away()
            && let Err(error) = self.claims().sweep_claims(KEPT).await
        {
            let error = &error as &dyn std::error::Error;
            tracing::debug!(error, "old claims could not be removed");
        }
    }
}
