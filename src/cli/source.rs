//! `muninn source`: manages ingested sources.

use muninn::knowledge::anonymise::{Originals, key};
use muninn::knowledge::changing;
use muninn_platform::count_with_noun;
use serde_json::json;

use super::args::source::SourceCommand;
use super::context::Context;
use super::exit::Exit;
use super::ingest::catalog;
use super::ingest::summary::patient;
use super::prompt::answered;
use super::refresh;

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
            let again = refresh::comes_back(config, &name).await;
            format!("{name} was removed, with {removed}.{again}")
        }
        SourceCommand::Rename { old, new } => {
            let store = at.graph_as(&patient(config)).await?;
            let renamed = changing::rename(&store, &config.data_dir, &old, &new).await;
            store.close().await?;
            let chunks = count_with_noun(renamed?, "chunk");
            let again = match refresh::is_configured(config, &old).await {
                true => format!(
                    "Rename its section [{old}] of {} to [{new}] as well; otherwise the next refresh makes a second source.",
                    config.sources_file.path.display()
                ),
                false => format!("Ingest it again with --as {new:?}."),
            };
            format!("{old} is {new} now, with {chunks}. {again}")
        }
    };
    at.out.say(&said).await
}
