//! The schema of the graph, as another process tells it.

use std::collections::BTreeMap;

use muninn::graph::schema::Schema;
use serde::{Deserialize, Serialize};

/// The schema that statements are checked against.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct GraphSchema {
    pub(super) schema: Schema,
    pub(super) nodes: BTreeMap<String, u64>,
}
