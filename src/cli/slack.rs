//! The Slack app's manifest.

use std::io::Write as _;

use clap::Args;
use muninn::config::Config;
use muninn_slack::{Mode, SlackArgs, manifest};

use super::output::Exit;

/// How the app's events are to come in.
#[derive(Args, Debug)]
pub(super) struct ManifestArgs {
    /// The public address that Slack is to call, such as <https://bot.example.org>; without it, Socket Mode
    #[arg(long)]
    url: Option<String>,
}

/// Prints the manifest for Slack's "Create an app from a manifest". An app has to exist before it
/// has tokens, so none are needed.
pub(super) fn print_manifest(
    config: &Config,
    slack: &SlackArgs,
    args: ManifestArgs,
) -> anyhow::Result<Exit> {
    let mode = match args.url {
        None => Mode::Socket,
        Some(url) if url.starts_with("https://") => Mode::Http(url),
        Some(url) => anyhow::bail!("--url is {url:?}, but Slack calls https:// addresses only"),
    };
    let manifest = manifest(&mode, &config.turn.bot_name, &slack.slack_command);
    writeln!(std::io::stdout().lock(), "{manifest:#}")?;
    Ok(Exit::SUCCESS)
}
