//! `muninn demo`: loads a sample graph.

use anyhow::Context as _;
use muninn::demo::{CONTRACTS, load_movies};
use muninn_platform::count_with_noun;
use private_files::create_private_folder;

use super::args::demo::Demo;
use super::args::ingest::IngestArgs;
use super::context::Context;
use super::exit::Exit;
use super::ingest;

/// Loads it, or what is missing of it.
pub(super) async fn run(at: &Context, demo: Demo) -> anyhow::Result<Exit> {
    match demo {
        Demo::Movies => movies(at).await,
        Demo::Contracts => contracts(at).await,
    }
}

/// Ingests the table like any other.
async fn contracts(at: &Context) -> anyhow::Result<Exit> {
    let folder = at.config.data_dir.join("demo");
    let path = folder.join("contracts.csv");
    create_private_folder(&folder)
        .and_then(|()| std::fs::write(&path, CONTRACTS))
        .with_context(|| format!("cannot write {}", path.display()))?;
    ingest::run(at, IngestArgs::mapped(path, "contracts")).await?;
    at.out
        .say(
            "`muninn schema` shows what there is.\n\
             Now ask, in `muninn chat` with a model, which writes the queries:\n\
             \x20 Which contracts are active?\n\
             \x20 How many suppliers work with Harbour Trading?\n\
             \x20 哪些合約仍然有效?",
        )
        .await
}

async fn movies(at: &Context) -> anyhow::Result<Exit> {
    let store = at.graph().await?;
    let loaded = load_movies(&store).await;
    store.close().await?;
    let loaded = loaded?;
    let done = match (loaded.nodes, loaded.relationships) {
        (0, 0) => "The movies are in the graph already.".to_owned(),
        (nodes, relationships) => format!(
            "Loaded {nodes} movies and people, with {} between them.",
            count_with_noun(relationships, "relationship")
        ),
    };
    at.out
        .say(&format!(
            "{done} `muninn schema` shows what there is.\n\
         Now ask, in `muninn chat` with a model, which writes the queries:\n\
         \x20 Who played in The Matrix, and what else were they in?\n\
         \x20 Which directors also played in their own movies?\n\
         \x20 What did Jessica Thompson think of Cloud Atlas?"
        ))
        .await
}
