//! What the store provides for searching ingested knowledge: which chunks exist, and the text of those
//! found. Ranking is in [`crate::knowledge::search`], which has its own files.

use chrono::{DateTime, Utc};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use super::statements as cypher;
use super::store::property_order;
use super::{CHUNK, INCLUDES, NEXT, PRIVATE, PropertyOrder};
use crate::graph::StoreError;
use crate::graph::engine::streaming::stream;
use crate::graph::engine::value::instant;
use crate::graph::engine::{Engine, Row};
use crate::graph::store::GraphStore;
use crate::graph::store::explaining::knowledge_node;
use crate::graph::store::record::{integer, list, params, text};

/// Maximum number of buffered rows.
const IN_FLIGHT: usize = 1_000;

/// A source as it is served now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceVersion {
    pub name: String,
    pub version: i64,
    pub since: Option<DateTime<Utc>>,
    /// Number of chunks of the version; `None` for a version from before this was recorded.
    pub chunks: Option<usize>,
    pub property_order: PropertyOrder,
    /// Empty: everybody may see it.
    pub channels: Vec<String>,
}

/// A relationship between two served chunks other than [`INCLUDES`] and [`NEXT`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedLink {
    /// ID of a chunk.
    pub from: String,
    pub kind: String,
    pub to: String,
}

/// The content of a served chunk.
#[derive(Clone, Debug, PartialEq)]
pub struct Passage {
    pub chunk: String,
    /// Valid for this turn only.
    pub element: String,
    pub text: String,
    /// In readable form, long ones cut, without the bot's own.
    pub properties: Map<String, Value>,
}

fn links(label: &str) -> String {
    format!(
        "MATCH (a:{label})-[r]->(b:{label}) \
         WHERE type(r) <> '{INCLUDES}' AND type(r) <> '{NEXT}' \
         AND a.source = $source AND b.source = $source \
         AND a.chunkId IS NOT NULL AND b.chunkId IS NOT NULL \
         RETURN a.chunkId AS source, type(r) AS kind, b.chunkId AS target"
    )
}

fn passages(label: &str) -> String {
    format!(
        "UNWIND $ids AS id MATCH (n:{label} {{chunkId: id}}) \
         RETURN n.chunkId AS chunk, elementId(n) AS element, n.text AS text, \
         labels(n) AS labels, properties(n) AS properties"
    )
}

impl GraphStore {
    /// The sources that are served, by name. Cheap, as nothing is counted.
    pub async fn source_versions(&self) -> Result<Vec<SourceVersion>, StoreError> {
        let bound = params(json!({"now": 0}));
        let rows = self.engine.read(cypher::SOURCES, bound).await?;
        let version = |row: &Row| SourceVersion {
            name: text(row, "name").unwrap_or_default(),
            version: integer(row, "version"),
            since: row.get("since").and_then(instant),
            chunks: row
                .get("chunks")
                .and_then(Value::as_u64)
                .and_then(|chunks| usize::try_from(chunks).ok()),
            property_order: property_order(row),
            channels: list(row, "channels")
                .iter()
                .filter_map(|channel| channel.as_str().map(str::to_owned))
                .collect(),
        };
        let versions = rows.iter().map(version);
        Ok(versions.filter(|source| source.version > 0).collect())
    }

    /// Every relationship between served chunks of a source, except [`INCLUDES`] and [`NEXT`].
    pub async fn served_links(
        &self,
        source: &str,
        to: mpsc::Sender<ServedLink>,
    ) -> Result<(), StoreError> {
        for label in [CHUNK, PRIVATE] {
            let bound = params(json!({"source": source}));
            let statement = links(label);
            let read = (statement.as_str(), bound);
            stream(&self.engine, read, IN_FLIGHT, to.clone(), served_link).await?;
        }
        Ok(())
    }

    /// The content of these chunks, in one round trip; those that are not served any more are left out.
    /// `private` selects the label.
    pub async fn passages(
        &self,
        chunks: &[String],
        private: bool,
    ) -> Result<Vec<Passage>, StoreError> {
        let statement = passages(if private { PRIVATE } else { CHUNK });
        let bound = params(json!({"ids": chunks}));
        let rows = self.engine.read(&statement, bound).await?;
        rows.into_iter()
            .map(|row| {
                Ok(Passage {
                    chunk: text(&row, "chunk").unwrap_or_default(),
                    element: text(&row, "element").unwrap_or_default(),
                    text: text(&row, "text").unwrap_or_default(),
                    properties: knowledge_node(&self.engine, &Value::Object(row))?.properties,
                })
            })
            .collect()
    }
}

fn served_link(row: &Row) -> Option<ServedLink> {
    Some(ServedLink {
        from: text(row, "source")?,
        kind: text(row, "kind")?,
        to: text(row, "target")?,
    })
}
