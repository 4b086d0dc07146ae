//! [`GraphStore`]: opens and closes it, describes its content, and runs generated queries. Its other
//! operations are in the files beside this one, by subject.

pub mod accounts;
pub mod answers;
pub(in crate::graph) mod appending;
pub mod attention;
pub mod browsing;
pub mod claims;
mod embeddings;
pub(in crate::graph) mod explaining;
pub mod forgetting;
pub mod hearing;
mod holding;
mod intents;
pub mod items;
pub mod knowledge;
pub mod marks;
mod messages;
pub mod nodes;
pub(in crate::graph) mod outcomes;
pub(in crate::graph) mod outgrown;
pub mod own_copy;
pub mod pending;
pub(in crate::graph) mod record;
pub(in crate::graph) mod repeating;
pub mod said;
pub mod spending;
pub(in crate::graph) mod statements;
pub mod tokens;
mod turns;

use std::sync::{Arc, RwLock};
use std::time::Duration;

use chrono::{DateTime, Utc};
use muninn_platform::{Channels, ConversationId};
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use tokio::time::timeout;

use self::knowledge::{KnowledgeLinks, KnowledgeNodes};
use self::outgrown::{Size, StoreAdvice};
use self::record::{integer, params, text, unexpected};
use super::confine::ConfinedCypher;
use super::engine::timed::Timed;
use super::engine::value::instant;
use super::engine::{About, DeletionIntent, Engine, Params, Row};
use super::query::{QueryError, QueryLimits, QueryResult, literal};
use super::schema::{Cache, Survey};
use super::types::delivered_answer::DeliveredAnswer;
use super::{ChainShape, SessionOverview, StoreError, StoreHealth, migrate};

/// Maximum wait of a turn for a new schema, if there is an older one: a check of an unchanged graph takes milliseconds, and
/// knowledge that another process added is used at once.
const SCHEMA_WAIT_TIMEOUT: Duration = Duration::from_secs(1);

/// The conversation graph and the team's knowledge, with every operation on them, written once for any `Engine`.
#[derive(Debug)]
pub struct GraphStore {
    pub(super) engine: Timed,
    pub(super) survey: Cache,
    /// They name the places under a legal hold, and may change.
    pub(super) holds: RwLock<Arc<Channels>>,
    /// The delivered messages of answers that were emptied when the graph was opened, until they are withdrawn.
    emptied: Mutex<Vec<DeliveredAnswer>>,
    /// The intents of deletions that did not succeed yet, with what they are about.
    unfinished: Mutex<Vec<(DeletionIntent, Value)>>,
    /// The intent to purge what is forgotten, but still in a file.
    purging: Mutex<Option<DeletionIntent>>,
}

impl GraphStore {
    /// Creates constraints and upgrades the schema.
    pub(crate) async fn open(engine: impl Engine) -> Result<Self, StoreError> {
        let store = Self::over(engine);
        migrate::run(&store.engine).await?;
        for (intent, wish) in store.engine.intents()? {
            tracing::info!("finishing what was being forgotten when muninn ended");
            let forgotten = store.finish_intent(&intent, wish).await?;
            store.emptied.lock().extend(forgotten.emptied);
            store.remove_intents(vec![intent], forgotten.is_in_file)?;
        }
        Ok(store)
    }

    /// A store over an engine whose schema is not checked.
    pub(super) fn over(engine: impl Engine) -> Self {
        Self {
            engine: Timed(Box::new(engine)),
            survey: Cache::default(),
            holds: RwLock::default(),
            emptied: Mutex::default(),
            unfinished: Mutex::default(),
            purging: Mutex::default(),
        }
    }

    /// The delivered messages of answers that were emptied when the graph was opened, because an earlier process was
    /// killed while forgetting. Returned once.
    pub fn take_emptied(&self) -> Vec<DeliveredAnswer> {
        std::mem::take(&mut *self.emptied.lock())
    }

    /// Whether several processes may have the graph open. A graph that only this process has open is never away,
    /// however slow it is.
    pub fn is_shared(&self) -> bool {
        self.engine.dialect().is_shared
    }

