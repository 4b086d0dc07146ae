//! What is posted to the program, until it is taken or given up.

use std::time::Duration;

use chrono::Utc;
use muninn_platform::{PlatformError, RetryBudget, in_one_line, misconfigured};
use reqwest::header::{CONTENT_TYPE, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode, Url};
use secrecy::SecretString;
use serde_json::Value;
use tokio_util::task::TaskTracker;

use crate::options::Options;
use crate::signature::{self, sign};

/// For one attempt.
const ATTEMPT: Duration = Duration::from_secs(20);

/// How long the program may be away before something is given up.
const PATIENCE: Duration = Duration::from_secs(120);

/// Why something was not taken.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SendError {
    /// It will not be better later.
    #[error("it answers with status {0}")]
    Refused(u16),
    #[error("{0}")]
    Away(String),
}

/// What came of one attempt.
enum Attempt {
    Taken,
    Refused(u16),
    /// It may be better later; after this rest, if it said so.
    Away(String, Option<Duration>),
}

#[derive(Debug)]
pub(crate) struct Outbox {
    http: Client,
    address: Url,
    secret: SecretString,
    /// What is still to be posted, and need not be waited for but at the end.
    pub(crate) chores: TaskTracker,
}

impl Outbox {
    pub(crate) fn new(options: &Options) -> Result<Self, PlatformError> {
        // Whoever is sent elsewhere would sign for somebody else.
        let http = Client::builder()
            .timeout(ATTEMPT)
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

    /// Posts something until it is taken, or given up.
    pub(crate) async fn send(&self, content: &Value) -> Result<(), SendError> {
        let mut retries = RetryBudget::from_now(PATIENCE);
        loop {
            let (reason, rest) = match self.attempt(content).await {
                Attempt::Taken => return Ok(()),
                Attempt::Refused(status) => return Err(SendError::Refused(status)),
                Attempt::Away(reason, rest) => (reason, rest),
            };
            let pause = match rest {
                Some(rest) => retries.rest(rest),
                None => retries.pause(),
            };
            match pause {
                Some(pause) => tokio::time::sleep(pause).await,
                None => return Err(SendError::Away(reason)),
            }
        }
    }

    /// Posts something once.
    pub(crate) async fn send_once(&self, content: &Value) -> Result<(), SendError> {
        match self.attempt(content).await {
            Attempt::Taken => Ok(()),
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
            // The address may have a password in it.
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
        Attempt::Taken
    } else if is_away {
        let rest = response.headers().get(RETRY_AFTER);
        let rest = rest.and_then(|rest| rest.to_str().ok()?.parse().ok());
        let reason = format!("it answers with status {}", status.as_u16());
        Attempt::Away(reason, rest.map(Duration::from_secs))
    } else {
        Attempt::Refused(status.as_u16())
    }
}
