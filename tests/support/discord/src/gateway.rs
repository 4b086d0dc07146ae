//! The gateway: sessions that outlive their connections, and what is said on a connection.

mod connection;
mod encoding;

use std::collections::VecDeque;

use axum::extract::ws::Utf8Bytes;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::Id;

pub(crate) use connection::connection;

/// How many events a session keeps for a client that comes back; the oldest are forgotten beyond it, and the session
/// with them.
const REPLAY: usize = 10_000;

/// What goes out on a connection.
#[derive(Debug)]
pub(crate) enum Frame {
    /// Written down once, as a session keeps it too.
    Payload(Utf8Bytes),
    /// Closed with a code, as Discord does it.
    Close(u16),
    /// The line is dead: no farewell.
    Cut,
}

impl Frame {
    pub(crate) fn payload(payload: &Value) -> Self {
        Self::Payload(payload.to_string().into())
    }
}

/// What a client began with an identify, for as long as it may be gone on with.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) id: String,
    pub(crate) app: Id,
    /// Which of how many.
    pub(crate) shard: (u64, u64),
    pub(crate) intents: u64,
    pub(crate) seq: u64,
    log: VecDeque<(u64, Utf8Bytes)>,
    /// The connection, while there is one.
    pub(crate) link: Option<mpsc::UnboundedSender<Frame>>,
}

impl Session {
    pub(crate) fn new(
        id: String,
        app: Id,
        shard: (u64, u64),
        intents: u64,
        link: mpsc::UnboundedSender<Frame>,
    ) -> Self {
        Self {
            id,
            app,
            shard,
            intents,
            seq: 0,
            log: VecDeque::new(),
            link: Some(link),
        }
    }

    /// Sends an event, now or when the client comes back.
    pub(crate) fn push(&mut self, event: &str, data: &Value) {
        self.seq += 1;
        let payload = json!({ "op": 0, "t": event, "s": self.seq, "d": data });
        let payload = Utf8Bytes::from(payload.to_string());
        if self.log.len() == REPLAY {
            self.log.pop_front();
        }
        self.log.push_back((self.seq, payload.clone()));
        self.send(Frame::Payload(payload));
    }

    /// Sends what is no event.
    pub(crate) fn send(&self, frame: Frame) {
        if let Some(link) = &self.link {
            // A connection that has just ended hears nothing any more.
            let _ = link.send(frame);
        }
    }

    /// Goes on over another connection after the event `seq`; false: too much was missed.
    fn resume(&mut self, seq: u64, link: mpsc::UnboundedSender<Frame>) -> bool {
        let oldest = self.log.front().map_or(1, |(oldest, _)| *oldest);
        if seq + 1 < oldest || seq > self.seq {
            return false;
        }
        self.link = Some(link);
        for (_, payload) in self.log.iter().filter(|(number, _)| *number > seq) {
            self.send(Frame::Payload(payload.clone()));
        }
        self.push("RESUMED", &json!({ "_trace": [] }));
        true
    }
}
