//! What `muninn offline-turns` takes.

use clap::Subcommand;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::cli) enum OfflineTurns {
    /// Lists how many turns wait, and each that the graph refused, with the reason
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Saves what waits, and tries again what the graph refused
    Retry,
    /// Removes what the graph refused, for good
    Discard,
}
