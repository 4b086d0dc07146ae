//! `muninn schema`: shows the schema of the team's knowledge.

use std::sync::Arc;

use muninn::graph::schema::Survey;
use muninn::knowledge::search::nodes::{NodeSettings, in_a_line, proposed};

use super::args::schema::SchemaArgs;
use super::context::Context;
use super::exit::Exit;

/// The output without knowledge.
pub(super) const NONE: &str =
    "There is no knowledge in the graph yet; `muninn demo movies` loads some to try.";

/// Prints the schema; as JSON in the form that `muninn cypher check --schema` reads.
pub(super) async fn run(at: &Context, args: &SchemaArgs) -> anyhow::Result<Exit> {
    let survey = live(at).await?;
    if args.json {
        at.out.say_json(&survey.schema).await
    } else if survey.is_empty() {
        at.out.say(NONE).await
    } else {
        let nodes = of_nodes(at, &survey)?;
        let told = format!("{}\n\n{nodes}", survey.text(u32::MAX).trim_end());
        at.out.say(told.trim_end()).await
    }
}

/// Describes which nodes are searched by meaning, and which others could be.
fn of_nodes(at: &Context, survey: &Survey) -> anyhow::Result<String> {
    let plan = NodeSettings::load(at.config.prompts_dir.as_deref())?.plan(survey);
    let is_searched = |label: &str| {
        plan.labels
            .iter()
            .any(|one| !one.is_beside && one.label == label)
    };
    let proposed = proposed(survey);
    let others = proposed.iter().filter(|one| !is_searched(&one.label));
    let lines = [
        ("Searched by meaning", plan.searched()),
        (
            "Could be searched by meaning (nodes.toml, docs/knowledge.md)",
            in_a_line(others),
        ),
    ];
    let told = lines.iter().filter(|(_, labels)| !labels.is_empty());
    let told: Vec<String> = told
        .map(|(head, labels)| format!("{head}: {labels}"))
        .collect();
    Ok(told.join("\n"))
}

/// Returns the current schema of the graph.
pub(super) async fn live(at: &Context) -> anyhow::Result<Arc<Survey>> {
    let store = at.graph().await?;
    let survey = store.schema().await;
    store.close().await?;
    Ok(survey?)
}
