//! What was told to the app: each thing, how often it was tried, and how it was acknowledged.
//!
//! An event is retried until it is acknowledged within three seconds: at once, after a minute and after five
//! ("Retries" of the Events API page). Interactions and commands are told once.

pub(crate) mod http;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::outgoing::OutgoingKind;
use crate::responses;
use crate::sockets;
use crate::state::{Shared, State};

/// How long Slack waits; tests make it shorter.
#[derive(Clone, Debug)]
pub struct Waits {
    /// For an acknowledgement: 3 s.
    pub acknowledgement: Duration,
    /// Before each retry of an event: none, 1 min, 5 min.
    pub retries: Vec<Duration>,
    /// From `disconnect` to the closing of the connection: about 10 s.
    pub refresh: Duration,
}

impl Default for Waits {
    fn default() -> Self {
        let seconds = |seconds: &[u64]| seconds.iter().copied().map(Duration::from_secs).collect();
        Self {
            acknowledgement: Duration::from_secs(3),
            retries: seconds(&[0, 60, 300]),
            refresh: Duration::from_secs(10),
        }
    }
}

impl Waits {
    /// All waits divided by this, but for that of the acknowledgement.
    #[must_use]
    pub fn faster(mut self, times: u32) -> Self {
        self.retries.iter_mut().for_each(|wait| *wait /= times);
        self.refresh /= times;
        self
    }
}

/// One try to tell something.
#[derive(Clone, Debug)]
pub struct Attempt {
    pub at: Instant,
    /// Why it was tried again; empty for the first time.
    pub reason: &'static str,
    /// From sending to acknowledging; none while it is not.
    pub acknowledged_after: Option<Duration>,
    /// The HTTP status; none over a socket.
    pub status: Option<u16>,
    /// The connection it went over; none over HTTP.
    pub(crate) connection: Option<usize>,
    pub(crate) is_over: bool,
}

/// How far a delivery is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// On its way, or waiting for a connection or for its next try.
    Pending,
    Acknowledged,
    /// Not acknowledged, and not tried again.
    GivenUp,
}

/// Something that was told to the app.
#[derive(Clone, Debug)]
pub struct Delivery {
    pub kind: OutgoingKind,
    /// The outer event, the interaction or the command.
    pub payload: Value,
    pub attempts: Vec<Attempt>,
    pub outcome: Outcome,
    /// What came with the acknowledgement; null where nothing did.
    pub answer: Value,
    pub(crate) id: usize,
    pub(crate) lane: String,
    /// How many copies of it are told, beside retries.
    pub(crate) copies: usize,
}

impl Delivery {
    /// Whether every copy of it was told, and nothing is waited for.
    pub(crate) fn is_over(&self) -> bool {
        let are_over = self.attempts.iter().all(|attempt| attempt.is_over);
        let is_told = self.attempts.len() >= self.copies && are_over;
        match self.outcome {
            Outcome::Pending => false,
            Outcome::Acknowledged => is_told,
            Outcome::GivenUp => true,
        }
    }

    /// The event's id; empty for what is no event.
    pub fn event_id(&self) -> &str {
        self.payload["event_id"].as_str().unwrap_or_default()
    }

    /// The event's type; empty for what is no event.
    pub fn event_type(&self) -> &str {
        self.payload["event"]["type"].as_str().unwrap_or_default()
    }

    /// How long the first acknowledgement took.
    pub fn acknowledged_after(&self) -> Option<Duration> {
        self.attempts
            .iter()
            .find_map(|attempt| attempt.acknowledged_after)
    }
}

/// Where an app is reached over HTTP.
#[derive(Clone, Debug)]
pub struct Addresses {
    pub events: String,
    pub interactions: String,
    pub commands: String,
}

#[derive(Debug, Default)]
pub(crate) struct Deliveries {
    pub(crate) all: Vec<Delivery>,
    /// Of each replica behind the load balancer; none: over Socket Mode.
    pub(crate) addresses: Vec<Addresses>,
    pub(crate) turn: usize,
    /// Each event is delivered so many times more.
    pub(crate) repeats: usize,
    /// What waits for a connection.
    pub(crate) waiting: Vec<usize>,
    /// Delivery and attempt by envelope.
    pub(crate) envelopes: BTreeMap<String, (usize, usize)>,
    pub(crate) lanes: BTreeMap<String, mpsc::UnboundedSender<usize>>,
    /// Events are kept back while it is set.
    pub(crate) is_held: bool,
    pub(crate) held: Vec<usize>,
}

