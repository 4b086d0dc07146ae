//! Forgetting: deletes turns with everything made from them, everywhere.

mod erasing;

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use muninn_platform::{AudienceId, ConversationId};
use serde_json::{Value, json};

use super::answers::ForgottenEvent;
use super::record::{integer, params, response_id, text};
use super::statements::{forgetting as cypher, messages};
use super::{GraphStore, statements};
use crate::graph::engine::value::instant;
use crate::graph::engine::{Engine, Params, Row};
use crate::graph::session::SessionGuard;
use crate::graph::types::response_id::ResponseId;
use crate::graph::{Forget, Forgotten, StoreError};

/// Maximum number of turns deleted in one transaction.
pub(super) const MAX_TURNS_PER_TRANSACTION: usize = 100;
/// Greater than every ID.
const BEHIND_ALL: &str = "~";

/// A turn without its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptTurn {
    pub id: ResponseId,
    pub session: ConversationId,
    pub audience: AudienceId,
    pub event: String,
    /// It is a heard message.
    pub is_message: bool,
    /// It is a note.
    pub is_note: bool,
}

impl From<&KeptTurn> for ForgottenEvent {
    fn from(turn: &KeptTurn) -> Self {
        Self {
            session: turn.session.as_str().to_owned(),
            event: turn.event.clone(),
        }
    }
}

impl GraphStore {
    /// Removes turns with their vectors, the summary that covered them, and the quotes of them.
    pub async fn forget(
        &self,
        guard: &SessionGuard,
        what: Forget,
    ) -> Result<Forgotten, StoreError> {
        self.forget_in(guard.session(), what).await
    }

    pub(in crate::graph) async fn forget_in(
        &self,
        session: &ConversationId,
        what: Forget,
    ) -> Result<Forgotten, StoreError> {
        self.delete_with_intent(wish(session, what)).await
    }

    /// Removes some turns of a session as one deletion. Messages from there up to `said_until`, by the platform's clock, are not
    /// kept again.
    pub async fn forget_turns(
        &self,
        guard: &SessionGuard,
        turns: &[ResponseId],
        said_until: DateTime<Utc>,
    ) -> Result<Forgotten, StoreError> {
        let mut wish = wish(guard.session(), Forget::Session { said_until });
        wish["turns"] = json!(turns);
        self.delete_with_intent(wish).await
    }

    /// Forgets everything that the accounts of one person said and noted and that was kept until a moment, and what they voted.
    /// What they said up to `said_until`, by the platform's clock, is not kept again, even if it is read again.
    pub async fn forget_person(
        &self,
        accounts: &[String],
        said_until: DateTime<Utc>,
        kept_until: DateTime<Utc>,
    ) -> Result<Forgotten, StoreError> {
        let wish = person_wish(accounts, said_until, kept_until);
        self.delete_with_intent(wish).await
    }

    /// The same for a command that an earlier process may have carried out already: what was voted, linked and made since stays,
    /// as far as it has a time.
    pub async fn forget_person_again(
        &self,
        accounts: &[String],
        said_until: DateTime<Utc>,
        kept_until: DateTime<Utc>,
    ) -> Result<Forgotten, StoreError> {
        let mut wish = person_wish(accounts, said_until, kept_until);
        wish["madeUntil"] = json!(kept_until.timestamp_millis());
        self.delete_with_intent(wish).await
    }

    /// A moment that is not before any turn of some people: a clock may have been set back since.
    pub async fn until_now(&self, accounts: &[String]) -> Result<DateTime<Utc>, StoreError> {
        let mut until = Utc::now();
        for account in accounts {
            let bound = params(json!({"author": account}));
            let rows = self.engine.read(cypher::NEWEST_OF, bound).await?;
            let newest = rows.first().and_then(|row| row.get("createdAt"));
            if let Some(newest) = newest.and_then(instant) {
                until = until.max(newest + TimeDelta::milliseconds(1));
            }
        }
        Ok(until)
    }

    /// Forgets what was said in an audience before a moment, because its retention has ended.
    pub async fn forget_old(
        &self,
        audience: &AudienceId,
        before: DateTime<Utc>,
    ) -> Result<Forgotten, StoreError> {
        self.delete_with_intent(json!({"audience": audience.as_str(), "old": before.to_rfc3339()}))
            .await
    }

    /// The turns of a person that were kept until a moment, newest first.
    pub async fn turns_of_person(
        &self,
        account: &str,
        until: DateTime<Utc>,
    ) -> Result<Vec<KeptTurn>, StoreError> {
        let mut all = Vec::new();
        let mut bound = params(json!({
            "author": account, "until": until.to_rfc3339(), "most": MAX_TURNS_PER_TRANSACTION,
        }));
        let mut before = BEHIND_ALL.to_owned();
        loop {
            bound.insert("before".to_owned(), json!(before));
            let rows = self.engine.read(cypher::OF_PERSON, bound.clone()).await?;
            for row in &rows {
                all.push(kept_turn(row)?);
            }
            match all.last() {
                Some(last) if rows.len() == MAX_TURNS_PER_TRANSACTION => {
                    before = last.id.to_string()
                }
                Some(_) | None => return Ok(all),
            }
        }
    }

    /// What a person said to others in an audience.
    pub async fn heard_messages_of(
        &self,
        audience: &AudienceId,
        person: &str,
    ) -> Result<Vec<KeptTurn>, StoreError> {
        let bound = params(json!({"audience": audience.as_str(), "author": person}));
        let rows = self.engine.read(messages::ALL_SAID_BY, bound).await?;
        rows.iter().map(kept_turn).collect()
    }

