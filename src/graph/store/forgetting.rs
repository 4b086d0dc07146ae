//! Forgetting: deletes turns with everything made from them, everywhere.

use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use muninn_platform::{AudienceId, ConversationId};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::answers::{ForgottenEvent, Votes};
use super::marks::Covered;
use super::messages::counted;
use super::record::{integer, params, response_id, text, title, unexpected};
use super::repeating::Repetition;
use super::statements::{accounts, forgetting as cypher, items, messages, tokens};
use super::{GraphStore, statements};
use crate::graph::engine::value::instant;
use crate::graph::engine::{Engine, Params, Row, TransactionStep};
use crate::graph::session::SessionGuard;
use crate::graph::{Forget, Forgotten, StoreError};

use crate::graph::types::file_notes::NOTE;
use crate::graph::types::redacted::REDACTED_ANSWER;
use crate::graph::types::response_id::ResponseId;

/// Maximum number of turns deleted in one transaction.
pub(super) const MAX_TURNS_PER_TRANSACTION: usize = 100;
/// The longest transaction.
const TRANSACTION_TIMEOUT: Duration = Duration::from_secs(60);
/// Greater than every ID.
const BEHIND_ALL: &str = "~";

/// Answers that were emptied because they contained what is forgotten.
#[derive(Debug, Default)]
struct Emptied {
    /// Including those that were empty before.
    all: Vec<ResponseId>,
    /// Number of those that were emptied now.
    now: usize,
}

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
        } else if let Some(turns) = listed(&wish) {
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

    /// Deletes a turn or a whole session.
    async fn erase_in_session(&self, wish: Value) -> Result<Forgotten, StoreError> {
        // Marked first: a superfluous mark hides a little, but a missing one brings back what was forgotten.
        self.write_marks(&wish).await?;
        let session = wish.get("session").and_then(Value::as_str);
        let (turns, statement) = match wish.get("id").and_then(Value::as_str) {
            Some(id) => (vec![response_id(id)?], statements::FORGET_TURN),
            None => {
                let turns = self.turns_of(session.unwrap_or_default()).await?;
                (turns, statements::FORGET_SESSION)
            }
        };
        let mut bound = params(wish);
        bound.insert("blot".to_owned(), json!(REDACTED_ANSWER));
        bound.insert("fileNote".to_owned(), json!(format!("\n{NOTE}")));
        let emptied = self.empty_repeating(&turns).await?;
        self.copy_held_turns(&turns, "").await?;
        let erased = if turns.len() > MAX_TURNS_PER_TRANSACTION {
            self.erase_in_batches(&turns).await?
        } else {
            self.copy_held_quotes(&turns).await?;
            let rows = self.engine.write(statement, bound).await?;
            counted(rows.first(), "turns")
        };
        Ok(Forgotten {
            turns: erased,
            quotes: emptied.now,
            is_in_file: false,
            // They are empty now: whoever delivers one from here on notices.
            emptied: self.emptied_deliveries(&emptied.all).await?,
        })
    }

    /// Deletes many turns of a session, in order, and returns their number. What is said there meanwhile stays.
    async fn erase_in_batches(&self, turns: &[ResponseId]) -> Result<usize, StoreError> {
        let mut erased = 0;
        for ids in turns.chunks(MAX_TURNS_PER_TRANSACTION) {
            let bound = json!({"ids": ids, "most": MAX_TURNS_PER_TRANSACTION});
            // They are marked, and what repeats them is empty.
            erased += self.erase_found(cypher::AMONG, bound, false).await?.turns;
        }
        Ok(erased)
    }

    /// Empties the answers that repeat some turns, until no more are found: whoever keeps an answer after this search notices
    /// that the answer it was given is empty. Returns these, and the answers from memory that quote the turns in other words,
    /// which are emptied together with the deletion.
    async fn empty_repeating(&self, turns: &[ResponseId]) -> Result<Emptied, StoreError> {
        let mut repeating = self.repeating(turns).await?;
        let mut emptied = Emptied::default();
        loop {
            let found = repeating.look(self).await?;
            self.clear_traces(&repeating.take_traced()).await?;
            if found.is_empty() {
                break;
            }
            let (empty, full): (Vec<_>, Vec<_>) = found.into_iter().partition(|it| it.is_empty());
            emptied.all.extend(empty.iter().map(|it| it.id));
            let now = self.empty(&full).await?;
            // An answer that was regenerated since may repeat something else.
            let others = full.iter().filter(|it| !now.contains(&it.id));
            repeating.look_again_at(others);
            emptied.now += now.len();
            emptied.all.extend(now);
        }
        let mut quoting = self.answers_quoting(turns).await?;
        quoting.retain(|it| !emptied.all.contains(it));
        emptied.now += quoting.len();
        emptied.all.extend(quoting);
        Ok(emptied)
    }

    /// Removes how some answers came to be, and keeps the answers.
    async fn clear_traces(&self, answers: &[ResponseId]) -> Result<(), StoreError> {
        if answers.is_empty() {
            return Ok(());
        }
        let ids: Vec<String> = answers.iter().map(ResponseId::to_string).collect();
        let bound = params(json!({"ids": ids}));
        self.engine
            .write(cypher::CLEAR_TRACES, bound)
            .await
            .map(drop)
    }

    /// Empties answers whose text is still the one that was examined. Returns those that are empty.
    async fn empty(&self, answers: &[Repetition]) -> Result<Vec<ResponseId>, StoreError> {
        if answers.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<ResponseId> = answers.iter().map(|it| it.id).collect();
        self.copy_held_answers(&ids).await?;
        let answers = answers
            .iter()
            .map(|it| json!({"id": it.id.to_string(), "output": it.output}));
        let answers: Vec<Value> = answers.collect();
        let bound = params(json!({"answers": answers, "blot": REDACTED_ANSWER}));
        let rows = self.engine.write(cypher::EMPTY, bound).await?;
        let ids = rows
            .iter()
            .map(|row| response_id(&text(row, "id").unwrap_or_default()));
        ids.collect()
    }

    /// Deletes everything of a person in batches, and their votes.
    async fn erase_person(&self, wish: &Value) -> Result<Forgotten, StoreError> {
        // Without a bound, nothing that another process's clock dates later is left.
        let made_until = wish["madeUntil"].as_i64().unwrap_or(i64::MAX);
        let people = wish.get("people").and_then(Value::as_array);
        let people = people.into_iter().flatten().filter_map(Value::as_str);
        let mut forgotten = Forgotten::default();
        for person in people {
            let said_until = wish["saidUntil"].as_i64();
            if let Some(until) = said_until.and_then(DateTime::from_timestamp_millis) {
                self.mark_covered(Covered::Person(person), until).await?;
            }
            let bound = json!({
                "author": person, "until": wish["until"], "before": BEHIND_ALL, "most": MAX_TURNS_PER_TRANSACTION,
            });
            let found = self.erase_found(cypher::OF_PERSON, bound, true).await?;
            forgotten = forgotten.plus(found);
            self.erase_opinions(person, made_until).await?;
            let lists = json!({"prefix": format!("list/{person}/"), "until": made_until});
            self.engine.write(cypher::DROP_LISTS, params(lists)).await?;
        }
        let bound = params(json!({"ids": wish["people"], "until": made_until}));
        for statement in [accounts::FORGET_PEOPLE, accounts::FORGET, tokens::FORGET] {
            self.engine.write(statement, bound.clone()).await?;
        }
        Ok(forgotten)
    }

    /// Deletes what is past its retention. Answers that repeat it are deleted when their own time comes.
    async fn erase_old(&self, wish: &Value) -> Result<Forgotten, StoreError> {
        let bound = json!({"audience": wish["audience"], "old": wish["old"], "most": MAX_TURNS_PER_TRANSACTION});
        self.erase_found(cypher::OLD, bound, false).await
    }

    /// Deletes what a person said to others in an audience.
    async fn erase_said(&self, wish: &Value) -> Result<Forgotten, StoreError> {
        let bound = json!({
            "audience": wish["audience"], "author": wish["author"], "most": MAX_TURNS_PER_TRANSACTION,
        });
        self.erase_found(messages::SAID_BY, bound, true).await
    }

    /// Deletes what a statement finds, in batches, until nothing is left. If somebody wants it forgotten, also empties what
    /// repeats it, and marks it so that it is not kept again.
    pub(super) async fn erase_found(
        &self,
        statement: &str,
        bound: Value,
        is_wanted: bool,
    ) -> Result<Forgotten, StoreError> {
        let bound = params(bound);
        let mut forgotten = Forgotten::default();
        let mut last = None;
        loop {
            let rows = self.engine.read(statement, bound.clone()).await?;
            let turns: Vec<KeptTurn> = rows.iter().map(kept_turn).collect::<Result<_, _>>()?;
            if turns.is_empty() {
                break;
            }
            let ids: Vec<ResponseId> = turns.iter().map(|turn| turn.id).collect();
            if last.replace(ids[0]) == Some(ids[0]) {
                self.forget_unchained(&turns[0]).await?;
                last = None;
                continue;
            }
            let mut emptied = Emptied::default();
            if is_wanted {
                // Marked first, as in a session.
                let marks = turns.iter().map(ForgottenEvent::from).collect();
                self.mark_forgotten(&marks).await?;
                emptied = self.empty_repeating(&ids).await?;
                forgotten.quotes += emptied.now;
            }
            self.copy_held_turns(&ids, "").await?;
            self.copy_held_quotes(&ids).await?;
            let mut steps: Vec<_> = turns.iter().map(take_out).collect();
            steps.extend(self.retitle_steps(&turns).await?);
            // Together with the turns, as a process that continues after a kill would not find them any more.
            let sessions: HashSet<&str> = turns.iter().map(|it| it.session.as_str()).collect();
            let audiences: HashSet<&str> = turns.iter().map(|it| it.audience.as_str()).collect();
            let places = params(json!({"sessions": sessions, "audiences": audiences}));
            steps.push((cypher::DROP_EMPTY_SESSIONS, places.clone()));
            steps.push((cypher::UNNAME_EMPTY_CHANNELS, places));
            self.run_together(steps).await?;
            forgotten.turns += turns.len();
            forgotten
                .emptied
                .extend(self.emptied_deliveries(&emptied.all).await?);
        }
        Ok(forgotten)
    }

    /// For each conversation whose first question is among some turns that are to be deleted: gives it the title of the next
    /// one.
    async fn retitle_steps(
        &self,
        turns: &[KeptTurn],
    ) -> Result<Vec<(&'static str, Params)>, StoreError> {
        let answered = turns.iter().filter(|it| !it.is_message && !it.is_note);
        let sessions: BTreeSet<&ConversationId> = answered.map(|it| &it.session).collect();
        let ids: HashSet<ResponseId> = turns.iter().map(|it| it.id).collect();
        let mut steps = Vec::new();
        for session in sessions {
            let first = self.answers_after(session, None, 1).await?;
            if !first.iter().any(|it| ids.contains(&it.id)) {
                continue;
            }
            let next = self.answers_after(session, None, ids.len() + 1).await?;
            let next = next.iter().find(|it| !ids.contains(&it.id));
            let bound = json!({
                "session": session, "title": next.map(|it| title(it.said())),
                "first": next.map(|it| it.id.to_string()).unwrap_or_default(),
                "input": next.map(|it| it.input.as_str()).unwrap_or_default(),
            });
            steps.push((cypher::RETITLE, params(bound)));
        }
        Ok(steps)
    }

    /// Deletes a turn that is on no chain. An import of an earlier version may have left it there.
    async fn forget_unchained(&self, turn: &KeptTurn) -> Result<(), StoreError> {
        let id = turn.id.to_string();
        let bound = params(json!({"id": id, "blot": REDACTED_ANSWER}));
        let rows = self.engine.write(cypher::FORGET_UNCHAINED, bound).await?;
        match rows.first() {
            Some(_) => Ok(()),
            None => Err(unexpected(format!("turn {id} cannot be deleted"))),
        }
    }

    /// Runs statements in one transaction.
    async fn run_together(&self, steps: Vec<(&'static str, Params)>) -> Result<(), StoreError> {
        let (sender, receiver) = mpsc::channel(steps.len() + 1);
        for (statement, bound) in steps {
            // The channel has room for all of them.
            let _ = sender.try_send(TransactionStep::Run(statement.to_owned(), bound));
        }
        let _ = sender.try_send(TransactionStep::Commit);
        self.engine
            .transact(receiver, TRANSACTION_TIMEOUT)
            .await
            .map(drop)
    }

    /// Removes a person's votes on the answers of until a moment, in milliseconds. Votes have no time of their own.
    async fn erase_opinions(&self, person: &str, until: i64) -> Result<(), StoreError> {
        let is_later = |row: &Row| {
            let at = row.get("at").and_then(instant);
            at.is_some_and(|at| at.timestamp_millis() > until)
        };
        let mut before = BEHIND_ALL.to_owned();
        loop {
            let bound = params(json!({
                // As it appears in a line of the feedback.
                "person": json!(person).to_string(), "before": before, "most": MAX_TURNS_PER_TRANSACTION,
            }));
            let rows = self.engine.read(items::OPINIONS_OF, bound).await?;
            for row in rows.iter().filter(|row| !is_later(row)) {
                let said = text(row, "feedback").unwrap_or_default();
                let bound = params(json!({
                    "id": text(row, "id"), "before": said, "feedback": Votes::without(&said, person),
                }));
                self.engine.write(cypher::SET_FEEDBACK, bound).await?;
            }
            match rows.last().and_then(|row| text(row, "id")) {
                Some(last) if rows.len() == MAX_TURNS_PER_TRANSACTION => before = last,
                Some(_) | None => return Ok(()),
            }
        }
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

/// Removes a turn from its chain.
fn take_out(turn: &KeptTurn) -> (&'static str, Params) {
    let statement = match turn.is_message {
        true => messages::FORGET,
        false => statements::TAKE_OUT,
    };
    let bound = json!({
        "session": turn.session, "id": turn.id.to_string(), "blot": REDACTED_ANSWER,
    });
    (statement, params(bound))
}

#[cfg(test)]
mod tests;
