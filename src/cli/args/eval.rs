//! What `muninn eval` takes.

use std::path::PathBuf;

use clap::Args;
use serde::{Deserialize, Serialize};

#[derive(Args, Debug, Clone, Serialize, Deserialize)]
pub(in crate::cli) struct EvalArgs {
    /// Measure this channel alone, by its id; may be given several times
    #[arg(long)]
    pub(in crate::cli) channel: Vec<String>,
    /// Maximum number of questions of each kind to ask again
    #[arg(long, default_value_t = 500)]
    pub(in crate::cli) most: usize,
    /// Ask labelled questions, too: JSON lines like those of tests/data/team/queries.jsonl
    #[arg(long)]
    pub(in crate::cli) labels: Option<PathBuf>,
    /// Ask the same questions with another setting, such as `RECALL_TOKENS=500` or `EMBEDDING_MODEL=name` (empty for the built-in
    /// embedder); several are used together
    #[arg(long, value_name = "NAME=VALUE")]
    pub(in crate::cli) with: Vec<String>,
    /// Ask the embedding service; without it, questions are asked again by their words alone where a service embeds
    #[arg(long)]
    pub(in crate::cli) embed: bool,
    /// Save the report; it has no words that anybody said
    #[arg(long)]
    pub(in crate::cli) save: Option<PathBuf>,
    /// Compare with a saved report; exits with 1 if something is worse
    #[arg(long)]
    pub(in crate::cli) against: Option<PathBuf>,
    /// Show what was asked where nothing was found: words that people said
    #[arg(long)]
    pub(in crate::cli) show: bool,
    /// Print JSON
    #[arg(long)]
    pub(in crate::cli) json: bool,
}
