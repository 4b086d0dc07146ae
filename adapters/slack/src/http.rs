//! Receives events over HTTP (Events API).
//!
//! Every request is signed with a secret shared with Slack. A request that is older than five
//! minutes is refused. One that was taken before is acknowledged, and nothing else: Slack, or a load
//! balancer, repeats a request whose acknowledgement was lost.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use chrono::{DateTime, Utc};
use muninn_platform::{
    HttpLimits, InboxClosed, ONE_CONNECTION, PlatformError, SharedRecent, misconfigured, serve_http,
};
use reqwest::Url;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use slack_morphism::signature_verifier::SlackEventSignatureVerifier;
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::event::Push;
use crate::gaps::Gaps;
use crate::inbound::{EventOutcome, SlackEventHandler};

/// Maximum bytes of a request; Slack's are far shorter.
const LONGEST_BODY: usize = 1024 * 1024;

/// Number of remembered signatures, against replays. No app gets more within the five minutes for
/// which a signature is valid: Slack allows 30,000 events per hour.
const SIGNATURES: usize = 8_192;

struct SlackHttpState {
    inbound: SlackEventHandler,
    verifier: SlackEventSignatureVerifier,
    taken: SharedRecent<String, ()>,
    gaps: Arc<Gaps>,
}

/// Listens until `shutdown` is cancelled. `ready` is called when the address is bound.
pub(crate) async fn listen(
    inbound: &SlackEventHandler,
    address: std::net::SocketAddr,
    secret: &SecretString,
    shutdown: &CancellationToken,
    ready: impl FnOnce(),
) -> Result<(), PlatformError> {
    let gaps = Gaps::new(inbound.hub.options.drops_after, Utc::now());
    let gaps = Arc::new(gaps);
    let gate = SlackHttpState {
        inbound: inbound.clone(),
        verifier: SlackEventSignatureVerifier::new(&secret.expose_secret().into()),
        taken: SharedRecent::new(SIGNATURES),
        gaps: Arc::clone(&gaps),
    };
    // One path would be enough for all of them; three are customary.
    let router = Router::new()
        .route("/slack/events", post(receive))
        .route("/slack/interactions", post(receive))
        .route("/slack/commands", post(receive))
        .layer(DefaultBodyLimit::max(LONGEST_BODY))
        .with_state(Arc::new(gate));
    let listener = TcpListener::bind(address).await;
    let listener = listener.map_err(|error| {
        misconfigured(format!(
            "SLACK_HTTP_ADDR {address} cannot be listened at: {error}"
        ))
    })?;
    ready();
    let _ends = read_gaps(inbound, gaps, shutdown);
    serve_http(listener, router, HttpLimits::default(), shutdown).await;
    Ok(())
}

/// Reads what Slack could not deliver, until `shutdown` is cancelled or the result is dropped.
fn read_gaps(
    inbound: &SlackEventHandler,
    gaps: Arc<Gaps>,
    shutdown: &CancellationToken,
) -> DropGuard {
    let ending = shutdown.child_token();
    let ends = ending.clone().drop_guard();
    let inbound = inbound.clone();
    inbound.hub.chores.clone().spawn(async move {
        match ending.run_until_cancelled(gaps.follow(&inbound)).await {
            // A bot that is ending accepts nothing; the next process reads it.
            Some(Ok(()) | Err(InboxClosed)) | None => {}
        }
    });
    ends
}

/// The content of a request with a valid signature.
enum RequestPayload {
    Push(Box<Push>),
    /// Slack verifies that the URL is ours.
    Challenge(String),
    /// Slack checks that the server is up.
    Knock,
    Nonsense,
}

async fn receive(
    State(gate): State<Arc<SlackHttpState>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let header = |name: &str| {
        let value = headers.get(name).and_then(|value| value.to_str().ok());
        value.unwrap_or_default().to_owned()
    };
    let signature = header(SlackEventSignatureVerifier::SLACK_SIGNED_HASH_HEADER);
    let signed_at = header(SlackEventSignatureVerifier::SLACK_SIGNED_TIMESTAMP);
    let Ok(body) = std::str::from_utf8(&body) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    if let Err(error) = gate.verifier.verify(&signature, body, &signed_at) {
        tracing::warn!(%error, "a request was not signed by Slack; check SLACK_SIGNING_SECRET");
        return StatusCode::UNAUTHORIZED.into_response();
    }
    if gate.taken.has(&signature) {
        tracing::debug!("a request came a second time");
        return StatusCode::OK.into_response();
    }
    let is_form = header(header::CONTENT_TYPE.as_str()).contains("form-urlencoded");
    let is_late = !header("x-slack-retry-num").is_empty();
    match read(body, is_form) {
        RequestPayload::Push(push) => {
            if let Push::RateLimited(since) = &*push {
                gate.record_dropped(*since);
            }
            match gate.inbound.take(*push, is_late).await {
                EventOutcome::Yes => {
                    gate.taken.insert(signature, ());
                    gate.record_push();
                    StatusCode::OK.into_response()
                }
                EventOutcome::No => StatusCode::SERVICE_UNAVAILABLE.into_response(),
            }
        }
        RequestPayload::Challenge(challenge) => challenge.into_response(),
        RequestPayload::Knock => StatusCode::OK.into_response(),
        RequestPayload::Nonsense => {
            tracing::warn!("a request of Slack cannot be read");
            StatusCode::BAD_REQUEST.into_response()
        }
    }
}

