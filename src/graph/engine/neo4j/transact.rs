//! Several statements in one transaction.

use std::time::Duration;

use neo4rs::{Query, Txn};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

use super::client::{Neo4j, json_row};
use super::values::bolt;
use crate::graph::StoreError;
use crate::graph::engine::{Params, TransactionStep, abandoned};
use crate::graph::store::record::integer;

/// Runs the statements received and commits them. The driver has no time-out for such a
/// transaction, so every wait has one here.
pub(super) async fn run(
    engine: &Neo4j,
    steps: mpsc::Receiver<TransactionStep>,
    limit: Duration,
) -> Result<Vec<i64>, StoreError> {
    let until = TransactionDeadline {
        at: Instant::now() + limit,
        limit,
    };
    let failed = |error| engine.error(error);
    let mut transaction = until
        .wait(engine.graph.start_txn())
        .await?
        .map_err(failed)?;
    match feed(engine, &mut transaction, steps, until).await {
        Ok(times) => {
            until.wait(transaction.commit()).await?.map_err(failed)?;
            Ok(times)
        }
        Err(error) => {
            // If this fails too, the server ends the transaction with the connection.
            let _ = timeout_at(Instant::now() + ROLLBACK_TIMEOUT, transaction.rollback()).await;
            Err(error)
        }
    }
}

/// How long to wait until the server has rolled back.
const ROLLBACK_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Clone, Copy)]
struct TransactionDeadline {
    at: Instant,
    limit: Duration,
}

impl TransactionDeadline {
    async fn wait<T>(self, work: impl Future<Output = T>) -> Result<T, StoreError> {
        let late = |_elapsed| StoreError::Refused {
            message: format!("a transaction took longer than {} s", self.limit.as_secs()),
            transient: true,
        };
        timeout_at(self.at, work).await.map_err(late)
    }
}

async fn feed(
    engine: &Neo4j,
    transaction: &mut Txn,
    mut steps: mpsc::Receiver<TransactionStep>,
    until: TransactionDeadline,
) -> Result<Vec<i64>, StoreError> {
    let mut times = Vec::new();
    loop {
        let (statement, params) = match until.wait(steps.recv()).await? {
            Some(TransactionStep::Run(statement, params)) => (statement, params),
            Some(TransactionStep::Commit) => return Ok(times),
            None => return Err(abandoned()),
        };
        let query = query(statement, &params)?;
        let work = async {
            let mut rows = transaction.execute(query).await?;
            let mut first = None;
            while let Some(row) = rows.next(transaction.handle()).await? {
                first.get_or_insert_with(|| integer(&json_row(&row), "times"));
            }
            Ok(first.unwrap_or_default())
        };
        let ran: Result<i64, neo4rs::Error> = until.wait(work).await?;
        times.push(ran.map_err(|error| engine.error(error))?);
    }
}

fn query(statement: String, params: &Params) -> Result<Query, StoreError> {
    let mut query = Query::new(statement);
    for (name, value) in params {
        query = query.param(name, bolt(value)?);
    }
    Ok(query)
}
