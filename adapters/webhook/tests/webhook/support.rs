//! A program with a URL for answers.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use chrono::Utc;
use muninn_platform::testing::{EchoBot, EchoMemory, free_address};
use muninn_webhook::{Webhook, WebhookOptions, sign};
use reqwest::{Client, Response};
use secrecy::SecretString;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;

pub(crate) const SECRET: &str = "a secret of some length";
pub(crate) const HEADER: &str = "muninn-signature";

/// Longer than anything takes, also on a loaded machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The bot's messages that the program has.
#[derive(Debug, Default)]
struct ReceivedPosts {
    /// Ids and texts, in the order of their first arrival.
    messages: Vec<(String, String)>,
    /// Everything that was posted.
    posted: Vec<Value>,
    /// Status codes for the next posts.
    statuses: VecDeque<u16>,
}

#[derive(Clone)]
struct Address {
    kept: Arc<Mutex<ReceivedPosts>>,
    changed: watch::Sender<()>,
}

/// A program, and the bot's options for it.
pub(crate) struct Program {
    address: Address,
    http: Client,
    pub(crate) options: WebhookOptions,
    pub(crate) memory: EchoMemory,
}

impl Program {
    pub(crate) async fn new() -> Self {
        // As in `main`.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let address = Address {
            kept: Arc::default(),
            changed: watch::Sender::default(),
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let answers = format!("http://{}/answers", listener.local_addr().unwrap());
        let router = Router::new()
            .route("/answers", post(receive))
            .with_state(address.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self {
            address,
            http: Client::new(),
            options: WebhookOptions {
                address: free_address(),
                secret: SECRET.into(),
                answer_url: answers.parse().unwrap(),
            },
            memory: EchoMemory::default(),
        }
    }

    pub(crate) fn start(&self) -> EchoBot {
        EchoBot::start(Webhook::new(self.options.clone()), &self.memory)
    }

    /// Posts a body with a header; waits until the bot listens.
    pub(crate) async fn post(&self, body: &str, header: &str) -> Response {
        self.post_with(body, &[(HEADER, header)]).await
    }

    async fn post_with(&self, body: &str, headers: &[(&'static str, &str)]) -> Response {
        let posted = async {
            loop {
                let address = format!("http://{}/messages", self.options.address);
                let mut request = self.http.post(address).body(body.to_owned());
                for (name, value) in headers {
                    request = request.header(*name, *value);
                }
                match request.send().await {
                    Ok(response) => return response,
                    // It is not listening yet, or was just killed.
                    Err(_) => tokio::task::yield_now().await,
                }
            }
        };
        tokio::time::timeout(TIMEOUT, posted).await.unwrap()
    }

    /// Signs and posts a request.
    pub(crate) async fn send(&self, content: &Value) -> Response {
        self.send_with(content, &[]).await
    }

    async fn send_with(&self, content: &Value, more: &[(&'static str, &str)]) -> Response {
        let body = content.to_string();
        let secret = SecretString::from(SECRET);
        let header = sign(&secret, Utc::now().timestamp(), body.as_bytes());
        let headers = [&[(HEADER, header.as_str())], more].concat();
        self.post_with(&body, &headers).await
    }

    /// Sends a message as part of a trace.
    pub(crate) async fn say_in_trace(&self, id: &str, text: &str, traceparent: &str) {
        let more = [("traceparent", traceparent)];
        let taken = self.send_with(&message(id, text), &more).await;
        assert_eq!(taken.status(), 202);
    }

    /// Sends a message, which is accepted.
    pub(crate) async fn say(&self, id: &str, text: &str) {
        let taken = self.send(&message(id, text)).await;
        assert_eq!(taken.status(), 202);
    }

    /// Sets the status codes for the next posts.
    pub(crate) fn answer_with(&self, statuses: &[u16]) {
        let mut kept = self.address.kept.lock().unwrap();
        kept.statuses.extend(statuses);
    }

    /// Returns the texts of the bot's messages.
    pub(crate) fn texts(&self) -> Vec<String> {
        let kept = self.address.kept.lock().unwrap();
        kept.messages.iter().map(|(_, text)| text.clone()).collect()
    }

    pub(crate) fn posted(&self) -> Vec<Value> {
        self.address.kept.lock().unwrap().posted.clone()
    }

    /// Waits until the bot's messages have these texts.
    pub(crate) async fn gets(&self, texts: &[&str]) {
        let mut changed = self.address.changed.subscribe();
        let got = async {
            while self.texts() != texts {
                changed.changed().await.unwrap();
            }
        };
        let waited = tokio::time::timeout(TIMEOUT, got).await;
        assert!(waited.is_ok(), "{:?} instead of {texts:?}", self.texts());
    }
}

/// Returns a message of Ann in the support channel.
pub(crate) fn message(id: &str, text: &str) -> Value {
    json!({ "id": id, "channel": "support", "conversation": "ticket-7",
        "author": { "id": "ann", "name": "Ann" }, "text": text })
}

async fn receive(State(address): State<Address>, headers: HeaderMap, body: Bytes) -> StatusCode {
    let Address { kept, changed } = address;
    let header = headers[HEADER].to_str().unwrap();
    let (time, _) = header["t=".len()..].split_once(',').unwrap();
    let time: i64 = time.parse().unwrap();
    assert!(time.abs_diff(Utc::now().timestamp()) < 60);
    assert_eq!(header, sign(&SECRET.into(), time, &body));
    let content: Value = serde_json::from_slice(&body).unwrap();
    let mut kept = kept.lock().unwrap();
    kept.posted.push(content.clone());
    if let Some(status) = kept.statuses.pop_front()
        && status != 200
    {
        return StatusCode::from_u16(status).unwrap();
    }
    let text = |name: &str| content[name].as_str().unwrap_or_default().to_owned();
    let id = text("message");
    match text("action").as_str() {
        "put" => match kept.messages.iter_mut().find(|(known, _)| *known == id) {
            Some((_, said)) => *said = text("text"),
            None => kept.messages.push((id, text("text"))),
        },
        "delete" => kept.messages.retain(|(known, _)| *known != id),
        "ping" => {}
        other => panic!("unexpected {other}"),
    }
    drop(kept);
    changed.send_replace(());
    StatusCode::OK
}
