//! Sends requests at the pace that the homeserver allows.
//!
//! A homeserver limits an account, not a room. So a rate limit delays all requests, in order;
//! meanwhile, updates that only show progress are skipped.

use std::future::Future;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use matrix_sdk::Room;
use matrix_sdk::config::RequestConfig;
use matrix_sdk::ruma::{EventId, OwnedEventId, OwnedTransactionId};
use muninn_platform::{Doubt, RateLimit, RequestFailure, RetryBudget, Unconfirmed, in_one_line};
use serde_json::Value;
use tokio::time::{Instant, timeout};

use crate::errors::{is_unreached, of_http, of_sdk};
use crate::request_limits::REQUEST_TIMEOUT;

/// How long a homeserver may be unreachable before a request is given up. Rate limits do not count.
const UNREACHABLE_TIMEOUT: Duration = Duration::from_secs(120);

/// Maximum total wait of a request.
const LONGEST_WAIT: Duration = Duration::from_secs(900);

/// Maximum time of an attempt; an encrypted room may need several requests first.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(60);

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SendError {
    #[error("the homeserver refuses it")]
    Refused(#[source] matrix_sdk::Error),
    #[error("the homeserver does not accept the session")]
    LoggedOut,
    #[error("the homeserver is away")]
    Away(#[source] matrix_sdk::Error),
    #[error("the homeserver did not answer in time")]
    TimedOut,
}

impl SendError {
    pub(crate) fn request_failure(&self) -> RequestFailure {
        match self {
            Self::Refused(_) => RequestFailure::Refused,
            Self::LoggedOut => RequestFailure::LoggedOut,
            Self::Away(_) | Self::TimedOut => RequestFailure::Away,
        }
    }

    /// What the homeserver said, in one line. The error of a connection is left out, since it may
    /// contain a URL.
    pub(crate) fn reason(&self) -> String {
        match self {
            Self::Refused(error) => in_one_line(error),
            Self::Away(_) | Self::LoggedOut | Self::TimedOut => self.to_string(),
        }
    }
}

/// The result of an update that is tried once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TriedSend {
    Sent(OwnedEventId),
    /// The homeserver did not take it, or it was not sent.
    NotSent,
    /// No answer came, or an error of a server: the homeserver may have taken it.
    Unknown,
}

#[derive(Debug, Default)]
pub(crate) struct MatrixOutbox {
    limit: RateLimit,
    /// Fair: the longest waiting request goes first.
    line: tokio::sync::Mutex<()>,
}

impl MatrixOutbox {
    /// Sends a progress update: once, and not during a rate limit.
    pub(crate) fn try_send<'a>(
        &'a self,
        room: &'a Room,
        content: Value,
        transaction: OwnedTransactionId,
    ) -> BoxFuture<'a, TriedSend> {
        async move {
            if self.limit.rest().is_some() || self.line.try_lock().is_err() {
                return TriedSend::NotSent;
            }
            let failed = match send_once(room, content, transaction).await {
                Ok(id) => return TriedSend::Sent(id),
                Err(failed) => failed,
            };
            if let Attempt::Failed(error) = &failed {
                tracing::debug!(%error, "an answer could not be shown while it grows");
            }
            match failed.request_failure() {
                RequestFailure::Limited(rest) => {
                    self.limit.record(rest);
                    TriedSend::NotSent
                }
                RequestFailure::Refused | RequestFailure::LoggedOut => TriedSend::NotSent,
                RequestFailure::Away => TriedSend::Unknown,
            }
        }
        .boxed()
    }

    /// Sends a message until it succeeds or is given up.
    pub(crate) fn send<'a>(
        &'a self,
        room: &'a Room,
        content: &'a Value,
        transaction: &'a OwnedTransactionId,
    ) -> BoxFuture<'a, Result<OwnedEventId, SendError>> {
        async move {
            self.persist(|| send_once(room, content.clone(), transaction.clone()))
                .await
        }
        .boxed()
    }

    /// As [`MatrixOutbox::send`], and tells after a failure whether the message may stand there.
    pub(crate) fn send_or_doubt<'a>(
        &'a self,
        room: &'a Room,
        content: &'a Value,
        transaction: &'a OwnedTransactionId,
    ) -> BoxFuture<'a, Result<OwnedEventId, Unconfirmed<SendError>>> {
        async move {
            let doubt = &Doubt::default();
            let sent = self.persist(|| async move {
                let sent = send_once(room, content.clone(), transaction.clone()).await;
                sent.inspect_err(|failed| doubt.record(failed.may_be_done()))
            });
            sent.await.map_err(|error| doubt.about(error))
        }
        .boxed()
    }

    /// Redacts a message. A message that is already gone is no error.
    pub(crate) async fn redact(&self, room: &Room, id: &EventId) -> Result<(), SendError> {
        let transaction: OwnedTransactionId = format!("redact-{id}").into();
        let redacted = self
            .persist(|| async {
                let redaction = room.redact(id, None, Some(transaction.clone()));
                match timeout(ATTEMPT_TIMEOUT, redaction).await {
                    Ok(Ok(_)) => Ok(()),
                    Ok(Err(error)) => Err(Attempt::Failed(error.into())),
                    Err(_) => Err(Attempt::TimedOut),
                }
            })
            .await;
        match redacted {
            Err(SendError::Refused(error)) if is_gone(&error) => Ok(()),
            other => other,
        }
    }

    /// Repeats a request until it succeeds or is given up.
    pub(crate) async fn retry<T, F>(&self, ask: impl Fn() -> F) -> Result<T, SendError>
    where
        F: Future<Output = Result<T, matrix_sdk::Error>>,
    {
        self.persist(|| async {
            match timeout(ATTEMPT_TIMEOUT, ask()).await {
                Ok(answer) => answer.map_err(Attempt::Failed),
                Err(_) => Err(Attempt::TimedOut),
            }
        })
        .await
    }

    async fn persist<T, F>(&self, attempt: impl Fn() -> F) -> Result<T, SendError>
    where
        F: Future<Output = Result<T, Attempt>>,
    {
        let deadline = Instant::now() + LONGEST_WAIT;
        let mut my_turn = None;
        let mut retries = RetryBudget::new(UNREACHABLE_TIMEOUT);
        loop {
            if my_turn.is_none() && self.limit.rest().is_some() {
                my_turn = Some(timeout_at(deadline, self.line.lock()).await?);
            }
            if let Some(rest) = self.limit.rest() {
                timeout_at(deadline, tokio::time::sleep(rest)).await?;
            }
            let failed = match attempt().await {
                Ok(done) => return Ok(done),
                Err(failed) => failed,
            };
            match failed.request_failure() {
                // The wait for it is above, in order with the other requests.
                RequestFailure::Limited(rest) => self.limit.record(rest),
                failure => match retries.pause_after(failure) {
                    Some(pause) => tokio::time::sleep(pause).await,
                    None => return Err(failed.into()),
                },
            }
        }
    }
}

