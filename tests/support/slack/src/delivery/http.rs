//! Delivers to an app over HTTP: the Events API, interactions and slash commands, signed.

use std::sync::Arc;

use axum::body::Bytes;
use axum::http::Request;
use http_body_util::{BodyExt, Full};
use serde_json::Value;
use tokio::sync::mpsc;

use super::{Addresses, acknowledge, fail};
use crate::ids::SIGNING_SECRET;
use crate::outgoing::OutgoingKind;
use crate::signature::sign;
use crate::state::{HttpClient, SharedState, State};

/// Puts a delivery into its lane: deliveries of a lane are sent one after the other, retries in
/// parallel.
pub(super) fn queue(shared: &Arc<SharedState>, state: &mut State, id: usize, reason: &'static str) {
    if !reason.is_empty() {
        tokio::spawn(post(Arc::clone(shared), id, reason));
        return;
    }
    let lane = state.deliveries.get(id).lane.clone();
    let lanes = &mut state.deliveries.lanes;
    let sender = lanes
        .entry(lane)
        .or_insert_with(|| run_lane(Arc::clone(shared)));
    // Its task runs as long as the sender exists.
    let _ = sender.send(id);
}

fn run_lane(shared: Arc<SharedState>) -> mpsc::UnboundedSender<usize> {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Some(id) = receiver.recv().await {
            post(Arc::clone(&shared), id, "").await;
        }
    });
    sender
}

/// Returns the body of a request, and its content type.
pub(crate) fn body_of(kind: OutgoingKind, payload: &Value) -> (String, &'static str) {
    let form = |pairs: &[(&str, String)]| {
        let mut form = url::form_urlencoded::Serializer::new(String::new());
        form.extend_pairs(pairs);
        (form.finish(), "application/x-www-form-urlencoded")
    };
    match kind {
        OutgoingKind::Event => (payload.to_string(), "application/json"),
        OutgoingKind::Interaction => form(&[("payload", payload.to_string())]),
        OutgoingKind::Command => {
            let fields = payload.as_object().into_iter().flatten();
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let fields = fields.map(|(name, value)| (name.as_str(), text(value)));
            form(&fields.collect::<Vec<_>>())
        }
    }
}

fn address(addresses: &Addresses, kind: OutgoingKind) -> String {
    match kind {
        OutgoingKind::Event => addresses.events.clone(),
        OutgoingKind::Interaction => addresses.interactions.clone(),
        OutgoingKind::Command => addresses.commands.clone(),
    }
}

/// Makes one attempt.
async fn post(shared: Arc<SharedState>, id: usize, reason: &'static str) {
    let (attempt, request, wait) = shared.change(|state| {
        let attempt = state.deliveries.begin(id, reason, None);
        let addresses = state.deliveries.replica();
        let delivery = state.deliveries.get(id);
        let (body, kind) = body_of(delivery.kind, &delivery.payload);
        let timestamp = chrono::Utc::now().timestamp().to_string();
        let mut request = Request::post(address(&addresses, delivery.kind))
            .header("content-type", kind)
            .header("user-agent", "Slackbot 1.0 (+https://api.slack.com/robots)")
            .header("x-slack-signature", sign(SIGNING_SECRET, &timestamp, &body))
            .header("x-slack-request-timestamp", timestamp);
        if attempt > 0 {
            request = request
                .header("x-slack-retry-num", attempt.to_string())
                .header("x-slack-retry-reason", reason);
        }
        let request = request
            .body(Full::from(body))
            .expect("an address that a test gave");
        (attempt, request, state.waits.acknowledgement)
    });
    let answered = tokio::time::timeout(wait, answer(&shared.http, request)).await;
    let again = Arc::clone(&shared);
    shared.change(|state| conclude(&again, state, id, attempt, answered.ok()));
}

/// An app's response: status, whether it forbids retries, body.
pub(crate) type AppResponse = (u16, bool, String);

/// Why there was no response, in Slack's words.
type Silence = &'static str;

pub(crate) async fn answer(
    client: &HttpClient,
    request: Request<Full<Bytes>>,
) -> Result<AppResponse, Silence> {
    let response = client.request(request).await.map_err(|error| {
        if error.is_connect() {
            "connection_failed"
        } else {
            "unknown_error"
        }
    })?;
    let status = response.status().as_u16();
    let is_final = response
        .headers()
        .get("x-slack-no-retry")
        .is_some_and(|value| value == "1");
    let body = response
        .into_body()
        .collect()
        .await
        .map_err(|_| "unknown_error")?;
    let body = String::from_utf8_lossy(&body.to_bytes()).into_owned();
    Ok((status, is_final, body))
}

fn conclude(
    shared: &Arc<SharedState>,
    state: &mut State,
    id: usize,
    attempt: usize,
    answered: Option<Result<AppResponse, Silence>>,
) {
    let tried = &mut state.deliveries.get(id).attempts[attempt];
    let reason = match answered {
        Some(Ok((status, _, body))) if (200..300).contains(&status) => {
            tried.status = Some(status);
            let answer = body_answer(&body);
            return acknowledge(state, id, attempt, &answer);
        }
        Some(Ok((status, is_final, _))) => {
            tried.status = Some(status);
            if is_final {
                tried.is_over = true;
                state.deliveries.get(id).outcome = super::DeliveryStatus::GivenUp;
                return;
            }
            "http_error"
        }
        Some(Err(silence)) => silence,
        None => "http_timeout",
    };
    fail(shared, state, id, attempt, reason);
}

/// Parses the response to a command: a message, or plain text.
fn body_answer(body: &str) -> Value {
    if body.trim().is_empty() {
        return Value::Null;
    }
    match serde_json::from_str(body) {
        Ok(answer @ Value::Object(_)) => answer,
        Ok(_) | Err(_) => serde_json::json!({ "text": body }),
    }
}
