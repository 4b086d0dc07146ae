//! The gateway: sessions, which outlive their connections, and the frames of a connection.

mod connection;
mod encoding;

use std::collections::VecDeque;

use axum::extract::ws::Utf8Bytes;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::Id;

pub(crate) use connection::connection;

/// Maximum events buffered for a client to resume; beyond it the oldest are dropped, and the
/// session cannot be resumed.
const REPLAY: usize = 10_000;

/// An outgoing frame.
#[derive(Debug)]
pub(crate) enum GatewayFrame {
    /// Serialized once, also for the session's buffer.
    Payload(Utf8Bytes),
    /// A close frame with a code.
    Close(u16),
    /// The connection is cut without a close frame.
    Cut,
}

impl GatewayFrame {
    pub(crate) fn payload(payload: &Value) -> Self {
        Self::Payload(payload.to_string().into())
    }
}

/// A session that began with an identify, while it can be resumed.
#[derive(Debug)]
pub(crate) struct GatewaySession {
    pub(crate) id: String,
    pub(crate) app: Id,
    /// Its shard, and the number of shards.
    pub(crate) shard: (u64, u64),
    pub(crate) intents: u64,
    pub(crate) seq: u64,
    log: VecDeque<(u64, Utf8Bytes)>,
    /// The connection, while there is one.
    pub(crate) link: Option<mpsc::UnboundedSender<GatewayFrame>>,
}

impl GatewaySession {
    pub(crate) fn new(
        id: String,
        app: Id,
        shard: (u64, u64),
        intents: u64,
        link: mpsc::UnboundedSender<GatewayFrame>,
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

    /// Sends an event, now or when the client resumes.
    pub(crate) fn push(&mut self, event: &str, data: &Value) {
        self.seq += 1;
        let payload = json!({ "op": 0, "t": event, "s": self.seq, "d": data });
        let payload = Utf8Bytes::from(payload.to_string());
        if self.log.len() == REPLAY {
            self.log.pop_front();
        }
        self.log.push_back((self.seq, payload.clone()));
        self.send(GatewayFrame::Payload(payload));
    }

    /// Sends a frame that is no event.
    pub(crate) fn send(&self, frame: GatewayFrame) {
        if let Some(link) = &self.link {
            // A connection that has just ended receives nothing any more.
            let _ = link.send(frame);
        }
    }

    /// Resumes on another connection after event `seq`; returns false if too much was missed.
    fn resume(&mut self, seq: u64, link: mpsc::UnboundedSender<GatewayFrame>) -> bool {
        let oldest = self.log.front().map_or(1, |(oldest, _)| *oldest);
        if seq + 1 < oldest || seq > self.seq {
            return false;
        }
        self.link = Some(link);
        for (_, payload) in self.log.iter().filter(|(number, _)| *number > seq) {
            self.send(GatewayFrame::Payload(payload.clone()));
        }
        self.push("RESUMED", &json!({ "_trace": [] }));
        true
    }
}
