//! The interface of an engine for [`super::store::GraphStore`]: it runs Cypher. There are two, the embedded
//! one and Neo4j.
//!
//! Values are JSON in both directions; types that JSON lacks are tagged (see [`self::value`]).

pub(in crate::graph) mod batches;
pub(in crate::graph) mod embedded;
pub(in crate::graph) mod indexes;
#[cfg(feature = "neo4j")]
pub(in crate::graph) mod neo4j;
pub(in crate::graph) mod streaming;
pub(in crate::graph) mod timed;
pub(crate) mod value;

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value};
use tokio::sync::mpsc;

use self::indexes::Index;
use super::StoreError;
use super::confine::ConfinedCypher;
use super::query::{QueryError, QueryLimits, ResultRows};
use super::types::graph_node::GraphNode;
use super::types::reading::ReadAccessReport;

/// Parameters of a statement.
pub(crate) type Params = Map<String, Value>;

/// One row of a result, by column.
pub(crate) type Row = Map<String, Value>;

/// A step of a transaction with several statements.
#[derive(Debug)]
pub(crate) enum TransactionStep {
    Run(String, Params),
    /// All statements were sent. A sender that is dropped without it has failed.
    Commit,
}

impl TransactionStep {
    /// A transaction of statements that are all there.
    pub(crate) fn all(statements: Vec<(impl Into<String>, Params)>) -> mpsc::Receiver<Self> {
        let (sender, steps) = mpsc::channel(statements.len() + 1);
        let statements = statements.into_iter();
        let runs = statements.map(|(statement, bound)| Self::Run(statement.into(), bound));
        for step in runs.chain([Self::Commit]) {
            // The channel has room for all of them.
            let _ = sender.try_send(step);
        }
        steps
    }
}

/// A read-only statement, and who receives its rows.
#[derive(Debug)]
pub(crate) struct StreamedRead {
    pub(crate) statement: String,
    pub(crate) params: Params,
    pub(crate) rows: mpsc::Sender<Row>,
}

impl StreamedRead {
    pub(crate) fn new(
        statement: impl Into<String>,
        params: Params,
        rows: mpsc::Sender<Row>,
    ) -> Self {
        let statement = statement.into();
        Self {
            statement,
            params,
            rows,
        }
    }
}

/// A graph that runs the statements of [`super::store::statements`].
#[async_trait]
pub(crate) trait Engine: fmt::Debug + Send + Sync + 'static {
    /// How it differs from the other engine.
    fn dialect(&self) -> &'static Dialect;

    /// Runs a statement that writes nothing, in one round trip.
    async fn read(&self, statement: &str, params: Params) -> Result<Vec<Row>, StoreError>;

    /// The same for a statement that may take long. In an engine that reads one after the other it is ended after `limit`,
    /// so that nobody waits longer for it; a server has its own time-outs.
    async fn read_within(
        &self,
        statement: &str,
        params: Params,
        _limit: Duration,
    ) -> Result<Vec<Row>, StoreError> {
        self.read(statement, params).await
    }

    /// Runs a statement as one transaction, in one round trip; it is durable when this returns.
    async fn write(&self, statement: &str, params: Params) -> Result<Vec<Row>, StoreError>;

    /// Runs the statements received in one transaction, until [`TransactionStep::Commit`]; without that nothing
    /// is written. Returns the first column `times` of each, in order.
    async fn transact(
        &self,
        steps: mpsc::Receiver<TransactionStep>,
        limit: Duration,
    ) -> Result<Vec<i64>, StoreError>;

    /// Runs read-only statements one after the other, and sends their rows as they come. The embedded
    /// engine reads all of them from one snapshot; on a server each sees what is committed when it
    /// runs. Ends a statement early when nobody receives its rows any more.
    async fn stream(&self, reads: Vec<StreamedRead>) -> Result<(), StoreError>;

    /// Runs a confined statement within its limits; returns values in the form in which they are
    /// shown.
    async fn confined(
        &self,
        cypher: &ConfinedCypher,
        params: Params,
        limits: QueryLimits,
    ) -> Result<ResultRows, QueryError>;

    /// Describes the engine and its state.
    async fn about(&self) -> Result<About, StoreError>;

    /// Records outside the graph what is about to be deleted and purged, so that the next start can
    /// finish it. `None` if a deletion is atomic in this engine.
    fn record_intent(&self, intent: &Value) -> Result<Option<DeletionIntent>, StoreError>;

    /// Intents that were not finished.
    fn intents(&self) -> Result<Vec<(DeletionIntent, Value)>, StoreError>;

    /// Purges deleted data from every file of the engine that may still contain it.
    async fn purge(&self, what: Purge) -> Result<(), StoreError>;

    async fn close(&self) -> Result<(), StoreError>;
}

