//! How the server finds turns: a statement that reads all of them fails in a large graph.

use std::time::Duration;

use neo4rs::Query;
use secrecy::SecretString;
use serde_json::Value;

use super::{Neo4j, debugged};
use crate::graph::GraphConfig;
use crate::graph::engine::{Engine as _, Params};
use crate::graph::migrate;
use crate::graph::store::statements::{answers, forgetting, items, messages, spending};

/// Statements about the turns of a channel, of a person, or of a time. Others have to read every turn: the counts, the exports,
/// and votes.
const STATEMENTS: &[&str] = &[
    answers::RESPONSE_OF_MESSAGE,
    answers::GIVE_FEEDBACK,
    answers::WITHDRAW_FEEDBACK,
    answers::LAST_RESPONSE_OF,
    answers::LAST_TURNS_OF,
    answers::LAST_SAID_BY,
    answers::LAST_OF_PERSON,
    answers::LAST_TURNS_OF_PERSON,
    answers::OWN_SESSIONS,
    answers::EXTENT,
    answers::USAGE,
    answers::OUTCOMES,
    forgetting::SAID_BY_OTHERS,
    forgetting::OF_PERSON,
    forgetting::NEWEST_OF,
    forgetting::OLD,
    forgetting::AMONG,
    forgetting::UNNAME_EMPTY_CHANNELS,
    forgetting::FORGET_UNCHAINED,
    items::OF_PERSON,
    items::SOUGHT,
    items::KEPT_OF,
    messages::BETWEEN,
    messages::KEPT_SINCE,
    messages::SAID_BY,
    messages::ALL_SAID_BY,
    spending::DAYS,
    spending::RECALLED,
];

/// Operators that read all nodes, or all entries of an index.
const SCANS: [&str; 3] = ["AllNodesScan", "NodeByLabelScan", "NodeIndexScan"];

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Neo4j (NEO4J_TEST_URI)"]
async fn the_turns_of_a_channel_a_person_or_a_time_are_found_by_an_index() {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let config = GraphConfig {
        user: variable("NEO4J_TEST_USER"),
        password: SecretString::from(variable("NEO4J_TEST_PASSWORD")),
        timeout: Duration::from_secs(60),
        ..GraphConfig::at(std::env::var("NEO4J_TEST_URI").unwrap())
    };
    let engine = Neo4j::connect(&config).await.unwrap();
    migrate::run(&engine).await.unwrap();
    let online = engine.read("CALL db.awaitIndexes(50)", Params::new()).await;
    online.unwrap();
    for statement in STATEMENTS {
        let explained = Query::new(format!("EXPLAIN {statement}"));
        let stream = engine.graph.execute(explained).await.unwrap();
        let summary = stream.finish().await.unwrap();
        let plan = debugged::field(&format!("{summary:?}"), "plan").unwrap();
        let operators = operators(&plan);
        let scan = operators
            .iter()
            .find(|operator| SCANS.iter().any(|scan| operator.starts_with(scan)));
        assert_eq!(scan, None, "{statement}: {operators:?}");
    }
}

/// The operators of a plan.
fn operators(plan: &Value) -> Vec<String> {
    let own = plan["operatorType"].as_str().unwrap_or_default();
    let children = plan["children"].as_array().into_iter().flatten();
    let below = children.flat_map(operators);
    [own.to_owned()].into_iter().chain(below).collect()
}
