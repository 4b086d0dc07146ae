//! Independent clients against the server: they must accept it as Discord.
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
