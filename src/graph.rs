//! The conversation graph: what is kept of every turn, and the operations on it.
//!
//! [`GraphStore`] is the contract. Knows nothing of
//! platforms or models; ranking what was read is the business of [`crate::memory`].

pub mod answers;
mod appending;
pub mod claims;
pub mod confine;
mod cypher_store;
mod embedded;
mod engine;
mod error;
pub mod ingest;
pub mod knowledge;
mod migrate;
mod neo4j;
mod open;
pub mod pending;
pub mod query;
pub mod reading;
mod record;
pub mod schema;
pub mod session;
mod statements;
mod timed;
pub mod trace;
pub mod transfer;
mod turn;
pub(crate) mod value;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use muninn_platform::{AudienceId, ConversationId};

use self::session::SessionGuard;

use self::confine::ConfinedCypher;
pub use self::error::StoreError;
use self::knowledge::{KnowledgeLinks, KnowledgeNodes};
pub use self::open::{
    GraphConfig, Reader, Staged, discard_set_aside, exists, open, open_unfinished,
};
use self::query::{QueryError, QueryLimits, QueryResult};
use self::schema::Survey;
pub use self::turn::{
    Appended, AttachedText, ChainShape, EmbeddedBy, Embedding, Explanation, Forget, Forgotten, How,
    KnowledgeNode, NewTurn, News, ResponseId, SessionOverview, Source, StoreHealth, Summary, Turn,
    TurnContext, TurnRead, is_question,
};

/// Labels of what the bot keeps for itself; no generated query may reach them.
pub const MEMORY_LABELS: &[&str] = &[
    "Channel",
    "MuninnClaim",
    "MuninnForgotten",
    "MuninnPrivate",
    "MuninnProcess",
    "MuninnSchema",
    "MuninnSource",
    "MuninnStaged",
    "Pending",
    "Response",
    "Session",
];

/// Relationship types of what the bot keeps for itself.
pub const MEMORY_RELATIONSHIPS: &[&str] = &[
    "CONTEXT",
    "HAS_RESPONSE",
    "IN",
    "LAST_RESPONSE",
    "NEXT",
    "RECALLED",
    "SUPERSEDES",
];

