//! Why a read of missed messages ended early.

use muninn_platform::InboxClosed;

/// Why a read of missed messages is not finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadStopped {
    /// The bot is ending.
    Closed,
    /// Discord or the graph is away.
    Away,
}

impl From<InboxClosed> for ReadStopped {
    fn from(InboxClosed: InboxClosed) -> Self {
        Self::Closed
    }
}
