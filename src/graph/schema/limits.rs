//! How much of the graph is looked at.

/// Maximum nodes, or relationships, that one statement visits.
pub(super) const VISITED: u64 = 100_000;

/// Maximum characters of a short text; one more is read, to recognise a longer one.
pub(super) const SHORT_TEXT_CHARS: usize = 60;
