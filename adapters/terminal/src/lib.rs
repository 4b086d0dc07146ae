//! Muninn in a terminal.
//!
//! Four ways to talk, one protocol for the bot: [`Terminal`] edits lines and streams where a
//! person sits at it, and reads a line a turn where a script does; [`TerminalSocket`] serves lines
//! on a Unix socket; [`serve_remote`] and [`ask_remotely`] are a
//! terminal and a bot in two processes. All are the one audience `terminal`.

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
use muninn_platform::{Inbox, Language, Platform, PlatformError};
use tokio_util::sync::CancellationToken;

use identity::own_language;
pub use identity::{Session, author, os_user};
pub use membership::TerminalMembership;
pub use remote::{Told, Typed, ask_remotely, serve_remote};
pub use socket::{SocketOptions, TerminalSocket};
pub use unheard::answer_unheard;

const NAME: &str = "terminal";

/// The longest line that is read, unless said otherwise.
pub const LONGEST_LINE: usize = 1024 * 1024;

/// How a terminal is set up.
#[derive(Clone, Debug)]
pub struct Options {
    pub session: Session,
    /// Where lines typed at the prompt are kept; nowhere if there is none.
    pub history: Option<PathBuf>,
    /// One line shown before the first prompt; nothing if it is empty.
    pub greeting: String,
    /// Longer lines are refused, in bytes.
    pub longest_line: usize,
    /// In which the terminal itself speaks to whoever sits at it.
    pub language: Language,
}

impl Options {
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

/// The terminal this process was started in.
///
/// Interactive where both ends are a terminal; SIGINT belongs to the conversation then. Otherwise
/// every line of the input is a turn and plain answers are the output; [`Platform::run`] ends with
/// [`PlatformError::BadInput`] when a line was refused or stayed without an answer.
#[derive(Debug)]
pub struct Terminal {
    options: Options,
}

impl Terminal {
    pub fn new(options: Options) -> Self {
        Self { options }
    }

    /// Whether a person sits at it.
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
