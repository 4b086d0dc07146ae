//! Confined queries over the movies: the same rows on both stores, with and without memory.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use muninn::demo::load_movies;
use muninn::graph::confine::{ConfinedCypher, StatementLimits, confine, confine_with};
use muninn::graph::query::{Cut, QueryError, QueryLimits, QueryResult};
use muninn::graph::schema::Schema;
use muninn::graph::{GraphConfig, GraphStore, StoreError, open};
use serde_json::{Map, Value, json};

use crate::lanes::{GraphBackend, StoreConversation};
use crate::proxy::Proxy;

const LIMITS: QueryLimits = QueryLimits {
    rows: 500,
    bytes: 1_000_000,
    time: Duration::from_secs(20),
};

/// Typical questions about movies.
const QUESTIONS: &[&str] = &[
    "MATCH (p:Person)-[:ACTED_IN]->(m:Movie {title: 'The Matrix'}) RETURN p.name AS name ORDER BY name",
    "MATCH (p:Person)-[r:ACTED_IN]->(m:Movie) WHERE m.title STARTS WITH 'The Matrix' RETURN p.name, r.roles, m.title ORDER BY p.name, m.title",
    "MATCH (m:Movie) RETURN count(m) AS movies, min(m.released) AS first, max(m.released) AS last",
    "MATCH (p:Person)-[:DIRECTED]->(m:Movie)<-[:ACTED_IN]-(p) RETURN DISTINCT p.name AS name, m.title AS title ORDER BY name, title",
    "MATCH (p:Person {name: 'Keanu Reeves'})-[:ACTED_IN]->()<-[:ACTED_IN]-(other) RETURN DISTINCT other.name AS name ORDER BY name",
    "MATCH (p)-[r]->(m:Movie {title: 'Cloud Atlas'}) RETURN p.name AS name, type(r) AS how ORDER BY name, how",
    "MATCH (p:Person)-[:ACTED_IN]->(m) WITH p, count(m) AS n WHERE n > 4 RETURN p.name AS name, n ORDER BY n DESC, name",
    "MATCH (p:Person)-[v:REVIEWED]->(m:Movie) RETURN m.title AS title, avg(v.rating) AS rating, collect(p.name) AS people ORDER BY title",
    "MATCH (p:Person) WHERE p.born IS NULL RETURN p.name AS name ORDER BY name",
    "MATCH (m:Movie {title: 'Top Gun'}) RETURN m",
    "MATCH (a:Person {name: 'Tom Hanks'})-[r:ACTED_IN]->(m:Movie {title: 'Cast Away'}) RETURN a, r, m",
];

/// Loads the movies alone on the store.
async fn movies(lane: &GraphBackend) -> Arc<GraphStore> {
    let store = lane.open().await;
    store.wipe().await.unwrap();
    load_movies(&store).await.unwrap();
    store
}

/// Both stores, with an empty server and no other test on it.
async fn lanes() -> [GraphBackend; 2] {
    [
        GraphBackend::embedded(),
        GraphBackend::emptied_neo4j().await,
    ]
}

crate::alone_on_every_store!(
    ids_lead_to_what_an_answer_was_made_from,
    a_result_ends_at_the_limits_it_was_given,
    what_multiplies_for_ever_is_ended_and_others_go_on,
);

fn confined(query: &str, schema: &Schema) -> ConfinedCypher {
    match confine(query, schema, &StatementLimits::of_rows(500)) {
        Ok(confined) => confined,
        Err(refusal) => panic!("{query}: {refusal}"),
    }
}

async fn ask(store: &GraphStore, query: &str) -> Result<QueryResult, QueryError> {
    let survey = store.schema().await?;
    let confined = confined(query, &survey.schema);
    store.query(&confined, Map::new(), LIMITS).await
}

