//! From the configuration to the Discord adapter, and the bot's invitation.

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use muninn::config::{Config, DiscordConfig};
use muninn_discord::{Api, Discord, GuildId, Options, Shards, invite};
use muninn_platform::{Finding, Platform};

use super::platforms::unusable;

/// The adapter, where Discord is configured.
pub(super) fn platform(config: &Config) -> anyhow::Result<Option<Box<dyn Platform>>> {
    let Some(discord) = &config.discord else {
        return Ok(None);
    };
    Ok(Some(Box::new(Discord::new(options(config, discord)?))))
}

/// What it says of its account.
pub(super) async fn check(config: &Config) -> Vec<Finding> {
    let Some(discord) = &config.discord else {
        return Vec::new();
    };
    match options(config, discord) {
        Ok(options) => muninn_discord::check(&options).await,
        Err(error) => unusable(&error),
    }
}

/// The adapter's options.
fn options(config: &Config, discord: &DiscordConfig) -> anyhow::Result<Options> {
    Ok(Options {
        guild: discord.guild.map(GuildId::new),
        allow: discord.allow.parse()?,
        answer: discord.answer,
        channels: Arc::clone(&config.channels),
        shards: discord.shards.map_or(Shards::Auto, Shards::Number),
        reads_messages: discord.reads_messages,
        api: discord.proxy.clone().map_or(Api::Discord, Api::Proxy),
        ..Options::new(discord.token.clone())
    })
}

/// Prints the address that invites the bot.
pub(super) async fn print_invite(config: &Config) -> anyhow::Result<ExitCode> {
    let discord = config.discord.as_ref().context(
        "DISCORD_TOKEN is not set; it is in the developer portal, under \"Bot\" of the application",
    )?;
    let address = invite(&options(config, discord)?).await?;
    writeln!(std::io::stdout().lock(), "{address}")?;
    Ok(ExitCode::SUCCESS)
}
