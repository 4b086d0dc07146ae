//! Reads knowledge nodes that were in the graph before the bot: their texts, relationships and present
//! properties. Nothing is written to them.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use super::GraphStore;
use super::explaining::knowledge_node;
use super::record::{list, params, text};
use crate::graph::StoreError;
use crate::graph::engine::streaming::stream;
use crate::graph::engine::{Engine as _, Params, Row, quote_identifier};
use crate::graph::types::labels::MEMORY_LABELS;

/// Maximum number of buffered rows.
const IN_FLIGHT: usize = 1_000;

/// A node's texts, in the order of the requested properties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeTexts {
    /// `elementId`: valid until the node is deleted.
    pub element: String,
    /// One per property; empty if the node does not have it.
    pub texts: Vec<String>,
}

/// A relationship between two nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeLink {
    pub from: String,
    pub to: String,
}

impl GraphStore {
    /// The texts of `properties` of at most `most` nodes of a label. Chunks of ingested sources and nodes
    /// of memory are left out, whatever other labels they have.
    pub async fn node_texts(
        &self,
        label: &str,
        properties: &[String],
        most: usize,
        to: mpsc::Sender<NodeTexts>,
    ) -> Result<(), StoreError> {
        let label = quote_identifier(label)?;
        let texts: Vec<String> = properties
            .iter()
            .map(|property| Ok(format!("n.{}", quote_identifier(property)?)))
            .collect::<Result<_, StoreError>>()?;
        let statement = format!(
            "MATCH (n:{label}) WHERE n.chunkId IS NULL \
             RETURN elementId(n) AS element, labels(n) AS labels, [{}] AS texts LIMIT {most}",
            texts.join(", ")
        );
        self.each_row(
            &statement,
            |row| {
                let is_memory = list(row, "labels").iter().any(is_memory_label);
                let texts = list(row, "texts").iter().map(as_text).collect();
                let element = text(row, "element").filter(|_| !is_memory)?;
                Some(NodeTexts { element, texts })
            },
            to,
        )
        .await
    }

    /// The relationships of a type from nodes of one label to nodes of another, at most `most`.
    pub async fn node_links(
        &self,
        (from, kind, to): (&str, &str, &str),
        most: usize,
        links: mpsc::Sender<NodeLink>,
    ) -> Result<(), StoreError> {
        let (from, kind, to) = (
            quote_identifier(from)?,
            quote_identifier(kind)?,
            quote_identifier(to)?,
        );
        let statement = format!(
            "MATCH (a:{from})-[:{kind}]->(b:{to}) \
             RETURN elementId(a) AS source, elementId(b) AS target LIMIT {most}"
        );
        let link = |row: &Row| {
            Some(NodeLink {
                from: text(row, "source")?,
                to: text(row, "target")?,
            })
        };
        self.each_row(&statement, link, links).await
    }

    async fn each_row<T: Send>(
        &self,
        statement: &str,
        convert: impl Fn(&Row) -> Option<T> + Send,
        to: mpsc::Sender<T>,
    ) -> Result<(), StoreError> {
        stream(
            &self.engine,
            (statement, Params::new()),
            IN_FLIGHT,
            to,
            convert,
        )
        .await
    }

    /// The present properties of nodes in readable form, by their `elementId`. Nodes that no longer exist
    /// or do not have the label are left out.
    pub async fn node_properties(
        &self,
        label: &str,
        elements: &[String],
    ) -> Result<BTreeMap<String, Map<String, Value>>, StoreError> {
        let label = quote_identifier(label)?;
        let statement = format!(
            "UNWIND $ids AS id MATCH (n:{label}) WHERE elementId(n) = id \
             RETURN elementId(n) AS element, labels(n) AS labels, properties(n) AS properties"
        );
        let bound = params(json!({"ids": elements}));
        let rows = self.engine.read(&statement, bound).await?;
        rows.into_iter()
            .filter(|row| !list(row, "labels").iter().any(is_memory_label))
            .map(|row| {
                let element = text(&row, "element").unwrap_or_default();
                let node = knowledge_node(&self.engine, &Value::Object(row))?;
                Ok((element, node.properties))
            })
            .collect()
    }
}

fn is_memory_label(label: &Value) -> bool {
    label
        .as_str()
        .is_some_and(|label| MEMORY_LABELS.contains(&label))
}

/// A text as it is, a list joined; empty for other values.
fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let texts = items.iter().filter_map(Value::as_str);
            texts.collect::<Vec<_>>().join(", ")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}
