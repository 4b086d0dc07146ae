//! Browses the conversations page by page, so that the time per page does not depend on their number.

use std::collections::HashMap;
use std::time::Duration;

use chrono::{DateTime, Utc};
use muninn_platform::{AudienceId, ConversationId, Opinion};
use serde_json::json;

use super::GraphStore;
use super::answers::Votes;
use super::record::{integer, params, response_id, text, unexpected};
use super::statements::browsing as cypher;
use crate::graph::StoreError;
use crate::graph::engine::value::instant;
use crate::graph::engine::{Engine, Row};
use crate::graph::types::response_id::ResponseId;

/// Maximum number of places to choose from.
const MOST_PLACES: usize = 500;
/// Maximum number of answers with feedback that are searched: the newest.
const MOST_RATED: usize = 20_000;

/// Longest run of a statement that reads all that was said, where turns wait for it.
const SEARCH_LIMIT: Duration = Duration::from_secs(10);

/// Filters conversations. An empty field filters nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConversationFilter {
    /// One of their turns contains all of these words.
    pub words: String,
    pub platform: String,
    /// ID of their audience.
    pub audience: String,
    /// Part of the name of somebody who wrote there.
    pub person: String,
    /// Something was said in them since then.
    pub since: Option<DateTime<Utc>>,
    /// Nothing was said in them after that.
    pub until: Option<DateTime<Utc>>,
    /// Somebody has this opinion of one of their answers.
    pub opinion: Option<Opinion>,
    pub readable: Readable,
    /// They come after this one in the list.
    pub behind: Option<ListPosition>,
}

impl ConversationFilter {
    /// Whether it is about what was said, so that turns have to be read.
    pub fn is_of_said(&self) -> bool {
        !self.words.trim().is_empty() || !self.person.is_empty()
    }
}

/// What somebody may read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Readable {
    #[default]
    Everything,
    /// What is said in these audiences.
    Audiences(Vec<AudienceId>),
}

impl Readable {
    pub fn has(&self, audience: &AudienceId) -> bool {
        match self {
            Self::Everything => true,
            Self::Audiences(all) => all.contains(audience),
        }
    }

    /// Binds it to statements: whether everything is readable, and otherwise what.
    fn bind(&self, bound: &mut serde_json::Value) {
        let (is_all, readable): (bool, &[AudienceId]) = match self {
            Self::Everything => (true, &[]),
            Self::Audiences(all) => (false, all),
        };
        bound["isAll"] = json!(is_all);
        bound["readable"] = json!(readable);
    }
}

/// The position of a conversation in the list, which is sorted by the last turn, newest first, and then by ID.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListPosition {
    pub last_at: DateTime<Utc>,
    pub id: String,
}

/// A conversation, as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedConversation {
    pub id: ConversationId,
    pub audience: AudienceId,
    /// The account that alone can read it.
    pub private_to: Option<String>,
    /// The first question; empty if there was none.
    pub title: String,
    pub platform: String,
    /// The name of the place.
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

/// A place with conversations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedChannel {
    /// ID of the audience.
    pub id: String,
    pub platform: String,
    pub name: String,
}

/// The cost of an answer, and the votes on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerCost {
    pub answer: ResponseId,
    /// In millionths of a dollar.
    pub cost_micros: u64,
    pub votes: Votes,
}

