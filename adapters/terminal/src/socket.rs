//! The line protocol on a Unix socket, for talking to `muninn serve`.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener as StdListener, UnixStream as StdStream};
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use muninn_platform::{Inbox, Platform, PlatformError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::lines::Assembler;
use crate::script::{DRAIN, Outgoing, Output, ReadLine, Talk};
use crate::unheard::Unheard;
use crate::{LONGEST_LINE, NAME, Session, disconnected};

const CHUNK: usize = 16 * 1024;

/// How a socket is set up.
#[derive(Clone, Debug)]
pub struct SocketOptions {
    pub path: PathBuf,
    /// The session of every connection.
    pub session: Session,
    /// More are told to come later.
    pub most_connections: usize,
    /// Longer lines are refused, in bytes.
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

/// A Unix socket that only its owner can open, each connection a talk in lines.
#[derive(Debug)]
pub struct TerminalSocket {
    options: SocketOptions,
    listener: StdListener,
    _file: SocketFile,
}

impl TerminalSocket {
    /// Takes the socket's place, also from a process that died without removing it.
    ///
    /// # Errors
    /// When another process listens there, something else is in its place, or it cannot be made.
    pub fn bind(options: SocketOptions) -> Result<Self, PlatformError> {
        let path = &options.path;
        let (listener, file) = refuse_if_taken(path)
            .and_then(|()| bind_privately(path))
            .map_err(|error| {
                PlatformError::Misconfigured(format!(
                    "the terminal socket {} cannot be used: {error}",
                    path.display()
                ))
            })?;
        Ok(Self {
            options,
            listener,
            _file: file,
        })
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
            .listener
            .try_clone()
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
        // Each talk ends by itself: at the shutdown when its answer is out, or after a while.
        while talks.join_next().await.is_some() {}
        accepted
    }
}

fn turn_away(stream: &UnixStream) {
    // Fresh, so its buffer takes one line; a peer that is gone needs none.
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
        errors: output.clone(),
        output,
    };
    if let Err(error) = talk.through(lines).await {
        tracing::debug!(%error, "a terminal connection ended early");
    }
    reading.abort();
    // With its last sender gone the writer ends, and so the connection closes.
    drop(talk);
    // A reply that the bot still holds keeps it open, but not for ever.
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
        // Who does not wait does not want to know.
        let _ = written.send(writer.write_all(text.as_bytes()).await);
    }
}

fn refuse_if_taken(path: &Path) -> io::Result<()> {
    let found = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found?,
    };
    if !found.file_type().is_socket() {
        return Err(io::Error::other("something that is no socket is there"));
    }
    match StdStream::connect(path) {
        Ok(_) => Err(io::Error::other("another process is listening there")),
        // Left over from a process that died.
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(()),
        Err(error) => Err(error),
    }
}

/// Binds where nobody else can look and moves the socket to its place, so that there is no moment
/// in which others could open it. The move also replaces a socket left over.
fn bind_privately(path: &Path) -> io::Result<(StdListener, SocketFile)> {
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        Some(_) | None => Path::new("."),
    };
    let hidden = parent.join(format!(".muninn-{}", std::process::id()));
    fs::DirBuilder::new().mode(0o700).create(&hidden)?;
    let bound = bind_and_move(&hidden.join("s"), path);
    // Empty after the move; what a failure left in it goes too.
    let _ = fs::remove_dir_all(&hidden);
    bound
}

fn bind_and_move(hidden: &Path, path: &Path) -> io::Result<(StdListener, SocketFile)> {
    let listener = StdListener::bind(hidden)?;
    listener.set_nonblocking(true)?;
    fs::set_permissions(hidden, fs::Permissions::from_mode(0o600))?;
    let inode = fs::symlink_metadata(hidden)?.ino();
    fs::rename(hidden, path)?;
    let file = SocketFile {
        path: path.to_owned(),
        inode,
    };
    Ok((listener, file))
}

/// Removes the socket at the end, unless another one has taken its place.
#[derive(Debug)]
struct SocketFile {
    path: PathBuf,
    inode: u64,
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if fs::symlink_metadata(&self.path).is_ok_and(|found| found.ino() == self.inode) {
            // At worst it is left over, which the next start copes with.
            let _ = fs::remove_file(&self.path);
        }
    }
}
