//! What `muninn demo` takes.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// Which graph.
#[derive(Clone, Copy, Debug, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::cli) enum Demo {
    /// 40 movies, and 139 people: who played in, directed, wrote, produced or reviewed them, or follows a reviewer
    Movies,
    /// Eight contracts with their suppliers and vendors, from a table whose rows make several nodes
    Contracts,
}
