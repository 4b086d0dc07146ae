//! Single remembered items, for the people who said them: lists them, and links corrections to what they correct.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use muninn_platform::{Audience, AudienceId, ConversationId};
use serde_json::{Value, json};

use super::GraphStore;
use super::record::{integer, params, response_id, text, turn};
use super::statements::items as cypher;
use crate::graph::engine::value::instant;
use crate::graph::engine::{Engine, Row};
use crate::graph::types::redacted::REDACTED_ANSWER;
use crate::graph::types::response_id::ResponseId;
use crate::graph::{NewTurn, StoreError, Turn};

/// Selects the items that somebody may list.
#[derive(Clone, Copy, Debug)]
pub struct OwnItems<'a> {
    /// Stable IDs of the person.
    pub accounts: &'a [String],
    /// The audiences in which they said it.
    pub audiences: &'a [&'a AudienceId],
    /// Only items with all of these words, in lower case; all items if empty.
    pub words: &'a [String],
    /// Only items that were not said later; `None`: all, also those of a clock that was ahead.
    pub until: Option<DateTime<Utc>>,
    /// Items to leave out.
    pub listed: &'a [ResponseId],
    /// Only notes.
    pub only_notes: bool,
    pub most: usize,
}

/// An item as a list shows it.
#[derive(Clone, Debug)]
pub struct ListedItem {
    pub turn: Turn,
    /// Since when it is corrected.
    pub corrected_at: Option<DateTime<Utc>>,
}

/// An item with everything that decides what may be done with it.
#[derive(Clone, Debug)]
pub struct KeptItem {
    pub turn: Turn,
    pub audience: Audience,
    pub corrected: Option<Corrected>,
}

/// A turn as somebody read it, to be compared with its present state later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadTurn {
    pub id: ResponseId,
    /// The answer, or its beginning with an ellipsis; empty if none of it was read.
    answer: String,
}

impl ReadTurn {
    pub fn new(id: ResponseId, answer: &str) -> Self {
        let answer = answer.to_owned();
        Self { id, answer }
    }

    /// Whether the text that was read is no longer in the answer.
    fn differs(&self, now: &str) -> bool {
        let beginning = self.answer.strip_suffix('…');
        let is_beginning = beginning.is_some_and(|read| now.starts_with(read));
        !self.answer.is_empty() && self.answer != now && !is_beginning
    }
}

impl From<&Turn> for ReadTurn {
    fn from(turn: &Turn) -> Self {
        Self::new(turn.id, &turn.output)
    }
}

/// Those of some turns that have changed since they were read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangedTurns {
    /// Forgotten, or about to be.
    pub forgotten: Vec<ResponseId>,
    /// Their answers were emptied because they repeat something forgotten.
    pub emptied: Vec<ResponseId>,
    /// They were regenerated.
    pub anew: Vec<ResponseId>,
}

impl ChangedTurns {
    /// Whether all of them are unchanged.
    pub fn is_empty(&self) -> bool {
        self.anew.is_empty() && !self.is_any_forgotten()
    }

    /// Whether any of them must not be shown any more.
    pub fn is_any_forgotten(&self) -> bool {
        !self.forgotten.is_empty() || !self.emptied.is_empty()
    }
}

/// The correction of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Corrected {
    pub at: DateTime<Utc>,
    /// The author's display name.
    pub by: String,
    /// The event of the correction.
    pub event: String,
}

impl GraphStore {
    /// What a person said, newest first.
    pub async fn own_items(&self, own: &OwnItems<'_>) -> Result<Vec<ListedItem>, StoreError> {
        let audiences: Vec<&str> = own.audiences.iter().map(|it| it.as_str()).collect();
        let listed: Vec<String> = own.listed.iter().map(ResponseId::to_string).collect();
        let until = match own.until {
            Some(until) => until,
            None => self.until_now(own.accounts).await?,
        };
        let bound = json!({
            "authors": own.accounts, "audiences": audiences, "words": own.words,
            "until": until.to_rfc3339(), "listed": listed, "most": own.most,
            "onlyNotes": own.only_notes,
        });
        let statement = match own.words {
            [] => cypher::OF_PERSON,
            [..] => cypher::SOUGHT,
        };
        let rows = self.engine.read(statement, params(bound)).await?;
        let item = |row: &Row| {
            Ok(ListedItem {
                turn: turn(row.get("turn").unwrap_or(&Value::Null))?,
                corrected_at: row.get("correctedAt").and_then(instant),
            })
        };
        rows.iter().map(item).collect()
    }

