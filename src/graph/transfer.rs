//! Exports everything from one store into a file, and imports the file into another store.
//!
//! The file is JSON lines: a head, the nodes, the relationships, and an end line that counts them,
//! so that an incomplete file is detected. It contains the knowledge as well as the conversations,
//! whatever its labels are.

mod import;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Write;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use super::engine::batches::repeat;
use super::engine::streaming::forward;
use super::engine::{Engine, Params, Row, StreamedRead, quote_identifier};
use super::store::record::{integer, list, listed, params, text, unexpected, vector};
use super::store::{GraphStore, statements};
use super::{StoreError, ingest, migrate};

pub use self::import::{CheckedExport, Names, check, import};
pub use super::types::graph_node::GraphNode;
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

    let (to_nodes, nodes) = mpsc::channel(IN_FLIGHT);
    let (to_relationships, relationships) = mpsc::channel(IN_FLIGHT);
    let write = async {
        let written = write_nodes(writer, nodes, &mut advance).await?;
        let made = write_relationships(writer, relationships, &written, &mut advance).await?;
        Ok::<_, TransferError>((written.numbers.len() as u64, made))
    };
    let (read, written) = tokio::join!(store.everything(to_nodes, to_relationships), write);
    let (nodes, relationships) = written?;
    read?;

    let end = ExportLine::End {
        nodes,
        relationships,
    };
    write_line(writer, &end)?;
    writer.flush()?;
    Ok(())
}

/// The written nodes.
#[derive(Default)]
struct WrittenNodes {
    /// A number for each ID, as the store's IDs mean nothing elsewhere.
    numbers: HashMap<String, u64>,
    sessions: HashSet<u64>,
}

/// Writes the received nodes.
async fn write_nodes<W: Write + Send>(
    writer: &mut W,
    mut nodes: mpsc::Receiver<GraphNode>,
    advance: &mut (dyn FnMut() + Send),
) -> Result<WrittenNodes, TransferError> {
    let mut written = WrittenNodes::default();
    while let Some(node) = nodes.recv().await {
        let number = written.numbers.len() as u64;
        written.numbers.insert(node.id, number);
        if node.labels.iter().any(|label| label == "Session") {
            written.sessions.insert(number);
        }
        let id = number.to_string();
        write_line(writer, &ExportLine::Node(GraphNode { id, ..node }))?;
        advance();
    }
    Ok(written)
}

/// Writes the received relationships between written nodes, and returns their number.
async fn write_relationships<W: Write + Send>(
    writer: &mut W,
    mut relationships: mpsc::Receiver<GraphRelationship>,
    nodes: &WrittenNodes,
    advance: &mut (dyn FnMut() + Send),
) -> Result<u64, TransferError> {
    let mut made = 0;
    let mut chains = ExportedChains::default();
    while let Some(mut one) = relationships.recv().await {
        // Relationships created after the nodes were read are not part of this export.
        let number = |id: &String| nodes.numbers.get(id).copied();
        let (Some(from), Some(to)) = (number(&one.from), number(&one.to)) else {
            continue;
        };
        match one.kind.as_str() {
            "HAS_RESPONSE" if nodes.sessions.contains(&from) => chains.turns.push((from, to)),
            "NEXT" => _ = chains.followed.insert(from),
            "LAST_RESPONSE" => _ = chains.pointed.insert(from),
            // Knowledge has types of its own.
            _ => {}
        }
        one.from = from.to_string();
        one.to = to.to_string();
        write_line(writer, &ExportLine::Relationship(one))?;
        made += 1;
        advance();
    }
    for (session, last) in chains.without_pointer() {
        let pointer = GraphRelationship {
            kind: "LAST_RESPONSE".to_owned(),
            from: session.to_string(),
            to: last.to_string(),
            properties: Map::new(),
        };
        write_line(writer, &ExportLine::Relationship(pointer))?;
        made += 1;
        advance();
    }
    Ok(made)
}

/// The chains of conversations in an export. A server has no snapshot for two statements: if a turn is
/// kept between them, the pointer to the newest turn points to one that the export does not have, and
/// without a pointer an import would lose the whole window.
#[derive(Default)]
struct ExportedChains {
    /// The session of each turn.
    turns: Vec<(u64, u64)>,
    /// The turns that another one follows.
    followed: HashSet<u64>,
    /// The sessions with a pointer.
    pointed: HashSet<u64>,
}