    /// Sends a minimal request to see whether the graph answers.
    pub async fn probe(&self) -> Result<(), StoreError> {
        let rows = self.engine.read("RETURN 1 AS one", Params::new()).await?;
        single(&rows).map(drop)
    }

    /// What the clock of the graph's server says; `None` for a graph on this machine.
    pub async fn server_time(&self) -> Result<Option<DateTime<Utc>>, StoreError> {
        if !self.is_shared() {
            return Ok(None);
        }
        let asked = self.engine.read("RETURN timestamp() AS now", Params::new());
        let rows = asked.await?;
        let now = integer(single(&rows)?, "now");
        Ok(DateTime::from_timestamp_millis(now))
    }

    /// All sessions, most recent first.
    pub async fn sessions(&self) -> Result<Vec<SessionOverview>, StoreError> {
        let rows = self
            .engine
            .read(statements::SESSIONS, params(json!({})))
            .await?;
        let mut sessions = rows.iter().map(overview).collect::<Result<Vec<_>, _>>()?;
        sessions.sort_by_key(|one| std::cmp::Reverse(one.last_at.unwrap_or(one.created_at)));
        Ok(sessions)
    }

    /// The shape of the session's chain.
    pub async fn chain_shape(&self, session: &ConversationId) -> Result<ChainShape, StoreError> {
        let bound = params(json!({"session": session.as_str()}));
        let rows = self.engine.read(statements::CHAIN_SHAPE, bound).await?;
        let row = single(&rows)?;
        let count = |column| usize::try_from(integer(row, column)).unwrap_or_default();
        Ok(ChainShape {
            turns: count("turns"),
            pointers: count("pointers"),
            links: count("links"),
        })
    }

    /// The schema of the team's knowledge, without memory. Surveyed again when the graph has changed.
    pub async fn schema(&self) -> Result<Arc<Survey>, StoreError> {
        self.survey.get(&self.engine).await
    }

    /// Returns the schema for a turn. If it is time to read it again, one task does, and its turn waits for it for at most a
    /// second; meanwhile, and if reading takes longer or fails, turns get the previous one.
    ///
    /// # Errors
    /// Fails when the schema was never read, and the graph cannot be asked.
    pub async fn kept_schema(self: &Arc<Self>) -> Result<Arc<Survey>, StoreError> {
        let Some(kept) = self.survey.last_survey() else {
            // A task of its own: a turn that is given up does not cancel the read.
            return self.look().await;
        };
        if kept.is_due && self.survey.begin_background_read() {
            let store = Arc::clone(self);
            let looking = tokio::spawn(async move { store.look_again().await });
            if let Ok(Ok(Some(survey))) = timeout(SCHEMA_WAIT_TIMEOUT, looking).await {
                return Ok(survey);
            }
        }
        Ok(kept.survey)
    }

    async fn look(self: &Arc<Self>) -> Result<Arc<Survey>, StoreError> {
        let store = Arc::clone(self);
        let looked = tokio::spawn(async move { store.schema().await }).await;
        looked.unwrap_or_else(|error| Err(StoreError::Unexpected(error.to_string())))
    }

    /// Looks again in the background.
    async fn look_again(self: &Arc<Self>) -> Option<Arc<Survey>> {
        let looked = self.look().await;
        if let Some(rest) = self.survey.end_background_read(looked.is_ok())
            && let Err(error) = &looked
        {
            tracing::warn!(
                error = error as &dyn std::error::Error,
                "the schema of the knowledge is used as it was: it is read again in {} s at the earliest",
                rest.as_secs()
            );
        }
        looked.ok()
    }

    /// Creates the nodes that do not exist yet, in one transaction. Returns their number. Existing nodes are
    /// unchanged.
    pub async fn merge_nodes(&self, put: &KnowledgeNodes) -> Result<usize, StoreError> {
        let made = knowledge::merge_nodes(&self.engine, put).await;
        self.survey.outdate();
        made
    }

