//! The embedded engine: a graph in a folder, run in this process without a server.
//!
//! Only one process can open it at a time. Statements run on separate threads with the stack that the
//! engine needs, never on a runtime's thread. Dropping the caller does not cancel a queued statement.

mod confined;
mod database;
mod intents;
mod leavings;
mod nodes;
mod open_error;
pub(in crate::graph) mod staged_files;
pub(in crate::graph) mod staging;
#[cfg(test)]
mod tests;
mod values;
mod worker;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use kglite::api::durable::DurabilityLevel;
use kglite::api::session::{OpenSpec, open_path};
use kglite::api::storage::StorageMode;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use self::nodes::{prepare, strip};
use self::open_error::{damaged, open_error};
use self::worker::{Job, Threads, Transaction};
use super::indexes::Index;
use super::{
    About, DeletionIntent, Dialect, Engine, Params, Purge, Row, StreamedRead, TransactionStep,
};
use crate::graph::StoreError;
use crate::graph::confine::ConfinedCypher;
use crate::graph::query::{QueryError, QueryLimits, ResultRows};
use crate::graph::store::record::packed;
use database::{EmbeddedDatabase, FILE, Warnings};
use worker::bindings;

/// How long to wait for a process that is just ending.
const LEASE_WAIT: Duration = Duration::from_millis(500);

/// The log is folded into the file when it exceeds this size, about 1,500 turns. Reopening has to
/// read what is not folded, and folding copies what is written meanwhile, so it is done often and in
/// small parts.
const CHECKPOINT_BYTES: u64 = 4 * 1024 * 1024;

/// Maximum run time of an own statement. It is wall-clock time, so a busy machine makes statements
/// long.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(60);

/// Additional time beyond the time-out that a caller waits for a statement's turn and its rows. The
/// graph is on this machine, so it is then busy and not away.
const STATEMENT_WAIT_TIMEOUT: Duration = Duration::from_mins(10);

/// How often slow statements are logged.
const SAID_EVERY: Duration = Duration::from_mins(1);

/// Unsupported features that were found, and what to write instead.
const GAPS: &[&str] = &[
    "No COLLECT { } subquery: use collect() after a MATCH.",
    "No quantified path such as ((a)-[:T]->(b)){1,3}: write -[:T*1..3]->.",
    "No percentileCont or percentileDisc.",
    "shortestPath stands first in its MATCH.",
    "duration.between(a, b) has days and no months: write duration.inMonths(a, b).years or .months, and duration.inDays(a, b).days.",
    "No slice of collect() such as collect(x)[0..3]: put LIMIT after a WITH.",
];

/// The engine finds nodes by label and ID without an index, using their first label. All other
/// lookups need an index listed here, including those of ingested knowledge.
const INDEXES: &[Index] = &[
    Index::plain("chunk_id", "Chunk", "n.chunkId"),
    Index::plain("private_id", "MuninnPrivate", "n.chunkId"),
    Index::plain("chunk_record", "Chunk", "n.recordKey"),
    Index::plain("private_record", "MuninnPrivate", "n.recordKey"),
    Index::plain("staged_record", "MuninnStaged", "n.recordKey"),
];

static DIALECT: Dialect = Dialect {
    is_shared: false,
    relabels: false,
    has_expensive_planning: false,
    unsupported_features: GAPS,
    indexes: INDEXES,
    knowledge_indexes: &[],
    embedding: packed,
    strip,
    prepare,
};

/// Counts statements that waited long.
#[derive(Debug, Default)]
struct SlowStatements {
    last_said: Mutex<Option<Instant>>,
}

impl SlowStatements {
    /// Logs, at most once per [`SAID_EVERY`], that statements waited long.
    fn told(&self, longer_than: Duration) {
        metrics::counter!("muninn_graph_long_waits_total").increment(1);
        let now = Instant::now();
        let mut last = self
            .last_said
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if last.is_none_or(|at| now.duration_since(at) >= SAID_EVERY) {
            *last = Some(now);
            tracing::warn!(
                seconds = longer_than.as_secs(),
                "a statement waits long for the embedded graph: this machine is busy; nothing is lost"
            );
        }
    }
}

/// A graph in a folder.
pub(crate) struct Embedded {
    threads: Mutex<Option<Threads>>,
    warnings: Warnings,
    folder: PathBuf,
    timeout: Duration,
    queries: confined::StatementSemaphore,
    waits: SlowStatements,
}

impl fmt::Debug for Embedded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Embedded")
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

impl Embedded {
    /// Opens the graph in a folder, and creates both if needed.
    pub(crate) async fn open(folder: PathBuf, timeout: Duration) -> Result<Self, StoreError> {
        Self::open_at(folder, timeout, DurabilityLevel::Normal).await
    }

