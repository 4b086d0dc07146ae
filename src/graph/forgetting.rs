//! Forgetting: deleting turns with everything made from them, everywhere.

use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use muninn_platform::{AudienceId, ConversationId};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::answers::{ForgottenEvent, Votes};
use super::engine::{Engine, Params, Row, Step};
use super::messages::counted;
use super::record::{integer, params, response_id, text, unexpected};
use super::repeating::Repetition;
use super::session::SessionGuard;
use super::statements::{accounts, forgetting as cypher, items, messages, tokens};
use super::value::instant;
use super::{Forget, Forgotten, GraphStore, ResponseId, StoreError, statements};

/// What an answer says once what it quoted was forgotten.
pub(crate) const REDACTED_ANSWER: &str = "What this answer quoted was forgotten.";

/// Turns that are deleted in one transaction.
const AT_ONCE: usize = 100;
/// The longest transaction.
const LIMIT: Duration = Duration::from_secs(60);
/// Behind every id.
const BEHIND_ALL: &str = "~";

/// Answers that are empty, as they said what is forgotten.
#[derive(Debug, Default)]
struct Emptied {
    /// Also those that were empty before.
    all: Vec<ResponseId>,
    /// How many of them were not.
    now: usize,
}

/// Where a turn is kept, and nothing of what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptTurn {
    pub id: ResponseId,
    pub session: ConversationId,
    pub audience: AudienceId,
    pub event: String,
    /// Somebody said it to others.
    pub is_message: bool,
    /// Somebody had it noted.
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
    /// Removes turns with their vectors, the summary that covered them and the quotes of them.
    pub async fn forget(
        &self,
        guard: &SessionGuard,
        what: Forget,
    ) -> Result<Forgotten, StoreError> {
        self.forget_in(guard.session(), what).await
    }

    pub(super) async fn forget_in(
        &self,
        session: &ConversationId,
        what: Forget,
    ) -> Result<Forgotten, StoreError> {
        self.intended(wish(session, what)).await
    }

    /// Forgets everything that the accounts of one person said, noted and thought of answers until now. What they said up
    /// to `said_until` is not kept again, whoever reads it once more.
    pub async fn forget_person(
        &self,
        accounts: &[String],
        said_until: DateTime<Utc>,
    ) -> Result<Forgotten, StoreError> {
        self.intended(json!({
            "people": accounts, "until": self.until_now(accounts).await?.to_rfc3339(),
            "saidUntil": said_until.timestamp_millis(),
        }))
        .await
    }

    /// A moment up to which all is that some people have in the graph: a clock may have been set back since they said it.
    async fn until_now(&self, accounts: &[String]) -> Result<DateTime<Utc>, StoreError> {
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

    /// Forgets what was said in an audience before a moment, because it is not kept any longer.
    pub async fn forget_old(
        &self,
        audience: &AudienceId,
        before: DateTime<Utc>,
    ) -> Result<Forgotten, StoreError> {
        self.intended(json!({"audience": audience.as_str(), "old": before.to_rfc3339()}))
            .await
    }

    /// Where all is kept that a person said, the newest first.
    pub async fn kept_of(&self, account: &str) -> Result<Vec<KeptTurn>, StoreError> {
        let mut all = Vec::new();
        let until = self.until_now(&[account.to_owned()]).await?;
        let mut bound = params(json!({
            "author": account, "until": until.to_rfc3339(), "most": AT_ONCE,
        }));
        let mut before = BEHIND_ALL.to_owned();
        loop {
            bound.insert("before".to_owned(), json!(before));
            let rows = self.engine.read(cypher::OF_PERSON, bound.clone()).await?;
            for row in &rows {
                all.push(kept_turn(row)?);
            }
            match all.last() {
                Some(last) if rows.len() == AT_ONCE => before = last.id.to_string(),
                Some(_) | None => return Ok(all),
            }
        }
    }

    /// The audiences of which anything was ever kept.
    pub async fn audiences(&self) -> Result<Vec<AudienceId>, StoreError> {
        let rows = self.engine.read(cypher::CHANNELS, Params::new()).await?;
        let audiences = rows.iter().filter_map(|row| text(row, "audience"));
        Ok(audiences.map(AudienceId::new).collect())
    }

    /// Until when what some people said was forgotten with all of theirs, of those of whom it was.
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

    /// Deletes what a wish names, everywhere.
    pub(super) async fn erase(&self, wish: Value) -> Result<Forgotten, StoreError> {
        let forgotten = if wish.get("people").is_some() {
            self.erase_person(&wish).await?
        } else if wish.get("old").is_some() {
            self.erase_old(&wish).await?
        } else if wish.get("author").is_some() {
            self.erase_said(&wish).await?
        } else {
            self.erase_in_session(wish).await?
        };
        Ok(self.scrubbed(forgotten).await)
    }

    /// Marks a turn, or all of a session, so that who keeps an answer with something of it, or a list that shows it, after
    /// it was looked for sees that it is about to go. Nothing else changes.
    pub async fn mark(&self, session: &ConversationId, what: Forget) -> Result<(), StoreError> {
        self.write_marks(wish(session, what)).await
    }

    async fn write_marks(&self, wish: Value) -> Result<(), StoreError> {
        let marks = match wish.get("id") {
            None | Some(Value::Null) => &[statements::MARK_SESSION, statements::MARK_TURNS][..],
            Some(_) => &[statements::MARK_TURN][..],
        };
        let bound = params(wish);
        for mark in marks {
            self.engine.write(mark, bound.clone()).await?;
        }
        Ok(())
    }

    /// Deletes a turn, or all of a session.
    async fn erase_in_session(&self, wish: Value) -> Result<Forgotten, StoreError> {
        // First: a mark too many hides a little, a mark too few brings back what was forgotten.
        self.write_marks(wish.clone()).await?;
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
        let emptied = self.empty_repeating(&turns).await?;
        self.hold(&turns, "").await?;
        let rows = self.engine.write(statement, bound).await?;
        Ok(Forgotten {
            turns: counted(rows.first(), "turns"),
            quotes: emptied.now,
            is_in_file: false,
            // Now that they are empty: whoever delivers one from here on sees that it is.
            emptied: self.emptied_went_out(&emptied.all).await?,
        })
    }

    /// Empties the answers that repeat some turns. Looks again until there are no more: who keeps an answer after the look for
    /// what repeats an emptied one sees that it is empty. Gives them, and the answers from memory that quote the turns in
    /// other words: those are emptied as the turns are deleted.
    async fn empty_repeating(&self, turns: &[ResponseId]) -> Result<Emptied, StoreError> {
        let mut repeating = self.repeating(turns).await?;
        let mut emptied = Emptied::default();
        loop {
            let found = repeating.look(self).await?;
            if found.is_empty() {
                break;
            }
            let (empty, full): (Vec<_>, Vec<_>) = found.into_iter().partition(|it| it.is_empty());
            emptied.all.extend(empty.iter().map(|it| it.id));
            let now = self.empty(&full).await?;
            // What was given anew since it was looked at may say something else.
            let others = full.iter().filter(|it| !now.contains(&it.id));
            repeating.look_again_at(others);
            emptied.now += now.len();
            emptied.all.extend(now);
        }
        let mut quoting = self.quoting(turns).await?;
        quoting.retain(|it| !emptied.all.contains(it));
        emptied.now += quoting.len();
        emptied.all.extend(quoting);
        Ok(emptied)
    }

    /// Empties answers, as far as they say what they said when they were looked at. Gives those that are empty.
    async fn empty(&self, answers: &[Repetition]) -> Result<Vec<ResponseId>, StoreError> {
        if answers.is_empty() {
            return Ok(Vec::new());
        }
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

    /// Deletes all of a person's, some at a time, and what they thought of answers.
    async fn erase_person(&self, wish: &Value) -> Result<Forgotten, StoreError> {
        let people = wish.get("people").and_then(Value::as_array);
        let people = people.into_iter().flatten().filter_map(Value::as_str);
        let mut forgotten = Forgotten::default();
        for person in people {
            let mark = json!({"author": person, "until": wish["saidUntil"]});
            self.engine.write(cypher::MARK_PERSON, params(mark)).await?;
            let bound = json!({
                "author": person, "until": wish["until"], "before": BEHIND_ALL, "most": AT_ONCE,
            });
            let found = self.erase_found(cypher::OF_PERSON, bound, true).await?;
            forgotten.turns += found.turns;
            forgotten.quotes += found.quotes;
            forgotten.emptied.extend(found.emptied);
            self.erase_opinions(person).await?;
            let lists = params(json!({"prefix": format!("list/{person}/")}));
            self.engine.write(cypher::DROP_LISTS, lists).await?;
        }
        let bound = params(json!({"ids": wish["people"]}));
        for statement in [accounts::FORGET_PEOPLE, accounts::FORGET, tokens::FORGET] {
            self.engine.write(statement, bound.clone()).await?;
        }
        Ok(forgotten)
    }

    /// Deletes what is not kept any longer. What repeats it goes when its own time comes.
    async fn erase_old(&self, wish: &Value) -> Result<Forgotten, StoreError> {
        let bound = json!({"audience": wish["audience"], "old": wish["old"], "most": AT_ONCE});
        self.erase_found(cypher::OLD, bound, false).await
    }

    /// Deletes what a person said to others in an audience.
    async fn erase_said(&self, wish: &Value) -> Result<Forgotten, StoreError> {
        let bound = json!({
            "audience": wish["audience"], "author": wish["author"], "most": AT_ONCE,
        });
        self.erase_found(messages::SAID_BY, bound, true).await
    }

    /// Deletes what a statement finds, some at a time, until there is nothing left. With what repeats it, and so that it
    /// is not kept again, where somebody wants it forgotten.
    async fn erase_found(
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
                let turn = &turns[0];
                return Err(unexpected(format!(
                    "turn {} is on no chain of {}, so it cannot be taken out of it",
                    turn.id, turn.session
                )));
            }
            let mut emptied = Emptied::default();
            if is_wanted {
                // First, as in a session.
                let marks = turns.iter().map(ForgottenEvent::from).collect();
                self.mark_forgotten(&marks).await?;
                emptied = self.empty_repeating(&ids).await?;
                forgotten.quotes += emptied.now;
            }
            self.hold(&ids, "").await?;
            let mut steps: Vec<_> = turns.iter().map(take_out).collect();
            // Together with the turns: who goes on after a kill does not find them any more.
            let sessions: HashSet<&str> = turns.iter().map(|it| it.session.as_str()).collect();
            let audiences: HashSet<&str> = turns.iter().map(|it| it.audience.as_str()).collect();
            let places = params(json!({"sessions": sessions, "audiences": audiences}));
            steps.push((cypher::DROP_EMPTY_SESSIONS, places.clone()));
            steps.push((cypher::UNNAME_EMPTY_CHANNELS, places));
            self.run_together(steps).await?;
            forgotten.turns += turns.len();
            forgotten
                .emptied
                .extend(self.emptied_went_out(&emptied.all).await?);
        }
        Ok(forgotten)
    }

    /// Runs statements in one transaction.
    async fn run_together(&self, steps: Vec<(&'static str, Params)>) -> Result<(), StoreError> {
        let (sender, receiver) = mpsc::channel(steps.len() + 1);
        for (statement, bound) in steps {
            // There is room for all of them.
            let _ = sender.try_send(Step::Run(statement.to_owned(), bound));
        }
        let _ = sender.try_send(Step::Commit);
        self.engine.transact(receiver, LIMIT).await.map(drop)
    }

    /// Takes back what a person thought of answers.
    async fn erase_opinions(&self, person: &str) -> Result<(), StoreError> {
        let mut before = BEHIND_ALL.to_owned();
        loop {
            let bound = params(json!({
                // As it stands in a line of the feedback.
                "person": json!(person).to_string(), "before": before, "most": AT_ONCE,
            }));
            let rows = self.engine.read(items::OPINIONS_OF, bound).await?;
            for row in &rows {
                let said = text(row, "feedback").unwrap_or_default();
                let bound = params(json!({
                    "id": text(row, "id"), "before": said, "feedback": Votes::without(&said, person),
                }));
                self.engine.write(cypher::SET_FEEDBACK, bound).await?;
            }
            match rows.last().and_then(|row| text(row, "id")) {
                Some(last) if rows.len() == AT_ONCE => before = last,
                Some(_) | None => return Ok(()),
            }
        }
    }

    pub(super) async fn turns_of(&self, session: &str) -> Result<Vec<ResponseId>, StoreError> {
        let bound = params(json!({"session": session}));
        let rows = self.engine.read(cypher::TURNS_OF, bound).await?;
        let ids = rows.iter().filter_map(|row| text(row, "id"));
        ids.map(|id| response_id(&id)).collect()
    }
}

/// What is kept as the intention to forget a turn, or all of a session.
fn wish(session: &ConversationId, what: Forget) -> Value {
    let session = session.as_str();
    match what {
        Forget::Turn(id) => json!({"session": session, "id": id.to_string()}),
        Forget::Session { said_until } => {
            // What was said within this millisecond was said before.
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

/// Takes a turn out of its chain.
fn take_out(turn: &KeptTurn) -> (&'static str, Params) {
    let statement = match turn.is_message {
        true => messages::FORGET,
        false => statements::FORGET_TURN,
    };
    let bound = json!({
        "session": turn.session, "id": turn.id.to_string(), "blot": REDACTED_ANSWER,
    });
    (statement, params(bound))
}
