//! Exports everything from one store into a file, and imports the file into another store.
//!
//! The file is JSON lines: a head, the nodes, the relationships, and an end line that counts them,
//! so that an incomplete file is detected. It contains the knowledge as well as the conversations,
//! whatever its labels are.

mod import;

use std::collections::HashMap;
use std::io::Write;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use super::engine::{Engine, Params, Row, quote_identifier};
use super::record::{integer, list, listed, params, text, unexpected, vector};
use super::{GraphStore, StoreError, ingest, migrate, statements};

pub use self::import::{CheckedExport, Names, check, import};
pub use super::graph_node::GraphNode;
pub use super::unfinished::Unfinished;

/// Version of the file format.
const FORMAT: u32 = 1;

/// Maximum number buffered between a store and the file.
const IN_FLIGHT: usize = 1_000;

/// A relationship of any kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GraphRelationship {
    #[serde(rename = "type")]
    pub kind: String,
    pub from: String,
    pub to: String,
    pub properties: Map<String, Value>,
}

/// The progress of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Number of nodes and relationships.
    pub done: u64,
    pub total: u64,
}

/// Why a transfer ended early.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    #[error("the file cannot be read or written")]
    File(#[from] std::io::Error),
    #[error("line {line}: {problem}")]
    Line { line: usize, problem: String },
    #[error(
        "the graph is not empty; --replace removes everything in it, conversations and knowledge, before it imports"
    )]
    NotEmpty,
    #[error(
        "an import of another file into this graph was interrupted; run `muninn import` with that file to go on, or with --replace to remove what it holds"
    )]
    OtherImport,
    #[error(transparent)]
    Store(#[from] StoreError),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ExportLine {
    Muninn {
        format: u32,
        schema: i64,
        nodes: u64,
        relationships: u64,
    },
    Node(GraphNode),
    Relationship(GraphRelationship),
    End {
        nodes: u64,
        relationships: u64,
    },
}

