//! What every graph store must do, on each of them.
//!
//! The Neo4j lane runs on the server of `NEO4J_TEST_URI` (`NEO4J_TEST_USER`,
//! `NEO4J_TEST_PASSWORD`) and empties it.

#![expect(
    clippy::unwrap_used,
    reason = "a test fails by panicking, also in what it is helped by"
)]

#[macro_use]
mod lanes;
#[allow(dead_code, unreachable_pub, reason = "shared with other test binaries")]
#[path = "../support/graph.rs"]
mod graph;
mod pending;
#[allow(unreachable_pub, reason = "shared with other test binaries")]
#[path = "../support/proxy.rs"]
mod proxy;

mod accounts;
mod answers;
mod appending;
mod browsing;
mod carrying;
mod chains;
mod claims;
mod crashes;
mod desk;
mod embedding;
mod exchanging;
mod faults;
mod forgetting;
mod ingesting;
mod knowledge;
mod marks;
mod messages;
mod querying;
mod reading;
mod searching;
mod superseding;
mod tokens;
