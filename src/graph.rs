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
mod statements;
pub mod trace;
pub mod transfer;
pub(crate) mod value;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use muninn_platform::{Audience, AudienceId, ConversationId, Delivered, EventId};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::session::SessionGuard;

use self::answers::Votes;
use self::confine::ConfinedCypher;
use self::knowledge::{KnowledgeLinks, KnowledgeNodes};
pub use self::open::{GraphConfig, Reader, Staged, discard_set_aside, open, open_unfinished};
use self::query::{QueryError, QueryLimits, QueryResult};
use self::reading::Reading;
use self::schema::Survey;
use self::trace::Trace;

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

/// One response in the graph: what was asked, what was answered, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    pub id: ResponseId,
    /// The session's id.
    pub session: String,
    /// Place among the turns of the audience, counted from 1; gaps mean something was forgotten.
    /// Zero before it is saved.
    pub position: i64,
    pub created_at: DateTime<Utc>,
    pub source: Source,
    pub input: String,
    pub rephrased_question: Option<String>,
    pub output: String,
    /// The Cypher that was run for it.
    pub cypher: Option<String>,
    pub event: String,
    /// Stable id of the person on the platform.
    pub author: String,
    /// As people see the person.
    pub author_name: String,
    /// Made from live results, so never recalled.
    pub volatile: bool,
    pub embedding: Option<Embedding>,
    pub model: Option<String>,
    pub prompt_tokens: u32,
    pub completion_tokens: u32,
    pub duration_ms: u32,
    /// Where people can look at the message; none where the platform has no such address.
    #[serde(default)]
    pub link: Option<String>,
    /// The messages it went out as; none as long as nothing says that it did.
    #[serde(default)]
    pub delivered: Option<Delivered>,
    /// When its message was edited last, as far as the answer knows.
    #[serde(default)]
    pub revised_at: Option<DateTime<Utc>>,
    /// What was read of the files that came with the message. Only a window has it.
    #[serde(default)]
    pub attached: Vec<AttachedText>,
}

/// The text of a file that came with a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttachedText {
    pub name: String,
    pub text: String,
}

/// A response's id: time-ordered (UUID version 7), made by the process that answered, so that a
/// save whose outcome is unknown can be tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ResponseId(pub Uuid);

impl ResponseId {
    pub fn fresh() -> Self {
        Self(Uuid::now_v7())
    }
}

impl fmt::Display for ResponseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What made an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// A model wrote it.
    Model,
    /// A model wrote it, from what it found in the team's knowledge.
    Knowledge,
    /// A model wrote it from passages of what the team has ingested, or it quotes them.
    Retrieval,
    /// It only quotes memory: no model was there. Not embedded, so what it quotes is not recalled
    /// twice.
    Memory,
}

/// A vector, and the embedder that made it: vectors of different embedders are never compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Embedding {
    pub embedder: String,
    /// Of unit length.
    pub vector: Vec<f32>,
}

/// The rolling summary of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    pub text: String,
    /// The last response it covers.
    pub through: ResponseId,
}

/// What one turn asks of the store before it begins.
#[derive(Clone, Debug)]
pub struct TurnRead<'a> {
    pub session: &'a ConversationId,
    pub audience: &'a AudienceId,
    pub event: &'a EventId,
    /// How many of the last turns, at most.
    pub window: usize,
    /// The recall index has seen the audience's turns up to here.
    pub seen: i64,
}

/// What one turn gets.
#[derive(Clone, Debug, Default)]
pub struct TurnContext {
    /// The turn this event already made, if it did; without its embedding.
    pub duplicate: Option<Turn>,
    /// The last turns of the session, oldest first, without their embeddings; at most 64.
    pub window: Vec<Turn>,
    pub summary: Option<Summary>,
    pub news: News,
}

/// What is new in an audience since a position.
#[derive(Clone, Debug, Default)]
pub struct News {
    /// In the order of their positions.
    pub turns: Vec<Turn>,
    /// Rises whenever something in the audience is forgotten or replaced: an index made at another
    /// epoch has to be loaded again.
    pub epoch: i64,
    /// Everything up to this position is in `turns`, was there before, or was forgotten: what has
    /// been seen now.
    pub through: i64,
    /// There is more after `through`; [`GraphStore::turns_since`] has it.
    pub more: bool,
}

/// By what a turn shows that it replaces an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// It names another value.
    Value,
    /// It takes it back.
    Word,
}

impl How {
    /// As it is kept.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Value => "value",
            Self::Word => "word",
        }
    }
}

/// A turn to append.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NewTurn {
    #[serde(with = "audience_serde")]
    pub audience: Audience,
    pub turn: Turn,
    /// `elementId`s, read in this turn, of the knowledge nodes the answer was made from.
    pub context: Vec<String>,
    /// The memories the answer was given, with their scores.
    pub recalled: Vec<(ResponseId, f64)>,
    /// How it came to be.
    #[serde(default)]
    pub trace: Trace,
}

/// What became of a turn to append.
#[derive(Clone, Debug, PartialEq)]
pub enum Appended {
    Saved {
        position: i64,
    },
    /// The same event had made a turn already; nothing was written.
    Duplicate(Box<Turn>),
}

/// What to forget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forget {
    /// One turn; the chain closes over it.
    Turn(ResponseId),
    /// The session and all its turns.
    Session,
}

