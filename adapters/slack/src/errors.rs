//! Classifies Slack's errors, and describes them for people.

use std::time::Duration;

use muninn_platform::{PlatformError, RequestFailure, misconfigured};
use serde_json::Value;
use slack_morphism::errors::SlackClientError;

use crate::name::NAME;

/// Why a Web API call failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ApiError {
    /// Rate limited, for this long if Slack said so.
    #[error("{method}: Slack limits how often it may be called")]
    Limited {
        method: &'static str,
        rest: Option<Duration>,
    },
    /// Slack is unreachable or unwell; a retry may succeed.
    #[error("{method}: {reason}")]
    Away {
        method: &'static str,
        reason: String,
        /// The request may have been executed: Slack may have been reached.
        may_be_done: bool,
    },
    /// The token is not accepted, or not any more.
    #[error("{method}: Slack does not accept the token ({code})")]
    Revoked { method: &'static str, code: String },
    /// The app was not given this scope.
    #[error("{method}: the app lacks the scope {needed}")]
    MissingScope {
        method: &'static str,
        needed: String,
    },
    /// A retry will not succeed.
    #[error("{method}: {code}")]
    Refused { method: &'static str, code: String },
}

/// Errors about a place, where other content would be refused too.
const PLACE: [&str; 11] = [
    "access_denied",
    "cannot_reply_to_message",
    "channel_not_found",
    "ekm_access_denied",
    "invalid_thread_ts",
    "is_archived",
    "messages_tab_disabled",
    "not_in_channel",
    "thread_not_found",
    "user_not_found",
    "user_not_in_channel",
];

impl ApiError {
    pub(crate) fn of(method: &'static str, error: &SlackClientError) -> Self {
        let away = |reason: String| Self::Away {
            method,
            reason,
            may_be_done: !is_unreached(error),
        };
        match error {
            SlackClientError::RateLimitError(limit) => Self::Limited {
                method,
                rest: limit.retry_after,
            },
            SlackClientError::ApiError(error) => {
                let body = error.http_response_body.as_deref().unwrap_or_default();
                Self::of_code(method, &error.code, body)
            }
            SlackClientError::HttpError(error) if is_unwell(error.status_code.as_u16()) => {
                away(format!("Slack answers with status {}", error.status_code))
            }
            SlackClientError::HttpError(error) => Self::Refused {
                method,
                code: format!("status {}", error.status_code.as_u16()),
            },
            // A page of a proxy, or a truncated response: a retry may succeed.
            SlackClientError::ProtocolError(_) => away("its answer cannot be read".to_owned()),
            SlackClientError::HttpProtocolError(_)
            | SlackClientError::EndOfStream(_)
            | SlackClientError::SystemError(_)
            | SlackClientError::SocketModeProtocolError(_) => {
                away("it cannot be reached".to_owned())
            }
        }
    }

    fn of_code(method: &'static str, code: &str, body: &str) -> Self {
        let code = code.to_owned();
        match code.as_str() {
            "invalid_auth" | "not_authed" | "account_inactive" | "token_revoked"
            | "token_expired" | "no_permission" | "org_login_required" => {
                Self::Revoked { method, code }
            }
            "missing_scope" => {
                let body: Value = serde_json::from_str(body).unwrap_or_default();
                let needed = body["needed"].as_str().unwrap_or("that it needs");
                let needed = needed.to_owned();
                Self::MissingScope { method, needed }
            }
            "ratelimited" | "rate_limited" | "message_limit_exceeded" => {
                Self::Limited { method, rest: None }
            }
            "internal_error"
            | "fatal_error"
            | "service_unavailable"
            | "request_timeout"
            | "team_added_to_org" => Self::Away {
                method,
                reason: code,
                may_be_done: true,
            },
            _ => Self::Refused { method, code },
        }
    }

    pub(crate) fn request_failure(&self) -> RequestFailure {
        match self {
            Self::Limited { rest, .. } => RequestFailure::Limited(*rest),
            Self::Away { .. } => RequestFailure::Away,
            Self::Revoked { .. } => RequestFailure::LoggedOut,
            Self::MissingScope { .. } | Self::Refused { .. } => RequestFailure::Refused,
        }
    }

    pub(crate) fn timed_out(method: &'static str) -> Self {
        Self::Away {
            method,
            reason: "Slack did not answer in time".to_owned(),
            may_be_done: true,
        }
    }

    /// Whether Slack may have executed it without confirming it.
    pub(crate) fn may_be_done(&self) -> bool {
        match self {
            Self::Away { may_be_done, .. } => *may_be_done,
            Self::Limited { .. }
            | Self::Revoked { .. }
            | Self::MissingScope { .. }
            | Self::Refused { .. } => false,
        }
    }

    /// Returns Slack's error code; `None` if it was not a refusal.
    fn code(&self) -> Option<&str> {
        match self {
            Self::Refused { code, .. } => Some(code),
            Self::Limited { .. }
            | Self::Away { .. }
            | Self::Revoked { .. }
            | Self::MissingScope { .. } => None,
        }
    }

    /// Whether it has one of these codes.
    pub(crate) fn is(&self, codes: &[&str]) -> bool {
        self.code().is_some_and(|code| codes.contains(&code))
    }

    /// Whether simpler content may be accepted. True for unknown codes: a retry costs less than an
    /// answer that stops in mid-sentence.
    pub(crate) fn is_about_content(&self) -> bool {
        if matches!(self, Self::Refused { method, .. } if *method == "chat.delete") {
            return false;
        }
        let is_place = |code: &str| PLACE.contains(&code) || code.starts_with("restricted_action");
        self.code().is_some_and(|code| !is_place(code)) && !self.is_unchangeable()
    }

    /// Whether a message is gone, or cannot be changed any more.
    pub(crate) fn is_unchangeable(&self) -> bool {
        self.is(&[
            "message_not_found",
            "edit_window_closed",
            "cant_update_message",
            "streaming_state_conflict",
            "update_failed",
        ])
    }

    /// Whether the workspace, or the installed app, lacks the feature.
    pub(crate) fn is_not_there(&self) -> bool {
        matches!(self, Self::MissingScope { .. })
            || self.is(&[
                "unknown_method",
                "feature_not_enabled",
                "not_allowed_token_type",
                "method_not_supported_for_channel_type",
                "method_deprecated",
                "not_allowed",
                "team_access_not_granted",
            ])
    }

    /// Describes what a person can do about it. `channel`: where it happened.
    pub(crate) fn sentence(&self, channel: &str) -> PlatformError {
        match self {
            Self::Limited { .. } | Self::Away { .. } => disconnected(self.clone()),
            Self::Revoked { code, .. } => misconfigured(format!(
                "Slack does not accept SLACK_BOT_TOKEN ({code}); install the app again and set the new token"
            )),
            Self::MissingScope { method, needed } => misconfigured(format!(
                "the app lacks the scope {needed}, which {method} needs; add it under OAuth & Permissions (`muninn manifest slack` has all of them) and install the app again"
            )),
            Self::Refused { code, method } => misconfigured(match code.as_str() {
                "is_archived" => {
                    format!("the channel {channel} is archived, so nothing can be said there")
                }
                "not_in_channel" => {
                    format!("Muninn is not in the channel {channel}; /invite it there")
                }
                "channel_not_found" => {
                    format!("Slack gives Muninn no channel {channel}; /invite it there")
                }
                "restricted_action"
                | "restricted_action_read_only_channel"
                | "restricted_action_thread_only_channel"
                | "restricted_action_non_threadable_channel" => {
                    format!(
                        "Muninn may not write in {channel} ({code}); let it, or remove it there"
                    )
                }
                _ => format!("Slack refuses {method} in {channel}: {code}"),
            }),
        }
    }
}

/// Whether a status says that Slack, or something in front of it, is unwell. Slack's API redirects nobody, unlike a proxy that
/// wants a login.
fn is_unwell(status: u16) -> bool {
    matches!(status, 300..=399 | 408 | 500..)
}

/// Whether there was no connection at all.
fn is_unreached(error: &SlackClientError) -> bool {
    let SlackClientError::HttpProtocolError(error) = error else {
        return false;
    };
    let cause = error.cause.as_deref();
    let cause = cause.and_then(|cause| cause.downcast_ref::<hyper_util::client::legacy::Error>());
    cause.is_some_and(hyper_util::client::legacy::Error::is_connect)
}

pub(crate) fn disconnected(
    source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> PlatformError {
    PlatformError::disconnected(NAME, source)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_plainer_is_told_from_what_cannot_be_said() {
        let refused = |code: &str| ApiError::of_code("chat.update", code, "{}");
        for code in [
            "invalid_blocks",
            "msg_blocks_too_long",
            "msg_too_long",
            "something_new",
        ] {
            assert!(refused(code).is_about_content(), "{code}");
        }
        for code in [
            "is_archived",
            "restricted_action_read_only_channel",
            "message_not_found",
            "internal_error",
            "token_revoked",
            "ratelimited",
        ] {
            assert!(!refused(code).is_about_content(), "{code}");
        }
        // Nothing is said by a deletion.
        let code = "compliance_exports_prevent_deletion";
        let deletion = ApiError::of_code("chat.delete", code, "{}");
        assert!(!deletion.is_about_content());
    }

    #[test]
    fn a_status_that_passes_is_told_from_a_refusal() {
        for (status, passes) in [
            (302, true),
            (307, true),
            (403, false),
            (404, false),
            (408, true),
            (413, false),
            (500, true),
            (503, true),
        ] {
            assert_eq!(is_unwell(status), passes, "{status}");
        }
    }

    #[test]
    fn codes_say_what_to_do() {
        for (code, body, said) in [
            ("token_revoked", "{}", "SLACK_BOT_TOKEN (token_revoked)"),
            (
                "missing_scope",
                r#"{"needed":"chat:write"}"#,
                "lacks the scope chat:write",
            ),
            ("missing_scope", "no JSON", "lacks the scope that it needs"),
            ("is_archived", "{}", "C1 is archived"),
            ("not_in_channel", "{}", "not in the channel C1; /invite"),
            (
                "something_new",
                "{}",
                "refuses chat.postMessage in C1: something_new",
            ),
        ] {
            let error = ApiError::of_code("chat.postMessage", code, body);
            let sentence = error.sentence("C1").to_string();
            assert!(sentence.contains(said), "{sentence}");
        }
    }
}