    async fn open_at(
        folder: PathBuf,
        timeout: Duration,
        durability: DurabilityLevel,
    ) -> Result<Self, StoreError> {
        let warnings = Warnings::default();
        let (answer, opened) = oneshot::channel();
        let (its_folder, its_warnings) = (folder.clone(), warnings.clone());
        // Replaying the log runs the engine, so it needs the engine's stack.
        let open = move || {
            let result = open_here(&its_folder, durability, &its_warnings)
                .and_then(|held| Threads::start(Arc::new(held), &its_warnings));
            // If the caller was dropped, nobody waits any more, and the graph is closed again.
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
            queries: confined::StatementSemaphore::default(),
            waits: SlowStatements::default(),
        })
    }

    fn held(&self) -> Result<Arc<EmbeddedDatabase>, StoreError> {
        self.with_threads(|threads| Arc::clone(&threads.held))
    }

    fn with_threads<T>(&self, get: impl FnOnce(&Threads) -> T) -> Result<T, StoreError> {
        let threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads.as_ref().map(get).ok_or_else(|| self.closed())
    }

    /// How long a statement may run.
    fn statement_timeout(&self) -> Duration {
        self.timeout.max(STATEMENT_TIMEOUT)
    }

    fn closed(&self) -> StoreError {
        StoreError::Refused {
            message: format!("the graph in {} was closed", self.folder.display()),
            transient: false,
        }
    }

    /// Sends a statement to a thread and waits for its rows. It may run for as long as `limit`.
    async fn ask(
        &self,
        writes: bool,
        statement: &str,
        params: &Params,
        limit: Duration,
    ) -> Result<Vec<Row>, StoreError> {
        let (answer, answered) = oneshot::channel();
        let job = Job {
            statement: statement.to_owned(),
            params: bindings(params)?,
            timeout: limit,
            answer,
        };
        let queue = self.with_threads(|threads| {
            let queue = if writes {
                &threads.writer
            } else {
                &threads.reader
            };
            queue.clone()
        })?;
        let exchange = async {
            queue.send(job).await.map_err(|_| self.closed())?;
            drop(queue);
            answered.await.map_err(|_| self.closed())?
        };
        tokio::pin!(exchange);
        if let Ok(result) = tokio::time::timeout(self.timeout, &mut exchange).await {
            return result;
        }
        self.waits.told(self.timeout);
        match tokio::time::timeout(STATEMENT_WAIT_TIMEOUT, exchange).await {
            Ok(result) => result,
            Err(_elapsed) => Err(StoreError::Refused {
                message: format!("no answer within {} s", STATEMENT_WAIT_TIMEOUT.as_secs()),
                transient: true,
            }),
        }
    }
}

fn open_here(
    folder: &Path,
    durability: DurabilityLevel,
    warnings: &Warnings,
) -> Result<EmbeddedDatabase, StoreError> {
    if folder.is_file() {
        return Err(StoreError::Misconfigured(format!(
            "{} is a file; GRAPH_URL must name a folder",
            folder.display()
        )));
    }
    private_files::create_private_folder(folder).map_err(|error| {
        StoreError::Misconfigured(format!(
            "the graph's folder {} (of DATA_DIR or GRAPH_URL) cannot be made: {error}",
            folder.display()
        ))
    })?;
    let spec = OpenSpec {
        storage: Some(StorageMode::Memory),
        durability,
        durability_explicit: true,
        lease_timeout: Some(LEASE_WAIT),
        valid_time_default: None,
    };
    let file = folder.join(FILE);
    let opened = open_path(&file, &spec).map_err(|error| open_error(folder, error))?;
    for advisory in &opened.advisories {
        // The parts set aside are reported below, at this start and every later one.
        if !advisory.code.starts_with("wal_") {
            warnings.add(advisory.message.clone());
        }
    }
    for told in leavings::set_aside(folder) {
        warnings.add(told);
    }
    opened
        .session
        .set_auto_checkpoint_wal_bytes(Some(CHECKPOINT_BYTES));
    let held = EmbeddedDatabase {
        session: opened.session,
        file,
        durability,
        _lease: opened.lease,
    };
    if durability != DurabilityLevel::Off {
        clean_up(folder, &held, warnings);
    }
    Ok(held)
}

