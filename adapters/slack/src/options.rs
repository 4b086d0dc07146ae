//! How the adapter is set up.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use muninn_platform::{AnswerMode, Channels};
use secrecy::SecretString;

use crate::Allow;

/// Slack's own Web API.
pub const API_URL: &str = "https://slack.com/api";

/// How events come in.
#[derive(Clone, Debug)]
pub enum Entrance {
    /// Over a socket that the bot opens, which needs no public address.
    Socket {
        /// The app-level token (`xapp-…`) with the scope `connections:write`.
        app_token: SecretString,
    },
    /// Slack calls an address.
    Http {
        /// By which Slack signs what it sends.
        signing_secret: SecretString,
        /// Where to listen; a proxy with a certificate stands before it.
        address: SocketAddr,
    },
}

/// How the adapter is set up.
#[derive(Clone, Debug)]
pub struct Options {
    /// The bot's token (`xoxb-…`).
    pub bot_token: SecretString,
    pub entrance: Entrance,
    pub allow: Allow,
    /// Which messages of a channel are answered where nothing is set for it.
    pub answer: AnswerMode,
    /// What is set for single channels.
    pub channels: Arc<Channels>,
    /// The Web API's address without a slash at its end; another one for proxies and tests.
    pub api_url: String,
    /// A message beside the threads of a direct message begins one, as agents do it in Slack's
    /// timeline; otherwise all of them are one conversation.
    pub direct_threads: bool,
    /// The slash command, with its slash.
    pub command: String,
    /// At least this long between two messages in one channel, but for a short burst. Slack
    /// documents about one per second.
    pub post_every: Duration,
}

impl Options {
    /// With everything that has a default.
    pub fn new(bot_token: SecretString, entrance: Entrance) -> Self {
        Self {
            bot_token,
            entrance,
            allow: Allow::default(),
            answer: AnswerMode::default(),
            channels: Arc::default(),
            api_url: API_URL.to_owned(),
            direct_threads: false,
            command: "/muninn".to_owned(),
            post_every: Duration::from_secs(1),
        }
    }
}
