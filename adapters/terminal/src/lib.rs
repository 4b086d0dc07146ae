//! The terminal adapter.
//!
//! There are four ways to talk with one protocol for the bot. [`Terminal`] edits lines and streams
//! answers for a person, and reads one line per turn from a script; [`TerminalSocket`] serves lines
//! on a Unix socket; [`serve_remote`] and [`ask_remotely`] connect a terminal and a bot in two
//! processes. All belong to the audience `terminal`.

mod errors;
mod folder;
mod identity;
mod interactive;
mod lines;
mod membership;
mod name;
mod options;
mod printing;
mod reader;
mod remote;
mod screen;
mod script;
mod socket;
mod unheard;
mod wrapping;

use async_trait::async_trait;
use muninn_platform::{Inbox, Platform, PlatformError};
use std::io::{self, IsTerminal};
use tokio_util::sync::CancellationToken;

pub use identity::{Session, author, os_user};
pub use membership::TerminalMembership;
use name::NAME;
pub use remote::{RemoteEvent, Typed, ask_remotely, serve_remote};
pub use socket::{SocketOptions, TerminalSocket};
pub use unheard::answer_unheard;

pub use self::options::{LONGEST_LINE, TerminalArgs, TerminalOptions};

/// The terminal in which this process was started.
///
/// Interactive if both ends are a terminal; SIGINT then belongs to the conversation. Otherwise
/// every line of the input is a turn, and the output is plain answers; [`Platform::run`] ends with
/// [`PlatformError::BadInput`] when a line was refused or not answered.
#[derive(Debug)]
pub struct Terminal {
    options: TerminalOptions,
}

impl Terminal {
    pub fn new(options: TerminalOptions) -> Self {
        Self { options }
    }

    /// Whether a person uses it.
    pub fn is_interactive() -> bool {
        io::stdin().is_terminal() && io::stdout().is_terminal()
    }
}

#[async_trait]
impl Platform for Terminal {
    fn name(&self) -> &'static str {
        NAME
    }

    async fn run(&self, inbox: Inbox, shutdown: CancellationToken) -> Result<(), PlatformError> {
        if Self::is_interactive() {
            interactive::run(&self.options, &inbox, &shutdown).await
        } else {
            script::run(&self.options, &inbox, &shutdown).await
        }
    }
}
