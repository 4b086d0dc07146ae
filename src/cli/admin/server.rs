//! The server side of the admin socket.

#[cfg(feature = "terminal")]
mod chat;
mod connection;

use std::sync::Arc;
use std::time::Duration;

use futures::stream::SplitSink;
use futures::{FutureExt as _, SinkExt as _, StreamExt as _};
use muninn_platform::in_one_line;
use private_files::create_private_folder;
use private_files::socket::PrivateSocket;
use serde::Serialize;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, SemaphorePermit, mpsc};
use tokio::task::JoinSet;
use tokio_util::codec::{Framed, LinesCodec};
use tokio_util::sync::CancellationToken;

use super::address;
use super::protocol::{
    AdminOperation, Frame, LONGEST_LINE, PROTOCOL, Request, ServerGreeting, too_many_commands,
};
#[cfg(feature = "terminal")]
use crate::cli::args::open::OpenCommand;
use crate::cli::context::{Context, RunningProcess};
use crate::cli::exit::Exit;
use crate::cli::output::Output;
use crate::cli::{cypher, doctor, health};
use connection::{COMMAND_TIMEOUT, ConnectionLines, FRAME_CAPACITY};

/// Maximum concurrent connections; more are refused.
const MOST_CONNECTIONS: usize = 64;
/// Maximum concurrent commands, chats and calls; more are refused. The other requests are short, and whoever watches the
/// bot needs their answers most when there is much to do.
const MOST_COMMANDS: usize = 16;
/// Maximum time for a client to send its request.
const REQUEST: Duration = Duration::from_secs(10);
/// Maximum time for a client to read a line.
const READING: Duration = Duration::from_secs(60);
/// Interval of signs of life.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);

/// Maximum time of an answer then: it is completed like any other.
#[cfg(any(feature = "mcp", feature = "terminal"))]
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// Pause after the system refused a connection, as with too many open files.
const PAUSE: Duration = Duration::from_secs(1);

type Sink = SplitSink<Framed<UnixStream, LinesCodec>, String>;

/// The socket, and what serves its clients.
#[derive(Debug)]
pub(in crate::cli) struct Admin {
    socket: PrivateSocket,
    running: Arc<RunningProcess>,
}

/// Listens in the data folder. Returns `None` if that fails, which is logged: nothing else depends
/// on it.
pub(in crate::cli) fn listen(running: &Arc<RunningProcess>) -> Option<Admin> {
    let data_dir = &running.config.data_dir;
    let bound = create_private_folder(data_dir)
        .and_then(|()| address::to_bind(data_dir))
        .and_then(|path| PrivateSocket::bind(&path).map(|socket| (path, socket)));
    match bound {
        Ok((path, socket)) => {
            if path.parent() == Some(data_dir.as_path()) {
                tracing::debug!(path = %path.display(), "commands are taken");
            } else {
                tracing::info!(path = %path.display(), "the path of DATA_DIR is too long for a socket: commands are taken here instead");
            }
            Some(Admin {
                socket,
                running: Arc::clone(running),
            })
        }
        Err(error) => {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(
                error,
                "no admin socket, so that commands need the graph for themselves"
            );
            None
        }
    }
}

impl Admin {
    /// Serves clients until `shutdown`, and then waits for running requests.
    pub(in crate::cli) async fn run(self, shutdown: CancellationToken) {
        let listener = self.socket.listener().and_then(UnixListener::from_std);
        let listener = match listener {
            Ok(listener) => listener,
            Err(error) => {
                tracing::warn!(%error, "no admin socket");
                return;
            }
        };
        let mut serving = JoinSet::new();
        let free = Arc::new(Semaphore::new(MOST_COMMANDS));
        loop {
            let accepted = tokio::select! {
                () = shutdown.cancelled() => break,
                accepted = listener.accept() => accepted,
                Some(_) = serving.join_next() => continue,
            };
            let stream = match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    tracing::warn!(%error, "a command could not be accepted");
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
            };
            let (running, shutdown) = (Arc::clone(&self.running), shutdown.clone());
            let free = match serving.len() < MOST_CONNECTIONS {
                true => Some(Arc::clone(&free)),
                false => None,
            };
            serving.spawn(async move { serve(stream, free, &running, &shutdown).await });
        }
        // No new client finds it; existing ones are served to their end.
        drop(self.socket);
        while serving.join_next().await.is_some() {}
    }
}

/// Serves one connection, from its greeting to its end. `free`: how many commands more may run; `None` if there are too many
/// connections.
async fn serve(
    stream: UnixStream,
    free: Option<Arc<Semaphore>>,
    running: &Arc<RunningProcess>,
    shutdown: &CancellationToken,
) {
    let codec = LinesCodec::new_with_max_length(LONGEST_LINE);
    let (mut sink, mut lines) = Framed::new(stream, codec).split();
    let hello = ServerGreeting {
        muninn: env!("CARGO_PKG_VERSION").to_owned(),
        protocol: PROTOCOL,
        pid: std::process::id(),
        graph: address::graph(&running.config.graph),
        is_full: free.is_none(),
    };
    if send(&mut sink, &hello).await.is_err() {
        return;
    }
    let Some(free) = free else {
        return;
    };
    let Some(request) = request(&mut lines).await else {
        return;
    };
    match request.and_then(|request| Ok((request.what.place(&free)?, request))) {
        Ok((_place, request)) => answer(request, sink, lines, running, shutdown).await,
        Err(sentence) => {
            // A client that does not read it does not need it.
            let _ = send(&mut sink, &Frame::Failed(sentence)).await;
        }
    }
}

