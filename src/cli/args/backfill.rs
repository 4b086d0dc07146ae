//! What `muninn backfill` takes.

use chrono::NaiveDate;
use clap::Args;
use serde::{Deserialize, Serialize};

#[derive(Args, Clone, Debug, Serialize, Deserialize)]
pub(in crate::cli) struct BackfillArgs {
    /// The channel, as in the channel settings: slack/T…/C…, discord/GUILD/CHANNEL or matrix/!room:server
    pub(in crate::cli) channel: String,
    /// The first day that is read, such as 2026-01-31
    #[arg(long)]
    pub(in crate::cli) since: NaiveDate,
    /// Print JSON
    #[arg(long)]
    pub(in crate::cli) json: bool,
}
