//! For any input: no panic, and the output is confined already and keeps its meaning when parsed
//! again.
//!
//! `.ci/fuzz` runs it. A text that begins with byte 255 is not a statement, but choices that
//! generate one.

#![no_main]

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use cypher_guard::testing::statement;
use libfuzzer_sys::fuzz_target;
use muninn::graph::confine::{ConfinedCypher, StatementLimits, Refusal, confine_with, round_trip};
use muninn::graph::schema::Schema;
use muninn::graph::{MEMORY_LABELS, MEMORY_RELATIONSHIPS};

static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
    let text = r#"{
        "nodes": {
            "Person": [["name", "STRING"], ["born", "INTEGER"]],
            "Movie": [["title", "STRING"], ["released", "INTEGER"]],
            "Odd Thing": []
        },
        "relationships": {"ACTED_IN": [["roles", "LIST"]], "DIRECTED": [], "FOLLOWS": []},
        "patterns": [
            ["Person", "ACTED_IN", "Movie"], ["Person", "DIRECTED", "Movie"],
            ["Person", "FOLLOWS", "Person"]
        ]
    }"#;
    serde_json::from_str(text).expect("the schema is JSON")
});

/// Maximum time: ordinary statements take at most 6 ms, and the fuzzer's build is slower.
const LONG: Duration = Duration::from_secs(2);

fn confined(text: &str) -> Result<ConfinedCypher, Refusal> {
    confine_with(text, &SCHEMA, &StatementLimits::of_rows(100), &["name", "many"])
}

fuzz_target!(|bytes: &[u8]| {
    match bytes {
        [255, choices @ ..] => check(&statement(choices)),
        text => {
            if let Ok(text) = std::str::from_utf8(text) {
                check(text);
            }
        }
    }
});

fn check(text: &str) {
    let start = Instant::now();
    let once = confined(text);
    assert!(start.elapsed() < LONG, "{:?} for {text:?}", start.elapsed());
    let Ok(once) = once else {
        return;
    };
    let once = once.as_str();
    let twice = confined(once);
    let twice = twice.unwrap_or_else(|refusal| panic!("{text:?} became {once:?}: {refusal}"));
    assert_eq!(once, twice.as_str(), "out of {text:?}");
    for text in [text, once] {
        let again = round_trip(text).unwrap_or_else(|refusal| panic!("{text:?}: {refusal}"));
        assert!(again.is_same, "{text:?} reads back as {:?}", again.printed);
    }
    for name in MEMORY_LABELS.iter().chain(MEMORY_RELATIONSHIPS) {
        for sign in [":", "|", "&", "!"] {
            let named = format!("{sign}{name}");
            let follows = once.split(&named).nth(1);
            let is_part = |c: char| c == '_' || c.is_alphanumeric();
            let is_name = follows.is_some_and(|rest| !rest.starts_with(is_part));
            // In a string or a column's name it is only text.
            assert!(!is_name || once.contains(['\'', '`']), "{named} in {once}");
        }
    }
}
