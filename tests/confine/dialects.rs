//! Both engines accept confined statements: if one of them refuses, a question stays without an
//! answer.
//!
//! `MUNINN_CONFINE_CASES` sets how many statements are tried (default 120); a longer run is
//! `MUNINN_CONFINE_CASES=20000 cargo test --workspace --test confine -- dialects --nocapture`.

use std::collections::BTreeMap;

use cypher_guard::testing::statement;
use muninn::graph::confine::ConfinedCypher;
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::graphs::{add_knowledge, confined};
use crate::stores::{Store, on_embedded, on_neo4j};

/// Neo4j's refusals that the original statement causes too.
const REFUSED_BY_NEO4J: &[&str] = &[
    "Mixing variable-length relationships",
    "list index must be given as Integer",
    "but was Number",
    "expected List<T> but was",
    "A pattern expression should only be used",
];

/// What the embedded engine does not support; the model is told, and rewrites the statement.
const UNKNOWN_TO_THE_EMBEDDED: &[&str] = &[
    // `!` and `&` between labels.
    "Unexpected character '!'",
    "Unexpected character '&'",
    "(in \"",
    // A shortest path without a name, or not the first of its MATCH.
    "expected '(', but found 'identifier'",
    "shortestPath() is only supported on the first pattern",
    "Unexpected token at start of clause: ,",
    // Quantified paths.
    "unexpected trailing input after pattern",
    "Unexpected token in MATCH pattern: WHERE",
    "Unexpected token in EXISTS pattern: WHERE",
    // `COLLECT { … }`, and RETURN in `EXISTS { … }` and `COUNT { … }`.
    "Expected property name or .property in map projection",
    "Unexpected token in EXISTS pattern: RETURN",
    // Names of variables that begin with a digit or contain a space.
    "but found 'number'",
    "Cartesian points are not supported",
    "Unknown function: isempty",
    "List index must be an integer",
    // Errors at runtime.
    "by zero",
    "Integer overflow",
    // `CASE x WHEN 1, 2 THEN`, and operators in a CASE.
    "Expected Then, found",
    // A named path in a subquery.
    "Unexpected token in EXISTS pattern: =",
    "Unexpected token in EXISTS pattern: &",
    "Expected RBrace, found",
    // What it parses differently: `count {` as a map, comparisons of comparisons, a minus after a
    // list.
    "Expected Colon, found",
    "Expected RParen, found",
    "Expected RBracket, found",
    "Unexpected token at start of clause: -",
    "the same return column names",
    // `a < b + 1 < c`
    "Unexpected token at start of clause: <",
    "Unexpected token at start of clause: >",
    "Unexpected token at start of clause: =",
];

#[test]
fn the_embedded_engine_reads_what_is_confined() {
    on_embedded(|store| {
        are_read(
            store,
            |confined| confined.legacy_syntax().to_owned(),
            UNKNOWN_TO_THE_EMBEDDED,
        )
    });
}

#[test]
#[ignore = "needs a Neo4j (NEO4J_TEST_URI)"]
fn neo4j_explains_what_is_confined() {
    on_neo4j(|store| {
        are_read(
            store,
            |confined| format!("EXPLAIN {}", confined.as_str()),
            REFUSED_BY_NEO4J,
        )
    });
}

/// Lists refusals by kind, and fails for an unknown kind.
#[expect(clippy::print_stderr, reason = "the list is what one looks for")]
fn are_read(store: &dyn Store, written: fn(&ConfinedCypher) -> String, known: &[&str]) {
    add_knowledge(store);
    let mut refused: BTreeMap<&str, usize> = BTreeMap::new();
    let mut unknown = Vec::new();
    for statement in accepted(cases()) {
        let statement = written(&statement);
        let Err(error) = store.read(&statement) else {
            continue;
        };
        match known.iter().find(|kind| error.contains(**kind)) {
            Some(kind) => *refused.entry(kind).or_default() += 1,
            None => unknown.push(format!("{statement}\n  {error}")),
        }
    }
    for (kind, times) in refused {
        eprintln!("{times:>5}  {kind}");
    }
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
}

fn cases() -> usize {
    let asked = std::env::var("MUNINN_CONFINE_CASES").ok();
    asked.and_then(|cases| cases.parse().ok()).unwrap_or(120)
}

/// Generates the same statements every time.
fn accepted(many: usize) -> Vec<ConfinedCypher> {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let choices = proptest::collection::vec(proptest::num::u8::ANY, 0..250);
    let mut accepted = Vec::new();
    while accepted.len() < many {
        let choices = choices.new_tree(&mut runner).unwrap().current();
        if let Ok(confined) = confined(&statement(&choices)) {
            accepted.push(confined);
        }
    }
    accepted
}
