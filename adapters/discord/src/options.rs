//! How the adapter is set up.

use std::net::SocketAddr;
use std::sync::Arc;

use muninn_platform::{AnswerMode, Channels};
use secrecy::SecretString;
use serenity::model::id::GuildId;

use crate::Allow;

/// How many connections to the gateway are held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shards {
    /// As many as Discord recommends for the bot's guilds.
    #[default]
    Auto,
    Number(u32),
}

/// How Discord is reached.
#[derive(Clone, Debug, Default)]
pub enum Api {
    /// Directly, with a rate limiter of our own.
    #[default]
    Discord,
    /// Through a proxy that keeps the rate limits itself: `http://host:port` stands for
    /// `https://discord.com`.
    Proxy(String),
    /// Directly, but `discord.com` is this address and shows a certificate of this authority
    /// (PEM): a Discord of one's own.
    Elsewhere {
        address: SocketAddr,
        authority: Vec<u8>,
    },
}

/// How the adapter is set up.
#[derive(Clone, Debug)]
pub struct Options {
    pub token: SecretString,
    /// The commands are registered in this guild only, where they appear at once; for development.
    pub guild: Option<GuildId>,
    pub allow: Allow,
    /// Which messages are answered where nothing else is set for the channel.
    pub answer: AnswerMode,
    /// What is set for single channels.
    pub channels: Arc<Channels>,
    pub shards: Shards,
    /// Whether the messages of channels and threads may be read, which has to be switched on for
    /// the application. Without it mentions, direct messages and commands are answered.
    pub reads_messages: bool,
    pub api: Api,
    /// Files are read from here too, beside Discord's own hosts: `host:port`.
    pub file_host: Option<String>,
}

impl Options {
    /// With everything that has a default.
    pub fn new(token: SecretString) -> Self {
        Self {
            token,
            guild: None,
            allow: Allow::default(),
            answer: AnswerMode::default(),
            channels: Arc::default(),
            shards: Shards::default(),
            reads_messages: true,
            api: Api::default(),
            file_host: None,
        }
    }
}
