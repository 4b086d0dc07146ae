//! [`GraphStore`]: the operations of a turn and on its traces, in Cypher that every engine understands.

use std::sync::Arc;

use muninn_platform::{AudienceId, ConversationId, EventId};
use serde_json::{Map, Value, json};

use super::answers::Votes;
use super::confine::ConfinedCypher;
use super::engine::{About, Engine, Params, Purge, Row};
use super::knowledge::{KnowledgeLinks, KnowledgeNodes};
use super::query::{QueryError, QueryLimits, QueryResult, literal, without_vectors};
use super::record::{
    append_params, embedding, integer, list, params, response_id, summary, text, trace, turn,
    turns, unexpected,
};
use super::schema::{Cache, Survey};
use super::timed::Timed;
use super::transfer::GraphNode;
use super::value::{instant, plain};
use super::{
    Appended, ChainShape, EmbeddedBy, Explanation, Forget, Forgotten, How, KnowledgeNode, NewTurn,
    News, ResponseId, SessionOverview, StoreError, StoreHealth, Summary, Turn, TurnContext,
    TurnRead, is_question, knowledge, migrate, statements,
};
use crate::graph::session::SessionGuard;

/// What an answer says once what it quoted was forgotten.
pub(crate) const REDACTED_ANSWER: &str = "What this answer quoted was forgotten.";

/// Properties of a node that an explanation shows.
const SHOWN_PROPERTIES: usize = 30;

/// Characters of a property that an explanation shows.
const SHOWN_CHARACTERS: usize = 300;

/// The conversation graph and the team's knowledge, with every operation on them: written once, for
/// any [`Engine`].
#[derive(Debug)]
pub struct GraphStore {
    pub(super) engine: Timed,
    pub(super) survey: Cache,
}

impl GraphStore {
    /// Makes constraints and brings the schema up to date.
    pub(crate) async fn open(engine: impl Engine) -> Result<Self, StoreError> {
        let engine = Timed(Box::new(engine));
        migrate::run(&engine).await?;
        let store = Self {
            engine,
            survey: Cache::default(),
        };
        for (intent, wish) in store.engine.intents()? {
            tracing::info!("finishing what was being forgotten when muninn ended");
            if !store.erase(wish).await?.is_in_file {
                intent.done()?;
            }
        }
        Ok(store)
    }

    /// Deletes what a wish names, everywhere.
    async fn erase(&self, wish: Value) -> Result<Forgotten, StoreError> {
        let (mark, statement) = match wish.get("id") {
            None | Some(Value::Null) => (statements::MARK_SESSION, statements::FORGET_SESSION),
            Some(_) => (statements::MARK_TURN, statements::FORGET_TURN),
        };
        let mut bound = params(wish);
        bound.insert("blot".to_owned(), json!(REDACTED_ANSWER));
        // First: a mark too many hides a little, a mark too few brings back what was forgotten.
        self.engine.write(mark, bound.clone()).await?;
        let rows = self.engine.write(statement, bound).await?;
        // It is forgotten all the same, so that is what is said.
        let scrubbed = self.engine.purge(Purge::Forgotten).await;
        let is_in_file = scrubbed.is_err_and(|error| {
            let error = &error as &dyn std::error::Error;
            tracing::error!(error, "what was forgotten is still in a file of the graph");
            true
        });
        let count = |column| {
            let count = rows.first().map_or(0, |row| integer(row, column));
            usize::try_from(count).unwrap_or_default()
        };
        Ok(Forgotten {
            turns: count("turns"),
            quotes: count("quotes"),
            is_in_file,
        })
    }

