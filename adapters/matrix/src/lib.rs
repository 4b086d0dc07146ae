//! Muninn in Matrix rooms, encrypted ones too.
//!
//! `login` makes a client out of options and folder, `crypto` makes its device trusted. `sync` asks
//! for what is new, from the `position` kept by ourselves; `inbound` reads each `event`, decides by
//! pure functions what it means (`intent`), and hands it to the bot. The answer goes back through a
//! `reply`: its `content` with `html`, at the pace of the `outbox`.
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
mod login;
mod membership;
mod newly;
mod opaque;
mod options;
mod outbox;
mod position;
mod presence;
mod removal;
mod reply;
mod rooms;
mod sealed;
mod sync;
#[cfg(feature = "testing")]
pub mod testing;
mod upgrade;
mod withdraw;

use std::time::Duration;

use async_trait::async_trait;
use muninn_platform::{Inbox, Platform, PlatformError};
use tokio_util::sync::CancellationToken;

pub use allow::Allow;
pub use check::check;
pub use options::{Login, MatrixArgs, Options, Threads};

const NAME: &str = "matrix";

/// For one request, beside the time that a sync is held open.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// How often the SDK itself repeats a request.
const RETRIES: usize = 3;

/// One account on one homeserver.
#[derive(Debug)]
pub struct Matrix {
    options: Options,
}

impl Matrix {
    pub fn new(options: Options) -> Self {
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
