//! Answers that were given already: what became of them, and what is made of them later.

mod votes;

use std::collections::{BTreeSet, HashSet};

use chrono::{DateTime, TimeDelta, Utc};
use muninn_platform::{
    AudienceId, ConversationId, Delivered, EventId, Feedback, MessageId, OwnSession, PriorMessage,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub use self::votes::Votes;

use super::engine::{Engine, Purge, Row};
use super::record::{
    append_params, each_turn, integer, is_deleted, params, response_id, source, text, turn,
};
use super::statements::{self, answers, forgetting};
use super::store::GraphStore;
use super::{NewTurn, ResponseId, StoreError, Turn};
use crate::graph::session::SessionGuard;

/// Bytes of feedback that one answer takes; a vote is about a hundred.
const MOST_FEEDBACK: usize = 64 * 1_024;
/// Characters of a question that name a session.
const TITLE_CHARS: usize = 200;

/// What was spent since a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// By the person, wherever it was.
    pub person: Spent,
    /// In the audience, by whomever.
    pub audience: Spent,
    /// By all together.
    pub everyone: Spent,
}

/// Turns, and the tokens they took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    pub turns: u64,
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
    /// Of those read: the services had read them before.
    pub cached_tokens: u64,
    /// Millionths of a dollar.
    pub cost_micros: u64,
}

/// How much is remembered of an audience.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryStats {
    pub sessions: u64,
    pub turns: u64,
    /// When the first of the turns was.
    pub since: Option<DateTime<Utc>>,
}

/// What was forgotten in a session. The platform may have it still; it says nothing of what it was.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Everything up to then.
    pub until: Option<DateTime<Utc>>,
    /// What these events said.
    pub events: HashSet<String>,
}

impl Marks {
    /// Whether something that was said there was forgotten.
    pub fn cover(&self, said: &PriorMessage) -> bool {
        self.cover_event(said.event.as_ref(), said.at)
    }

    /// The same of what has this event, if it has one, and was said then.
    pub fn cover_event(&self, event: Option<&EventId>, said_at: DateTime<Utc>) -> bool {
        self.until.is_some_and(|until| said_at <= until)
            || event.is_some_and(|event| self.events.contains(event.as_str()))
    }
}

/// An event whose turn was forgotten before it came into the graph.
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

/// Bytes that are kept of the listings that show an answer: about 50 of them.
const MOST_LISTED: usize = 16_384;

/// Marks of one statement.
const MARKS_AT_ONCE: usize = 1000;

/// Turns of one statement about what went out of them.
const SPOKEN_AT_ONCE: usize = 200;

/// How long an answer of which nothing says that it went out may stand there all the same: until then its question waits,
/// and whoever takes that up keeps what it went out as.
const MAY_STAND: TimeDelta = TimeDelta::hours(24);

/// The messages that an answer of a session went out as.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spoken {
    pub session: ConversationId,
    pub messages: Delivered,
    /// The question, where nobody knows what its answer went out as, if it did.
    #[serde(skip)]
    pub unseen: Option<EventId>,
    /// The answer, where it was emptied: whoever gave it may give it anew, in the same messages.
    #[serde(skip)]
    pub emptied: Option<ResponseId>,
}

impl Spoken {
    pub fn new(session: ConversationId, messages: Delivered) -> Self {
        Self {
            session,
            messages,
            unseen: None,
            emptied: None,
        }
    }

    /// What an answer went out as, or may have; none of what is no answer.
    pub fn of(turn: &Turn) -> Option<Self> {
        let session = ConversationId::new(&turn.session);
        match &turn.delivered {
            Some(messages) => Some(Self::new(session, messages.clone())),
            None if turn.is_answered() && may_stand(turn.created_at) => Some(Self {
                unseen: Some(EventId::new(&turn.event)),
                ..Self::new(session, Delivered::default())
            }),
            None => None,
        }
    }
}

