//! The webhook adapter: signed HTTP requests for programs of your own, such as a ticket system, a
//! form or another bot.
//!
//! A program posts what people say (`event` parses it, `inbound` checks the `signature`), and the
//! bot posts its answers to a URL (`sink`). `docs/platforms/webhook.md` is the guide, and
//! `docs/adding-a-platform.md` uses this adapter as its example.

mod check;
mod event;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod inbound;
mod name;
mod options;
mod outbox;
mod signature;
mod sink;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use muninn_platform::{Inbox, Platform, PlatformError, end_tasks};
use tokio_util::sync::CancellationToken;

pub use check::check;
pub use options::{WebhookArgs, WebhookOptions};
pub use signature::sign;

use inbound::WebhookReceiver;
use name::NAME;
use outbox::WebhookOutbox;

/// Maximum time at the end for answers that are still to be posted.
const CHORES: Duration = Duration::from_secs(20);

/// An endpoint for messages, and a URL for answers.
#[derive(Debug)]
pub struct Webhook {
    options: WebhookOptions,
}

impl Webhook {
    pub fn new(options: WebhookOptions) -> Self {
        Self { options }
    }
}

#[async_trait]
impl Platform for Webhook {
    fn name(&self) -> &'static str {
        NAME
    }

    async fn run(&self, inbox: Inbox, shutdown: CancellationToken) -> Result<(), PlatformError> {
        let outbox = Arc::new(WebhookOutbox::new(&self.options)?);
        let inbound = WebhookReceiver::new(&self.options, Arc::clone(&outbox), inbox);
        let ended = inbound.listen(self.options.address, &shutdown).await;
        end_tasks(&outbox.chores, CHORES).await;
        ended
    }
}
