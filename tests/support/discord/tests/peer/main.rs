//! Independent clients against the server: what it says has to be what they know as Discord.

mod answers;
mod discord_py;
mod figures;
mod gateway;
mod limits;
mod places;
mod strict;
mod support;
