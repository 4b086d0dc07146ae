//! Plain mode for scripts and the socket: one line per turn, plain answers.

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use async_trait::async_trait;
use muninn_platform::{
    Delivered, HandedOver, Inbox, Incoming, NotHandedOver, OwnFile, PlatformError,
    PlatformVocabulary, Reply, SafeText, TextLimit,
};
use muninn_texts::text;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::Session;
use crate::errors::disconnected;
use crate::folder::{self, LARGEST_FILE};
use crate::lines::{Assembler, Line, is_exit, parse_line};
use crate::name::{CONNECTION_VOCABULARY, VOCABULARY};
use crate::options::TerminalOptions;

/// Maximum wait for an answer in flight at the end.
pub(crate) const DRAIN: Duration = Duration::from_secs(30);

const CHUNK: usize = 64 * 1024;

/// The result of reading a line.
pub(crate) type ReadLine = io::Result<Line>;

/// An output that does not block the async caller.
#[derive(Clone, Debug)]
pub(crate) struct Output(mpsc::Sender<(String, oneshot::Sender<io::Result<()>>)>);

/// The texts to write, each with a sender for the result.
pub(crate) type Outgoing = mpsc::Receiver<(String, oneshot::Sender<io::Result<()>>)>;

impl Output {
    pub(crate) fn new() -> (Self, Outgoing) {
        let (sender, receiver) = mpsc::channel(1);
        (Self(sender), receiver)
    }

    /// Creates an output that a thread of its own writes and flushes, which no runtime waits for.
    fn over(mut writer: impl Write + Send + 'static) -> io::Result<Self> {
        let (output, mut outgoing) = Self::new();
        thread::Builder::new()
            .name("terminal-output".to_owned())
            .spawn(move || {
                while let Some((text, written)) = outgoing.blocking_recv() {
                    let result = writer
                        .write_all(text.as_bytes())
                        .and_then(|()| writer.flush());
                    // A caller that does not wait does not need the result.
                    let _ = written.send(result);
                }
            })?;
        Ok(output)
    }

    pub(crate) async fn write(&self, text: String) -> io::Result<()> {
        let (sender, written) = oneshot::channel();
        let closed = || io::Error::from(io::ErrorKind::BrokenPipe);
        self.0.send((text, sender)).await.map_err(|_| closed())?;
        written.await.map_err(|_| closed())?
    }
}

/// The results of all lines.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ScriptTally {
    refused: usize,
    unanswered: usize,
}

impl ScriptTally {
    fn result(self) -> Result<(), PlatformError> {
        let mut problems = Vec::new();
        if self.refused > 0 {
            problems.push(format!("{} of the lines could not be read", self.refused));
        }
        if self.unanswered > 0 {
            problems.push(format!("{} of the lines got no answer", self.unanswered));
        }
        if problems.is_empty() {
            Ok(())
        } else {
            Err(PlatformError::BadInput(problems.join(", and ")))
        }
    }
}

/// Talks over this process's standard streams.
pub(crate) async fn run(
    options: &TerminalOptions,
    inbox: &Inbox,
    shutdown: &CancellationToken,
) -> Result<(), PlatformError> {
    let lines = read_in_thread(io::stdin(), options.longest_line).map_err(disconnected)?;
    let talk = Talk {
        session: &options.session,
        inbox,
        shutdown,
        folder: folder::current_folder(),
        output: Output::over(io::stdout()).map_err(disconnected)?,
        errors: Output::over(io::stderr()).map_err(disconnected)?,
    };
    talk.run_lines(lines).await?.result()
}

/// Reads on a detached thread: a read cannot be interrupted, and must not keep the process from
/// ending.
fn read_in_thread(
    mut reader: impl Read + Send + 'static,
    limit: usize,
) -> io::Result<mpsc::Receiver<ReadLine>> {
    let (sender, receiver) = mpsc::channel(1);
    let read_all = move || {
        let mut assembler = Assembler::new(limit);
        let mut chunk = vec![0; CHUNK];
        loop {
            let lines: Vec<ReadLine> = match reader.read(&mut chunk) {
                Ok(0) => break,
                Ok(length) => assembler
                    .feed(&chunk[..length])
                    .into_iter()
                    .map(Ok)
                    .collect(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => vec![Err(error)],
            };
            for line in lines {
                let is_last = line.is_err();
                if sender.blocking_send(line).is_err() || is_last {
                    return;
                }
            }
        }
        if let Some(line) = assembler.end() {
            // Nobody listens any more.
            let _ = sender.blocking_send(Ok(line));
        }
    };
    thread::Builder::new()
        .name("terminal-input".to_owned())
        .spawn(read_all)?;
    Ok(receiver)
}

/// One side of the line protocol.
pub(crate) struct Talk<'a> {
    pub(crate) session: &'a Session,
    pub(crate) inbox: &'a Inbox,
    pub(crate) shutdown: &'a CancellationToken,
    /// The folder for handed-over files; `None` if nobody sits at this machine.
    pub(crate) folder: Option<PathBuf>,
    pub(crate) output: Output,
    pub(crate) errors: Output,
}

