//! Tests of the adapter with a Discord server on loopback, with people in it.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod absence;
mod access;
mod answers;
mod asking;
mod changes;
mod conforming;
mod figures;
mod gateway;
mod hearing;
mod history;
mod owning;
mod places;
mod shards;
mod support;
mod trouble;
