//! Where an answer goes, and what takes a message of it away.

use muninn_platform::EventId;
use serde_json::{Value, json};

use crate::errors::ApiError;
use crate::hub::SlackHub;
use crate::ids::SlackPlace;
use crate::outbox::MethodCall;

/// What a reply answers, and where.
#[derive(Clone, Debug)]
pub(crate) struct SlackReplyTarget {
    pub(crate) place: SlackPlace,
    /// The event that identifies the answer.
    pub(crate) question: EventId,
    /// The message that is answered, if there is one.
    pub(crate) question_ts: Option<String>,
    pub(crate) asker: String,
    /// The asker's workspace.
    pub(crate) team: String,
    /// An earlier process may have posted the answer already, wholly or in part.
    pub(crate) may_be_repetition: bool,
}

/// The text of messages that cannot be removed.
const EMPTIED: &str = "(forgotten)";

/// Deletes a message of ours. A message that is already gone is no error. Some workspaces retain
/// messages, but let them be emptied.
///
/// # Errors
/// Fails when the message keeps its content.
pub(crate) async fn remove(hub: &SlackHub, channel: &str, ts: &str) -> Result<(), ApiError> {
    let deleted = send(
        hub,
        "chat.delete",
        channel,
        json!({ "channel": channel, "ts": ts }),
    )
    .await;
    let refused = match deleted {
        Err(error) if error.is(&["message_not_found", "channel_not_found"]) => return Ok(()),
        Err(error @ ApiError::Refused { .. }) => error,
        other => return other,
    };
    match empty(hub, channel, ts).await {
        Err(ApiError::Refused { .. }) => Err(refused),
        other => other,
    }
}

async fn empty(hub: &SlackHub, channel: &str, ts: &str) -> Result<(), ApiError> {
    let arguments = json!({
        "channel": channel, "ts": ts, "text": EMPTIED, "blocks": [], "attachments": [],
    });
    send(hub, "chat.update", channel, arguments).await
}

async fn send(
    hub: &SlackHub,
    method: &'static str,
    channel: &str,
    arguments: Value,
) -> Result<(), ApiError> {
    let call = MethodCall { method, channel };
    let arguments = &arguments;
    let attempt = |_| hub.api.post(call.method, arguments);
    hub.outbox.send(call, attempt).await.map(drop)
}
