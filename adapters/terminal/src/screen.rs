//! Shows answers on the screen.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use indicatif::{ProgressBar, ProgressDrawTarget};
use muninn_platform::{
    Delivered, HandedOver, NotHandedOver, OwnFile, Pace, PlatformError, PlatformVocabulary, Reply,
    SafeText, TextLimit,
};
use parking_lot::Mutex;
use tokio::sync::oneshot;

use crate::errors::disconnected;
use crate::folder::{self, LARGEST_FILE};
use crate::name::VOCABULARY;
use crate::printing::{PrintStep, at_end, on_update};
use crate::wrapping::{LineBreaker, columns};

pub(crate) const PACE: Pace = Pace {
    // Often enough to look like typing.
    update_every: Duration::from_millis(50),
    // The typing indicator is animated by itself.
    working_every: Duration::from_secs(10),
};

const SPINNER_TICK: Duration = Duration::from_millis(120);

/// One answer on the screen.
#[derive(Debug, Default)]
struct ScreenAnswer {
    spinner: Option<ProgressBar>,
    /// Without the line breaks that the width of the terminal makes.
    printed: String,
    breaker: LineBreaker,
    /// Nobody waits for it any more; it prints nothing.
    is_abandoned: bool,
}

impl ScreenAnswer {
    fn show_life(&mut self) {
        if self.is_abandoned || self.spinner.is_some() || !self.printed.is_empty() {
            return;
        }
        let spinner = ProgressBar::new_spinner().with_message("thinking");
        spinner.set_draw_target(ProgressDrawTarget::stdout());
        spinner.enable_steady_tick(SPINNER_TICK);
        self.spinner = Some(spinner);
    }

    fn hide_life(&mut self) {
        if let Some(spinner) = self.spinner.take() {
            spinner.finish_and_clear();
        }
    }

    fn print(&mut self, step: &PrintStep<'_>) -> io::Result<()> {
        if self.is_abandoned || *step == PrintStep::Nothing {
            return Ok(());
        }
        self.hide_life();
        // Read each time: windows are resized.
        let columns = columns();
        // Locked per piece only. If the user suspends the terminal, this thread blocks; nothing
        // else in the process waits for it.
        let mut out = io::stdout().lock();
        match *step {
            PrintStep::Nothing => {}
            PrintStep::Append(new) => {
                out.write_all(self.breaker.push(new, columns).as_bytes())?;
                self.printed.push_str(new);
            }
            PrintStep::Afresh(whole) => {
                self.breaker = LineBreaker::default();
                let shown = self.breaker.push(whole, columns);
                write!(out, "\n\n{shown}")?;
                whole.clone_into(&mut self.printed);
            }
        }
        out.flush()
    }

    /// Leaves the cursor at the beginning of a line, one blank line below the answer.
    fn close(&mut self) -> io::Result<()> {
        self.hide_life();
        if self.is_abandoned || self.printed.is_empty() {
            return Ok(());
        }
        let mut out = io::stdout().lock();
        out.write_all(b"\n\n")?;
        out.flush()
    }
}

/// Prints one line for the person, between turns.
pub(crate) fn say(sentence: &str) -> io::Result<()> {
    let shown = LineBreaker::default().push(sentence, columns());
    let mut out = io::stdout().lock();
    writeln!(out, "{shown}")?;
    out.flush()
}

/// A reply on the screen.
pub(crate) struct ScreenReply {
    answer: Arc<Mutex<ScreenAnswer>>,
    done: Option<oneshot::Sender<()>>,
}

/// What the prompt holds of an answer: it waits for its end, or abandons it.
pub(crate) struct AnswerHandle {
    answer: Arc<Mutex<ScreenAnswer>>,
    pub(crate) done: oneshot::Receiver<()>,
}

impl ScreenReply {
    pub(crate) fn new() -> (Self, AnswerHandle) {
        let answer = Arc::new(Mutex::new(ScreenAnswer::default()));
        let (sender, done) = oneshot::channel();
        let reply = Self {
            answer: Arc::clone(&answer),
            done: Some(sender),
        };
        (reply, AnswerHandle { answer, done })
    }

    fn with_answer<T>(&self, act: impl FnOnce(&mut ScreenAnswer) -> T) -> T {
        // After a panic, the partial output is still the best state there is.
        act(&mut self.answer.lock())
    }
}

impl AnswerHandle {
    /// Prints nothing from now on.
    pub(crate) fn abandon(&self) {
        let mut answer = self.answer.lock();
        // Its line is ended even if the terminal is going away.
        let _ = answer.close();
        answer.is_abandoned = true;
    }
}

#[async_trait]
impl Reply for ScreenReply {
    fn limit(&self) -> TextLimit {
        TextLimit::Unlimited
    }

    fn pace(&self) -> Pace {
        PACE
    }

    async fn show_typing(&mut self) {
        self.with_answer(ScreenAnswer::show_life);
    }

    async fn update(&mut self, so_far: &SafeText) {
        self.with_answer(|answer| {
            let printed = answer.printed.clone();
            // `finish` has all of the text, and reports errors.
            let _ = answer.print(&on_update(&printed, &so_far.unescaped_streaming()));
        });
    }

    async fn finish(&mut self, parts: &[SafeText]) -> Result<Delivered, PlatformError> {
        let parts: Vec<String> = parts.iter().map(SafeText::unescaped).collect();
        let whole = parts.join("\n");
        let printed = self.with_answer(|answer| {
            let printed = answer.printed.clone();
            answer.print(&at_end(&printed, &whole))?;
            answer.close()
        });
        if let Some(done) = self.done.take() {
            // Nobody waits for an abandoned answer.
            let _ = done.send(());
        }
        printed.map_err(disconnected)?;
        Ok(Delivered::default())
    }

    async fn largest_file(&mut self) -> Result<u64, NotHandedOver> {
        Ok(LARGEST_FILE)
    }

    async fn hand_over(&mut self, files: &[OwnFile]) -> Result<HandedOver, NotHandedOver> {
        folder::put(folder::current_folder().as_deref(), files).await
    }

    fn vocabulary(&self) -> &'static PlatformVocabulary {
        &VOCABULARY
    }
}

impl Drop for ScreenReply {
    fn drop(&mut self) {
        if self.done.is_some() {
            // Given up: the waiting prompt sees `done` fail, after the line was ended.
            let _ = self.with_answer(ScreenAnswer::close);
        }
    }
}
