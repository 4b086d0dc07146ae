//! The loopback Slack as the real client crate meets it.

mod calls;
mod client;
mod http;
mod sockets;
