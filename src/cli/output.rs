//! The output of a command: this process's streams, or the connection that requested it.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use muninn_platform::without_controls;
use serde::Serialize;
use tokio::sync::mpsc;

use super::admin::protocol::Frame;
use super::exit::Exit;
use super::progress::{ProgressUpdate, Unit};

/// The destination of a command's output.
#[derive(Clone, Debug)]
pub(super) enum Output {
    /// The streams of this process.
    Here,
    /// A client of the admin socket; bounded, so a slow reader slows the command.
    There {
        frames: mpsc::Sender<Frame>,
        /// Whether the client shows progress.
        shows_progress: bool,
    },
    /// Nobody: automatic tasks write to the log.
    Nowhere,
}

impl Output {
    /// Writes one or more lines. Control characters are removed, because others wrote much of the
    /// text.
    ///
    /// # Errors
    /// Fails when nobody reads the output any more.
    pub(super) async fn line(&self, text: &str) -> io::Result<()> {
        self.write(&without_controls(text)).await
    }

    async fn write(&self, text: &str) -> io::Result<()> {
        match self {
            Self::Here => writeln!(io::stdout().lock(), "{text}"),
            Self::Nowhere => Ok(()),
            Self::There { frames, .. } => {
                for part in Frame::out(&format!("{text}\n")) {
                    frames.send(part).await.map_err(|_| gone())?;
                }
                Ok(())
            }
        }
    }

    /// As [`Output::line`], and returns success.
    pub(super) async fn say(&self, text: &str) -> anyhow::Result<Exit> {
        self.line(text).await?;
        Ok(Exit::SUCCESS)
    }

    /// As [`Output::say`], for a value that scripts read.
    pub(super) async fn say_json(&self, value: &impl Serialize) -> anyhow::Result<Exit> {
        // JSON escapes control characters itself.
        self.write(&serde_json::to_string_pretty(value)?).await?;
        Ok(Exit::SUCCESS)
    }

    /// Returns a progress bar, hidden if nobody sees it.
    pub(super) fn bar(&self, unit: Unit) -> Bar {
        match self {
            Self::Here => Bar::Here(drawn(unit)),
            Self::There {
                frames,
                shows_progress: true,
            } => Bar::There {
                frames: frames.clone(),
                unit,
                last: Mutex::new(None),
            },
            Self::There { .. } | Self::Nowhere => Bar::Here(ProgressBar::hidden()),
        }
    }
}

fn gone() -> io::Error {
    io::Error::from(io::ErrorKind::BrokenPipe)
}

/// The progress bar of a command.
#[derive(Debug)]
pub(super) enum Bar {
    Here(ProgressBar),
    There {
        frames: mpsc::Sender<Frame>,
        unit: Unit,
        last: Mutex<Option<Instant>>,
    },
}

/// Often enough to look alive.
const EVERY: Duration = Duration::from_millis(100);

impl Bar {
    pub(super) fn show(&self, done: u64, total: u64, what: &str) {
        match self {
            Self::Here(bar) => draw(bar, done, total, what),
            Self::There { frames, unit, last } => {
                let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
                if last.is_some_and(|at| at.elapsed() < EVERY) {
                    return;
                }
                *last = Some(Instant::now());
                // A busy reader sees the next one.
                let _ = frames.try_send(Frame::Progress(ProgressUpdate {
                    done,
                    total,
                    unit: *unit,
                    what: what.to_owned(),
                }));
            }
        }
    }

    /// Removes it; the next output takes its place.
    pub(super) fn clear(&self) {
        match self {
            Self::Here(bar) => bar.finish_and_clear(),
            // The first line of output removes it there.
            Self::There { .. } => {}
        }
    }
}

/// Creates a bar on stderr, if that is a terminal: with the count, the rate and the time left.
pub(super) fn drawn(unit: Unit) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let template = match unit {
        Unit::Bytes => "{wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {msg} {eta} left",
        Unit::Things => "{wide_bar} {human_pos}/{human_len} {per_sec} {msg} {eta} left",
    };
    let style = ProgressStyle::with_template(template);
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Updates a bar.
pub(super) fn draw(bar: &ProgressBar, done: u64, total: u64, what: &str) {
    bar.set_length(total);
    bar.set_position(done);
    let what = without_controls(what);
    if bar.message() != what {
        bar.set_message(what);
    }
}
