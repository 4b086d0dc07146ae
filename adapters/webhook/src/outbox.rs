//! Posts to the program, with retries until it is accepted or given up.

use std::time::Duration;

use chrono::Utc;
use muninn_platform::{PlatformError, RetryBudget, in_one_line, misconfigured};
use reqwest::header::{CONTENT_TYPE, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode, Url};
use secrecy::SecretString;
use serde_json::Value;
use tokio_util::task::TaskTracker;

use crate::options::WebhookOptions;
use crate::signature::{self, sign};

/// Maximum time of an attempt.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(20);

/// How long the program may be unreachable before something is given up.
const UNREACHABLE_TIMEOUT: Duration = Duration::from_secs(120);

/// Why something was not accepted.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SendError {
    /// A retry will not succeed.
    #[error("it answers with status {0}")]
    Refused(u16),
    #[error("{0}")]
    Away(String),
}

/// The result of an attempt.
enum Attempt {
    UsedSignatures,
    Refused(u16),
    /// A retry may succeed, after this pause if the program asked for one.
    Away(String, Option<Duration>),
}

#[derive(Debug)]
pub(crate) struct WebhookOutbox {
    http: Client,
    address: Url,
    secret: SecretString,
    /// Background tasks, which only the end waits for.
    pub(crate) chores: TaskTracker,
}

impl WebhookOutbox {
    pub(crate) fn new(options: &WebhookOptions) -> Result<Self, PlatformError> {
        // No redirects: the signature would go to somebody else.
        let http = Client::builder()
            .timeout(ATTEMPT_TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| misconfigured(format!("no HTTP client: {error}")))?;
        Ok(Self {
            http,
            address: options.answer_url.clone(),
            secret: options.secret.clone(),
            chores: TaskTracker::new(),
        })
    }

    /// Posts until it is accepted, or given up.
    pub(crate) async fn send(&self, content: &Value) -> Result<(), SendError> {
        let mut retries = RetryBudget::from_now(UNREACHABLE_TIMEOUT);
        loop {
            let (reason, rest) = match self.attempt(content).await {
                Attempt::UsedSignatures => return Ok(()),
                Attempt::Refused(status) => return Err(SendError::Refused(status)),
                Attempt::Away(reason, rest) => (reason, rest),
            };
            let pause = match rest {
                Some(rest) => retries.pause_for(rest),
                None => retries.pause(),
            };
            match pause {
                Some(pause) => tokio::time::sleep(pause).await,
                None => return Err(SendError::Away(reason)),
            }
        }
    }

    /// Posts once, without retries.
    pub(crate) async fn send_once(&self, content: &Value) -> Result<(), SendError> {
        match self.attempt(content).await {
            Attempt::UsedSignatures => Ok(()),
            Attempt::Refused(status) => Err(SendError::Refused(status)),
            Attempt::Away(reason, _) => Err(SendError::Away(reason)),
        }
    }

    async fn attempt(&self, content: &Value) -> Attempt {
        let body = content.to_string();
        let signed = sign(&self.secret, Utc::now().timestamp(), body.as_bytes());
        let request = self
            .http
            .post(self.address.clone())
            .header(signature::HEADER, signed)
            .header(CONTENT_TYPE, "application/json")
            .body(body);
        match request.send().await {
            Ok(response) => outcome(&response),
            // The URL may contain a password.
            Err(error) => Attempt::Away(in_one_line(&error.without_url()), None),
        }
    }
}

fn outcome(response: &Response) -> Attempt {
    let status = response.status();
    let is_away = status.is_server_error()
        || status == StatusCode::TOO_MANY_REQUESTS
        || status == StatusCode::REQUEST_TIMEOUT;
    if status.is_success() {
        Attempt::UsedSignatures
    } else if is_away {
        let rest = response.headers().get(RETRY_AFTER);
        let rest = rest.and_then(|rest| rest.to_str().ok()?.parse().ok());
        let reason = format!("it answers with status {}", status.as_u16());
        Attempt::Away(reason, rest.map(Duration::from_secs))
    } else {
        Attempt::Refused(status.as_u16())
    }
}