    /// The audiences of which anything was ever kept.
    pub async fn audiences(&self) -> Result<Vec<AudienceId>, StoreError> {
        let rows = self.engine.read(cypher::CHANNELS, Params::new()).await?;
        let audiences = rows.iter().filter_map(|row| text(row, "audience"));
        Ok(audiences.map(AudienceId::new).collect())
    }

    /// For people whose messages were forgotten as a whole: until when.
    pub async fn forgotten_people(
        &self,
        people: &BTreeSet<String>,
    ) -> Result<Vec<(String, DateTime<Utc>)>, StoreError> {
        let bound = params(json!({"authors": people}));
        let rows = self.engine.read(cypher::PERSON_MARKS, bound).await?;
        let mark = |row: &Row| {
            let until = DateTime::from_timestamp_millis(integer(row, "until"))?;
            Some((text(row, "author")?, until))
        };
        Ok(rows.iter().filter_map(mark).collect())
    }

    /// Deletes what is there now, and purges it from the files.
    pub(in crate::graph) async fn erase(&self, wish: Value) -> Result<Forgotten, StoreError> {
        let forgotten = if wish.get("people").is_some() {
            self.erase_person(&wish).await?
        } else if wish.get("old").is_some() {
            self.erase_old(&wish).await?
        } else if wish.get("author").is_some() {
            self.erase_said(&wish).await?
        } else if let Some(turns) = named_turns(&wish) {
            self.erase_turns(&wish, &turns).await?
        } else {
            self.erase_in_session(wish).await?
        };
        Ok(self.scrubbed(forgotten).await)
    }

    /// Marks a turn or a whole session as about to be forgotten. Whoever keeps an answer with something of it, or a list that
    /// shows it, after the search for those notices the mark. Nothing else changes.
    pub async fn mark_being_forgotten(
        &self,
        session: &ConversationId,
        what: Forget,
    ) -> Result<(), StoreError> {
        self.write_marks(&wish(session, what)).await
    }

    /// The same for some turns of a session, and for messages from there up to a time that are not in the graph yet.
    pub async fn mark_turns_being_forgotten(
        &self,
        session: &ConversationId,
        turns: &[ResponseId],
        said_until: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        self.mark_session(&wish(session, Forget::Session { said_until }))
            .await?;
        for ids in turns.chunks(MAX_TURNS_PER_TRANSACTION) {
            let bound = params(json!({"ids": ids, "most": MAX_TURNS_PER_TRANSACTION}));
            let rows = self.engine.read(cypher::AMONG, bound).await?;
            self.mark_events(session.as_str(), &rows).await?;
        }
        Ok(())
    }

    async fn write_marks(&self, wish: &Value) -> Result<(), StoreError> {
        if wish["id"].is_string() {
            let bound = params(wish.clone());
            return self
                .engine
                .write(statements::MARK_TURN, bound)
                .await
                .map(drop);
        }
        self.mark_session(wish).await?;
        let session = wish["session"].as_str().unwrap_or_default();
        let bound = params(json!({"session": session}));
        let rows = self.engine.read(cypher::TURNS_OF, bound).await?;
        self.mark_events(session, &rows).await
    }

    pub(super) async fn mark_session(&self, wish: &Value) -> Result<(), StoreError> {
        let mark = params(json!({"session": wish["session"], "until": wish["until"]}));
        let marking = self.engine.write(statements::MARK_SESSION, mark);
        marking.await.map(drop)
    }

    /// Marks the events of some turns of a session.
    async fn mark_events(&self, session: &str, turns: &[Row]) -> Result<(), StoreError> {
        let events = turns.iter().filter_map(|row| text(row, "event"));
        let marks = events.map(|event| ForgottenEvent {
            session: session.to_owned(),
            event,
        });
        self.mark_forgotten(&marks.collect()).await
    }

    /// The turns of a session.
    pub async fn turns_of(&self, session: &str) -> Result<Vec<ResponseId>, StoreError> {
        let bound = params(json!({"session": session}));
        let rows = self.engine.read(cypher::TURNS_OF, bound).await?;
        let ids = rows.iter().filter_map(|row| text(row, "id"));
        ids.map(|id| response_id(&id)).collect()
    }
}

/// The stored intent to forget everything of a person.
fn person_wish(accounts: &[String], said_until: DateTime<Utc>, kept_until: DateTime<Utc>) -> Value {
    json!({
        "people": accounts, "until": kept_until.to_rfc3339(),
        "saidUntil": said_until.timestamp_millis(),
    })
}

/// The stored intent to forget a turn or a whole session.
fn wish(session: &ConversationId, what: Forget) -> Value {
    let session = session.as_str();
    match what {
        Forget::Turn(id) => json!({"session": session, "id": id.to_string()}),
        Forget::Session { said_until } => {
            // Something said within this millisecond counts as before.
            let until = said_until.timestamp_millis() + 1;
            json!({"session": session, "id": null, "until": until})
        }
    }
}

fn kept_turn(row: &Row) -> Result<KeptTurn, StoreError> {
    let of = |column| text(row, column).unwrap_or_default();
    let source = of("source");
    Ok(KeptTurn {
        id: response_id(&of("id"))?,
        session: ConversationId::new(of("session")),
        audience: AudienceId::new(of("audience")),
        event: of("event"),
        is_message: source == "message",
        is_note: source == "note",
    })
}

/// The turns that a deletion names.
pub(super) fn named_turns(wish: &Value) -> Option<Vec<String>> {
    let turns = wish["turns"].as_array()?.iter();
    Some(turns.filter_map(Value::as_str).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests;
