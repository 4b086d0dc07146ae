//! `muninn schema`: what the team's knowledge is made of.

use std::sync::Arc;

use clap::Args;
use muninn::graph::schema::Survey;
use serde::{Deserialize, Serialize};

use super::context::Context;
use super::output::Exit;

/// What is said where there is no knowledge.
pub(super) const NONE: &str =
    "There is no knowledge in the graph yet; `muninn demo movies` loads some to try.";

#[derive(Args, Debug, Serialize, Deserialize)]
pub(super) struct SchemaArgs {
    /// Print JSON, which `cypher check --schema` reads
    #[arg(long)]
    json: bool,
}

/// Prints the schema; as JSON in the form that `muninn cypher check --schema` reads.
pub(super) async fn run(at: &Context, args: &SchemaArgs) -> anyhow::Result<Exit> {
    let survey = live(at).await?;
    if args.json {
        at.out.say_json(&survey.schema).await
    } else if survey.is_empty() {
        at.out.say(NONE).await
    } else {
        at.out.say(survey.text(u32::MAX).trim_end()).await
    }
}

/// What the graph holds now.
pub(super) async fn live(at: &Context) -> anyhow::Result<Arc<Survey>> {
    let store = at.graph().await?;
    let survey = store.schema().await;
    store.close().await?;
    Ok(survey?)
}
