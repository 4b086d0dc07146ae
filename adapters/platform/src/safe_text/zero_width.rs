//! The character that hides a word from machines.

/// Splits a word for machines, invisibly for readers.
pub(crate) const ZERO_WIDTH_SPACE: char = '\u{200B}';
