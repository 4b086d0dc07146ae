//! One connection, from hello to its end.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::ws::{CloseFrame, Message, WebSocket};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::encoding::Encoding;
use super::{GatewayFrame, GatewaySession};
use crate::Id;
use crate::server::SharedWorld;
use crate::world::{Listener, World, intents};

/// A client may send this many payloads a minute (Discord: 120 in 60 seconds).
const PAYLOADS: usize = 120;
const MINUTE: Duration = Duration::from_secs(60);

/// Codes of closing, by Discord's documentation.
mod code {
    pub(super) const UNKNOWN_OPCODE: u16 = 4001;
    pub(super) const DECODE: u16 = 4002;
    pub(super) const NOT_AUTHENTICATED: u16 = 4003;
    pub(super) const AUTHENTICATION_FAILED: u16 = 4004;
    pub(super) const ALREADY_AUTHENTICATED: u16 = 4005;
    pub(super) const RATE_LIMITED: u16 = 4008;
    pub(super) const TIMED_OUT: u16 = 4009;
    pub(super) const INVALID_SHARD: u16 = 4010;
    pub(super) const INVALID_VERSION: u16 = 4012;
    pub(super) const INVALID_INTENTS: u16 = 4013;
    pub(super) const DISALLOWED_INTENTS: u16 = 4014;
}

struct GatewayConnection {
    shared: Arc<SharedWorld>,
    link: mpsc::UnboundedSender<GatewayFrame>,
    encoding: Encoding,
    /// Of the session, once there is one.
    session: Option<String>,
    received: VecDeque<Instant>,
    last_beat: Instant,
}

/// The consequence of a payload.
enum PayloadOutcome {
    Go,
    Close(u16),
}

/// Serves one connection until its end.
pub(crate) async fn connection(
    shared: Arc<SharedWorld>,
    mut socket: WebSocket,
    query: HashMap<String, String>,
) {
    let (link, mut outgoing) = mpsc::unbounded_channel();
    let interval = shared.with(|world| world.heartbeat);
    let encoding = match query.get("compress").map(String::as_str) {
        Some("zlib-stream") => Encoding::stream(),
        _ => Encoding::Plain,
    };
    let mut connection = GatewayConnection {
        shared,
        link,
        encoding,
        session: None,
        received: VecDeque::new(),
        last_beat: Instant::now(),
    };
    let is_known = query.get("v").is_some_and(|version| version == "10")
        && query
            .get("encoding")
            .is_none_or(|encoding| encoding == "json");
    let milliseconds = u64::try_from(interval.as_millis()).expect("an interval is short");
    let hello = json!({ "op": 10, "t": null, "s": null, "d": { "heartbeat_interval": milliseconds, "_trace": [] } });
    let first = if is_known {
        GatewayFrame::payload(&hello)
    } else {
        GatewayFrame::Close(code::INVALID_VERSION)
    };
    if connection.send(&mut socket, first).await {
        connection.serve(&mut socket, &mut outgoing, interval).await;
    }
    connection.end();
}

impl GatewayConnection {
    async fn serve(
        &mut self,
        socket: &mut WebSocket,
        outgoing: &mut mpsc::UnboundedReceiver<GatewayFrame>,
        interval: Duration,
    ) {
        loop {
            let frame = tokio::select! {
                frame = outgoing.recv() => frame.unwrap_or(GatewayFrame::Cut),
                message = socket.recv() => match self.take(message) {
                    Some(PayloadOutcome::Go) => continue,
                    Some(PayloadOutcome::Close(code)) => GatewayFrame::Close(code),
                    None => return,
                },
                () = tokio::time::sleep(interval * 2) => match self.is_silent(interval) {
                    false => continue,
                    true => GatewayFrame::Close(code::TIMED_OUT),
                },
            };
            if !self.send(socket, frame).await {
                return;
            }
        }
    }

    /// By the machine's clock, as a test may pause or advance the other one.
    fn is_silent(&self, interval: Duration) -> bool {
        let is_silent = self.last_beat.elapsed() > interval * 2;
        if is_silent {
            self.shared.with(|world| {
                world.blame(format!(
                    "gateway: no heartbeat for twice the interval of {interval:?}"
                ))
            });
        }
        is_silent
    }

    /// Sends a frame; returns false if it was the last.
    async fn send(&mut self, socket: &mut WebSocket, frame: GatewayFrame) -> bool {
        match frame {
            GatewayFrame::Payload(payload) => {
                // What leaves fields out on purpose is not to be held against the description.
                if !self.shared.look(|world| world.leaves_fields_out) {
                    self.shared.traffic.gateway("out", &payload);
                }
                socket.send(self.encoding.write(payload)).await.is_ok()
            }
            GatewayFrame::Close(code) => {
                let close = CloseFrame {
                    code,
                    reason: "".into(),
                };
                // A client that is gone needs no close frame.
                let _ = socket.send(Message::Close(Some(close))).await;
                // Waits for the client's close frame, so that ours is not lost with the connection.
                let _ = tokio::time::timeout(Duration::from_secs(1), socket.recv()).await;
                false
            }
            GatewayFrame::Cut => false,
        }
    }

