//! A file of an export into a store.
//!
//! A file is checked as a whole before anything is touched. Where the graph is on a server, every
//! batch is a transaction that also says how far the import is, so that an interrupted one goes on
//! with the next batch. A graph in a folder is made beside the one in use and takes its place as a
//! whole (see [`crate::graph::Staged`]).

use std::collections::{HashMap, HashSet};
use std::io::BufRead;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::{
    FORMAT, GraphNode, GraphRelationship, Line, Progress, TransferError, grouped, pattern,
    relationship_rows, step,
};
use crate::graph::engine::{Engine, Params, Step, quoted};
use crate::graph::record::{integer, params};
use crate::graph::{GraphStore, StoreError, migrate, statements};

/// How many nodes or relationships are written in one transaction.
const BATCH: usize = 1_000;

/// How long one batch may take. The time-out of a turn's statement is no measure for it.
const BATCH_LIMIT: Duration = Duration::from_secs(300);

/// What the store calls the nodes of the file.
pub type Names = HashMap<String, String>;

/// What a whole export was found to be by [`check`]: nothing is imported without one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// Of every byte of the file.
    digest: String,
    nodes: u64,
    relationships: u64,
}

impl Checked {
    fn total(&self) -> u64 {
        self.nodes + self.relationships
    }
}

/// An import that was begun and not finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfinished {
    /// The digest of its file.
    pub file: String,
    /// Nodes and relationships that are there; none before the graph was emptied.
    pub done: Option<u64>,
}

/// Reads a file of [`export`](super::export) without a store, so that a damaged one is known before
/// anything is replaced by it.
///
/// # Errors
/// [`TransferError::Line`] for a line that is none of an export.
pub fn check<R: BufRead>(reader: &mut R) -> Result<Checked, TransferError> {
    let mut lines = Lines::new(reader);
    lines.head()?;
    let mut names = HashSet::new();
    let mut ties = 0;
    loop {
        match lines.next()? {
            Some(Line::Node(node)) => {
                if let Some(twice) = names.replace(node.id) {
                    return Err(lines.error(format!("a second node {twice:?}")));
                }
            }
            Some(Line::Relationship(one)) => {
                ties += 1;
                for end in [&one.from, &one.to] {
                    if !names.contains(end) {
                        return Err(lines.error(format!("there is no node {end:?} before it")));
                    }
                }
            }
            Some(Line::End {
                nodes,
                relationships,
            }) if (names.len() as u64, ties) == (nodes, relationships) => {
                return Ok(Checked {
                    digest: lines.digest.finalize().to_hex().to_string(),
                    nodes,
                    relationships,
                });
            }
            Some(Line::End { .. }) => {
                return Err(lines.error("the numbers don't match what came before"));
            }
            Some(Line::Muninn { .. }) => return Err(lines.error("a second head")),
            None => return Err(lines.error("the file ends too early")),
        }
    }
}

/// Reads a checked file into a store that is empty, or that `replace` empties first. Goes on with
/// an import of the same file that was interrupted, where the store can.
///
/// Until it is done the graph is marked, so that nobody uses a part of one.
///
/// # Errors
/// [`TransferError::NotEmpty`], [`TransferError::OtherImport`]; [`TransferError::Line`] for what
/// the store refuses, or for a file that was changed since it was checked.
pub async fn import<R: BufRead + Send>(
    store: &GraphStore,
    reader: &mut R,
    checked: &Checked,
    progress: &mut (dyn FnMut(Progress) + Send),
    replace: bool,
) -> Result<(), TransferError> {
    let mut lines = Lines::new(reader);
    lines.head()?;
    let done = match store.unfinished_import().await? {
        Some(Unfinished {
            file,
            done: Some(done),
        }) if file == checked.digest && store.resumes_imports() => {
            tracing::info!(done, "going on with the import that was interrupted");
            done
        }
        Some(unfinished) if !replace && unfinished.file != checked.digest => {
            return Err(TransferError::OtherImport);
        }
        None if !replace && store.size().await?.0 > 0 => return Err(TransferError::NotEmpty),
        Some(_) | None => {
            store.begin_import(&checked.digest).await?;
            0
        }
    };
    store.prepare_import().await?;
    let mut batch = Batch {
        store,
        names: Names::new(),
        nodes: Vec::new(),
        relationships: Vec::new(),
        done,
    };
    let mut skipped = 0;
    let mut state = Progress {
        done,
        total: checked.total(),
    };
    progress(state);
    loop {
        let line = match lines.next()? {
            Some(Line::End { .. }) => break,
            Some(line @ (Line::Node(_) | Line::Relationship(_))) => line,
            Some(Line::Muninn { .. }) => return Err(lines.error("a second head")),
            None => return Err(lines.error("the file ends too early")),
        };
        if skipped < done {
            skipped += 1;
            continue;
        }
        let by = match line {
            Line::Node(node) => batch.node(node, lines.number).await?,
            Line::Relationship(one) => batch.relationship(one, lines.number).await?,
            Line::Muninn { .. } | Line::End { .. } => 0,
        };
        step(&mut state, by, progress);
    }
    let by = batch.flush(lines.number).await?;
    step(&mut state, by, progress);
    if lines.digest.finalize().to_hex().as_str() != checked.digest {
        return Err(lines.error("the file was changed while it was read"));
    }
    store.finish_import().await?;
    Ok(())
}