    /// Creates the relationships that do not exist yet, in one transaction. Returns their number. Those without one of
    /// their ends are skipped.
    pub async fn merge_links(&self, put: &KnowledgeLinks) -> Result<usize, StoreError> {
        let made = knowledge::merge_links(&self.engine, put).await;
        self.survey.outdate();
        made
    }

    /// Runs a confined, read-only statement within limits. `params` are JSON as people write it: types that JSON lacks
    /// (such as dates) are not bound, so the statement converts them.
    pub async fn query(
        &self,
        query: &ConfinedCypher,
        params: Map<String, Value>,
        limits: QueryLimits,
    ) -> Result<QueryResult, QueryError> {
        query
            .check_parameters(&params)
            .map_err(|message| QueryError::Repairable { message, at: None })?;
        let rows = self.engine.confined(query, literal(params), limits).await?;
        let mut result = rows.finish(query.id_columns());
        for column in &mut result.columns {
            *column = query.column(column).to_owned();
        }
        Ok(result)
    }

    /// Unsupported features of Cypher in this engine, as sentences for a model that writes it.
    pub fn unsupported_features(&self) -> &'static [&'static str] {
        self.engine.dialect().unsupported_features
    }

    pub async fn health(&self) -> Result<StoreHealth, StoreError> {
        let About {
            engine,
            reading,
            file_bytes,
            mut warnings,
        } = self.engine.about().await?;
        let schema = migrate::schema(&self.engine).await?;
        let missing = migrate::missing(&self.engine).await?;
        let (sessions, turns) = self.counts().await?;
        if schema.unfinished.is_some() {
            warnings.push(migrate::INTERRUPTED_IMPORT.to_owned());
        }
        Ok(StoreHealth {
            engine,
            schema_version: schema.version,
            missing,
            sessions,
            turns,
            reading,
            outgrown: file_bytes.and_then(|bytes| of_size(turns, bytes)),
            warnings,
        })
    }

    /// Number of sessions and turns.
    async fn counts(&self) -> Result<(usize, usize), StoreError> {
        let statement = statements::COUNTS;
        let rows = self.engine.read(statement, params(json!({}))).await?;
        let row = single(&rows)?;
        let count = |column| usize::try_from(integer(row, column)).unwrap_or_default();
        Ok((count("sessions"), count("turns")))
    }

    /// Whether the graph is too large for the embedded engine; never for a server's.
    ///
    /// # Errors
    /// Fails when the graph cannot be read.
    pub async fn outgrown(&self) -> Result<Option<StoreAdvice>, StoreError> {
        if self.is_shared() {
            return Ok(None);
        }
        let bytes = self.engine.about().await?.file_bytes.unwrap_or_default();
        let (_sessions, turns) = self.counts().await?;
        Ok(of_size(turns, bytes))
    }

    /// Closes the store; it must not be used afterwards.
    pub async fn close(&self) -> Result<(), StoreError> {
        self.engine.close().await
    }
}

fn of_size(turns: usize, bytes: u64) -> Option<StoreAdvice> {
    outgrown::outgrown(Size { turns, bytes }, outgrown::memory())
}

fn overview(row: &Row) -> Result<SessionOverview, StoreError> {
    let id = text(row, "id").ok_or_else(|| unexpected("a session without id"))?;
    let created_at = row
        .get("createdAt")
        .and_then(instant)
        .ok_or_else(|| unexpected(format!("session {id} has no createdAt")))?;
    Ok(SessionOverview {
        audience: text(row, "audience").unwrap_or_default(),
        created_at,
        last_at: row.get("lastAt").and_then(instant),
        turns: usize::try_from(integer(row, "turns")).unwrap_or_default(),
        title: text(row, "title").filter(|title| !title.is_empty()),
        id,
    })
}

pub(super) fn no_row() -> StoreError {
    unexpected("no row where there is always one")
}

pub(super) fn single(rows: &[Row]) -> Result<&Row, StoreError> {
    rows.first().ok_or_else(no_row)
}
