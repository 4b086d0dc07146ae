//! Confines a statement to a schema and prints what may run, or why nothing may.
//!
//! `cargo run -p cypher-guard --example confine -- "MATCH (n) RETURN n"`

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "an example says what it found"
)]

use std::process::ExitCode;

use cypher_guard::{Guard, Schema, StatementLimits};

const SCHEMA: &str = r#"{
    "nodes": {"Person": [["name", "STRING"]], "Movie": [["title", "STRING"], ["released", "INTEGER"]]},
    "relationships": {"ACTED_IN": [["roles", "LIST"]]},
    "patterns": [["Person", "ACTED_IN", "Movie"]]
}"#;

/// The graph also holds people's sessions, which no statement may reach.
const GUARD: Guard<'_> = Guard {
    hidden_labels: &["Session"],
    hidden_types: &["HAS_SESSION"],
};

fn main() -> ExitCode {
    let schema: Schema = serde_json::from_str(SCHEMA).expect("the schema above is sound");
    let written = std::env::args().nth(1);
    let query = written
        .as_deref()
        .unwrap_or("MATCH (p:Person)-->(m) RETURN p.name, m");
    match GUARD.confine(query, &schema, &StatementLimits::of_rows(100), &[]) {
        Ok(confined) => {
            println!("{}", confined.as_str());
            ExitCode::SUCCESS
        }
        Err(refusal) => {
            eprintln!("{refusal}");
            ExitCode::FAILURE
        }
    }
}
