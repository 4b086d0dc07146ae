//! A proxy in front of a homeserver that loses answers, as one with too little patience does.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use matrix_sdk::reqwest::Client;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::Notify;

use super::keys::{answer, pass_on};
use super::timeout::TIMEOUT;

const FIVE_HOURS_MS: i64 = 5 * 60 * 60 * 1_000;

/// A proxy that passes messages on and may lose what the homeserver answers.
#[derive(Clone, Debug)]
pub struct LosingProxy {
    address: String,
    homeserver: String,
    client: Client,
    loses: Arc<AtomicBool>,
    lost: Arc<Notify>,
    /// Number of requests for an event that are still refused.
    hidden: Arc<AtomicUsize>,
    /// Number of requests for the members of a room that are still refused.
    without_members: Arc<AtomicUsize>,
    /// As for an event, as if the session was not accepted.
    unauthorized: Arc<AtomicUsize>,
    /// Number of requests of any kind that are still refused.
    down: Arc<AtomicUsize>,
    /// Parts of the paths of requests that the homeserver does not know.
    unknown: Arc<Mutex<Vec<&'static str>>>,
    /// Whether rooms come without their summaries.
    hides_summaries: Arc<AtomicBool>,
    /// Whether requests for the members of a room are never answered.
    withholds_members: Arc<AtomicBool>,
    /// Number of messages with another transaction id, and one more; 0 while it passes them on.
    forgets: Arc<AtomicUsize>,
    /// Whether messages come as if their homeserver's clock was slow.
    slows_clocks: Arc<AtomicBool>,
}

impl LosingProxy {
    /// Starts one, which loses nothing yet.
    ///
    /// # Panics
    /// Panics when no port is free.
    pub async fn before(homeserver: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let proxy = Self {
            address: format!("http://{address}"),
            homeserver: homeserver.to_owned(),
            client: Client::new(),
            loses: Arc::default(),
            lost: Arc::default(),
            hidden: Arc::default(),
            without_members: Arc::default(),
            unauthorized: Arc::default(),
            down: Arc::default(),
            unknown: Arc::default(),
            hides_summaries: Arc::default(),
            withholds_members: Arc::default(),
            forgets: Arc::default(),
            slows_clocks: Arc::default(),
        };
        let router = Router::new().fallback(serve).with_state(proxy.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        proxy
    }

    pub fn address(&self) -> &str {
        &self.address
    }

    /// Answers the next message with 504, after the homeserver took it.
    pub fn lose_next_answer(&self) {
        self.loses.store(true, Ordering::SeqCst);
    }

    /// Answers this many requests for an event with 503.
    pub fn hide_events(&self, number: usize) {
        self.hidden.store(number, Ordering::SeqCst);
    }

    /// Answers this many requests for the members of a room with 503.
    pub fn hide_members(&self, number: usize) {
        self.without_members.store(number, Ordering::SeqCst);
    }

    /// Whether all of them came.
    pub fn hid_members(&self) -> bool {
        self.without_members.load(Ordering::SeqCst) == 0
    }

    /// Answers this many requests for an event as if the session was not accepted.
    pub fn refuse_session_for_events(&self, number: usize) {
        self.unauthorized.store(number, Ordering::SeqCst);
    }

    /// Answers this many requests with 503, whatever they ask.
    pub fn is_down_for(&self, requests: usize) {
        self.down.store(requests, Ordering::SeqCst);
    }

    /// Answers requests whose path contains `part` as a homeserver does that does not know them.
    ///
    /// # Panics
    /// Panics when another test did.
    pub fn does_not_know(&self, part: &'static str) {
        self.unknown.lock().expect("no panic").push(part);
    }

    /// Leaves the summaries of rooms out of syncs from now on: names and numbers of members.
    pub fn hide_summaries(&self) {
        self.hides_summaries.store(true, Ordering::SeqCst);
    }

    /// Never answers requests for the members of a room from now on.
    pub fn withhold_members(&self) {
        self.withholds_members.store(true, Ordering::SeqCst);
    }

    /// Tells of messages from now on as if the clocks of their homeservers were five hours slow.
    pub fn slow_clocks(&self) {
        self.slows_clocks.store(true, Ordering::SeqCst);
    }

    /// Gives each message a transaction id of its own from now on, like a homeserver that recognises no repetition.
    pub fn forget_transactions(&self) {
        self.forgets.store(1, Ordering::SeqCst);
    }

    /// Returns the path of a message, with another transaction id if these are forgotten.
    fn with_transaction(&self, uri: &Uri) -> Uri {
        if self.forgets.load(Ordering::SeqCst) == 0 {
            return uri.clone();
        }
        let number = self.forgets.fetch_add(1, Ordering::SeqCst);
        format!("{uri}-{number}")
            .parse()
            .unwrap_or_else(|_| uri.clone())
    }

    /// Whether a request is one that the homeserver does not know.
    fn is_unknown(&self, path: &str) -> bool {
        let unknown = self.unknown.lock().expect("no panic");
        unknown.iter().any(|part| path.contains(part))
    }

    /// Whether all of them came.
    pub fn was_down(&self) -> bool {
        self.down.load(Ordering::SeqCst) == 0
    }

    /// Whether all of them came.
    pub fn hid_events(&self) -> bool {
        self.hidden.load(Ordering::SeqCst) + self.unauthorized.load(Ordering::SeqCst) == 0
    }

    /// Whether a request is one of those for an event of which so many are left.
    fn takes(left: &AtomicUsize, path: &str) -> bool {
        path.contains("/event/") && Self::is_one_of(left)
    }

    /// Whether a request is refused with 503.
    fn refuses(&self, path: &str) -> bool {
        Self::is_one_of(&self.down)
            || Self::takes(&self.hidden, path)
            || (path.ends_with("/members") && Self::is_one_of(&self.without_members))
    }

    /// Whether any are left, of which this takes one.
    fn is_one_of(left: &AtomicUsize) -> bool {
        let one_less = |number: usize| number.checked_sub(1);
        left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less)
            .is_ok()
    }

