//! What `muninn hold` takes.

use clap::Subcommand;
use serde::{Deserialize, Serialize};

#[derive(Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::cli) enum HoldCommand {
    /// List the places under a legal hold, and how many copies there are of what was forgotten there
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Delete the copies of a place whose hold has ended in the settings
    Release {
        /// As `muninn hold list` names it
        place: String,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
}
