//! The engine in our own process: a graph in a folder, with no server.
//!
//! One process at a time. Statements run on threads of their own with the stack the engine wants,
//! never on a runtime's thread. Who asked may go away: a statement that was sent is finished.

mod confined;
mod nodes;
mod values;
mod worker;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use kglite::api::durable::DurabilityLevel;
use kglite::api::io::GraphWriterLease;
use kglite::api::session::{
    LogOpenFailure, OpenError, OpenSpec, QUERY_THREAD_STACK_SIZE, Session, open_path,
};
use kglite::api::storage::StorageMode;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use self::nodes::{prepare, strip};
use self::values::native;
use self::worker::{Bindings, Job, Threads};
use super::StoreError;
use super::engine::{Engine, Params, Row, Step, quoted};
use super::query::{QueryError, QueryLimits, Rows};
use super::record::{integer, packed, params, text};
use super::transfer::{GraphNode, GraphRelationship, grouped};

/// The file in the folder.
const FILE: &str = "graph.kgl";

/// How long to wait for a process that is just ending.
const LEASE_WAIT: Duration = Duration::from_millis(500);

/// The log is folded into the file when it is larger than this, about 1,500 turns: reopening reads
/// what is not folded, and folding copies what is written meanwhile, so little and often.
const CHECKPOINT_BYTES: u64 = 4 * 1024 * 1024;

/// Statements that wait, each for reading and writing; more callers wait in line, within the
/// time-out.
const QUEUE: usize = 256;

/// What was found to be missing, and what to write instead.
const GAPS: &[&str] = &[
    "No COLLECT { } subquery: use collect() after a MATCH.",
    "No quantified path such as ((a)-[:T]->(b)){1,3}: write -[:T*1..3]->.",
    "No percentileCont or percentileDisc.",
    "shortestPath stands first in its MATCH.",
    "No slice of collect() such as collect(x)[0..3]: put LIMIT after a WITH.",
];

const CONSTRAINTS: &[(&str, &str)] = &[
    (
        "muninn_session_id",
        "CREATE CONSTRAINT muninn_session_id IF NOT EXISTS FOR (n:Session) REQUIRE n.id IS UNIQUE",
    ),
    (
        "muninn_response_id",
        "CREATE CONSTRAINT muninn_response_id IF NOT EXISTS FOR (n:Response) REQUIRE n.id IS UNIQUE",
    ),
    (
        "muninn_response_event",
        "CREATE CONSTRAINT muninn_response_event IF NOT EXISTS FOR (n:Response) REQUIRE n.eventId IS UNIQUE",
    ),
    (
        "muninn_channel_id",
        "CREATE CONSTRAINT muninn_channel_id IF NOT EXISTS FOR (n:Channel) REQUIRE n.id IS UNIQUE",
    ),
    (
        "muninn_response_place",
        "CREATE INDEX muninn_response_place IF NOT EXISTS FOR (n:Response) ON (n.audience, n.position)",
    ),
    (
        "muninn_source_id",
        "CREATE CONSTRAINT muninn_source_id IF NOT EXISTS FOR (n:MuninnSource) REQUIRE n.id IS UNIQUE",
    ),
    (
        "muninn_chunk_id",
        "CREATE INDEX muninn_chunk_id IF NOT EXISTS FOR (n:Chunk) ON (n.chunkId)",
    ),
    (
        "muninn_private_id",
        "CREATE INDEX muninn_private_id IF NOT EXISTS FOR (n:MuninnPrivate) ON (n.chunkId)",
    ),
    (
        "muninn_chunk_record",
        "CREATE INDEX muninn_chunk_record IF NOT EXISTS FOR (n:Chunk) ON (n.recordKey)",
    ),
    (
        "muninn_private_record",
        "CREATE INDEX muninn_private_record IF NOT EXISTS FOR (n:MuninnPrivate) ON (n.recordKey)",
    ),
    (
        "muninn_staged_record",
        "CREATE INDEX muninn_staged_record IF NOT EXISTS FOR (n:MuninnStaged) ON (n.recordKey)",
    ),
];

