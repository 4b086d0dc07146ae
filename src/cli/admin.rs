//! The admin socket: commands go through the process that runs, which has the graph open.
//!
//! `muninn serve` and `muninn chat` listen in the data folder. A command that finds somebody there
//! asks for what it wants and prints what comes back; otherwise it opens the graph itself.

mod address;
mod client;
pub(super) mod protocol;
mod server;

#[cfg(feature = "terminal")]
pub(super) use self::client::Connection;
pub(super) use self::client::connect;
pub(super) use self::server::listen;
