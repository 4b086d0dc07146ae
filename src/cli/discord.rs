//! From the configuration to the Discord adapter, and the bot's invitation.

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use muninn::config::Config;
use muninn_discord::{Api, GuildId, Options, Shards, invite};

/// The adapter's options, where Discord is configured.
pub(super) fn options(config: &Config) -> anyhow::Result<Option<Options>> {
    let Some(discord) = &config.discord else {
        return Ok(None);
    };
    Ok(Some(Options {
        guild: discord.guild.map(GuildId::new),
        allow: discord.allow.parse()?,
        answer: discord.answer,
        channels: Arc::clone(&config.channels),
        shards: discord.shards.map_or(Shards::Auto, Shards::Number),
        reads_messages: discord.reads_messages,
        api: discord.proxy.clone().map_or(Api::Discord, Api::Proxy),
        ..Options::new(discord.token.clone())
    }))
}

/// Prints the address that invites the bot.
pub(super) async fn print_invite(config: &Config) -> anyhow::Result<ExitCode> {
    let options = options(config)?.context(
        "DISCORD_TOKEN is not set; it is in the developer portal, under \"Bot\" of the application",
    )?;
    let address = invite(&options).await?;
    writeln!(std::io::stdout().lock(), "{address}")?;
    Ok(ExitCode::SUCCESS)
}
