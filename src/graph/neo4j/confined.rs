//! Runs a confined statement: explained first, in a read transaction, and no longer than it may.

use std::ops::ControlFlow;
use std::time::Duration;

use neo4rs::summary::Type;
use neo4rs::{Error, Neo4jClientErrorKind, Neo4jErrorKind, Query};
use serde_json::Value;
use tokio::time::timeout;

use super::columns::{in_order, named};
use super::values::{bolt, from_bolt};
use super::{Neo4j, READ_RECONNECTS};
use crate::graph::StoreError;
use crate::graph::engine::Params;
use crate::graph::query::{QueryError, QueryLimits, Rows, position, shown};

/// Before the statement, so that the server says what kind it is and runs nothing.
const EXPLAIN: &str = "EXPLAIN ";

/// How long to wait until the server has given up the rows that are not wanted any more.
const LET_GO: Duration = Duration::from_secs(2);

pub(super) async fn run(
    engine: &Neo4j,
    statement: &str,
    params: &Params,
    limits: QueryLimits,
) -> Result<Rows, QueryError> {
    let query = |text: String| query(text, params, limits.time);
    let work = async {
        let mut reconnects = READ_RECONNECTS;
        loop {
            match explain(engine, statement, query(format!("{EXPLAIN}{statement}"))?).await {
                Ok(()) => break,
                // A connection that was closed while it lay in the pool is found out by using it.
                Err(QueryError::Store(StoreError::Unreachable { .. })) if reconnects > 0 => {
                    reconnects -= 1;
                }
                Err(error) => return Err(error),
            }
        }
        collect(engine, statement, query(statement.to_owned())?, limits).await
    };
    match timeout(limits.time, work).await {
        Ok(Ok(rows)) => Ok(rows),
        // The server's clock or ours: the limit was the same.
        Ok(Err(QueryError::TimedOut { limit: _ })) | Err(_) => {
            Err(QueryError::TimedOut { limit: limits.time })
        }
        Ok(Err(error)) => Err(error),
    }
}

fn query(text: String, params: &Params, time: Duration) -> Result<Query, QueryError> {
    let server_timeout = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
    let mut query = Query::new(text).extra("tx_timeout", server_timeout);
    for (name, value) in params {
        query = query.param(name, bolt(value)?);
    }
    Ok(query)
}

/// Refuses what does more than read. Only a second look: what read mode and the type of a
/// statement let through is the confiner's business.
async fn explain(engine: &Neo4j, statement: &str, query: Query) -> Result<(), QueryError> {
    let failed = |error| of_error(engine, statement, error, EXPLAIN.len());
    let stream = engine.graph.execute_read(query).await.map_err(failed)?;
    match stream.finish().await.map_err(failed)?.query_type() {
        Type::Read => Ok(()),
        Type::Write | Type::ReadWrite | Type::SchemaOnly | Type::Unknown => {
            Err(QueryError::Repairable {
                message: "only a statement that reads is run".to_owned(),
                at: None,
            })
        }
    }
}

async fn collect(
    engine: &Neo4j,
    statement: &str,
    query: Query,
    limits: QueryLimits,
) -> Result<Rows, QueryError> {
    let failed = |error| of_error(engine, statement, error, 0);
    let mut stream = engine.graph.execute_read(query).await.map_err(failed)?;
    let mut rows = Rows::within(limits, named(statement));
    let pushed = loop {
        let Some(row) = stream.next().await.map_err(failed)? else {
            return Ok(rows);
        };
        if rows.rows.is_empty() {
            let keys = row.keys().iter().map(|key| key.value.clone()).collect();
            rows.columns = in_order(statement, keys);
        }
        let values: Vec<Value> = rows
            .columns
            .iter()
            .map(|column| {
                let value = row.get::<neo4rs::BoltType>(column);
                shown(value.map_or(Value::Null, from_bolt), &|_node| {})
            })
            .collect();
        match rows.push(values) {
            Ok(ControlFlow::Continue(())) => {}
            Ok(ControlFlow::Break(())) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    // Without this the server would go on until the connection is used again.
    if timeout(LET_GO, stream.finish()).await.is_err() {
        tracing::debug!("the server was slow to give up the rest of a result");
    }
    pushed.map(|()| rows)
}

/// Tells what a model can mend from what it cannot. `prefix` characters were before the
/// statement.
fn of_error(engine: &Neo4j, statement: &str, error: Error, prefix: usize) -> QueryError {
    let Error::Neo4j(failure) = &error else {
        return engine.error(error).into();
    };
    let (code, message) = (failure.code(), failure.message());
    let is_about = |words: &[&str]| words.iter().any(|word| code.contains(word));
    if is_about(&["OutOfMemory", "MemoryLimit", "StackOverFlow"]) {
        return QueryError::TooBig;
    }
    match failure.kind() {
        Neo4jErrorKind::Client(
            Neo4jClientErrorKind::TransactionTerminated
            | Neo4jClientErrorKind::Other
            | Neo4jClientErrorKind::Unknown
            | Neo4jClientErrorKind::ProtocolViolation,
        )
        | Neo4jErrorKind::Database
        | Neo4jErrorKind::Transient
        | Neo4jErrorKind::Unknown
            if is_about(&["TransactionTimedOut", ".Terminated", "LockClientStopped"]) =>
        {
            QueryError::TimedOut {
                limit: engine.timeout,
            }
        }
        Neo4jErrorKind::Client(_) | Neo4jErrorKind::Database
            if is_about(&[".Statement.", ".Procedure.", "InvalidArguments"]) =>
        {
            let at = position(message).map(|(line, column)| match line {
                1 => (1, column.saturating_sub(prefix).max(1)),
                line => (line, column),
            });
            QueryError::complaint(message, at, statement)
        }
        Neo4jErrorKind::Client(_)
        | Neo4jErrorKind::Database
        | Neo4jErrorKind::Transient
        | Neo4jErrorKind::Unknown => engine.error(error).into(),
    }
}
