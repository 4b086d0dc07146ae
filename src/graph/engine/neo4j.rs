//! The engine for Neo4j 5.26 and later: one server, a cluster (`neo4j://`) or Aura.
//!
//! It works around the driver: it waits forever for a peer that accepts a connection and sends
//! nothing, so every call has its own time-out. `run` repeats failures of its result for a minute,
//! so everything goes through `execute` and is drained to the end. Deadlocks arrive with the
//! result, where the driver does not retry them.

mod client;
mod columns;
mod confined;
mod debugged;
mod details;
mod indexes;
mod plan;
mod proved;
mod reading;
mod transact;
#[cfg(test)]
mod turn_plans;
mod values;

use std::time::Duration;

use async_trait::async_trait;
use neo4rs::Operation;
use serde_json::Value;
use tokio::sync::mpsc;

use super::indexes::Index;
use super::{
    About, DeletionIntent, Dialect, Engine, Params, Purge, Row, StreamedRead, TransactionStep,
};
use crate::graph::StoreError;
use crate::graph::confine::ConfinedCypher;
use crate::graph::query::{QueryError, QueryLimits, ResultRows};
use crate::graph::store::record::listed;

pub(crate) use self::client::Neo4j;

/// Lookups of processes that share the graph, in addition to those of every engine.
const INDEXES: &[Index] = &[
    Index::unique("schema_id", "MuninnSchema", "n.id"),
    Index::unique("claim_event", "MuninnClaim", "n.event"),
    Index::unique("forgotten_id", "MuninnForgotten", "n.id"),
    Index::plain("forgotten_session", "MuninnForgotten", "n.session"),
    Index::plain("forgotten_deleted", "MuninnForgotten", "n.deletedAt"),
    Index::unique("pending_id", "Pending", "n.id"),
    Index::plain("pending_event", "Pending", "n.eventId"),
    Index::unique("process_holder", "MuninnProcess", "n.holder"),
    Index::plain("response_embedder", "Response", "n.embedder"),
    // An index of two properties serves only what names both: without these, each question about a channel, a person or a
    // time reads every turn of the graph.
    Index::plain("response_audience", "Response", "n.audience"),
    Index::plain("response_author", "Response", "n.author"),
    Index::plain("response_created", "Response", "n.createdAt"),
    Index::plain("held_id", "MuninnHeld", "n.id"),
    Index::plain("held_audience", "MuninnHeld", "n.audience"),
];

static DIALECT: Dialect = Dialect {
    is_shared: true,
    relabels: true,
    has_expensive_planning: true,
    unsupported_features: &[],
    indexes: INDEXES,
    knowledge_indexes: indexes::OF_KNOWLEDGE,
    embedding: listed,
    strip: |_node| {},
    prepare: |_node| {},
};

#[async_trait]
impl Engine for Neo4j {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    async fn read(&self, statement: &str, params: Params) -> Result<Vec<Row>, StoreError> {
        self.run(Operation::Read, statement, &params).await
    }

    async fn write(&self, statement: &str, params: Params) -> Result<Vec<Row>, StoreError> {
        self.run(Operation::Write, statement, &params).await
    }

    async fn transact(
        &self,
        steps: mpsc::Receiver<TransactionStep>,
        limit: Duration,
    ) -> Result<Vec<i64>, StoreError> {
        transact::run(self, steps, limit).await
    }

    async fn stream(&self, reads: Vec<StreamedRead>) -> Result<(), StoreError> {
        for read in reads {
            self.stream_one(read).await?;
        }
        Ok(())
    }

    async fn confined(
        &self,
        cypher: &ConfinedCypher,
        params: Params,
        limits: QueryLimits,
    ) -> Result<ResultRows, QueryError> {
        confined::run(self, cypher, &params, limits).await
    }

    async fn about(&self) -> Result<About, StoreError> {
        let (version, edition) = self.components().await?;
        Ok(About {
            engine: format!("Neo4j {version} {edition}").trim_end().to_owned(),
            reading: Some(reading::try_out(self, edition).await?),
            file_bytes: None,
            warnings: Vec::new(),
        })
    }

    fn record_intent(&self, _intent: &Value) -> Result<Option<DeletionIntent>, StoreError> {
        Ok(None)
    }

    fn intents(&self) -> Result<Vec<(DeletionIntent, Value)>, StoreError> {
        Ok(Vec::new())
    }

    async fn purge(&self, _what: Purge) -> Result<(), StoreError> {
        // The server manages its own files and logs.
        Ok(())
    }

    async fn close(&self) -> Result<(), StoreError> {
        // Connections close with the last handle. Every write was drained, so none is running.
        Ok(())
    }
}
