//! [`GraphStore`]: opening and closing it, what there is in it, and generated queries. Its other
//! operations stand in the files beside this one, by what they are about.

use std::sync::{Arc, RwLock};

use muninn_platform::{AudienceId, ConversationId};
use parking_lot::Mutex;
use serde_json::{Map, Value, json};

use super::answers::Spoken;
use super::confine::ConfinedCypher;
use super::engine::{About, Engine, Params, Row};
use super::knowledge::{KnowledgeLinks, KnowledgeNodes};
use super::outgrown::{self, Outgrown, Size};
use super::query::{QueryError, QueryLimits, QueryResult, literal};
use super::record::{integer, params, text, unexpected};
use super::schema::{Cache, Survey};
use super::timed::Timed;
use super::value::instant;
use super::{ChainShape, SessionOverview, StoreError, StoreHealth, knowledge, migrate, statements};

/// The conversation graph and the team's knowledge, with every operation on them: written once, for
/// any `Engine`.
#[derive(Debug)]
pub struct GraphStore {
    pub(super) engine: Timed,
    pub(super) survey: Cache,
    /// Places under a legal hold.
    pub(super) holds: RwLock<Vec<AudienceId>>,
    /// What went out of answers that were emptied when it was opened, until somebody sees to it.
    emptied: Mutex<Vec<Spoken>>,
}

impl GraphStore {
    /// Makes constraints and brings the schema up to date.
    pub(crate) async fn open(engine: impl Engine) -> Result<Self, StoreError> {
        let engine = Timed(Box::new(engine));
        migrate::run(&engine).await?;
        let store = Self {
            engine,
            survey: Cache::default(),
            holds: RwLock::default(),
            emptied: Mutex::default(),
        };
        for (intent, wish) in store.engine.intents()? {
            tracing::info!("finishing what was being forgotten when muninn ended");
            let forgotten = store.erase(wish).await?;
            store.emptied.lock().extend(forgotten.emptied);
            if !forgotten.is_in_file {
                intent.done()?;
            }
        }
        Ok(store)
    }

    /// What went out of answers that were emptied when the graph was opened, as an earlier process was killed while it
    /// forgot something. Given once.
    pub fn take_emptied(&self) -> Vec<Spoken> {
        std::mem::take(&mut *self.emptied.lock())
    }

    /// Whether several processes may have the graph open. One that only this process has open is
    /// never away, however long it takes.
    pub fn is_shared(&self) -> bool {
        self.engine.dialect().is_shared
    }

    /// Asks as little as can be asked, to see whether anybody answers.
    pub async fn probe(&self) -> Result<(), StoreError> {
        let rows = self.engine.read("RETURN 1 AS one", Params::new()).await?;
        single(&rows).map(drop)
    }

    /// All sessions, the most recent first.
    pub async fn sessions(&self) -> Result<Vec<SessionOverview>, StoreError> {
        let rows = self
            .engine
            .read(statements::SESSIONS, params(json!({})))
            .await?;
        let mut sessions = rows.iter().map(overview).collect::<Result<Vec<_>, _>>()?;
        sessions.sort_by_key(|one| std::cmp::Reverse(one.last_at.unwrap_or(one.created_at)));
        Ok(sessions)
    }

    /// What the session's chain is made of.
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

    /// What the team's knowledge is made of; nothing of memory. Looked at again when the graph
    /// has changed.
    pub async fn schema(&self) -> Result<Arc<Survey>, StoreError> {
        self.survey.get(&self.engine).await
    }

    /// Creates those nodes that are not there yet, in one transaction; says how many. What is
    /// there stays as it is.
    pub async fn merge_nodes(&self, put: &KnowledgeNodes) -> Result<usize, StoreError> {
        let made = knowledge::merge_nodes(&self.engine, put).await;
        self.survey.outdate();
        made
    }

    /// Creates those relationships that are not there yet, in one transaction; says how many.
    /// One that lacks an end is left out.
    pub async fn merge_links(&self, put: &KnowledgeLinks) -> Result<usize, StoreError> {
        let made = knowledge::merge_links(&self.engine, put).await;
        self.survey.outdate();
        made
    }

    /// Runs a confined statement, which reads only, within limits. `params` are JSON as people
    /// write it: what JSON has no word for (a date) is not bound, so the statement converts it.
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

    /// What this engine does not know of Cypher, in sentences for a model that writes it.
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

    /// Sessions and turns.
    async fn counts(&self) -> Result<(usize, usize), StoreError> {
        let statement = statements::COUNTS;
        let rows = self.engine.read(statement, params(json!({}))).await?;
        let row = single(&rows)?;
        let count = |column| usize::try_from(integer(row, column)).unwrap_or_default();
        Ok((count("sessions"), count("turns")))
    }

    /// Whether the graph is too large for the engine in our own process. A server's is never.
    ///
    /// # Errors
    /// When the graph cannot be asked.
    pub async fn outgrown(&self) -> Result<Option<Outgrown>, StoreError> {
        if self.is_shared() {
            return Ok(None);
        }
        let bytes = self.engine.about().await?.file_bytes.unwrap_or_default();
        let (_sessions, turns) = self.counts().await?;
        Ok(of_size(turns, bytes))
    }

    /// Ends cleanly; nothing may be asked of the store afterwards.
    pub async fn close(&self) -> Result<(), StoreError> {
        self.engine.close().await
    }
}

fn of_size(turns: usize, bytes: u64) -> Option<Outgrown> {
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