/// What must outlive every statement: the session, and after it the right to the file.
pub(super) struct Held {
    session: Session,
    _lease: Option<GraphWriterLease>,
}

/// What the person who runs the bot should know of.
#[derive(Clone, Debug, Default)]
pub(super) struct Warnings(Arc<Mutex<Vec<String>>>);

impl Warnings {
    /// Says it once: what is repeated must not fill memory.
    fn add(&self, warning: String) {
        tracing::warn!(%warning, "embedded graph");
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !all.contains(&warning) && all.len() < 100 {
            all.push(warning);
        }
    }

    fn all(&self) -> Vec<String> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// A graph in a folder.
pub(crate) struct Embedded {
    threads: Mutex<Option<Threads>>,
    warnings: Warnings,
    folder: PathBuf,
    timeout: Duration,
    queries: confined::Gate,
}

impl fmt::Debug for Embedded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Embedded")
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

impl Embedded {
    /// Opens the graph in a folder, or makes both.
    pub(crate) async fn open(folder: PathBuf, timeout: Duration) -> Result<Self, StoreError> {
        let warnings = Warnings::default();
        let (answer, opened) = oneshot::channel();
        let (its_folder, its_warnings) = (folder.clone(), warnings.clone());
        // Replaying the log runs the engine, so it needs the engine's stack.
        let open = move || {
            let result = open_here(&its_folder, &its_warnings)
                .and_then(|held| Threads::start(Arc::new(held), &its_warnings));
            // Nobody waits any more if the caller was dropped; the graph is then closed again.
            let _ = answer.send(result);
        };
        worker::thread("graph-open", open)?;
        let threads = opened
            .await
            .map_err(|_| damaged(&folder, "opening it failed"))??;
        Ok(Self {
            threads: Mutex::new(Some(threads)),
            warnings,
            folder,
            timeout,
            queries: confined::Gate::default(),
        })
    }

    fn held(&self) -> Result<Arc<Held>, StoreError> {
        let threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        let threads = threads.as_ref().ok_or_else(|| self.closed())?;
        Ok(Arc::clone(&threads.held))
    }

    fn closed(&self) -> StoreError {
        StoreError::Refused {
            message: format!("the graph in {} was closed", self.folder.display()),
            transient: false,
        }
    }

