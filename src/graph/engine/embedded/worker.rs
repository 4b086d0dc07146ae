//! The threads that run statements on the embedded graph.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use kglite::api::cypher::{CypherResult, QueryWarningSink, with_query_warning_sink};
use kglite::api::session::{
    ExecuteOptions, ExecuteOutcome, QUERY_THREAD_STACK_SIZE, WriteError, execute_mut, execute_read,
};
use kglite::api::{KgError, KgErrorCode, Value as Native};
use tokio::sync::{mpsc, oneshot};

use super::database::{EmbeddedDatabase, Warnings};
use super::values::{from_native, native};
use crate::graph::StoreError;
use crate::graph::engine::{Params, Row, StreamedRead, TransactionStep, abandoned};
use crate::graph::store::record::integer;

/// The version in the engine's manifest, which has no constant for it.
pub(super) const ENGINE_VERSION: &str = "0.21.5";

/// Maximum number of statements, or transactions, that share one flush of the log. It bounds the wait of the first.
const MAX_WRITES_PER_FLUSH: usize = 64;

/// How often a write is tried that lost a race against a checkpoint's copy.
const WRITE_ATTEMPTS: u32 = 3;

pub(super) type Bindings = HashMap<String, Native>;

/// A statement, and who waits for its rows.
pub(super) struct Job {
    pub(super) statement: String,
    pub(super) params: Bindings,
    pub(super) timeout: Duration,
    pub(super) answer: oneshot::Sender<Result<Vec<Row>, StoreError>>,
}

/// The statements of a transaction as they come, and who waits for its end.
pub(super) struct Transaction {
    pub(super) steps: mpsc::Receiver<TransactionStep>,
    pub(super) deadline: Instant,
    pub(super) answer: oneshot::Sender<Result<Vec<i64>, StoreError>>,
}

impl Transaction {
    /// Whether it can be run without waiting for a statement.
    fn is_all_sent(&self) -> bool {
        self.steps.sender_strong_count() == 0
    }
}

/// The threads of an open graph. They end when the last sender is dropped.
pub(super) struct Threads {
    pub(super) held: Arc<EmbeddedDatabase>,
    pub(super) writer: mpsc::Sender<Job>,
    pub(super) reader: mpsc::Sender<Job>,
    pub(super) transactions: mpsc::Sender<Transaction>,
    handles: Vec<JoinHandle<()>>,
}

/// Starts a thread with the stack that the engine needs.
pub(super) fn thread(
    name: &str,
    run: impl FnOnce() + Send + 'static,
) -> Result<JoinHandle<()>, StoreError> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .stack_size(STACK)
        .spawn(run)
        .map_err(|error| StoreError::Refused {
            message: format!("no thread for the embedded graph: {error}"),
            transient: true,
        })
}

impl Threads {
    pub(super) fn start(
        held: Arc<EmbeddedDatabase>,
        warnings: &Warnings,
    ) -> Result<Self, StoreError> {
        let (writer, writes) = mpsc::channel(QUEUE);
        let (reader, reads) = mpsc::channel(QUEUE);
        let (transactions, begun) = mpsc::channel(QUEUE);
        // One wake-up is enough for any number.
        let (wake, woken) = sync_channel::<()>(1);
        let mut handles = Vec::new();
        let (here, its_wake) = (Arc::clone(&held), wake.clone());
        handles.push(thread("graph-write", move || {
            write_loop(&here, writes, &its_wake, |_| true, apply)
        })?);
        let here = Arc::clone(&held);
        handles.push(thread("graph-transact", move || {
            // Readers do not wait for a transaction whose sender is slow; writers do. What is done is flushed before it,
            // because the log cannot be flushed while a transaction is open.
            write_loop(&here, begun, &wake, Transaction::is_all_sent, transact)
        })?);
        let here = Arc::clone(&held);
        handles.push(thread("graph-read", move || read_loop(&here, reads))?);
        let (here, warnings) = (Arc::clone(&held), warnings.clone());
        handles.push(thread("graph-checkpoint", move || {
            while woken.recv().is_ok() {
                if let Err(error) = here.session.maybe_checkpoint_online() {
                    warnings.add(format!("the graph's log could not be folded in: {error}"));
                }
            }
        })?);
        Ok(Self {
            held,
            writer,
            reader,
            transactions,
            handles,
        })
    }

