//! Runs statements that the confiner would refuse, or that are too expensive, on each engine, as if
//! they had been confined.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

#[cfg(feature = "neo4j")]
use secrecy::SecretString;
use serde_json::{Map, json};

use super::{Cut, MAX_ERROR_CHARS, QueryError, QueryLimits, ResultRows, literal, position};
#[cfg(feature = "neo4j")]
use crate::graph::GraphConfig;
use crate::graph::confine::ConfinedCypher;
use crate::graph::engine::embedded::Embedded;
#[cfg(feature = "neo4j")]
use crate::graph::engine::neo4j::Neo4j;
use crate::graph::engine::{Engine, Params};
use crate::graph::store::GraphStore;
use crate::graph::transfer::GraphRelationship;
use crate::graph::types::graph_node::GraphNode;

const LIMITS: QueryLimits = QueryLimits {
    rows: 100,
    bytes: 100_000,
    time: Duration::from_secs(20),
};

async fn embedded() -> (tempfile::TempDir, Embedded) {
    let folder = tempfile::tempdir().unwrap();
    let engine = Embedded::open(folder.path().to_owned(), Duration::from_secs(20)).await;
    (folder, engine.unwrap())
}

/// The server of the conformance suite, if there is one.
#[cfg(feature = "neo4j")]
async fn neo4j() -> Option<Neo4j> {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let config = GraphConfig {
        user: variable("NEO4J_TEST_USER"),
        password: SecretString::from(variable("NEO4J_TEST_PASSWORD")),
        timeout: Duration::from_secs(20),
        ..GraphConfig::at(std::env::var("NEO4J_TEST_URI").ok()?)
    };
    Some(Neo4j::connect(&config).await.unwrap())
}

async fn run(
    engine: &dyn Engine,
    statement: &str,
    limits: QueryLimits,
) -> Result<ResultRows, QueryError> {
    let cypher = ConfinedCypher::as_if(statement);
    engine.confined(&cypher, Params::new(), limits).await
}

/// Runs each test on each engine.
macro_rules! on_every_engine {
    ($($name:ident),* $(,)?) => {
        mod on_embedded {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                let (_folder, engine) = super::embedded().await;
                super::$name(engine).await;
            })*
        }
        #[cfg(feature = "neo4j")]
        mod on_neo4j {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                if let Some(engine) = super::neo4j().await {
                    super::$name(engine).await;
                }
            })*
        }
    };
}

on_every_engine!(
    rows_come_as_they_are_shown,
    only_what_reads_is_run,
    a_result_ends_at_its_limits,
    ten_million_rows_do_not_fill_memory,
    what_runs_for_ever_is_ended,
    a_model_hears_what_to_mend,
);

async fn rows_come_as_they_are_shown(engine: impl Engine) {
    let store = GraphStore::open(engine).await.unwrap();
    let tag = uuid::Uuid::new_v4().simple().to_string();
    let label = format!("Raven{tag}");
    let raven = |name: &str| GraphNode {
        id: String::new(),
        labels: vec![label.clone()],
        properties: json!({"name": name, "born": {"$date": "2026-01-02"}, "v": vec![0.5; 64]})
            .as_object()
            .unwrap()
            .clone(),
    };
    let ids = store
        .create_nodes(vec![raven("Huginn"), raven("Muninn")])
        .await
        .unwrap();
    let sees = GraphRelationship {
        kind: format!("SEES{tag}"),
        from: ids[1].clone(),
        to: ids[0].clone(),
        properties: json!({"at": 1}).as_object().unwrap().clone(),
    };
    store.create_relationships(vec![sees]).await.unwrap();
    let statement = format!(
        "MATCH p = (a:{label})-[r:SEES{tag}]->(b) \
         RETURN a, r, b.born AS born, p, duration({{days: 1}}) AS d, \
         {{b: b, name: b.name}} AS map, head([elementId(a)]) AS id"
    );
    let rows = run(&store.engine, &statement, LIMITS).await.unwrap();
    assert_eq!(rows.columns, ["a", "r", "born", "p", "d", "map", "id"]);
    let shown =
        |name: &str| json!({"labels": [label], "properties": {"name": name, "born": "2026-01-02"}});
    let tie = json!({"type": format!("SEES{tag}"), "properties": {"at": 1}});
    let expected = [
        shown("Muninn"),
        tie.clone(),
        json!("2026-01-02"),
        json!([shown("Muninn"), tie, shown("Huginn")]),
        json!("P1D"),
        json!({"b": shown("Huginn"), "name": "Huginn"}),
        json!(ids[1]),
    ];
    assert_eq!(rows.rows, [expected]);
    // A path walked against its direction is also returned in the order in which it was written.
    let back = format!("MATCH p = (b:{label})<-[:SEES{tag}]-(a) RETURN p");
    let rows = run(&store.engine, &back, LIMITS).await.unwrap();
    assert_eq!(rows.rows[0][0][0], shown("Huginn"));
    assert_eq!(rows.rows[0][0][2], shown("Muninn"));
    let remove = format!("MATCH (n:{label}) DETACH DELETE n");
    store.engine.write(&remove, Params::new()).await.unwrap();
}

