//! Imports the file of an export into a store.
//!
//! The whole file is checked before anything is changed. If the graph is on a server, every batch
//! is a transaction that also records the progress, so that an interrupted import continues with
//! the next batch. A graph in a folder is built beside the one in use and replaces it as a whole
//! (see [`crate::graph::StagedGraph`]).

use std::collections::{HashMap, HashSet};
use std::io::BufRead;
use std::time::Duration;

use serde_json::{Value, json};

use super::{
    ExportLine, FORMAT, GraphRelationship, Progress, TransferError, grouped, pattern,
    relationship_rows, step,
};
use crate::graph::engine::batches::repeat;
use crate::graph::engine::{Engine, Params, TransactionStep, quote_identifier};
use crate::graph::store::record::params;
use crate::graph::store::{GraphStore, statements};
use crate::graph::types::file_notes::NOTE;
use crate::graph::types::graph_node::GraphNode;
use crate::graph::unfinished::Unfinished;
use crate::graph::{StoreError, migrate};

/// Number of nodes or relationships per transaction.
const BATCH: usize = 1_000;

/// Longest time of one batch. The time-out of a turn's statement would be too short.
const BATCH_LIMIT: Duration = Duration::from_secs(300);

/// IDs in the store by IDs in the file.
pub type Names = HashMap<String, String>;

/// The result of [`check`] for a complete export; nothing is imported without one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedExport {
    /// Over every byte of the file.
    digest: String,
    nodes: u64,
    relationships: u64,
}

impl CheckedExport {
    fn total(&self) -> u64 {
        self.nodes + self.relationships
    }
}

/// Reads a file of [`export`](super::export) without a store, so that a damaged one is detected
/// before anything is replaced.
///
/// # Errors
/// Fails with [`TransferError::Line`] for a line that is not part of an export.
pub fn check<R: BufRead>(reader: &mut R) -> Result<CheckedExport, TransferError> {
    let mut lines = Lines::new(reader);
    lines.check_head()?;
    let mut names = HashSet::new();
    let mut ties = 0;
    loop {
        match lines.next()? {
            Some(ExportLine::Node(node)) => {
                if let Some(twice) = names.replace(node.id) {
                    return Err(lines.error(format!("a second node {twice:?}")));
                }
            }
            Some(ExportLine::Relationship(one)) => {
                ties += 1;
                for end in [&one.from, &one.to] {
                    if !names.contains(end) {
                        return Err(lines.error(format!("there is no node {end:?} before it")));
                    }
                }
            }
            Some(ExportLine::End {
                nodes,
                relationships,
            }) if (names.len() as u64, ties) == (nodes, relationships) => {
                return Ok(CheckedExport {
                    digest: lines.digest.finalize().to_hex().to_string(),
                    nodes,
                    relationships,
                });
            }
            Some(ExportLine::End { .. }) => {
                return Err(lines.error("the numbers don't match what came before"));
            }
            Some(ExportLine::Muninn { .. }) => return Err(lines.error("a second head")),
            None => return Err(lines.error("the file ends too early")),
        }
    }
}

/// Reads a checked file into a store that is empty, or that `replace` empties first. Continues an
/// interrupted import of the same file, if the store supports that.
///
/// Until it is done, the graph is marked, so that nobody uses an incomplete one.
///
/// # Errors
/// Fails with [`TransferError::NotEmpty`] or [`TransferError::OtherImport`], and with
/// [`TransferError::Line`] for what the store refuses, or for a file that was changed since it was
/// checked.
pub async fn import<R: BufRead + Send>(
    store: &GraphStore,
    reader: &mut R,
    checked: &CheckedExport,
    progress: &mut (dyn FnMut(Progress) + Send),
    replace: bool,
) -> Result<(), TransferError> {
    let mut lines = Lines::new(reader);
    lines.check_head()?;
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
    let mut batch = ImportBatch {
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
            Some(ExportLine::End { .. }) => break,
            Some(line @ (ExportLine::Node(_) | ExportLine::Relationship(_))) => line,
            Some(ExportLine::Muninn { .. }) => return Err(lines.error("a second head")),
            None => return Err(lines.error("the file ends too early")),
        };
        if skipped < done {
            skipped += 1;
            continue;
        }
        let by = match line {
            ExportLine::Node(node) => batch.node(node, lines.number).await?,
            ExportLine::Relationship(one) => batch.relationship(one, lines.number).await?,
            ExportLine::Muninn { .. } | ExportLine::End { .. } => 0,
        };
        step(&mut state, by, progress);
    }
    let by = batch.flush(lines.number).await?;
    step(&mut state, by, progress);
    if lines.digest.finalize().to_hex().as_str() != checked.digest {
        return Err(lines.error("the file was changed while it was read"));
    }
    migrate::upgrade_imported(&store.engine).await?;
    store.drop_unchained().await?;
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

    fn next(&mut self) -> Result<Option<ExportLine>, TransferError> {
        let mut bytes = Vec::new();
        self.number += 1;
        if self.reader.read_until(b'\n', &mut bytes)? == 0 {
            return Ok(None);
        }
        self.digest.update(&bytes);
        let line = serde_json::from_slice(&bytes).map_err(|error| self.error(error.to_string()))?;
        Ok(Some(line))
    }

    /// Reads the first line, and refuses what this program cannot read.
    fn check_head(&mut self) -> Result<(), TransferError> {
        match self.next()? {
            Some(ExportLine::Muninn { format, .. }) if format > FORMAT => {
                Err(self.error("the file was made by a newer muninn; update muninn"))
            }
            Some(ExportLine::Muninn { schema, .. }) if schema > migrate::VERSION => {
                Err(StoreError::NewerSchema {
                    found: schema,
                    known: migrate::VERSION,
                }
                .into())
            }
            Some(ExportLine::Muninn { .. }) => Ok(()),
            Some(ExportLine::Node(_) | ExportLine::Relationship(_) | ExportLine::End { .. })
            | None => Err(self.error("this is no export of muninn")),
        }
    }
}

