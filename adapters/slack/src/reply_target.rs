//! Where an answer goes, and what takes a message of it away.

use muninn_platform::EventId;
use serde_json::json;

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

/// Deletes a message of ours. A message that is already gone is no error.
pub(crate) async fn remove(hub: &SlackHub, channel: &str, ts: &str) -> Result<(), ApiError> {
    let arguments = json!({ "channel": channel, "ts": ts });
    let call = MethodCall {
        method: "chat.delete",
        channel,
    };
    let delete = |_| hub.api.post(call.method, &arguments);
    match hub.outbox.send(call, delete).await {
        Ok(_) => Ok(()),
        Err(error) if error.is(&["message_not_found", "channel_not_found"]) => Ok(()),
        Err(error) => Err(error),
    }
}
