//! Notices about questions for approval.

use chrono::TimeDelta;
use muninn_texts::{Text, text};

/// How long a question for approval is valid.
pub const APPROVAL_LIFETIME: TimeDelta = TimeDelta::minutes(15);

/// A notice about a question for approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApprovalNotice {
    /// Somebody else was asked.
    NotYours,
    /// The question is too old.
    Over,
    /// The proposed call is not known any more.
    Gone,
    /// The call is declined.
    Declined,
    /// The call was started before, and its result is unknown.
    Unknown(String),
    /// The question was decided before.
    DecidedBefore(String),
    /// The same, and the result is not kept any more.
    ResultGone,
}

impl ApprovalNotice {
    /// The sentence of the notice.
    pub(super) fn text(&self) -> Text {
        match self {
            Self::NotYours => text!("not-yours-to-approve"),
            Self::Over => text!(
                "approval-over",
                minutes = APPROVAL_LIFETIME.num_minutes().unsigned_abs()
            ),
            Self::Gone => text!("approval-gone"),
            Self::Declined => text!("declined"),
            Self::Unknown(tool) => text!("approval-unknown", tool),
            Self::DecidedBefore(said) => text!("decided-before", said),
            Self::ResultGone => text!("decided-before-result-gone"),
        }
    }
}
