//! The HTTP endpoint: signatures, clock skew, replays, unreadable requests.

use loopback_slack::{SIGNING_SECRET, sign};
use muninn_slack::EventDelivery;
use reqwest::{Client, StatusCode};

use crate::support::{EventTransport, SlackInstallation, app};

struct SlackEndpointFixture {
    home: SlackInstallation,
    client: Client,
    url: String,
}

impl SlackEndpointFixture {
    async fn new() -> (Self, muninn_platform::testing::EchoBot) {
        let home = SlackInstallation::by(EventTransport::Http, app()).await;
        let bot = home.start().await;
        let EventDelivery::Http { address, .. } = home.options.entrance else {
            panic!("over HTTP");
        };
        let url = format!("http://{address}/slack/events");
        let client = Client::new();
        (Self { home, client, url }, bot)
    }

    async fn post(&self, body: &str, signed_at: i64, signature: &str) -> (StatusCode, String) {
        let request = self
            .client
            .post(&self.url)
            .header("content-type", "application/json")
            .header("x-slack-request-timestamp", signed_at.to_string())
            .header("x-slack-signature", signature)
            .body(body.to_owned());
        let response = request.send().await.unwrap();
        (response.status(), response.text().await.unwrap())
    }

    async fn knock(&self, body: &str, age: i64) -> (StatusCode, String) {
        let at = chrono::Utc::now().timestamp() - age;
        let signature = sign(SIGNING_SECRET, &at.to_string(), body);
        self.post(body, at, &signature).await
    }
}

const EVENT: &str = r#"{"type":"event_callback","event_id":"Ev1","event":{"type":"message",
    "channel":"D1","channel_type":"im","user":"U1","ts":"1.0","text":"hello"}}"#;

#[tokio::test(flavor = "multi_thread")]
async fn only_slack_is_let_in() {
    let (door, bot) = SlackEndpointFixture::new().await;
    let now = chrono::Utc::now().timestamp();
    let forged = sign("another secret", &now.to_string(), EVENT);
    for signature in ["", "v0=00", &forged] {
        let (status, _) = door.post(EVENT, now, signature).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED, "{signature:?}");
    }
    // Another body with a valid signature.
    let good = sign(SIGNING_SECRET, &now.to_string(), EVENT);
    let (status, _) = door.post(&EVENT.replace("hello", "bye"), now, &good).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    // 300 seconds are the limit. What comes from the future gets younger on its way.
    for age in [301, -400] {
        let (status, _) = door.knock(EVENT, age).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED, "{age} s old");
    }
    assert!(bot.log().messages.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_taken_once_and_acknowledged_each_time() {
    let (door, bot) = SlackEndpointFixture::new().await;
    let now = chrono::Utc::now().timestamp();
    let body = r#"{"type":"event_callback","event_id":"Ev2","event":{"type":"new_thing"}}"#;
    let signature = sign(SIGNING_SECRET, &now.to_string(), body);
    let first = door.post(body, now, &signature).await;
    let second = door.post(body, now, &signature).await;
    assert_eq!((first.0, second.0), (StatusCode::OK, StatusCode::OK));
    assert!(bot.log().messages.is_empty());
    bot.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn slack_may_look_whether_somebody_is_there() {
    let (door, _bot) = SlackEndpointFixture::new().await;
    let challenge = r#"{"type":"url_verification","token":"x","challenge":"3eZbrw1aB"}"#;
    let answer = door.knock(challenge, 0).await;
    assert_eq!(answer, (StatusCode::OK, "3eZbrw1aB".to_owned()));
    for nonsense in ["no JSON", "{}", "[1]", "{\"type\":\"event_callback\"}"] {
        let (status, _) = door.knock(nonsense, 0).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{nonsense}");
    }
    let (status, _) = door.knock(&"x".repeat(2_000_000), 0).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_bot_did_not_take_slack_sends_again() {
    use muninn_platform::{Inbox, Platform as _};
    let home = SlackInstallation::by(EventTransport::Http, app()).await;
    // A bot that accepts nothing.
    let (inbox, arrivals) = Inbox::new(1);
    let shutdown = tokio_util::sync::CancellationToken::new();
    let slack = muninn_slack::Slack::new(home.options.clone());
    let token = shutdown.clone();
    let running = tokio::spawn(async move { slack.run(inbox, token).await });
    let EventDelivery::Http { address, .. } = home.options.entrance else {
        panic!("over HTTP");
    };
    crate::support::listens(address).await;
    let door = SlackEndpointFixture {
        url: format!("http://{address}/slack/events"),
        client: Client::new(),
        home,
    };
    let (status, _) = door.knock(EVENT, 0).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    drop(arrivals);
    shutdown.cancel();
    running.await.unwrap().unwrap();
    let _ = door.home.slack.take_violations();
}
