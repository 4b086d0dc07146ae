//! Takes in what people say to one another, where that is remembered. These messages are kept beside the questions
//! and are not answered.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use muninn_platform::redact::without_secrets;
use muninn_platform::{Audience, Body, IncomingMessage};
use tokio_util::sync::CancellationToken;

use crate::conversation::hearing::HearingRules;
use crate::graph::trace::Trace;
use crate::graph::{NewTurn, Turn};
use crate::memory::Archive;

/// Maximum number of messages taken in at once.
pub(super) const BATCH: usize = 256;
/// First pause before messages that could not be kept are retried, doubling up to [`MAX_RETRY_DELAY`].
const FIRST_RETRY: Duration = Duration::from_millis(500);
const MAX_RETRY_DELAY: Duration = Duration::from_secs(15);
/// Maximum number of tries, about three minutes. After that the messages are not acknowledged to their platforms.
const MAX_ATTEMPTS: u32 = 16;
/// Replaces the rest of a message that is too long.
const CUT: &str = " […]";

/// Keeps what people say to one another.
#[derive(Debug)]
pub struct Intake {
    pub archive: Arc<Archive>,
    pub rules: Arc<HearingRules>,
    /// Maximum characters kept per message.
    pub message_chars: usize,
}

/// What somebody said to others.
#[derive(Clone, Copy, Debug)]
pub struct HeardMessage<'a> {
    pub message: &'a IncomingMessage,
    /// When its text got its present form, if it was edited.
    pub revised_at: Option<DateTime<Utc>>,
}

impl<'a> From<&'a IncomingMessage> for HeardMessage<'a> {
    fn from(message: &'a IncomingMessage) -> Self {
        Self {
            message,
            revised_at: None,
        }
    }
}

/// The messages could not be kept, or there was no time left for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntakeFailed;

impl Intake {
    /// Keeps the messages that the rules allow, in order, and returns when they cannot be lost any more. Returns
    /// the audiences in which people must be told that they are heard.
    ///
    /// # Errors
    /// Fails when they could not be kept in time.
    pub async fn keep(
        &self,
        messages: &[HeardMessage<'_>],
        stop: &CancellationToken,
    ) -> Result<Vec<Audience>, IntakeFailed> {
        // Whoever opts out waits for this; their messages are forgotten afterwards.
        let _keeping = self.rules.keeping.lock().await;
        let mut kept: Vec<NewTurn> = Vec::with_capacity(messages.len());
        let mut untold: Vec<Audience> = Vec::new();
        for HeardMessage {
            message,
            revised_at,
        } in messages
        {
            let Body::Text(text) = &message.body else {
                continue;
            };
            let not_kept = self.rules.reason_not_kept(message, text);
            let why = not_kept.map_or("kept", |why| why.name());
            metrics::counter!("muninn_heard_total", "kept" => why).increment(1);
            if not_kept.is_some() {
                continue;
            }
            let text = self.readable(text);
            let mut turn = as_turn(message, &text);
            turn.turn.revised_at = *revised_at;
            kept.push(turn);
            let audience = &message.audience;
            if !self.rules.is_announced(&audience.id) && !untold.contains(audience) {
                untold.push(audience.clone());
            }
        }
        if !kept.is_empty() {
            self.save_with_retries(kept, stop).await?;
        }
        Ok(untold)
    }

    /// The text that is kept: without secrets, and of limited length.
    pub fn readable(&self, text: &str) -> String {
        let text = without_secrets(text.trim());
        match text.char_indices().nth(self.message_chars) {
            Some((end, _)) => format!("{}{CUT}", &text[..end]),
            None => text,
        }
    }

    async fn save_with_retries(
        &self,
        messages: Vec<NewTurn>,
        stop: &CancellationToken,
    ) -> Result<(), IntakeFailed> {
        let mut pause = FIRST_RETRY;
        for _ in 0..MAX_ATTEMPTS {
            match self.archive.keep_messages(messages.clone()).await {
                Ok(()) => return Ok(()),
                Err(error) => tracing::error!(
                    error = &error as &dyn std::error::Error,
                    messages = messages.len(),
                    "what people said could not be kept anywhere; it is tried again"
                ),
            }
            tokio::select! {
                () = stop.cancelled() => return Err(IntakeFailed),
                () = tokio::time::sleep(pause) => pause = (pause * 2).min(MAX_RETRY_DELAY),
            }
        }
        Err(IntakeFailed)
    }
}

fn as_turn(message: &IncomingMessage, text: &str) -> NewTurn {
    let turn = Turn::message(message.conversation.as_str(), &message.author.id, text);
    NewTurn {
        recalls_also: Vec::new(),
        audience: message.audience.clone(),
        turn: Turn {
            // Other clocks may be ahead; nothing was said later than now.
            created_at: message.sent_at.min(Utc::now()),
            author_name: message.author.name.clone(),
            event: message.event.to_string(),
            link: message.link.clone(),
            reply_to: message.reply_to.as_ref().map(ToString::to_string),
            ..turn
        },
        context: Vec::new(),
        recalled: Vec::new(),
        trace: Trace::default(),
        asked_at: None,
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    #[test]
    fn nothing_was_said_in_the_future() {
        let mut message = crate::testing::message("e");
        message.sent_at = Utc::now() + TimeDelta::days(400);
        assert!(as_turn(&message, "now").turn.created_at <= Utc::now());
        message.sent_at = chrono::DateTime::UNIX_EPOCH;
        let turn = as_turn(&message, "then").turn;
        assert_eq!(
            (turn.created_at, turn.is_message()),
            (message.sent_at, true)
        );
    }
}