/// Returns the request, or what is wrong with it; `None` if the client disconnected.
async fn request(lines: &mut ConnectionLines) -> Option<Result<Request, String>> {
    let line = match tokio::time::timeout(REQUEST, lines.next()).await {
        Err(_) => return Some(Err("no request came in time".to_owned())),
        Ok(line) => line?,
    };
    let request = line
        .map_err(|error| error.to_string())
        .and_then(|line| serde_json::from_str(&line).map_err(|error| error.to_string()));
    Some(request.map_err(|error| format!("that is no request: {error}")))
}

/// Runs the request; it is cancelled when the client disconnects.
async fn answer(
    request: Request,
    sink: Sink,
    mut lines: ConnectionLines,
    running: &Arc<RunningProcess>,
    shutdown: &CancellationToken,
) {
    let (frames, outgoing) = mpsc::channel(FRAME_CAPACITY);
    let at = Context {
        config: running.config.clone(),
        out: Output::There {
            frames: frames.clone(),
            shows_progress: request.shows_progress,
        },
        running: Some(Arc::clone(running)),
    };
    let mut writing = tokio::spawn(write_all(sink, outgoing));
    #[cfg(feature = "terminal")]
    if let AdminOperation::Chat { session, person } = &request.what {
        chat::serve(session, person, lines, frames, running, shutdown).await;
        // A client that does not read is dropped.
        let _ = tokio::time::timeout(READING, writing).await;
        return;
    }
    let to_finish = request.what.to_finish();
    let ended = async {
        shutdown.cancelled().await;
        tokio::time::sleep(to_finish).await;
    };
    let last = tokio::select! {
        last = act(request.what, &at) => Some(last),
        () = gone(&mut lines) => None,
        _ = &mut writing => None,
        () = ended => Some(Frame::Failed(
            "muninn is ending, so the command was stopped; run it again when it is done".to_owned(),
        )),
    };
    drop(at);
    if let Some(last) = last {
        // A client that is gone does not need it.
        let _ = tokio::time::timeout(READING, frames.send(last)).await;
        drop(frames);
        let _ = tokio::time::timeout(READING, writing).await;
    } else {
        tracing::info!("a command was stopped: nobody waits for it any more");
        writing.abort();
    }
}

async fn act(what: AdminOperation, at: &Context) -> Frame {
    match what {
        // Boxed, because it is the future of every command.
        AdminOperation::Run(command) => match command.run(at).boxed().await {
            Ok(exit) => Frame::Exit(exit),
            Err(error) => Frame::Failed(in_one_line(error.as_ref())),
        },
        #[cfg(feature = "terminal")]
        AdminOperation::Chat { .. } => Frame::Failed("a chat is no command".to_owned()),
        AdminOperation::Ready { json } => {
            let trouble = at.running.as_ref().and_then(|it| it.archive.trouble());
            let exit = Exit::of(trouble.is_none());
            let told = match json {
                true => at.out.say_json(&health::as_json(trouble.as_deref())).await,
                false => at.out.say(trouble.as_deref().unwrap_or("ok")).await,
            };
            match told {
                Ok(_said) => Frame::Exit(exit),
                Err(error) => Frame::Failed(error.to_string()),
            }
        }
        #[cfg(feature = "mcp")]
        AdminOperation::Call(call) => match &at.running {
            Some(running) => Frame::Called(call.here(&running.mcp).boxed().await),
            None => Frame::Failed("no bot runs here".to_owned()),
        },
        AdminOperation::Health => Frame::Findings(doctor::of_graph(at).boxed().await),
        AdminOperation::Known => match cypher::of_graph(at).boxed().await {
            Ok(known) => Frame::Known(known),
            Err(error) => Frame::Failed(in_one_line(error.as_ref())),
        },
    }
}

impl AdminOperation {
    /// Takes one of the places for commands, if this needs one.
    fn place<'a>(&self, free: &'a Semaphore) -> Result<Option<SemaphorePermit<'a>>, String> {
        match self {
            Self::Health | Self::Ready { .. } | Self::Known => return Ok(None),
            Self::Run(_) => {}
            #[cfg(feature = "terminal")]
            Self::Chat { .. } => {}
            #[cfg(feature = "mcp")]
            Self::Call(_) => {}
        }
        free.try_acquire()
            .map(Some)
            .map_err(|_| too_many_commands(std::process::id()))
    }

    /// Returns how long the request may continue when the process ends.
    fn to_finish(&self) -> Duration {
        match self {
            #[cfg(feature = "terminal")]
            Self::Run(OpenCommand::Ask(_)) => ANSWER_TIMEOUT,
            #[cfg(feature = "terminal")]
            Self::Chat { .. } => ANSWER_TIMEOUT,
            #[cfg(feature = "mcp")]
            Self::Call(_) => ANSWER_TIMEOUT,
            Self::Run(_) | Self::Health | Self::Ready { .. } | Self::Known => COMMAND_TIMEOUT,
        }
    }
}

/// Returns when the client disconnects. It sends nothing more, so any input means the end too.
async fn gone(lines: &mut ConnectionLines) {
    lines.next().await;
}

async fn write_all(mut sink: Sink, mut outgoing: mpsc::Receiver<Frame>) {
    loop {
        let frame = match tokio::time::timeout(KEEPALIVE_INTERVAL, outgoing.recv()).await {
            Ok(Some(frame)) => frame,
            Ok(None) => return,
            Err(_) => Frame::Alive,
        };
        if send(&mut sink, &frame).await.is_err() {
            return;
        }
    }
}

/// Fails when the client disconnected, or does not read.
async fn send(sink: &mut Sink, value: &impl Serialize) -> Result<(), ()> {
    let line = serde_json::to_string(value).map_err(|_| ())?;
    let sent = tokio::time::timeout(READING, sink.send(line)).await;
    sent.map_err(|_| ())?.map_err(|_| ())
}
