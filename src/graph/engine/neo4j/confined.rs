//! Runs a confined statement: its plan is explained and verified first; then it runs in a read
//! transaction, within its time limit.

use std::ops::ControlFlow;
use std::time::Duration;

use neo4rs::summary::Type;
use neo4rs::{Error, Neo4jClientErrorKind, Neo4jErrorKind, Query};
use serde_json::Value;
use tokio::time::timeout;

use super::client::{Neo4j, READ_RECONNECTS};
use super::columns::{in_order, named};
use super::details::Names;
use super::plan::{self, Unproved};
use super::values::{bolt, from_bolt};
use crate::graph::StoreError;
use crate::graph::confine::ConfinedCypher;
use crate::graph::engine::Params;
use crate::graph::query::{QueryError, QueryLimits, ResultRows, position, shown};

/// Put before the statement, so that the server describes it without running it.
const EXPLAIN: &str = "EXPLAIN ";

/// How long to wait until the server has dropped the rows that are not needed any more.
const DISCARD_TIMEOUT: Duration = Duration::from_secs(2);

/// Maximum number of additional hints tried.
const HINTS: usize = 4;

pub(super) async fn run(
    engine: &Neo4j,
    cypher: &ConfinedCypher,
    params: &Params,
    limits: QueryLimits,
) -> Result<ResultRows, QueryError> {
    let statement = cypher.as_str();
    let query = |text: String| query(text, params, limits.time);
    let work = async {
        let runs = match engine.proved.get(statement) {
            Some(runs) => runs,
            None => {
                let runs = proved(engine, cypher, &query).await?;
                engine.proved.add(statement, &runs);
                runs
            }
        };
        collect(engine, statement, query(runs)?, limits).await
    };
    match timeout(limits.time, work).await {
        Ok(Ok(rows)) => Ok(rows),
        // The server's time limit and ours are the same.
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

/// Returns the statement, or a version of it with hints, whose plan begins at the knowledge. If a
/// node may have one of many labels, the server tends to scan all nodes; a hint prevents that.
async fn proved(
    engine: &Neo4j,
    cypher: &ConfinedCypher,
    query: &impl Fn(String) -> Result<Query, QueryError>,
) -> Result<String, QueryError> {
    let mut reconnects = READ_RECONNECTS;
    let mut scanned = Vec::new();
    loop {
        let runs = cypher.hinted(&scanned);
        match explain(engine, cypher, query(format!("{EXPLAIN}{runs}"))?).await {
            Ok(Ok(())) => return Ok(runs),
            Ok(Err(unproved)) => match unproved.scanned {
                Some(variable) if scanned.len() < HINTS && !scanned.contains(&variable) => {
                    scanned.push(variable);
                }
                Some(_) | None => return Err(refused(unproved.message)),
            },
            // A pooled connection that was closed is noticed only when it is used.
            Err(QueryError::Store(StoreError::Unreachable { .. })) if reconnects > 0 => {
                reconnects -= 1;
            }
            Err(error) => return Err(error),
        }
    }
}

fn refused(message: String) -> QueryError {
    QueryError::Repairable { message, at: None }
}

/// Refuses a statement that does more than read, and returns whether it begins at the knowledge.
async fn explain(
    engine: &Neo4j,
    cypher: &ConfinedCypher,
    query: Query,
) -> Result<Result<(), Unproved>, QueryError> {
    let failed = |error| of_error(engine, cypher.as_str(), error, EXPLAIN.len());
    let stream = engine.reading().execute_read(query).await.map_err(failed)?;
    let summary = stream.finish().await.map_err(failed)?;
    match summary.query_type() {
        Type::Read => Ok(plan::prove(&summary, &Names::of(cypher))),
        Type::Write | Type::ReadWrite | Type::SchemaOnly | Type::Unknown => {
            Err(refused("only a statement that reads is run".to_owned()))
        }
    }
}

async fn collect(
    engine: &Neo4j,
    statement: &str,
    query: Query,
    limits: QueryLimits,
) -> Result<ResultRows, QueryError> {
    let failed = |error| of_error(engine, statement, error, 0);
    let mut stream = engine.reading().execute_read(query).await.map_err(failed)?;
    let mut rows = ResultRows::within(limits, named(statement));
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
    // Without this, the server would continue until the connection is used again.
    if timeout(DISCARD_TIMEOUT, stream.finish()).await.is_err() {
        tracing::debug!("the server was slow to give up the rest of a result");
    }
    pushed.map(|()| rows)
}

/// Separates errors that a model can repair from others. `prefix` characters precede the statement.
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
