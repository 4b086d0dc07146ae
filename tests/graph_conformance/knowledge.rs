//! Knowledge: the demo, its schema, and that memory is not part of it.

use std::collections::BTreeMap;

use muninn::demo::{Loaded, load_movies};
use muninn::graph::knowledge::{KnowledgeLink, KnowledgeLinks, KnowledgeNodes};
use muninn::graph::schema::{Survey, Values};
use muninn::graph::transfer::{GraphNode, GraphRelationship};
use muninn::graph::{GraphStore, MEMORY_LABELS, MEMORY_RELATIONSHIPS, StoreError};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::lanes::{GraphBackend, StoreConversation};

/// In the properties of the planted nodes and in the texts of memory, where it must not be seen.
const PLANTED: &str = "muninn_planted_marker";

/// Both stores, with an empty server and no other test on it.
async fn lanes() -> [GraphBackend; 2] {
    [
        GraphBackend::embedded(),
        GraphBackend::emptied_neo4j().await,
    ]
}

crate::alone_on_every_store!(
    what_was_interrupted_is_completed_and_what_people_changed_stays,
    memory_is_never_in_the_schema,
    nodes_tell_their_texts_and_ties_and_memory_tells_none,
    every_kind_of_value_has_its_type_and_vectors_have_none,
);