struct Lines<'a, R> {
    reader: &'a mut R,
    number: usize,
    digest: blake3::Hasher,
}

impl<'a, R: BufRead> Lines<'a, R> {
    fn new(reader: &'a mut R) -> Self {
        Self {
            reader,
            number: 0,
            digest: blake3::Hasher::new(),
        }
    }

    fn error(&self, problem: impl Into<String>) -> TransferError {
        TransferError::Line {
            line: self.number,
            problem: problem.into(),
        }
    }

    fn next(&mut self) -> Result<Option<Line>, TransferError> {
        let mut bytes = Vec::new();
        self.number += 1;
        if self.reader.read_until(b'\n', &mut bytes)? == 0 {
            return Ok(None);
        }
        self.digest.update(&bytes);
        let line = serde_json::from_slice(&bytes).map_err(|error| self.error(error.to_string()))?;
        Ok(Some(line))
    }

    /// Reads the first line.
    fn head(&mut self) -> Result<(), TransferError> {
        match self.next()? {
            Some(Line::Muninn { format, .. }) if format > FORMAT => {
                Err(self.error("the file was made by a newer muninn; update muninn"))
            }
            Some(Line::Muninn { schema, .. }) if schema > migrate::VERSION => {
                Err(StoreError::NewerSchema {
                    found: schema,
                    known: migrate::VERSION,
                }
                .into())
            }
            Some(Line::Muninn { .. }) => Ok(()),
            Some(Line::Node(_) | Line::Relationship(_) | Line::End { .. }) | None => {
                Err(self.error("this is no export of muninn"))
            }
        }
    }
}

struct Batch<'a> {
    store: &'a GraphStore,
    names: Names,
    nodes: Vec<GraphNode>,
    relationships: Vec<GraphRelationship>,
    /// Nodes and relationships of the file that are in the store.
    done: u64,
}

impl Batch<'_> {
    /// Takes a node; says how much was written.
    async fn node(&mut self, node: GraphNode, line: usize) -> Result<u64, TransferError> {
        let mut by = 0;
        if !self.relationships.is_empty() || self.nodes.len() == BATCH {
            by = self.flush(line - 1).await?;
        }
        self.nodes.push(node);
        Ok(by)
    }

    async fn relationship(
        &mut self,
        one: GraphRelationship,
        line: usize,
    ) -> Result<u64, TransferError> {
        let mut by = 0;
        if !self.nodes.is_empty() || self.relationships.len() == BATCH {
            by = self.flush(line - 1).await?;
        }
        self.relationships.push(one);
        Ok(by)
    }

    /// Writes what was taken, which is of one kind.
    async fn flush(&mut self, line: usize) -> Result<u64, TransferError> {
        let nodes = std::mem::take(&mut self.nodes);
        let relationships = std::mem::take(&mut self.relationships);
        let by = (nodes.len() + relationships.len()) as u64;
        let done = self.done + by;
        if !nodes.is_empty() {
            let added = self.store.add_nodes(nodes, &mut self.names, done);
            refused_at(line, added.await)?;
        }
        if !relationships.is_empty() {
            let added = self
                .store
                .add_relationships(relationships, &self.names, done);
            refused_at(line, added.await)?;
        }
        self.done = done;
        Ok(by)
    }
}

/// What a store refuses lies in the lines of the batch that ends here.
fn refused_at<T>(line: usize, result: Result<T, StoreError>) -> Result<T, TransferError> {
    result.map_err(|error| match error {
        StoreError::Refused {
            message,
            transient: false,
        }
        | StoreError::Invalid(message)
        | StoreError::Unexpected(message) => TransferError::Line {
            line,
            problem: format!("refused here or up to {BATCH} lines before: {message}"),
        },
        error @ (StoreError::Unreachable { .. }
        | StoreError::Unauthorized { .. }
        | StoreError::Locked { .. }
        | StoreError::Corrupt { .. }
        | StoreError::NewerSchema { .. }
        | StoreError::Misconfigured(_)
        | StoreError::Refused { .. }) => TransferError::Store(error),
    })
}

impl GraphStore {
    /// Runs statements as one transaction, each of which touches a known number of things.
    async fn in_one_batch(
        &self,
        statements: Vec<(String, Params, usize)>,
    ) -> Result<(), StoreError> {
        let expected: Vec<usize> = statements.iter().map(|(.., count)| *count).collect();
        let (sender, steps) = mpsc::channel(statements.len() + 1);
        for (statement, bound, _) in statements {
            // There is room for all of them.
            let _ = sender.try_send(Step::Run(statement, bound));
        }
        let _ = sender.try_send(Step::Commit);
        let times = self.engine.transact(steps, BATCH_LIMIT).await?;
        let made: Vec<usize> = times
            .iter()
            .map(|times| usize::try_from(*times).unwrap_or_default())
            .collect();
        if made == expected {
            return Ok(());
        }
        Err(StoreError::Unexpected(
            "the graph was changed by somebody else while the file was imported".to_owned(),
        ))
    }

