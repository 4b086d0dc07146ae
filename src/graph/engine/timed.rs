//! An engine wrapper that times every call: the one place that measures the graph, for metrics and traces.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use serde_json::Value;
use tokio::sync::mpsc;
use tracing::field::Empty;
use tracing::{Instrument as _, Span, info_span};

use super::{
    About, DeletionIntent, Dialect, Engine, Params, Purge, Row, StreamedRead, TransactionStep,
};
use crate::graph::StoreError;
use crate::graph::confine::ConfinedCypher;
use crate::graph::query::{QueryError, QueryLimits, ResultRows};

/// The target of the spans that are exported as traces.
pub const SPAN_TARGET: &str = "otel";

/// Records the duration of each call, by kind, in `muninn_graph_seconds`.
#[derive(Debug)]
pub(crate) struct Timed(pub(crate) Box<dyn Engine>);

/// The span of a call that is part of a turn. Background work, such as renewing claims, is in no trace.
fn span(call: &'static str) -> Span {
    let of_turn = Span::current();
    if of_turn.is_disabled()
        || of_turn
            .metadata()
            .is_none_or(|it| it.target() != SPAN_TARGET)
    {
        return Span::none();
    }
    info_span!(
        target: SPAN_TARGET, "graph",
        otel.name = format!("graph {call}"),
        otel.kind = "client",
        otel.status_code = Empty,
        db.operation.name = call,
    )
}

async fn timed<T, F>(
    call: &'static str,
    what: impl Future<Output = Result<T, F>> + Send,
) -> Result<T, F> {
    let began = Instant::now();
    let span = span(call);
    let done = what.instrument(span.clone()).await;
    if done.is_err() {
        span.record("otel.status_code", "ERROR");
    }
    let took = began.elapsed();
    metrics::histogram!("muninn_graph_seconds", "call" => call).record(took);
    tracing::trace!(call, ?took, failed = done.is_err(), "the graph was asked");
    done
}

#[async_trait]
impl Engine for Timed {
    fn dialect(&self) -> &'static Dialect {
        self.0.dialect()
    }

    async fn read(&self, statement: &str, params: Params) -> Result<Vec<Row>, StoreError> {
        timed("read", self.0.read(statement, params)).await
    }

    async fn read_within(
        &self,
        statement: &str,
        params: Params,
        limit: Duration,
    ) -> Result<Vec<Row>, StoreError> {
        timed("read", self.0.read_within(statement, params, limit)).await
    }

    async fn write(&self, statement: &str, params: Params) -> Result<Vec<Row>, StoreError> {
        timed("write", self.0.write(statement, params)).await
    }

    async fn transact(
        &self,
        steps: mpsc::Receiver<TransactionStep>,
        limit: Duration,
    ) -> Result<Vec<i64>, StoreError> {
        timed("transact", self.0.transact(steps, limit)).await
    }

    async fn stream(&self, reads: Vec<StreamedRead>) -> Result<(), StoreError> {
        timed("stream", self.0.stream(reads)).await
    }

    async fn confined(
        &self,
        cypher: &ConfinedCypher,
        params: Params,
        limits: QueryLimits,
    ) -> Result<ResultRows, QueryError> {
        timed("generated", self.0.confined(cypher, params, limits)).await
    }

    async fn about(&self) -> Result<About, StoreError> {
        timed("about", self.0.about()).await
    }

    fn record_intent(&self, intent: &Value) -> Result<Option<DeletionIntent>, StoreError> {
        self.0.record_intent(intent)
    }

    fn intents(&self) -> Result<Vec<(DeletionIntent, Value)>, StoreError> {
        self.0.intents()
    }

    async fn purge(&self, what: Purge) -> Result<(), StoreError> {
        timed("purge", self.0.purge(what)).await
    }

    async fn close(&self) -> Result<(), StoreError> {
        self.0.close().await
    }
}
