//! Single things that are remembered, for the people who said them: listing them, and what corrects what.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use muninn_platform::{Audience, AudienceId, ConversationId};
use serde_json::{Value, json};

use super::engine::{Engine, Row};
use super::forgetting::REDACTED_ANSWER;
use super::record::{params, response_id, text, turn};
use super::statements::items as cypher;
use super::value::instant;
use super::{GraphStore, NewTurn, ResponseId, StoreError, Turn};

/// What somebody may see listed of what they said.
#[derive(Clone, Copy, Debug)]
pub struct OwnItems<'a> {
    /// Stable ids of the person.
    pub accounts: &'a [String],
    /// Where they said it.
    pub audiences: &'a [&'a AudienceId],
    /// What has all of these words, in small letters; all of it without any.
    pub words: &'a [String],
    /// Nothing that was said after it.
    pub until: DateTime<Utc>,
    /// What is left out.
    pub listed: &'a [ResponseId],
    /// Nothing but what they had kept in mind.
    pub only_notes: bool,
    pub most: usize,
}

/// Something that is remembered, as a list shows it.
#[derive(Clone, Debug)]
pub struct ListedItem {
    pub turn: Turn,
    /// Since when something else holds in its place.
    pub corrected_at: Option<DateTime<Utc>>,
}

/// Something that is remembered, with all that decides what may be done with it.
#[derive(Clone, Debug)]
pub struct KeptItem {
    pub turn: Turn,
    pub audience: Audience,
    pub corrected: Option<Corrected>,
}

/// A turn as somebody read it, to be asked about later.
#[derive(Clone, Debug)]
pub struct AsRead {
    pub id: ResponseId,
    /// Whole, or its beginning with an ellipsis; empty where nothing of it was read.
    answer: String,
}

impl AsRead {
    pub fn new(id: ResponseId, answer: &str) -> Self {
        let answer = answer.to_owned();
        Self { id, answer }
    }

    /// Whether what was read of its answer is not in it now.
    fn differs(&self, now: &str) -> bool {
        let beginning = self.answer.strip_suffix('…');
        let is_beginning = beginning.is_some_and(|read| now.starts_with(read));
        !self.answer.is_empty() && self.answer != now && !is_beginning
    }
}

impl From<&Turn> for AsRead {
    fn from(turn: &Turn) -> Self {
        Self::new(turn.id, &turn.output)
    }
}

/// Of turns that were read, those that are not as they were.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gone {
    /// Forgotten, or about to be.
    pub forgotten: Vec<ResponseId>,
    /// What their answers repeat was forgotten.
    pub emptied: Vec<ResponseId>,
    /// They were answered anew.
    pub anew: Vec<ResponseId>,
}

impl Gone {
    /// All of them are as they were read.
    pub fn is_empty(&self) -> bool {
        self.anew.is_empty() && !self.is_any_forgotten()
    }

    /// Something of what was read is not to be shown any more.
    pub fn is_any_forgotten(&self) -> bool {
        !self.forgotten.is_empty() || !self.emptied.is_empty()
    }
}

/// That somebody said something else in the place of something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Corrected {
    pub at: DateTime<Utc>,
    /// As people see them.
    pub by: String,
    /// The event of the correction.
    pub event: String,
}

impl GraphStore {
    /// What a person said, the newest first.
    pub async fn own_items(&self, own: &OwnItems<'_>) -> Result<Vec<ListedItem>, StoreError> {
        let audiences: Vec<&str> = own.audiences.iter().map(|it| it.as_str()).collect();
        let listed: Vec<String> = own.listed.iter().map(ResponseId::to_string).collect();
        let bound = json!({
            "authors": own.accounts, "audiences": audiences, "words": own.words,
            "until": own.until.to_rfc3339(), "listed": listed, "most": own.most,
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

    /// One of the things that are remembered; none where it is forgotten.
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

    /// Appends a note that corrects something of its audience, in one transaction. An event that has made a turn already
    /// changes nothing. Where something else corrects it already, the note is kept and corrects nothing.
    pub async fn correct(
        &self,
        note: &Arc<NewTurn>,
        earlier: ResponseId,
    ) -> Result<(), StoreError> {
        let bound = params(json!({
            "id": note.turn.id.to_string(), "earlier": earlier.to_string(),
        }));
        let link = (cypher::CORRECT, bound);
        super::appending::append_with(self, &[], std::slice::from_ref(note), vec![link]).await
    }

    /// What a correction corrects, with its session.
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

    /// What became of turns since they were read.
    pub async fn gone(&self, turns: &[AsRead]) -> Result<Gone, StoreError> {
        if turns.is_empty() {
            return Ok(Gone::default());
        }
        let ids: BTreeSet<String> = turns.iter().map(|turn| turn.id.to_string()).collect();
        let bound = params(json!({"ids": ids}));
        let rows = self.engine.read(cypher::THERE, bound).await?;
        let there = |row: &Row| Some((text(row, "id")?, text(row, "answer")?));
        let there: HashMap<String, String> = rows.iter().filter_map(there).collect();
        let mut gone = Gone::default();
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
        Ok(gone)
    }
}