/// Which answer is meant. None is found of what was forgotten.
#[derive(Clone, Copy, Debug)]
pub enum WhichResponse<'a> {
    /// The one of the audience that went out as this message.
    SentAs(&'a AudienceId, &'a MessageId),
    /// The last one of the audience.
    LastOf(&'a AudienceId),
    /// The last one that a person of the audience got.
    LastTo(&'a AudienceId, &'a str),
    /// The last one of the session. None: the bot said nothing there.
    LastIn(&'a ConversationId),
}

/// Which sessions are meant.
#[derive(Clone, Copy, Debug)]
pub enum WhichSessions<'a> {
    /// Those of an audience.
    Of(&'a AudienceId),
    /// Those of a place and of what is below it: whose own id or audience is the place's, or begins
    /// with it and a slash.
    Under(&'a str),
    /// Those whose ids begin with `prefix`, the newest first, at most `most`.
    Newest { prefix: &'a str, most: usize },
}

impl GraphStore {
    /// The turn that an event made; without its vector.
    pub async fn turn_of_event(&self, event: &EventId) -> Result<Option<Turn>, StoreError> {
        let bound = params(json!({"event": event.as_str()}));
        let rows = self.engine.read(statements::TURN_BY_EVENT, bound).await?;
        rows.first()
            .and_then(|row| row.get("turn"))
            .filter(|value| !is_deleted(value))
            .map(turn)
            .transpose()
    }

    /// Who can read a session.
    pub async fn audience_of(
        &self,
        session: &ConversationId,
    ) -> Result<Option<AudienceId>, StoreError> {
        let bound = params(json!({"session": session.as_str()}));
        let rows = self.engine.read(answers::AUDIENCE_OF, bound).await?;
        let audience = rows.first().and_then(|row| text(row, "audience"));
        Ok(audience.map(AudienceId::new))
    }

    /// Puts a turn in the place of the one with its id, which keeps its event, position and place
    /// in the chain; indexes are told by the epoch. Says whether it was there.
    pub async fn replace(&self, guard: &SessionGuard, new: &NewTurn) -> Result<bool, StoreError> {
        self.replace_in(guard.session(), new).await
    }

    pub(super) async fn replace_in(
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
        bound.insert("blot".to_owned(), json!(super::forgetting::REDACTED_ANSWER));
        // A copy of each wording.
        let wording = format!(" {}", chrono::Utc::now().timestamp_millis());
        self.hold(&[new.turn.id], &wording).await?;
        let rows = self.engine.write(statement, bound).await?;
        self.engine.purge(Purge::Replaced).await?;
        Ok(!rows.is_empty())
    }

    /// Says what an answer went out as. False: it was forgotten meanwhile or is about to be, or was emptied because of what
    /// it repeats.
    pub async fn set_delivered(
        &self,
        response: ResponseId,
        delivered: &Delivered,
    ) -> Result<bool, StoreError> {
        let bound = json!({
            "id": response.to_string(), "delivered": json!(delivered).to_string(),
            "blot": super::forgetting::REDACTED_ANSWER,
        });
        let written = self.engine.write(answers::SET_DELIVERED, params(bound));
        let rows = written.await?;
        let stands = rows.first().and_then(|row| row.get("stands")?.as_bool());
        Ok(stands == Some(true))
    }

    /// Keeps what somebody thinks of an answer, or that they took it back. None: it is about nothing
    /// that is known here.
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
            // As it stands in the list of the messages, or in a line of the feedback.
            "sought": json!(sought).to_string(),
            "line": votes::line(feedback),
            "most": MOST_FEEDBACK,
        });
        let rows = self.engine.write(statement, params(bound)).await?;
        rows.first()
            .map(|row| super::record::response_id(&text(row, "id").unwrap_or_default()))
            .transpose()
    }

    /// An answer, and the session that it is in.
    pub async fn find_response(
        &self,
        which: WhichResponse<'_>,
    ) -> Result<Option<(ConversationId, ResponseId)>, StoreError> {
        let (statement, bound) = match which {
            WhichResponse::SentAs(audience, message) => (
                answers::RESPONSE_OF_MESSAGE,
                json!({
                    "audience": audience.as_str(),
                    // As it stands in the list of the messages.
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

    /// Keeps which messages quote these answers without being one of them, such as a listing, so that what is
    /// forgotten goes there, too. At most 16 KB of it for each answer.
    pub async fn quoted_in(
        &self,
        answers: &[ResponseId],
        listing: &Spoken,
    ) -> Result<(), StoreError> {
        let ids: Vec<String> = answers.iter().map(ResponseId::to_string).collect();
        let bound = params(json!({
            "ids": ids, "line": format!("{}\n", json!(listing)), "most": MOST_LISTED,
        }));
        self.engine.write(answers::QUOTED_IN, bound).await.map(drop)
    }

    /// What went out of a turn, or of all turns of a session, of the answers that quote or repeat them, and as listings
    /// that show them.
    pub async fn spoken(
        &self,
        session: &ConversationId,
        turn: Option<ResponseId>,
    ) -> Result<Vec<Spoken>, StoreError> {
        match turn {
            Some(turn) => self.spoken_of(&[turn]).await,
            None => {
                let turns = self.turns_of(session.as_str()).await?;
                self.spoken_of(&turns).await
            }
        }
    }

    /// The same of any turns.
    pub async fn spoken_of(&self, turns: &[ResponseId]) -> Result<Vec<Spoken>, StoreError> {
        let repeating = self.repeating(turns).await?.look(self).await?;
        let repeating: Vec<ResponseId> = repeating.iter().map(|it| it.id).collect();
        let all = [turns, &repeating].concat();
        let quoting = self.quoting(&all).await?;
        let rows = self.of_turns(forgetting::SPOKEN, turns).await?;
        let unseen: Vec<Spoken> = rows.iter().filter_map(unseen).collect();
        // Those are emptied: whoever delivers one just now sees that, and gives another.
        let others = [repeating, quoting].concat();
        let others = self.of_turns(forgetting::SPOKEN, &others).await?;
        let known = [rows, others].concat();
        Ok([unseen, went_out(&known)].concat())
    }

    /// The answers from memory that quote some turns, without those turns.
    pub(super) async fn quoting(
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

    /// What went out of answers that were emptied, but for those that were given anew since, and as listings that show them.
    pub(super) async fn emptied_went_out(
        &self,
        turns: &[ResponseId],
    ) -> Result<Vec<Spoken>, StoreError> {
        let rows = self.of_turns(forgetting::SPOKEN, turns).await?;
        let is_empty = |row: &Row| row.get("isEmpty").and_then(Value::as_bool) == Some(true);
        let emptied = rows.iter().filter(|row| is_empty(row)).filter_map(|row| {
            Some(Spoken {
                emptied: text(row, "id").and_then(|id| response_id(&id).ok()),
                ..spoken(row)?
            })
        });
        Ok(emptied.chain(rows.iter().flat_map(listings)).collect())
    }

    /// What a statement reads of turns by their `$ids`.
    async fn of_turns(
        &self,
        statement: &str,
        turns: &[ResponseId],
    ) -> Result<Vec<Row>, StoreError> {
        let ids: Vec<String> = turns.iter().map(ResponseId::to_string).collect();
        let mut all = Vec::new();
        for ids in ids.chunks(SPOKEN_AT_ONCE) {
            let bound = params(json!({"ids": ids, "blot": super::forgetting::REDACTED_ANSWER}));
            all.extend(self.engine.read(statement, bound).await?);
        }
        Ok(all)
    }

    /// The sessions that a person asked something in and whose ids begin with `prefix`, newest
    /// first, at most `most`.
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

    /// How much an audience said to the bot: conversations, turns, and since when.
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
            since: row.get("since").and_then(super::value::instant),
        })
    }

    /// Sessions, each with its audience.
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

    /// What was forgotten in a session, and is not to be read again from the platform.
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

    /// Keeps that turns were forgotten before they came here.
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

    /// What a person, with all of their accounts, and an audience spent since a moment.
    pub async fn usage(
        &self,
        accounts: &[String],
        audience: &AudienceId,
        since: DateTime<Utc>,
    ) -> Result<Usage, StoreError> {
        let bound = json!({
            "authors": accounts, "audience": audience.as_str(), "since": since.to_rfc3339(),
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

/// What went out of some turns, and as listings that show any.
fn went_out(rows: &[Row]) -> Vec<Spoken> {
    let answers = rows.iter().filter_map(spoken);
    answers.chain(rows.iter().flat_map(listings)).collect()
}

fn spoken(row: &Row) -> Option<Spoken> {
    let messages = serde_json::from_str(&text(row, "delivered")?).ok()?;
    Some(Spoken::new(spoken_in(row)?, messages))
}

fn spoken_in(row: &Row) -> Option<ConversationId> {
    text(row, "session").map(ConversationId::new)
}

/// An answer of which nobody knows what it went out as, if it may have.
fn unseen(row: &Row) -> Option<Spoken> {
    let answered_at = row.get("createdAt").and_then(super::value::instant)?;
    let is_known = text(row, "delivered").is_some();
    if is_known || !source(row).is_answer() || !may_stand(answered_at) {
        return None;
    }
    Some(Spoken {
        unseen: text(row, "event").map(EventId::new),
        ..Spoken::new(spoken_in(row)?, Delivered::default())
    })
}

fn may_stand(answered_at: DateTime<Utc>) -> bool {
    Utc::now() - answered_at < MAY_STAND
}

/// The listings that show an answer.
fn listings(row: &Row) -> Vec<Spoken> {
    let kept = text(row, "quotedIn").unwrap_or_default();
    let listings = kept.lines().map(serde_json::from_str);
    listings.filter_map(Result::ok).collect()
}

fn own_session(row: &Row) -> Option<OwnSession> {
    Some(OwnSession {
        conversation: ConversationId::new(text(row, "session")?),
        title: text(row, "title").unwrap_or_default(),
        turns: u64::try_from(integer(row, "turns")).unwrap_or_default(),
        last_at: row.get("lastAt").and_then(super::value::instant)?,
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
