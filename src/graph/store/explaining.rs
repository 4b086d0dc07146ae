//! Explains what an answer was made from.

use muninn_platform::ConversationId;
use serde_json::{Map, Value, json};

use super::answers::Votes;
use super::record::{is_deleted, list, params, response_id, text, trace, turn, unexpected};
use super::{GraphStore, statements};
use crate::graph::engine::Engine;
use crate::graph::engine::value::plain;
use crate::graph::query::without_vectors;
use crate::graph::types::graph_node::GraphNode;
use crate::graph::types::response_id::ResponseId;
use crate::graph::{Explanation, KnowledgeNode, StoreError};

/// Maximum number of a node's properties in an explanation.
const SHOWN_PROPERTIES: usize = 30;

/// Maximum characters of a property in an explanation.
const SHOWN_CHARACTERS: usize = 300;

impl GraphStore {
    /// Explains the session's last answer, or the given one.
    pub async fn explain(
        &self,
        session: &ConversationId,
        response: Option<ResponseId>,
    ) -> Result<Option<Explanation>, StoreError> {
        let statement = match response {
            Some(_) => statements::EXPLAIN_ONE,
            None => statements::EXPLAIN_LAST,
        };
        let bound = json!({
            "session": session.as_str(),
            "response": response.map(|id| id.to_string()),
        });
        let rows = self.engine.read(statement, params(bound)).await?;
        let Some(row) = rows.first() else {
            return Ok(None);
        };
        let score = |memory: &Value| {
            let score = memory.get("score").and_then(Value::as_f64);
            score.unwrap_or_default()
        };
        let is_there = |memory: &&Value| memory.get("turn").is_some_and(|it| !is_deleted(it));
        // A link to where a deleted memory came from has a score of zero.
        let was_given = |memory: &&Value| score(memory) > 0.0;
        let mut recalled = list(row, "memories")
            .iter()
            .filter(is_there)
            .filter(was_given)
            .map(|memory| {
                let turn = turn(memory.get("turn").unwrap_or(&Value::Null))?;
                Ok((score(memory), turn))
            })
            .collect::<Result<Vec<_>, StoreError>>()?;
        recalled.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        let place = |memory: &Value| {
            let id = memory.pointer("/turn/id")?.as_str()?;
            let name = memory.get("place")?.as_str()?;
            Some((response_id(id).ok()?, name.to_owned()))
        };
        let places = list(row, "memories").iter().filter_map(place).collect();
        Ok(Some(Explanation {
            trace: trace(row),
            votes: Votes::of(&text(row, "feedback").unwrap_or_default()),
            turn: turn(row.get("turn").unwrap_or(&Value::Null))?,
            recalled,
            places,
            removed_sources: list(row, "removed")
                .iter()
                .filter_map(|name| name.as_str().map(str::to_owned))
                .collect(),
            context: list(row, "sources")
                .iter()
                .map(|source| knowledge_node(&self.engine, source))
                .collect::<Result<_, _>>()?,
        }))
    }
}

pub(in crate::graph) fn knowledge_node(
    engine: &dyn Engine,
    source: &Value,
) -> Result<KnowledgeNode, StoreError> {
    let mut node = source
        .as_object()
        .map(GraphNode::from_row)
        .ok_or_else(|| unexpected("a node that is no map"))?;
    (engine.dialect().strip)(&mut node);
    let mut properties: Map<String, Value> = node
        .properties
        .into_iter()
        .map(|(key, value)| (key, plain(value)))
        .collect();
    properties = without_vectors(properties);
    Ok(KnowledgeNode {
        has_changed: source.get("hasChanged").and_then(Value::as_bool) == Some(true),
        labels: node.labels,
        properties: properties
            .into_iter()
            .take(SHOWN_PROPERTIES)
            .map(|(key, value)| (key, abridged(value)))
            .collect(),
    })
}

/// Cuts a value that is too long for an explanation.
fn abridged(value: Value) -> Value {
    let cut = |text: &str| {
        let start: String = text.chars().take(SHOWN_CHARACTERS).collect();
        Value::String(start + "…")
    };
    match &value {
        Value::String(text) if text.chars().count() > SHOWN_CHARACTERS => cut(text),
        Value::Array(_) | Value::Object(_) if value.to_string().len() > SHOWN_CHARACTERS => {
            cut(&value.to_string())
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => value,
    }
}