/// Writes everything in the store, one line each.
///
/// # Errors
/// Fails with the error of the store or the writer; the file then lacks its last line.
pub async fn export<W: Write + Send>(
    store: &GraphStore,
    writer: &mut W,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<(), TransferError> {
    let (nodes, relationships) = store.size().await?;
    let mut state = Progress {
        done: 0,
        total: nodes + relationships,
    };
    let head = ExportLine::Muninn {
        format: FORMAT,
        schema: migrate::VERSION,
        nodes,
        relationships,
    };
    write_line(writer, &head)?;
    let mut advance = || step(&mut state, 1, progress);

    let (sender, receiver) = mpsc::channel(IN_FLIGHT);
    let write = write_nodes(writer, receiver, &mut advance);
    let (read, written) = tokio::join!(store.nodes(sender), write);
    let numbers = written?;
    read?;

    let (sender, receiver) = mpsc::channel(IN_FLIGHT);
    let write = write_relationships(writer, receiver, &numbers, &mut advance);
    let (read, written) = tokio::join!(store.relationships(sender), write);
    let made = written?;
    read?;

    let end = ExportLine::End {
        nodes: numbers.len() as u64,
        relationships: made,
    };
    write_line(writer, &end)?;
    writer.flush()?;
    Ok(())
}

/// Writes the received nodes, and returns a number for each, as the store's IDs mean nothing
/// elsewhere.
async fn write_nodes<W: Write + Send>(
    writer: &mut W,
    mut nodes: mpsc::Receiver<GraphNode>,
    advance: &mut (dyn FnMut() + Send),
) -> Result<HashMap<String, u64>, TransferError> {
    let mut numbers = HashMap::new();
    while let Some(node) = nodes.recv().await {
        let number = numbers.len() as u64;
        numbers.insert(node.id, number);
        let id = number.to_string();
        write_line(writer, &ExportLine::Node(GraphNode { id, ..node }))?;
        advance();
    }
    Ok(numbers)
}

/// Writes the received relationships between written nodes, and returns their number.
async fn write_relationships<W: Write + Send>(
    writer: &mut W,
    mut relationships: mpsc::Receiver<GraphRelationship>,
    numbers: &HashMap<String, u64>,
    advance: &mut (dyn FnMut() + Send),
) -> Result<u64, TransferError> {
    let mut made = 0;
    while let Some(mut one) = relationships.recv().await {
        // Relationships created after the nodes were read are not part of this export.
        let (Some(from), Some(to)) = (numbers.get(&one.from), numbers.get(&one.to)) else {
            continue;
        };
        one.from = from.to_string();
        one.to = to.to_string();
        write_line(writer, &ExportLine::Relationship(one))?;
        made += 1;
        advance();
    }
    Ok(made)
}

fn step(state: &mut Progress, by: u64, progress: &mut (dyn FnMut(Progress) + Send)) {
    state.done += by;
    progress(*state);
}

fn write_line<W: Write>(writer: &mut W, line: &ExportLine) -> Result<(), TransferError> {
    serde_json::to_writer(&mut *writer, line).map_err(std::io::Error::from)?;
    writer.write_all(b"\n")?;
    Ok(())
}

impl GraphNode {
    /// Reads `id`, `labels` and `properties`.
    pub(crate) fn from_row(row: &Row) -> Self {
        Self {
            id: text(row, "id").unwrap_or_default(),
            labels: list(row, "labels")
                .iter()
                .filter_map(|label| label.as_str().map(str::to_owned))
                .collect(),
            properties: properties(row),
        }
    }

    fn has_embedding(&self) -> bool {
        let with = [
            "Response",
            ingest::CHUNK,
            ingest::PRIVATE,
            ingest::STAGED,
            ingest::RETIRED,
        ];
        self.labels
            .iter()
            .any(|label| with.contains(&label.as_str()))
    }

    /// Replaces the vector, if there is one.
    fn convert_embedding(&mut self, convert: impl Fn(&[f32]) -> Value) {
        if self.has_embedding()
            && let Some(embedding) = self.properties.get_mut("embedding")
            && let Some(floats) = vector(embedding)
        {
            *embedding = convert(&floats);
        }
    }
}

fn properties(row: &Row) -> Map<String, Value> {
    match row.get("properties") {
        Some(Value::Object(object)) => object.clone(),
        Some(_) | None => Map::new(),
    }
}

/// Groups items by key, each with its index in the list.
pub(crate) fn grouped<T, K: Eq>(items: &[T], key: impl Fn(&T) -> K) -> Vec<(K, Vec<(usize, &T)>)> {
    let mut groups: Vec<(K, Vec<(usize, &T)>)> = Vec::new();
    for (place, item) in items.iter().enumerate() {
        let key = key(item);
        match groups.iter_mut().find(|(found, _)| *found == key) {
            Some((_, members)) => members.push((place, item)),
            None => groups.push((key, vec![(place, item)])),
        }
    }
    groups
}

/// Labels as they follow a node in a pattern.
fn pattern(labels: &[String]) -> Result<String, StoreError> {
    labels
        .iter()
        .map(|label| Ok(format!(":{}", quote_identifier(label)?)))
        .collect()
}

/// Relationships of one type, as parameters of a statement.
fn relationship_rows(members: &[(usize, &GraphRelationship)]) -> Params {
    let row = |(_, one): &(usize, &GraphRelationship)| json!({"from": one.from, "to": one.to, "properties": one.properties});
    params(json!({"rows": members.iter().map(row).collect::<Vec<Value>>()}))
}

impl GraphStore {
    async fn count(&self, statement: &str, column: &str) -> Result<u64, StoreError> {
        let rows = self.engine.read(statement, params(json!({}))).await?;
        let count = rows.first().map_or(0, |row| integer(row, column));
        Ok(u64::try_from(count).unwrap_or_default())
    }

    /// Streams a statement's rows, converting each.
    async fn convert<T: Send>(
        &self,
        statement: &str,
        to: mpsc::Sender<T>,
        make: impl Fn(&Row) -> T + Send,
    ) -> Result<(), StoreError> {
        let (sender, mut rows) = mpsc::channel(IN_FLIGHT);
        let convert = async move {
            while let Some(row) = rows.recv().await {
                if to.send(make(&row)).await.is_err() {
                    break;
                }
            }
        };
        let (read, ()) = tokio::join!(
            self.engine.stream(statement, Params::new(), sender),
            convert
        );
        read
    }

    /// Number of nodes and relationships.
    pub async fn size(&self) -> Result<(u64, u64), StoreError> {
        Ok((
            self.count(statements::COUNT_NODES, "nodes").await?,
            self.count(statements::COUNT_RELATIONSHIPS, "relationships")
                .await?,
        ))
    }

    /// Sends every node, from one snapshot; vectors as lists of floats.
    pub async fn nodes(&self, to: mpsc::Sender<GraphNode>) -> Result<(), StoreError> {
        self.convert(statements::ALL_NODES, to, |row| {
            let mut node = GraphNode::from_row(row);
            (self.engine.dialect().strip)(&mut node);
            node.convert_embedding(listed);
            node
        })
        .await
    }

    /// Sends every relationship, from one snapshot.
    pub async fn relationships(
        &self,
        to: mpsc::Sender<GraphRelationship>,
    ) -> Result<(), StoreError> {
        self.convert(statements::ALL_RELATIONSHIPS, to, |row| GraphRelationship {
            kind: text(row, "type").unwrap_or_default(),
            from: text(row, "from").unwrap_or_default(),
            to: text(row, "to").unwrap_or_default(),
            properties: properties(row),
        })
        .await
    }

    /// Creates nodes and returns their IDs in this store, in order.
    pub async fn create_nodes(&self, mut nodes: Vec<GraphNode>) -> Result<Vec<String>, StoreError> {
        self.survey.outdate();
        let dialect = self.engine.dialect();
        for node in &mut nodes {
            node.convert_embedding(dialect.embedding);
            (dialect.prepare)(node);
        }
        let mut ids = vec![String::new(); nodes.len()];
        for (labels, members) in grouped(&nodes, |node| node.labels.clone()) {
            let rows: Vec<Value> = members
                .iter()
                .map(|(place, node)| json!({"place": place, "properties": node.properties}))
                .collect();
            let statement = statements::import::create_nodes(&pattern(&labels)?);
            let bound = params(json!({"rows": rows}));
            for row in self.engine.write(&statement, bound).await? {
                let place = usize::try_from(integer(&row, "place")).unwrap_or(usize::MAX);
                if let Some(slot) = ids.get_mut(place) {
                    *slot = text(&row, "id").unwrap_or_default();
                }
            }
        }
        Ok(ids)
    }

    /// Creates relationships between nodes, given by their IDs in this store.
    pub async fn create_relationships(
        &self,
        relationships: Vec<GraphRelationship>,
    ) -> Result<(), StoreError> {
        self.survey.outdate();
        for (kind, members) in grouped(&relationships, |one| one.kind.clone()) {
            let statement = statements::import::create_relationships(&quote_identifier(&kind)?);
            let bound = relationship_rows(&members);
            let made = self.engine.write(&statement, bound).await?;
            let made = made.first().map_or(0, |row| integer(row, "made"));
            if usize::try_from(made) != Ok(members.len()) {
                return Err(unexpected("a node vanished while relationships were made"));
            }
        }
        Ok(())
    }

    /// Removes everything.
    pub async fn wipe(&self) -> Result<(), StoreError> {
        self.survey.outdate();
        loop {
            let rows = self
                .engine
                .write(statements::WIPE, params(json!({})))
                .await?;
            if rows.first().map_or(0, |row| integer(row, "removed")) == 0 {
                return Ok(());
            }
        }
    }
}
