//! Operations on existing answers: replacing, delivering, rating and counting them.

mod listings;
mod votes;

use std::collections::{BTreeSet, HashSet};

use chrono::{DateTime, Utc};
use muninn_platform::{
    AudienceId, ConversationId, Delivered, EventId, Feedback, MessageId, OwnSession, PriorMessage,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub use self::listings::Overlisted;
use self::listings::{SPOKEN_AT_ONCE, listings};
pub use self::votes::Votes;
pub use crate::graph::types::delivered_answer::DeliveredAnswer;

use super::GraphStore;
use super::record::{
    append_params, each_turn, integer, is_deleted, params, response_id, source, text, turn,
};
use super::statements::{self, answers, forgetting};
use crate::graph::engine::value::instant;
use crate::graph::engine::{Engine, Purge, Row};
use crate::graph::session::SessionGuard;
use crate::graph::types::delivered_answer::may_stand;
use crate::graph::types::redacted;
use crate::graph::types::response_id::ResponseId;
use crate::graph::{NewTurn, StoreError, Turn};

/// Maximum bytes of feedback per answer; a vote takes about a hundred.
const MOST_FEEDBACK: usize = 64 * 1_024;
/// Maximum characters of a question used as a session's title.
const TITLE_CHARS: usize = 200;

/// The usage since a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// By the person, in all places.
    pub person: Spent,
    /// In the audience, by everybody.
    pub audience: Spent,
    /// By everybody, in all places.
    pub everyone: Spent,
}

/// Number of turns, and their tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    pub turns: u64,
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
    /// How many of the read tokens were cached by the services.
    pub cached_tokens: u64,
    /// In millionths of a dollar.
    pub cost_micros: u64,
}

/// How much is remembered of an audience.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryStats {
    pub sessions: u64,
    pub turns: u64,
    /// When the first turn was kept.
    pub since: Option<DateTime<Utc>>,
}

/// What was forgotten in a session, without its content. The platform may still have it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Everything up to this moment.
    pub until: Option<DateTime<Utc>>,
    /// The content of these events.
    pub events: HashSet<String>,
}

impl Marks {
    /// Whether this message was forgotten.
    pub fn covers_message(&self, said: &PriorMessage) -> bool {
        self.covers_event(said.event.as_ref(), said.at)
    }

    /// The same for an optional event and a time.
    pub fn covers_event(&self, event: Option<&EventId>, said_at: DateTime<Utc>) -> bool {
        self.until.is_some_and(|until| said_at <= until)
            || event.is_some_and(|event| self.events.contains(event.as_str()))
    }
}

/// An event whose turn was forgotten before it was saved in the graph.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ForgottenEvent {
    pub session: String,
    pub event: String,
}

impl ForgottenEvent {
    pub fn of(turn: &NewTurn) -> Self {
        Self {
            session: turn.turn.session.clone(),
            event: turn.turn.event.clone(),
        }
    }
}

/// Maximum number of marks per statement.
const MARKS_AT_ONCE: usize = 1000;

