//! `muninn schema`: what the team's knowledge is made of.

use std::process::ExitCode;
use std::sync::Arc;

use muninn::config::Config;
use muninn::graph::{self, schema::Survey};

use super::transfer::say;

/// What is said where there is no knowledge.
pub(super) const NONE: &str =
    "There is no knowledge in the graph yet; `muninn demo movies` loads some to try.";

/// Prints the schema; as JSON in the form that `muninn cypher check --schema` reads.
pub(super) async fn run(config: &Config, json: bool) -> anyhow::Result<ExitCode> {
    let survey = live(config).await?;
    if json {
        say(&serde_json::to_string_pretty(&survey.schema)?)
    } else if survey.is_empty() {
        say(NONE)
    } else {
        say(survey.text(u32::MAX).trim_end())
    }
}

/// What the graph holds now.
pub(super) async fn live(config: &Config) -> anyhow::Result<Arc<Survey>> {
    let store = graph::open(&config.graph).await?;
    let survey = store.schema().await;
    store.close().await?;
    Ok(survey?)
}
