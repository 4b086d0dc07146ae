//! The settings of all platforms.

use clap::Args;

/// The options of the platforms this program was built with, each its adapter's own.
#[derive(Args, Clone, Debug)]
pub(in crate::cli) struct PlatformArgs {
    #[cfg(feature = "matrix")]
    #[command(flatten)]
    pub(in crate::cli) matrix: muninn_matrix::MatrixArgs,
    #[cfg(feature = "slack")]
    #[command(flatten)]
    pub(in crate::cli) slack: muninn_slack::SlackArgs,
    #[cfg(feature = "discord")]
    #[command(flatten)]
    pub(in crate::cli) discord: muninn_discord::DiscordArgs,
    #[cfg(feature = "webhook")]
    #[command(flatten)]
    pub(in crate::cli) webhook: muninn_webhook::WebhookArgs,
}