    /// Waits until an answer was lost.
    ///
    /// # Panics
    /// Panics when none is in time.
    pub async fn loses_it(&self) {
        let in_time = tokio::time::timeout(TIMEOUT, self.lost.notified()).await;
        assert!(in_time.is_ok(), "no message came");
    }
}

async fn serve(State(proxy): State<LosingProxy>, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, usize::MAX).await else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    if proxy.refuses(parts.uri.path()) {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    if parts.uri.path().ends_with("/members") && proxy.withholds_members.load(Ordering::SeqCst) {
        return std::future::pending().await;
    }
    if LosingProxy::takes(&proxy.unauthorized, parts.uri.path()) {
        let said = r#"{ "errcode": "M_UNKNOWN_TOKEN", "error": "not this time" }"#;
        let json = [(CONTENT_TYPE, "application/json")];
        return (StatusCode::UNAUTHORIZED, json, said).into_response();
    }
    if proxy.is_unknown(parts.uri.path()) {
        let said = r#"{ "errcode": "M_UNRECOGNIZED", "error": "Unrecognized request" }"#;
        let json = [(CONTENT_TYPE, "application/json")];
        return (StatusCode::NOT_FOUND, json, said).into_response();
    }
    if parts.uri.path().ends_with("/sync") {
        return sync(&proxy, &parts, body).await;
    }
    parts.uri = with_newer_address(&parts.uri);
    let is_message = parts.method == "PUT" && parts.uri.path().contains("/send/m.room.");
    if is_message {
        parts.uri = proxy.with_transaction(&parts.uri);
    }
    let is_lost = is_message && proxy.loses.swap(false, Ordering::SeqCst);
    let answered = answer(&proxy.client, &proxy.homeserver, &parts, body).await;
    if is_lost {
        proxy.lost.notify_one();
        return StatusCode::GATEWAY_TIMEOUT.into_response();
    }
    answered
}

/// Passes a sync on, and what the homeserver answers: without the summaries of rooms, or with the time of slow clocks.
async fn sync(proxy: &LosingProxy, parts: &Parts, body: Bytes) -> Response {
    let passed = pass_on(&proxy.client, &proxy.homeserver, parts, body).await;
    let Ok((status, body)) = passed else {
        return StatusCode::BAD_GATEWAY.into_response();
    };
    let json = [(CONTENT_TYPE, "application/json")];
    let hides_summaries = proxy.hides_summaries.load(Ordering::SeqCst);
    let slows_clocks = proxy.slows_clocks.load(Ordering::SeqCst);
    if !hides_summaries && !slows_clocks {
        return (status, json, body).into_response();
    }
    let mut told: Value = serde_json::from_slice(&body).unwrap_or_default();
    if let Some(Value::Object(rooms)) = told.pointer_mut("/rooms/join") {
        for room in rooms.values_mut() {
            if hides_summaries && let Some(room) = room.as_object_mut() {
                room.remove("summary");
            }
            if slows_clocks && let Some(Value::Array(events)) = room.pointer_mut("/timeline/events")
            {
                events.iter_mut().for_each(slow_clock);
            }
        }
    }
    (status, json, told.to_string()).into_response()
}

fn slow_clock(event: &mut Value) {
    let is_message = event["type"] == "m.room.message" || event["type"] == "m.room.encrypted";
    if let (true, Some(sent_at)) = (is_message, event["origin_server_ts"].as_i64()) {
        event["origin_server_ts"] = (sent_at - FIVE_HOURS_MS).into();
    }
}

/// The homeserver of the tests gives files at the newer address only; others at the older one.
fn with_newer_address(uri: &Uri) -> Uri {
    let (older, newer) = (
        "/_matrix/media/v3/download/",
        "/_matrix/client/v1/media/download/",
    );
    let uri_there = uri.to_string().replacen(older, newer, 1);
    uri_there.parse().unwrap_or_else(|_| uri.clone())
}
