//! What `muninn ask` takes.

use clap::Args;
use serde::{Deserialize, Serialize};

#[derive(Args, Debug, Serialize, Deserialize)]
pub(in crate::cli) struct AskArgs {
    pub(in crate::cli) question: String,
    /// The conversation to continue; without it, the question is a conversation of its own
    #[arg(long)]
    pub(in crate::cli) session: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(in crate::cli) json: bool,
    /// What came on stdin, as base64; the process that answers has another one.
    #[arg(skip)]
    pub(in crate::cli) input: Option<String>,
    /// Who asks.
    #[arg(skip)]
    pub(in crate::cli) person: String,
}
