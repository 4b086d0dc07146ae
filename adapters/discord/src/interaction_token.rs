//! The token of an interaction, and how a message can be changed with it or without.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use secrecy::SecretString;
use serenity::model::id::InteractionId;
use tokio::time::Instant;

use crate::errors::{Failure, RefusalReason};

/// Lifetime of a token: Discord's fifteen minutes, minus the time of a request.
const TOKEN_LIVES: Duration = Duration::from_secs(14 * 60 + 30);

/// The token of an interaction, while it can be used.
pub(crate) struct InteractionToken {
    pub(crate) interaction: InteractionId,
    secret: SecretString,
    began: Instant,
    /// Discord does not accept it any more.
    is_over: AtomicBool,
}

impl InteractionToken {
    pub(crate) fn new(interaction: InteractionId, secret: SecretString) -> Self {
        Self {
            interaction,
            secret,
            began: Instant::now(),
            is_over: AtomicBool::new(false),
        }
    }

    /// Marks it as invalid: the interaction was not acknowledged in time.
    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// # Errors
    /// Fails when it has expired.
    pub(crate) fn secret_or_over(&self) -> Result<&SecretString, Failure> {
        let over = || Failure::refused(RefusalReason::InteractionOver, "the interaction is over");
        self.secret().ok_or_else(over)
    }

    pub(crate) fn secret(&self) -> Option<&SecretString> {
        let is_over = self.is_over.load(Ordering::Relaxed) || self.began.elapsed() > TOKEN_LIVES;
        (!is_over).then_some(&self.secret)
    }
}

/// How a message can be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EditRoute {
    Bot,
    /// As the interaction's original response.
    Original,
    FollowUp,
}
