//! What an engine has to do for [`super::GraphStore`]: run Cypher. There are two, embedded and Neo4j.
//!
//! Values are JSON in both directions; what JSON has no word for is tagged (see [`super::value`]).

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value};
use tokio::sync::mpsc;

use super::StoreError;
use super::confine::ConfinedCypher;
use super::indexes::Index;
use super::query::{QueryError, QueryLimits, Rows};
use super::reading::Reading;
use super::transfer::GraphNode;

/// What is bound to a statement.
pub(crate) type Params = Map<String, Value>;

/// One row of a result, by column.
pub(crate) type Row = Map<String, Value>;

/// A part of a transaction of several statements.
#[derive(Debug)]
pub(crate) enum Step {
    Run(String, Params),
    /// Everything was sent. A sender that goes away without it has failed.
    Commit,
}

/// A graph that understands the statements of [`super::statements`].
#[async_trait]
pub(crate) trait Engine: fmt::Debug + Send + Sync + 'static {
    /// What it does otherwise than the other one.
    fn dialect(&self) -> &'static Dialect;

    /// Runs a statement that writes nothing, in one round trip.
    async fn read(&self, statement: &str, params: Params) -> Result<Vec<Row>, StoreError>;

    /// Runs a statement as one transaction, in one round trip; it is durable when this returns.
    async fn write(&self, statement: &str, params: Params) -> Result<Vec<Row>, StoreError>;

    /// Runs the statements that come, in one transaction, until one of them says
    /// [`Step::Commit`]; nothing takes place if that never comes. Gives back the first column
    /// `times` of each, in order.
    async fn transact(
        &self,
        steps: mpsc::Receiver<Step>,
        limit: Duration,
    ) -> Result<Vec<i64>, StoreError>;

    /// Runs a statement that writes nothing on one snapshot, and hands over its rows as they come.
    /// Ends early when nobody receives any more.
    async fn stream(
        &self,
        statement: &str,
        params: Params,
        rows: mpsc::Sender<Row>,
    ) -> Result<(), StoreError>;

    /// Runs a confined statement within its limits; its values as they are shown.
    async fn confined(
        &self,
        cypher: &ConfinedCypher,
        params: Params,
        limits: QueryLimits,
    ) -> Result<Rows, QueryError>;

    /// What it is, and what there is to say of it.
    async fn about(&self) -> Result<About, StoreError>;

    /// Keeps outside the graph what is about to be deleted and scrubbed, so that the next start
    /// finishes it. None: a deletion is done as a whole here.
    fn intend(&self, intent: &Value) -> Result<Option<Intent>, StoreError>;

    /// What was intended and not finished.
    fn intents(&self) -> Result<Vec<(Intent, Value)>, StoreError>;

    /// Removes what was deleted from every file of this engine's own that may still hold it.
    async fn purge(&self, what: Purge) -> Result<(), StoreError>;

    async fn close(&self) -> Result<(), StoreError>;
}

/// What an engine does otherwise than the other one, known without asking it.
#[derive(Debug)]
pub(crate) struct Dialect {
    /// Whether several processes may have the graph open.
    pub(crate) is_shared: bool,
    /// Whether the labels of a node can be exchanged for others.
    pub(crate) relabels: bool,
    /// Whether the first run of a statement costs far more than the next ones, so that a statement
    /// for each of many names is not worth it.
    pub(crate) plans_dearly: bool,
    /// What it does not know of Cypher, in sentences for a model that writes it.
    pub(crate) unsupported_features: &'static [&'static str],
    /// What memory is found by here, beside what it is found by in every engine.
    pub(crate) indexes: &'static [Index],
    /// What ingested knowledge is found by; made when something is ingested first.
    pub(crate) knowledge_indexes: &'static [Index],
    /// A vector as this engine keeps it.
    pub(crate) embedding: fn(&[f32]) -> Value,
    /// Makes a node what it was before it came into this engine: without what the engine added.
    pub(crate) strip: fn(&mut GraphNode),
    /// Makes a node what it has to be to come into this engine: with what `strip` takes away.
    pub(crate) prepare: fn(&mut GraphNode),
}

/// What an engine says of itself.
#[derive(Debug)]
pub(crate) struct About {
    /// Engine and version, as people know them.
    pub(crate) engine: String,
    /// As whom confined statements run, and what that user can do, tried out. None: it has no users.
    pub(crate) reading: Option<Reading>,
    /// Bytes of the files of a graph that is in memory as a whole. None: it is a server's.
    pub(crate) file_bytes: Option<u64>,
    /// What the person who runs the bot should know of.
    pub(crate) warnings: Vec<String>,
}

/// How much is scrubbed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purge {
    /// What something newer took the place of.
    Replaced,
    /// What somebody wants forgotten: also what was set aside of a damaged log, where nobody can
    /// look for it.
    Forgotten,
}

/// What is to be deleted, as long as it is not: a file.
#[derive(Debug)]
pub(crate) struct Intent(pub(super) std::path::PathBuf);

/// What a transaction ends with whose statements stopped coming.
pub(crate) fn abandoned() -> StoreError {
    StoreError::Refused {
        message: "the transaction was given up before its end".to_owned(),
        transient: false,
    }
}

/// A label, relationship type or property name in backticks, for the few places where Cypher has
/// no parameter. Refuses what an engine could read as anything but a name.
pub(crate) fn quoted(identifier: &str) -> Result<String, StoreError> {
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
        assert_eq!(quoted("We ird ☃").unwrap(), "`We ird ☃`");
        for bad in ["", "a`b", r"a\u0060b", "a\0b", "a\nb"] {
            assert!(quoted(bad).is_err(), "{bad:?}");
        }
    }
}
