//! An engine whose calls are timed: the one place that measures the graph, for metrics and traces.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use serde_json::Value;
use tokio::sync::mpsc;

use super::StoreError;
use super::confine::ConfinedCypher;
use super::engine::{Engine, Intent, Params, Purge, Row, Step};
use super::query::{QueryError, QueryLimits, Rows};
use super::reading::Reading;
use super::transfer::{GraphNode, GraphRelationship};

/// Records how long each call takes, by its kind, in `muninn_graph_seconds`.
#[derive(Debug)]
pub(crate) struct Timed<E>(pub(crate) E);

async fn timed<T, F>(
    call: &'static str,
    what: impl Future<Output = Result<T, F>> + Send,
) -> Result<T, F> {
    let began = Instant::now();
    let done = what.await;
    let took = began.elapsed();
    metrics::histogram!("muninn_graph_seconds", "call" => call).record(took);
    tracing::trace!(call, ?took, failed = done.is_err(), "the graph was asked");
    done
}

#[async_trait]
impl<E: Engine> Engine for Timed<E> {
    async fn read(&self, statement: &str, params: Params) -> Result<Vec<Row>, StoreError> {
        timed("read", self.0.read(statement, params)).await
    }

    async fn write(&self, statement: &str, params: Params) -> Result<Vec<Row>, StoreError> {
        timed("write", self.0.write(statement, params)).await
    }

    async fn transact(
        &self,
        steps: mpsc::Receiver<Step>,
        limit: Duration,
    ) -> Result<Vec<i64>, StoreError> {
        timed("transact", self.0.transact(steps, limit)).await
    }

    async fn stream(&self, statement: &str, rows: mpsc::Sender<Row>) -> Result<(), StoreError> {
        timed("stream", self.0.stream(statement, rows)).await
    }

    async fn confined(
        &self,
        cypher: &ConfinedCypher,
        params: Params,
        limits: QueryLimits,
    ) -> Result<Rows, QueryError> {
        timed("generated", self.0.confined(cypher, params, limits)).await
    }

    async fn create_nodes(&self, nodes: Vec<GraphNode>) -> Result<Vec<String>, StoreError> {
        timed("import", self.0.create_nodes(nodes)).await
    }

    async fn create_relationships(
        &self,
        relationships: Vec<GraphRelationship>,
    ) -> Result<(), StoreError> {
        timed("import", self.0.create_relationships(relationships)).await
    }

    async fn purge(&self, what: Purge) -> Result<(), StoreError> {
        timed("purge", self.0.purge(what)).await
    }

    async fn version(&self) -> Result<String, StoreError> {
        self.0.version().await
    }

    async fn reading(&self) -> Result<Option<Reading>, StoreError> {
        self.0.reading().await
    }

    async fn close(&self) -> Result<(), StoreError> {
        self.0.close().await
    }

    fn knowledge_indexes(&self, dimension: usize) -> Vec<(String, String)> {
        self.0.knowledge_indexes(dimension)
    }

    fn is_shared(&self) -> bool {
        self.0.is_shared()
    }

    fn relabels(&self) -> bool {
        self.0.relabels()
    }

    fn unsupported_features(&self) -> &'static [&'static str] {
        self.0.unsupported_features()
    }

    fn embedding(&self, vector: &[f32]) -> Value {
        self.0.embedding(vector)
    }

    fn constraints(&self) -> &'static [(&'static str, &'static str)] {
        self.0.constraints()
    }

    fn strip(&self, node: &mut GraphNode) {
        self.0.strip(node);
    }

    fn prepare(&self, node: &mut GraphNode) {
        self.0.prepare(node);
    }

    fn plans_dearly(&self) -> bool {
        self.0.plans_dearly()
    }

    fn warnings(&self) -> Vec<String> {
        self.0.warnings()
    }

    fn intend(&self, intent: &Value) -> Result<Option<Intent>, StoreError> {
        self.0.intend(intent)
    }

    fn intents(&self) -> Result<Vec<(Intent, Value)>, StoreError> {
        self.0.intents()
    }
}
