//! What `muninn cypher` takes.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(in crate::cli) struct CheckArgs {
    /// The schema as JSON: {"nodes": {label: [[property, type], …]}, "relationships": {type: […]},
    /// "patterns": [[from, type, to], …]}; without it, the schema of the graph
    #[arg(long)]
    pub(in crate::cli) schema: Option<PathBuf>,
    /// Rows that may be asked for
    #[arg(long, default_value_t = 100)]
    pub(in crate::cli) rows: u32,
    /// Print JSON: whether it is let through, and the statement or why not; with `-` that is so anyway
    #[arg(long)]
    pub(in crate::cli) json: bool,
    /// The statement, or `-` for statements from stdin
    pub(in crate::cli) query: String,
}
