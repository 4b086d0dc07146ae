//! Classifies errors of the SDK.

use std::time::{Duration, SystemTime};

use matrix_sdk::HttpError;
use matrix_sdk::ruma::api::error::{ErrorKind, RetryAfter};
use muninn_platform::PlatformError;

use crate::NAME;

/// What to do about a request that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Rate limited, for this long if the homeserver said so.
    Limited(Option<Duration>),
    /// The homeserver is unreachable or unwell; a retry may succeed.
    Away,
    /// The session is not accepted any more.
    LoggedOut,
    /// A retry will not succeed.
    Refused,
}

/// Classifies a failed request.
pub(crate) fn of_http(error: &HttpError) -> Failure {
    match error.client_api_error_kind() {
        Some(ErrorKind::LimitExceeded(limit)) => {
            Failure::Limited(limit.retry_after.map(|after| match after {
                RetryAfter::Delay(delay) => delay,
                RetryAfter::DateTime(time) => {
                    time.duration_since(SystemTime::now()).unwrap_or_default()
                }
            }))
        }
        Some(ErrorKind::UnknownToken(_) | ErrorKind::MissingToken | ErrorKind::UserDeactivated) => {
            Failure::LoggedOut
        }
        Some(_) | None => of_status(error),
    }
}

fn of_status(error: &HttpError) -> Failure {
    match error {
        HttpError::Reqwest(_) => Failure::Away,
        HttpError::RefreshToken(_) => Failure::LoggedOut,
        HttpError::Cached(error) => of_http(error),
        HttpError::Api(_) | HttpError::IntoHttp(_) => match error.as_client_api_error() {
            Some(known) if known.status_code.as_u16() == 429 => Failure::Limited(None),
            Some(known) if known.status_code.is_server_error() => Failure::Away,
            Some(_) => Failure::Refused,
            // The page of a proxy in front of a homeserver that is down.
            None => Failure::Away,
        },
    }
}

/// Classifies an error of the SDK.
pub(crate) fn of_sdk(error: &matrix_sdk::Error) -> Failure {
    match error {
        matrix_sdk::Error::Http(error) => of_http(error),
        _ => Failure::Refused,
    }
}

/// Whether the homeserver says that the bot lacks a permission.
pub(crate) fn is_forbidden(error: &matrix_sdk::Error) -> bool {
    match error {
        matrix_sdk::Error::Http(error) => {
            matches!(error.client_api_error_kind(), Some(ErrorKind::Forbidden))
        }
        _ => false,
    }
}

pub(crate) fn disconnected(
    source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> PlatformError {
    PlatformError::disconnected(NAME, source)
}