    /// A stretch of the audience's turns after `seen`, at most `limit` long, and of it the turns
    /// whose vector is missing though it should be there, or, with an embedder, was not made by it;
    /// without their vectors.
    pub async fn stale_embeddings(
        &self,
        embedder: Option<&str>,
        audience: &AudienceId,
        seen: i64,
        limit: usize,
    ) -> Result<News, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let until = seen.saturating_add(limit.min(statements::NEWS_LIMIT));
        let (statement, mut bound) = match embedder {
            Some(name) => (
                statements::STALE_EMBEDDINGS,
                params(json!({"embedder": name})),
            ),
            None => (statements::MISSING_EMBEDDINGS, Params::new()),
        };
        bound.extend(params(
            json!({"audience": audience.as_str(), "seen": seen, "until": until}),
        ));
        let rows = self.engine.read(statement, bound).await?;
        let mut found = news(single(&rows)?, seen, until)?;
        found.turns.retain(Turn::can_be_recalled);
        Ok(found)
    }

    async fn chain_step(
        &self,
        session: &ConversationId,
        after: Option<ResponseId>,
        limit: usize,
    ) -> Result<Vec<Turn>, StoreError> {
        let statement = match after {
            Some(_) => statements::CHAIN_AFTER,
            None => statements::CHAIN_FIRST,
        };
        let bound = json!({
            "session": session.as_str(),
            "after": after.map(|id| id.to_string()),
            "limit": limit,
        });
        let rows = self.engine.read(statement, params(bound)).await?;
        let mut steps = rows
            .iter()
            .map(|row| {
                Ok((
                    integer(row, "step"),
                    turn(row.get("turn").unwrap_or(&Value::Null))?,
                ))
            })
            .collect::<Result<Vec<_>, StoreError>>()?;
        steps.sort_by_key(|(step, _)| *step);
        Ok(steps.into_iter().map(|(_, turn)| turn).collect())
    }
}

/// One stretch of news, and where the audience's counter stands.
fn news(row: &Row, seen: i64, until: i64) -> Result<News, StoreError> {
    let mut found = turns(row, "news")?;
    found.sort_by_key(|turn| turn.position);
    let last = integer(row, "last");
    Ok(News {
        turns: found,
        epoch: integer(row, "epoch"),
        through: last.min(until).max(seen),
        more: last > until,
    })
}

/// The same of a row a turn.
fn stretch(rows: &[Row], seen: i64, until: i64) -> Result<News, StoreError> {
    let mut found = news(rows.first().ok_or_else(no_row)?, seen, until)?;
    for row in rows {
        if let Some(value @ Value::Object(_)) = row.get("turn") {
            found.turns.push(Turn {
                embedding: embedding(row),
                ..turn(value)?
            });
        }
    }
    found.turns.sort_by_key(|turn| turn.position);
    Ok(found)
}

fn no_row() -> StoreError {
    unexpected("no row where there is always one")
}

fn single(rows: &[Row]) -> Result<&Row, StoreError> {
    rows.first().ok_or_else(no_row)
}

impl GraphStore {
    /// Everything a turn needs before it begins, in one round trip.
    pub async fn begin_turn(&self, read: &TurnRead<'_>) -> Result<TurnContext, StoreError> {
        let until = read.seen.saturating_add(statements::NEWS_LIMIT);
        let bound = json!({
            "session": read.session.as_str(),
            "audience": read.audience.as_str(),
            "event": read.event.as_str(),
            "window": read.window.min(statements::MAX_WINDOW),
            "seen": read.seen,
            "until": until,
        });
        let rows = self
            .engine
            .read(statements::BEGIN_TURN, params(bound))
            .await?;
        let row = single(&rows)?;
        let mut window = turns(row, "window")?;
        // Positions rise along a chain: both are given in one transaction.
        window.sort_by_key(|turn| turn.position);
        Ok(TurnContext {
            duplicate: match row.get("duplicate") {
                None | Some(Value::Null) => None,
                Some(found) => Some(turn(found)?),
            },
            window,
            summary: summary(row)?,
            news: news(row, read.seen, until)?,
        })
    }

