//! Socket Mode: connections, envelopes and their acknowledgements.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{Message, WebSocket};
use axum::extract::{State as Extract, WebSocketUpgrade};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::delivery::{self, DeliveryStatus};
use crate::ids::APP;
use crate::outgoing::OutgoingKind;
use crate::state::{SharedState, State};

/// "Socket Mode allows your app to maintain up to 10 open WebSocket connections at the same time."
const MOST: usize = 10;

/// How often the server pings.
const PING_EVERY: Duration = Duration::from_secs(5);

/// A connection with this many unanswered pings is closed.
const MOST_UNANSWERED: usize = 3;

/// A command to a connection.
#[derive(Clone, Debug)]
pub(crate) enum SocketCommand {
    Text(String),
    /// The attempt of a delivery, whose time begins when it is written.
    Envelope(String, usize, usize),
    Ping,
    /// Sends a close frame and closes.
    Close,
    /// Cuts the connection.
    Cut,
    /// Stops reading and writing, but stays open.
    Freeze,
}

#[derive(Debug)]
pub(crate) struct SocketConnection {
    pub(crate) id: usize,
    pub(crate) sender: mpsc::UnboundedSender<SocketCommand>,
    /// Told to disconnect: it receives nothing new.
    pub(crate) is_retiring: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Sockets {
    /// From `apps.connections.open`, each valid for one connection.
    pub(crate) tickets: Vec<String>,
    /// The address for opening connections, if it is not the server itself.
    pub(crate) front: Option<SocketAddr>,
    pub(crate) open: Vec<SocketConnection>,
    /// How many were opened since the start.
    pub(crate) opened: usize,
    turn: usize,
}

impl Sockets {
    /// Returns the next connection, in turn: "Events are sent to one of the connections".
    fn next(&mut self) -> Option<&SocketConnection> {
        let usable: Vec<&SocketConnection> =
            self.open.iter().filter(|one| !one.is_retiring).collect();
        self.turn += 1;
        let count = usable.len().max(1);
        usable.get(self.turn % count).copied()
    }

