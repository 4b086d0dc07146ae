//! A Discord server on loopback, for tests that read like a chat. It has REST and gateway of
//! version 10, and attachments.
//!
//! ```
//! # use loopback_discord::Discord;
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! let discord = Discord::start().await;
//! let guild = discord.guild("Ravens");
//! let general = guild.text("general");
//! let ann = guild.person("ann");
//! let chat = ann.at(&general);
//! // … start a bot with `discord.token()` on `discord.url()` …
//! let question = chat.mention("Are you there?");
//! // let thread = chat.thread_on(question).await;
//! // thread.hears("Yes.").await;
//! # assert_eq!(chat.said().len(), 0);
//! discord.finish();
//! # }
//! ```
//!
//! The server is strict. Breaking one of Discord's rules fails the test in [`Discord::finish`], or
//! when the server is dropped; so does a requested failure that did not happen. Nothing here
//! sleeps: tests wait for what people see, at most for [`TIMEOUT`].
//!
//! A client can connect in two ways: with `serenity::http::HttpBuilder::proxy`, [`Discord::url`]
//! and no rate limiter of its own, or by trusting [`Discord::authority`] and resolving
//! `discord.com` to [`Discord::tls_address`].

mod chat;
mod clock;
mod discord;
mod error;
mod fault;
mod gateway;
mod id;
mod interaction;
mod limits;
mod permissions;
mod person;
mod places;
mod rest;
mod rules;
mod server;
mod tls;
mod traffic;
mod view;
mod world;

use std::time::Duration;

pub use chat::{Chat, Interacting, Target};
pub use discord::{Discord, Settings};
pub use fault::{FaultBuilder, Gate};
pub use id::Id;
pub use limits::Limits;
pub use permissions::Permissions;
pub use person::DiscordPerson;
pub use places::{DiscordChannel, Guild, Webhook};
pub use view::{Attachment, Message, MessageButton, Thread};
pub use world::{GatewayCounts, RefusedRequest};

/// Maximum wait: longer than anything takes, also on a loaded machine.
pub const TIMEOUT: Duration = Duration::from_secs(60);

/// The token of the initial bot.
pub const TOKEN: &str = "loopback-token";

/// The privileged intents, for [`Settings::privileged`].
pub const MESSAGE_CONTENT: u64 = 1 << 15;
/// See [`MESSAGE_CONTENT`].
pub const GUILD_MEMBERS: u64 = 1 << 1;
/// See [`MESSAGE_CONTENT`].
pub const GUILD_PRESENCES: u64 = 1 << 8;
