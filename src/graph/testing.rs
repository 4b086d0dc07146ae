//! Graphs for the unit tests of this crate.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use tokio::sync::mpsc;

use super::confine::ConfinedCypher;
use super::engine::{
    About, DeletionIntent, Dialect, Engine, Params, Purge, Row, StreamedRead, TransactionStep,
};
use super::query::{QueryError, QueryLimits, ResultRows};
use super::store::GraphStore;
use super::types::error::StoreError;

/// A graph that several processes share, and that fails with this error whatever it is asked.
pub(crate) fn failing_store(error: fn() -> StoreError) -> GraphStore {
    fake_store(Failing(error))
}

/// A graph that several processes share, and that does what the test says.
pub(crate) fn fake_store(graph: impl FakeGraph) -> GraphStore {
    GraphStore::over(Fake(graph))
}

/// Writes what the program itself never writes.
pub(crate) async fn write(store: &GraphStore, statement: &str) -> Result<(), StoreError> {
    store.engine.write(statement, Params::new()).await.map(drop)
}

static DIALECT: Dialect = Dialect {
    is_shared: true,
    relabels: true,
    has_expensive_planning: false,
    unsupported_features: &[],
    indexes: &[],
    knowledge_indexes: &[],
    embedding: |_| Value::Null,
    strip: |_| {},
    prepare: |_| {},
};

/// What a graph of a unit test does. By default it holds nothing, and takes everything.
#[async_trait]
pub(crate) trait FakeGraph: fmt::Debug + Send + Sync + 'static {
    /// What it fails with, whatever it is asked.
    fn error(&self) -> Option<StoreError> {
        None
    }

    async fn read(&self, _: &str, _: Params) -> Result<Vec<Row>, StoreError> {
        Ok(Vec::new())
    }

    async fn write(&self, _: &str, _: Params) -> Result<Vec<Row>, StoreError> {
        Ok(Vec::new())
    }

    async fn transact(
        &self,
        _: mpsc::Receiver<TransactionStep>,
        _: Duration,
    ) -> Result<Vec<i64>, StoreError> {
        Ok(Vec::new())
    }

    async fn purge(&self, _: Purge) -> Result<(), StoreError> {
        Ok(())
    }
}

#[derive(Debug)]
struct Failing(fn() -> StoreError);

impl FakeGraph for Failing {
    fn error(&self) -> Option<StoreError> {
        Some(self.0())
    }
}

#[derive(Debug)]
struct Fake<G>(G);

impl<G: FakeGraph> Fake<G> {
    fn answers(&self) -> Result<(), StoreError> {
        self.0.error().map_or(Ok(()), Err)
    }

    /// The error for what no test asks of it.
    fn unasked(&self) -> StoreError {
        let unexpected = || StoreError::Unexpected("no".to_owned());
        self.0.error().unwrap_or_else(unexpected)
    }
}

#[async_trait]
impl<G: FakeGraph> Engine for Fake<G> {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    async fn read(&self, statement: &str, params: Params) -> Result<Vec<Row>, StoreError> {
        self.answers()?;
        self.0.read(statement, params).await
    }

    async fn write(&self, statement: &str, params: Params) -> Result<Vec<Row>, StoreError> {
        self.answers()?;
        self.0.write(statement, params).await
    }

    async fn transact(
        &self,
        steps: mpsc::Receiver<TransactionStep>,
        limit: Duration,
    ) -> Result<Vec<i64>, StoreError> {
        self.answers()?;
        self.0.transact(steps, limit).await
    }

    async fn stream(&self, _: Vec<StreamedRead>) -> Result<(), StoreError> {
        self.answers()
    }

    async fn confined(
        &self,
        _: &ConfinedCypher,
        _: Params,
        _: QueryLimits,
    ) -> Result<ResultRows, QueryError> {
        Err(self.unasked().into())
    }

    async fn about(&self) -> Result<About, StoreError> {
        Err(self.unasked())
    }

    fn record_intent(&self, _: &Value) -> Result<Option<DeletionIntent>, StoreError> {
        Ok(None)
    }

    fn intents(&self) -> Result<Vec<(DeletionIntent, Value)>, StoreError> {
        Ok(Vec::new())
    }

    async fn purge(&self, what: Purge) -> Result<(), StoreError> {
        self.0.purge(what).await
    }

    async fn close(&self) -> Result<(), StoreError> {
        Ok(())
    }
}
