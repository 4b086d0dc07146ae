//! The loopback Slack as the real client crate meets it, and other Slacks beside it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bursts;
mod calls;
mod client;
mod emulate;
mod envelopes;
mod http;
mod lane;
mod slack_sdk;
mod sockets;
mod surfaces;
