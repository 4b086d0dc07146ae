//! From the configuration to the Slack adapter, and the app's manifest.

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use muninn::config::{Config, SlackEntrance};
use muninn_slack::{Entrance, Mode, Options, manifest};

/// How the app's events are to come in.
#[derive(Args, Debug)]
pub(super) struct ManifestArgs {
    /// The public address that Slack is to call, such as <https://bot.example.org>; without it, Socket Mode
    #[arg(long)]
    url: Option<String>,
}

/// The adapter's options, where Slack is configured.
pub(super) fn options(config: &Config) -> anyhow::Result<Option<Options>> {
    let Some(slack) = &config.slack else {
        return Ok(None);
    };
    let entrance = match &slack.entrance {
        SlackEntrance::Socket { app_token } => Entrance::Socket {
            app_token: app_token.clone(),
        },
        SlackEntrance::Http {
            address,
            signing_secret,
        } => Entrance::Http {
            signing_secret: signing_secret.clone(),
            address: *address,
        },
    };
    Ok(Some(Options {
        allow: slack.allow.parse()?,
        answer: slack.answer,
        channels: Arc::clone(&config.channels),
        api_url: slack.api_url.clone(),
        direct_threads: slack.direct_threads,
        command: config.slack_command.clone(),
        ..Options::new(slack.bot_token.clone(), entrance)
    }))
}

/// Prints what Slack takes under "Create an app from a manifest".
pub(super) fn print_manifest(config: &Config, args: ManifestArgs) -> anyhow::Result<ExitCode> {
    let mode = match args.url {
        None => Mode::Socket,
        Some(url) if url.starts_with("https://") => Mode::Http(url),
        Some(url) => anyhow::bail!("--url is {url:?}, but Slack calls https:// addresses only"),
    };
    let manifest = manifest(&mode, &config.turn.bot_name, &config.slack_command);
    writeln!(std::io::stdout().lock(), "{manifest:#}")?;
    Ok(ExitCode::SUCCESS)
}
