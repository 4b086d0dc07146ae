//! Classifies errors of the SDK.

use std::time::SystemTime;

use matrix_sdk::HttpError;
use matrix_sdk::ruma::api::error::{ErrorKind, RetryAfter};
use muninn_platform::{PlatformError, RequestFailure};

use crate::name::NAME;

/// Classifies a failed request.
pub(crate) fn of_http(error: &HttpError) -> RequestFailure {
    match error.client_api_error_kind() {
        Some(ErrorKind::LimitExceeded(limit)) => {
            RequestFailure::Limited(limit.retry_after.map(|after| match after {
                RetryAfter::Delay(delay) => delay,
                RetryAfter::DateTime(time) => {
                    time.duration_since(SystemTime::now()).unwrap_or_default()
                }
            }))
        }
        Some(ErrorKind::UnknownToken(_) | ErrorKind::MissingToken | ErrorKind::UserDeactivated) => {
            RequestFailure::LoggedOut
        }
        Some(_) | None => of_status(error),
    }
}

fn of_status(error: &HttpError) -> RequestFailure {
    match error {
        HttpError::Reqwest(_) => RequestFailure::Away,
        HttpError::RefreshToken(_) => RequestFailure::LoggedOut,
        HttpError::Cached(error) => of_http(error),
        HttpError::Api(_) | HttpError::IntoHttp(_) => match error.as_client_api_error() {
            Some(known) if known.status_code.as_u16() == 429 => RequestFailure::Limited(None),
            Some(known) if known.status_code.is_server_error() => RequestFailure::Away,
            Some(_) => RequestFailure::Refused,
            // The page of a proxy in front of a homeserver that is down.
            None => RequestFailure::Away,
        },
    }
}

/// Classifies the answer of a server that names no homeserver: one without an error of a homeserver
/// is the page of another server.
pub(crate) fn of_discovery(error: &HttpError) -> RequestFailure {
    match error.as_client_api_error() {
        Some(_) => of_http(error),
        None => RequestFailure::Refused,
    }
}

/// Classifies an error of the SDK.
pub(crate) fn of_sdk(error: &matrix_sdk::Error) -> RequestFailure {
    match error {
        matrix_sdk::Error::Http(error) => of_http(error),
        _ => RequestFailure::Refused,
    }
}

/// Whether the homeserver was certainly not reached.
pub(crate) fn is_unreached(error: &matrix_sdk::Error) -> bool {
    match error {
        matrix_sdk::Error::Http(error) => match &**error {
            HttpError::Reqwest(error) => error.is_connect(),
            _ => false,
        },
        _ => false,
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

#[cfg(test)]
mod tests {
    use matrix_sdk::reqwest::Client;

    use super::*;

    #[tokio::test]
    async fn a_homeserver_that_refuses_connections_is_away_and_took_nothing() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        drop(listener);
        let error = Client::new().get(url).send().await.unwrap_err();
        let error = matrix_sdk::Error::from(HttpError::Reqwest(error));
        assert_eq!(of_sdk(&error), RequestFailure::Away);
        assert!(is_unreached(&error));
    }
}
