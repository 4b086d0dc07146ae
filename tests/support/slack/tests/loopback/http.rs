//! The Events API over HTTP, checked with the client crate's own verifier.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use loopback_slack::{
    Addresses, Answered, DeliveryStatus, DeliveryTimings, Knock, SIGNING_SECRET, Slack, SlackApp,
};
use serde_json::Value;
use slack_morphism::signature_verifier::SlackEventSignatureVerifier;

/// An app over HTTP, which records what it receives and answers with the given statuses, then with
/// 200.
#[derive(Default)]
struct HttpAppState {
    told: Vec<(String, HeaderMap)>,
    statuses: Vec<u16>,
    is_stuck: bool,
}

#[derive(Clone)]
pub(crate) struct OverHttp {
    kept: Arc<Mutex<HttpAppState>>,
    url: String,
}

impl OverHttp {
    pub(crate) async fn start(slack: &Slack) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/slack", listener.local_addr().unwrap());
        let app = Self {
            kept: Arc::default(),
            url,
        };
        let router = Router::new()
            .route("/slack", post(told))
            .with_state(app.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        slack.tell_over_http(app.addresses());
        app
    }

    fn addresses(&self) -> Addresses {
        let url = self.url.clone();
        Addresses {
            events: url.clone(),
            interactions: url.clone(),
            commands: url,
        }
    }

    /// Returns the received events, in order.
    pub(crate) fn events(&self) -> Vec<Value> {
        let kept = self.kept.lock().unwrap();
        let told = kept.told.iter();
        told.map(|(body, _)| serde_json::from_str::<Value>(body).unwrap()["event"].clone())
            .collect()
    }

    fn header(&self, at: usize, name: &str) -> Option<String> {
        let kept = self.kept.lock().unwrap();
        let value = kept.told[at].1.get(name)?;
        value.to_str().ok().map(str::to_owned)
    }
}

async fn told(
    State(app): State<OverHttp>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<String, StatusCode> {
    let body = String::from_utf8(body.to_vec()).unwrap();
    let header = |name: &str| {
        headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    };
    let verifier = SlackEventSignatureVerifier::new(&SIGNING_SECRET.into());
    let (signature, timestamp) = (
        header("x-slack-signature"),
        header("x-slack-request-timestamp"),
    );
    verifier
        .verify(signature, &body, timestamp)
        .map_err(|_| StatusCode::UNAUTHORIZED)?;
    let (status, is_stuck) = {
        let mut kept = app.kept.lock().unwrap();
        kept.told.push((body.clone(), headers.clone()));
        (kept.statuses.pop(), kept.is_stuck)
    };
    if is_stuck {
        std::future::pending::<()>().await;
    }
    if let Some(status) = status {
        return Err(StatusCode::from_u16(status).unwrap());
    }
    let event: Value = serde_json::from_str(&body).unwrap_or_default();
    let is_command = body.contains("command=%2Fmuninn");
    Ok(match event["challenge"].as_str() {
        Some(challenge) => challenge.to_owned(),
        None if is_command => "Working on it".to_owned(),
        None => String::new(),
    })
}

#[tokio::test]
async fn an_event_is_signed_and_told_again_until_it_is_acknowledged() {
    let slack = Slack::with(SlackApp {
        socket_mode: false,
        ..SlackApp::default()
    })
    .await;
    let app = OverHttp::start(&slack).await;
    slack.set_waits(DeliveryTimings::default().faster(1_000));
    app.kept.lock().unwrap().statuses = vec![503, 500];
    let general = slack.person("Ann").in_channel(&slack.channel("general"));
    general.say("Good morning");
    slack.all_told().await;
    let told = &slack.deliveries()[0];
    assert_eq!(told.outcome, DeliveryStatus::Acknowledged);
    let statuses: Vec<_> = told.attempts.iter().map(|attempt| attempt.status).collect();
    assert_eq!(statuses, [Some(500), Some(503), Some(200)]);
    assert!(told.acknowledged_after().is_some());
    assert_eq!(app.header(0, "x-slack-retry-num"), None);
    assert_eq!(app.header(2, "x-slack-retry-num").as_deref(), Some("2"));
    assert_eq!(
        app.header(2, "x-slack-retry-reason").as_deref(),
        Some("http_error")
    );
    slack.finish();
}

#[tokio::test]
async fn what_is_never_acknowledged_is_a_violation() {
    let slack = Slack::start().await;
    let app = OverHttp::start(&slack).await;
    let waits = DeliveryTimings {
        acknowledgement: Duration::from_millis(50),
        ..DeliveryTimings::default()
    };
    slack.set_waits(waits.faster(10_000));
    app.kept.lock().unwrap().is_stuck = true;
    let general = slack.person("Ann").in_channel(&slack.channel("general"));
    general.say("Good morning");
    slack.all_told().await;
    let told = &slack.deliveries()[0];
    assert_eq!(told.outcome, DeliveryStatus::GivenUp);
    assert_eq!(told.attempts.len(), 4);
    assert_eq!(told.attempts[3].reason, "http_timeout");
    let violations = slack.take_violations();
    assert!(
        violations[0].starts_with("not acknowledged, http_timeout"),
        "{violations:?}"
    );
    slack.finish();
}

#[tokio::test]
async fn requests_that_slack_would_not_send_are_sent_on_demand() {
    let slack = Slack::start().await;
    let app = OverHttp::start(&slack).await;
    let challenge = Knock::url_verification("raven");
    assert_eq!(
        slack.knock(&app.url, &challenge).await,
        (200, "raven".to_owned())
    );
    let bad = Knock::text("{}").signed_as("v0=00");
    assert_eq!(slack.knock(&app.url, &bad).await.0, 401);
    assert_eq!(
        slack.knock(&app.url, &Knock::text("{}").unsigned()).await.0,
        401
    );
    let stale = Knock::text("{}").aged(600);
    assert_eq!(slack.knock(&app.url, &stale).await.0, 401);
    let retry = Knock::text("{}").retry(1, "http_timeout");
    assert_eq!(slack.knock(&app.url, &retry).await.0, 200);
    assert_eq!(app.header(1, "x-slack-retry-num").as_deref(), Some("1"));
    slack.finish();
}

#[tokio::test]
async fn a_command_is_a_form_and_its_answer_is_seen_by_one() {
    let slack = Slack::start().await;
    let _app = OverHttp::start(&slack).await;
    let general = slack.person("Ann").in_channel(&slack.channel("general"));
    let answered = general.slash("/muninn", "ask who & why").await;
    assert!(matches!(answered, Answered::Acknowledged(_)));
    assert!(general.hears("Working on it").await.is_ephemeral);
    slack.finish();
}

#[tokio::test]
async fn replicas_are_told_in_turn() {
    let slack = Slack::start().await;
    let (one, other) = (OverHttp::start(&slack).await, OverHttp::start(&slack).await);
    slack.balance(vec![one.addresses(), other.addresses()]);
    slack.repeat_events(1);
    let general = slack.person("Ann").in_channel(&slack.channel("general"));
    general.say("Good morning");
    // Each replica received one of the event's two copies.
    slack.all_told().await;
    assert_eq!(one.events(), other.events());
    assert_eq!(one.events().len(), 1);
    slack.finish();
}
