//! Reads edited lines on a thread of its own, because reading blocks and cannot be interrupted.

use std::borrow::Cow;
use std::fs::Permissions;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc as blocking;
use std::thread;

use muninn_platform::redact::{redacted, without_secrets};
use muninn_platform::{Command, Request};
use rustix::termios::{self, LocalModes, OptionalActions, Termios};
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{Config, Editor};
use tokio::sync::mpsc;

use crate::lines::continued;

const PROMPT: (&str, &str) = ("you> ", "\u{1b}[1myou>\u{1b}[0m ");
const MORE: (&str, &str) = ("...> ", "\u{1b}[2m...>\u{1b}[0m ");

/// An input at the prompt.
#[derive(Debug)]
pub(crate) enum Typed {
    Text(String),
    /// Ctrl-C; the line is discarded.
    Interrupt,
    /// Ctrl-D on an empty line.
    Leave,
    /// The input is not valid text.
    Unreadable,
    Failed(io::Error),
}

/// Reads one line at a time; between two lines the terminal is in its original mode.
#[derive(Debug)]
pub(crate) struct LineReader {
    next: blocking::Sender<()>,
    typed: mpsc::Receiver<Typed>,
}

impl LineReader {
    pub(crate) fn start(history: Option<PathBuf>) -> io::Result<Self> {
        let (next, asked) = blocking::channel();
        let (sender, typed) = mpsc::channel(1);
        thread::Builder::new()
            .name("terminal-prompt".to_owned())
            .spawn(move || read_when_asked(history.as_deref(), &asked, &sender))?;
        Ok(Self { next, typed })
    }

    /// Shows the prompt and waits for input.
    pub(crate) async fn read(&mut self) -> Typed {
        // A reader that has ended has reported that in the channel.
        let _ = self.next.send(());
        self.typed.recv().await.unwrap_or(Typed::Leave)
    }
}

fn read_when_asked(
    history: Option<&Path>,
    asked: &blocking::Receiver<()>,
    sender: &mpsc::Sender<Typed>,
) {
    let mut editor = match editor(history) {
        Ok(editor) => editor,
        Err(error) => {
            // The receiver is gone.
            let _ = sender.blocking_send(failed(error));
            return;
        }
    };
    while asked.recv().is_ok() {
        let typed = read_entry(&mut editor).map_or_else(failed, Typed::Text);
        if let Typed::Text(text) = &typed {
            match Request::parse(text.trim_start_matches('/')) {
                Request::Command(Command::Forget(_)) => forget(&mut editor, history),
                Request::Command(_) | Request::Text(_) => {
                    remember(&mut editor, history, &without_secrets(text));
                }
            }
        }
        if sender.blocking_send(typed).is_err() {
            return;
        }
    }
}

fn editor(history: Option<&Path>) -> Result<Editor<(), FileHistory>, ReadlineError> {
    let config = Config::builder()
        .max_history_size(10_000)?
        .history_ignore_dups(true)?
        .build();
    let mut editor = Editor::with_config(config)?;
    // Without a helper, even an empty one, the styled prompt is never shown.
    editor.set_helper(Some(()));
    if let Some(path) = history
        && path.exists()
    {
        if let Err(error) = make_private(path) {
            tracing::warn!(%error, "the history of typed lines could not be made private");
        }
        if let Err(error) = editor.load_history(path) {
            tracing::warn!(%error, "the history of typed lines could not be read");
        }
    }
    Ok(editor)
}

/// Fixes a history of an earlier version: makes it private, and removes secrets.
fn make_private(path: &Path) -> io::Result<()> {
    std::fs::set_permissions(path, Permissions::from_mode(0o600))?;
    let kept = std::fs::read_to_string(path)?;
    match redacted(&kept) {
        Cow::Borrowed(_) => Ok(()),
        Cow::Owned(safe) => std::fs::write(path, safe),
    }
}

/// Reads a line with its continuation lines.
fn read_entry(editor: &mut Editor<(), FileHistory>) -> Result<String, ReadlineError> {
    let mut entry = String::new();
    let mut prompt = &PROMPT;
    loop {
        let line = editor.readline(prompt)?;
        match continued(&line) {
            Some(beginning) => {
                entry.push_str(beginning);
                entry.push('\n');
                prompt = &MORE;
            }
            None => {
                entry.push_str(&line);
                return Ok(entry);
            }
        }
    }
}

/// Clears the history when something is forgotten, because it may contain that.
fn forget(editor: &mut Editor<(), FileHistory>, history: Option<&Path>) {
    let emptied = editor.clear_history();
    let emptied = emptied.map_err(io::Error::other).and_then(|()| {
        let there = history.filter(|path| path.exists());
        there.map_or(Ok(()), |path| std::fs::write(path, ""))
    });
    if let Err(error) = emptied {
        tracing::error!(%error, "the history of typed lines could not be emptied: remove it by hand");
    }
}

/// An unwritable history is reported, and the conversation continues.
fn remember(editor: &mut Editor<(), FileHistory>, history: Option<&Path>, text: &str) {
    if text.trim().is_empty() {
        return;
    }
    let added = editor.add_history_entry(text);
    let kept = match (added, history) {
        (Ok(true), Some(path)) => editor.append_history(path),
        (Ok(_), _) => Ok(()),
        (Err(error), _) => Err(error),
    };
    if let Err(error) = kept {
        tracing::warn!(%error, "the history of typed lines could not be written");
    }
}

fn failed(error: ReadlineError) -> Typed {
    match error {
        ReadlineError::Eof => Typed::Leave,
        ReadlineError::Interrupted => Typed::Interrupt,
        ReadlineError::Io(error) if error.kind() == io::ErrorKind::InvalidData => Typed::Unreadable,
        ReadlineError::Io(error) => Typed::Failed(error),
        // The enum is non-exhaustive; in any other case the prompt cannot be used.
        other => Typed::Failed(io::Error::other(other)),
    }
}

/// The terminal's mode before the first prompt, restored at the end, when the reader's thread may
/// still be at a prompt.
#[derive(Debug)]
pub(crate) struct Restored(Option<Termios>);

impl Restored {
    pub(crate) fn at_end() -> Self {
        Self(termios::tcgetattr(io::stdin()).ok())
    }

    /// Sets the mode for a bot's turn: input is not echoed into the answer, and appears at the next
    /// prompt.
    pub(crate) fn without_echo() -> Self {
        let before = Self::at_end();
        if let Some(mut quiet) = before.0.clone() {
            quiet.local_modes.remove(LocalModes::ECHO);
            set(&quiet);
        }
        before
    }
}

impl Drop for Restored {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            set(before);
        }
    }
}

/// Ends the bracketed paste mode of a prompt, if it is still on.
pub(crate) fn end_bracketed_paste() {
    let mut out = io::stdout().lock();
    // A terminal that is gone does not need it.
    let _ = out.write_all(b"\x1b[?2004l\n").and_then(|()| out.flush());
}

fn set(modes: &Termios) {
    // A terminal that is gone has no modes.
    let _ = termios::tcsetattr(io::stdin(), OptionalActions::Now, modes);
}
