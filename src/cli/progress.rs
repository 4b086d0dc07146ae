//! How far a command is.

use serde::{Deserialize, Serialize};

/// The unit of progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Unit {
    Bytes,
    Things,
}

/// The state of progress.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ProgressUpdate {
    pub(super) done: u64,
    pub(super) total: u64,
    pub(super) unit: Unit,
    /// The current step; empty if there is only one.
    pub(super) what: String,
}
