//! Requests to a homeserver without an SDK client: without a login none should create keys, and a
//! download has to stop at its limit.

use std::time::Duration;

use matrix_sdk::reqwest::{Client, Response, Url};
use matrix_sdk::ruma::{OwnedDeviceId, OwnedUserId};
use matrix_sdk::{SessionTokens, reqwest};
use muninn_platform::{PlatformError, RequestFailure, add_chunk, misconfigured};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::options::MatrixOptions;

const REQUEST_TIMEOUT: Duration = Duration::from_secs(20);

/// Maximum bytes of a response; none that we request is longer.
const LONGEST_ANSWER: usize = 4 * 1024 * 1024;

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AskError {
    #[error("it cannot be reached: {}", muninn_platform::in_one_line(.0))]
    Away(reqwest::Error),
    #[error("it does not accept the session")]
    LoggedOut,
    #[error("the access token has run out")]
    Expired,
    #[error("there is no such thing")]
    NotFound,
    #[error("it answers with status {0}")]
    Refused(u16),
    #[error("its answer is longer than {0} bytes")]
    TooLong(usize),
    #[error("its answer is not that of a Matrix homeserver")]
    Nonsense,
}

impl AskError {
    pub(crate) fn sentence(&self, options: &MatrixOptions) -> PlatformError {
        let homeserver = &options.homeserver;
        misconfigured(match self {
            Self::LoggedOut | Self::Expired => {
                format!("{homeserver} does not accept MATRIX_ACCESS_TOKEN; make a new one")
            }
            Self::Away(_) | Self::Refused(429 | 500..) => {
                format!("{homeserver}: {self}; check MATRIX_HOMESERVER")
            }
            Self::NotFound | Self::Refused(_) | Self::TooLong(_) | Self::Nonsense => {
                format!("{homeserver} is no Matrix homeserver: {self}; check MATRIX_HOMESERVER")
            }
        })
    }

    pub(crate) fn request_failure(&self) -> RequestFailure {
        match self {
            Self::Away(_) | Self::Refused(500..) => RequestFailure::Away,
            Self::Refused(429) => RequestFailure::Limited(None),
            Self::LoggedOut | Self::Expired => RequestFailure::LoggedOut,
            Self::NotFound | Self::Refused(_) | Self::TooLong(_) | Self::Nonsense => {
                RequestFailure::Refused
            }
        }
    }
}

/// The versions of the specification that a homeserver speaks.
#[derive(Deserialize)]
pub(crate) struct Versions {
    pub(crate) versions: Vec<String>,
}

pub(crate) async fn versions(client: &Client, homeserver: &Url) -> Result<Versions, AskError> {
    get(client, homeserver, "_matrix/client/versions", None).await
}

#[derive(Deserialize)]
pub(crate) struct WhoAmI {
    pub(crate) user_id: OwnedUserId,
    pub(crate) device_id: Option<OwnedDeviceId>,
}

pub(crate) async fn whoami(
    client: &Client,
    homeserver: &Url,
    tokens: &SessionTokens,
) -> Result<WhoAmI, AskError> {
    get(
        client,
        homeserver,
        "_matrix/client/v3/account/whoami",
        Some(tokens),
    )
    .await
}

/// Requests a path below the homeserver's URL.
pub(crate) async fn get<T: DeserializeOwned>(
    client: &Client,
    homeserver: &Url,
    path: &str,
    tokens: Option<&SessionTokens>,
) -> Result<T, AskError> {
    let mut request = client.get(at(homeserver, path)?).timeout(REQUEST_TIMEOUT);
    if let Some(tokens) = tokens {
        request = request.bearer_auth(&tokens.access_token);
    }
    answered(request.send().await).await
}

pub(crate) async fn post<T: DeserializeOwned>(
    client: &Client,
    homeserver: &Url,
    path: &str,
    tokens: &SessionTokens,
    body: &serde_json::Value,
) -> Result<T, AskError> {
    let request = client
        .post(at(homeserver, path)?)
        .timeout(REQUEST_TIMEOUT)
        .bearer_auth(&tokens.access_token)
        .header("content-type", "application/json")
        .body(body.to_string());
    answered(request.send().await).await
}

/// Downloads a path, at most `most` bytes.
pub(crate) async fn download(
    client: &Client,
    homeserver: &Url,
    path: &str,
    access_token: &str,
    most: usize,
) -> Result<Vec<u8>, AskError> {
    let request = client.get(at(homeserver, path)?).bearer_auth(access_token);
    let response = request.send().await.map_err(AskError::Away)?;
    read(accepted(response).await?, most).await
}

fn at(homeserver: &Url, path: &str) -> Result<Url, AskError> {
    homeserver.join(path).map_err(|_| AskError::Nonsense)
}

async fn answered<T: DeserializeOwned>(
    response: Result<Response, reqwest::Error>,
) -> Result<T, AskError> {
    let response = accepted(response.map_err(AskError::Away)?).await?;
    let content = read(response, LONGEST_ANSWER).await?;
    serde_json::from_slice(&content).map_err(|_| AskError::Nonsense)
}

async fn accepted(response: Response) -> Result<Response, AskError> {
    match response.status().as_u16() {
        200..=299 => Ok(response),
        401 => Err(unknown_token(response).await),
        404 => Err(AskError::NotFound),
        status => Err(AskError::Refused(status)),
    }
}

#[derive(Deserialize)]
struct UnknownToken {
    #[serde(default)]
    soft_logout: bool,
}

/// Distinguishes an expired token from a deleted device.
async fn unknown_token(response: Response) -> AskError {
    let said = read(response, LONGEST_ANSWER).await.unwrap_or_default();
    match serde_json::from_slice(&said) {
        Ok(UnknownToken { soft_logout: true }) => AskError::Expired,
        Ok(UnknownToken { soft_logout: false }) | Err(_) => AskError::LoggedOut,
    }
}

async fn read(mut response: Response, most: usize) -> Result<Vec<u8>, AskError> {
    let mut content = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(AskError::Away)? {
        add_chunk(&mut content, &chunk, most).map_err(|_| AskError::TooLong(most))?;
    }
    Ok(content)
}
