//! Socket Mode frame by frame, without a client library.

use std::time::Duration;

use futures::{SinkExt, StreamExt};
use loopback_slack::{APP_TOKEN, Answered, DeliveryStatus, DeliveryTimings, Slack, TIMEOUT};
use serde_json::{Value, json};
use slack_morphism::prelude::*;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use crate::client::client;

/// A connection, frame by frame.
pub(crate) struct RawWebSocket(WebSocketStream<MaybeTlsStream<TcpStream>>);

async fn address(slack: &Slack) -> String {
    let (client, token) = (
        client(&slack.api_url()),
        SlackApiToken::new(APP_TOKEN.into()),
    );
    let session = client.open_session(&token);
    let opened = session
        .apps_connections_open(&SlackApiAppsConnectionOpenRequest::new())
        .await;
    opened.unwrap().url.0.to_string()
}

impl RawWebSocket {
    pub(crate) async fn open(slack: &Slack) -> Self {
        let (socket, _) = tokio_tungstenite::connect_async(address(slack).await)
            .await
            .unwrap();
        let mut line = Self(socket);
        let hello = line.hears().await;
        assert_eq!(hello["type"], "hello");
        line
    }

    /// Returns the next text; `None` when it is closed.
    async fn next(&mut self) -> Option<Value> {
        loop {
            let frame = tokio::time::timeout(TIMEOUT, self.0.next())
                .await
                .unwrap()?;
            match frame.ok()? {
                Message::Text(text) => return Some(serde_json::from_str(&text).unwrap()),
                Message::Close(_) => return None,
                _ => {}
            }
        }
    }

    pub(crate) async fn hears(&mut self) -> Value {
        self.next().await.expect("the line is open")
    }

    async fn says(&mut self, said: Value) {
        self.0.send(Message::text(said.to_string())).await.unwrap();
    }

    pub(crate) async fn acknowledges(&mut self, envelope: &Value) {
        self.says(json!({ "envelope_id": envelope["envelope_id"] }))
            .await;
    }
}

#[tokio::test]
async fn what_is_not_acknowledged_in_time_is_told_to_another_connection() {
    let slack = Slack::start().await;
    let acknowledgement = Duration::from_millis(50);
    slack.set_waits(DeliveryTimings {
        acknowledgement,
        ..DeliveryTimings::default().faster(1_000)
    });
    let (mut one, mut other) = (
        RawWebSocket::open(&slack).await,
        RawWebSocket::open(&slack).await,
    );
    slack
        .person("Ann")
        .in_channel(&slack.channel("general"))
        .say("Hello");
    let (first, again) = tokio::select! {
        first = one.hears() => (first, other.hears().await),
        first = other.hears() => (first, one.hears().await),
    };
    assert_eq!(first["payload"]["event_id"], again["payload"]["event_id"]);
    assert_ne!(first["envelope_id"], again["envelope_id"]);
    assert_eq!(
        (&first["retry_attempt"], &again["retry_attempt"]),
        (&json!(0), &json!(1))
    );
    assert_eq!(again["retry_reason"], "timeout");
    one.acknowledges(&again).await;
    slack.all_told().await;
    assert_eq!(slack.deliveries()[0].outcome, DeliveryStatus::Acknowledged);
    slack.finish();
}

#[tokio::test]
async fn envelopes_are_acknowledged_once_and_by_their_name() {
    let slack = Slack::start().await;
    let mut line = RawWebSocket::open(&slack).await;
    slack
        .person("Ann")
        .in_channel(&slack.channel("general"))
        .say("Hello");
    let told = line.hears().await;
    line.acknowledges(&told).await;
    line.acknowledges(&told).await;
    line.says(json!({ "envelope_id": "unknown" })).await;
    line.says(json!({ "envelope_id": told["envelope_id"], "payload": { "text": "no" } }))
        .await;
    // When the next event is acknowledged, the server has read the frames before it.
    slack.tell_event(json!({ "type": "tokens_revoked" }));
    let told = line.hears().await;
    line.acknowledges(&told).await;
    slack.all_told().await;
    let violations = slack.take_violations();
    let told: Vec<&str> = violations
        .iter()
        .filter_map(|told| told.split(": ").nth(1))
        .collect();
    assert_eq!(
        told,
        [
            "acknowledged twice",
            "no such envelope",
            "acknowledged twice"
        ]
    );
    slack.finish();
}

#[tokio::test]
async fn an_address_is_good_for_one_connection_and_ten_are_the_most() {
    let slack = Slack::start().await;
    let url = address(&slack).await;
    let (first, _) = tokio_tungstenite::connect_async(&url).await.unwrap();
    assert!(tokio_tungstenite::connect_async(&url).await.is_err());
    let violations = slack.take_violations();
    assert!(
        violations[0].contains("good for one connection"),
        "{violations:?}"
    );
    let mut lines = vec![RawWebSocket(first)];
    for _ in 1..10 {
        lines.push(RawWebSocket::open(&slack).await);
    }
    let (one_too_many, _) = tokio_tungstenite::connect_async(address(&slack).await)
        .await
        .unwrap();
    let refusal = RawWebSocket(one_too_many).hears().await;
    assert_eq!(
        (&refusal["type"], &refusal["reason"]),
        (&json!("disconnect"), &json!("too_many_websockets"))
    );
    assert_eq!(slack.connections(), 10);
    slack.finish();
}

#[tokio::test]
async fn a_refresh_warns_then_closes_and_tells_nothing_new_meanwhile() {
    let slack = Slack::start().await;
    slack.set_waits(DeliveryTimings::default().faster(20));
    let mut old = RawWebSocket::open(&slack).await;
    slack.disconnect_sockets("refresh_requested");
    let warning = old.hears().await;
    assert_eq!(
        (&warning["type"], &warning["reason"]),
        (&json!("disconnect"), &json!("refresh_requested"))
    );
    let general = slack.person("Ann").in_channel(&slack.channel("general"));
    general.say("Meanwhile");
    // Nobody is connected to receive the command.
    assert_eq!(general.slash("/muninn", "help").await, Answered::Failed);
    let mut new = RawWebSocket::open(&slack).await;
    let told = new.hears().await;
    assert_eq!(told["payload"]["event"]["text"], "Meanwhile");
    new.acknowledges(&told).await;
    assert_eq!(old.next().await, None);
    slack.all_told().await;
    slack.finish();
}