/// Sorts collected lists, which are unordered.
fn sorted(result: &QueryResult) -> Vec<Vec<Value>> {
    let in_order = |value: &Value| match value {
        Value::Array(items) => {
            let mut items = items.clone();
            items.sort_by_key(Value::to_string);
            Value::Array(items)
        }
        other => other.clone(),
    };
    let rows = result.rows.iter();
    rows.map(|row| row.iter().map(in_order).collect()).collect()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Neo4j (NEO4J_TEST_URI)"]
async fn questions_get_the_same_rows_on_every_store_with_and_without_memory() {
    let mut seen: BTreeMap<&str, Vec<Vec<Value>>> = BTreeMap::new();
    for lane in lanes().await {
        let store = movies(&lane).await;
        for round in 0..2 {
            for query in QUESTIONS {
                let result = match ask(&store, query).await {
                    Ok(result) => result,
                    Err(error) => panic!("{query}: {error}"),
                };
                assert!(!result.rows.is_empty() && result.cut.is_none(), "{query}");
                let rows = sorted(&result);
                let known = seen.entry(query).or_insert_with(|| rows.clone());
                assert_eq!(*known, rows, "{query}, round {round}");
            }
            let talk = StoreConversation::on(&store);
            let survey = store.schema().await.unwrap();
            let found = confined("MATCH (m:Movie) RETURN elementId(m) AS id", &survey.schema);
            let found = store.query(&found, Map::new(), LIMITS).await.unwrap();
            let mut new = talk.turn("What is there to see?");
            new.context = found.nodes;
            talk.append(&new).await;
        }
        store.wipe().await.unwrap();
    }
    let played = &seen[QUESTIONS[0]];
    assert_eq!(played[0], [json!("Carrie-Anne Moss")]);
    assert_eq!(played.len(), 5);
}

async fn ids_lead_to_what_an_answer_was_made_from(lane: &GraphBackend) {
    let store = movies(lane).await;
    let query = "MATCH (p:Person)-[:ACTED_IN]->(m:Movie {title: $title}) \
            RETURN p.name AS name, elementId(p) AS person, collect(elementId(m)) AS movies";
    let survey = store.schema().await.unwrap();
    let confined = confine_with(
        query,
        &survey.schema,
        &StatementLimits::of_rows(100),
        &["title"],
    )
    .unwrap();
    let params = Map::from_iter([("title".to_owned(), json!("Top Gun"))]);
    let result = store.query(&confined, params, LIMITS).await.unwrap();
    assert_eq!(result.rows.len(), 6);
    assert_eq!(result.nodes.len(), 7);
    let talk = StoreConversation::on(&store);
    let mut new = talk.turn("Who was in Top Gun?");
    new.context = result.nodes;
    talk.append(&new).await;
    let explained = store.explain(&talk.session, None).await.unwrap().unwrap();
    assert_eq!(explained.context.len(), 7);
    let movie = explained
        .context
        .iter()
        .find(|node| node.labels == ["Movie"])
        .unwrap();
    assert_eq!(movie.properties["title"], json!("Top Gun"));
    assert_eq!(movie.properties.len(), 6);
    store.wipe().await.unwrap();
}

async fn a_result_ends_at_the_limits_it_was_given(lane: &GraphBackend) {
    let store = movies(lane).await;
    let survey = store.schema().await.unwrap();
    let all = confined("MATCH (p:Person) RETURN p", &survey.schema);
    let run = |limits| store.query(&all, Map::new(), limits);
    let rows = run(QueryLimits { rows: 10, ..LIMITS }).await.unwrap();
    assert_eq!((rows.rows.len(), rows.cut), (10, Some(Cut::Rows)));
    let rows = run(QueryLimits {
        bytes: 2_000,
        ..LIMITS
    })
    .await
    .unwrap();
    assert_eq!(rows.cut, Some(Cut::Bytes));
    assert!(!rows.rows.is_empty() && rows.rows.len() < 139);
    let error = run(QueryLimits {
        bytes: 10,
        ..LIMITS
    })
    .await
    .unwrap_err();
    assert!(matches!(error, QueryError::TooBig), "{error}");
    store.wipe().await.unwrap();
}

async fn what_multiplies_for_ever_is_ended_and_others_go_on(lane: &GraphBackend) {
    let store = movies(lane).await;
    let survey = store.schema().await.unwrap();
    let product = "MATCH (a:Person), (b:Person), (c:Person), (d:Person), (e:Person) \
            WHERE a.name + b.name + c.name + d.name + e.name = 'nobody' RETURN count(*) AS n";
    let limits = QueryLimits {
        time: Duration::from_secs(1),
        ..LIMITS
    };
    let endless = confined(product, &survey.schema);
    let began = Instant::now();
    let talk = StoreConversation::on(&store);
    let (error, _) = tokio::join!(store.query(&endless, Map::new(), limits), talk.say("hi"));
    let error = error.unwrap_err();
    let is_ended = matches!(error, QueryError::TimedOut { .. } | QueryError::TooBig);
    assert!(is_ended, "{error}");
    assert!(
        began.elapsed() < Duration::from_secs(20),
        "{:?}",
        began.elapsed()
    );
    assert_eq!(ask(&store, QUESTIONS[0]).await.unwrap().rows.len(), 5);
    store.wipe().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Neo4j (NEO4J_TEST_URI)"]
async fn a_server_that_is_gone_is_an_error_of_the_store_and_comes_back() {
    let lane = GraphBackend::neo4j_alone().await;
    let store = movies(&lane).await;
    let GraphBackend::Neo4j(config, _share) = &lane else {
        panic!("no server");
    };
    let target = config.url.split_once("://").unwrap().1.to_owned();
    let proxy = Proxy::to(target).await;
    let through = GraphConfig {
        url: proxy.bolt_url(),
        timeout: Duration::from_secs(10),
        ..(**config).clone()
    };
    let away = open(&through).await.unwrap();
    let survey = away.schema().await.unwrap();
    let query = confined(QUESTIONS[0], &survey.schema);
    assert_eq!(
        away.query(&query, Map::new(), LIMITS)
            .await
            .unwrap()
            .rows
            .len(),
        5
    );
    proxy.cut();
    let began = Instant::now();
    let error = away.query(&query, Map::new(), LIMITS).await.unwrap_err();
    assert!(
        matches!(error, QueryError::Store(StoreError::Unreachable { .. })),
        "{error:?}"
    );
    assert!(began.elapsed() < Duration::from_secs(20));
    proxy.mend();
    let mut back = away.query(&query, Map::new(), LIMITS).await;
    for _ in 0..20 {
        if back.is_ok() {
            break;
        }
        back = away.query(&query, Map::new(), LIMITS).await;
    }
    assert_eq!(back.unwrap().rows.len(), 5);
    store.wipe().await.unwrap();
}
