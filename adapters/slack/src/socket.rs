//! Socket Mode: receives events over a socket that the bot opens.
//!
//! A small client of our own. The one of `slack-morphism` reads envelopes in sequence and
//! acknowledges each when its callback returns: an acknowledgement could wait for earlier
//! envelopes, or come before the bot has the event. Here each envelope is acknowledged as soon as
//! the bot has it, in any order; Slack sends the others again.

use std::pin::pin;
use std::time::Duration;

use chrono::Utc;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, SinkExt, StreamExt};
use muninn_platform::{Backoff, PlatformError, UNREACHABLE_TIMEOUT, misconfigured};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{self, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};
use tokio_util::sync::CancellationToken;

use crate::errors::{ApiError, disconnected};
use crate::event::Push;
use crate::inbound::{EventOutcome, SlackEventHandler};

const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Maximum time to connect, including Slack's hello.
const CONNECTING: Duration = Duration::from_secs(20);

/// Ping interval…
const PING_EVERY: Duration = Duration::from_secs(10);

/// …and the maximum time without any message.
const SILENCE: Duration = Duration::from_secs(30);

/// Maximum bytes of a message; Slack's own limit is far lower.
const LONGEST_MESSAGE: usize = 4 * 1024 * 1024;

/// Maximum envelopes in flight per connection; further ones are not read meanwhile.
const MAX_ENVELOPES_IN_FLIGHT: usize = 512;

/// How long a connection that Slack will close is still served beside the next one.
const OVERLAP: Duration = Duration::from_secs(15);

/// Maximum time at the end for envelopes in flight.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(3);