/// Selects an answer. Forgotten answers are not found.
#[derive(Clone, Copy, Debug)]
pub enum WhichResponse<'a> {
    /// The one of the audience that was delivered as this message.
    SentAs(&'a AudienceId, &'a MessageId),
    /// The last one of the audience.
    LastOf(&'a AudienceId),
    /// The last one to a person of the audience.
    LastTo(&'a AudienceId, &'a str),
    /// The last one of the session. None if the bot said nothing there.
    LastIn(&'a ConversationId),
}

/// Selects sessions.
#[derive(Clone, Copy, Debug)]
pub enum WhichSessions<'a> {
    /// Those of an audience.
    Of(&'a AudienceId),
    /// Those of a place and everything below it: whose own or audience's ID is the place's, or begins with it and a slash.
    Under(&'a str),
    /// Those whose IDs begin with `prefix`, newest first, at most `most`.
    Newest { prefix: &'a str, most: usize },
}

impl GraphStore {
    /// The turn of an event, without its vector.
    pub async fn turn_of_event(&self, event: &EventId) -> Result<Option<Turn>, StoreError> {
        let bound = params(json!({"event": event.as_str()}));
        let rows = self.engine.read(statements::TURN_BY_EVENT, bound).await?;
        rows.first()
            .and_then(|row| row.get("turn"))
            .filter(|value| !is_deleted(value))
            .map(turn)
            .transpose()
    }

    /// The audience of a session.
    pub async fn audience_of(
        &self,
        session: &ConversationId,
    ) -> Result<Option<AudienceId>, StoreError> {
        let bound = params(json!({"session": session.as_str()}));
        let rows = self.engine.read(answers::AUDIENCE_OF, bound).await?;
        let audience = rows.first().and_then(|row| text(row, "audience"));
        Ok(audience.map(AudienceId::new))
    }

    /// Replaces the turn with the same ID, which keeps its event, its position and its place in the chain. Indexes notice it
    /// by the epoch. Returns whether the turn existed.
    pub async fn replace(&self, guard: &SessionGuard, new: &NewTurn) -> Result<bool, StoreError> {
        self.replace_in(guard.session(), new).await
    }

    pub(in crate::graph) async fn replace_in(
        &self,
        session: &ConversationId,
        new: &NewTurn,
    ) -> Result<bool, StoreError> {
        let statement = match (new.context.is_empty(), new.recalled.is_empty()) {
            (true, true) => answers::REPLACE,
            (true, false) => answers::REPLACE_RECALLED,
            (false, true | false) => answers::REPLACE_LINKED,
        };
        let mut bound = append_params(&self.engine, session.as_str(), new);
        bound.insert("blot".to_owned(), json!(redacted::REDACTED_ANSWER));
        // A separate copy of each wording.
        let wording = format!(" {}", chrono::Utc::now().timestamp_millis());
        self.copy_held_turns(&[new.turn.id], &wording).await?;
        self.copy_held_quotes(&[new.turn.id]).await?;
        let rows = self.engine.write(statement, bound).await?;
        self.engine.purge(Purge::Replaced).await?;
        Ok(!rows.is_empty())
    }

    /// Records the delivered messages of an answer. Returns `false` if the answer was forgotten meanwhile or is about to be,
    /// or was emptied because of what it repeats.
    pub async fn set_delivered(
        &self,
        response: ResponseId,
        delivered: &Delivered,
    ) -> Result<bool, StoreError> {
        let bound = json!({
            "id": response.to_string(), "delivered": json!(delivered).to_string(),
            "blot": redacted::REDACTED_ANSWER,
        });
        let written = self.engine.write(answers::SET_DELIVERED, params(bound));
        let rows = written.await?;
        let stands = rows.first().and_then(|row| row.get("stands")?.as_bool());
        Ok(stands == Some(true))
    }

    /// Records a vote on an answer or its withdrawal. `None` if it is about nothing known here.
    pub async fn keep_feedback(
        &self,
        audience: &AudienceId,
        feedback: &Feedback,
    ) -> Result<Option<ResponseId>, StoreError> {
        let (statement, sought) = match feedback {
            Feedback::Given { answer, .. } => (answers::GIVE_FEEDBACK, answer.as_str()),
            Feedback::Withdrawn { event } => (answers::WITHDRAW_FEEDBACK, event.as_str()),
        };
        let bound = json!({
            "audience": audience.as_str(),
            // As it appears in the list of messages, or in a line of the feedback.
            "sought": json!(sought).to_string(),
            "line": votes::line(feedback, Utc::now()),
            "most": MOST_FEEDBACK,
        });
        let rows = self.engine.write(statement, params(bound)).await?;
        rows.first()
            .map(|row| super::record::response_id(&text(row, "id").unwrap_or_default()))
            .transpose()
    }

    /// An answer with its session.
    pub async fn find_response(
        &self,
        which: WhichResponse<'_>,
    ) -> Result<Option<(ConversationId, ResponseId)>, StoreError> {
        let (statement, bound) = match which {
            WhichResponse::SentAs(audience, message) => (
                answers::RESPONSE_OF_MESSAGE,
                json!({
                    "audience": audience.as_str(),
                    // As it appears in the list of messages.
                    "sought": json!(message.as_str()).to_string(),
                }),
            ),
            WhichResponse::LastOf(audience) => (
                answers::LAST_RESPONSE_OF,
                json!({"audience": audience.as_str()}),
            ),
            WhichResponse::LastTo(audience, person) => (
                answers::LAST_OF_PERSON,
                json!({"audience": audience.as_str(), "author": person}),
            ),
            WhichResponse::LastIn(session) => {
                (answers::LAST_IN, json!({"session": session.as_str()}))
            }
        };
        let rows = self.engine.read(statement, params(bound)).await?;
        rows.first().map(response).transpose()
    }

    /// The delivered messages of a turn or of a whole session, of the answers that quote or repeat it, and of the listings
    /// that show these.
    pub async fn delivered_messages(
        &self,
        session: &ConversationId,
        turn: Option<ResponseId>,
    ) -> Result<Vec<DeliveredAnswer>, StoreError> {
        match turn {
            Some(turn) => self.delivered_messages_of(&[turn]).await,
            None => {
                let turns = self.turns_of(session.as_str()).await?;
                self.delivered_messages_of(&turns).await
            }
        }
    }

    /// The same for any turns.
    pub async fn delivered_messages_of(
        &self,
        turns: &[ResponseId],
    ) -> Result<Vec<DeliveredAnswer>, StoreError> {
        let mut search = self.repeating(turns).await?;
        let repeating = search.look(self).await?;
        let repeating: Vec<ResponseId> = repeating.iter().map(|it| it.id).collect();
        // These stay, unlike the messages that show how they came to be, or what they said before.
        let kept = [search.take_traced(), search.take_revised()].concat();
        let kept = self.of_turns(forgetting::SPOKEN, &kept).await?;
        let shown: Vec<DeliveredAnswer> = kept.iter().flat_map(listings).collect();
        let all = [turns, &repeating].concat();
        let quoting = self.answers_quoting(&all).await?;
        let rows = self.of_turns(forgetting::SPOKEN, turns).await?;
        let unseen: Vec<DeliveredAnswer> = rows.iter().filter_map(unconfirmed_delivery).collect();
        // Those are emptied: a process that is just delivering one notices that, and regenerates it.
        let others = [repeating, quoting].concat();
        let others = self.of_turns(forgetting::SPOKEN, &others).await?;
        let known = [rows, others].concat();
        Ok([unseen, went_out(&known), shown].concat())
    }

    /// The answers that show what some turns say, by quoting or listing them, except those turns themselves.
    pub(in crate::graph) async fn answers_quoting(
        &self,
        turns: &[ResponseId],
    ) -> Result<Vec<ResponseId>, StoreError> {
        let mut seen: HashSet<ResponseId> = turns.iter().copied().collect();
        let mut quoting = Vec::new();
        for row in self.of_turns(forgetting::QUOTING, turns).await? {
            let id = response_id(&text(&row, "id").unwrap_or_default())?;
            if seen.insert(id) {
                quoting.push(id);
            }
        }
        Ok(quoting)
    }

    /// The delivered messages of emptied answers and of the listings that show them, except answers that were regenerated
    /// since.
    pub(in crate::graph) async fn emptied_deliveries(
        &self,
        turns: &[ResponseId],
    ) -> Result<Vec<DeliveredAnswer>, StoreError> {
        let rows = self.of_turns(forgetting::SPOKEN, turns).await?;
        let is_empty = |row: &Row| row.get("isEmpty").and_then(Value::as_bool) == Some(true);
        let emptied = rows.iter().filter(|row| is_empty(row)).filter_map(|row| {
            Some(DeliveredAnswer {
                emptied: text(row, "id").and_then(|id| response_id(&id).ok()),
                ..parse_delivery(row)?
            })
        });
        Ok(emptied.chain(rows.iter().flat_map(listings)).collect())
    }

    /// Runs a statement on turns, given as `$ids`.
    async fn of_turns(
        &self,
        statement: &str,
        turns: &[ResponseId],
    ) -> Result<Vec<Row>, StoreError> {
        let ids: Vec<String> = turns.iter().map(ResponseId::to_string).collect();
        let mut all = Vec::new();
        for ids in ids.chunks(SPOKEN_AT_ONCE) {
            let bound = params(json!({"ids": ids, "blot": redacted::REDACTED_ANSWER}));
            all.extend(self.engine.read(statement, bound).await?);
        }
        Ok(all)
    }

    /// The sessions in which a person asked something and whose IDs begin with `prefix`, newest first, at most `most`.
    pub async fn own_sessions(
        &self,
        person: &str,
        prefix: &str,
        most: usize,
    ) -> Result<Vec<OwnSession>, StoreError> {
        let bound = json!({
            "author": person, "prefix": prefix, "most": most, "chars": TITLE_CHARS,
        });
        let rows = self
            .engine
            .read(answers::OWN_SESSIONS, params(bound))
            .await?;
        Ok(rows.iter().filter_map(own_session).collect())
    }

    /// How much is remembered of an audience: conversations, turns, and since when.
    pub async fn memory_stats(&self, audience: &AudienceId) -> Result<MemoryStats, StoreError> {
        let bound = params(json!({"audience": audience.as_str()}));
        let rows = self.engine.read(answers::EXTENT, bound).await?;
        let Some(row) = rows.first() else {
            return Ok(MemoryStats::default());
        };
        let count = |column| u64::try_from(integer(row, column)).unwrap_or_default();
        Ok(MemoryStats {
            sessions: count("sessions"),
            turns: count("turns"),
            since: row.get("since").and_then(instant),
        })
    }

    /// Sessions with their audiences.
    pub async fn find_sessions(
        &self,
        which: WhichSessions<'_>,
    ) -> Result<Vec<(ConversationId, AudienceId)>, StoreError> {
        let (statement, bound) = match which {
            WhichSessions::Of(audience) => {
                (answers::SESSIONS_OF, json!({"audience": audience.as_str()}))
            }
            WhichSessions::Under(place) => (
                answers::SESSIONS_UNDER,
                json!({"place": place, "under": format!("{place}/")}),
            ),
            WhichSessions::Newest { prefix, most } => (
                answers::NEWEST_SESSIONS,
                json!({"prefix": prefix, "most": most}),
            ),
        };
        let rows = self.engine.read(statement, params(bound)).await?;
        let both = |row: &Row| {
            let audience = AudienceId::new(text(row, "audience").unwrap_or_default());
            Some((ConversationId::new(text(row, "id")?), audience))
        };
        Ok(rows.iter().filter_map(both).collect())
    }

    /// The last turns of an audience, oldest first, at most `most`; without their vectors.
    pub async fn last_turns(
        &self,
        audience: &AudienceId,
        most: usize,
    ) -> Result<Vec<Turn>, StoreError> {
        let bound = params(json!({"audience": audience.as_str(), "most": most}));
        let rows = self.engine.read(answers::LAST_TURNS_OF, bound).await?;
        let turns = rows.iter().rev().filter_map(|row| row.get("turn"));
        each_turn(turns)
    }

    /// The last turns of a person in an audience, with notes and what was heard, oldest first, at most `most`; without their
    /// vectors.
    pub async fn last_turns_by(
        &self,
        audience: &AudienceId,
        person: &str,
        most: usize,
    ) -> Result<Vec<Turn>, StoreError> {
        let bound = params(json!({"audience": audience.as_str(), "author": person, "most": most}));
        let rows = self
            .engine
            .read(answers::LAST_TURNS_OF_PERSON, bound)
            .await?;
        let turns = rows.iter().rev().filter_map(|row| row.get("turn"));
        each_turn(turns)
    }

    /// What was forgotten in a session, and must not be read from the platform again.
    pub async fn marks(&self, session: &ConversationId) -> Result<Marks, StoreError> {
        let bound = params(json!({"session": session.as_str()}));
        let rows = self.engine.read(statements::MARKS, bound).await?;
        let until = rows.iter().filter_map(|row| row.get("until")?.as_i64());
        let until = until.max().and_then(DateTime::from_timestamp_millis);
        let events = rows.iter().filter_map(|row| text(row, "id"));
        Ok(Marks {
            until,
            events: events.collect(),
        })
    }

    /// Records that turns were forgotten before they were saved here.
    pub async fn mark_forgotten(
        &self,
        events: &BTreeSet<ForgottenEvent>,
    ) -> Result<(), StoreError> {
        let events: Vec<&ForgottenEvent> = events.iter().collect();
        for events in events.chunks(MARKS_AT_ONCE) {
            let bound = params(json!({"events": events}));
            self.engine.write(statements::MARK_EVENTS, bound).await?;
        }
        Ok(())
    }

    /// The usage of a person, with all of their accounts, and of an audience with those below it, since a moment.
    pub async fn usage(
        &self,
        accounts: &[String],
        audience: &AudienceId,
        since: DateTime<Utc>,
    ) -> Result<Usage, StoreError> {
        let bound = json!({
            "authors": accounts, "audience": audience.as_str(), "under": format!("{audience}/"),
            "since": since.to_rfc3339(),
        });
        let rows = self.engine.read(answers::USAGE, params(bound)).await?;
        let is = |row: &Row, column| row.get(column).and_then(Value::as_bool) == Some(true);
        Ok(Usage {
            person: spent(rows.iter().filter(|row| is(row, "isMine"))),
            audience: spent(rows.iter().filter(|row| is(row, "isHere"))),
            everyone: spent(rows.iter()),
        })
    }
}

fn response(row: &Row) -> Result<(ConversationId, ResponseId), StoreError> {
    let id = response_id(&text(row, "id").unwrap_or_default())?;
    let session = text(row, "session").unwrap_or_default();
    Ok((ConversationId::new(session), id))
}

/// The delivered messages of some turns, and the listings that show them.
fn went_out(rows: &[Row]) -> Vec<DeliveredAnswer> {
    let answers = rows.iter().filter_map(parse_delivery);
    answers.chain(rows.iter().flat_map(listings)).collect()
}

fn parse_delivery(row: &Row) -> Option<DeliveredAnswer> {
    let messages = serde_json::from_str(&text(row, "delivered")?).ok()?;
    Some(DeliveredAnswer::new(spoken_in(row)?, messages))
}

fn spoken_in(row: &Row) -> Option<ConversationId> {
    text(row, "session").map(ConversationId::new)
}

/// An answer whose delivery is not recorded, if it may have been delivered.
fn unconfirmed_delivery(row: &Row) -> Option<DeliveredAnswer> {
    let answered_at = row.get("createdAt").and_then(instant)?;
    let is_known = text(row, "delivered").is_some();
    if is_known || !source(row).is_answer() || !may_stand(answered_at) {
        return None;
    }
    Some(DeliveredAnswer {
        unseen: text(row, "event").map(EventId::new),
        ..DeliveredAnswer::new(spoken_in(row)?, Delivered::default())
    })
}

fn own_session(row: &Row) -> Option<OwnSession> {
    Some(OwnSession {
        conversation: ConversationId::new(text(row, "session")?),
        title: text(row, "title").unwrap_or_default(),
        turns: u64::try_from(integer(row, "turns")).unwrap_or_default(),
        last_at: row.get("lastAt").and_then(instant)?,
    })
}

fn spent<'a>(rows: impl Iterator<Item = &'a Row>) -> Spent {
    let count = |row, column| u64::try_from(integer(row, column)).unwrap_or_default();
    rows.fold(Spent::default(), |sum, row| Spent {
        turns: sum.turns + count(row, "turns"),
        prompt_tokens: sum.prompt_tokens + count(row, "promptTokens"),
        completion_tokens: sum.completion_tokens + count(row, "completionTokens"),
        cached_tokens: sum.cached_tokens + count(row, "cachedTokens"),
        cost_micros: sum.cost_micros + count(row, "costMicros"),
    })
}
