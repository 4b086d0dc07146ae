//! The adapter against a loopback Slack, which checks every request, with people in it.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod conformance;
mod support;
mod threads;