impl Deliveries {
    pub(crate) fn get(&mut self, id: usize) -> &mut Delivery {
        let mut all = self.all.iter_mut();
        all.find(|delivery| delivery.id == id)
            .expect("a delivery that was made")
    }

    /// The replica whose turn it is.
    pub(crate) fn replica(&mut self) -> Addresses {
        self.turn += 1;
        self.addresses[self.turn % self.addresses.len()].clone()
    }

    /// Begins an attempt; its number is given back.
    pub(crate) fn begin(
        &mut self,
        id: usize,
        reason: &'static str,
        connection: Option<usize>,
    ) -> usize {
        let delivery = self.get(id);
        delivery.attempts.push(Attempt {
            at: Instant::now(),
            reason,
            acknowledged_after: None,
            status: None,
            connection,
            is_over: false,
        });
        delivery.attempts.len() - 1
    }
}

/// Sends what is in the outbox on its way.
pub(crate) fn send_off(shared: &Arc<Shared>, state: &mut State) {
    for outgoing in std::mem::take(&mut state.workspace.outbox) {
        let is_event = outgoing.kind == OutgoingKind::Event;
        let is_held = is_event && state.deliveries.is_held;
        let id = outgoing.id;
        let copies = if is_event && !is_held {
            state.deliveries.repeats + 1
        } else {
            1
        };
        state.deliveries.all.push(Delivery {
            kind: outgoing.kind,
            payload: outgoing.payload,
            attempts: Vec::new(),
            outcome: Outcome::Pending,
            answer: Value::Null,
            id,
            lane: outgoing.lane,
            copies,
        });
        if is_held {
            state.deliveries.held.push(id);
            continue;
        }
        for _ in 0..copies {
            tell(shared, state, id, "");
        }
    }
}

/// Tries to tell something now.
pub(crate) fn tell(shared: &Arc<Shared>, state: &mut State, id: usize, reason: &'static str) {
    if state.deliveries.addresses.is_empty() {
        sockets::tell(shared, state, id, reason);
    } else {
        http::queue(shared, state, id, reason);
    }
}

/// Notes that something was acknowledged, and says what its answer says.
pub(crate) fn acknowledge(state: &mut State, id: usize, attempt: usize, answer: &Value) {
    let delivery = state.deliveries.get(id);
    let tried = &mut delivery.attempts[attempt];
    tried.acknowledged_after = Some(tried.at.elapsed());
    tried.is_over = true;
    delivery.outcome = Outcome::Acknowledged;
    delivery.answer = answer.clone();
    let kind = delivery.kind;
    let url = delivery.payload["response_url"]
        .as_str()
        .unwrap_or_default();
    let key = url.split_once("/response/").map(|(_, key)| key.to_owned());
    let Some(fields) = answer.as_object().filter(|fields| !fields.is_empty()) else {
        return;
    };
    let url = key.and_then(|key| state.responses.get(&key).cloned());
    if let (OutgoingKind::Command, Some(url)) = (kind, url) {
        // What is wrong with it is noted where it is checked.
        let _ = responses::answer(state, &url, fields);
    }
}

/// Tries again after a try that failed, as long as Slack would.
pub(crate) fn fail(
    shared: &Arc<Shared>,
    state: &mut State,
    id: usize,
    attempt: usize,
    reason: &'static str,
) {
    let retries = state.waits.retries.clone();
    let delivery = state.deliveries.get(id);
    let tried = &mut delivery.attempts[attempt];
    if std::mem::replace(&mut tried.is_over, true) || delivery.outcome != Outcome::Pending {
        return;
    }
    let wait = match delivery.kind {
        OutgoingKind::Event => retries.get(delivery.attempts.len() - 1),
        OutgoingKind::Interaction | OutgoingKind::Command => None,
    };
    let Some(wait) = wait.copied() else {
        delivery.outcome = Outcome::GivenUp;
        let what = format!(
            "not acknowledged, {reason}: {}",
            crate::state::brief(&delivery.payload)
        );
        state.violate(what);
        return;
    };
    let shared = Arc::clone(shared);
    tokio::spawn(async move {
        tokio::time::sleep(wait).await;
        let again = Arc::clone(&shared);
        shared.change(|state| {
            if state.deliveries.get(id).outcome == Outcome::Pending {
                tell(&again, state, id, reason);
            }
        });
    });
}
