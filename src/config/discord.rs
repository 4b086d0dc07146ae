//! What can be set for Discord.

use clap::Args;
use muninn_platform::AnswerMode;
use secrecy::SecretString;

use super::{ConfigError, filled, filled_secret};

/// Every option of Discord.
#[derive(Args, Clone, Debug)]
pub struct DiscordOptions {
    /// Token of the bot on Discord; unset for no Discord
    #[arg(long, env, global = true, default_value = "", hide_env_values = true)]
    pub discord_token: SecretString,
    /// Who is let in: guild:ID, channel:ID, role:ID and user:ID, separated by commas, or * for everyone
    #[arg(long, env, global = true, default_value = "")]
    pub discord_allow: String,
    /// What is answered in channels: mentions, threads it takes part in too, always, or never
    #[arg(long, env, global = true, default_value = "threads")]
    pub discord_answer: AnswerMode,
    /// Whether messages that do not mention it may be read, which has to be switched on in the developer portal
    #[arg(long, env, global = true, value_parser = clap::value_parser!(bool), action = clap::ArgAction::Set, default_value_t = true)]
    pub discord_message_content: bool,
    /// For development: the id of the one guild that gets the commands, at once
    #[arg(long, env, global = true, default_value = "")]
    pub discord_guild: String,
    /// Connections to the gateway: a number, or auto for as many as Discord recommends
    #[arg(long, env, global = true, default_value = "auto")]
    pub discord_shards: String,
    /// Address of a proxy that stands for Discord and keeps its rate limits
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
