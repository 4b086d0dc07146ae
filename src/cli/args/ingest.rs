//! What `muninn ingest` takes.

use std::path::PathBuf;

use clap::Args;
use serde::{Deserialize, Serialize};

#[derive(Args, Debug, Serialize, Deserialize)]
pub(in crate::cli) struct IngestArgs {
    /// Folders of anything, or files: .md, .txt, .html, .pdf, .docx and other documents; .json, .jsonl, .csv
    #[arg(required = true)]
    pub(in crate::cli) paths: Vec<PathBuf>,
    /// How records become nodes: a TOML file, or one that is built in (`archives`, `contracts`, `policies`)
    #[arg(long)]
    pub(in crate::cli) mapping: Option<String>,
    /// What the source is called; unset for the name of the path
    #[arg(long = "as", value_name = "NAME")]
    pub(in crate::cli) name: Option<String>,
    /// Channels that may see it, by their ids, or `everybody`; unset for those of its last version, or everybody
    #[arg(long, value_delimiter = ',')]
    pub(in crate::cli) channels: Vec<String>,
    /// Take only files that match, as in .gitignore; can be given several times
    #[arg(long, value_name = "GLOB")]
    pub(in crate::cli) include: Vec<String>,
    /// Leave alone what matches, as in .gitignore; can be given several times
    #[arg(long, value_name = "GLOB")]
    pub(in crate::cli) exclude: Vec<String>,
    /// Take names, addresses and numbers of people out of conversations and transcripts; `muninn source originals` has them
    #[arg(long)]
    pub(in crate::cli) anonymise: bool,
    /// Read and count, say what would happen to each file, and write nothing
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
    /// Without asking, remove sources whose files are gone, and replace those that were made from other paths
    #[arg(long)]
    pub(in crate::cli) yes: bool,
    /// Print JSON
    #[arg(long)]
    pub(in crate::cli) json: bool,
}

#[derive(Args, Debug, Default, Serialize, Deserialize)]
pub(in crate::cli) struct CatalogArgs {
    /// Print JSON
    #[arg(long)]
    pub(in crate::cli) json: bool,
}
