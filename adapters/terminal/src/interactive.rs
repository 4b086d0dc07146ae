//! The interactive terminal.

use std::ops::ControlFlow;

use muninn_platform::{Body, Inbox, Incoming, PlatformError};
use muninn_texts::{Text, text};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::errors::disconnected;
use crate::lines::{is_exit, parse_line};
use crate::options::TerminalOptions;
use crate::reader::{LineReader, Restored, Typed, end_bracketed_paste};
use crate::screen::{ScreenReply, say};
use crate::script::DRAIN;

/// Alternates prompt and turn until `/quit` or Ctrl-D.
pub(crate) async fn run(
    options: &TerminalOptions,
    inbox: &Inbox,
    shutdown: &CancellationToken,
) -> Result<(), PlatformError> {
    let _restored = Restored::at_end();
    let mut talk = Talk {
        options,
        inbox,
        shutdown,
        interrupts: signal(SignalKind::interrupt()).map_err(disconnected)?,
    };
    let mut reader = LineReader::start(options.history.clone()).map_err(disconnected)?;
    if !options.greeting.is_empty() {
        say(&options.greeting).map_err(disconnected)?;
    }
    loop {
        let typed = tokio::select! {
            () = shutdown.cancelled() => {
                end_bracketed_paste();
                return Ok(());
            }
            typed = reader.read() => typed,
        };
        if talk.answer(typed).await?.is_break() {
            return Ok(());
        }
    }
}

struct Talk<'a> {
    options: &'a TerminalOptions,
    inbox: &'a Inbox,
    shutdown: &'a CancellationToken,
    interrupts: Signal,
}

impl Talk<'_> {
    async fn answer(&mut self, typed: Typed) -> Result<ControlFlow<()>, PlatformError> {
        let sentence = match typed {
            Typed::Text(text) if text.len() > self.options.longest_line => {
                text!("terminal-too-long", bytes = self.options.longest_line)
            }
            Typed::Text(text) if is_exit(&text) => return Ok(ControlFlow::Break(())),
            Typed::Text(text) => match parse_line(&text) {
                Some(body) => return self.turn(body).await,
                None => return Ok(ControlFlow::Continue(())),
            },
            Typed::Interrupt => text!("terminal-how-to-leave"),
            Typed::Unreadable => text!("terminal-unreadable"),
            Typed::Leave => return Ok(ControlFlow::Break(())),
            Typed::Failed(error) => return Err(disconnected(error)),
        };
        self.says(&sentence)?;
        Ok(ControlFlow::Continue(()))
    }

    async fn turn(&mut self, body: Body) -> Result<ControlFlow<()>, PlatformError> {
        let _quiet = Restored::without_echo();
        self.forget_late_interrupts().await;
        let (reply, mut shown) = ScreenReply::new();
        let incoming = Incoming::Message {
            message: self.options.session.message(body),
            reply: Box::new(reply),
        };
        if self.inbox.deliver(incoming).await.is_err() {
            self.says(&text!("terminal-ending"))?;
            return Ok(ControlFlow::Break(()));
        }
        let drained = async {
            self.shutdown.cancelled().await;
            tokio::time::sleep(DRAIN).await;
        };
        tokio::pin!(drained);
        let mut is_stopping = false;
        loop {
            tokio::select! {
                done = &mut shown.done => {
                    if done.is_err() && self.inbox.is_closed() {
                        return Ok(ControlFlow::Break(()));
                    }
                    if done.is_err() {
                        self.says(&text!("terminal-no-answer"))?;
                    }
                    return Ok(ControlFlow::Continue(()));
                }
                _ = self.interrupts.recv() => {
                    // The second Ctrl-C leaves without waiting.
                    if is_stopping {
                        shown.abandon();
                        self.says(&text!("terminal-not-waiting"))?;
                        return Ok(ControlFlow::Continue(()));
                    }
                    is_stopping = true;
                    let stop = Incoming::Stop(self.options.session.conversation().clone());
                    // A bot that is ending stops by itself.
                    let _ = self.inbox.deliver(stop).await;
                }
                () = &mut drained => return Ok(ControlFlow::Break(())),
            }
        }
    }

    fn says(&self, what: &Text) -> Result<(), PlatformError> {
        say(&what.in_language(self.options.language)).map_err(disconnected)
    }

    /// Discards a Ctrl-C that arrived after its turn was over, so that it does not stop the next
    /// one.
    async fn forget_late_interrupts(&mut self) {
        tokio::select! {
            biased;
            _ = self.interrupts.recv() => {}
            () = std::future::ready(()) => {}
        }
    }
}