/// The turns directly before and after a turn of its conversation.
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
            // No ID is greater.
            Some(_) | None => (until, "\u{10ffff}"),
        };
        let is_of_said = wanted.is_of_said();
        let is_in_places = !wanted.platform.is_empty()
            || !wanted.audience.is_empty()
            || wanted.readable != Readable::Everything;
        let statement = match (is_of_said, is_in_places) {
            (true, _) => cypher::PAGE_OF_SAID,
            (false, true) => cypher::PAGE_IN_PLACES,
            (false, false) => cypher::PAGE,
        };
        let since = wanted.since.unwrap_or(DateTime::UNIX_EPOCH);
        let mut bound = json!({
            "since": since.to_rfc3339(), "until": until.to_rfc3339(), "after": after, "most": most,
        });
        if is_of_said || is_in_places {
            bound["platform"] = json!(wanted.platform);
            bound["audience"] = json!(wanted.audience);
            wanted.readable.bind(&mut bound);
        }
        let rated = match wanted.opinion {
            Some(opinion) => self.rated(opinion).await?,
            None => Vec::new(),
        };
        bound["isRated"] = json!(wanted.opinion.is_some());
        bound["rated"] = json!(rated);
        if is_of_said {
            bound["words"] = json!(words);
            bound["person"] = json!(wanted.person.to_lowercase());
        }
        let bound = params(bound);
        let rows = match is_of_said {
            true => self.engine.read_within(statement, bound, SEARCH_LIMIT),
            false => self.engine.read(statement, bound),
        };
        rows.await?.iter().map(listed).collect()
    }

    /// One conversation; `None` if it does not exist.
    pub async fn conversation(
        &self,
        session: &ConversationId,
    ) -> Result<Option<ListedConversation>, StoreError> {
        let bound = params(json!({"session": session.as_str()}));
        let rows = self.engine.read(cypher::ONE, bound).await?;
        rows.first().map(listed).transpose()
    }

    /// The conversations with an answer of which somebody has this opinion.
    async fn rated(&self, opinion: Opinion) -> Result<Vec<String>, StoreError> {
        let bound = params(json!({"most": MOST_RATED}));
        let rows = self
            .engine
            .read_within(cypher::RATED, bound, SEARCH_LIMIT)
            .await?;
        let has = |row: &&Row| {
            let votes = Votes::of(&text(row, "feedback").unwrap_or_default());
            match opinion {
                Opinion::Good => votes.good > 0,
                Opinion::Bad => votes.bad > 0,
            }
        };
        let rated = rows.iter().filter(has);
        Ok(rated.filter_map(|row| text(row, "session")).collect())
    }

    /// The places of a platform that an account may be able to read, as far as is known here: its private places, and
    /// with `is_shared` those of several people. The platform decides whether it may.
    pub async fn perhaps_readable(
        &self,
        platform: &str,
        account: &str,
        is_shared: bool,
    ) -> Result<Vec<AudienceId>, StoreError> {
        let bound = json!({"platform": platform, "account": account, "isShared": is_shared});
        let rows = self
            .engine
            .read(cypher::PERHAPS_READABLE, params(bound))
            .await?;
        let ids = rows.iter().filter_map(|row| text(row, "id"));
        Ok(ids.map(AudienceId::new).collect())
    }

    /// The audiences of these answers.
    pub async fn audiences_of(
        &self,
        answers: &[ResponseId],
    ) -> Result<HashMap<ResponseId, AudienceId>, StoreError> {
        if answers.is_empty() {
            return Ok(HashMap::new());
        }
        let ids: Vec<String> = answers.iter().map(ResponseId::to_string).collect();
        let bound = params(json!({"ids": ids}));
        let rows = self.engine.read(cypher::AUDIENCES, bound).await?;
        let each = |row: &Row| {
            let id = response_id(&text(row, "id").unwrap_or_default())?;
            let audience = text(row, "audience").unwrap_or_default();
            Ok((id, AudienceId::new(audience)))
        };
        rows.iter().map(each).collect()
    }

    /// The places of the conversations that somebody may read, by platform and name.
    pub async fn listed_channels(
        &self,
        readable: &Readable,
    ) -> Result<Vec<ListedChannel>, StoreError> {
        let mut bound = json!({"most": MOST_PLACES});
        readable.bind(&mut bound);
        let rows = self.engine.read(cypher::PLACES, params(bound)).await?;
        let said = |row: &Row, column| text(row, column).unwrap_or_default();
        let place = |row: &Row| ListedChannel {
            id: said(row, "id"),
            platform: said(row, "platform"),
            name: said(row, "name"),
        };
        Ok(rows.iter().map(place).collect())
    }

    /// The cost of these answers and the votes on them, unordered.
    pub async fn answer_costs(
        &self,
        answers: &[ResponseId],
    ) -> Result<Vec<AnswerCost>, StoreError> {
        if answers.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<String> = answers.iter().map(ResponseId::to_string).collect();
        let bound = params(json!({"ids": ids}));
        let rows = self.engine.read(cypher::COSTS, bound).await?;
        let worth = |row: &Row| {
            Ok(AnswerCost {
                answer: response_id(&text(row, "id").unwrap_or_default())?,
                cost_micros: u64::try_from(integer(row, "costMicros")).unwrap_or_default(),
                votes: Votes::of(&text(row, "feedback").unwrap_or_default()),
            })
        };
        rows.iter().map(worth).collect()
    }

    /// The turns directly before and after a turn.
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

/// A time after every turn that both engines support.
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
        audience: AudienceId::new(said("audience")),
        private_to: text(row, "privateTo"),
        title: said("title"),
        platform: said("platform"),
        place: said("place"),
        turns: usize::try_from(integer(row, "turns")).unwrap_or_default(),
    })
}