    async fn run_all(&self, statement: &str) -> Result<(), StoreError> {
        loop {
            let (sender, steps) = mpsc::channel(2);
            let _ = sender.try_send(Step::Run(statement.to_owned(), Params::new()));
            let _ = sender.try_send(Step::Commit);
            let times = self.engine.transact(steps, BATCH_LIMIT).await?;
            if times.iter().all(|times| *times == 0) {
                return Ok(());
            }
        }
    }
}

fn advance(done: u64) -> (String, Params, usize) {
    let bound = params(json!({"done": done}));
    (statements::import::ADVANCE.to_owned(), bound, 1)
}

impl GraphStore {
    /// The import that was interrupted, if the graph holds a part of one only.
    pub(in crate::graph) async fn unfinished_import(
        &self,
    ) -> Result<Option<Unfinished>, StoreError> {
        let schema = migrate::schema(&self.engine).await?;
        Ok(schema.unfinished)
    }

    /// Whether an interrupted import goes on where it was.
    fn resumes_imports(&self) -> bool {
        self.is_shared()
    }

    /// Marks the graph as holding a part of this file only, and empties it.
    async fn begin_import(&self, file: &str) -> Result<(), StoreError> {
        let bound = params(json!({"file": file}));
        self.engine.write(statements::import::BEGIN, bound).await?;
        self.survey.outdate();
        if self.resumes_imports() {
            self.run_all(statements::import::WIPE).await?;
        } else {
            self.wipe().await?;
        }
        let bound = params(json!({"done": 0}));
        self.engine
            .write(statements::import::ADVANCE, bound)
            .await?;
        Ok(())
    }

    /// Makes ready for batches, those of an interrupted import too.
    async fn prepare_import(&self) -> Result<(), StoreError> {
        if self.resumes_imports() {
            let statement = statements::import::CONSTRAINT;
            self.engine.write(statement, params(json!({}))).await?;
        }
        Ok(())
    }

    /// Creates nodes in one transaction, and keeps how far the import is with them.
    async fn add_nodes(
        &self,
        mut nodes: Vec<GraphNode>,
        names: &mut Names,
        done: u64,
    ) -> Result<(), StoreError> {
        if !self.resumes_imports() {
            let keys: Vec<String> = nodes.iter().map(|node| node.id.clone()).collect();
            let made = self.create_nodes(nodes).await?;
            names.extend(keys.into_iter().zip(made));
            return Ok(());
        }
        self.survey.outdate();
        for node in &mut nodes {
            node.convert_embedding(self.engine.dialect().embedding);
        }
        let mut steps = Vec::new();
        for (labels, members) in grouped(&nodes, |node| node.labels.clone()) {
            let rows: Vec<Value> = members
                .iter()
                .map(|(_, node)| json!({"number": node.id, "properties": node.properties}))
                .collect();
            let statement = statements::import::nodes(&pattern(&labels)?);
            steps.push((statement, params(json!({"rows": rows})), members.len()));
        }
        steps.push(advance(done));
        self.in_one_batch(steps).await
    }

    /// Creates relationships between nodes of the file, likewise.
    async fn add_relationships(
        &self,
        mut relationships: Vec<GraphRelationship>,
        names: &Names,
        done: u64,
    ) -> Result<(), StoreError> {
        if !self.resumes_imports() {
            for one in &mut relationships {
                for end in [&mut one.from, &mut one.to] {
                    let name = names.get(end.as_str()).cloned();
                    *end = name.ok_or_else(|| {
                        StoreError::Unexpected(format!("there is no node {end:?} before it"))
                    })?;
                }
            }
            return self.create_relationships(relationships).await;
        }
        self.survey.outdate();
        let mut steps = Vec::new();
        for (kind, members) in grouped(&relationships, |one| one.kind.clone()) {
            let statement = statements::import::relationships(&quoted(&kind)?);
            steps.push((statement, relationship_rows(&members), members.len()));
        }
        steps.push(advance(done));
        self.in_one_batch(steps).await
    }

    /// Takes away what the import needed, and the mark.
    async fn finish_import(&self) -> Result<(), StoreError> {
        if self.resumes_imports() {
            self.run_all(statements::import::UNNUMBER).await?;
            let statement = statements::import::DROP_CONSTRAINT;
            self.engine.write(statement, params(json!({}))).await?;
        }
        let nothing = params(json!({}));
        self.engine
            .write(statements::import::FINISH, nothing)
            .await?;
        Ok(())
    }
}

/// What the schema's node says of an import.
pub(in crate::graph) fn unfinished(row: &crate::graph::engine::Row) -> Option<Unfinished> {
    let importing = row.get("importing").and_then(Value::as_bool) == Some(true);
    importing.then(|| Unfinished {
        file: crate::graph::record::text(row, "importFile").unwrap_or_default(),
        done: match row.get("importDone") {
            None | Some(Value::Null) => None,
            Some(_) => u64::try_from(integer(row, "importDone")).ok(),
        },
    })
}
