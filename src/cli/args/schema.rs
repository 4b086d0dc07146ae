//! What `muninn schema` takes.

use clap::Args;
use serde::{Deserialize, Serialize};

#[derive(Args, Debug, Serialize, Deserialize)]
pub(in crate::cli) struct SchemaArgs {
    /// Print JSON, which `cypher check --schema` reads
    #[arg(long)]
    pub(in crate::cli) json: bool,
}
