//! Measures how long confining takes. Goal: p50 below 200 µs.
//!
//! With `MUNINN_GENERATED` (a file of JSON lines with `db` and `cypher`) and `MUNINN_SCHEMAS`
//! (schemas by `db`) it also prints the quantiles for those statements.

#![allow(clippy::unwrap_used, reason = "a bench may panic")]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use muninn::graph::confine::{StatementLimits, confine};
use muninn::graph::schema::{Pattern, Schema};
use serde_json::Value;

const LIMITS: StatementLimits<'_> = StatementLimits::of_rows(100);

const STATEMENT: &str = "MATCH (p:Person)-[:ACTED_IN]->(m:Movie)<-[:DIRECTED]-(d:Person) \
    WHERE m.released > 1990 AND NOT (d)--(p) WITH p, collect(DISTINCT d.name) AS directors, count(m) AS films \
    WHERE films > 2 RETURN p.name AS name, directors, films ORDER BY films DESC LIMIT 10";

fn movies() -> Schema {
    let text = r#"{
        "nodes": {"Person": [["name", "STRING"], ["born", "INTEGER"]],
                  "Movie": [["title", "STRING"], ["released", "INTEGER"], ["tagline", "STRING"]]},
        "relationships": {"ACTED_IN": [["roles", "LIST"]], "DIRECTED": [], "PRODUCED": [],
                          "WROTE": [], "FOLLOWS": [], "REVIEWED": [["summary", "STRING"], ["rating", "INTEGER"]]},
        "patterns": [["Person", "ACTED_IN", "Movie"], ["Person", "DIRECTED", "Movie"],
                     ["Person", "PRODUCED", "Movie"], ["Person", "WROTE", "Movie"],
                     ["Person", "FOLLOWS", "Person"], ["Person", "REVIEWED", "Movie"]]
    }"#;
    serde_json::from_str(text).unwrap()
}

/// Returns a schema with this many more labels, each with its own relationship.
fn large(labels: usize) -> Schema {
    let mut schema = movies();
    for number in 0..labels {
        schema.nodes.insert(format!("Label{number}"), Vec::new());
        schema.patterns.insert(Pattern {
            from: format!("Label{number}"),
            kind: format!("TYPE_{number}"),
            to: "Person".to_owned(),
        });
    }
    schema
}

fn confining(criterion: &mut Criterion) {
    for (name, schema) in [("movies", movies()), ("1000_labels", large(1_000))] {
        criterion.bench_function(&format!("confine/{name}"), |bencher| {
            bencher.iter(|| confine(black_box(STATEMENT), &schema, &LIMITS).unwrap());
        });
    }
    quantiles();
}

#[expect(clippy::print_stderr, reason = "a bench tells its figures")]
fn quantiles() {
    let (Ok(statements), Ok(schemas)) = (
        std::env::var("MUNINN_GENERATED"),
        std::env::var("MUNINN_SCHEMAS"),
    ) else {
        return;
    };
    let schemas = std::fs::read_to_string(schemas).unwrap();
    let schemas: BTreeMap<String, Schema> = serde_json::from_str(&schemas).unwrap();
    let statements = std::fs::read_to_string(statements).unwrap();
    let mut times: Vec<Duration> = Vec::new();
    for line in statements.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let Some(schema) = schemas.get(line["db"].as_str().unwrap()) else {
            continue;
        };
        let query = line["cypher"].as_str().unwrap();
        let start = Instant::now();
        let _ = black_box(confine(query, schema, &LIMITS));
        times.push(start.elapsed());
    }
    times.sort();
    let quantile = |part: f64| times[((times.len() - 1) as f64 * part) as usize];
    eprintln!(
        "confine/generated: {} statements, p50 {:?}, p99 {:?}, max {:?}",
        times.len(),
        quantile(0.5),
        quantile(0.99),
        quantile(1.0)
    );
}

criterion_group!(benches, confining);
criterion_main!(benches);
