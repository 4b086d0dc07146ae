//! Measures how many statements of a model are accepted, and why the others are not.
//!
//! Reads `generated.jsonl` and `schemas.json` in the folder of `MUNINN_GENERATED` or
//! `../shared/bench/cypher`. They are not ours, so they are not part of this repository.

use std::collections::BTreeMap;
use std::path::PathBuf;

use muninn::graph::confine::{StatementLimits, confine};
use muninn::graph::schema::Schema;
use serde_json::Value;

/// Required share of the statements over graphs with a schema. Some of the others compare a time with a date, which finds
/// nothing.
const GOAL: f64 = 0.978;

#[test]
#[expect(clippy::print_stderr, reason = "the table is what one looks for")]
fn a_models_statements_are_accepted() {
    let folder = std::env::var_os("MUNINN_GENERATED").map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| PathBuf::from("../shared/bench/cypher"));
    let read = |file: &str| std::fs::read_to_string(folder.join(file));
    let (Ok(statements), Ok(schemas)) = (read("generated.jsonl"), read("schemas.json")) else {
        eprintln!(
            "acceptance did not run: no statements in {}",
            folder.display()
        );
        return;
    };
    let schemas: BTreeMap<String, Schema> = serde_json::from_str(&schemas).unwrap();
    let (mut accepted, mut all) = (0.0, 0.0);
    let mut refused: BTreeMap<String, usize> = BTreeMap::new();
    for line in statements.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let Some(schema) = schemas.get(line["db"].as_str().unwrap()) else {
            continue;
        };
        all += 1.0;
        match confine(
            line["cypher"].as_str().unwrap(),
            schema,
            &StatementLimits::of_rows(100),
        ) {
            Ok(_) => accepted += 1.0,
            Err(refusal) => *refused.entry(refusal.message).or_default() += 1,
        }
    }
    let share: f64 = accepted / all;
    eprintln!("{accepted} of {all} accepted: {:.2} %", share * 100.0);
    for (message, times) in refused {
        eprintln!("{times:>5}  {message}");
    }
    assert!(share >= GOAL, "{share}");
}