struct ImportBatch<'a> {
    store: &'a GraphStore,
    names: Names,
    nodes: Vec<GraphNode>,
    relationships: Vec<GraphRelationship>,
    /// Number of nodes and relationships of the file that are in the store.
    done: u64,
}

impl ImportBatch<'_> {
    /// Adds a node. Returns how many were written.
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

    /// Writes the buffered items, which are of one kind.
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

/// Reports a refusal by the store with the lines of the batch that ends here.
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
    /// Runs statements as one transaction, each of which affects a known number of items.
    async fn in_one_batch(
        &self,
        statements: Vec<(String, Params, usize)>,
    ) -> Result<(), StoreError> {
        let expected: Vec<usize> = statements.iter().map(|(.., count)| *count).collect();
        let statements = statements.into_iter();
        let statements = statements.map(|(statement, bound, _)| (statement, bound));
        let steps = TransactionStep::all(statements.collect());
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

    async fn run_all(&self, statement: &str, bound: &Params) -> Result<(), StoreError> {
        loop {
            let steps = TransactionStep::all(vec![(statement, bound.clone())]);
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
    /// The interrupted import, if the graph holds an incomplete one.
    pub(in crate::graph) async fn unfinished_import(
        &self,
    ) -> Result<Option<Unfinished>, StoreError> {
        let schema = migrate::schema(&self.engine).await?;
        Ok(schema.unfinished)
    }

    /// Whether an interrupted import can continue.
    fn resumes_imports(&self) -> bool {
        self.is_shared()
    }

    /// Marks the graph as incompletely imported from this file, and empties it.
    async fn begin_import(&self, file: &str) -> Result<(), StoreError> {
        let bound = params(json!({"file": file}));
        self.engine.write(statements::import::BEGIN, bound).await?;
        self.survey.outdate();
        if self.resumes_imports() {
            self.run_all(statements::import::WIPE, &Params::new())
                .await?;
        } else {
            self.wipe().await?;
        }
        let bound = params(json!({"done": 0}));
        self.engine
            .write(statements::import::ADVANCE, bound)
            .await?;
        Ok(())
    }

    /// Prepares for batches, including those of an interrupted import.
    async fn prepare_import(&self) -> Result<(), StoreError> {
        if self.resumes_imports() {
            let statement = statements::import::CONSTRAINT;
            self.engine.write(statement, params(json!({}))).await?;
        }
        Ok(())
    }

    /// Creates nodes in one transaction, and records the progress in it.
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
            let statement = statements::import::relationships(&quote_identifier(&kind)?);
            steps.push((statement, relationship_rows(&members), members.len()));
        }
        steps.push(advance(done));
        self.in_one_batch(steps).await
    }

    /// Removes turns that were forgotten while they were exported.
    async fn drop_unchained(&self) -> Result<(), StoreError> {
        let statement = statements::import::DROP_UNCHAINED;
        let bound = params(json!({"fileNote": format!("\n{NOTE}")}));
        if self.resumes_imports() {
            self.run_all(statement, &bound).await
        } else {
            repeat(&self.engine, statement, bound).await
        }
    }

    /// Removes the helper properties of the import, and the mark.
    async fn finish_import(&self) -> Result<(), StoreError> {
        if self.resumes_imports() {
            let unnumber = statements::import::UNNUMBER;
            self.run_all(unnumber, &Params::new()).await?;
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
