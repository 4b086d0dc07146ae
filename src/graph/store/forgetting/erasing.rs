//! Carries out deletions: in batches, with what repeats or quotes the deleted turns.

use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

use chrono::DateTime;
use muninn_platform::ConversationId;
use serde_json::{Value, json};

use super::{BEHIND_ALL, KeptTurn, MAX_TURNS_PER_TRANSACTION, kept_turn};
use crate::graph::engine::value::instant;
use crate::graph::engine::{Engine, Params, Row, TransactionStep};
use crate::graph::store::answers::{ForgottenEvent, Votes};
use crate::graph::store::marks::Covered;
use crate::graph::store::messages::counted;
use crate::graph::store::record::{params, response_id, text, title, unexpected};
use crate::graph::store::repeating::Repetition;
use crate::graph::store::statements::{accounts, forgetting as cypher, items, messages, tokens};
use crate::graph::store::{GraphStore, statements};
use crate::graph::types::file_notes::NOTE;
use crate::graph::types::redacted::REDACTED_ANSWER;
use crate::graph::types::response_id::ResponseId;
use crate::graph::{Forgotten, StoreError};

/// The longest transaction.
const TRANSACTION_TIMEOUT: Duration = Duration::from_secs(60);

/// Answers that were emptied because they contained what is forgotten.
#[derive(Debug, Default)]
struct Emptied {
    /// Including those that were empty before, and those of which only listings have to go.
    all: Vec<ResponseId>,
    /// Number of those that were emptied now.
    now: usize,
}

impl GraphStore {
    /// Deletes a turn or a whole session.
    pub(super) async fn erase_in_session(&self, wish: Value) -> Result<Forgotten, StoreError> {
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
        self.link_to_origins(&turns).await?;
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
        // They are not emptied. Listings show what they said before.
        emptied.all.extend(repeating.take_revised());
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
    pub(super) async fn erase_person(&self, wish: &Value) -> Result<Forgotten, StoreError> {
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
    pub(super) async fn erase_old(&self, wish: &Value) -> Result<Forgotten, StoreError> {
        let bound = json!({"audience": wish["audience"], "old": wish["old"], "most": MAX_TURNS_PER_TRANSACTION});
        self.erase_found(cypher::OLD, bound, false).await
    }

    /// Deletes what a person said to others in an audience.
    pub(super) async fn erase_said(&self, wish: &Value) -> Result<Forgotten, StoreError> {
        let bound = json!({
            "audience": wish["audience"], "author": wish["author"], "most": MAX_TURNS_PER_TRANSACTION,
        });
        self.erase_found(messages::SAID_BY, bound, true).await
    }

    /// Deletes what a statement finds, in batches, until nothing is left. If somebody wants it forgotten, also empties what
    /// repeats it, and marks it so that it is not kept again.
    pub(in crate::graph::store) async fn erase_found(
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
                self.link_to_origins(&ids).await?;
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
        self.engine
            .transact(TransactionStep::all(steps), TRANSACTION_TIMEOUT)
            .await
            .map(drop)
    }

    /// Removes a person's votes of until a moment, in milliseconds. Votes of earlier versions have no time of their own, but
    /// those on answers since then are later.
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
                let left = Votes::without(&said, person, until);
                if left == said {
                    continue;
                }
                let bound = params(json!({
                    "id": text(row, "id"), "before": said, "feedback": left,
                }));
                self.engine.write(cypher::SET_FEEDBACK, bound).await?;
            }
            match rows.last().and_then(|row| text(row, "id")) {
                Some(last) if rows.len() == MAX_TURNS_PER_TRANSACTION => before = last,
                Some(_) | None => return Ok(()),
            }
        }
    }
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
