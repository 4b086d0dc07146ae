//! Classifies serenity's errors by what to do next.

use std::time::Duration;

use muninn_platform::{PlatformError, RequestFailure, in_one_line, misconfigured};
use serenity::http::{ErrorResponse, HttpError};

use crate::name::NAME;

/// What to do about a failed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// Rate limited. The rate limiter waits by itself, so this is rare.
    Limited,
    /// Discord is unreachable or unwell; a retry may succeed.
    Away,
    /// The token is not accepted.
    LoggedOut,
    /// A retry will not succeed.
    Refused(RefusalReason),
}

/// Why a retry will not succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RefusalReason {
    /// The interaction has expired, or is not of this application.
    InteractionOver,
    /// The interaction was acknowledged already: it was delivered twice.
    AcknowledgedAlready,
    /// The message is gone.
    NoMessage,
    /// The channel is gone.
    NoChannel,
    /// A permission is missing.
    MayNot,
    /// The permission to read earlier messages is missing, without which there are no replies.
    NoHistory,
    /// The thread is locked, or archived for good.
    Locked,
    /// This message has a thread already.
    ThreadThere,
    /// The server has as many active threads as Discord allows.
    TooManyThreads,
    /// The person does not accept direct messages.
    NoDirect,
    Other,
}

/// Why a request failed. Its text contains no URL, since the URL of an interaction contains its
/// token.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub(crate) struct Failure {
    pub(crate) kind: FailureKind,
    text: String,
    /// Whether Discord may have carried it out without confirming it.
    pub(crate) may_be_done: bool,
    /// How long Discord wants no further requests, if it said so.
    pub(crate) rest: Option<Duration>,
    /// Whether that is true of all requests, not only of this route.
    pub(crate) is_global: bool,
}

impl Failure {
    pub(crate) fn limited(rest: Option<Duration>, is_global: bool) -> Self {
        Self {
            kind: FailureKind::Limited,
            text: "Discord wants no further requests for a while (429)".to_owned(),
            may_be_done: false,
            rest,
            is_global,
        }
    }

    pub(crate) fn timed_out() -> Self {
        Self {
            kind: FailureKind::Away,
            text: "Discord did not answer in time".to_owned(),
            may_be_done: true,
            rest: None,
            is_global: false,
        }
    }

    pub(crate) fn refused(refusal: RefusalReason, text: impl Into<String>) -> Self {
        Self {
            kind: FailureKind::Refused(refusal),
            text: text.into(),
            may_be_done: false,
            rest: None,
            is_global: false,
        }
    }

    pub(crate) fn request_failure(&self) -> RequestFailure {
        match self.kind {
            FailureKind::Limited => RequestFailure::Limited(self.rest),
            FailureKind::Away => RequestFailure::Away,
            FailureKind::LoggedOut => RequestFailure::LoggedOut,
            FailureKind::Refused(_) => RequestFailure::Refused,
        }
    }

    pub(crate) fn is(&self, refusal: RefusalReason) -> bool {
        self.kind == FailureKind::Refused(refusal)
    }
}

impl From<serenity::Error> for Failure {
    fn from(error: serenity::Error) -> Self {
        match error {
            serenity::Error::Http(HttpError::UnsuccessfulRequest(answer)) => {
                let kind = kind(answer.status_code.as_u16(), answer.error.code);
                Self {
                    kind,
                    text: error_text(&answer),
                    may_be_done: kind == FailureKind::Away,
                    rest: None,
                    is_global: false,
                }
            }
            serenity::Error::Http(HttpError::Request(error)) => Self {
                kind: FailureKind::Away,
                may_be_done: !error.is_connect(),
                text: in_one_line(&error.without_url()),
                rest: None,
                is_global: false,
            },
            // A truncated body, or the page of a proxy in front of Discord.
            serenity::Error::Json(error) => Self {
                kind: FailureKind::Away,
                text: format!("Discord's answer cannot be read: {error}"),
                may_be_done: true,
                rest: None,
                is_global: false,
            },
            other => Self::refused(RefusalReason::Other, other.to_string()),
        }
    }
}

fn error_text(answer: &ErrorResponse) -> String {
    let (status, code) = (answer.status_code.as_u16(), answer.error.code);
    let details = answer.error.errors.iter();
    let details = details.map(|error| format!("; {}: {}", error.path, error.message));
    let details: String = details.collect();
    format!("{} ({status}, code {code}){details}", answer.error.message)
}

/// Classifies by Discord's list of error codes.
fn kind(status: u16, code: isize) -> FailureKind {
    let refusal = match (status, code) {
        (401, 50027) | (_, 10015 | 10062 | 50027) => RefusalReason::InteractionOver,
        (401, _) => return FailureKind::LoggedOut,
        (429, _) => return FailureKind::Limited,
        (500.., _) => return FailureKind::Away,
        (_, 40060) => RefusalReason::AcknowledgedAlready,
        (_, 10008) => RefusalReason::NoMessage,
        (_, 10003) => RefusalReason::NoChannel,
        (_, 50001 | 50013) => RefusalReason::MayNot,
        (_, 160_002) => RefusalReason::NoHistory,
        (_, 50083 | 160_005) => RefusalReason::Locked,
        (_, 160_004) => RefusalReason::ThreadThere,
        (_, 160_006 | 160_007) => RefusalReason::TooManyThreads,
        (_, 50007) => RefusalReason::NoDirect,
        _ => RefusalReason::Other,
    };
    FailureKind::Refused(refusal)
}

pub(crate) fn disconnected(
    source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> PlatformError {
    PlatformError::disconnected(NAME, source)
}

/// The error for a token that Discord rejects.
pub(crate) fn logged_out() -> PlatformError {
    misconfigured(
        "Discord does not accept the token; set DISCORD_TOKEN to the one that the developer portal shows under \"Bot\" after a reset",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_discord_says_tells_what_to_do() {
        for (status, code, expected) in [
            (401, 0, FailureKind::LoggedOut),
            (
                401,
                50027,
                FailureKind::Refused(RefusalReason::InteractionOver),
            ),
            (
                404,
                10015,
                FailureKind::Refused(RefusalReason::InteractionOver),
            ),
            (
                404,
                10062,
                FailureKind::Refused(RefusalReason::InteractionOver),
            ),
            (
                400,
                40060,
                FailureKind::Refused(RefusalReason::AcknowledgedAlready),
            ),
            (404, 10003, FailureKind::Refused(RefusalReason::NoChannel)),
            (404, 10008, FailureKind::Refused(RefusalReason::NoMessage)),
            (403, 50013, FailureKind::Refused(RefusalReason::MayNot)),
            (403, 160_002, FailureKind::Refused(RefusalReason::NoHistory)),
            (400, 160_005, FailureKind::Refused(RefusalReason::Locked)),
            (
                400,
                160_006,
                FailureKind::Refused(RefusalReason::TooManyThreads),
            ),
            (400, 50035, FailureKind::Refused(RefusalReason::Other)),
            (429, 0, FailureKind::Limited),
            (502, 0, FailureKind::Away),
        ] {
            assert_eq!(kind(status, code), expected, "{status} {code}");
        }
    }
}
