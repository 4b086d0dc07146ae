//! Non-interference: rows, order and errors are the same with memory in the database and without.

use std::collections::BTreeMap;

use crate::attacks::{ATTACKS, AttackOutcome};
use crate::graphs::{MARKER, add_knowledge, add_memory, confined, everything};
use crate::stores::{ReadResult, Store, on_embedded, on_neo4j};

#[test]
fn there_are_a_hundred_attacks_and_each_has_a_name() {
    let names: BTreeMap<&str, &str> = ATTACKS
        .iter()
        .map(|(name, query, _)| (*name, *query))
        .collect();
    assert_eq!(names.len(), ATTACKS.len());
    assert!(names.len() >= 100, "{}", names.len());
}

#[test]
fn attacks_are_refused_by_name_or_made_harmless() {
    let mut otherwise = Vec::new();
    for (name, query, fate) in ATTACKS {
        let result = confined(query);
        let is_as_expected = match (fate, &result) {
            (AttackOutcome::Refused(why), Err(refusal)) => refusal.to_string().contains(why),
            (AttackOutcome::Harmless, Ok(_)) => true,
            (AttackOutcome::Refused(_) | AttackOutcome::Harmless, _) => false,
        };
        if !is_as_expected {
            otherwise.push(format!("{name}: {query}: {result:?}"));
        }
    }
    assert!(otherwise.is_empty(), "{}", otherwise.join("\n"));
}

#[test]
fn attacks_see_no_memory_on_the_embedded_graph() {
    on_embedded(attack);
}

#[test]
#[ignore = "needs a Neo4j (NEO4J_TEST_URI)"]
fn attacks_see_no_memory_on_neo4j() {
    on_neo4j(attack);
}

fn attack(store: &dyn Store) {
    let harmless: Vec<(&str, String)> = ATTACKS
        .iter()
        .filter_map(|(name, query, _)| Some((*name, confined(query).ok()?.as_str().to_owned())))
        .collect();
    add_knowledge(store);
    let without: Vec<ReadResult> = harmless
        .iter()
        .map(|(_, query)| store.read(query))
        .collect();
    add_memory(store);
    let before = everything(store);
    for ((name, query), without) in harmless.iter().zip(without) {
        let with = store.read(query);
        assert_eq!(with, without, "{name}: {query}");
        let told = format!("{with:?}");
        // A statement may contain the marker itself, and an engine quotes the statement in an
        // error.
        let is_leak = with.is_ok() && told.contains(MARKER);
        assert!(!is_leak, "{name}: {query}: {told}");
    }
    assert_eq!(everything(store), before);
}
