//! What the engine adds to a node, and what must be added so that this can be recognised.

use serde_json::Value;

use super::values::MADE_UP;
use crate::graph::engine::value::tag_of;
use crate::graph::types::graph_node::GraphNode;

/// Every node has a label in this engine; this one stands for none.
const NO_LABEL: &str = "MuninnUnlabelled";

/// Prefix of the ID of a node without its own. The engine's generated IDs turn into ordinary
/// numbers if another node of the label has a numeric ID.
const NO_ID: &str = "muninn:none:";

/// A node without a title shows its name as its title here. A node that has both is marked.
const OWNS_TITLE: &str = "muninnOwnsTitle";

/// Restores a node to what it was before it was stored here.
pub(super) fn strip(node: &mut GraphNode) {
    // The engine's name for a node with neither title nor name: `Raven_7`.
    let minted = node.properties.get("id").and_then(|id| {
        let id = match id {
            Value::String(text) => text.clone(),
            Value::Object(object) => tag_of(object)?.1.to_string(),
            Value::Number(_) | Value::Bool(_) | Value::Array(_) | Value::Null => id.to_string(),
        };
        Some(Value::String(format!("{}_{id}", node.labels.first()?)))
    });
    let is_made_up = |value: &Value| {
        value
            .as_object()
            .and_then(tag_of)
            .is_some_and(|(tag, _)| tag == MADE_UP)
            || value.as_str().is_some_and(|id| id.starts_with(NO_ID))
    };
    let owns_title = node.properties.remove(OWNS_TITLE).is_some();
    let virtual_title = node.properties.get("name").cloned();
    // If some nodes of a label have both, the others also show their title as their name. A chunk
    // has its own title.
    let is_chunk = node.properties.contains_key("chunkId");
    let title = node.properties.get("title").cloned();
    node.properties.retain(|key, value| {
        let is_virtual = match key.as_str() {
            "title" => !owns_title && !is_chunk && (Some(&*value) == virtual_title.as_ref()),
            "name" if is_chunk => !owns_title && (Some(&*value) == title.as_ref()),
            "name" => minted.as_ref() == Some(&*value),
            _ => false,
        };
        !is_virtual && !is_made_up(value)
    });
    if !owns_title && node.properties.get("title") == minted.as_ref() {
        node.properties.remove("title");
    }
    node.labels.retain(|label| label != NO_LABEL);
}

/// Prepares a node for storing: with its own ID and a label.
pub(super) fn prepare(node: &mut GraphNode) {
    if let (Some(title), Some(name)) = (node.properties.get("title"), node.properties.get("name"))
        && title == name
    {
        node.properties
            .insert(OWNS_TITLE.to_owned(), Value::Bool(true));
    }
    if !node.properties.contains_key("id") {
        let id = format!("{NO_ID}{}", uuid::Uuid::new_v4());
        node.properties.insert("id".to_owned(), Value::String(id));
    }
    if node.labels.is_empty() {
        node.labels.push(NO_LABEL.to_owned());
    }
}