/// The result of a turn.
enum TurnOutcome {
    Answered,
    GivenUp,
    /// The reader of the answers is gone.
    OutputClosed,
    /// The bot is ending.
    BotEnded,
}

impl Talk<'_> {
    /// Runs a turn per line, in sequence, until the lines end or the shutdown.
    pub(crate) async fn run_lines(
        &self,
        mut lines: mpsc::Receiver<ReadLine>,
    ) -> Result<ScriptTally, PlatformError> {
        let mut tally = ScriptTally::default();
        loop {
            let line = tokio::select! {
                biased;
                () = self.shutdown.cancelled() => return Ok(tally),
                line = lines.recv() => line,
            };
            let Some(line) = line else {
                return Ok(tally);
            };
            let Line { number, text } = line.map_err(disconnected)?;
            let body = match text {
                Ok(text) if is_exit(&text) => return Ok(tally),
                Ok(text) => parse_line(&text),
                Err(fault) => {
                    tally.refused += 1;
                    self.complain(&format!("line {number} {fault}")).await;
                    None
                }
            };
            let Some(body) = body else { continue };
            match self.turn(body).await {
                TurnOutcome::Answered => {}
                TurnOutcome::GivenUp => {
                    tally.unanswered += 1;
                    self.complain(&format!("line {number} got no answer")).await;
                }
                TurnOutcome::OutputClosed => return Ok(tally),
                TurnOutcome::BotEnded => {
                    self.complain(&format!("line {number} came too late: the bot is ending"))
                        .await;
                    tally.unanswered += 1;
                    return Ok(tally);
                }
            }
        }
    }

    async fn turn(&self, body: muninn_platform::Body) -> TurnOutcome {
        let (done, outcome) = oneshot::channel();
        let reply = Box::new(PlainReply {
            output: Some(self.output.clone()),
            folder: self.folder.clone(),
            done: Some(done),
        });
        let message = self.session.message(body);
        let delivered = self.inbox.deliver(Incoming::Message { message, reply });
        if delivered.await.is_err() {
            return TurnOutcome::BotEnded;
        }
        let drained = async {
            self.shutdown.cancelled().await;
            tokio::time::sleep(DRAIN).await;
        };
        tokio::select! {
            outcome = outcome => match outcome {
                Ok(Ok(())) => TurnOutcome::Answered,
                Ok(Err(error)) if error.kind() == io::ErrorKind::BrokenPipe => TurnOutcome::OutputClosed,
                Ok(Err(error)) => {
                    self.complain(&format!("the answer could not be written: {error}")).await;
                    TurnOutcome::OutputClosed
                }
                // The reply was dropped.
                Err(_) => TurnOutcome::GivenUp,
            },
            () = drained => TurnOutcome::GivenUp,
        }
    }

    /// Reports an error; failing to report it is ignored.
    async fn complain(&self, sentence: &str) {
        let _ = self.errors.write(format!("muninn: {sentence}\n")).await;
    }
}

/// A reply that prints the complete answer once.
pub(crate) struct PlainReply {
    /// `None`: whoever asked is gone.
    output: Option<Output>,
    folder: Option<PathBuf>,
    done: Option<oneshot::Sender<io::Result<()>>>,
}

impl PlainReply {
    /// Creates a reply to somebody who is gone.
    pub(crate) fn unheard() -> Self {
        Self {
            output: None,
            folder: None,
            done: None,
        }
    }
}

#[async_trait]
impl Reply for PlainReply {
    fn limit(&self) -> TextLimit {
        TextLimit::Unlimited
    }

    async fn finish(&mut self, parts: &[SafeText]) -> Result<Delivered, PlatformError> {
        let Some(output) = &self.output else {
            return Ok(Delivered::default());
        };
        let mut text = String::new();
        for part in parts {
            text.push_str(part.unescaped().trim_end());
            text.push('\n');
        }
        let written = output.write(text).await;
        let copy = written
            .as_ref()
            .copied()
            .map_err(|error| io::Error::from(error.kind()));
        if let Some(done) = self.done.take() {
            // The talk ended before its answer came.
            let _ = done.send(copy);
        }
        written.map_err(disconnected)?;
        Ok(Delivered::default())
    }

    async fn largest_file(&mut self) -> Result<u64, NotHandedOver> {
        match &self.folder {
            Some(_) => Ok(LARGEST_FILE),
            None => Err(NotHandedOver::new(text!("no-copy-connection"))),
        }
    }

    async fn hand_over(&mut self, files: &[OwnFile]) -> Result<HandedOver, NotHandedOver> {
        folder::put(self.folder.as_deref(), files).await
    }

    fn vocabulary(&self) -> &'static PlatformVocabulary {
        match &self.folder {
            Some(_) => &VOCABULARY,
            None => &CONNECTION_VOCABULARY,
        }
    }
}