/// The operations on the conversation graph.
#[async_trait]
pub trait GraphStore: answers::Answers + transfer::Portable + fmt::Debug + Send + Sync {
    /// Everything a turn needs before it begins, in one round trip.
    async fn begin_turn(&self, read: &TurnRead<'_>) -> Result<TurnContext, StoreError>;

    /// Appends a turn to its session's chain, in one transaction and one round trip.
    async fn append(&self, guard: &SessionGuard, turn: &NewTurn) -> Result<Appended, StoreError>;

    /// Appends turns to the chains of their sessions, in their order: all of them in one transaction,
    /// or none. Those whose event has made a turn already are left out.
    async fn append_all(
        &self,
        guards: &[SessionGuard],
        turns: &[Arc<NewTurn>],
    ) -> Result<(), StoreError>;

    /// Whether several processes may have the graph open. One that only this process has open is
    /// never away, however long it takes.
    fn is_shared(&self) -> bool;

    /// Asks as little as can be asked, to see whether anybody answers.
    async fn probe(&self) -> Result<(), StoreError>;

    /// The audience's turns after `seen`, at most `limit`, in the order of their positions.
    async fn turns_since(
        &self,
        audience: &AudienceId,
        seen: i64,
        limit: usize,
    ) -> Result<News, StoreError>;

    /// The session's turns that follow `after` (or its first ones), at most `limit`, in order.
    async fn chain(
        &self,
        session: &ConversationId,
        after: Option<ResponseId>,
        limit: usize,
    ) -> Result<Vec<Turn>, StoreError>;

    /// Replaces the summary, unless the session's summary is no longer the one that covers up to
    /// `previous`, or something was forgotten since `epoch`. Says whether it did.
    async fn save_summary(
        &self,
        guard: &SessionGuard,
        summary: &Summary,
        previous: Option<ResponseId>,
        epoch: i64,
    ) -> Result<bool, StoreError>;

    /// What the session's last answer, or the given one, was made from.
    async fn explain(
        &self,
        session: &ConversationId,
        response: Option<ResponseId>,
    ) -> Result<Option<Explanation>, StoreError>;

    /// Removes turns with their vectors, the summary that covered them and the quotes of them.
    async fn forget(&self, guard: &SessionGuard, what: Forget) -> Result<Forgotten, StoreError>;

    /// Whose vectors the turns have that recall compares vectors of: neither volatile ones nor
    /// questions that memory alone answered.
    async fn embedders(&self) -> Result<Vec<EmbeddedBy>, StoreError>;

    /// A stretch of the audience's turns after `seen`, at most `limit` long, and of it the turns
    /// whose vector is missing though it should be there, or was not made by `embedder`; without
    /// their vectors.
    async fn stale_embeddings(
        &self,
        embedder: &str,
        audience: &AudienceId,
        seen: i64,
        limit: usize,
    ) -> Result<News, StoreError>;

    /// The same of the turns that have no vector at all, though they should.
    async fn missing_embeddings(
        &self,
        audience: &AudienceId,
        seen: i64,
        limit: usize,
    ) -> Result<News, StoreError>;

    /// Replaces vectors by those of `embedder` and ends the audience's epoch, in one transaction.
    /// `None` says that the embedder knows nothing of the turn's text: it is not stale any more.
    /// Says how many turns there still were.
    async fn set_embeddings(
        &self,
        embedder: &str,
        audience: &AudienceId,
        vectors: &[(ResponseId, Option<Vec<f32>>)],
    ) -> Result<usize, StoreError>;

    /// Links a turn to earlier ones of its audience that it replaces. Those that are gone, later or of
    /// another audience are left out; says how many were linked.
    async fn supersede(
        &self,
        audience: &AudienceId,
        turn: ResponseId,
        earlier: &[(ResponseId, How)],
    ) -> Result<usize, StoreError>;

    /// Which turn of an audience replaces which earlier one, in no order.
    async fn superseded(
        &self,
        audience: &AudienceId,
    ) -> Result<Vec<(ResponseId, ResponseId)>, StoreError>;

    /// All sessions, the most recent first.
    async fn sessions(&self) -> Result<Vec<SessionOverview>, StoreError>;

    /// What the session's chain is made of.
    async fn chain_shape(&self, session: &ConversationId) -> Result<ChainShape, StoreError>;

    /// What the team's knowledge is made of; nothing of memory. Looked at again when the graph
    /// has changed.
    async fn schema(&self) -> Result<Arc<Survey>, StoreError>;

    /// Runs a confined statement, which reads only, within limits. `params` are JSON as people
    /// write it: what JSON has no word for (a date) is not bound, so the statement converts it.
    async fn query(
        &self,
        query: &ConfinedCypher,
        params: serde_json::Map<String, serde_json::Value>,
        limits: QueryLimits,
    ) -> Result<QueryResult, QueryError>;

    /// Creates those nodes that are not there yet, in one transaction; says how many. What is
    /// there stays as it is.
    async fn merge_nodes(&self, put: &KnowledgeNodes) -> Result<usize, StoreError>;

    /// Creates those relationships that are not there yet, in one transaction; says how many.
    /// One that lacks an end is left out.
    async fn merge_links(&self, put: &KnowledgeLinks) -> Result<usize, StoreError>;

    /// Who answers which event, of several processes.
    fn claims(&self) -> &dyn claims::Claims;

    /// What was accepted and is not answered yet, of several processes.
    fn pending(&self) -> &dyn pending::PendingMessages;

    /// What is done with ingested knowledge.
    fn ingesting(&self) -> &dyn ingest::Ingesting;

    /// What searching in ingested knowledge asks of the store.
    fn searching(&self) -> &dyn ingest::searching::Searching;

    /// What this engine does not know of Cypher, in sentences for a model that writes it.
    fn unsupported_features(&self) -> &'static [&'static str];

    async fn health(&self) -> Result<StoreHealth, StoreError>;

    /// Ends cleanly; nothing may be asked of the store afterwards.
    async fn close(&self) -> Result<(), StoreError>;
}
