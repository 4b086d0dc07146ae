//! Runs a confined statement on a separate thread, so that the thread that reads for turns does not
//! wait for it.

use std::ops::ControlFlow;
use std::sync::Arc;

use kglite::api::cypher::CypherResult;
use kglite::api::session::{CancelToken, ExecuteOptions, execute_read};
use kglite::api::{KgError, KgErrorCode};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::timeout;

use super::database::EmbeddedDatabase;
use super::strip;
use super::values::from_native;
use super::worker::{Bindings, quietly, refusal, thread};
use crate::graph::StoreError;
use crate::graph::query::{QueryError, QueryLimits, ResultRows, position, shown};

/// Maximum number of concurrent statements; others wait, within their time.
const MAX_CONCURRENT_STATEMENTS: usize = 4;

/// Maximum number of intermediate rows and visited nodes. It bounds the memory of a statement that
/// multiplies rows.
const WORK: usize = 2_000_000;

/// Permits to run statements.
#[derive(Clone, Debug)]
pub(super) struct StatementSemaphore(Arc<Semaphore>);

impl Default for StatementSemaphore {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MAX_CONCURRENT_STATEMENTS)))
    }
}

/// Cancels the statement when nobody waits for it any more.
struct CancelOnDrop(CancelToken);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// A statement with what its thread needs.
struct Statement {
    held: Arc<EmbeddedDatabase>,
    text: String,
    params: Bindings,
    limits: QueryLimits,
    cancel: CancelToken,
    /// Held until the thread has ended, however long that takes after the statement was given up.
    _permit: OwnedSemaphorePermit,
}

pub(super) async fn run(
    gate: &StatementSemaphore,
    held: Arc<EmbeddedDatabase>,
    text: String,
    params: Bindings,
    limits: QueryLimits,
) -> Result<ResultRows, QueryError> {
    let work = async {
        let permit = Arc::clone(&gate.0).acquire_owned().await;
        let permit = permit.map_err(|_closed| gone())?;
        let cancel = CancelToken::new();
        let _ends = CancelOnDrop(cancel.clone());
        let (answer, answered) = oneshot::channel();
        let statement = Statement {
            held,
            text,
            params,
            limits,
            cancel,
            _permit: permit,
        };
        thread("graph-query", move || {
            // After the time limit, nobody waits any more.
            let _ = answer.send(execute(&statement));
        })?;
        answered.await.map_err(|_| gone())?
    };
    match timeout(limits.time, work).await {
        Ok(result) => result,
        Err(_elapsed) => Err(QueryError::TimedOut { limit: limits.time }),
    }
}

fn gone() -> StoreError {
    StoreError::Refused {
        message: "the thread of a query ended early".to_owned(),
        transient: true,
    }
}

fn execute(statement: &Statement) -> Result<ResultRows, QueryError> {
    let Statement {
        held,
        text,
        params,
        limits,
        cancel,
        _permit: _,
    } = statement;
    let mut options = ExecuteOptions::eager(params).with_hidden_structural_keys(true);
    options.set_timeout_ms(u64::try_from(limits.time.as_millis()).ok());
    options.max_work_units = Some(WORK);
    // One more than is kept shows that there are more.
    options.row_limit = Some(limits.rows.saturating_add(1));
    options.cancel = Some(cancel.clone());
    let mut failure = None;
    let outcome = quietly(|| {
        let snapshot = held.session.snapshot();
        execute_read(&snapshot, text, &options).map_err(|error| {
            failure = Some(of_error(&error, text, *limits));
            refusal(&error)
        })
    });
    let CypherResult { columns, rows, .. } = match outcome {
        Ok(outcome) => outcome.result,
        Err(error) => return Err(failure.unwrap_or(QueryError::Store(error))),
    };
    let mut kept = ResultRows::within(*limits, columns);
    for values in &rows {
        let row = values.iter().map(|value| shown(from_native(value), &strip));
        match kept.push(row.collect())? {
            ControlFlow::Continue(()) => {}
            ControlFlow::Break(()) => break,
        }
    }
    Ok(kept)
}

/// Separates errors that a model can repair from others.
fn of_error(error: &KgError, statement: &str, limits: QueryLimits) -> QueryError {
    let message = error.to_string();
    match error.code() {
        KgErrorCode::CypherExecution
            if message.contains("max_work_units") || message.contains("safety limit") =>
        {
            QueryError::TooBig
        }
        KgErrorCode::CypherSyntax
        | KgErrorCode::CypherExecution
        | KgErrorCode::CypherTypeMismatch
        | KgErrorCode::Schema
        | KgErrorCode::Validation
        | KgErrorCode::Expr
        | KgErrorCode::NodeNotFound
        | KgErrorCode::ConnectionNotFound
        | KgErrorCode::PropertyNotFound
        | KgErrorCode::MissingArgument => {
            QueryError::complaint(&message, position(&message), statement)
        }
        KgErrorCode::InvalidArgument | KgErrorCode::ReadOnly => {
            if message.contains("mutation") {
                QueryError::Repairable {
                    message: "only a statement that reads is run".to_owned(),
                    at: None,
                }
            } else {
                QueryError::complaint(&message, position(&message), statement)
            }
        }
        KgErrorCode::CypherTimeout | KgErrorCode::Cancelled => {
            QueryError::TimedOut { limit: limits.time }
        }
        KgErrorCode::LoadMemoryLimit | KgErrorCode::WriteBudgetExceeded => QueryError::TooBig,
        KgErrorCode::ConstraintViolation
        | KgErrorCode::ConstraintCreationFailed
        | KgErrorCode::OntologyViolation
        | KgErrorCode::TransactionConflict
        | KgErrorCode::DurabilityFailed
        | KgErrorCode::WriterLeaseHeld
        | KgErrorCode::NotDurable
        | KgErrorCode::FileNotFound
        | KgErrorCode::FileFormat
        | KgErrorCode::FileIo
        | KgErrorCode::Internal => QueryError::Store(refusal(error)),
    }
}
