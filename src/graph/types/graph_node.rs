//! A node of any kind.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A node of any kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GraphNode {
    /// Identifies the node within the store or the file.
    pub id: String,
    pub labels: Vec<String>,
    /// Types that JSON lacks are tagged: `{"$date": "2026-01-02"}`.
    pub properties: Map<String, Value>,
}
