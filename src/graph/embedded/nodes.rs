//! What the engine adds to a node, and what has to be added so that it can be told apart.

use serde_json::Value;

use super::values::MADE_UP;
use crate::graph::transfer::GraphNode;
use crate::graph::value::tag_of;

/// Every node has a label here; this one stands for none.
const NO_LABEL: &str = "MuninnUnlabelled";

/// Begins the id of a node that came without one. The engine's own made-up ids turn into ordinary
/// numbers where another node of the label has a number as id.
const NO_ID: &str = "muninn:none:";

/// A node without a title shows its name as title here. One that has both says so.
const OWNS_TITLE: &str = "muninnOwnsTitle";

/// A node as it was before it came here.
pub(super) fn strip(node: &mut GraphNode) {
    // What the engine calls a node that has neither title nor name: `Raven_7`.
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
    // Where some nodes of a label have both, the others show their title as name as well. A chunk
    // has a title of its own.
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

/// A node as it has to be to come here: with an id of its own and a label.
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
