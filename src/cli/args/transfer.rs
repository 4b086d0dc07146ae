//! What `muninn export` takes.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

/// What is exported.
#[derive(Args, Debug, Serialize, Deserialize)]
pub(in crate::cli) struct ExportArgs {
    pub(in crate::cli) file: PathBuf,
    /// Only what is kept of the person with this id, as JSON, and beside it as Markdown
    #[arg(long, value_name = "ID", conflicts_with = "channels")]
    pub(in crate::cli) person: Option<String>,
    /// How it is written
    #[arg(long, value_enum, default_value_t)]
    pub(in crate::cli) format: ExportFormat,
    /// Channels whose conversations are written as chat-jsonl, by their ids
    #[arg(long, value_delimiter = ',')]
    pub(in crate::cli) channels: Vec<String>,
}

/// How an export is written.
#[derive(Clone, Copy, Debug, Default, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::cli) enum ExportFormat {
    /// Every node and relationship, for `muninn import`
    #[default]
    Graph,
    /// A conversation a line, for fine-tuning; nothing private, and nothing of people who opted out there
    ChatJsonl,
}
