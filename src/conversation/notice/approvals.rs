//! What is said of what is done where somebody agrees.

use muninn_texts::{Text, text};

use super::ASKED_FOR;

/// What is said of what was asked whether it is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApprovalNotice {
    /// Somebody else was asked.
    NotYours,
    /// It was asked too long ago.
    Over,
    /// What was asked about is not known any more.
    Gone,
    /// It is not done.
    Declined,
    /// It was begun before, and what came of it is not known.
    Unknown(String),
    /// It was decided before.
    DecidedBefore(String),
}

impl ApprovalNotice {
    /// Its sentence.
    pub(super) fn text(&self) -> Text {
        match self {
            Self::NotYours => text!("not-yours-to-approve"),
            Self::Over => text!(
                "approval-over",
                minutes = ASKED_FOR.num_minutes().unsigned_abs()
            ),
            Self::Gone => text!("approval-gone"),
            Self::Declined => text!("declined"),
            Self::Unknown(tool) => text!("approval-unknown", tool),
            Self::DecidedBefore(said) => text!("decided-before", said),
        }
    }
}