async fn only_what_reads_is_run(engine: impl Engine) {
    for statement in [
        "CREATE (n:Planted) RETURN n",
        "MATCH (n) SET n.x = 1",
        "MATCH (n) DETACH DELETE n",
        "MERGE (n:Planted {id: 'x'}) RETURN n.id",
        "CREATE INDEX planted IF NOT EXISTS FOR (n:Planted) ON (n.id)",
        "FOREACH (x IN [1] | CREATE (:Planted))",
    ] {
        let error = run(&engine, statement, LIMITS).await.unwrap_err();
        assert!(
            matches!(error, QueryError::Repairable { .. }),
            "{statement}: {error:?}"
        );
    }
    let rows = run(&engine, "MATCH (n:Planted) RETURN count(n) AS n", LIMITS)
        .await
        .unwrap();
    assert_eq!(rows.rows, [[json!(0)]]);
}

async fn a_result_ends_at_its_limits(engine: impl Engine) {
    let numbers = "UNWIND range(1, 1000) AS n RETURN n";
    let rows = run(&engine, numbers, LIMITS).await.unwrap();
    assert_eq!((rows.rows.len(), rows.cut), (100, Some(Cut::Rows)));
    assert_eq!(rows.rows[99], [json!(100)]);
    let whole = QueryLimits {
        rows: 1_000,
        ..LIMITS
    };
    let rows = run(&engine, numbers, whole).await.unwrap();
    assert_eq!((rows.rows.len(), rows.cut), (1_000, None));

    let words = "UNWIND range(1, 50) AS n RETURN reduce(s = 'x', i IN range(1, 13) | s + s) AS s";
    let rows = run(&engine, words, LIMITS).await.unwrap();
    assert_eq!((rows.rows.len(), rows.cut), (12, Some(Cut::Bytes)));
    let huge = "RETURN reduce(s = 'x', i IN range(1, 20) | s + s) AS s";
    let error = run(&engine, huge, LIMITS).await.unwrap_err();
    assert!(matches!(error, QueryError::TooBig), "{error:?}");
}

async fn ten_million_rows_do_not_fill_memory(engine: impl Engine) {
    let before = resident();
    let began = Instant::now();
    for _ in 0..3 {
        let rows = run(
            &engine,
            "UNWIND range(1, 10000000) AS n RETURN n, 'a raven' AS s",
            LIMITS,
        );
        match rows.await {
            Ok(rows) => assert_eq!((rows.rows.len(), rows.cut), (100, Some(Cut::Rows))),
            // The embedded engine computes all rows before it returns one, so it refuses.
            Err(error) => assert!(matches!(error, QueryError::TooBig), "{error:?}"),
        }
    }
    let grown = resident().saturating_sub(before);
    assert!(
        grown < 300_000,
        "{grown} kB more after {:?}",
        began.elapsed()
    );
    let one = run(&engine, "RETURN 1 AS one", LIMITS).await.unwrap();
    assert_eq!(one.rows, [[json!(1)]]);
}

/// Resident memory of this process in kB, if the system tells.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok())
        .unwrap_or_default()
}

async fn what_runs_for_ever_is_ended(engine: impl Engine) {
    let limits = QueryLimits {
        time: Duration::from_secs(1),
        ..LIMITS
    };
    let statement = "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b \
        UNWIND range(1, 100000) AS c RETURN count(c) AS n";
    let began = Instant::now();
    let error = run(&engine, statement, limits).await.unwrap_err();
    assert!(
        matches!(error, QueryError::TimedOut { .. } | QueryError::TooBig),
        "{error:?}"
    );
    assert!(
        began.elapsed() < Duration::from_secs(8),
        "{:?}",
        began.elapsed()
    );
    // Other statements were not delayed, and are not now.
    assert_eq!(
        engine
            .read("RETURN 1 AS one", Params::new())
            .await
            .unwrap()
            .len(),
        1
    );
    assert_eq!(
        run(&engine, "RETURN 1 AS one", LIMITS).await.unwrap().rows,
        [[json!(1)]]
    );
}

