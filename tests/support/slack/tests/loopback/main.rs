//! Tests of the loopback Slack with the real client crate, and comparisons with other Slack
//! servers.

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
