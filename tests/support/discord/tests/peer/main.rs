//! Independent clients against the server: what it says has to be what they know as Discord.

mod answers;
mod support;