async fn a_model_hears_what_to_mend(engine: impl Engine) {
    for (statement, word, has_place) in [
        ("MATCH (n:Raven) RETUN n", "RETUN", true),
        ("MATCH (n:Raven)\nRETURN nothing", "nothing", false),
        ("RETURN caw(1) AS x", "caw", false),
        ("RETURN 1/0 AS x", "", false),
        (
            "MATCH (n:Respons)-[:HAS_RESPONS]->(m) RETURN m.x + date('no')",
            "",
            false,
        ),
        (
            "MATCH (n:Raven) WHERE n.name = $unbound RETURN n",
            "unbound",
            false,
        ),
    ] {
        match run(&engine, statement, LIMITS).await {
            Err(QueryError::Repairable { message, at }) => {
                assert!(message.contains(word), "{statement}: {message}");
                assert!(
                    !message.contains('\n') && message.chars().count() <= 300,
                    "{message}"
                );
                assert!(at.is_some() || !has_place, "{statement}: {message}");
                for name in ["Response", "HAS_RESPONSE"] {
                    assert!(!message.contains(name), "{statement}: {message}");
                }
                if let (Some((1, column)), true) = (at, has_place) {
                    assert!((10..=25).contains(&column), "{column}: {message}");
                }
            }
            Ok(rows) => assert!(word.is_empty() && rows.rows.is_empty(), "{statement}"),
            Err(error) => panic!("{statement}: {error:?}"),
        }
    }
}

