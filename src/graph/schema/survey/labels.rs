//! Names of labels in rows, without those of the bot.

use serde_json::Map;

use crate::graph::engine::{Engine, Row};
use crate::graph::ingest::CHUNK;
use crate::graph::store::record::{integer, list};
use crate::graph::types::graph_node::GraphNode;
use crate::graph::types::labels::MEMORY_LABELS;

pub(super) fn times(row: &Row) -> u64 {
    u64::try_from(integer(row, "times")).unwrap_or_default()
}

pub(super) fn strings(row: &Row, column: &str) -> Vec<String> {
    let items = list(row, column).iter();
    items
        .filter_map(|item| item.as_str().map(str::to_owned))
        .collect()
}

pub(super) fn is_memory_label(label: &str) -> bool {
    // Labels of a later version begin in the same way.
    MEMORY_LABELS.contains(&label) || label.starts_with("Muninn")
}

/// Removes the label with which an engine marks nodes without labels; returns nothing for a node of
/// memory.
pub(super) fn knowledge_labels(engine: &dyn Engine, labels: Vec<String>) -> Vec<String> {
    if labels.iter().any(|label| is_memory_label(label)) {
        return Vec::new();
    }
    stripped(engine, labels)
}

fn stripped(engine: &dyn Engine, labels: Vec<String>) -> Vec<String> {
    let mut node = GraphNode {
        id: String::new(),
        labels,
        properties: Map::new(),
    };
    (engine.dialect().strip)(&mut node);
    // The other label says what a chunk is; both would double every pattern.
    if node.labels.len() > 1 {
        node.labels.retain(|label| label != CHUNK);
    }
    node.labels
}
