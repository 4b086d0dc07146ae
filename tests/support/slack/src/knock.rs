//! Requests that Slack would not send to an app over HTTP: with an invalid signature, outdated, not
//! JSON.

use axum::http::Request;
use http_body_util::Full;
use serde_json::{Value, json};

use crate::delivery::http::{answer, body_of};
use crate::ids::SIGNING_SECRET;
use crate::outgoing::OutgoingKind;
use crate::server::Slack;
use crate::signature::sign;

/// A request to an app, made by a test. It is signed and current by default.
#[derive(Clone, Debug)]
pub struct Knock {
    body: String,
    media_type: &'static str,
    /// Seconds since it was signed; negative: in the future.
    age: i64,
    signature: Option<String>,
    is_signed: bool,
    retry: Option<(usize, &'static str)>,
}

impl Knock {
    fn new((body, media_type): (String, &'static str)) -> Self {
        let (age, signature, is_signed, retry) = (0, None, true, None);
        Self {
            body,
            media_type,
            age,
            signature,
            is_signed,
            retry,
        }
    }

    /// An outer event, such as one of [`Slack::deliveries`].
    pub fn event(payload: &Value) -> Self {
        Self::new(body_of(OutgoingKind::Event, payload))
    }

    /// An interaction.
    pub fn interaction(payload: &Value) -> Self {
        Self::new(body_of(OutgoingKind::Interaction, payload))
    }

    /// A slash command.
    pub fn command(payload: &Value) -> Self {
        Self::new(body_of(OutgoingKind::Command, payload))
    }

    /// Any body at all, as JSON.
    pub fn text(body: &str) -> Self {
        Self::new((body.to_owned(), "application/json"))
    }

    /// Returns Slack's request for a URL entered in the app's settings: the app answers with the
    /// challenge.
    pub fn url_verification(challenge: &str) -> Self {
        let token = "loopback-verification-token";
        let payload = json!({ "type": "url_verification", "token": token, "challenge": challenge });
        Self::event(&payload)
    }

    /// Signed with this instead of the right signature.
    #[must_use]
    pub fn signed_as(mut self, signature: &str) -> Self {
        self.signature = Some(signature.to_owned());
        self
    }

    /// Without the headers of a signature.
    #[must_use]
    pub fn unsigned(mut self) -> Self {
        self.is_signed = false;
        self
    }

    /// Signed so many seconds ago.
    #[must_use]
    pub fn aged(mut self, seconds: i64) -> Self {
        self.age = seconds;
        self
    }

    /// As the n-th retry, for this reason (`http_timeout`, `http_error`…).
    #[must_use]
    pub fn retry(mut self, number: usize, reason: &'static str) -> Self {
        self.retry = Some((number, reason));
        self
    }
}

impl Slack {
    /// Sends a request to `address`; returns status and body of the response.
    ///
    /// # Panics
    /// Panics when nobody answers.
    pub async fn knock(&self, address: &str, knock: &Knock) -> (u16, String) {
        let timestamp = (chrono::Utc::now().timestamp() - knock.age).to_string();
        let right = sign(SIGNING_SECRET, &timestamp, &knock.body);
        let mut request = Request::post(address).header("content-type", knock.media_type);
        if knock.is_signed {
            let signature = knock.signature.as_ref().unwrap_or(&right);
            request = request.header("x-slack-signature", signature);
            request = request.header("x-slack-request-timestamp", timestamp);
        }
        if let Some((number, reason)) = knock.retry {
            request = request.header("x-slack-retry-num", number.to_string());
            request = request.header("x-slack-retry-reason", reason);
        }
        let request = request
            .body(Full::from(knock.body.clone()))
            .expect("an address");
        let answered =
            tokio::time::timeout(crate::TIMEOUT, answer(&self.shared.http, request)).await;
        let answered = answered.expect("an answer in time").expect("an answer");
        (answered.0, answered.2)
    }
}
