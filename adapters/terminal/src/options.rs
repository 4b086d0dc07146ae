//! The options of a terminal.

use std::path::PathBuf;

use clap::Args;
use muninn_platform::Language;

use crate::identity::{Session, own_language};

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