fn count_of(survey: &Survey) -> (u64, u64) {
    (
        survey.nodes.values().sum(),
        survey.relationships.values().sum(),
    )
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Neo4j (NEO4J_TEST_URI)"]
async fn the_demo_is_loaded_once_and_means_the_same_on_every_store() {
    let mut seen: Option<Survey> = None;
    for lane in lanes().await {
        let store = lane.open().await;
        assert!(store.schema().await.unwrap().is_empty());
        let loaded = load_movies(&store).await.unwrap();
        assert_eq!(
            (loaded.nodes, loaded.relationships, loaded.all),
            (179, 259, 438)
        );
        let again = load_movies(&store).await.unwrap();
        assert_eq!(
            again,
            Loaded {
                nodes: 0,
                relationships: 0,
                all: 438
            }
        );

        let survey = store.schema().await.unwrap();
        assert_eq!(count_of(&survey), (179, 259));
        assert_eq!(
            serde_json::to_value(&survey.schema).unwrap(),
            json!({
                "nodes": {
                    "Movie": [
                        ["ageRating", "STRING"], ["plot", "STRING"], ["released", "INTEGER"],
                        ["stars", "FLOAT"], ["title", "STRING"], ["tagline", "STRING"],
                    ],
                    "Person": [["name", "STRING"], ["born", "INTEGER"]],
                },
                "relationships": {
                    "ACTED_IN": [["roles", "LIST"]],
                    "DIRECTED": [],
                    "FOLLOWS": [],
                    "PRODUCED": [],
                    "REVIEWED": [["rating", "INTEGER"], ["summary", "STRING"]],
                    "WROTE": [],
                },
                "patterns": [
                    ["Person", "ACTED_IN", "Movie"],
                    ["Person", "DIRECTED", "Movie"],
                    ["Person", "FOLLOWS", "Person"],
                    ["Person", "PRODUCED", "Movie"],
                    ["Person", "REVIEWED", "Movie"],
                    ["Person", "WROTE", "Movie"],
                ],
            })
        );
        if let Some(seen) = &seen {
            assert_eq!(*survey, *seen);
        }
        seen = Some((*survey).clone());
        store.wipe().await.unwrap();
        assert!(store.schema().await.unwrap().is_empty());
    }
}

async fn what_was_interrupted_is_completed_and_what_people_changed_stays(lane: &GraphBackend) {
    let store = lane.open().await;
    let some = KnowledgeNodes {
        label: "Person".to_owned(),
        key: "name".to_owned(),
        nodes: vec![
            BTreeMap::from([("name", json!("Keanu Reeves")), ("born", json!(1))])
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect(),
        ],
    };
    assert_eq!(store.merge_nodes(&some).await.unwrap(), 1);
    let loaded = load_movies(&store).await.unwrap();
    assert_eq!((loaded.nodes, loaded.relationships), (178, 259));
    let survey = store.schema().await.unwrap();
    assert_eq!(survey.nodes["Person"], 139);
    store.wipe().await.unwrap();
}

fn node(labels: &[&str], properties: Value) -> GraphNode {
    let Value::Object(properties) = properties else {
        panic!("no map: {properties}");
    };
    GraphNode {
        id: String::new(),
        labels: labels.iter().map(|label| (*label).to_owned()).collect(),
        properties,
    }
}

/// Plants memory, and nodes and relationships that reach into it.
async fn plant(store: &std::sync::Arc<GraphStore>) {
    let talk = StoreConversation::on(store);
    for _ in 0..3 {
        talk.say(PLANTED).await;
    }
    let nodes = vec![
        node(
            &["Movie", "Response"],
            json!({"id": "x1", "title": PLANTED, "secret": PLANTED}),
        ),
        node(&["Session", "Secret"], json!({"id": "x2", "name": PLANTED})),
        node(&["Person"], json!({"name": "Keanu Reeves' twin"})),
    ];
    let ids = store.create_nodes(nodes).await.unwrap();
    let tie = |from: usize, kind: &str, to: usize| GraphRelationship {
        kind: kind.to_owned(),
        from: ids[from].clone(),
        to: ids[to].clone(),
        properties: json!({"note": PLANTED}).as_object().unwrap().clone(),
    };
    let ties = vec![
        tie(0, "ACTED_IN", 2),
        tie(2, "FOLLOWS", 1),
        tie(0, "ABOUT", 2),
    ];
    store.create_relationships(ties).await.unwrap();
}

async fn memory_is_never_in_the_schema(lane: &GraphBackend) {
    let store = lane.open().await;
    load_movies(&store).await.unwrap();
    let without = store.schema().await.unwrap();
    plant(&store).await;
    let with = store.schema().await.unwrap();
    assert_eq!(with.nodes["Person"], 140);
    let mut expected = (*without).clone();
    expected.nodes.insert("Person".to_owned(), 140);
    assert_eq!(*with, expected);
    let told = format!("{with:?} {}", with.text(u32::MAX));
    assert!(!told.contains(PLANTED), "{told}");
    for name in MEMORY_LABELS
        .iter()
        .chain(MEMORY_RELATIONSHIPS)
        .filter(|name| name.len() > 2)
    {
        assert!(!told.contains(name), "{name}: {told}");
    }
    store.wipe().await.unwrap();
}

/// Collects everything that arrives.
async fn all<T>(reading: impl AsyncFnOnce(mpsc::Sender<T>) -> Result<(), StoreError>) -> Vec<T> {
    let (sender, mut rows) = mpsc::channel(10);
    let taking = async {
        let mut all = Vec::new();
        while let Some(row) = rows.recv().await {
            all.push(row);
        }
        all
    };
    let (read, all) = tokio::join!(reading(sender), taking);
    read.unwrap();
    all
}

async fn nodes_tell_their_texts_and_ties_and_memory_tells_none(lane: &GraphBackend) {
    let store = lane.open().await;
    load_movies(&store).await.unwrap();
    plant(&store).await;
    let properties = ["plot", "title", "stars", "nothing"].map(str::to_owned);
    let read = all(async |to| store.node_texts("Movie", &properties, 1_000, to).await).await;
    assert_eq!(read.len(), 40);
    assert!(!format!("{read:?}").contains(PLANTED), "{read:?}");
    let wall_e = read.iter().find(|node| node.texts[1] == "WALL·E").unwrap();
    assert!(wall_e.texts[0].contains("abandoned Earth"), "{wall_e:?}");
    assert_eq!(wall_e.texts[2..], ["", ""]);
    let few = all(async |to| store.node_texts("Movie", &properties, 7, to).await).await;
    // One of the seven may belong to memory.
    assert!((6..=7).contains(&few.len()), "{few:?}");

    let ties = ("Person", "ACTED_IN", "Movie");
    let links = all(async |to| store.node_links(ties, 1_000, to).await).await;
    let cast: Vec<String> = links
        .into_iter()
        .filter(|link| link.to == wall_e.element)
        .map(|link| link.from)
        .collect();
    let people = store.node_properties("Person", &cast).await.unwrap();
    let mut names: Vec<&str> = people
        .values()
        .filter_map(|person| person["name"].as_str())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["Ben Burtt", "Jeff Garlin"]);

    let of_movie = [wall_e.element.clone(), "nobody".to_owned()];
    let said = store.node_properties("Movie", &of_movie).await.unwrap();
    assert_eq!(said[&wall_e.element]["ageRating"], "G");
    assert_eq!(said.len(), 1);
    // Under another label it does not exist; memory is not shown.
    assert!(
        store
            .node_properties("Person", &of_movie)
            .await
            .unwrap()
            .is_empty()
    );
    let secret = all(async |to| store.node_texts("Secret", &properties, 10, to).await).await;
    assert_eq!(secret, []);
    for bad in ["a`b", r"a\u0060b", ""] {
        let (sender, _rows) = mpsc::channel(1);
        let refused = store.node_texts(bad, &properties, 1, sender).await;
        assert!(matches!(refused, Err(StoreError::Unexpected(_))), "{bad:?}");
    }
    store.wipe().await.unwrap();
}

