//! Whatever goes in: no panic, and what comes out is confined already.
//!
//! `cargo +nightly fuzz run confine fuzz/seeds` (from `cargo install cargo-fuzz`).

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use muninn::graph::confine::{Limits, confine};
use muninn::graph::schema::Schema;
use muninn::graph::{MEMORY_LABELS, MEMORY_RELATIONSHIPS};

static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
    let text = r#"{
        "nodes": {"Person": [["name", "STRING"]], "Movie": [["title", "STRING"]], "Odd Thing": []},
        "relationships": {"ACTED_IN": [["roles", "LIST"]], "FOLLOWS": []},
        "patterns": [["Person", "ACTED_IN", "Movie"], ["Person", "FOLLOWS", "Person"]]
    }"#;
    serde_json::from_str(text).expect("the schema is JSON")
});

fuzz_target!(|text: &str| {
    let limits = Limits { rows: 100 };
    let Ok(once) = confine(text, &SCHEMA, &limits) else {
        return;
    };
    let twice = confine(once.as_str(), &SCHEMA, &limits).expect("what came out goes in again");
    assert_eq!(once.as_str(), twice.as_str());
    for name in MEMORY_LABELS.iter().chain(MEMORY_RELATIONSHIPS) {
        for sign in [":", "|", "&", "!"] {
            let named = format!("{sign}{name}");
            let follows = once.as_str().split(&named).nth(1);
            let is_name = follows.is_some_and(|rest| !rest.starts_with(|c: char| c == '_' || c.is_alphanumeric()));
            // In a string it is only text.
            assert!(!is_name || once.as_str().contains('\''), "{named} in {}", once.as_str());
        }
    }
});