    /// `None`: the client is gone.
    fn take(&mut self, message: Option<Result<Message, axum::Error>>) -> Option<PayloadOutcome> {
        let text = match message?.ok()? {
            Message::Text(text) => text,
            Message::Ping(_) | Message::Pong(_) => return Some(PayloadOutcome::Go),
            Message::Binary(_) => return Some(PayloadOutcome::Close(code::DECODE)),
            Message::Close(_) => return None,
        };
        let Ok(payload) = serde_json::from_str::<Value>(&text) else {
            self.shared
                .with(|world| world.blame("gateway: a payload is not JSON"));
            return Some(PayloadOutcome::Close(code::DECODE));
        };
        self.shared.traffic.gateway("in", &text);
        let now = Instant::now();
        self.received.push_back(now);
        self.received.retain(|at| now.duration_since(*at) < MINUTE);
        if self.received.len() > PAYLOADS {
            self.shared
                .with(|world| world.blame("gateway: more than 120 payloads in a minute"));
            return Some(PayloadOutcome::Close(code::RATE_LIMITED));
        }
        Some(self.answer(&payload))
    }

    fn answer(&mut self, payload: &Value) -> PayloadOutcome {
        let data = &payload["d"];
        let shared = Arc::clone(&self.shared);
        match payload["op"].as_u64() {
            Some(1) => self.beat(data),
            Some(2) => shared.with(|world| self.identify(world, data)),
            Some(6) => shared.with(|world| self.resume(world, data)),
            Some(3 | 4 | 8 | 31) if self.session.is_none() => {
                PayloadOutcome::Close(code::NOT_AUTHENTICATED)
            }
            Some(3 | 4 | 31) => PayloadOutcome::Go,
            Some(8) => shared.with(|world| self.members(world, data)),
            _ => {
                shared.with(|world| {
                    world.blame(format!("gateway: unknown opcode {}", payload["op"]))
                });
                PayloadOutcome::Close(code::UNKNOWN_OPCODE)
            }
        }
    }

    fn beat(&mut self, data: &Value) -> PayloadOutcome {
        self.last_beat = Instant::now();
        let session = self.session.clone();
        self.shared.with(|world| {
            world.counts.beats += 1;
            let open = world
                .sessions
                .iter()
                .find(|open| Some(&open.id) == session.as_ref());
            // Before it identifies, a resuming client names the last event of its previous
            // connection.
            if let (Some(open), Some(seq)) = (open, data.as_u64())
                && seq > open.seq
            {
                let sent = open.seq;
                world.blame(format!(
                    "gateway: a heartbeat after event {seq}, but only {sent} were sent"
                ));
            }
        });
        let _ = self.link.send(GatewayFrame::payload(
            &json!({ "op": 11, "t": null, "s": null, "d": null }),
        ));
        PayloadOutcome::Go
    }

    fn identify(&mut self, world: &mut World, data: &Value) -> PayloadOutcome {
        if self.session.is_some() {
            return PayloadOutcome::Close(code::ALREADY_AUTHENTICATED);
        }
        let Some(app) = data["token"]
            .as_str()
            .and_then(|token| world.app_of(bare(token)))
        else {
            return PayloadOutcome::Close(code::AUTHENTICATION_FAILED);
        };
        let (app, privileged) = (app.id, app.privileged);
        if let Some(code) = world.refuses_with {
            world.counts.refused += 1;
            return PayloadOutcome::Close(code);
        }
        let Some(wanted) = data["intents"]
            .as_u64()
            .filter(|wanted| wanted & !intents::KNOWN == 0)
        else {
            return PayloadOutcome::Close(code::INVALID_INTENTS);
        };
        if wanted & intents::PRIVILEGED & !privileged != 0 {
            return PayloadOutcome::Close(code::DISALLOWED_INTENTS);
        }
        if !data["properties"].is_object() {
            world.blame("gateway: identify without properties");
        }
        let shard = match data["shard"].as_array().map(Vec::as_slice) {
            None => (0, 1),
            Some([number, of]) => (
                number.as_u64().unwrap_or(u64::MAX),
                of.as_u64().unwrap_or_default(),
            ),
            Some(_) => (u64::MAX, 0),
        };
        if shard.0 >= shard.1 {
            return PayloadOutcome::Close(code::INVALID_SHARD);
        }
        if data["compress"] == true && matches!(self.encoding, Encoding::Plain) {
            self.encoding = Encoding::Large;
        }
        let id = format!("{:032x}", world.new_id().get());
        self.session = Some(id.clone());
        world.counts.identified += 1;
        world.sessions.push(GatewaySession::new(
            id,
            app,
            shard,
            wanted,
            self.link.clone(),
        ));
        world.greet(world.sessions.len() - 1);
        PayloadOutcome::Go
    }

