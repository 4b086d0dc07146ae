//! An entry point for fuzzers: any input is parsed without a panic.

use chrono::Utc;

use crate::event;

/// Parses a request's body.
pub fn decode(body: &[u8]) {
    // Errors are formatted, so formatting must not panic either.
    drop(format!("{:?}", event::read(body, Utc::now())));
}
