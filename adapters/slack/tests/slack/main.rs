//! Tests of the adapter with a loopback Slack, which checks every request, with people in it.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod bursts;
mod changes;
mod conformance;
mod doctor;
mod doors;
mod figures;
mod hearing;
mod history;
mod owning;
mod sharing;
mod support;
mod surfaces;
mod threads;
mod troubles;
mod unfinished;
mod wire;
