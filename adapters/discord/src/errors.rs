//! Classifies serenity's errors by what to do next.

use muninn_platform::{PlatformError, in_one_line, misconfigured};
use serenity::http::{ErrorResponse, HttpError};

use crate::NAME;

/// What to do about a failed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Rate limited. The rate limiter waits by itself, so this is rare.
    Limited,
    /// Discord is unreachable or unwell; a retry may succeed.
    Away,
    /// The token is not accepted.
    LoggedOut,
    /// A retry will not succeed.
    Refused(Refusal),
}

/// Why a retry will not succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
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
    /// The thread is locked, or archived for good.
    Locked,
    /// This message has a thread already.
    ThreadThere,
    /// The person does not accept direct messages.
    NoDirect,
    Other,
}

/// Why a request failed. Its text contains no URL, since the URL of an interaction contains its
/// token.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub(crate) struct Failure {
    pub(crate) kind: Kind,
    text: String,
}

impl Failure {
    pub(crate) fn timed_out() -> Self {
        Self {
            kind: Kind::Away,
            text: "Discord did not answer in time".to_owned(),
        }
    }

    pub(crate) fn refused(refusal: Refusal, text: impl Into<String>) -> Self {
        Self {
            kind: Kind::Refused(refusal),
            text: text.into(),
        }
    }

    pub(crate) fn is(&self, refusal: Refusal) -> bool {
        self.kind == Kind::Refused(refusal)
    }
}

impl From<serenity::Error> for Failure {
    fn from(error: serenity::Error) -> Self {
        match error {
            serenity::Error::Http(HttpError::UnsuccessfulRequest(answer)) => Self {
                kind: kind(answer.status_code.as_u16(), answer.error.code),
                text: said(&answer),
            },
            serenity::Error::Http(HttpError::Request(error)) => Self {
                kind: Kind::Away,
                text: in_one_line(&error.without_url()),
            },
            // A truncated body, or the page of a proxy in front of Discord.
            serenity::Error::Json(error) => Self {
                kind: Kind::Away,
                text: format!("Discord's answer cannot be read: {error}"),
            },
            other => Self {
                kind: Kind::Refused(Refusal::Other),
                text: other.to_string(),
            },
        }
    }
}

fn said(answer: &ErrorResponse) -> String {
    let (status, code) = (answer.status_code.as_u16(), answer.error.code);
    let details = answer.error.errors.iter();
    let details = details.map(|error| format!("; {}: {}", error.path, error.message));
    let details: String = details.collect();
    format!("{} ({status}, code {code}){details}", answer.error.message)
}

/// Classifies by Discord's list of error codes.
fn kind(status: u16, code: isize) -> Kind {
    let refusal = match (status, code) {
        (401, 50027) | (_, 10015 | 10062 | 50027) => Refusal::InteractionOver,
        (401, _) => return Kind::LoggedOut,
        (429, _) => return Kind::Limited,
        (500.., _) => return Kind::Away,
        (_, 40060) => Refusal::AcknowledgedAlready,
        (_, 10008) => Refusal::NoMessage,
        (_, 10003) => Refusal::NoChannel,
        (_, 50001 | 50013) => Refusal::MayNot,
        (_, 50083 | 160_005) => Refusal::Locked,
        (_, 160_004) => Refusal::ThreadThere,
        (_, 50007) => Refusal::NoDirect,
        _ => Refusal::Other,
    };
    Kind::Refused(refusal)
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
            (401, 0, Kind::LoggedOut),
            (401, 50027, Kind::Refused(Refusal::InteractionOver)),
            (404, 10015, Kind::Refused(Refusal::InteractionOver)),
            (404, 10062, Kind::Refused(Refusal::InteractionOver)),
            (400, 40060, Kind::Refused(Refusal::AcknowledgedAlready)),
            (404, 10003, Kind::Refused(Refusal::NoChannel)),
            (404, 10008, Kind::Refused(Refusal::NoMessage)),
            (403, 50013, Kind::Refused(Refusal::MayNot)),
            (400, 160_005, Kind::Refused(Refusal::Locked)),
            (400, 50035, Kind::Refused(Refusal::Other)),
            (429, 0, Kind::Limited),
            (502, 0, Kind::Away),
        ] {
            assert_eq!(kind(status, code), expected, "{status} {code}");
        }
    }
}
