//! `muninn source`: manages ingested sources.

use std::io::{BufRead as _, IsTerminal as _, Write as _};

use clap::Subcommand;
use muninn::knowledge::anonymise::{Originals, key};
use muninn::knowledge::changing;
use muninn_platform::count_with_noun;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::context::Context;
use super::ingest::{CatalogArgs, catalog, patient};
use super::output::{Exit, Output};
use super::refresh;

#[derive(Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SourceCommand {
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

impl SourceCommand {
    /// Asks the user for confirmation, if necessary.
    ///
    /// # Errors
    /// Fails when nobody is there to answer.
    pub(super) fn is_meant(&self) -> anyhow::Result<bool> {
        match self {
            Self::Remove { name, yes: false } => answered(&format!(
                "Remove the source {name} with everything that was ingested of it?"
            )),
            Self::List(_)
            | Self::Remove { .. }
            | Self::Refresh { .. }
            | Self::Originals { .. }
            | Self::Rename { .. } => Ok(true),
        }
    }
}

pub(super) async fn run(at: &Context, command: SourceCommand) -> anyhow::Result<Exit> {
    let config = &at.config;
    let said = match command {
        SourceCommand::List(args) => return catalog(at, &args).await,
        SourceCommand::Refresh { name, json } => {
            return refresh::run(at, name.as_deref(), json).await;
        }
        SourceCommand::Originals { name, json: true } => {
            let Originals(all) = key::load(&config.data_dir, &name)?.unwrap_or_default();
            let all = all
                .iter()
                .map(|(placeholder, it)| json!({"placeholder": placeholder, "stands_for": it}));
            return at.out.say_json(&all.collect::<Vec<_>>()).await;
        }
        SourceCommand::Originals { name, json: false } => match key::load(&config.data_dir, &name)?
        {
            Some(Originals(all)) if !all.is_empty() => {
                let lines = all
                    .iter()
                    .map(|(placeholder, it)| format!("{placeholder}  {it}"));
                lines.collect::<Vec<_>>().join("\n")
            }
            Some(_) | None => {
                format!("Nothing was taken out of a source {name:?} in this data folder.")
            }
        },
        SourceCommand::Remove { name, yes: _ } => {
            let store = at.graph_as(&patient(config)).await?;
            let removed = changing::remove(&store, &config.data_dir, &name).await;
            store.close().await?;
            let removed = count_with_noun(removed?, "chunk");
            let again = refresh::named(config, &name).await;
            format!("{name} was removed, with {removed}.{again}")
        }
        SourceCommand::Rename { old, new } => {
            let store = at.graph_as(&patient(config)).await?;
            let renamed = changing::rename(&store, &config.data_dir, &old, &new).await;
            store.close().await?;
            let chunks = count_with_noun(renamed?, "chunk");
            format!("{old} is {new} now, with {chunks}. Ingest it again with --as {new:?}.")
        }
    };
    at.out.say(&said).await
}

/// Asks within a command, which may run in another process than the user's.
///
/// # Errors
/// Fails when nobody is there to answer.
pub(super) fn confirmed(at: &Context, question: &str) -> anyhow::Result<bool> {
    match at.out {
        Output::Here => answered(question),
        Output::There { .. } | Output::Nowhere => Err(unanswered(question)),
    }
}

pub(super) fn answered(question: &str) -> anyhow::Result<bool> {
    if !std::io::stdin().is_terminal() {
        return Err(unanswered(question));
    }
    let mut err = std::io::stderr().lock();
    write!(err, "{question} [y/N] ")?;
    err.flush()?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

fn unanswered(question: &str) -> anyhow::Error {
    anyhow::anyhow!("{question} Nobody can answer here: add --yes if that is meant")
}