impl SlackHttpState {
    /// Records until when everything is known, unless something before this request is still to be
    /// read.
    fn record_push(&self) {
        let now = Utc::now();
        if let Some(since) = self.inbound.take_unrepeated(now) {
            tracing::warn!(%since, "Slack stopped sending events that were not taken in; what was said is read");
            self.record_dropped(since);
        }
        if self.gaps.record(now) {
            self.inbound.record_seen(now);
        }
    }

    /// Records that Slack dropped events since then, which are to be read.
    fn record_dropped(&self, since: DateTime<Utc>) {
        self.gaps.record_dropped(since, Utc::now());
        let seen_until = &self.inbound.hub.seen_until;
        // If this process ends before it read them, the next one does.
        if (seen_until.get(ONE_CONNECTION)).is_some_and(|seen| seen > since) {
            seen_until.record_seen(ONE_CONNECTION, since);
        }
    }
}

fn read(body: &str, is_form: bool) -> RequestPayload {
    if is_form {
        return read_form(body);
    }
    let Ok(payload) = serde_json::from_str::<Value>(body) else {
        return RequestPayload::Nonsense;
    };
    match (payload["type"].as_str(), payload["challenge"].as_str()) {
        (Some("url_verification"), Some(challenge)) => {
            RequestPayload::Challenge(challenge.to_owned())
        }
        _ => pushed(Push::event(&payload)),
    }
}

/// Slash commands are forms; interactions are JSON within a form.
fn read_form(body: &str) -> RequestPayload {
    let Ok(form) = Url::parse(&format!("form:?{body}")) else {
        return RequestPayload::Nonsense;
    };
    let mut fields = serde_json::Map::new();
    for (name, value) in form.query_pairs() {
        fields.insert(name.into_owned(), Value::String(value.into_owned()));
    }
    if fields.contains_key("ssl_check") {
        return RequestPayload::Knock;
    }
    let push = match fields.get("payload").and_then(Value::as_str) {
        Some(payload) => match serde_json::from_str::<Value>(payload) {
            Ok(payload) => Push::interaction(&payload),
            Err(_) => None,
        },
        None => Push::slash(&Value::Object(fields)),
    };
    pushed(push)
}

fn pushed(push: Option<Push>) -> RequestPayload {
    push.map_or(RequestPayload::Nonsense, |push| {
        RequestPayload::Push(Box::new(push))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_slack_posts_is_told_apart() {
        let event = r#"{"type":"event_callback","event_id":"Ev1","event":{"type":"new_thing"}}"#;
        let slash = "command=%2Fmuninn&text=why+not%3F&user_id=U1&channel_id=C1&trigger_id=1.2";
        let button = "payload=%7B%22type%22%3A%22block_actions%22%2C%22trigger_id%22%3A%221.2%22%2C%22user%22%3A%7B%22id%22%3A%22U1%22%7D%2C%22actions%22%3A%5B%7B%22action_id%22%3A%22x%22%7D%5D%7D";
        let closed =
            "payload=%7B%22type%22%3A%22view_closed%22%2C%22user%22%3A%7B%22id%22%3A%22U1%22%7D%7D";
        for (body, is_form, expected) in [
            (event, false, "event"),
            (
                r#"{"type":"url_verification","challenge":"c"}"#,
                false,
                "challenge",
            ),
            (
                r#"{"type":"app_rate_limited","minute_rate_limited":1518467820}"#,
                false,
                "dropped since 2018-02-12 20:37:00 UTC",
            ),
            (r#"{"type":"app_rate_limited"}"#, false, "other"),
            ("{}", false, "nonsense"),
            ("no JSON", false, "nonsense"),
            (slash, true, "slash why not?"),
            (button, true, "interaction"),
            (closed, true, "other"),
            ("payload=no", true, "nonsense"),
            ("ssl_check=1&token=x", true, "knock"),
            ("", true, "nonsense"),
        ] {
            let said = match read(body, is_form) {
                RequestPayload::Push(push) => match *push {
                    Push::Event(_) => "event".to_owned(),
                    Push::Slash(slash) => format!("slash {}", slash.text),
                    Push::Interaction(_) => "interaction".to_owned(),
                    Push::RateLimited(minute) => format!("dropped since {minute}"),
                    Push::Other => "other".to_owned(),
                },
                RequestPayload::Challenge(_) => "challenge".to_owned(),
                RequestPayload::Knock => "knock".to_owned(),
                RequestPayload::Nonsense => "nonsense".to_owned(),
            };
            assert_eq!(said, expected, "{body}");
        }
    }
}
