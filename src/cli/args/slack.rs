//! What `muninn manifest` takes.

use clap::Args;

/// How the app's events are to come in.
#[derive(Args, Debug)]
pub(in crate::cli) struct ManifestArgs {
    /// The public address that Slack is to call, such as <https://bot.example.org>; without it, Socket Mode
    #[arg(long)]
    pub(in crate::cli) url: Option<String>,
}
