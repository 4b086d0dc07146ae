//! The client side of the admin socket.

use std::io;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, bail};
use futures::{SinkExt as _, StreamExt as _};
use indicatif::ProgressBar;
use muninn::config::Config;
use private_files::socket::check_private;
use serde::Serialize;
use tokio::net::UnixStream;
#[cfg(feature = "terminal")]
use tokio::sync::mpsc;
use tokio_util::codec::{Framed, LinesCodec};

use super::address;
use super::protocol::{
    AdminOperation, Frame, LONGEST_LINE, PROTOCOL, Request, ServerGreeting, too_many_commands,
};
use super::same_files;
use crate::cli::args::open::OpenCommand;
use crate::cli::doctor::finding::PrintedFinding;
use crate::cli::exit::Exit;
use crate::cli::graph_schema::GraphSchema;
use crate::cli::output::{draw, drawn};
use crate::cli::paths::whole;
#[cfg(feature = "mcp")]
use crate::cli::remote_call::RemoteCall;

/// Maximum time for the greeting.
const GREETING: Duration = Duration::from_secs(10);
/// Maximum silence: the process sends a sign of life more often.
const SILENCE: Duration = Duration::from_secs(60);

/// A connection to a running process, before the request.
#[derive(Debug)]
pub(in crate::cli) struct Connection {
    lines: Framed<UnixStream, LinesCodec>,
    pid: u32,
}

/// Returns the connection to the process that has the graph of this configuration open, if there is
/// one. If the configuration names no graph, it means the one of the process that runs with its
/// data folder.
///
/// # Errors
/// Fails when the process does not answer, or has another version.
pub(in crate::cli) async fn connect(config: &Config) -> anyhow::Result<Option<Connection>> {
    let is_meant = |graph: &str| !config.has_graph_url || graph == address::graph(&config.graph);
    connect_where(config, is_meant).await
}

/// Returns the connection to the process that runs with the data folder, whatever graph it has
/// open.
///
/// # Errors
/// Fails like [`connect`].
pub(in crate::cli) async fn connect_to_any(config: &Config) -> anyhow::Result<Option<Connection>> {
    connect_where(config, |_| true).await
}

/// `is_meant` decides by the hash of the graph's location.
async fn connect_where(
    config: &Config,
    is_meant: impl Fn(&str) -> bool,
) -> anyhow::Result<Option<Connection>> {
    let Some(path) = address::to_connect(&config.data_dir) else {
        return Ok(None);
    };
    let Some(stream) = open(&path).await? else {
        return Ok(None);
    };
    let mut lines = Framed::new(stream, LinesCodec::new_with_max_length(LONGEST_LINE));
    let hello = tokio::time::timeout(GREETING, lines.next()).await;
    let hello = hello.with_context(|| {
        format!(
            "the process that listens on {} does not answer; end it, or try again",
            path.display()
        )
    })?;
    // It has just ended.
    let Some(hello) = hello else {
        return Ok(None);
    };
    let hello: ServerGreeting = serde_json::from_str(&hello?).with_context(|| {
        format!(
            "the program that listens on {} is not muninn",
            path.display()
        )
    })?;
    if !is_meant(&hello.graph) {
        return Ok(None);
    }
    let here = env!("CARGO_PKG_VERSION");
    if (hello.protocol, hello.muninn.as_str()) != (PROTOCOL, here) {
        bail!(
            "process {} runs muninn {}, and this is muninn {here}; restart that process, or use its version for this command",
            hello.pid,
            hello.muninn
        );
    }
    if hello.is_full {
        bail!(too_many_commands(hello.pid));
    }
    Ok(Some(Connection {
        lines,
        pid: hello.pid,
    }))
}

/// Opens the socket. `None`: nobody listens there.
async fn open(path: &Path) -> anyhow::Result<Option<UnixStream>> {
    let unusable = || format!("the admin socket {} cannot be used", path.display());
    match check_private(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        checked => checked.with_context(unusable)?,
    }
    match UnixStream::connect(path).await {
        Ok(stream) => Ok(Some(stream)),
        // Left over from a killed process.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(error).with_context(unusable),
    }
}

impl Connection {
    /// Returns its process id.
    pub(in crate::cli) fn pid(&self) -> u32 {
        self.pid
    }

    /// Runs a command there, and prints its output.
    ///
    /// # Errors
    /// Fails with the command's error, or when the process ended meanwhile.
    pub(in crate::cli) async fn run(mut self, command: OpenCommand) -> anyhow::Result<Exit> {
        let mut paths = Vec::new();
        let command = command.with_paths(&mut |path| {
            let path = whole(&path)?;
            paths.push(path.clone());
            Ok(path)
        })?;
        let peer = self.lines.get_ref().peer_cred();
        // By the system, as the process itself may know another number.
        if let Some(pid) = peer.ok().and_then(|peer| peer.pid()) {
            same_files::check(pid, &paths)?;
        }
        self.ask(AdminOperation::Run(command)).await?;
        self.print_all().await
    }

    /// Prints whether turns are answered and reach the graph.
    ///
    /// # Errors
    /// Fails when the process does not answer.
    pub(in crate::cli) async fn ready(mut self, json: bool) -> anyhow::Result<Exit> {
        self.ask(AdminOperation::Ready { json }).await?;
        self.print_all().await
    }