    /// Appends a turn to its session's chain, in one transaction and one round trip.
    pub async fn append(
        &self,
        guard: &SessionGuard,
        new: &NewTurn,
    ) -> Result<Appended, StoreError> {
        let statement = match (new.context.is_empty(), new.recalled.is_empty()) {
            (true, true) => statements::APPEND,
            (true, false) => statements::APPEND_RECALLED,
            (false, true | false) => statements::APPEND_LINKED,
        };
        let bound = append_params(&self.engine, guard.session().as_str(), new);
        let refusal = match self.engine.write(statement, bound).await {
            Ok(rows) => match rows.first() {
                Some(row) => {
                    return Ok(Appended::Saved {
                        position: integer(row, "position"),
                    });
                }
                None => unexpected("a save that wrote nothing, of an event without a turn"),
            },
            // The same event at the same time in another session runs into the constraint.
            Err(error @ (StoreError::Refused { .. } | StoreError::Invalid(_))) => error,
            Err(error) => return Err(error),
        };
        match self.turn_of_event(&EventId::new(&new.turn.event)).await? {
            Some(turn) => Ok(Appended::Duplicate(Box::new(turn))),
            None => Err(refusal),
        }
    }

    /// Appends turns to the chains of their sessions, in their order: all of them in one transaction,
    /// or none. Those whose event has made a turn already are left out.
    pub async fn append_all(
        &self,
        guards: &[SessionGuard],
        turns: &[Arc<NewTurn>],
    ) -> Result<(), StoreError> {
        super::appending::append_all(self, guards, turns).await
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

    /// The audience's turns after `seen`, at most `limit`, in the order of their positions.
    pub async fn turns_since(
        &self,
        audience: &AudienceId,
        seen: i64,
        limit: usize,
    ) -> Result<News, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut found = News {
            through: seen,
            more: true,
            ..News::default()
        };
        // What was forgotten leaves holes, so a stretch may hold fewer turns than positions.
        loop {
            let missing = limit - i64::try_from(found.turns.len()).unwrap_or(i64::MAX);
            let until = found
                .through
                .saturating_add(missing.min(statements::NEWS_LIMIT));
            let bound = json!({
                "audience": audience.as_str(), "seen": found.through, "until": until,
            });
            let rows = self
                .engine
                .read(statements::TURNS_SINCE, params(bound))
                .await?;
            let next = stretch(&rows, found.through, until)?;
            found.turns.extend(next.turns);
            found.through = next.through;
            found.more = next.more;
            found.epoch = next.epoch;
            let is_full = i64::try_from(found.turns.len()).unwrap_or(i64::MAX) >= limit;
            if is_full || !found.more {
                return Ok(found);
            }
        }
    }

    /// The session's turns that follow `after` (or its first ones), at most `limit`, in order.
    pub async fn chain(
        &self,
        session: &ConversationId,
        after: Option<ResponseId>,
        limit: usize,
    ) -> Result<Vec<Turn>, StoreError> {
        let mut found: Vec<Turn> = Vec::new();
        while found.len() < limit {
            let step = (limit - found.len()).min(statements::CHAIN_STEP);
            let from = found.last().map(|turn| turn.id).or(after);
            let next = self.chain_step(session, from, step).await?;
            let is_end = next.len() < step;
            found.extend(next);
            if is_end {
                break;
            }
        }
        Ok(found)
    }

    /// Replaces the summary, unless the session's summary is no longer the one that covers up to
    /// `previous`, or something was forgotten since `epoch`. Says whether it did.
    pub async fn save_summary(
        &self,
        guard: &SessionGuard,
        summary: &Summary,
        previous: Option<ResponseId>,
        epoch: i64,
    ) -> Result<bool, StoreError> {
        let bound = json!({
            "session": guard.session().as_str(),
            "text": summary.text,
            "through": summary.through.to_string(),
            "previous": previous.map(|id| id.to_string()).unwrap_or_default(),
            "epoch": epoch,
        });
        let rows = self
            .engine
            .write(statements::SAVE_SUMMARY, params(bound))
            .await?;
        Ok(!rows.is_empty())
    }