/// As if the confiner had accepted it: the second check must hold by itself.
#[cfg(feature = "neo4j")]
#[tokio::test(flavor = "multi_thread")]
async fn neo4j_runs_no_plan_that_begins_beside_the_knowledge() {
    let Some(engine) = neo4j().await else {
        return;
    };
    for statement in [
        "MATCH (n:Raven|Crow) WHERE +id(n) = 204 RETURN n",
        "MATCH (n:Raven|Crow) WHERE +id(n) IN [204] RETURN n",
        "MATCH (n:Raven|Crow) WHERE NOT id(n) <> 204 RETURN n",
        "MATCH (n:Raven|Crow) WHERE NOT elementId(n) <> '4:x:204' RETURN n",
        "MATCH (n:Raven|Crow) WHERE id(n) = 204 = 204 RETURN n",
        "MATCH ()-[r:SEES]->() WHERE +id(r) = 204 RETURN r",
        "MATCH ()-[r:SEES]-() WHERE NOT elementId(r) <> '5:x:204' RETURN r",
        "MATCH (a:Raven) RETURN COUNT { (n:Raven) WHERE id(n) = a.x } AS n",
        "MATCH (a:Raven) WHERE EXISTS { (n:Raven) WHERE id(n) = 204 } RETURN a",
        "MATCH (a:Raven) RETURN [x IN [1] WHERE EXISTS { (n:Raven) WHERE id(n) = x }] AS n",
        "MATCH (a:Raven) RETURN CASE WHEN a.x THEN [(a)--(b) WHERE id(b) = 3 | b] END AS n",
        "MATCH (n) RETURN n",
        "MATCH (n) RETURN count(n) AS n",
        "MATCH ()-[r]->() RETURN r",
        "MATCH ()-[r]->() RETURN count(r) AS n",
        "MATCH (a:Raven)--(b) RETURN b",
        "MATCH (a:Raven)-[*1..3]-(b) RETURN b",
        "MATCH p = ANY (a:Raven)-[:SEES]-+(b:Raven) RETURN p",
        "CALL db.labels() YIELD label RETURN label",
    ] {
        let error = run(&engine, statement, LIMITS).await.unwrap_err();
        let is_refused = matches!(&error, QueryError::Repairable { .. });
        assert!(is_refused, "{statement}: {error:?}");
    }
    for statement in [
        "MATCH (n:Raven|Crow) WHERE head([id(n)]) = 204 RETURN n",
        "MATCH (a:Raven)-[r:SEES|HEARS*1..3]-(b:Raven|Crow) WHERE b.x = 1 OR a.x IN [1] RETURN r",
        "MATCH (n:Raven) RETURN count(n) AS n",
        "MATCH (:Raven)-[r:SEES]->() RETURN count(r) AS n",
        "MATCH (a:Raven) OPTIONAL MATCH p = shortestPath((a)-[:SEES*1..9]-(b:Crow)) RETURN length(p) AS n",
        "MATCH (a:Raven), (b:Crow) RETURN length(shortestPath((a)-[:SEES*1..9]-(b))) AS n",
        "MATCH (a:Raven) ((x:Raven|Crow)-[:SEES]-(y:Raven|Crow)){1,3} (b:Crow) RETURN DISTINCT b",
        "MATCH (a:Raven) RETURN a {.x, k: [(a)-[:SEES]->(b:Crow) | b.name]} AS n ORDER BY a.x",
        "UNWIND [1, 2] AS x CALL { WITH x MATCH (n:Raven) WHERE n.x = x RETURN n UNION MATCH (n:Crow) RETURN n } RETURN n SKIP 1 LIMIT 2",
        "MATCH (a:Raven) WHERE a.x > 1 OR EXISTS { (a)-[:SEES]->(:Crow) } RETURN COUNT { (a)-[:SEES]-(:Raven) } AS n",
        "MATCH (a:Raven) WHERE NOT EXISTS { (a)-[:SEES]->(:Crow) } WITH a, collect(a.x) AS xs RETURN COLLECT { MATCH (b:Crow) RETURN b.x } AS n, xs",
    ] {
        let ran = run(&engine, statement, LIMITS).await;
        assert!(ran.is_ok(), "{statement}: {ran:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_store_is_an_error_of_the_store() {
    let (_folder, engine) = embedded().await;
    engine.close().await.unwrap();
    let error = run(&engine, "RETURN 1", LIMITS).await.unwrap_err();
    assert!(matches!(error, QueryError::Store(_)), "{error:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn statements_that_go_on_do_not_stop_others() {
    let (_folder, engine) = embedded().await;
    let endless = "UNWIND range(1, 1000) AS a UNWIND range(1, 1000) AS b RETURN count(b)";
    let limits = QueryLimits {
        time: Duration::from_secs(10),
        ..LIMITS
    };
    let many = (0..8).map(|_| run(&engine, endless, limits));
    let both = async {
        let began = Instant::now();
        engine.read("RETURN 1 AS one", Params::new()).await.unwrap();
        began.elapsed()
    };
    let (_, waited) = tokio::join!(futures::future::join_all(many), both);
    assert!(waited < Duration::from_secs(2), "{waited:?}");
}

const SMALL: QueryLimits = QueryLimits {
    rows: 3,
    bytes: 100,
    time: Duration::from_secs(1),
};

#[test]
fn positions_are_found_in_either_engines_words() {
    for (message, at) in [
        (
            "Invalid input 'X' (line 2, column 17 (offset: 30))",
            Some((2, 17)),
        ),
        (
            "Cypher syntax error at line 1, col 49: Unexpected",
            Some((1, 49)),
        ),
        ("Unknown function: foo", None),
        ("the line is long", None),
    ] {
        assert_eq!(position(message), at, "{message}");
    }
}

#[test]
fn a_complaint_is_one_line_and_proposes_nothing_of_memory() {
    let said = |message, statement| QueryError::complaint(message, None, statement).to_string();
    assert_eq!(
        said("Unknown function: foo\n  here ^", "RETURN foo()"),
        "Unknown function: foo"
    );
    for leak in ["did you mean 'Response'?", "did you mean HAS_RESPONSE?"] {
        assert!(!said(leak, "MATCH (n:Respons)").contains("RESP"), "{leak}");
        assert!(!said(leak, "MATCH (n:Respons)").contains("Resp"), "{leak}");
    }
    let long = "x".repeat(10_000);
    assert_eq!(said(&long, "").len(), MAX_ERROR_CHARS);
    let error = QueryError::complaint("Unexpected", Some((2, 3)), "");
    assert_eq!(error.to_string(), "line 2, column 3: Unexpected");
}

#[test]
fn rows_end_at_the_first_limit() {
    let mut rows = ResultRows::within(SMALL, vec!["n".to_owned()]);
    for n in 0..3 {
        assert_eq!(
            rows.push(vec![json!(n)]).unwrap(),
            ControlFlow::Continue(())
        );
    }
    assert_eq!(rows.push(vec![json!(3)]).unwrap(), ControlFlow::Break(()));
    assert_eq!((rows.rows.len(), rows.cut), (3, Some(Cut::Rows)));

    let mut rows = ResultRows::within(SMALL, vec!["n".to_owned()]);
    let _ = rows.push(vec![json!("x".repeat(60))]).unwrap();
    assert_eq!(
        rows.push(vec![json!("x".repeat(60))]).unwrap(),
        ControlFlow::Break(())
    );
    assert_eq!((rows.rows.len(), rows.cut), (1, Some(Cut::Bytes)));

    let mut rows = ResultRows::within(SMALL, vec!["n".to_owned()]);
    let error = rows.push(vec![json!("x".repeat(600))]).unwrap_err();
    assert!(matches!(error, QueryError::TooBig), "{error}");
}

#[test]
fn ids_come_from_their_columns_only_and_once() {
    let mut rows = ResultRows::within(SMALL, vec!["id".to_owned(), "other".to_owned()]);
    let _ = rows.push(vec![json!("b"), json!("x")]).unwrap();
    let _ = rows
        .push(vec![json!(["a", ["b", null]]), json!("y")])
        .unwrap();
    let result = rows.finish(&["id".to_owned(), "gone".to_owned()]);
    assert_eq!(result.nodes, ["b", "a"]);
}

#[test]
fn a_parameter_that_looks_tagged_is_a_map() {
    let params = literal(Map::from_iter([("p".to_owned(), json!([{"$date": "x"}]))]));
    assert_eq!(params["p"], json!([{"$map": {"$date": "x"}}]));
}
