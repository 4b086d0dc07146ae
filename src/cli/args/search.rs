//! What `muninn search` takes.

use clap::Args;
use serde::{Deserialize, Serialize};

#[derive(Args, Debug, Serialize, Deserialize)]
pub(in crate::cli) struct SearchArgs {
    pub(in crate::cli) question: String,
    /// The channel in which it is asked, by its id; some sources are seen only there
    #[arg(long, default_value = "terminal")]
    pub(in crate::cli) channel: String,
    /// Finds shown at most
    #[arg(long)]
    pub(in crate::cli) limit: Option<usize>,
    /// Print JSON
    #[arg(long)]
    pub(in crate::cli) json: bool,
}
