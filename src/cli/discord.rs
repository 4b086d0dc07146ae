//! The Discord bot's invitation.

use std::io::Write as _;
use std::sync::Arc;

use anyhow::Context as _;
use muninn::config::Config;
use muninn_discord::{DiscordArgs, invite};

use super::exit::Exit;

/// Prints the URL that invites the bot.
pub(super) async fn print_invite(config: &Config, discord: &DiscordArgs) -> anyhow::Result<Exit> {
    let options = discord.clone().options(Arc::clone(&config.channels))?;
    let options = options.context(
        "DISCORD_TOKEN is not set; it is in the developer portal, under \"Bot\" of the application",
    )?;
    let address = invite(&options).await?;
    writeln!(std::io::stdout().lock(), "{address}")?;
    Ok(Exit::SUCCESS)
}