    /// Finishes all queued work, and leaves a file that opens without replaying a log.
    pub(super) fn finish(self) -> Result<(), StoreError> {
        let Self {
            held,
            writer,
            reader,
            transactions,
            handles,
        } = self;
        drop((writer, reader, transactions));
        for handle in handles {
            // Its panic was reported when it happened; the graph must still be closed.
            let _ = handle.join();
        }
        let folded = held.fold();
        held.session.retire();
        folded
    }
}

/// Applies what is queued, flushes the log once for all of it, and only then answers. What does not join the others is applied
/// after a flush.
fn write_loop<J, T>(
    held: &EmbeddedDatabase,
    mut queue: mpsc::Receiver<J>,
    wake: &SyncSender<()>,
    joins: impl Fn(&J) -> bool,
    apply: impl Fn(&EmbeddedDatabase, J) -> Unflushed<T>,
) {
    let mut next = queue.blocking_recv();
    while let Some(first) = next {
        let mut done = vec![apply(held, first)];
        next = queue.try_recv().ok();
        while done.len() < MAX_WRITES_PER_FLUSH
            && let Some(job) = next.take_if(|it| joins(it))
        {
            done.push(apply(held, job));
            next = queue.try_recv().ok();
        }
        flush_and_answer(held, done, wake);
        next = next.or_else(|| queue.blocking_recv());
    }
}

/// A result that may be told once the log is flushed, and who waits for it.
type Unflushed<T> = (
    oneshot::Sender<Result<T, StoreError>>,
    Result<T, StoreError>,
);

fn flush_and_answer<T>(held: &EmbeddedDatabase, done: Vec<Unflushed<T>>, wake: &SyncSender<()>) {
    let flushed = held.flush();
    for (answer, result) in done {
        let result = match (&flushed, result) {
            (Ok(()), result) => result,
            (Err(_), Err(error)) => Err(error),
            (Err(error), Ok(_)) => Err(StoreError::Refused {
                message: format!("the graph's log cannot be written: {error}"),
                transient: true,
            }),
        };
        // The caller may be gone; it was written all the same.
        let _ = answer.send(result);
    }
    if held.session.needs_checkpoint() {
        // If it is full, the thread is busy folding and looks again afterwards.
        let _ = wake.try_send(());
    }
}

fn apply(held: &EmbeddedDatabase, job: Job) -> Unflushed<Vec<Row>> {
    let result = guarded(|| {
        let options = options(&job.params, job.timeout);
        held.session
            .execute_auto_commit(&job.statement, &options, WRITE_ATTEMPTS)
            .map_err(|error| refusal(&error))
    });
    (job.answer, result)
}

fn read_loop(held: &EmbeddedDatabase, mut jobs: mpsc::Receiver<Job>) {
    while let Some(job) = jobs.blocking_recv() {
        if job.answer.is_closed() {
            continue;
        }
        let result = guarded(|| {
            // Dropped at once: a write copies the graph as long as a snapshot exists.
            let snapshot = held.session.snapshot();
            execute_read(
                &snapshot,
                &job.statement,
                &options(&job.params, job.timeout),
            )
            .map_err(|error| refusal(&error))
        });
        let _ = job.answer.send(result);
    }
}

/// Runs the statements received as one transaction, without flushing the log.
fn transact(held: &EmbeddedDatabase, transaction: Transaction) -> Unflushed<Vec<i64>> {
    let Transaction {
        steps,
        deadline,
        answer,
    } = transaction;
    (answer, caught(|| run_steps(held, steps, deadline)))
}

fn run_steps(
    held: &EmbeddedDatabase,
    mut steps: mpsc::Receiver<TransactionStep>,
    deadline: Instant,
) -> Result<Vec<i64>, StoreError> {
    let mut times = Vec::new();
    let written = held.session.write_logged(|graph| {
        while let Some(step) = steps.blocking_recv() {
            let (statement, params) = match step {
                TransactionStep::Run(statement, params) => (statement, params),
                TransactionStep::Commit => return Ok(()),
            };
            let params = bindings(&params)?;
            let left = deadline.saturating_duration_since(Instant::now());
            let rows = guarded(|| {
                let options = transaction_options(&params, left);
                execute_mut(graph, &statement, &options).map_err(|error| refusal(&error))
            })?;
            times.push(rows.first().map_or(0, |row| integer(row, "times")));
        }
        Err(abandoned())
    });
    match written {
        Ok(_published) => Ok(times),
        Err(WriteError::Closure(error)) => Err(error),
        Err(other) => Err(StoreError::Refused {
            message: format!("the transaction could not be kept: {other:?}"),
            transient: false,
        }),
    }
}