    /// Sends a statement to a thread and waits for its rows.
    async fn ask(
        &self,
        writes: bool,
        statement: &str,
        params: &Params,
    ) -> Result<Vec<Row>, StoreError> {
        let (answer, answered) = oneshot::channel();
        let job = Job {
            statement: statement.to_owned(),
            params: bindings(params)?,
            timeout: self.timeout,
            answer,
        };
        let queue = {
            let threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
            let threads = threads.as_ref().ok_or_else(|| self.closed())?;
            if writes {
                threads.writer.clone()
            } else {
                threads.reader.clone()
            }
        };
        let exchange = async {
            queue.send(job).await.map_err(|_| self.closed())?;
            drop(queue);
            answered.await.map_err(|_| self.closed())?
        };
        match tokio::time::timeout(self.timeout, exchange).await {
            Ok(result) => result,
            Err(_elapsed) => Err(StoreError::Refused {
                message: format!("no answer within {} ms", self.timeout.as_millis()),
                transient: true,
            }),
        }
    }
}

pub(super) fn bindings(params: &Params) -> Result<Bindings, StoreError> {
    params
        .iter()
        .map(|(name, value)| Ok((name.clone(), native(value)?)))
        .collect()
}

fn open_here(folder: &Path, warnings: &Warnings) -> Result<Held, StoreError> {
    if folder.is_file() {
        return Err(StoreError::Misconfigured(format!(
            "{} is a file; GRAPH_URL must name a folder",
            folder.display()
        )));
    }
    crate::files::private_folder(folder).map_err(|error| {
        StoreError::Misconfigured(format!(
            "the folder {} of GRAPH_URL cannot be made: {error}",
            folder.display()
        ))
    })?;
    let spec = OpenSpec {
        storage: Some(StorageMode::Memory),
        durability: DurabilityLevel::Normal,
        durability_explicit: true,
        lease_timeout: Some(LEASE_WAIT),
        valid_time_default: None,
    };
    let opened = open_path(&folder.join(FILE), &spec).map_err(|error| open_error(folder, error))?;
    for advisory in &opened.advisories {
        warnings.add(advisory.message.clone());
    }
    opened
        .session
        .set_auto_checkpoint_wal_bytes(Some(CHECKPOINT_BYTES));
    Ok(Held {
        session: opened.session,
        _lease: opened.lease,
    })
}

fn open_error(folder: &Path, error: OpenError) -> StoreError {
    match error {
        OpenError::Lease(refusal) if refusal.holder.is_some() => StoreError::Locked {
            path: folder.display().to_string(),
            holder: match refusal.holder.and_then(|holder| holder.pid) {
                Some(pid) => format!("process {pid}"),
                None => "another process".to_owned(),
            },
        },
        OpenError::Lease(refusal) => StoreError::Misconfigured(format!(
            "the folder {} of GRAPH_URL cannot be used: {}",
            folder.display(),
            refusal.error
        )),
        OpenError::Open(error) => match error.kind() {
            std::io::ErrorKind::PermissionDenied
            | std::io::ErrorKind::ReadOnlyFilesystem
            | std::io::ErrorKind::StorageFull => StoreError::Misconfigured(format!(
                "the graph in {} cannot be opened: {error}",
                folder.display()
            )),
            _other => damaged(folder, &error.to_string()),
        },
        OpenError::Session {
            failure, message, ..
        } => match failure {
            LogOpenFailure::Io | LogOpenFailure::Replay | LogOpenFailure::Refused => {
                damaged(folder, &message)
            }
        },
    }
}

fn damaged(folder: &Path, detail: &str) -> StoreError {
    StoreError::Corrupt {
        path: folder.join(FILE).display().to_string(),
        detail: format!(
            "{detail}; nothing was changed: move the folder aside and import the last export, \
             or restore a copy of the folder"
        ),
    }
}

#[async_trait]
impl Engine for Embedded {
    async fn read(&self, statement: &str, params: Params) -> Result<Vec<Row>, StoreError> {
        self.ask(false, statement, &params).await
    }

    async fn write(&self, statement: &str, params: Params) -> Result<Vec<Row>, StoreError> {
        self.ask(true, statement, &params).await
    }

    async fn transact(
        &self,
        steps: mpsc::Receiver<Step>,
        limit: Duration,
    ) -> Result<Vec<i64>, StoreError> {
        let held = self.held()?;
        let (answer, answered) = oneshot::channel();
        // A thread of its own: whoever sends may be slow. Writers wait for it, readers do not.
        worker::thread("graph-transact", move || {
            let _ = answer.send(worker::transact(&held, steps, limit));
        })?;
        answered.await.map_err(|_| self.closed())?
    }

    /// The engine looks nodes up by the id of their first label; what else is looked for in
    /// order is listed here.
    fn knowledge_indexes(&self, _dimension: usize) -> Vec<(String, String)> {
        Vec::new()
    }

    fn is_shared(&self) -> bool {
        false
    }

    fn relabels(&self) -> bool {
        false
    }

    async fn stream(&self, statement: &str, rows: mpsc::Sender<Row>) -> Result<(), StoreError> {
        let held = self.held()?;
        let (answer, answered) = oneshot::channel();
        let statement = statement.to_owned();
        // A thread of its own: whoever receives may be slow.
        worker::thread("graph-stream", move || {
            let _ = answer.send(worker::stream(&held, &statement, &rows));
        })?;
        answered.await.map_err(|_| self.closed())?
    }

    async fn confined(
        &self,
        statement: &str,
        params: Params,
        limits: QueryLimits,
    ) -> Result<Rows, QueryError> {
        let (held, params) = (self.held()?, bindings(&params)?);
        confined::run(&self.queries, held, statement.to_owned(), params, limits).await
    }

