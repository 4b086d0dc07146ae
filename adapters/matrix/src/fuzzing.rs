//! Entry points for fuzzers: any input is parsed without a panic.

use crate::event::Event;
use crate::html;

/// Parses an event of a room.
pub fn decode(json: &str) {
    // Errors are formatted, so formatting must not panic either.
    drop(format!("{:?}", Event::read(json)));
}

/// Converts Markdown for rooms.
pub fn shown(markdown: &str) -> String {
    html::html(markdown)
}
