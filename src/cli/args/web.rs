//! What `muninn web` takes.

use clap::Args;
use serde::{Deserialize, Serialize};

#[derive(Args, Clone, Debug, Serialize, Deserialize)]
pub(in crate::cli) struct WebArgs {
    /// As the one who runs the bot, who sees every conversation: each look is in `muninn audit`. Otherwise one sees what
    /// is said in terminals
    #[arg(long)]
    pub(in crate::cli) admin: bool,
    /// Who looks.
    #[arg(skip)]
    pub(in crate::cli) person: String,
}