/// A transaction has no limit on the work.
fn transaction_options(params: &Bindings, timeout: Duration) -> ExecuteOptions<'_> {
    let mut options = options(params, timeout.max(Duration::from_millis(1)));
    options.max_work_units = Some(usize::MAX);
    options
}

/// Runs a read statement, and sends its rows as fast as they are taken.
pub(super) fn stream(held: &EmbeddedDatabase, reads: Vec<StreamedRead>) -> Result<(), StoreError> {
    let snapshot = held.session.snapshot();
    let mut results = Vec::with_capacity(reads.len());
    for StreamedRead {
        statement,
        params,
        rows,
    } in reads
    {
        let params = bindings(&params)?;
        let mut options = ExecuteOptions::eager(&params).with_hidden_structural_keys(true);
        // Everything is read on purpose here; the default limit guards against runaway queries.
        options.max_work_units = Some(usize::MAX);
        let outcome = quietly(|| {
            execute_read(&snapshot, &statement, &options).map_err(|error| refusal(&error))
        })?;
        results.push((outcome.result, rows));
    }
    // A write copies the graph as long as there is a snapshot, and the receivers may be slow.
    drop(snapshot);
    for (result, to) in results {
        for values in result.rows {
            if to.blocking_send(row(&result.columns, &values)).is_err() {
                break;
            }
        }
    }
    Ok(())
}

fn options(params: &Bindings, timeout: Duration) -> ExecuteOptions<'_> {
    let mut options = ExecuteOptions::eager(params).with_hidden_structural_keys(true);
    options.set_timeout_ms(u64::try_from(timeout.as_millis()).ok());
    options
}

/// Suppresses the engine's remarks on stderr about our statements.
pub(super) fn quietly(
    run: impl FnOnce() -> Result<ExecuteOutcome, StoreError>,
) -> Result<ExecuteOutcome, StoreError> {
    with_query_warning_sink(QueryWarningSink::Silent, || caught(run))
}

/// A panic in the engine ends what it did, but not the thread that everyone depends on.
fn caught<T>(run: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(result) => result,
        Err(_panic) => Err(StoreError::Refused {
            message: "the embedded graph failed inside; see the log".to_owned(),
            transient: false,
        }),
    }
}

fn guarded(
    run: impl FnOnce() -> Result<ExecuteOutcome, StoreError>,
) -> Result<Vec<Row>, StoreError> {
    let outcome = quietly(run)?;
    let CypherResult { columns, rows, .. } = outcome.result;
    Ok(rows.iter().map(|values| row(&columns, values)).collect())
}

fn row(columns: &[String], values: &[Native]) -> Row {
    columns
        .iter()
        .zip(values)
        .map(|(column, value)| (column.clone(), from_native(value)))
        .collect()
}

pub(super) fn refusal(error: &KgError) -> StoreError {
    let code = error.code();
    if matches!(
        code,
        KgErrorCode::ConstraintViolation
            | KgErrorCode::CypherTypeMismatch
            | KgErrorCode::Validation
    ) {
        return StoreError::Invalid(format!("{error} ({})", code.as_str()));
    }
    StoreError::Refused {
        message: format!("{error} ({})", code.as_str()),
        transient: matches!(
            code,
            KgErrorCode::CypherTimeout
                | KgErrorCode::TransactionConflict
                | KgErrorCode::DurabilityFailed
                | KgErrorCode::Cancelled
        ),
    }
}

/// Maximum number of queued statements, each for reading and writing; more callers wait, within the
/// time-out.
pub(super) const QUEUE: usize = 256;

pub(in crate::graph) fn bindings(params: &Params) -> Result<Bindings, StoreError> {
    params
        .iter()
        .map(|(name, value)| Ok((name.clone(), native(value)?)))
        .collect()
}

/// The stack that the engine's recursion needs.
pub(in crate::graph) const STACK: usize = QUERY_THREAD_STACK_SIZE;
