//! The pages with the list of conversations, and with the turns of one conversation.

use std::collections::HashMap;

use axum::extract::Query;
use axum::response::Response;
use chrono::{DateTime, NaiveDate, TimeDelta};
use minijinja::{Value, context};
use muninn_platform::{ConversationId, Opinion};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::picture::is_web;
use super::visitor::{PageProblem, Visitor};
use crate::graph::browsing::{
    AnswerCost, ConversationFilter, ListPosition, ListedChannel, ListedConversation, Readable,
};
use crate::graph::{ResponseId, Source, Turn};
use crate::llm::Money;

/// Conversations per page.
const CONVERSATIONS: usize = 30;
/// Turns per page.
const TURNS: usize = 50;

/// The filter of the list, as in the form and its links.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct FilterForm {
    words: String,
    platform: String,
    place: String,
    person: String,
    /// `good` or `bad`.
    feedback: String,
    since: String,
    until: String,
    /// The conversation after which the page begins.
    last: String,
    id: String,
}

impl FilterForm {
    fn wanted(&self, readable: Readable) -> ConversationFilter {
        let day = |text: &str| {
            let day = text.parse::<NaiveDate>().ok()?;
            Some(day.and_hms_opt(0, 0, 0)?.and_utc())
        };
        let last = DateTime::parse_from_rfc3339(&self.last).ok();
        ConversationFilter {
            words: self.words.trim().to_owned(),
            platform: self.platform.clone(),
            audience: self.place.clone(),
            person: self.person.trim().to_owned(),
            opinion: match self.feedback.as_str() {
                "good" => Some(Opinion::Good),
                "bad" => Some(Opinion::Bad),
                _ => None,
            },
            readable,
            since: day(&self.since),
            // That day is included.
            until: day(&self.until).and_then(|day| day.checked_add_signed(TimeDelta::days(1))),
            behind: last.map(|last| ListPosition {
                last_at: last.to_utc(),
                id: self.id.clone(),
            }),
        }
    }

    /// The address of the page after this conversation.
    fn after(&self, last: &ListPosition) -> String {
        let after = Self {
            last: last.last_at.to_rfc3339(),
            id: last.id.clone(),
            ..self.clone()
        };
        let Self {
            words,
            platform,
            place,
            person,
            feedback,
            since,
            until,
            last,
            id,
        } = after;
        let fields = [
            ("words", words),
            ("platform", platform),
            ("place", place),
            ("person", person),
            ("feedback", feedback),
            ("since", since),
            ("until", until),
            ("last", last),
            ("id", id),
        ];
        let said = fields.iter().filter(|(_, value)| !value.is_empty());
        address(
            "/conversations",
            said.map(|(name, value)| (*name, value.as_str())),
        )
    }
}

/// A path with an encoded query.
pub(super) fn address<'a>(
    path: &str,
    asked: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> String {
    let mut asked_for = form_urlencoded::Serializer::new(String::new());
    asked_for.extend_pairs(asked);
    format!("{path}?{}", asked_for.finish())
}

pub(super) fn address_of(conversation: &str) -> String {
    address("/conversation", [("id", conversation)])
}

pub(super) fn address_of_why(conversation: &str, answer: &str) -> String {
    address("/why", [("conversation", conversation), ("answer", answer)])
}

pub(super) async fn conversations(visitor: Visitor, Query(sought): Query<FilterForm>) -> Response {
    let shown = listing(&visitor, &sought).await;
    visitor.render_page("conversations.html", shown)
}

async fn listing(visitor: &Visitor, sought: &FilterForm) -> Result<Value, PageProblem> {
    let store = &visitor.web.data.store;
    let wanted = sought.wanted(visitor.readable().await?);
    let _permit = match wanted.is_of_said() || wanted.opinion.is_some() {
        true => Some(visitor.search_permit().await?),
        false => None,
    };
    // One more than shown tells whether there are more.
    let mut found = store.conversations(&wanted, CONVERSATIONS + 1).await?;
    let has_more = found.len() > CONVERSATIONS;
    found.truncate(CONVERSATIONS);
    let older = found
        .last()
        .filter(|_| has_more)
        .map(ListedConversation::position);
    let places = store.listed_channels(&wanted.readable).await?;
    let mut platforms: Vec<&str> = places.iter().map(|place| place.platform.as_str()).collect();
    platforms.dedup();
    let items: Vec<Value> = found.iter().map(item).collect();
    let unfiltered = ConversationFilter {
        readable: wanted.readable.clone(),
        ..ConversationFilter::default()
    };
    Ok(context! {
        items, platforms, places => shown_places(&places), sought => Value::from_serialize(sought),
        older => older.map(|last| sought.after(&last)), is_filtered => wanted != unfiltered,
    })
}

/// The places to choose from.
pub(super) fn shown_places(places: &[ListedChannel]) -> Vec<Value> {
    let shown = |place: &ListedChannel| {
        let name = Some(&place.name).filter(|name| !name.is_empty());
        let name = name.unwrap_or(&place.id);
        context! { id => place.id, name, platform => place.platform }
    };
    places.iter().map(shown).collect()
}