    fn embedding(&self, vector: &[f32]) -> Value {
        packed(vector)
    }

    fn gaps(&self) -> &'static [&'static str] {
        GAPS
    }

    fn constraints(&self) -> &'static [(&'static str, &'static str)] {
        CONSTRAINTS
    }

    fn strip(&self, node: &mut GraphNode) {
        strip(node);
    }

    fn prepare(&self, node: &mut GraphNode) {
        prepare(node);
    }

    async fn create_nodes(&self, mut nodes: Vec<GraphNode>) -> Result<Vec<String>, StoreError> {
        let mut ids = vec![String::new(); nodes.len()];
        nodes.iter_mut().for_each(prepare);
        for (labels, members) in grouped(&nodes, |node| node.labels.clone()) {
            let mut pattern = String::new();
            for label in labels {
                pattern.push(':');
                pattern.push_str(&quoted(&label)?);
            }
            // An id set later is not the one by which the log knows the node.
            let statement = format!(
                "UNWIND $rows AS row CREATE (n{pattern} {{id: row.properties.id}}) SET n += row.properties \
                 RETURN row.place AS place, elementId(n) AS id"
            );
            let rows: Vec<Value> = members
                .iter()
                .map(|(place, node)| json!({"place": place, "properties": node.properties}))
                .collect();
            for row in self
                .write(&statement, params(json!({"rows": rows})))
                .await?
            {
                let place = usize::try_from(integer(&row, "place")).unwrap_or(usize::MAX);
                if let Some(slot) = ids.get_mut(place) {
                    *slot = text(&row, "id").unwrap_or_default();
                }
            }
        }
        Ok(ids)
    }

    async fn create_relationships(
        &self,
        relationships: Vec<GraphRelationship>,
    ) -> Result<(), StoreError> {
        for (kind, members) in grouped(&relationships, |one| one.kind.clone()) {
            let rows: Vec<Value> = members
                .iter()
                .map(|(_, one)| {
                    json!({"from": one.from, "to": one.to, "properties": one.properties})
                })
                .collect();
            let kind = quoted(&kind)?;
            let statement = format!(
                "UNWIND $rows AS row \
                 MATCH (a) WHERE elementId(a) = row.from MATCH (b) WHERE elementId(b) = row.to \
                 CREATE (a)-[r:{kind}]->(b) SET r += row.properties RETURN count(r) AS made"
            );
            let made = self
                .write(&statement, params(json!({"rows": rows})))
                .await?;
            let made = made.first().map_or(0, |row| integer(row, "made"));
            if usize::try_from(made) != Ok(members.len()) {
                return Err(StoreError::Unexpected(
                    "a node vanished while relationships were made".to_owned(),
                ));
            }
        }
        Ok(())
    }

    fn plans_dearly(&self) -> bool {
        false
    }

    async fn version(&self) -> Result<String, StoreError> {
        Ok(format!("embedded (kglite {})", worker::ENGINE_VERSION))
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.all()
    }

    /// The log keeps what it was told until it is folded into the file.
    async fn scrub(&self) -> Result<(), StoreError> {
        let held = self.held()?;
        let (answer, answered) = oneshot::channel();
        worker::thread("graph-scrub", move || {
            let _ = answer.send(held.session.checkpoint_online());
        })?;
        let folded = answered.await.map_err(|_| self.closed())?;
        folded.map(drop).map_err(|error| StoreError::Refused {
            message: format!("the graph's log could not be folded in: {error}"),
            transient: true,
        })
    }

    async fn close(&self) -> Result<(), StoreError> {
        let threads = {
            let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
            threads.take()
        };
        let Some(threads) = threads else {
            return Ok(());
        };
        let (answer, answered) = oneshot::channel();
        worker::thread("graph-close", move || {
            let _ = answer.send(threads.finish());
        })?;
        answered.await.map_err(|_| self.closed())?
    }
}

/// The stack the engine's recursion needs.
pub(super) const STACK: usize = QUERY_THREAD_STACK_SIZE;