    /// What the session's last answer, or the given one, was made from.
    pub async fn explain(
        &self,
        session: &ConversationId,
        response: Option<ResponseId>,
    ) -> Result<Option<Explanation>, StoreError> {
        let statement = match response {
            Some(_) => statements::EXPLAIN_ONE,
            None => statements::EXPLAIN_LAST,
        };
        let bound = json!({
            "session": session.as_str(),
            "response": response.map(|id| id.to_string()),
        });
        let rows = self.engine.read(statement, params(bound)).await?;
        let Some(row) = rows.first() else {
            return Ok(None);
        };
        let mut recalled = list(row, "memories")
            .iter()
            .map(|memory| {
                let score = memory
                    .get("score")
                    .and_then(Value::as_f64)
                    .unwrap_or_default();
                Ok((score, turn(memory.get("turn").unwrap_or(&Value::Null))?))
            })
            .collect::<Result<Vec<_>, StoreError>>()?;
        recalled.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        Ok(Some(Explanation {
            trace: trace(row),
            votes: Votes::of(&text(row, "feedback").unwrap_or_default()),
            turn: turn(row.get("turn").unwrap_or(&Value::Null))?,
            recalled,
            removed_sources: list(row, "removed")
                .iter()
                .filter_map(|name| name.as_str().map(str::to_owned))
                .collect(),
            context: list(row, "sources")
                .iter()
                .map(|source| knowledge_node(&self.engine, source))
                .collect::<Result<_, _>>()?,
        }))
    }

    /// Removes turns with their vectors, the summary that covered them and the quotes of them.
    pub async fn forget(
        &self,
        guard: &SessionGuard,
        what: Forget,
    ) -> Result<Forgotten, StoreError> {
        let id = match what {
            Forget::Turn(id) => Some(id.to_string()),
            Forget::Session => None,
        };
        let wish = json!({
            "session": guard.session().as_str(), "id": id,
            // What was said within this millisecond was said before.
            "until": chrono::Utc::now().timestamp_millis() + 1,
        });
        let intent = self.engine.intend(&wish)?;
        // If this fails, the intent stays and the next start finishes it.
        let forgotten = self.erase(wish).await?;
        if let Some(intent) = intent.filter(|_| !forgotten.is_in_file) {
            intent.done()?;
        }
        Ok(forgotten)
    }

    /// Whose vectors the turns have that recall compares vectors of: neither volatile ones nor
    /// questions that memory alone answered.
    pub async fn embedders(&self) -> Result<Vec<EmbeddedBy>, StoreError> {
        let rows = self
            .engine
            .read(statements::EMBEDDERS, params(json!({})))
            .await?;
        let told = |row: &Row| {
            let told = list(row, "told").iter().filter_map(Value::as_str);
            told.filter(|text| !is_question(text)).count()
        };
        let by = |row: &Row| EmbeddedBy {
            audience: AudienceId::new(text(row, "audience").unwrap_or_default()),
            embedder: text(row, "embedder").filter(|name| !name.is_empty()),
            turns: usize::try_from(integer(row, "turns")).unwrap_or_default() + told(row),
        };
        Ok(rows.iter().map(by).filter(|by| by.turns > 0).collect())
    }

    /// Replaces vectors by those of `embedder` and ends the audience's epoch, in one transaction.
    /// `None` says that the embedder knows nothing of the turn's text: it is not stale any more.
    /// Says how many turns there still were.
    pub async fn set_embeddings(
        &self,
        embedder: &str,
        audience: &AudienceId,
        vectors: &[(ResponseId, Option<Vec<f32>>)],
    ) -> Result<usize, StoreError> {
        let rows: Vec<Value> = vectors
            .iter()
            .map(|(id, vector)| {
                let vector = vector.as_deref();
                let embedding = vector.map_or(Value::Null, |vector| {
                    (self.engine.dialect().embedding)(vector)
                });
                json!({"id": id.to_string(), "embedding": embedding})
            })
            .collect();
        let bound = json!({"embedder": embedder, "audience": audience.as_str(), "rows": rows});
        let rows = self
            .engine
            .write(statements::SET_EMBEDDINGS, params(bound))
            .await?;
        let turns = rows.first().map_or(0, |row| integer(row, "turns"));
        Ok(usize::try_from(turns).unwrap_or_default())
    }

