//! Searched nodes: those that were in the graph before, beside ingested knowledge.

use std::path::Path;
use std::sync::Arc;

use muninn::demo::load_movies;
use muninn::graph::transfer::GraphNode;
use muninn::graph::{self, GraphStore};
use muninn::knowledge::search::nodes::NodeSettings;
use muninn::knowledge::search::{Degradation, SearchResults, Searcher, Weights};
use muninn::wiring::{models, recaller};
use muninn_platform::AudienceId;
use serde_json::json;

use crate::support::bot::BotStorage;
use crate::support::model_server::ModelServer;
use crate::{search, searcher};

fn names(found: &SearchResults) -> Vec<&str> {
    found.hits.iter().map(|hit| hit.title.as_str()).collect()
}

async fn with_movies(place: &BotStorage) -> Arc<GraphStore> {
    let store = graph::open(&place.config(None, &[]).graph).await.unwrap();
    load_movies(&store).await.unwrap();
    store
}

fn of_nodes(searcher: Arc<Searcher>, settings: NodeSettings, folder: &Path) -> Arc<Searcher> {
    let searcher = Arc::into_inner(searcher).unwrap();
    Arc::new(searcher.with_nodes(settings, folder))
}

async fn film(store: &GraphStore, title: &str, plot: &str) {
    let properties = json!({"title": title, "plot": plot});
    let node = GraphNode {
        id: String::new(),
        labels: vec!["Movie".to_owned()],
        properties: properties.as_object().unwrap().clone(),
    };
    store.create_nodes(vec![node]).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_are_found_by_meaning_by_words_and_by_what_they_are_tied_to() {
    let place = BotStorage::embedded();
    let store = with_movies(&place).await;
    let shipped = NodeSettings::load(None).unwrap();
    let searcher = of_nodes(searcher(&store), shipped, place.path());
    searcher.refresh().await;
    for (question, title) in [
        ("a spaceship that is broken on its way home", "Apollo 13"),
        ("somebody stranded alone on an island", "Cast Away"),
        ("robopsychologist", "I, Robot"),
        ("a lonely robot that cleans up our planet", "WALL·E"),
    ] {
        let found = search(&searcher, question, "terminal").await;
        assert!(
            names(&found).iter().take(3).any(|name| *name == title),
            "{question}: {found:#?}"
        );
        assert_eq!(found.degradations, []);
        assert!(found.hits.iter().all(|hit| hit.nodes.len() == 1));
    }
    let found = search(&searcher, "What was Ben Burtt in?", "terminal").await;
    assert!(names(&found).contains(&"Ben Burtt"), "{found:#?}");
    let wall_e = found.hits.iter().find(|hit| hit.title == "WALL·E").unwrap();
    assert!(
        wall_e.why[0].contains("one step from \"Ben Burtt\""),
        "{wall_e:#?}"
    );
    assert!(wall_e.text.contains("ageRating: G"), "{wall_e:#?}");
    // People are only found by their names.
    let found = search(&searcher, "a film about robots", "terminal").await;
    assert!(
        found.hits.iter().all(|hit| hit.label == "Movie"),
        "{found:#?}"
    );
    assert_eq!(searcher.node_labels().await, ["Movie"]);
    assert!(
        searcher
            .sources(&AudienceId::new("terminal"))
            .await
            .is_empty()
    );

    // New nodes are found when the graph's change is noticed; unset ones are not found any more.
    film(
        &store,
        "Nobody Knows It",
        "A lighthouse keeper teaches a walrus to play chess.",
    )
    .await;
    searcher.use_nodes(NodeSettings::load(None).unwrap());
    searcher.refresh().await;
    let found = search(&searcher, "chess with an animal", "terminal").await;
    assert_eq!(names(&found)[0], "Nobody Knows It");
    searcher.use_nodes(NodeSettings::default());
    searcher.refresh().await;
    let found = search(&searcher, "chess with an animal", "terminal").await;
    assert!(found.hits.is_empty(), "{found:#?}");
    store.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_embeds_each_node_once() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let server = ModelServer::start().await;
    let place = BotStorage::embedded();
    let config = place.config(Some(&server), &["--embedding-model=embedding"]);
    let store = with_movies(&place).await;
    let started = || {
        let embedder = models(&config).unwrap().embedder;
        let recaller = Arc::new(recaller(&config, embedder).unwrap());
        let searcher = Searcher::new(Arc::clone(&store), recaller, Weights::load(None).unwrap());
        let settings = NodeSettings::load(None).unwrap();
        Arc::new(searcher.with_nodes(settings, place.path()))
    };
    let asked = || -> usize { server.embedded().iter().map(|it| it.inputs().len()).sum() };

    // While the service is down, words are searched.
    server.set_down(true);
    let first = started();
    first.refresh().await;
    let found = search(&first, "robopsychologist", "terminal").await;
    assert_eq!(names(&found)[0], "I, Robot");
    assert_eq!(found.degradations, [Degradation::WordsOnly]);
    server.set_down(false);
    // It is not asked again at each check.
    let before = asked();
    first.refresh().await;
    assert_eq!(asked() - before, 0);
    first.use_nodes(NodeSettings::load(None).unwrap());
    first.refresh().await;
    assert_eq!(asked() - before, 40);
    let found = search(&first, "robopsychologist", "terminal").await;
    assert!(!found.hits[0].scores.cosine.is_nan(), "{found:#?}");
    drop(first);

    // The next process asks for one text, to learn the name of the service's vectors.
    let before = asked();
    let next = started();
    next.refresh().await;
    assert_eq!(asked() - before, 1);
    film(
        &store,
        "Nobody Knows It",
        "A lighthouse keeper plays chess.",
    )
    .await;
    next.use_nodes(NodeSettings::load(None).unwrap());
    next.refresh().await;
    assert_eq!(asked() - before, 2);
    store.close().await.unwrap();
    server.finish();
}
