//! Texts as lines to quote.

/// A text as lines to quote; empty if it is blank.
pub fn lines(text: &str) -> Vec<String> {
    text.trim().lines().map(str::to_owned).collect()
}
