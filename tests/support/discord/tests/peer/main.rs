//! Independent clients against the server: what it says has to be what they know as Discord.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod answers;
mod directory;
mod discord_py;
mod figures;
mod gateway;
mod limits;
mod places;
mod strict;
mod support;
