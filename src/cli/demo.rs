//! `muninn demo`: a graph to try things on.

use muninn_platform::counted;

use clap::ValueEnum;
use muninn::demo::load_movies;
use serde::{Deserialize, Serialize};

use super::context::Context;
use super::output::Exit;

/// Which graph.
#[derive(Clone, Copy, Debug, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Demo {
    /// 38 movies, and 133 people who played in, directed, wrote, produced or reviewed them
    Movies,
}

/// Loads it, or what is missing of it.
pub(super) async fn run(at: &Context, demo: Demo) -> anyhow::Result<Exit> {
    let store = at.graph().await?;
    let loaded = match demo {
        Demo::Movies => load_movies(&store).await,
    };
    store.close().await?;
    let loaded = loaded?;
    let done = match (loaded.nodes, loaded.relationships) {
        (0, 0) => "The movies are in the graph already.".to_owned(),
        (nodes, relationships) => format!(
            "Loaded {nodes} movies and people, with {} between them.",
            counted(relationships, "relationship")
        ),
    };
    at.out
        .say(&format!(
            "{done} `muninn schema` shows what there is.\n\
         Now ask, in `muninn chat`:\n\
         \x20 Who played in The Matrix, and what else were they in?\n\
         \x20 Which directors also played in their own movies?\n\
         \x20 What did Jessica Thompson think of Cloud Atlas?"
        ))
        .await
}
