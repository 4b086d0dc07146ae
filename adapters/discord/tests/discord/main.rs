//! The adapter against a Discord on loopback, with people in it.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod answers;
mod support;
