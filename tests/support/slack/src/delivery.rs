//! Deliveries to the app: each with its attempts and acknowledgement.
//!
//! An event is retried until it is acknowledged within three seconds: at once, after a minute and
//! after five ("Retries" of the Events API page). Interactions and commands are sent once.

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
use crate::state::{SharedState, State};

/// Slack's waiting times; tests shorten them.
#[derive(Clone, Debug)]
pub struct DeliveryTimings {
    /// For an acknowledgement: 3 s.
    pub acknowledgement: Duration,
    /// Before each retry of an event: none, 1 min, 5 min.
    pub retries: Vec<Duration>,
    /// From `disconnect` to the closing of the connection: about 10 s.
    pub refresh: Duration,
}

impl Default for DeliveryTimings {
    fn default() -> Self {
        let seconds = |seconds: &[u64]| seconds.iter().copied().map(Duration::from_secs).collect();
        Self {
            acknowledgement: Duration::from_secs(3),
            retries: seconds(&[0, 60, 300]),
            refresh: Duration::from_secs(10),
        }
    }
}

impl DeliveryTimings {
    /// Divides all waiting times, except for acknowledgements.
    #[must_use]
    pub fn faster(mut self, times: u32) -> Self {
        self.retries.iter_mut().for_each(|wait| *wait /= times);
        self.refresh /= times;
        self
    }
}

/// One attempt of a delivery.
#[derive(Clone, Debug)]
pub struct DeliveryAttempt {
    pub at: Instant,
    /// The reason of a retry; empty for the first attempt.
    pub reason: &'static str,
    /// From sending to acknowledgement; `None` without one.
    pub acknowledged_after: Option<Duration>,
    /// The HTTP status; none over a socket.
    pub status: Option<u16>,
    /// The connection it went over; none over HTTP.
    pub(crate) connection: Option<usize>,
    pub(crate) is_over: bool,
}

/// The state of a delivery.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum DeliveryStatus {
    /// In flight, or waiting for a connection or the next attempt.
    Pending,
    Acknowledged,
    /// Not acknowledged, and not retried any more.
    GivenUp,
}

/// A delivery to the app.
#[derive(Clone, Debug)]
pub struct Delivery {
    pub kind: OutgoingKind,
    /// The outer event, the interaction or the command.
    pub payload: Value,
    pub attempts: Vec<DeliveryAttempt>,
    pub outcome: DeliveryStatus,
    /// The content of the acknowledgement; null without any.
    pub answer: Value,
    pub(crate) id: usize,
    pub(crate) lane: String,
    /// Number of copies that are sent, besides retries.
    pub(crate) copies: usize,
}

impl Delivery {
    /// Whether every copy was sent, and nothing is pending.
    pub(crate) fn is_over(&self) -> bool {
        let are_over = self.attempts.iter().all(|attempt| attempt.is_over);
        let is_told = self.attempts.len() >= self.copies && are_over;
        match self.outcome {
            DeliveryStatus::Pending => false,
            DeliveryStatus::Acknowledged => is_told,
            DeliveryStatus::GivenUp => true,
        }
    }

    /// Returns the event's id; empty for other deliveries.
    pub fn event_id(&self) -> &str {
        self.payload["event_id"].as_str().unwrap_or_default()
    }

    /// Returns the event's type; empty for other deliveries.
    pub fn event_type(&self) -> &str {
        self.payload["event"]["type"].as_str().unwrap_or_default()
    }

    /// Returns how long the first acknowledgement took.
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
    /// The addresses of the replicas behind the load balancer; empty: Socket Mode.
    pub(crate) addresses: Vec<Addresses>,
    pub(crate) turn: usize,
    /// How many additional times each event is delivered.
    pub(crate) repeats: usize,
    /// Deliveries that wait for a connection.
    pub(crate) waiting: Vec<usize>,
    /// Delivery and attempt by envelope.
    pub(crate) envelopes: BTreeMap<String, (usize, usize)>,
    pub(crate) lanes: BTreeMap<String, mpsc::UnboundedSender<usize>>,
    /// Whether events are held back.
    pub(crate) is_held: bool,
    pub(crate) held: Vec<usize>,
}

impl Deliveries {
    pub(crate) fn get(&mut self, id: usize) -> &mut Delivery {
        let mut all = self.all.iter_mut();
        all.find(|delivery| delivery.id == id)
            .expect("a delivery that was made")
    }

    /// Returns the next replica.
    pub(crate) fn replica(&mut self) -> Addresses {
        self.turn += 1;
        self.addresses[self.turn % self.addresses.len()].clone()
    }

    /// Begins an attempt and returns its number.
    pub(crate) fn begin(
        &mut self,
        id: usize,
        reason: &'static str,
        connection: Option<usize>,
    ) -> usize {
        let delivery = self.get(id);
        delivery.attempts.push(DeliveryAttempt {
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

/// Sends what is in the outbox.
pub(crate) fn send_off(shared: &Arc<SharedState>, state: &mut State) {
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
            outcome: DeliveryStatus::Pending,
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

/// Attempts a delivery now.
pub(crate) fn tell(shared: &Arc<SharedState>, state: &mut State, id: usize, reason: &'static str) {
    if state.deliveries.addresses.is_empty() {
        sockets::tell(shared, state, id, reason);
    } else {
        http::queue(shared, state, id, reason);
    }
}

/// Records an acknowledgement, and applies its content.
pub(crate) fn acknowledge(state: &mut State, id: usize, attempt: usize, answer: &Value) {
    let delivery = state.deliveries.get(id);
    let tried = &mut delivery.attempts[attempt];
    tried.acknowledged_after = Some(tried.at.elapsed());
    tried.is_over = true;
    delivery.outcome = DeliveryStatus::Acknowledged;
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
        // Errors in it are recorded where it is checked.
        let _ = responses::answer(state, &url, fields);
    }
}

/// Retries after a failed attempt, as long as Slack would.
pub(crate) fn fail(
    shared: &Arc<SharedState>,
    state: &mut State,
    id: usize,
    attempt: usize,
    reason: &'static str,
) {
    let retries = state.waits.retries.clone();
    let delivery = state.deliveries.get(id);
    let tried = &mut delivery.attempts[attempt];
    if std::mem::replace(&mut tried.is_over, true) || delivery.outcome != DeliveryStatus::Pending {
        return;
    }
    let wait = match delivery.kind {
        OutgoingKind::Event => retries.get(delivery.attempts.len() - 1),
        OutgoingKind::Interaction | OutgoingKind::Command => None,
    };
    let Some(wait) = wait.copied() else {
        delivery.outcome = DeliveryStatus::GivenUp;
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
            if state.deliveries.get(id).outcome == DeliveryStatus::Pending {
                tell(&again, state, id, reason);
            }
        });
    });
}