/// Finishes what a killed process had begun. Nothing depends on it.
fn clean_up(folder: &Path, held: &EmbeddedDatabase, warnings: &Warnings) {
    match staged_files::remove_left_over(folder) {
        Ok(true) => warnings.add(
            "an import was interrupted, and the graph is as it was before it; \
             run `muninn import` again"
                .to_owned(),
        ),
        Ok(false) => {}
        Err(error) => warnings.add(error.to_string()),
    }
    if let Err(error) = leavings::remove_unfinished(folder) {
        warnings.add(format!(
            "files in {} cannot be removed: {error}",
            folder.display()
        ));
    }
    // It may contain what was deleted before the end.
    if held.has_log()
        && let Err(error) = held.fold()
    {
        warnings.add(error.to_string());
    }
}

/// Size of the graph and its log. An unreadable file counts as empty; it is reported elsewhere.
fn file_bytes(folder: &Path) -> u64 {
    let files = [FILE.to_owned(), format!("{FILE}-wal")];
    let sizes = files
        .iter()
        .map(|file| std::fs::metadata(folder.join(file)));
    sizes.flatten().map(|file| file.len()).sum()
}

/// Removes the parts of a damaged log that were set aside, as forgotten text in them cannot be found.
pub(in crate::graph) fn remove_set_aside(folder: &Path) -> Result<(), StoreError> {
    let removed = leavings::remove(folder).map_err(|error| StoreError::Refused {
        message: format!(
            "a damaged part of the graph's log in {} cannot be removed: {error}",
            folder.display()
        ),
        transient: true,
    })?;
    for path in removed {
        tracing::warn!(path = %path.display(), "removed a damaged part of the graph's log");
    }
    Ok(())
}

#[async_trait]
impl Engine for Embedded {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    async fn read(&self, statement: &str, params: Params) -> Result<Vec<Row>, StoreError> {
        let limit = self.statement_timeout();
        self.read_within(statement, params, limit).await
    }

    async fn read_within(
        &self,
        statement: &str,
        params: Params,
        limit: Duration,
    ) -> Result<Vec<Row>, StoreError> {
        self.ask(false, statement, &params, limit).await
    }

    async fn write(&self, statement: &str, params: Params) -> Result<Vec<Row>, StoreError> {
        let limit = self.statement_timeout();
        self.ask(true, statement, &params, limit).await
    }

    async fn transact(
        &self,
        steps: mpsc::Receiver<TransactionStep>,
        limit: Duration,
    ) -> Result<Vec<i64>, StoreError> {
        let (answer, answered) = oneshot::channel();
        let transaction = Transaction {
            steps,
            deadline: Instant::now() + limit,
            answer,
        };
        let queue = self.with_threads(|threads| threads.transactions.clone())?;
        queue.send(transaction).await.map_err(|_| self.closed())?;
        drop(queue);
        answered.await.map_err(|_| self.closed())?
    }

    async fn stream(&self, reads: Vec<StreamedRead>) -> Result<(), StoreError> {
        let held = self.held()?;
        let (answer, answered) = oneshot::channel();
        // A separate thread, as the receiver may be slow.
        worker::thread("graph-stream", move || {
            let _ = answer.send(worker::stream(&held, reads));
        })?;
        answered.await.map_err(|_| self.closed())?
    }

    async fn confined(
        &self,
        cypher: &ConfinedCypher,
        params: Params,
        limits: QueryLimits,
    ) -> Result<ResultRows, QueryError> {
        let (held, params) = (self.held()?, bindings(&params)?);
        let text = cypher.legacy_syntax().to_owned();
        confined::run(&self.queries, held, text, params, limits).await
    }

    async fn about(&self) -> Result<About, StoreError> {
        Ok(About {
            engine: format!("embedded (kglite {})", worker::ENGINE_VERSION),
            reading: None,
            file_bytes: Some(file_bytes(&self.folder)),
            warnings: self.warnings.all(),
        })
    }

    /// Removes leftovers: the log keeps its entries until it is folded into the file, and a damaged
    /// log that was set aside may contain anything.
    async fn purge(&self, what: Purge) -> Result<(), StoreError> {
        let (held, folder) = (self.held()?, self.folder.clone());
        let (answer, answered) = oneshot::channel();
        worker::thread("graph-scrub", move || {
            let scrubbed = held.fold().and_then(|()| match what {
                Purge::Replaced => Ok(()),
                Purge::Forgotten => remove_set_aside(&folder),
            });
            let _ = answer.send(scrubbed);
        })?;
        answered.await.map_err(|_| self.closed())?
    }

    fn record_intent(&self, intent: &Value) -> Result<Option<DeletionIntent>, StoreError> {
        intents::keep(&self.folder, intent).map(Some)
    }

    fn intents(&self) -> Result<Vec<(DeletionIntent, Value)>, StoreError> {
        intents::kept(&self.folder)
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
