//! Serves the line protocol on a Unix socket, for talking to `muninn serve`.

use std::path::PathBuf;

use async_trait::async_trait;
use muninn_platform::{Inbox, Platform, PlatformError};
use private_files::socket::PrivateSocket;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::Session;
use crate::errors::disconnected;
use crate::lines::Assembler;
use crate::name::NAME;
use crate::options::LONGEST_LINE;
use crate::script::{DRAIN, Outgoing, Output, ReadLine, Talk};
use crate::unheard::Unheard;

const CHUNK: usize = 16 * 1024;

/// The options of a socket.
#[derive(Clone, Debug)]
pub struct SocketOptions {
    pub path: PathBuf,
    /// The session of every connection.
    pub session: Session,
    /// Maximum connections; more are refused.
    pub most_connections: usize,
    /// Maximum bytes of a line; longer ones are refused.
    pub longest_line: usize,
}

impl SocketOptions {
    pub fn new(path: PathBuf, session: Session) -> Self {
        Self {
            path,
            session,
            most_connections: 16,
            longest_line: LONGEST_LINE,
        }
    }
}

/// A Unix socket that only its owner can open; each connection is a talk in lines.
#[derive(Debug)]
pub struct TerminalSocket {
    options: SocketOptions,
    socket: PrivateSocket,
}

impl TerminalSocket {
    /// Binds the socket, also if a process died without removing it.
    ///
    /// # Errors
    /// Fails when another process listens there, another file is in its place, or it cannot be
    /// created.
    pub fn bind(options: SocketOptions) -> Result<Self, PlatformError> {
        let path = &options.path;
        let socket = PrivateSocket::bind(path).map_err(|error| {
            PlatformError::Misconfigured(format!(
                "the terminal socket {} cannot be used: {error}",
                path.display()
            ))
        })?;
        Ok(Self { options, socket })
    }

    async fn accept_until(
        &self,
        listener: &UnixListener,
        inbox: &Inbox,
        shutdown: &CancellationToken,
        talks: &mut JoinSet<()>,
    ) -> Result<(), PlatformError> {
        loop {
            let stream = tokio::select! {
                () = shutdown.cancelled() => return Ok(()),
                accepted = listener.accept() => accepted.map_err(disconnected)?.0,
                Some(_) = talks.join_next() => continue,
            };
            if talks.len() >= self.options.most_connections {
                turn_away(&stream);
                continue;
            }
            let (options, inbox, shutdown) =
                (self.options.clone(), inbox.clone(), shutdown.clone());
            talks.spawn(async move { serve(&options, stream, &inbox, &shutdown).await });
        }
    }
}

#[async_trait]
impl Platform for TerminalSocket {
    fn name(&self) -> &'static str {
        NAME
    }

    async fn run(&self, inbox: Inbox, shutdown: CancellationToken) -> Result<(), PlatformError> {
        let listener = self
            .socket
            .listener()
            .and_then(UnixListener::from_std)
            .map_err(disconnected)?;
        if inbox.deliver_left_over(NAME, &Unheard).await.is_err() {
            // The bot is ending already.
            return Ok(());
        }
        let mut talks = JoinSet::new();
        let accepting = self.accept_until(&listener, &inbox, &shutdown, &mut talks);
        let accepted = tokio::select! {
            accepted = accepting => accepted,
            // Only the bot's end ends it.
            _ = inbox.follow_left_over(NAME, &Unheard) => Ok(()),
        };
        // Each talk ends by itself: at the shutdown once its answer is out, or after the time
        // limit.
        while talks.join_next().await.is_some() {}
        accepted
    }
}

fn turn_away(stream: &UnixStream) {
    // The new connection's buffer has room for one line; a peer that is gone does not need it.
    let _ = stream.try_write(b"muninn: too many terminals are connected; try again later\n");
}

async fn serve(
    options: &SocketOptions,
    stream: UnixStream,
    inbox: &Inbox,
    shutdown: &CancellationToken,
) {
    let (reader, writer) = stream.into_split();
    let (output, outgoing) = Output::new();
    let (sender, lines) = mpsc::channel(1);
    let mut tasks = JoinSet::new();
    tasks.spawn(write_all(writer, outgoing));
    let reading = tokio::spawn(read_all(reader, options.longest_line, sender));
    let talk = Talk {
        session: &options.session,
        inbox,
        shutdown,
        folder: None,
        errors: output.clone(),
        output,
    };
    if let Err(error) = talk.run_lines(lines).await {
        tracing::debug!(%error, "a terminal connection ended early");
    }
    reading.abort();
    // When its last sender is dropped, the writer ends and the connection closes.
    drop(talk);
    // A reply that the bot still holds keeps it open, within the time limit.
    let _ = tokio::time::timeout(DRAIN, tasks.join_next()).await;
}

async fn read_all(mut reader: OwnedReadHalf, limit: usize, sender: mpsc::Sender<ReadLine>) {
    let mut assembler = Assembler::new(limit);
    let mut chunk = vec![0; CHUNK];
    loop {
        let lines: Vec<ReadLine> = match reader.read(&mut chunk).await {
            Ok(0) => break,
            Ok(length) => assembler
                .feed(&chunk[..length])
                .into_iter()
                .map(Ok)
                .collect(),
            Err(error) => vec![Err(error)],
        };
        for line in lines {
            let is_last = line.is_err();
            if sender.send(line).await.is_err() || is_last {
                return;
            }
        }
    }
    if let Some(line) = assembler.end() {
        // The talk ended before its last line.
        let _ = sender.send(Ok(line)).await;
    }
}

async fn write_all(mut writer: OwnedWriteHalf, mut outgoing: Outgoing) {
    while let Some((text, written)) = outgoing.recv().await {
        // A caller that does not wait does not need the result.
        let _ = written.send(writer.write_all(text.as_bytes()).await);
    }
}
