//! What a fuzzer calls: whatever a homeserver or anybody says is read without a panic.

use crate::event::Event;
use crate::html;

/// Reads an event of a room.
pub fn decode(json: &str) {
    // Errors are shown, so all of it can be.
    drop(format!("{:?}", Event::read(json)));
}

/// Markdown as rooms are sent it.
pub fn shown(markdown: &str) -> String {
    html::html(markdown)
}
