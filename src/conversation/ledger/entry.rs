//! A line of a ledger.

use muninn_platform::redact::without_secrets;
use muninn_platform::{Body, Command, EventId, IncomingMessage, ItemDeed, Listing, TokenDeed};
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

/// A line of the file. `Done` is not written any more, but earlier versions wrote it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum LedgerEntry {
    Accepted(Box<AcceptedMessage>),
    Done(EventId),
}

/// An accepted message, and how many processes accepted it again after one that was ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct AcceptedMessage {
    #[serde(flatten)]
    pub(super) message: IncomingMessage,
    /// Beside the message's own fields, where versions that do not count leave it out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) takes: u32,
}

fn is_zero(takes: &u32) -> bool {
    *takes == 0
}

impl From<IncomingMessage> for AcceptedMessage {
    fn from(message: IncomingMessage) -> Self {
        Self { message, takes: 0 }
    }
}

/// A line to write, and who is notified then.
#[derive(Debug)]
pub(super) struct Order {
    pub(super) line: LedgerEntry,
    pub(super) written: Option<oneshot::Sender<()>>,
}

/// The message as it is stored: its text has no secrets.
pub(crate) fn message_without_secrets(message: &IncomingMessage) -> IncomingMessage {
    let mut message = message.clone();
    match &mut message.body {
        Body::Text(text)
        | Body::Edit { text, .. }
        | Body::Command(
            Command::Unknown(text)
            | Command::Note(text)
            | Command::Correct { text, .. }
            | Command::Shown(_, ItemDeed::Correct(text))
            | Command::Memory(Listing::Search(text))
            | Command::CatchUp(Some(text))
            | Command::Backfill(Some(text))
            | Command::Token(TokenDeed::Make {
                life: Some(text), ..
            }),
        ) => {
            *text = without_secrets(text);
        }
        // Listed, so that a new command with a text is not overlooked.
        Body::Command(
            Command::Help
            | Command::History
            | Command::Why
            | Command::WhyOf(_)
            | Command::Again(_)
            | Command::About
            | Command::Usage
            | Command::Forget(_)
            | Command::Memory(Listing::Newest | Listing::More)
            | Command::Link(_)
            | Command::Unlink
            | Command::Shown(_, ItemDeed::Forget | ItemDeed::Approve | ItemDeed::Decline)
            | Command::Decide { .. }
            | Command::ExportMine
            | Command::Web
            | Command::WebSignOut
            | Command::Token(
                TokenDeed::Make { life: None, .. } | TokenDeed::List | TokenDeed::Revoke(_),
            )
            | Command::Attend(..)
            | Command::Remember(_)
            | Command::OptOut
            | Command::OptIn
            | Command::OffTheRecord(_)
            | Command::OnTheRecord(_)
            | Command::CatchUp(None)
            | Command::Backfill(None)
            | Command::PlaceGone,
        )
        | Body::Deletion { .. } => {}
    }
    message
}