/// The differences between the engines, known without asking them.
#[derive(Debug)]
pub(crate) struct Dialect {
    /// Whether several processes may have the graph open.
    pub(crate) is_shared: bool,
    /// Whether a node's labels can be replaced.
    pub(crate) relabels: bool,
    /// Whether the first run of a statement is far more expensive than later ones, so that a separate
    /// statement for each of many names is not worthwhile.
    pub(crate) has_expensive_planning: bool,
    /// Unsupported features of Cypher, as sentences for a model that writes it.
    pub(crate) unsupported_features: &'static [&'static str],
    /// The indexes on memory that only this engine needs.
    pub(crate) indexes: &'static [Index],
    /// The indexes on ingested knowledge, created at the first ingest.
    pub(crate) knowledge_indexes: &'static [Index],
    /// The representation of a vector in this engine.
    pub(crate) embedding: fn(&[f32]) -> Value,
    /// Removes from a node what the engine added to it.
    pub(crate) strip: fn(&mut GraphNode),
    /// Adds to a node what the engine needs: what `strip` removes.
    pub(crate) prepare: fn(&mut GraphNode),
}

/// What an engine reports about itself.
#[derive(Debug)]
pub(crate) struct About {
    /// Engine and version, in the usual spelling.
    pub(crate) engine: String,
    /// The user of confined statements, and what that user can do, tried out. `None` if the engine
    /// has no users.
    pub(crate) reading: Option<ReadAccessReport>,
    /// Size of the files of a graph that is held in memory, in bytes. `None` for a server's.
    pub(crate) file_bytes: Option<u64>,
    /// What the operator should know.
    pub(crate) warnings: Vec<String>,
}

/// How much is purged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purge {
    /// Data that was replaced by something newer.
    Replaced,
    /// Data that somebody wants forgotten, including a damaged log that was set aside and cannot be
    /// searched.
    Forgotten,
}

/// A file that records what is to be deleted, until it is deleted. Later ones are greater.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DeletionIntent(pub(super) std::path::PathBuf);

/// The error of a transaction whose sender was dropped before the commit.
pub(crate) fn abandoned() -> StoreError {
    StoreError::Refused {
        message: "the transaction was given up before its end".to_owned(),
        transient: false,
    }
}

/// A label, relationship type or property name in backticks, for the few places where Cypher allows
/// no parameter. Refuses anything that an engine could read as more than a name.
pub(crate) fn quote_identifier(identifier: &str) -> Result<String, StoreError> {
    // Neo4j resolves \u0060 to a live backtick anywhere in a statement, so no backslash either.
    let is_safe = !identifier.is_empty()
        && identifier.len() <= 1_000
        && !identifier
            .chars()
            .any(|c| c == '`' || c == '\\' || c.is_control());
    if is_safe {
        Ok(format!("`{identifier}`"))
    } else {
        Err(StoreError::Unexpected(format!(
            "{identifier:?} cannot be a label, relationship type or property name here"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_and_tricks_refused() {
        assert_eq!(quote_identifier("We ird ☃").unwrap(), "`We ird ☃`");
        for bad in ["", "a`b", r"a\u0060b", "a\0b", "a\nb"] {
            assert!(quote_identifier(bad).is_err(), "{bad:?}");
        }
    }
}