impl ExportedChains {
    /// Each session without a pointer, with the last turn of its chain.
    fn without_pointer(&self) -> BTreeMap<u64, u64> {
        let lasts = self.turns.iter().filter(|(session, turn)| {
            !self.pointed.contains(session) && !self.followed.contains(turn)
        });
        lasts.copied().collect()
    }
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

impl GraphRelationship {
    /// Reads `type`, `from`, `to` and `properties`.
    fn from_row(row: &Row) -> Self {
        Self {
            kind: text(row, "type").unwrap_or_default(),
            from: text(row, "from").unwrap_or_default(),
            to: text(row, "to").unwrap_or_default(),
            properties: properties(row),
        }
    }
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

    /// Number of nodes and relationships.
    pub async fn size(&self) -> Result<(u64, u64), StoreError> {
        Ok((
            self.count(statements::COUNT_NODES, "nodes").await?,
            self.count(statements::COUNT_RELATIONSHIPS, "relationships")
                .await?,
        ))
    }

    /// Sends every node, with vectors as lists of floats, and then every relationship; from one snapshot if the engine
    /// has one.
    pub async fn everything(
        &self,
        nodes: mpsc::Sender<GraphNode>,
        relationships: mpsc::Sender<GraphRelationship>,
    ) -> Result<(), StoreError> {
        let (to_nodes, node_rows) = mpsc::channel(IN_FLIGHT);
        let (to_relationships, relationship_rows) = mpsc::channel(IN_FLIGHT);
        let reads = vec![
            StreamedRead::new(statements::ALL_NODES, Params::new(), to_nodes),
            StreamedRead::new(
                statements::ALL_RELATIONSHIPS,
                Params::new(),
                to_relationships,
            ),
        ];
        let node = |row: &Row| {
            let mut node = GraphNode::from_row(row);
            (self.engine.dialect().strip)(&mut node);
            node.convert_embedding(listed);
            node
        };
        let (read, (), ()) = tokio::join!(
            self.engine.stream(reads),
            forward(node_rows, nodes, |row| Some(node(row))),
            forward(relationship_rows, relationships, |row| {
                Some(GraphRelationship::from_row(row))
            }),
        );
        read
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
        repeat(&self.engine, statements::import::WIPE, Params::new()).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(id: &str, label: &str) -> GraphNode {
        GraphNode {
            id: id.to_owned(),
            labels: vec![label.to_owned()],
            properties: Map::new(),
        }
    }

    fn relationship((kind, from, to): (&str, &str, &str)) -> GraphRelationship {
        GraphRelationship {
            kind: kind.to_owned(),
            from: from.to_owned(),
            to: to.to_owned(),
            properties: Map::new(),
        }
    }

    /// A server may keep a turn after the nodes were read and before the relationships are.
    #[tokio::test]
    async fn a_chain_that_grew_meanwhile_keeps_its_pointer() {
        let (nodes, received) = mpsc::channel(IN_FLIGHT);
        for (id, label) in [("s", "Session"), ("a", "Response"), ("b", "Response")] {
            nodes.send(node(id, label)).await.unwrap();
        }
        for (id, label) in [("t", "Session"), ("c", "Response"), ("survey", "Survey")] {
            nodes.send(node(id, label)).await.unwrap();
        }
        drop(nodes);
        let mut file = Vec::new();
        let written = write_nodes(&mut file, received, &mut || ()).await.unwrap();
        let (relationships, received) = mpsc::channel(IN_FLIGHT);
        for one in [
            ("HAS_RESPONSE", "s", "a"),
            ("HAS_RESPONSE", "s", "b"),
            ("NEXT", "a", "b"),
            // Kept after the nodes were read.
            ("HAS_RESPONSE", "s", "new"),
            ("NEXT", "b", "new"),
            ("LAST_RESPONSE", "s", "new"),
            ("HAS_RESPONSE", "t", "c"),
            ("LAST_RESPONSE", "t", "c"),
            ("HAS_RESPONSE", "survey", "a"),
        ] {
            relationships.send(relationship(one)).await.unwrap();
        }
        drop(relationships);
        file.clear();
        write_relationships(&mut file, received, &written, &mut || ())
            .await
            .unwrap();
        let lines = String::from_utf8(file).unwrap();
        let pointers: Vec<GraphRelationship> = lines
            .lines()
            .filter_map(|line| match serde_json::from_str(line).unwrap() {
                ExportLine::Relationship(one) if one.kind == "LAST_RESPONSE" => Some(one),
                _ => None,
            })
            .collect();
        let of = |id: &str| written.numbers[id].to_string();
        let expected = [("t", "c"), ("s", "b")]
            .map(|(from, to)| relationship(("LAST_RESPONSE", &of(from), &of(to))));
        assert_eq!(pointers, expected);
    }
}
