//! Tests of the adapter against a real Synapse, with a second client as the person. See
//! `muninn_matrix::testing` for the required settings.
#![recursion_limit = "256"]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod absence;
mod account;
mod answers;
mod changes;
mod figures;
mod frozen;
mod hearing;
mod history;
mod keys;
mod members;
mod owning;
mod rooms;
mod support;
