//! What `muninn sessions` and `muninn recall` take.

use clap::Args;
use serde::{Deserialize, Serialize};

#[derive(Args, Debug, Serialize, Deserialize)]
pub(in crate::cli) struct SessionsArgs {
    /// Print JSON
    #[arg(long)]
    pub(in crate::cli) json: bool,
}

#[derive(Args, Debug, Serialize, Deserialize)]
pub(in crate::cli) struct RecallArgs {
    pub(in crate::cli) question: String,
    /// Ask in this conversation's audience
    #[arg(long, conflicts_with = "audience")]
    pub(in crate::cli) session: Option<String>,
    /// Ask in this audience
    #[arg(long, default_value = "terminal")]
    pub(in crate::cli) audience: String,
    /// Ask as the person of this name, or with this account's ID: who "I" is
    #[arg(long = "as", value_name = "NAME")]
    pub(in crate::cli) asker: Option<String>,
    /// Maximum number of candidates to show
    #[arg(long, default_value_t = 20)]
    pub(in crate::cli) limit: usize,
    /// Print JSON
    #[arg(long)]
    pub(in crate::cli) json: bool,
}