fn item(listed: &ListedConversation) -> Value {
    context! {
        address => address_of(listed.id.as_str()),
        title => listed.title, platform => listed.platform,
        place => (listed.place != listed.platform).then_some(&listed.place).filter(|it| !it.is_empty()),
        at => listed.last_at.to_rfc3339(), turns => listed.turns,
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct WhichConversation {
    #[serde(default)]
    id: String,
    /// The turn after which the page begins.
    #[serde(default)]
    after: String,
}

pub(super) async fn conversation(
    visitor: Visitor,
    Query(which): Query<WhichConversation>,
) -> Response {
    let shown = chain(&visitor, &which).await;
    visitor.render_page("conversation.html", shown)
}

async fn chain(visitor: &Visitor, which: &WhichConversation) -> Result<Value, PageProblem> {
    let store = &visitor.web.data.store;
    let id = ConversationId::new(&which.id);
    let listed = visitor.conversation(&which.id).await?;
    visitor.looks_into(&which.id).await;
    let after = match which.after.as_str() {
        "" => None,
        after => Some(response_id(after)?),
    };
    let mut turns = store.chain(&id, after, TURNS + 1).await?;
    let has_more = turns.len() > TURNS;
    turns.truncate(TURNS);
    let answers: Vec<ResponseId> = turns
        .iter()
        .filter(|turn| turn.is_answered())
        .map(|turn| turn.id)
        .collect();
    let worth = store.answer_costs(&answers).await?;
    let worth: HashMap<ResponseId, AnswerCost> =
        worth.into_iter().map(|it| (it.answer, it)).collect();
    let shown: Vec<Value> = turns
        .iter()
        .map(|turn| shown_turn(turn, worth.get(&turn.id)))
        .collect();
    let last = turns
        .last()
        .filter(|_| has_more)
        .map(|turn| turn.id.to_string());
    let next = last.map(|last| address("/conversation", [("id", &*which.id), ("after", &*last)]));
    Ok(context! {
        conversation => item(&listed), turns => shown, next, is_beginning => after.is_none(),
    })
}

pub(super) fn response_id(text: &str) -> Result<ResponseId, PageProblem> {
    let id = text.parse::<Uuid>();
    id.map(ResponseId).map_err(|_| PageProblem::Missing)
}

/// A turn in the form that the pages show.
pub(super) fn shown_turn(turn: &Turn, worth: Option<&AnswerCost>) -> Value {
    let kind = match turn.source {
        Source::Message => "said_to_others",
        Source::Note => "noted",
        Source::Model | Source::Knowledge | Source::Retrieval | Source::Memory => "asked",
    };
    let has_model = turn.model.as_ref().is_some_and(|model| !model.is_empty());
    // The kind of the answer, unless a model wrote it plainly.
    let made = match turn.source {
        Source::Memory => Some("no_model"),
        Source::Retrieval if !has_model => Some("no_model_documents"),
        Source::Retrieval => Some("made_from_documents"),
        Source::Knowledge => Some("made_from_knowledge"),
        Source::Model | Source::Message | Source::Note => None,
    };
    let id = turn.id.to_string();
    let cost = worth
        .map(|worth| worth.cost_micros)
        .filter(|cost| *cost > 0);
    let votes = worth.map(|worth| worth.votes).unwrap_or_default();
    let files: Vec<&str> = turn.files().map(|file| file.name.as_str()).collect();
    context! {
        kind, made, files,
        why => turn.is_answered().then(|| address_of_why(&turn.session, &id)),
        id, author => turn.author_name, at => turn.created_at.to_rfc3339(),
        input => turn.input, output => turn.output, understood => turn.rephrased_question,
        model => turn.model.clone().filter(|model| !model.is_empty()),
        seconds => format!("{:.1}", f64::from(turn.duration_ms) / 1_000.0),
        tokens => turn.prompt_tokens + turn.completion_tokens,
        cost => cost.map(|cost| Money(cost).to_string()),
        good => votes.good, bad => votes.bad, volatile => turn.volatile,
        link => turn.link.clone().filter(|link| is_web(link)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_page_seeks_the_same() {
        let sought = FilterForm {
            words: "ferry & dues".to_owned(),
            since: "2026-01-02".to_owned(),
            ..FilterForm::default()
        };
        let last = ListPosition {
            last_at: "2026-03-01T10:00:00.123456Z".parse().unwrap(),
            id: "slack/T/C/1".to_owned(),
        };
        let next = sought.after(&last);
        let asked = next.strip_prefix("/conversations?").unwrap();
        let asked: FilterForm = serde_html_form(asked);
        let wanted = asked.wanted(Readable::Everything);
        assert_eq!(wanted.words, "ferry & dues");
        assert_eq!(wanted.behind, Some(last));
        assert_eq!(wanted.since, "2026-01-02T00:00:00Z".parse().ok());
    }

    fn serde_html_form(asked: &str) -> FilterForm {
        let uri: axum::http::Uri = format!("/?{asked}").parse().unwrap();
        Query::try_from_uri(&uri).unwrap().0
    }
}
