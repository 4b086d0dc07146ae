//! Generated Cypher cannot escape: handwritten and generated attacks, on both stores.
//!
//! The Neo4j lane runs on the server of `NEO4J_TEST_URI` (`NEO4J_TEST_USER`,
//! `NEO4J_TEST_PASSWORD`) and empties it.

#![expect(
    clippy::unwrap_used,
    reason = "a test fails by panicking, also in what it is helped by"
)]

#[allow(dead_code, unreachable_pub, reason = "shared with other test binaries")]
#[path = "../support/graph.rs"]
mod graph;

mod acceptance;
mod attacks;
mod dialects;
mod grammar;
mod graphs;
mod interference;
mod meaning;
mod oracles;
mod properties;
mod questions;
mod reader;
mod stores;
mod surveys;
