//! Looking through the conversations: page by page, so that it takes as long however many there are.

use chrono::{DateTime, Utc};
use muninn_platform::ConversationId;
use serde_json::json;

use super::answers::Votes;
use super::engine::{Engine, Row};
use super::record::{integer, params, response_id, text, unexpected};
use super::statements::browsing as cypher;
use super::value::instant;
use super::{GraphStore, ResponseId, StoreError};

/// Places that are offered to choose from.
const MOST_PLACES: usize = 500;

/// Which conversations are listed. What is empty leaves none out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConversationFilter {
    /// One of their turns has all of these words.
    pub words: String,
    pub platform: String,
    /// The id of their audience.
    pub audience: String,
    /// A part of the name of somebody who said something there.
    pub person: String,
    /// Something was said in them since then.
    pub since: Option<DateTime<Utc>>,
    /// Nothing was said in them after that.
    pub until: Option<DateTime<Utc>>,
    /// They stand behind this one.
    pub behind: Option<ListPosition>,
}

/// Where a conversation stands in the list: by its last turn, newest first, then by its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListPosition {
    pub last_at: DateTime<Utc>,
    pub id: String,
}

/// A conversation, as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedConversation {
    pub id: ConversationId,
    /// What was asked in it first; empty where nothing was.
    pub title: String,
    pub platform: String,
    /// What people call the place.
    pub place: String,
    pub last_at: DateTime<Utc>,
    pub turns: usize,
}

impl ListedConversation {
    pub fn position(&self) -> ListPosition {
        ListPosition {
            last_at: self.last_at,
            id: self.id.as_str().to_owned(),
        }
    }
}

/// Where conversations are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedChannel {
    /// Of the audience.
    pub id: String,
    pub platform: String,
    pub name: String,
}

/// What an answer cost, and what people think of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Worth {
    pub answer: ResponseId,
    /// In millionths of a dollar.
    pub cost_micros: u64,
    pub votes: Votes,
}

/// What stands right before and right after a turn of its conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Neighbours {
    pub before: Option<ResponseId>,
    pub after: Option<ResponseId>,
}

impl GraphStore {
    /// A page of conversations, those with the newest turns first; at most `most`.
    pub async fn conversations(
        &self,
        wanted: &ConversationFilter,
        most: usize,
    ) -> Result<Vec<ListedConversation>, StoreError> {
        let words: Vec<String> = wanted
            .words
            .split_whitespace()
            .map(str::to_lowercase)
            .collect();
        let until = wanted.until.unwrap_or(LATEST);
        let (until, after) = match &wanted.behind {
            Some(it) if it.last_at <= until => (it.last_at, it.id.as_str()),
            // Nothing has an id behind it.
            Some(_) | None => (until, "\u{10ffff}"),
        };
        let is_of_said = !words.is_empty() || !wanted.person.is_empty();
        let statement = if is_of_said {
            cypher::PAGE_OF_SAID
        } else {
            cypher::PAGE
        };
        let since = wanted.since.unwrap_or(DateTime::UNIX_EPOCH);
        let mut bound = json!({
            "platform": wanted.platform, "audience": wanted.audience, "since": since.to_rfc3339(),
            "until": until.to_rfc3339(), "after": after, "most": most,
        });
        if is_of_said {
            bound["words"] = json!(words);
            bound["person"] = json!(wanted.person.to_lowercase());
        }
        let rows = self.engine.read(statement, params(bound)).await?;
        rows.iter().map(listed).collect()
    }

    /// One of them; none where there is no such conversation.
    pub async fn conversation(
        &self,
        session: &ConversationId,
    ) -> Result<Option<ListedConversation>, StoreError> {
        let bound = params(json!({"session": session.as_str()}));
        let rows = self.engine.read(cypher::ONE, bound).await?;
        rows.first().map(listed).transpose()
    }

    /// Where conversations are, by platform and name.
    pub async fn listed_channels(&self) -> Result<Vec<ListedChannel>, StoreError> {
        let bound = params(json!({"most": MOST_PLACES}));
        let rows = self.engine.read(cypher::PLACES, bound).await?;
        let said = |row: &Row, column| text(row, column).unwrap_or_default();
        let place = |row: &Row| ListedChannel {
            id: said(row, "id"),
            platform: said(row, "platform"),
            name: said(row, "name"),
        };
        Ok(rows.iter().map(place).collect())
    }

    /// What these answers cost, and what people think of them, in no order.
    pub async fn worth_of(&self, answers: &[ResponseId]) -> Result<Vec<Worth>, StoreError> {
        if answers.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<String> = answers.iter().map(ResponseId::to_string).collect();
        let bound = params(json!({"ids": ids}));
        let rows = self.engine.read(cypher::COSTS, bound).await?;
        let worth = |row: &Row| {
            Ok(Worth {
                answer: response_id(&text(row, "id").unwrap_or_default())?,
                cost_micros: u64::try_from(integer(row, "costMicros")).unwrap_or_default(),
                votes: Votes::of(&text(row, "feedback").unwrap_or_default()),
            })
        };
        rows.iter().map(worth).collect()
    }

    /// What stands right before and right after a turn.
    pub async fn neighbours(&self, turn: ResponseId) -> Result<Neighbours, StoreError> {
        let bound = params(json!({"id": turn.to_string()}));
        let rows = self.engine.read(cypher::NEIGHBOURS, bound).await?;
        let Some(row) = rows.first() else {
            return Ok(Neighbours::default());
        };
        let id = |column| text(row, column).map(|id| response_id(&id)).transpose();
        Ok(Neighbours {
            before: id("before")?,
            after: id("after")?,
        })
    }
}

/// After every turn, and a time that both engines know.
const LATEST: DateTime<Utc> = match DateTime::from_timestamp(253_402_214_400, 0) {
    Some(latest) => latest,
    None => DateTime::UNIX_EPOCH,
};

fn listed(row: &Row) -> Result<ListedConversation, StoreError> {
    let said = |column| text(row, column).unwrap_or_default();
    let id = said("id");
    let last_at = row.get("lastAt").and_then(instant);
    Ok(ListedConversation {
        last_at: last_at.ok_or_else(|| unexpected(format!("session {id} has no last turn")))?,
        id: ConversationId::new(id),
        title: said("title"),
        platform: said("platform"),
        place: said("place"),
        turns: usize::try_from(integer(row, "turns")).unwrap_or_default(),
    })
}