    /// An item; `None` if it was forgotten.
    pub async fn item(&self, id: ResponseId) -> Result<Option<KeptItem>, StoreError> {
        let bound = params(json!({"id": id.to_string()}));
        let rows = self.engine.read(cypher::ONE, bound).await?;
        let Some(row) = rows.first() else {
            return Ok(None);
        };
        let said = |column| text(row, column).unwrap_or_default();
        let corrected_at = row.get("correctedAt").and_then(instant);
        Ok(Some(KeptItem {
            turn: turn(row.get("turn").unwrap_or(&Value::Null))?,
            audience: Audience {
                id: AudienceId::new(said("audience")),
                platform: said("platform"),
                workspace: said("workspace"),
                name: said("name"),
                private_to: text(row, "privateTo"),
            },
            corrected: corrected_at.map(|at| Corrected {
                at,
                by: said("correctedBy"),
                event: said("correctedByEvent"),
            }),
        }))
    }

    /// Appends a note that corrects an item of its audience, in one transaction. Does nothing if the event already has a
    /// turn. If something else corrects the item already, the note is kept without correcting it.
    pub async fn correct(
        &self,
        note: &Arc<NewTurn>,
        earlier: ResponseId,
    ) -> Result<(), StoreError> {
        let bound = params(json!({
            "id": note.turn.id.to_string(), "earlier": earlier.to_string(),
        }));
        let link = (cypher::CORRECT, bound);
        super::appending::append_with(self, &[], std::slice::from_ref(note), vec![link])
            .await
            .map(drop)
    }

    /// The item that a correction corrects, with its session.
    pub async fn corrects(
        &self,
        id: ResponseId,
    ) -> Result<Vec<(ConversationId, ResponseId)>, StoreError> {
        let bound = params(json!({"id": id.to_string()}));
        let rows = self.engine.read(cypher::CORRECTED_BY, bound).await?;
        let both = |row: &Row| {
            let id = response_id(&text(row, "id").unwrap_or_default())?;
            let session = text(row, "session").unwrap_or_default();
            Ok((ConversationId::new(session), id))
        };
        rows.iter().map(both).collect()
    }

    /// Which turns have changed since they were read.
    pub async fn find_changed_turns(&self, turns: &[ReadTurn]) -> Result<ChangedTurns, StoreError> {
        if turns.is_empty() {
            return Ok(ChangedTurns::default());
        }
        let rows = self.there(cypher::THERE, turns).await?;
        Ok(changed(turns, &rows))
    }

    /// The same, with the epochs of the audiences of those that exist: as long as one is the same, nothing was forgotten there.
    pub async fn find_changed_turns_and_epochs(
        &self,
        turns: &[ReadTurn],
    ) -> Result<(ChangedTurns, HashMap<AudienceId, i64>), StoreError> {
        if turns.is_empty() {
            return Ok((ChangedTurns::default(), HashMap::new()));
        }
        let rows = self.there(cypher::THERE_WITH_EPOCHS, turns).await?;
        let epoch = |row: &Row| {
            let audience = AudienceId::new(text(row, "audience")?);
            Some((audience, integer(row, "epoch")))
        };
        let epochs = rows.iter().filter_map(epoch).collect();
        Ok((changed(turns, &rows), epochs))
    }

    async fn there(&self, statement: &str, turns: &[ReadTurn]) -> Result<Vec<Row>, StoreError> {
        let ids: BTreeSet<String> = turns.iter().map(|turn| turn.id.to_string()).collect();
        let bound = params(json!({"ids": ids}));
        self.engine.read(statement, bound).await
    }
}

/// Compares turns with those that exist.
fn changed(turns: &[ReadTurn], rows: &[Row]) -> ChangedTurns {
    let there = |row: &Row| Some((text(row, "id")?, text(row, "answer")?));
    let there: HashMap<String, String> = rows.iter().filter_map(there).collect();
    let mut gone = ChangedTurns::default();
    for turn in turns {
        match there.get(&turn.id.to_string()) {
            None => gone.forgotten.push(turn.id),
            Some(answer) if answer == REDACTED_ANSWER && turn.answer != REDACTED_ANSWER => {
                gone.emptied.push(turn.id);
            }
            Some(answer) if !turn.differs(answer) => {}
            Some(_) => gone.anew.push(turn.id),
        }
    }
    gone
}
