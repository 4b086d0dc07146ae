//! What stands in place of an answer.

/// The text of an answer after what it quoted was forgotten.
pub(crate) const REDACTED_ANSWER: &str = "What this answer quoted was forgotten.";
