//! Answers an event once, even if several processes receive it.

use std::time::Duration;

use muninn_platform::{ConversationId, EventId, IncomingMessage};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::archive::Archive;
use crate::graph::StoreError;
use crate::graph::claims::{Claimed, Renewed};

/// A claim that was not renewed for this long may be taken by any process.
const CLAIM_LIFETIME: Duration = Duration::from_secs(10);
/// How often a claim is renewed, so that one or two renewals may fail.
const RENEW_EVERY: Duration = Duration::from_secs(2);
/// How often an event that another process works on is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(300);
/// Longest pause while the graph does not tell who holds an event.
const MAX_POLL_INTERVAL: Duration = Duration::from_secs(5);
/// Longer than a turn takes.
const EVENT_WAIT_TIMEOUT: Duration = Duration::from_mins(30);
/// How long a finished event is remembered: Slack repeats a delivery after five minutes at the latest.
const FINISHED_EVENT_RETENTION: Duration = Duration::from_hours(1);

impl Archive {
    /// Claims the event of a message for this process, and waits while another one works on it. Returns
    /// [`Claimed::Held`] if another process still works on it, or if that cannot be known, when
    /// `closing` is cancelled or the wait times out.
    ///
    /// While the graph does not tell who holds the event, a process that alone receives its platform's
    /// events continues; one of several that receive the same events waits (docs/storage.md).
    pub async fn claim(
        &self,
        message: &IncomingMessage,
        holder: &str,
        closing: &CancellationToken,
    ) -> Claimed {
        let deadline = Instant::now() + EVENT_WAIT_TIMEOUT;
        let mut pause = POLL_INTERVAL;
        loop {
            match self.try_claim(message, holder).await {
                Some(Claimed::Held) => pause = POLL_INTERVAL,
                Some(claimed) => return claimed,
                None if self.is_alone(message) => return Claimed::Ours,
                None => pause = (pause * 2).min(MAX_POLL_INTERVAL),
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

    /// Claims a finished event again, as [`Archive::claim`] does.
    pub async fn claim_again(
        &self,
        message: &IncomingMessage,
        holder: &str,
        closing: &CancellationToken,
    ) -> Claimed {
        if let Err(error) = self.store().reopen_claim(&message.event).await {
            self.cannot_claim(&error);
        }
        self.claim(message, holder, closing).await
    }

    /// Who holds the event. `None` if the graph does not tell.
    async fn try_claim(&self, message: &IncomingMessage, holder: &str) -> Option<Claimed> {
        if self.is_away() {
            return None;
        }
        let (event, session) = (&message.event, &message.conversation);
        match self
            .store()
            .claim(event, session, holder, CLAIM_LIFETIME)
            .await
        {
            Ok(claimed) => Some(claimed),
            Err(error) => {
                self.cannot_claim(&error);
                None
            }
        }
    }

    /// Whether no other process receives the message, as far as is known.
    fn is_alone(&self, message: &IncomingMessage) -> bool {
        self.neighbours().is_alone(&message.audience.platform)
    }

    fn cannot_claim(&self, error: &StoreError) {
        if error.is_transient() {
            self.mark_away(error);
        } else {
            let error = error as &dyn std::error::Error;
            tracing::error!(error, "the graph refused a claim");
        }
    }

    /// Renews a claim until somebody wants its turn stopped.
    pub async fn renew_until_stopped(&self, event: &EventId, holder: &str) {
        loop {
            sleep(RENEW_EVERY).await;
            match self
                .store()
                .renew_claim(event, holder, CLAIM_LIFETIME)
                .await
            {
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
    /// Fails when the graph cannot be read.
    pub async fn is_claimed(&self, event: &EventId, holder: &str) -> Result<bool, StoreError> {
        self.store().is_claimed(event, holder).await
    }

    /// Tells other processes to stop their answers in a conversation.
    pub async fn stop_elsewhere(&self, session: &ConversationId) {
        if !self.is_away()
            && let Err(error) = self.store().stop_claims(session).await
        {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "other processes could not be told to stop a turn");
        }
    }

    /// Removes old claims.
    pub async fn sweep_claims(&self) {
        if !self.is_away()
            && let Err(error) = self.store().sweep_claims(FINISHED_EVENT_RETENTION).await
        {
            let error = &error as &dyn std::error::Error;
            tracing::debug!(error, "old claims could not be removed");
        }
    }
}
