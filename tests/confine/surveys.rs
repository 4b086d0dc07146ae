//! What a survey of a real server tells, and what may be asked with it.

use std::sync::Arc;

use muninn::graph::confine::{StatementLimits, confine};
use muninn::graph::query::QueryLimits;
use muninn::graph::{GraphConfig, GraphStore, open};
use serde_json::Map;
use tokio::runtime::Runtime;

use crate::graph::TestGraph;
use crate::stores::on_neo4j;

async fn opened() -> Arc<GraphStore> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let graph = TestGraph::of_environment();
    let config = GraphConfig {
        user: graph.user,
        password: graph.password.into(),
        ..GraphConfig::at(graph.url)
    };
    open(&config).await.unwrap()
}

#[test]
#[ignore = "needs a Neo4j (NEO4J_TEST_URI)"]
fn memory_that_is_being_imported_is_no_knowledge() {
    on_neo4j(|bare| {
        bare.write(
            "CREATE (:Person:MuninnImported {name: 'Ada'}), (:Response:MuninnImported {input: 'Ada'}), (:Film {title: 'Up'})",
        );
        Runtime::new().unwrap().block_on(async {
            let store = opened().await;
            let survey = store.schema().await.unwrap();
            let labels: Vec<&String> = survey.schema.nodes.keys().collect();
            assert_eq!(labels, ["Film"]);
            store.close().await.unwrap();
        });
    });
}

#[test]
#[ignore = "needs a Neo4j (NEO4J_TEST_URI)"]
fn properties_beyond_the_sample_can_be_asked() {
    on_neo4j(|bare| {
        bare.write("UNWIND range(1, 3000) AS i CREATE (n:Rare {name: 'n' + i}) FOREACH (x IN CASE WHEN i > 2990 THEN [1] ELSE [] END | SET n.late = i)");
        Runtime::new().unwrap().block_on(async {
            let store = opened().await;
            let survey = store.schema().await.unwrap();
            let known = &survey.schema.nodes["Rare"];
            assert!(known.iter().all(|known| known.name != "late"), "{known:?}");
            let confined =
                |query: &str| confine(query, &survey.schema, &StatementLimits::of_rows(100));
            assert!(confined("MATCH (n:Rare) RETURN n.late AS late").is_ok());
            let refusal = confined("MATCH (n:Rare) RETURN n.nmae AS name").unwrap_err();
            assert!(refusal.to_string().contains("perhaps name"), "{refusal}");
            store.close().await.unwrap();
        });
    });
}

#[test]
#[ignore = "needs a Neo4j (NEO4J_TEST_URI)"]
fn the_shortest_paths_with_a_condition_are_found() {
    on_neo4j(|bare| {
        bare.write("UNWIND range(1, 5) AS i CREATE (:RgP {name: 'n' + i})");
        bare.write(
            "MATCH (a:RgP), (b:RgP) WHERE toInteger(right(b.name, 1)) = toInteger(right(a.name, 1)) + 1 CREATE (a)-[:RgT]->(b)",
        );
        Runtime::new().unwrap().block_on(async {
            let store = opened().await;
            let survey = store.schema().await.unwrap();
            let query = "MATCH (a:RgP {name: 'n1'}), (b:RgP {name: 'n5'}) \
                MATCH p = allShortestPaths((a)-[*]-(b)) WHERE length(p) > 1 RETURN p";
            let limits = StatementLimits::of_rows(100);
            let confined = confine(query, &survey.schema, &limits).unwrap();
            let limits = QueryLimits {
                rows: 100,
                bytes: 1_000_000,
                time: std::time::Duration::from_secs(60),
            };
            let found = store.query(&confined, Map::new(), limits).await.unwrap();
            assert_eq!(found.rows.len(), 1);
            store.close().await.unwrap();
        });
    });
}