async fn every_kind_of_value_has_its_type_and_vectors_have_none(lane: &GraphBackend) {
    let store = lane.open().await;
    let vector: Vec<f64> = (0..64).map(|n| f64::from(n) / 7.0).collect();
    let raven = |mood: &str, n: i64| {
        node(
            &["Raven", "Bird"],
            json!({
                "name": format!("r{n}"), "mood": mood, "age": n, "weight": 1.5, "tame": true,
                "seen": {"$date": "2026-01-02"}, "at": {"$datetime": "2026-01-02T03:04:05Z"},
                "nest": {"$point": {"srid": 4326, "at": [1.0, 2.0]}}, "tags": ["a"],
                "embedding": vector, "We ird": "x",
            }),
        )
    };
    let ravens = vec![
        raven("well", 1),
        raven("ill", 2),
        raven("well", 3),
        raven("well", 4),
    ];
    store.create_nodes(ravens).await.unwrap();
    let survey = store.schema().await.unwrap();
    let kinds: BTreeMap<_, _> = survey.schema.nodes["Bird"]
        .iter()
        .map(|property| (property.name.as_str(), property.kind.as_str()))
        .collect();
    let expected = [
        ("name", "STRING"),
        ("mood", "STRING"),
        ("age", "INTEGER"),
        ("weight", "FLOAT"),
        ("tame", "BOOLEAN"),
        ("seen", "DATE"),
        ("at", "DATE_TIME"),
        ("nest", "POINT"),
        ("tags", "LIST"),
        ("We ird", "STRING"),
    ];
    assert_eq!(kinds, BTreeMap::from(expected));
    assert_eq!(survey.schema.nodes["Bird"], survey.schema.nodes["Raven"]);
    let moods = vec![(json!("well"), 3), (json!("ill"), 1)];
    assert_eq!(survey.values["Raven"]["mood"], Values::Few(moods));
    let names = vec![json!("r1"), json!("r2"), json!("r3")];
    assert_eq!(survey.values["Raven"]["name"], Values::Many(names));
    store.wipe().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn knowledge_cannot_take_the_names_of_memory() {
    let store = GraphBackend::embedded().open().await;
    let nodes = |label: &str| KnowledgeNodes {
        label: label.to_owned(),
        key: "id".to_owned(),
        nodes: Vec::new(),
    };
    let links = |kind: &str, from: &str| KnowledgeLinks {
        kind: kind.to_owned(),
        from: (from.to_owned(), "id".to_owned()),
        to: ("Movie".to_owned(), "id".to_owned()),
        links: vec![KnowledgeLink {
            from: "a".to_owned(),
            to: "b".to_owned(),
            properties: serde_json::Map::new(),
        }],
    };
    for error in [
        store.merge_nodes(&nodes("Response")).await.unwrap_err(),
        store.merge_nodes(&nodes("A`B")).await.unwrap_err(),
        store
            .merge_links(&links("CONTEXT", "Movie"))
            .await
            .unwrap_err(),
        store
            .merge_links(&links("KNOWS", "Session"))
            .await
            .unwrap_err(),
    ] {
        assert!(matches!(error, StoreError::Unexpected(_)), "{error}");
    }
}

/// A second concurrent writer on a server duplicates nothing.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Neo4j (NEO4J_TEST_URI)"]
async fn two_that_load_the_demo_at_once_load_it_once() {
    let lane = GraphBackend::neo4j_alone().await;
    let stores = lane.open_many(4).await;
    stores[0].wipe().await.unwrap();
    let loads = stores.iter().map(|store| load_movies(store));
    let loaded = futures::future::join_all(loads).await;
    let made: usize = loaded.into_iter().map(|one| one.unwrap().nodes).sum();
    assert_eq!(made, 179);
    let survey = stores[1].schema().await.unwrap();
    assert_eq!(count_of(&survey), (179, 259));
    stores[0].wipe().await.unwrap();
}

on_every_store!(
    an_answer_is_never_linked_to_memory,
    an_explanation_shows_no_vectors
);

async fn an_answer_is_never_linked_to_memory(lane: &GraphBackend) {
    let store = lane.open().await;
    let talk = StoreConversation::on(&store);
    talk.say("private").await;
    let nodes = vec![
        node(&["Raven"], json!({"name": "Huginn"})),
        node(
            &["Raven", "Response"],
            json!({"id": uuid::Uuid::new_v4().to_string()}),
        ),
        node(
            &["Session"],
            json!({"id": uuid::Uuid::new_v4().to_string()}),
        ),
        node(
            &["Channel"],
            json!({"id": uuid::Uuid::new_v4().to_string()}),
        ),
    ];
    let ids = store.create_nodes(nodes).await.unwrap();
    let mut new = talk.turn("What is known?");
    new.context = ids;
    talk.append(&new).await;
    let explained = store.explain(&talk.session, None).await.unwrap().unwrap();
    assert_eq!(explained.context.len(), 1);
    assert_eq!(explained.context[0].labels, ["Raven"]);
}

async fn an_explanation_shows_no_vectors(lane: &GraphBackend) {
    let store = lane.open().await;
    let talk = StoreConversation::on(&store);
    let long = "x".repeat(100_000);
    let properties = json!({"name": "Huginn", "embedding": vec![0.5; 256], "text": long});
    let ids = store
        .create_nodes(vec![node(&["Raven"], properties)])
        .await
        .unwrap();
    let mut new = talk.turn("Who?");
    new.context = ids;
    talk.append(&new).await;
    let explained = store.explain(&talk.session, None).await.unwrap().unwrap();
    let shown = &explained.context[0].properties;
    assert_eq!(shown.keys().collect::<Vec<_>>(), ["name", "text"]);
    assert!(shown["text"].to_string().len() < 1_000);
}
