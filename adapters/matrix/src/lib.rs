//! The Matrix adapter, for encrypted rooms too.
//!
//! `login` creates a client from the options and the folder, and `crypto` makes its device trusted.
//! `sync` fetches new events from the adapter's own `position`; `inbound` parses each `event`,
//! decides with pure functions what it means (`intent`), and delivers it to the bot. The answer
//! goes back through a `reply`: its `content` with `html`, at the pace of the `outbox`.
#![recursion_limit = "256"]

mod allow;
mod announce;
mod ask;
mod attachment;
mod background;
mod check;
mod content;
mod crypto;
mod errors;
mod event;
mod files;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod gap;
mod handing;
mod history;
mod html;
mod hub;
mod ids;
mod inbound;
mod intent;
mod lineage;
mod login;
mod member_lists;
mod membership;
mod name;
mod newly;
mod opaque;
mod options;
mod outbox;
mod position;
mod presence;
mod redaction;
mod removal;
mod reply;
mod request_limits;
mod rooms;
mod sealed;
mod sync;
#[cfg(feature = "testing")]
pub mod testing;
mod upgrade;
mod withdraw;

use async_trait::async_trait;
use muninn_platform::{Inbox, Platform, PlatformError};
use name::NAME;
use tokio_util::sync::CancellationToken;

pub use allow::MatrixAllowList;
pub use check::check;
pub use options::{Login, MatrixArgs, MatrixOptions, Threads};

/// One account on one homeserver.
#[derive(Debug)]
pub struct Matrix {
    options: MatrixOptions,
}

impl Matrix {
    pub fn new(options: MatrixOptions) -> Self {
        Self { options }
    }
}

#[async_trait]
impl Platform for Matrix {
    fn name(&self) -> &'static str {
        NAME
    }

    async fn run(&self, inbox: Inbox, shutdown: CancellationToken) -> Result<(), PlatformError> {
        sync::run(&self.options, inbox, &shutdown).await
    }
}
