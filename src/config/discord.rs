//! What can be set for Discord.

use clap::Args;
use muninn_platform::AnswerMode;
use secrecy::SecretString;

use super::{ConfigError, filled, filled_secret};

/// Every option of Discord.
#[derive(Args, Clone, Debug)]
pub struct DiscordOptions {
    /// Discord bot token; unset to leave Discord off
    #[arg(long, env, global = true, default_value = "", hide_env_values = true)]
    pub discord_token: SecretString,
    /// Allow list: guild:ID, channel:ID, role:ID and user:ID, separated by commas, or * for everyone; empty allows nobody
    #[arg(long, env, global = true, default_value = "")]
    pub discord_allow: String,
    /// What to answer in channels: mentions, threads (mentions, and everything in threads it takes part in), always, or never
    #[arg(long, env, global = true, default_value = "threads")]
    pub discord_answer: AnswerMode,
    /// Whether to request the Message Content intent, which must be enabled in the developer portal; without it only mentions, direct messages and commands are answered
    #[arg(long, env, global = true, value_parser = clap::value_parser!(bool), action = clap::ArgAction::Set, default_value_t = true)]
    pub discord_message_content: bool,
    /// For development: register the commands in this guild only, where changes show at once
    #[arg(long, env, global = true, default_value = "")]
    pub discord_guild: String,
    /// Number of gateway shards, or auto for the number that Discord recommends
    #[arg(long, env, global = true, default_value = "auto")]
    pub discord_shards: String,
    /// Address of an HTTP proxy for Discord's API that handles rate limits itself
    #[arg(long, env, global = true, default_value = "")]
    pub discord_api_proxy: String,
}

/// A bot on Discord, checked as far as it can be without asking.
#[derive(Clone, Debug)]
pub struct DiscordConfig {
    pub token: SecretString,
    /// The adapter knows what it may hold.
    pub allow: String,
    pub answer: AnswerMode,
    pub reads_messages: bool,
    pub guild: Option<u64>,
    /// None: as many as Discord recommends.
    pub shards: Option<u32>,
    pub proxy: Option<String>,
}

impl DiscordOptions {
    pub(super) fn into_config(self) -> Result<Option<DiscordConfig>, ConfigError> {
        let Some(token) = filled_secret(&self.discord_token) else {
            return match filled(&self.discord_allow) {
                Some(_) => Err(ConfigError::HalfSet {
                    set: "DISCORD_ALLOW",
                    missing: "DISCORD_TOKEN",
                }),
                None => Ok(None),
            };
        };
        let not = |name, value: &str, needs| ConfigError::Unreadable {
            name,
            value: value.to_owned(),
            needs,
        };
        let guild = filled(&self.discord_guild)
            .map(|id| match id.parse() {
                Ok(id @ 1..) => Ok(id),
                Ok(0) | Err(_) => Err(not("DISCORD_GUILD", &id, "the id of a guild")),
            })
            .transpose()?;
        let shards = match self.discord_shards.trim() {
            "" | "auto" => None,
            number => match number.parse() {
                Ok(number @ 1..) => Some(number),
                Ok(0) | Err(_) => {
                    return Err(not("DISCORD_SHARDS", number, "a number from 1, or auto"));
                }
            },
        };
        Ok(Some(DiscordConfig {
            token,
            allow: self.discord_allow,
            answer: self.discord_answer,
            reads_messages: self.discord_message_content,
            guild,
            shards,
            proxy: filled(&self.discord_api_proxy),
        }))
    }
}
