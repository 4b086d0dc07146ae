//! What a fuzzer calls: whatever a program posts is read without a panic.

use chrono::Utc;

use crate::event;

/// Reads a request's body.
pub fn decode(body: &[u8]) {
    // Errors are shown, so all of it can be.
    drop(format!("{:?}", event::read(body, Utc::now())));
}