/// A connection that lasted less than this is not reopened at once.
const MIN_CONNECTION_TIME: Duration = Duration::from_secs(5);

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
enum ConnectError {
    #[error(transparent)]
    Api(#[from] ApiError),
    #[error("Slack's socket cannot be opened")]
    Socket(#[source] Box<tungstenite::Error>),
    #[error("Slack did not say hello in time")]
    NoHello,
}

/// Listens until `shutdown` is cancelled. `ready` is called at the first hello.
pub(crate) async fn listen(
    inbound: &SlackEventHandler,
    shutdown: &CancellationToken,
    ready: impl FnOnce(),
) -> Result<(), PlatformError> {
    let going_on = serve_connections(inbound, shutdown, ready);
    shutdown
        .run_until_cancelled(going_on)
        .await
        .unwrap_or(Ok(()))
}

/// Opens one connection after the other. When Slack announces the end of one, the next is opened
/// while the old one is still served, so that there is always one.
async fn serve_connections(
    inbound: &SlackEventHandler,
    shutdown: &CancellationToken,
    ready: impl FnOnce(),
) -> Result<(), PlatformError> {
    let mut ready = Some(ready);
    let mut away_since: Option<Instant> = None;
    let mut backoff = Backoff::new(FIRST_PAUSE, LONGEST_PAUSE);
    loop {
        let rest = match connect(inbound).await {
            Ok(socket) => {
                match ready.take() {
                    Some(ready) => ready(),
                    None => inbound.read_missed(false, shutdown),
                }
                away_since = None;
                let begun = Instant::now();
                let (ending, is_ending) = oneshot::channel();
                let served = serve(inbound.clone(), socket, shutdown.clone(), ending);
                inbound.hub.chores.spawn(served);
                // Also when it broke: then the sender was dropped.
                let _ = is_ending.await;
                if begun.elapsed() > MIN_CONNECTION_TIME {
                    backoff.reset();
                    continue;
                }
                None
            }
            Err(error) => {
                let since = *away_since.get_or_insert_with(Instant::now);
                rest_after(error, since.elapsed())?
            }
        };
        let pause = backoff.pause();
        tokio::time::sleep(rest.unwrap_or_default().max(pause)).await;
    }
}

/// Returns how long to wait before the next attempt.
///
/// # Errors
/// Fails when no attempt can succeed.
fn rest_after(error: ConnectError, away: Duration) -> Result<Option<Duration>, PlatformError> {
    if away > UNREACHABLE_TIMEOUT {
        return Err(disconnected(error));
    }
    let cause = std::error::Error::source(&error).map(ToString::to_string);
    tracing::warn!(%error, cause, "not connected to Slack");
    match error {
        ConnectError::Api(ApiError::Limited { rest, .. }) => Ok(rest),
        ConnectError::Api(ApiError::Revoked { code, .. }) => Err(misconfigured(format!(
            "Slack does not accept SLACK_APP_TOKEN ({code}); it begins with xapp- and stands under Basic Information, App-Level Tokens"
        ))),
        ConnectError::Api(ApiError::MissingScope { needed, .. }) => Err(misconfigured(format!(
            "SLACK_APP_TOKEN lacks the scope {needed}; make a new app-level token with connections:write"
        ))),
        ConnectError::Api(ApiError::Refused { code, .. }) => Err(misconfigured(format!(
            "Slack opens no socket ({code}); turn Socket Mode on in the app's settings and set SLACK_APP_TOKEN to an app-level token"
        ))),
        ConnectError::Api(ApiError::Away { .. })
        | ConnectError::Socket(_)
        | ConnectError::NoHello => Ok(None),
    }
}

async fn connect(inbound: &SlackEventHandler) -> Result<Socket, ConnectError> {
    let opened = inbound.hub.api.open_connection().await?;
    let url = opened["url"].as_str().unwrap_or_default().to_owned();
    let mut config = WebSocketConfig::default();
    config.max_message_size = Some(LONGEST_MESSAGE);
    config.max_frame_size = Some(LONGEST_MESSAGE);
    let connecting = async {
        let connecting = tokio_tungstenite::connect_async_with_config(url, Some(config), true);
        let (mut socket, _) = connecting.await.map_err(socket_error)?;
        loop {
            match socket.next().await {
                Some(Ok(Message::Text(text))) if kind(text.as_str()) == "hello" => {
                    return Ok(socket);
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(socket_error(error)),
                None => return Err(ConnectError::NoHello),
            }
        }
    };
    let connected = timeout(CONNECTING, connecting).await;
    connected.unwrap_or(Err(ConnectError::NoHello))
}

fn socket_error(error: tungstenite::Error) -> ConnectError {
    ConnectError::Socket(Box::new(error))
}

fn kind(text: &str) -> String {
    let envelope: Value = serde_json::from_str(text).unwrap_or_default();
    envelope["type"].as_str().unwrap_or_default().to_owned()
}

/// A relevant envelope.
enum Envelope {
    Push {
        id: String,
        push: Option<Box<Push>>,
        is_late: bool,
    },
    /// Slack will close the connection.
    Disconnect,
    Nothing,
    /// The connection is closed.
    End,
}

impl Envelope {
    fn received(received: Option<Result<Message, tungstenite::Error>>) -> Self {
        match received {
            Some(Ok(Message::Text(text))) => Self::read(text.as_str()),
            Some(Ok(Message::Close(_)) | Err(_)) | None => Self::End,
            // The WebSocket library answers pings.
            Some(Ok(_)) => Self::Nothing,
        }
    }

    fn read(text: &str) -> Self {
        let Ok(envelope) = serde_json::from_str::<Value>(text) else {
            tracing::warn!("Slack sent what is no JSON");
            return Self::Nothing;
        };
        let payload = &envelope["payload"];
        let push = match envelope["type"].as_str().unwrap_or_default() {
            "disconnect" => return Self::Disconnect,
            "events_api" => Push::event(payload),
            "slash_commands" => Push::slash(payload),
            "interactive" => Push::interaction(payload),
            _ => None,
        };
        match envelope["envelope_id"].as_str() {
            Some(id) => Self::Push {
                id: id.to_owned(),
                push: push.map(Box::new),
                is_late: envelope["retry_attempt"].as_u64().unwrap_or_default() > 0,
            },
            None => Self::Nothing,
        }
    }
}

/// Serves one connection until it ends. `ending` is sent, or dropped, when another one is needed.
async fn serve(
    inbound: SlackEventHandler,
    mut socket: Socket,
    shutdown: CancellationToken,
    ending: oneshot::Sender<()>,
) {
    let mut ending = Some(ending);
    let mut ends_at: Option<Instant> = None;
    let mut under_way = FuturesUnordered::new();
    let mut ping = tokio::time::interval(PING_EVERY);
    let mut heard_at = Instant::now();
    loop {
        let has_room = under_way.len() < MAX_ENVELOPES_IN_FLIGHT;
        tokio::select! {
            biased;
            () = shutdown.cancelled() => break,
            Some(acknowledged) = under_way.next(), if !under_way.is_empty() => {
                // Other finished acknowledgements are sent with it.
                let mut all = vec![acknowledged];
                while let Some(Some(more)) = under_way.next().now_or_never() {
                    all.push(more);
                }
                if acknowledge(&mut socket, all).await.is_err() {
                    break;
                }
                if under_way.is_empty() {
                    inbound.record_seen(Utc::now() - heard_at.elapsed());
                }
            }
            received = socket.next(), if has_room => {
                heard_at = Instant::now();
                match Envelope::received(received) {
                    Envelope::Push { id, push, is_late } => {
                        under_way.push(take(&inbound, id, push, is_late));
                    }
                    Envelope::Disconnect => {
                        ends_at.get_or_insert(Instant::now() + OVERLAP);
                        // The receiver may already have been told to end.
                        let _ = ending.take().map(|ending| ending.send(()));
                    }
                    Envelope::Nothing => {}
                    Envelope::End => break,
                }
            }
            () = until(ends_at) => break,
            _ = ping.tick() => {
                // Everything until then was received and accepted.
                if under_way.is_empty() && heard_at.elapsed() < 2 * PING_EVERY {
                    inbound.record_seen(Utc::now() - heard_at.elapsed());
                }
                let is_silent = has_room && heard_at.elapsed() > SILENCE;
                let pinged = socket.send(Message::Ping(Vec::new().into())).await;
                if is_silent || pinged.is_err() {
                    tracing::warn!("Slack's socket says nothing any more");
                    break;
                }
            }
        }
    }
    drop(ending);
    drain_and_close(socket, under_way).await;
}

async fn until(end: Option<Instant>) {
    match end {
        Some(end) => tokio::time::sleep_until(end).await,
        None => std::future::pending().await,
    }
}

/// Acknowledges envelopes in flight, then closes. Slack sends the others again, and they are
/// recognised.
async fn drain_and_close<F: Future<Output = (String, EventOutcome)>>(
    mut socket: Socket,
    mut under_way: FuturesUnordered<F>,
) {
    let leaving = async {
        while let Some(acknowledged) = under_way.next().await {
            if acknowledge(&mut socket, vec![acknowledged]).await.is_err() {
                return;
            }
        }
        let _ = socket.close(None).await;
    };
    let _ = timeout(SHUTDOWN_TIMEOUT, pin!(leaving)).await;
}

fn take(
    inbound: &SlackEventHandler,
    id: String,
    push: Option<Box<Push>>,
    is_late: bool,
) -> impl Future<Output = (String, EventOutcome)> + use<> {
    // Unreadable envelopes are acknowledged: a repetition would be no better.
    let taken = push.map(|push| inbound.take(*push, is_late));
    async move {
        let taken = match taken {
            Some(taken) => taken.await,
            None => EventOutcome::Yes,
        };
        (id, taken)
    }
}

async fn acknowledge(
    socket: &mut Socket,
    pushes: Vec<(String, EventOutcome)>,
) -> Result<(), tungstenite::Error> {
    for (id, taken) in pushes {
        match taken {
            EventOutcome::Yes => {
                let envelope = json!({ "envelope_id": id }).to_string();
                socket.feed(Message::Text(envelope.into())).await?;
            }
            EventOutcome::No => {}
        }
    }
    socket.flush().await
}
