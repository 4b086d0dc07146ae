//! Posts to the program, with retries until it is accepted or given up.

use std::time::Duration;

use chrono::Utc;
use muninn_platform::{
    PlatformError, RequestFailure, RetryBudget, in_one_line, misconfigured, retry,
};
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
    /// A retry may succeed, after `rest` if the program asked for a pause.
    #[error("{reason}")]
    Away {
        reason: String,
        rest: Option<Duration>,
    },
}

impl SendError {
    fn request_failure(&self) -> RequestFailure {
        match self {
            Self::Refused(_) => RequestFailure::Refused,
            Self::Away {
                rest: Some(rest), ..
            } => RequestFailure::Limited(Some(*rest)),
            Self::Away { rest: None, .. } => RequestFailure::Away,
        }
    }
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
        let budget = RetryBudget::from_now(UNREACHABLE_TIMEOUT);
        retry(
            budget,
            || self.send_once(content),
            SendError::request_failure,
        )
        .await
    }

    /// Posts once, without retries.
    pub(crate) async fn send_once(&self, content: &Value) -> Result<(), SendError> {
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
            Err(error) => Err(SendError::Away {
                // The URL may contain a password.
                reason: in_one_line(&error.without_url()),
                rest: None,
            }),
        }
    }
}

fn outcome(response: &Response) -> Result<(), SendError> {
    let status = response.status();
    let is_away = status.is_server_error()
        || status == StatusCode::TOO_MANY_REQUESTS
        || status == StatusCode::REQUEST_TIMEOUT;
    if status.is_success() {
        Ok(())
    } else if is_away {
        let rest = response.headers().get(RETRY_AFTER);
        let rest = rest.and_then(|rest| rest.to_str().ok()?.parse().ok());
        Err(SendError::Away {
            reason: format!("it answers with status {}", status.as_u16()),
            rest: rest.map(Duration::from_secs),
        })
    } else {
        Err(SendError::Refused(status.as_u16()))
    }
}
