//! The Slack app's manifest.

use std::io::Write as _;

use muninn::config::Config;
use muninn_slack::{Mode, SlackArgs, manifest};

use super::args::slack::ManifestArgs;
use super::exit::Exit;

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
