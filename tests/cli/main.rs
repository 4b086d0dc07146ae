//! The binary as people run it: with a folder, and a terminal or a script.
//!
//! The Neo4j lane uses the server of `NEO4J_TEST_URI` (`NEO4J_TEST_USER`, `NEO4J_TEST_PASSWORD`).

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod admin;
mod asking;
mod bad_input;
mod carrying;
mod checking;
mod crashes;
mod deployed;
mod embedding;
mod evaluating;
mod folders;
mod forgetting;
mod formats;
mod holding;
mod home;
mod ingesting;
mod knowing;
mod looking;
mod models;
mod offline;
mod operating;
mod owning;
mod programs;
mod refreshing;
mod serving;
mod settings;
#[path = "../support/mod.rs"]
mod support;
mod talking;
mod traces;
mod watching;
