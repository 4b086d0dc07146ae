//! The adapter's configuration.

use std::net::SocketAddr;
use std::sync::Arc;

use clap::Args;
use muninn_platform::{
    AnswerMode, Channels, Missed, SettingsError, non_empty, non_empty_secret, none_if_all_unset,
};
use muninn_platform::{Histories, Memberships};
use reqwest::Url;
use secrecy::SecretString;
use serenity::model::id::GuildId;

use crate::DiscordAllowList;
use crate::shards::{Shards, ShardsError};

/// How Discord is reached.
#[derive(Clone, Debug, Default)]
pub enum ApiEndpoint {
    /// Directly, with a rate limiter of our own.
    #[default]
    Discord,
    /// Through a proxy that handles rate limits itself: `http://host:port` replaces
    /// `https://discord.com`.
    Proxy(String),
    /// Directly, but `discord.com` resolves to this address, with a certificate of this authority
    /// (PEM): for a self-hosted Discord.
    Elsewhere {
        address: SocketAddr,
        authority: Vec<u8>,
    },
}

/// The adapter's configuration.
#[derive(Clone, Debug)]
pub struct DiscordOptions {
    pub token: SecretString,
    /// Registers the commands in this guild only, where they appear at once; for development.
    pub guild: Option<GuildId>,
    pub allow: DiscordAllowList,
    /// Which messages are answered, unless the channel has its own setting.
    pub answer: AnswerMode,
    /// Settings of single channels.
    pub channels: Arc<Channels>,
    pub shards: Shards,
    /// Whether to read the messages of channels and threads, which must be enabled for the
    /// application. Otherwise only mentions, direct messages and commands are answered.
    pub reads_messages: bool,
    pub api: ApiEndpoint,
    /// An additional host of files, beside Discord's own: `host:port`.
    pub file_host: Option<String>,
    /// What to do about messages from while the bot was offline.
    pub missed: Missed,
    /// Where the adapter registers that it can read histories.
    pub histories: Histories,
    /// Where the adapter registers that it can answer who may read what.
    pub memberships: Memberships,
}

impl DiscordOptions {
    /// Creates options with all defaults.
    pub fn new(token: SecretString) -> Self {
        Self {
            token,
            guild: None,
            allow: DiscordAllowList::default(),
            answer: AnswerMode::default(),
            channels: Arc::default(),
            shards: Shards::default(),
            reads_messages: true,
            api: ApiEndpoint::default(),
            file_host: None,
            missed: Missed::default(),
            histories: Histories::default(),
            memberships: Memberships::default(),
        }
    }
}

/// Every option of Discord.
#[derive(Args, Clone, Debug)]
pub struct DiscordArgs {
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
    /// Gateway shards: their number, auto for the number that Discord recommends, or those of this process out of all, such as 0-3/8 or 4/8
    #[arg(long, env, global = true, default_value = "auto")]
    pub discord_shards: String,
    /// Address of an HTTP proxy for Discord's API that handles rate limits itself
    #[arg(long, env, global = true, default_value = "")]
    pub discord_api_proxy: String,
}

impl DiscordArgs {
    /// Returns the adapter's options, if Discord is set up.
    ///
    /// # Errors
    /// Names the variable that has to change.
    pub fn options(self, channels: Arc<Channels>) -> Result<Option<DiscordOptions>, SettingsError> {
        let Some(token) = non_empty_secret(&self.discord_token) else {
            let has_allow = non_empty(&self.discord_allow).is_some();
            return none_if_all_unset("DISCORD_TOKEN", &[("DISCORD_ALLOW", has_allow)]);
        };
        let not = |name, value: &str, needs| SettingsError::Unreadable {
            name,
            value: value.to_owned(),
            needs,
        };
        let guild = non_empty(&self.discord_guild)
            .map(|id| match id.parse() {
                Ok(id @ 1..) => Ok(GuildId::new(id)),
                Ok(0) | Err(_) => Err(not("DISCORD_GUILD", &id, "the id of a guild")),
            })
            .transpose()?;
        let shards = self.discord_shards.parse();
        let shards = shards
            .map_err(|ShardsError(needs)| not("DISCORD_SHARDS", &self.discord_shards, needs))?;
        let proxy = non_empty(&self.discord_api_proxy);
        let address = proxy.as_deref().and_then(|proxy| Url::parse(proxy).ok());
        Ok(Some(DiscordOptions {
            guild,
            allow: self.discord_allow.parse()?,
            answer: self.discord_answer,
            channels,
            shards,
            reads_messages: self.discord_message_content,
            api: proxy.map_or(ApiEndpoint::Discord, ApiEndpoint::Proxy),
            // A Discord of one's own has its files there.
            file_host: address.as_ref().and_then(authority),
            ..DiscordOptions::new(token)
        }))
    }
}

/// Returns the host of an address, with the port if it is not the usual one.
pub(crate) fn authority(address: &Url) -> Option<String> {
    let host = address.host_str()?;
    Some(match address.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use clap::{Command, FromArgMatches};

    use super::*;

    fn options(arguments: &[&str]) -> Result<Option<DiscordOptions>, String> {
        let command = DiscordArgs::augment_args(Command::new("muninn"));
        let arguments = std::iter::once("muninn").chain(arguments.iter().copied());
        let read = DiscordArgs::from_arg_matches(&command.get_matches_from(arguments)).unwrap();
        assert!(!format!("{read:?}").contains("hunter"), "{read:?}");
        let options = read.options(Arc::default());
        options.map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_set_is_read() {
        assert!(options(&[]).unwrap().is_none());
        let said = options(&["--discord-allow", "*"]).unwrap_err();
        assert!(said.contains("DISCORD_TOKEN is not"), "{said}");
        let with = |more: &[&str]| options(&[&["--discord-token", "hunter1"], more].concat());
        for wrong in [
            ["--discord-guild", "here"],
            ["--discord-shards", "0"],
            ["--discord-shards", "3-0/8"],
            ["--discord-allow", "general"],
        ] {
            let said = with(&wrong).unwrap_err();
            assert!(said.contains(wrong[1]), "{said}");
        }
        let read = with(&["--discord-guild", "7", "--discord-shards", "2"]);
        let read = read.unwrap().unwrap();
        assert_eq!(
            (read.guild, read.shards),
            (Some(GuildId::new(7)), Shards::Number(2))
        );
        assert!(!format!("{read:?}").contains("hunter"), "{read:?}");
        assert_eq!(with(&[]).unwrap().unwrap().shards, Shards::Auto);
        let read = with(&["--discord-shards", "0-3/8"]).unwrap().unwrap();
        assert_eq!(Ok(read.shards), "0-3/8".parse());
    }

    #[test]
    fn files_may_be_where_the_proxy_is() {
        for (proxy, host) in [
            ("http://127.0.0.1:9000", Some("127.0.0.1:9000")),
            ("https://discord.example/", Some("discord.example")),
            ("nonsense", None),
            ("", None),
        ] {
            let set = ["--discord-token", "hunter1", "--discord-api-proxy", proxy];
            let read = options(&set).unwrap().unwrap();
            assert_eq!(read.file_host.as_deref(), host, "{proxy}");
        }
    }
}
