//! Graphs for the unit tests of this crate.

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
    GraphStore::over(Failing(error))
}

/// Writes what the program itself never writes.
pub(crate) async fn write(store: &GraphStore, statement: &str) -> Result<(), StoreError> {
    store.engine.write(statement, Params::new()).await.map(drop)
}

pub(crate) static DIALECT: Dialect = Dialect {
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

#[derive(Debug)]
struct Failing(fn() -> StoreError);

#[async_trait]
impl Engine for Failing {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    async fn read(&self, _: &str, _: Params) -> Result<Vec<Row>, StoreError> {
        Err(self.0())
    }

    async fn write(&self, _: &str, _: Params) -> Result<Vec<Row>, StoreError> {
        Err(self.0())
    }

    async fn transact(
        &self,
        _: mpsc::Receiver<TransactionStep>,
        _: Duration,
    ) -> Result<Vec<i64>, StoreError> {
        Err(self.0())
    }

    async fn stream(&self, _: Vec<StreamedRead>) -> Result<(), StoreError> {
        Err(self.0())
    }

    async fn confined(
        &self,
        _: &ConfinedCypher,
        _: Params,
        _: QueryLimits,
    ) -> Result<ResultRows, QueryError> {
        Err(self.0().into())
    }

    async fn about(&self) -> Result<About, StoreError> {
        Err(self.0())
    }

    fn record_intent(&self, _: &Value) -> Result<Option<DeletionIntent>, StoreError> {
        Ok(None)
    }

    fn intents(&self) -> Result<Vec<(DeletionIntent, Value)>, StoreError> {
        Ok(Vec::new())
    }

    async fn purge(&self, _: Purge) -> Result<(), StoreError> {
        Ok(())
    }

    async fn close(&self) -> Result<(), StoreError> {
        Ok(())
    }
}