    /// Links a turn to earlier ones of its audience that it replaces. Those that are gone, later or of
    /// another audience are left out; says how many were linked.
    pub async fn supersede(
        &self,
        audience: &AudienceId,
        turn: ResponseId,
        earlier: &[(ResponseId, How)],
    ) -> Result<usize, StoreError> {
        let rows: Vec<Value> = earlier
            .iter()
            .map(|(id, how)| json!({"id": id.to_string(), "how": how.as_str()}))
            .collect();
        let bound = json!({"audience": audience.as_str(), "id": turn.to_string(), "rows": rows});
        let rows = self
            .engine
            .write(statements::SUPERSEDE, params(bound))
            .await?;
        let links = rows.first().map_or(0, |row| integer(row, "links"));
        Ok(usize::try_from(links).unwrap_or_default())
    }

    /// Which turn of an audience replaces which earlier one, in no order.
    pub async fn superseded(
        &self,
        audience: &AudienceId,
    ) -> Result<Vec<(ResponseId, ResponseId)>, StoreError> {
        let bound = params(json!({"audience": audience.as_str()}));
        let rows = self.engine.read(statements::SUPERSEDED, bound).await?;
        let id = |row, column| response_id(&text(row, column).unwrap_or_default());
        rows.iter()
            .map(|row| Ok((id(row, "later")?, id(row, "earlier")?)))
            .collect()
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
            mut warnings,
        } = self.engine.about().await?;
        let schema = migrate::schema(&self.engine).await?;
        let missing = migrate::missing(&self.engine).await?;
        let counts = self
            .engine
            .read(statements::COUNTS, params(json!({})))
            .await?;
        let counts = single(&counts)?;
        if schema.unfinished.is_some() {
            warnings.push(migrate::INTERRUPTED_IMPORT.to_owned());
        }
        Ok(StoreHealth {
            engine,
            schema_version: schema.version,
            missing,
            sessions: usize::try_from(integer(counts, "sessions")).unwrap_or_default(),
            turns: usize::try_from(integer(counts, "turns")).unwrap_or_default(),
            reading,
            warnings,
        })
    }

    /// Ends cleanly; nothing may be asked of the store afterwards.
    pub async fn close(&self) -> Result<(), StoreError> {
        self.engine.close().await
    }
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

pub(super) fn knowledge_node(
    engine: &dyn Engine,
    source: &Value,
) -> Result<KnowledgeNode, StoreError> {
    let mut node = source
        .as_object()
        .map(GraphNode::from_row)
        .ok_or_else(|| unexpected("a node that is no map"))?;
    (engine.dialect().strip)(&mut node);
    let mut properties: Map<String, Value> = node
        .properties
        .into_iter()
        .map(|(key, value)| (key, plain(value)))
        .collect();
    properties = without_vectors(properties);
    Ok(KnowledgeNode {
        has_changed: source.get("hasChanged").and_then(Value::as_bool) == Some(true),
        labels: node.labels,
        properties: properties
            .into_iter()
            .take(SHOWN_PROPERTIES)
            .map(|(key, value)| (key, abridged(value)))
            .collect(),
    })
}

/// What is too long for an explanation, cut.
fn abridged(value: Value) -> Value {
    let cut = |text: &str| {
        let start: String = text.chars().take(SHOWN_CHARACTERS).collect();
        Value::String(start + "…")
    };
    match &value {
        Value::String(text) if text.chars().count() > SHOWN_CHARACTERS => cut(text),
        Value::Array(_) | Value::Object(_) if value.to_string().len() > SHOWN_CHARACTERS => {
            cut(&value.to_string())
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => value,
    }
}