/// What was forgotten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    pub turns: usize,
    /// Answers from memory alone that quoted a forgotten turn, and were blotted out with it.
    pub quotes: usize,
    /// Nothing reads it any more, and yet it is still in a file that could not be written anew.
    pub is_in_file: bool,
}

/// What an answer was made from.
#[derive(Clone, Debug)]
pub struct Explanation {
    pub turn: Turn,
    pub votes: Votes,
    pub trace: Trace,
    /// The memories it was given, best first, with their scores.
    pub recalled: Vec<(f64, Turn)>,
    pub context: Vec<KnowledgeNode>,
}

/// A node of the team's knowledge.
#[derive(Clone, Debug, PartialEq)]
pub struct KnowledgeNode {
    pub labels: Vec<String>,
    pub properties: serde_json::Map<String, serde_json::Value>,
    /// It says something else now than when it was used.
    pub has_changed: bool,
}

/// One line of `muninn sessions`.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionOverview {
    pub id: String,
    pub audience: String,
    pub created_at: DateTime<Utc>,
    pub last_at: Option<DateTime<Utc>>,
    pub turns: usize,
    pub title: Option<String>,
}

/// What a session's chain is made of, to see that it is whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChainShape {
    pub turns: usize,
    /// `LAST_RESPONSE` relationships.
    pub pointers: usize,
    /// `NEXT` relationships between the session's turns.
    pub links: usize,
}

impl ChainShape {
    /// One unbroken chain with one pointer, or nothing at all.
    pub fn is_whole(self) -> bool {
        self.pointers == usize::from(self.turns > 0) && self.links == self.turns.saturating_sub(1)
    }
}

/// How many of an audience's turns have a vector of the same embedder, of those that recall
/// compares vectors of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddedBy {
    pub audience: AudienceId,
    /// None: they have no vector.
    pub embedder: Option<String>,
    pub turns: usize,
}

/// How a store is, for `muninn doctor`.
#[derive(Clone, Debug)]
pub struct StoreHealth {
    /// Engine and version, as people know it: `Neo4j 5.26.30 community`.
    pub engine: String,
    pub schema_version: i64,
    /// Constraints and indexes that should be there and are not.
    pub missing: Vec<String>,
    pub sessions: usize,
    pub turns: usize,
    /// As whom generated statements run; none where a store has no users.
    pub reading: Option<Reading>,
    /// What the person who runs the bot should know of.
    pub warnings: Vec<String>,
}

/// Why the store did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Nobody answers, or the answer took too long.
    #[error("the graph at {url} cannot be reached; start it, or correct GRAPH_URL")]
    Unreachable {
        url: String,
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    #[error(
        "the graph at {url} refused the user name or password; check GRAPH_USER and GRAPH_PASSWORD"
    )]
    Unauthorized { url: String },
    #[error(
        "{path} is in use by {holder}; stop that process, or use a graph server that several processes can share (GRAPH_URL=bolt://…)"
    )]
    Locked { path: String, holder: String },
    #[error("{path} is damaged: {detail}")]
    Corrupt { path: String, detail: String },
    #[error(
        "the graph was made by a newer muninn (schema {found}, this one knows {known}); update muninn"
    )]
    NewerSchema { found: i64, known: i64 },
    /// The address makes no sense.
    #[error("{0}")]
    Misconfigured(String),
    /// The engine took the statement and failed it.
    #[error("the graph refused a statement: {message}")]
    Refused { message: String, transient: bool },
    /// The graph takes statements, but not what this one writes.
    #[error("the graph refused what was to be written: {0}")]
    Invalid(String),
    /// The graph holds something this program never writes.
    #[error("unexpected data in the graph: {0}")]
    Unexpected(String),
}

impl StoreError {
    /// Whether the same call may work a little later.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            Self::Refused { transient, .. } => *transient,
            Self::Unauthorized { .. }
            | Self::Locked { .. }
            | Self::Corrupt { .. }
            | Self::NewerSchema { .. }
            | Self::Misconfigured(_)
            | Self::Invalid(_)
            | Self::Unexpected(_) => false,
        }
    }

    /// Whether the graph is the trouble, rather than what was asked of it: it is down, closed to us,
    /// not the right one, or full. What nobody knows better counts as such, since what waits for the
    /// graph must not be given up.
    pub fn is_outage(&self) -> bool {
        match self {
            Self::Unreachable { .. }
            | Self::Unauthorized { .. }
            | Self::Locked { .. }
            | Self::Corrupt { .. }
            | Self::NewerSchema { .. }
            | Self::Misconfigured(_)
            | Self::Refused { .. } => true,
            Self::Invalid(_) | Self::Unexpected(_) => false,
        }
    }
}

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

/// [`Audience`] belongs to a crate that knows nothing of files, so its shape is told here.
mod audience_serde {
    use muninn_platform::{Audience, AudienceId};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct Shape {
        id: String,
        platform: String,
        workspace: String,
        name: String,
    }

    pub(super) fn serialize<S: Serializer>(audience: &Audience, to: S) -> Result<S::Ok, S::Error> {
        Shape {
            id: audience.id.as_str().to_owned(),
            platform: audience.platform.clone(),
            workspace: audience.workspace.clone(),
            name: audience.name.clone(),
        }
        .serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Audience, D::Error> {
        let Shape {
            id,
            platform,
            workspace,
            name,
        } = Shape::deserialize(from)?;
        Ok(Audience {
            id: AudienceId::new(id),
            platform,
            workspace,
            name,
        })
    }
}
