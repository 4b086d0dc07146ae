//! Adds knowledge to the graph; adding it again changes nothing.

use serde_json::{Map, Value, json};

use super::record::{integer, params};
use crate::graph::StoreError;
use crate::graph::engine::{Engine, quote_identifier};
use crate::graph::types::graph_node::GraphNode;
use crate::graph::types::labels::{MEMORY_LABELS, MEMORY_RELATIONSHIPS};

/// Nodes of one label, identified by a property.
#[derive(Clone, Debug, PartialEq)]
pub struct KnowledgeNodes {
    pub label: String,
    /// The identifying property; every node has it, as text.
    pub key: String,
    pub nodes: Vec<Map<String, Value>>,
}

/// Relationships of one type between nodes of one label each.
#[derive(Clone, Debug, PartialEq)]
pub struct KnowledgeLinks {
    pub kind: String,
    /// Label and key of the start nodes.
    pub from: (String, String),
    /// Label and key of the end nodes.
    pub to: (String, String),
    pub links: Vec<KnowledgeLink>,
}

/// A relationship between two nodes, given by their keys; there is at most one of a type.
#[derive(Clone, Debug, PartialEq)]
pub struct KnowledgeLink {
    pub from: String,
    pub to: String,
    pub properties: Map<String, Value>,
}

/// Serialises two processes that add the same, by a lock on this node.
const LOCK: &str =
    "MERGE (lock:MuninnSchema {id: 'schema'}) SET lock.mergedAt = datetime() WITH lock ";

/// Creates the nodes that do not exist yet, in one transaction. Returns their number. Existing
/// nodes are unchanged.
pub(crate) async fn merge_nodes(
    engine: &dyn Engine,
    put: &KnowledgeNodes,
) -> Result<usize, StoreError> {
    let (label, key) = (knowledge_label(&put.label)?, quote_identifier(&put.key)?);
    let mut keys = std::collections::HashSet::new();
    let rows: Vec<Value> = put
        .nodes
        .iter()
        .filter(|node| keys.insert(node.get(&put.key)))
        .map(|properties| {
            let mut node = GraphNode {
                id: String::new(),
                labels: vec![put.label.clone()],
                properties: properties.clone(),
            };
            (engine.dialect().prepare)(&mut node);
            json!({"key": properties.get(&put.key), "properties": node.properties})
        })
        .collect();
    // The ID is set first: the embedded engine's log knows a node by the first ID that it gets. If
    // there is none it is null, which creates no property.
    let statement = format!(
        "{LOCK}UNWIND $rows AS row OPTIONAL MATCH (old:{label} {{{key}: row.key}}) \
         WITH row, count(old) AS olds \
         FOREACH (_ IN CASE WHEN olds = 0 THEN [1] ELSE [] END | \
         CREATE (n:{label} {{id: row.properties.id}}) SET n += row.properties) \
         RETURN sum(CASE WHEN olds = 0 THEN 1 ELSE 0 END) AS made"
    );
    made(engine, &statement, &rows).await
}

/// Creates the relationships that do not exist yet, in one transaction. Returns their number. Those
/// without one of their ends are skipped.
pub(crate) async fn merge_links(
    engine: &dyn Engine,
    put: &KnowledgeLinks,
) -> Result<usize, StoreError> {
    if MEMORY_RELATIONSHIPS.contains(&put.kind.as_str()) {
        return Err(of_memory(&put.kind));
    }
    let kind = quote_identifier(&put.kind)?;
    let (from, from_key) = (
        knowledge_label(&put.from.0)?,
        quote_identifier(&put.from.1)?,
    );
    let (to, to_key) = (knowledge_label(&put.to.0)?, quote_identifier(&put.to.1)?);
    let rows: Vec<Value> = put
        .links
        .iter()
        .map(|link| json!({"from": link.from, "to": link.to, "properties": link.properties}))
        .collect();
    let statement = format!(
        "{LOCK}UNWIND $rows AS row \
         MATCH (a:{from} {{{from_key}: row.from}}) MATCH (b:{to} {{{to_key}: row.to}}) \
         OPTIONAL MATCH (a)-[old:{kind}]->(b) \
         WITH a, b, row, count(old) AS olds \
         FOREACH (_ IN CASE WHEN olds = 0 THEN [1] ELSE [] END | \
         CREATE (a)-[r:{kind}]->(b) SET r += row.properties) \
         RETURN sum(CASE WHEN olds = 0 THEN 1 ELSE 0 END) AS made"
    );
    made(engine, &statement, &rows).await
}

async fn made(engine: &dyn Engine, statement: &str, rows: &[Value]) -> Result<usize, StoreError> {
    let rows = engine
        .write(statement, params(json!({"rows": rows})))
        .await?;
    let made = rows.first().map_or(0, |row| integer(row, "made"));
    Ok(usize::try_from(made).unwrap_or_default())
}

fn knowledge_label(label: &str) -> Result<String, StoreError> {
    if MEMORY_LABELS.contains(&label) {
        return Err(of_memory(label));
    }
    quote_identifier(label)
}

fn of_memory(name: &str) -> StoreError {
    StoreError::Unexpected(format!(
        "{name} is a name of the bot's own memory; knowledge needs another one"
    ))
}
