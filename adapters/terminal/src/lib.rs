//! The terminal adapter.
//!
//! There are four ways to talk with one protocol for the bot. [`Terminal`] edits lines and streams
//! answers for a person, and reads one line per turn from a script; [`TerminalSocket`] serves lines
//! on a Unix socket; [`serve_remote`] and [`ask_remotely`] connect a terminal and a bot in two
//! processes. All belong to the audience `terminal`.

mod folder;
mod identity;
mod interactive;
mod lines;
mod membership;
mod printing;
mod reader;
mod remote;
mod screen;
mod script;
mod socket;
mod unheard;

use std::io::{self, IsTerminal};
use std::path::PathBuf;

use async_trait::async_trait;
use clap::Args;
use muninn_platform::{Inbox, Language, Platform, PlatformError};
use tokio_util::sync::CancellationToken;

use identity::own_language;
pub use identity::{Session, author, os_user};
pub use membership::TerminalMembership;
pub use remote::{Told, Typed, ask_remotely, serve_remote};
pub use socket::{SocketOptions, TerminalSocket};
pub use unheard::answer_unheard;

const NAME: &str = "terminal";

/// Default maximum bytes of a line.
pub const LONGEST_LINE: usize = 1024 * 1024;

/// The options of `muninn chat` on the command line.
#[derive(Args, Clone, Debug)]
pub struct TerminalArgs {
    /// The conversation to continue
    #[arg(long, default_value = "default")]
    pub session: String,
}

/// The options of a terminal.
#[derive(Clone, Debug)]
pub struct TerminalOptions {
    pub session: Session,
    /// The history file of the prompt; `None`: no history.
    pub history: Option<PathBuf>,
    /// A line shown before the first prompt; nothing if empty.
    pub greeting: String,
    /// Maximum bytes of a line; longer ones are refused.
    pub longest_line: usize,
    /// The language of the terminal's own sentences.
    pub language: Language,
}

impl TerminalOptions {
    pub fn new(session: Session) -> Self {
        Self {
            session,
            history: None,
            greeting: String::new(),
            longest_line: LONGEST_LINE,
            language: own_language().unwrap_or_default(),
        }
    }
}

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

fn disconnected(source: io::Error) -> PlatformError {
    PlatformError::Disconnected {
        platform: NAME,
        source: Box::new(source),
    }
}
