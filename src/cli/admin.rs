//! The admin socket: commands run in the running process, which has the graph open.
//!
//! `muninn serve` and `muninn chat` listen in the data folder. A command that reaches such a
//! process sends its request and prints the output; otherwise it opens the graph itself.

mod address;
mod client;
pub(super) mod protocol;
mod same_files;
mod server;

#[cfg(feature = "terminal")]
pub(super) use self::client::Connection;
pub(super) use self::client::{connect, connect_to_any};
pub(super) use self::server::listen;