    /// Prints the output until the command ends.
    async fn print_all(mut self) -> anyhow::Result<Exit> {
        let mut bar: Option<ProgressBar> = None;
        loop {
            match self.next().await? {
                Frame::Out(text) => {
                    clear(&mut bar);
                    write(&text)?;
                }
                Frame::Progress(far) => {
                    let bar = bar.get_or_insert_with(|| drawn(far.unit));
                    draw(bar, far.done, far.total, &far.what);
                }
                Frame::Alive | Frame::Findings(_) | Frame::Known(_) => {}
                #[cfg(feature = "mcp")]
                Frame::Called(_) => {}
                #[cfg(feature = "terminal")]
                Frame::Told(_) => {}
                Frame::Exit(exit) => {
                    clear(&mut bar);
                    return Ok(exit);
                }
                Frame::Failed(sentence) => {
                    clear(&mut bar);
                    bail!("{sentence}");
                }
            }
        }
    }

    /// Returns what the process finds about its graph.
    ///
    /// # Errors
    /// Fails when the process ended meanwhile.
    pub(in crate::cli) async fn health(self) -> anyhow::Result<Vec<PrintedFinding>> {
        let findings = |frame| {
            if let Frame::Findings(findings) = frame {
                Some(findings)
            } else {
                None
            }
        };
        self.answer(AdminOperation::Health, findings).await
    }

    /// Returns the graph's schema, to check statements against.
    ///
    /// # Errors
    /// Fails when the graph cannot be asked, or the process ended meanwhile.
    pub(in crate::cli) async fn known(self) -> anyhow::Result<GraphSchema> {
        let known = |frame| {
            if let Frame::Known(known) = frame {
                Some(known)
            } else {
                None
            }
        };
        self.answer(AdminOperation::Known, known).await
    }

    /// Calls a tool there.
    ///
    /// # Errors
    /// Fails when the process ended meanwhile.
    #[cfg(feature = "mcp")]
    pub(in crate::cli) async fn call(
        self,
        call: RemoteCall,
    ) -> anyhow::Result<muninn::mcp::ToolOutcome> {
        let called = |frame| {
            if let Frame::Called(outcome) = frame {
                Some(outcome)
            } else {
                None
            }
        };
        self.answer(AdminOperation::Call(call), called).await
    }

    /// Sends the request, and waits for the frame with the answer.
    async fn answer<T>(
        mut self,
        what: AdminOperation,
        answer_in: impl Fn(Frame) -> Option<T>,
    ) -> anyhow::Result<T> {
        self.ask(what).await?;
        loop {
            let frame = self.next().await?;
            if let Frame::Failed(sentence) = frame {
                bail!("{sentence}");
            }
            if let Some(answer) = answer_in(frame) {
                return Ok(answer);
            }
        }
    }

    /// Talks to the bot of the process: sends what is typed, and shows what comes back, until one
    /// side ends.
    ///
    /// # Errors
    /// Fails when the process refuses.
    #[cfg(feature = "terminal")]
    pub(in crate::cli) async fn chat(
        mut self,
        session: String,
        person: String,
        mut typed: mpsc::Receiver<muninn_terminal::Typed>,
        told: mpsc::Sender<muninn_terminal::RemoteEvent>,
    ) -> anyhow::Result<()> {
        self.ask(AdminOperation::Chat { session, person }).await?;
        let (mut sink, mut lines) = self.lines.split();
        let writing = async {
            while let Some(typed) = typed.recv().await {
                sink.send(serde_json::to_string(&typed)?).await?;
            }
            anyhow::Ok(())
        };
        let reading = async {
            while let Ok(Some(Ok(line))) = tokio::time::timeout(SILENCE, lines.next()).await {
                match serde_json::from_str(&line)? {
                    Frame::Told(said) => {
                        if told.send(said).await.is_err() {
                            break;
                        }
                    }
                    Frame::Failed(sentence) => bail!("{sentence}"),
                    Frame::Out(_)
                    | Frame::Progress(_)
                    | Frame::Alive
                    | Frame::Findings(_)
                    | Frame::Known(_)
                    | Frame::Exit(_) => {}
                    #[cfg(feature = "mcp")]
                    Frame::Called(_) => {}
                }
            }
            Ok(())
        };
        tokio::select! {
            written = writing => written,
            read = reading => read,
        }
    }

    async fn ask(&mut self, what: AdminOperation) -> anyhow::Result<()> {
        let request = Request {
            what,
            shows_progress: io::IsTerminal::is_terminal(&io::stderr()),
        };
        self.send(&request).await
    }

    async fn send(&mut self, value: &impl Serialize) -> anyhow::Result<()> {
        let line = serde_json::to_string(value)?;
        if line.len() > LONGEST_LINE {
            bail!("that is more than {LONGEST_LINE} bytes for the process that runs");
        }
        let sent = tokio::time::timeout(SILENCE, self.lines.send(line)).await;
        let pid = self.pid;
        sent.with_context(|| format!("process {pid} does not listen"))?
            .with_context(|| format!("process {pid} ended"))
    }

    async fn next(&mut self) -> anyhow::Result<Frame> {
        let pid = self.pid;
        let line = tokio::time::timeout(SILENCE, self.lines.next()).await;
        let line = line.with_context(|| {
            format!("process {pid}, which has the graph open, says nothing any more")
        })?;
        let Some(Ok(line)) = line else {
            bail!("process {pid}, which has the graph open, ended before the command had");
        };
        Ok(serde_json::from_str(&line)?)
    }
}

fn clear(bar: &mut Option<ProgressBar>) {
    if let Some(bar) = bar.take() {
        bar.finish_and_clear();
    }
}

fn write(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    io::Write::write_all(&mut out, text.as_bytes())?;
    io::Write::flush(&mut out)
}
