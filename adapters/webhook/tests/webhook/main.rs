//! Tests with a program that talks to the echo bot over real HTTP.
//!
//! The program keeps messages as `docs/platforms/webhook.md` says: `put` writes or overwrites one, `delete` removes it.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod conforming;
mod requests;
mod support;