    pub(crate) fn all(&self, frame: &SocketCommand) {
        for connection in &self.open {
            // A closing connection is handled by its own task.
            let _ = connection.sender.send(frame.clone());
        }
    }
}

/// Sends a delivery in an envelope on one of the connections.
pub(crate) fn tell(shared: &Arc<SharedState>, state: &mut State, id: usize, reason: &'static str) {
    let Some((connection, sender)) = state.sockets.next().map(|one| (one.id, one.sender.clone()))
    else {
        return unheard(state, id);
    };
    let attempt = state.deliveries.begin(id, reason, Some(connection));
    let number = state.workspace.number();
    let envelope = format!("{number:08x}-0000-4000-8000-{attempt:012x}");
    let delivery = state.deliveries.get(id);
    let frame = envelope_of(&envelope, delivery.kind, &delivery.payload, attempt, reason);
    state.deliveries.envelopes.insert(envelope, (id, attempt));
    let _ = sender.send(SocketCommand::Envelope(frame.to_string(), id, attempt));
    let (shared, wait) = (Arc::clone(shared), state.waits.acknowledgement);
    tokio::spawn(async move {
        tokio::time::sleep(wait).await;
        let again = Arc::clone(&shared);
        shared.change(|state| delivery::fail(&again, state, id, attempt, "timeout"));
    });
}

/// Handles a delivery without a connection: events wait, interactions and commands fail at once.
fn unheard(state: &mut State, id: usize) {
    let delivery = state.deliveries.get(id);
    match delivery.kind {
        OutgoingKind::Event => state.deliveries.waiting.push(id),
        OutgoingKind::Interaction | OutgoingKind::Command => {
            delivery.outcome = DeliveryStatus::GivenUp
        }
    }
}

fn envelope_of(
    envelope: &str,
    kind: OutgoingKind,
    payload: &Value,
    attempt: usize,
    reason: &str,
) -> Value {
    let name = match kind {
        OutgoingKind::Event => "events_api",
        OutgoingKind::Interaction => "interactive",
        OutgoingKind::Command => "slash_commands",
    };
    let mut told = json!({ "envelope_id": envelope, "type": name, "payload": payload,
        "accepts_response_payload": accepts_answer(kind, payload) });
    if kind == OutgoingKind::Event {
        told["retry_attempt"] = json!(attempt);
        told["retry_reason"] = json!(reason);
    }
    told
}

/// Whether an acknowledgement may carry a response.
fn accepts_answer(kind: OutgoingKind, payload: &Value) -> bool {
    match kind {
        OutgoingKind::Event => false,
        OutgoingKind::Command => true,
        OutgoingKind::Interaction => payload["type"] == "view_submission",
    }
}

/// `GET /link/?ticket=…`
pub(crate) async fn link(
    Extract(shared): Extract<Arc<SharedState>>,
    uri: Uri,
    upgrade: WebSocketUpgrade,
) -> Response {
    let query = uri.query().unwrap_or_default().as_bytes();
    let mut query = url::form_urlencoded::parse(query);
    let ticket = query.find(|(name, _)| name == "ticket");
    let ticket = ticket
        .map(|(_, ticket)| ticket.into_owned())
        .unwrap_or_default();
    let is_good = shared.change(|state| {
        let tickets = &mut state.sockets.tickets;
        let held = tickets.len();
        tickets.retain(|held| *held != ticket);
        let is_good = tickets.len() < held;
        if !is_good {
            state.violate(
                "Socket Mode: each address of apps.connections.open is good for one connection",
            );
        }
        is_good
    });
    if !is_good {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    upgrade.on_upgrade(move |socket| serve(shared, socket))
}

async fn serve(shared: Arc<SharedState>, mut socket: WebSocket) {
    let (sender, frames) = mpsc::unbounded_channel();
    let Some((id, hello)) = shared.change(|state| open(state, sender)) else {
        let refusal = disconnect("too_many_websockets").to_string();
        let _ = socket.send(Message::Text(refusal.into())).await;
        return;
    };
    if socket.send(Message::Text(hello.into())).await.is_ok() {
        let again = Arc::clone(&shared);
        shared.change(|state| {
            for waiting in std::mem::take(&mut state.deliveries.waiting) {
                tell(&again, state, waiting, "");
            }
        });
        talk(&shared, &mut socket, frames).await;
    }
    let again = Arc::clone(&shared);
    shared.change(|state| close(&again, state, id));
}

/// Accepts a connection if there is room; returns its number and its greeting.
fn open(
    state: &mut State,
    sender: mpsc::UnboundedSender<SocketCommand>,
) -> Option<(usize, String)> {
    if state.sockets.open.len() >= MOST {
        return None;
    }
    state.sockets.opened += 1;
    let id = state.sockets.opened;
    let is_retiring = false;
    state.sockets.open.push(SocketConnection {
        id,
        sender,
        is_retiring,
    });
    let hello = json!({
        "type": "hello",
        "num_connections": state.sockets.open.len(),
        "debug_info": { "host": "applink-loopback", "build_number": 10, "approximate_connection_time": 18_060 },
        "connection_info": { "app_id": APP },
    });
    Some((id, hello.to_string()))
}

pub(crate) fn disconnect(reason: &str) -> Value {
    json!({ "type": "disconnect", "reason": reason, "debug_info": { "host": "applink-loopback" } })
}

/// Closes a connection; what was not acknowledged is delivered over another one.
fn close(shared: &Arc<SharedState>, state: &mut State, id: usize) {
    state.sockets.open.retain(|connection| connection.id != id);
    let mut broken = Vec::new();
    for delivery in &state.deliveries.all {
        for (number, attempt) in delivery.attempts.iter().enumerate() {
            if attempt.connection == Some(id) && !attempt.is_over {
                broken.push((delivery.id, number));
            }
        }
    }
    for (delivery, attempt) in broken {
        delivery::fail(shared, state, delivery, attempt, "connection_closed");
    }
}

async fn talk(
    shared: &Arc<SharedState>,
    socket: &mut WebSocket,
    mut frames: mpsc::UnboundedReceiver<SocketCommand>,
) {
    let mut pings = tokio::time::interval(PING_EVERY);
    let mut unanswered = 0;
    while unanswered <= MOST_UNANSWERED {
        let frame = tokio::select! {
            frame = frames.recv() => frame,
            _ = pings.tick() => Some(SocketCommand::Ping),
            heard = socket.recv() => match heard {
                Some(Ok(Message::Pong(_))) => { unanswered = 0; continue }
                Some(Ok(heard)) => { hear(shared, heard); continue }
                Some(Err(_)) | None => return,
            },
        };
        let sent = match frame {
            Some(SocketCommand::Text(text)) => socket.send(Message::Text(text.into())).await,
            Some(SocketCommand::Envelope(text, id, attempt)) => {
                shared.look().deliveries.get(id).attempts[attempt].at = Instant::now();
                socket.send(Message::Text(text.into())).await
            }
            Some(SocketCommand::Ping) => {
                unanswered += 1;
                socket.send(Message::Ping("loopback".into())).await
            }
            Some(SocketCommand::Close) => socket.send(Message::Close(None)).await,
            Some(SocketCommand::Freeze) => std::future::pending().await,
            Some(SocketCommand::Cut) | None => return,
        };
        if sent.is_err() {
            return;
        }
    }
}

fn hear(shared: &Arc<SharedState>, heard: Message) {
    match heard {
        Message::Text(text) => shared.change(|state| acknowledged(state, text.as_str())),
        Message::Binary(_) => shared.change(|state| {
            state.violate("Socket Mode: a binary frame");
        }),
        // The WebSocket library answers pings, and the end of the stream closes it.
        Message::Ping(_) | Message::Pong(_) | Message::Close(_) => {}
    }
}

/// Handles an acknowledgement: `{"envelope_id": …, "payload": …}`, the payload only where it is
/// accepted.
fn acknowledged(state: &mut State, text: &str) {
    let Ok(heard) = serde_json::from_str::<Value>(text) else {
        return state.violate(format!("Socket Mode: no JSON: {text}"));
    };
    let envelope = heard["envelope_id"].as_str().unwrap_or_default();
    let Some((id, attempt)) = state.deliveries.envelopes.get(envelope).copied() else {
        return state.violate(format!("Socket Mode: no such envelope: {text}"));
    };
    let delivery = state.deliveries.get(id);
    let accepts = accepts_answer(delivery.kind, &delivery.payload);
    if delivery.attempts[attempt].acknowledged_after.is_some() {
        return state.violate(format!("Socket Mode: acknowledged twice: {text}"));
    }
    let answer = &heard["payload"];
    if !accepts && answer.as_object().is_some_and(|fields| !fields.is_empty()) {
        state.violate(format!(
            "Socket Mode: this envelope accepts no payload: {text}"
        ));
    }
    delivery::acknowledge(state, id, attempt, answer);
}
