//! What `muninn source` takes.

use clap::Subcommand;
use serde::{Deserialize, Serialize};

use super::ingest::CatalogArgs;

#[derive(Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::cli) enum SourceCommand {
    /// List the sources, as `muninn catalog` does
    List(CatalogArgs),
    /// Remove a source with everything that was ingested of it
    ///
    /// Answers that were made from it stay as they are; `/why` says that the source was removed.
    Remove {
        name: String,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
    /// Read sources again now that the sources file names: folders, git repositories, websites
    Refresh {
        /// Only this one
        name: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show what the placeholders of a source stand for that was ingested with --anonymise
    Originals {
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Give a source another name; nothing is embedded again
    Rename { old: String, new: String },
}