/// Why an attempt failed.
enum Attempt {
    Failed(matrix_sdk::Error),
    TimedOut,
}

impl Attempt {
    /// Whether the homeserver may have taken it all the same.
    fn may_be_done(&self) -> bool {
        match self {
            Self::TimedOut => true,
            Self::Failed(error) => match of_sdk(error) {
                RequestFailure::Away => !is_unreached(error),
                RequestFailure::Limited(_)
                | RequestFailure::LoggedOut
                | RequestFailure::Refused => false,
            },
        }
    }

    fn request_failure(&self) -> RequestFailure {
        match self {
            Self::Failed(error) => of_sdk(error),
            Self::TimedOut => RequestFailure::Away,
        }
    }
}

impl From<Attempt> for SendError {
    fn from(failed: Attempt) -> Self {
        let kind = failed.request_failure();
        match failed {
            Attempt::TimedOut => Self::TimedOut,
            Attempt::Failed(error) => match kind {
                RequestFailure::LoggedOut => Self::LoggedOut,
                RequestFailure::Refused => Self::Refused(error),
                RequestFailure::Limited(_) | RequestFailure::Away => Self::Away(error),
            },
        }
    }
}

async fn send_once(
    room: &Room,
    content: Value,
    transaction: OwnedTransactionId,
) -> Result<OwnedEventId, Attempt> {
    let config = RequestConfig::new()
        .timeout(REQUEST_TIMEOUT)
        .disable_retry();
    let sending = room
        .send_raw("m.room.message", content)
        .with_transaction_id(&transaction)
        .with_request_config(config)
        .into_future();
    match timeout(ATTEMPT_TIMEOUT, sending).await {
        Ok(Ok(sent)) => Ok(sent.response.event_id),
        Ok(Err(error)) => Err(Attempt::Failed(error)),
        Err(_) => Err(Attempt::TimedOut),
    }
}

async fn timeout_at<T>(deadline: Instant, waited: impl Future<Output = T>) -> Result<T, SendError> {
    tokio::time::timeout_at(deadline, waited)
        .await
        .map_err(|_| SendError::TimedOut)
}

fn is_gone(error: &matrix_sdk::Error) -> bool {
    use matrix_sdk::ruma::api::error::ErrorKind;
    match error {
        matrix_sdk::Error::Http(error) => match of_http(error) {
            RequestFailure::Refused => {
                matches!(error.client_api_error_kind(), Some(ErrorKind::NotFound))
            }
            RequestFailure::Limited(_) | RequestFailure::Away | RequestFailure::LoggedOut => false,
        },
        _ => false,
    }
}