    fn resume(&mut self, world: &mut World, data: &Value) -> PayloadOutcome {
        if data["token"]
            .as_str()
            .and_then(|token| world.app_of(bare(token)))
            .is_none()
        {
            return PayloadOutcome::Close(code::AUTHENTICATION_FAILED);
        }
        let (id, seq) = (
            data["session_id"].as_str().unwrap_or_default(),
            data["seq"].as_u64(),
        );
        let link = self.link.clone();
        let session = world.sessions.iter_mut().find(|session| session.id == id);
        let is_resumed = match (session, seq) {
            (Some(session), Some(seq)) => session.resume(seq, link),
            _ => false,
        };
        if is_resumed {
            self.session = Some(id.to_owned());
            world.counts.resumed += 1;
        } else {
            world.sessions.retain(|session| session.id != id);
            let _ = self.link.send(GatewayFrame::payload(
                &json!({ "op": 9, "t": null, "s": null, "d": false }),
            ));
        }
        PayloadOutcome::Go
    }

    /// Sends the members of a server in one chunk: tests have few.
    fn members(&mut self, world: &mut World, data: &Value) -> PayloadOutcome {
        let guild = Id::of(&data["guild_id"]).or_else(|| {
            data["guild_id"]
                .as_array()
                .and_then(|ids| Id::of(ids.first()?))
        });
        let Some(guild) = guild.and_then(|guild| world.guilds.get(&guild)) else {
            return PayloadOutcome::Go;
        };
        let query = data["query"].as_str().unwrap_or_default().to_lowercase();
        let wanted = data["user_ids"].as_array();
        let fits = |user: &&Id| match wanted {
            Some(wanted) => wanted.contains(&user.json()),
            None => world.users[user].name.to_lowercase().starts_with(&query),
        };
        let members: Vec<Value> = guild
            .members
            .keys()
            .filter(fits)
            .map(|user| world.member_json(guild, *user))
            .collect();
        let mut chunk = json!({ "guild_id": guild.id.json(), "members": members, "chunk_index": 0, "chunk_count": 1, "not_found": [] });
        if !data["nonce"].is_null() {
            chunk["nonce"] = data["nonce"].clone();
        }
        let session = world
            .sessions
            .iter_mut()
            .find(|session| Some(&session.id) == self.session.as_ref());
        if let Some(session) = session {
            session.push("GUILD_MEMBERS_CHUNK", &chunk);
        }
        PayloadOutcome::Go
    }

    /// Ends the connection; the session stays for a while.
    fn end(&mut self) {
        let link = self.link.clone();
        self.shared.with(|world| {
            world.counts.ended += 1;
            for session in &mut world.sessions {
                if session
                    .link
                    .as_ref()
                    .is_some_and(|current| current.same_channel(&link))
                {
                    session.link = None;
                }
            }
        });
    }
}

/// Removes the prefix that serenity puts before its token.
fn bare(token: &str) -> &str {
    token.strip_prefix("Bot ").unwrap_or(token)
}

impl World {
    /// Greets a new session: its own account, then each server of its shard.
    fn greet(&mut self, number: usize) {
        let session = &self.sessions[number];
        let (app, shard, intents) = (session.app, session.shard, session.intents);
        let listener = Listener { app, intents };
        let is_own = |guild: &Id| crate::world::shard_of(Some(*guild), shard.1) == shard.0;
        let joined = self
            .guilds
            .values()
            .filter(|guild| guild.members.contains_key(&app));
        let guilds: Vec<Id> = joined.map(|guild| guild.id).filter(is_own).collect();
        let listed: Vec<Value> = guilds
            .iter()
            .map(|guild| json!({ "id": guild.json(), "unavailable": true }))
            .collect();
        let ready = json!({
            "v": 10, "user": self.users[&app].own_json(), "guilds": listed, "session_id": session.id,
            "resume_gateway_url": self.gateway_url, "shard": [shard.0, shard.1], "session_type": "normal",
            "application": { "id": app.json(), "flags": self.apps[&app].flags() }, "private_channels": [],
            "relationships": [], "presences": [], "user_settings": {}, "user_settings_proto": null,
            "guild_join_requests": [], "geo_ordered_rtc_regions": [], "auth": {}, "_trace": [],
        });
        self.sessions[number].push("READY", &ready);
        if intents & intents::GUILD == 0 {
            return;
        }
        for guild in guilds {
            let guild = &self.guilds[&guild];
            if !guild.is_out {
                let created = self.guild_create_json(guild, &listener);
                let created = self.as_told("GUILD_CREATE", created);
                self.sessions[number].push("GUILD_CREATE", &created);
            }
        }
    }
}
