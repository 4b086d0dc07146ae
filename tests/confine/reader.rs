//! The database user for generated statements, on a real server.

use muninn::graph::reading::{Access, Knowledge, Writing};
use muninn::graph::{GraphConfig, MEMORY_LABELS, MEMORY_RELATIONSHIPS, ReaderCredentials, open};
use muninn_platform::CheckStatus;
use neo4rs::{ConfigBuilder, Graph, query};
use tokio::runtime::Runtime;

use crate::graph::TestGraph;
use crate::graphs::{add_knowledge, add_memory};
use crate::stores::on_neo4j;

const USER: &str = "muninn_confine_reader";
const PASSWORD: &str = "a long one of the tests";

/// The community edition has users but no roles: every user can do everything.
#[test]
#[ignore = "needs a Neo4j (NEO4J_TEST_URI)"]
fn without_roles_a_reader_is_told_to_be_of_no_use() {
    on_neo4j(|store| {
        add_knowledge(store);
        add_memory(store);
        let server = TestGraph::of_environment();
        let config = GraphConfig {
            user: server.user.clone(),
            password: server.password.clone().into(),
            reader: Some(ReaderCredentials {
                user: USER.to_owned(),
                password: PASSWORD.to_owned().into(),
            }),
            ..GraphConfig::at(&server.url)
        };
        Runtime::new().unwrap().block_on(async {
            let create = format!(
                "CREATE OR REPLACE USER {USER} SET PASSWORD '{PASSWORD}' CHANGE NOT REQUIRED"
            );
            administrate(&server, &create).await;
            let found = look(&config).await;
            administrate(&server, &format!("DROP USER {USER}")).await;
            let reading = found.unwrap();
            assert_eq!(reading.edition, "community");
            let Some(Access {
                finds,
                reads,
                knowledge,
                writing,
            }) = &reading.reader
            else {
                panic!("{reading:?}");
            };
            for name in ["Response", "Session", "NEXT", "CONTEXT"] {
                assert!(finds.iter().any(|found| found == name), "{finds:?}");
            }
            assert!(reads.iter().any(|read| read == "Response"), "{reads:?}");
            assert_eq!(*knowledge, Knowledge::Found);
            assert_eq!(*writing, Writing::Allowed);
            let [finding] = reading.findings().try_into().unwrap();
            assert_eq!(finding.verdict, CheckStatus::Warning, "{}", finding.text);
        });
        // The trial's own writes were removed.
        assert_eq!(
            store.read("MATCH (n) WHERE size(labels(n)) = 0 RETURN n"),
            Ok(Vec::new())
        );
    });
}

async fn look(config: &GraphConfig) -> Option<muninn::graph::reading::ReadAccessReport> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let store = open(config).await.unwrap();
    let health = store.health().await.unwrap();
    store.close().await.unwrap();
    health.reading
}

/// Runs a statement on the server's system database.
async fn administrate(server: &TestGraph, statement: &str) {
    let config = ConfigBuilder::default()
        .uri(&server.url)
        .user(&server.user)
        .password(&server.password)
        .db("system")
        .build();
    let graph = Graph::connect(config.unwrap()).unwrap();
    graph.run(query(statement)).await.unwrap();
}

/// The manual's statements name all labels of memory.
#[test]
fn the_documented_role_is_denied_all_of_memory() {
    let manual = include_str!("../../docs/confinement.md");
    let denied = |of: &str| -> Vec<&str> {
        let start = manual.split_once(of).unwrap().1;
        let names = start.split_once(" TO muninn_reader").unwrap().0;
        names
            .split(',')
            .map(|name| name.trim().trim_matches('`'))
            .collect()
    };
    assert_eq!(
        denied("DENY MATCH {*} ON GRAPH neo4j NODES "),
        MEMORY_LABELS
    );
    assert_eq!(
        denied("DENY MATCH {*} ON GRAPH neo4j RELATIONSHIPS "),
        MEMORY_RELATIONSHIPS
    );
}
