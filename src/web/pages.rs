//! What each page shows.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Json;
use axum::extract::{ConnectInfo, FromRequestParts, Path, Query, State};
use axum::http::header::{COOKIE, SET_COOKIE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Redirect, Response};
use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use minijinja::{Value, context};
use muninn_platform::ConversationId;
use serde::{Deserialize, Serialize};
use serde_json::json;
use uuid::Uuid;

use super::Web;
use super::access::SIGNED_IN;
use super::picture::{Note, Thing, is_web, things};
use super::templates::Language;
use crate::conversation::audit::{Action, OPERATOR};
use crate::graph::browsing::{
    ConversationFilter, ListPosition, ListedChannel, ListedConversation, Worth,
};
use crate::graph::{Explanation, ResponseId, Source, StoreError, Turn};
use crate::llm::Money;

/// Conversations of a page.
const CONVERSATIONS: usize = 30;
/// Turns of a page.
const TURNS: usize = 50;
const COOKIE_NAME: &str = "muninn_session";

/// Why a page is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Problem {
    NotSignedIn,
    LinkOver,
    TooMany,
    Missing,
    Refused,
    Failed,
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        tracing::warn!(%error, "a page could not be shown");
        Self::Failed
    }
}

/// A page that says why another is not shown.
pub(super) fn problem(web: &Web, headers: &HeaderMap, problem: Problem) -> Response {
    let language = Language::of(headers);
    let (status, name) = match problem {
        Problem::NotSignedIn => (StatusCode::UNAUTHORIZED, "signed_out"),
        Problem::LinkOver => (StatusCode::FORBIDDEN, "link_over"),
        Problem::TooMany => (StatusCode::TOO_MANY_REQUESTS, "too_many"),
        Problem::Missing => (StatusCode::NOT_FOUND, "missing"),
        Problem::Refused => (StatusCode::FORBIDDEN, "refused"),
        Problem::Failed => (StatusCode::SERVICE_UNAVAILABLE, "failed"),
    };
    let shown = context! {
        title => web.templates.text(language, &format!("{name}_title")),
        text => web.templates.text(language, name),
        names_command => matches!(problem, Problem::NotSignedIn | Problem::LinkOver),
    };
    let is_signed_in = signed_in(web, headers);
    let page = web
        .templates
        .page("said.html", language, is_signed_in, shown);
    (status, page).into_response()
}

/// What the cookie says.
fn session(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get_all(COOKIE).iter();
    let mut cookies = cookies
        .filter_map(|it| it.to_str().ok())
        .flat_map(|it| it.split(';'));
    cookies.find_map(|cookie| cookie.trim().strip_prefix(COOKIE_NAME)?.strip_prefix('='))
}

fn signed_in(web: &Web, headers: &HeaderMap) -> bool {
    session(headers).is_some_and(|session| web.access.is_signed_in(session, Utc::now()))
}

/// Somebody who is signed in.
pub(super) struct Visitor {
    pub(super) web: Arc<Web>,
    headers: HeaderMap,
}

impl FromRequestParts<Arc<Web>> for Visitor {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, web: &Arc<Web>) -> Result<Self, Response> {
        if !signed_in(web, &parts.headers) {
            return Err(problem(web, &parts.headers, Problem::NotSignedIn));
        }
        Ok(Self {
            web: Arc::clone(web),
            headers: parts.headers.clone(),
        })
    }
}

impl Visitor {
    pub(super) fn shows(&self, name: &str, shown: Result<Value, Problem>) -> Response {
        match shown {
            Ok(shown) => {
                let language = Language::of(&self.headers);
                self.web.templates.page(name, language, true, shown)
            }
            Err(why) => problem(&self.web, &self.headers, why),
        }
    }

    /// They looked into a conversation.
    pub(super) async fn looks_into(&self, conversation: &str) {
        let audit = &self.web.data.audit;
        audit
            .note(OPERATOR, Action::LookedInto, conversation, None)
            .await;
    }
}

pub(super) async fn home(_: Visitor) -> Redirect {
    Redirect::to("/conversations")
}

pub(super) async fn missing(State(web): State<Arc<Web>>, headers: HeaderMap) -> Response {
    problem(&web, &headers, Problem::Missing)
}

/// Asks whether to go on: what looks at links before people do must not use them up.
pub(super) async fn door(State(web): State<Arc<Web>>, headers: HeaderMap) -> Response {
    let language = Language::of(&headers);
    web.templates
        .page("door.html", language, false, context! {})
}

pub(super) async fn enter(
    State(web): State<Arc<Web>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    Path(link): Path<String>,
    headers: HeaderMap,
) -> Response {
    match web.access.enter(&link, Utc::now()) {
        Some(session) => {
            tracing::info!("somebody signed in to the pages by a link");
            let cookie = cookie(&web, session.as_str(), SIGNED_IN);
            ([(SET_COOKIE, cookie)], Redirect::to("/conversations")).into_response()
        }
        None if web.limits.is_guessing(from.ip()) => problem(&web, &headers, Problem::TooMany),
        None => problem(&web, &headers, Problem::LinkOver),
    }
}

pub(super) async fn sign_out(State(web): State<Arc<Web>>, headers: HeaderMap) -> Response {
    if let Some(session) = session(&headers) {
        web.access.sign_out(session);
    }
    let cookie = cookie(&web, "", TimeDelta::zero());
    ([(SET_COOKIE, cookie)], Redirect::to("/")).into_response()
}

fn cookie(web: &Web, session: &str, life: TimeDelta) -> String {
    let secure = if web.is_encrypted() { "; Secure" } else { "" };
    let seconds = life.num_seconds();
    format!("{COOKIE_NAME}={session}; Path=/; HttpOnly; SameSite=Lax; Max-Age={seconds}{secure}")
}

/// What is sought in the list, as the form and its links have it.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct FilterForm {
    words: String,
    platform: String,
    place: String,
    person: String,
    since: String,
    until: String,
    /// Behind which one the page begins.
    last: String,
    id: String,
}

impl FilterForm {
    fn wanted(&self) -> ConversationFilter {
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
            since: day(&self.since),
            // The day itself is in.
            until: day(&self.until).and_then(|day| day.checked_add_signed(TimeDelta::days(1))),
            behind: last.map(|last| ListPosition {
                last_at: last.to_utc(),
                id: self.id.clone(),
            }),
        }
    }

    /// The address of the page that follows this conversation.
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

/// A path with what it asks, encoded.
fn address<'a>(path: &str, asked: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut asked_for = form_urlencoded::Serializer::new(String::new());
    asked_for.extend_pairs(asked);
    format!("{path}?{}", asked_for.finish())
}

fn address_of(conversation: &str) -> String {
    address("/conversation", [("id", conversation)])
}

pub(super) fn address_of_why(conversation: &str, answer: &str) -> String {
    address("/why", [("conversation", conversation), ("answer", answer)])
}

pub(super) async fn conversations(visitor: Visitor, Query(sought): Query<FilterForm>) -> Response {
    let shown = listing(&visitor.web, &sought).await;
    visitor.shows("conversations.html", shown)
}

async fn listing(web: &Web, sought: &FilterForm) -> Result<Value, Problem> {
    let wanted = sought.wanted();
    // One more says whether there are more.
    let mut found = web
        .data
        .store
        .conversations(&wanted, CONVERSATIONS + 1)
        .await?;
    let has_more = found.len() > CONVERSATIONS;
    found.truncate(CONVERSATIONS);
    let older = found
        .last()
        .filter(|_| has_more)
        .map(ListedConversation::position);
    let places = web.data.store.listed_channels().await?;
    let mut platforms: Vec<&str> = places.iter().map(|place| place.platform.as_str()).collect();
    platforms.dedup();
    let items: Vec<Value> = found.iter().map(item).collect();
    Ok(context! {
        items, platforms, places => shown_places(&places), sought => Value::from_serialize(sought),
        older => older.map(|last| sought.after(&last)),
        is_filtered => wanted != ConversationFilter::default(),
    })
}

/// To choose from.
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
    /// The turn behind which the page begins.
    #[serde(default)]
    after: String,
}

pub(super) async fn conversation(
    visitor: Visitor,
    Query(which): Query<WhichConversation>,
) -> Response {
    let shown = chain(&visitor, &which).await;
    visitor.shows("conversation.html", shown)
}

async fn chain(visitor: &Visitor, which: &WhichConversation) -> Result<Value, Problem> {
    let store = &visitor.web.data.store;
    let id = ConversationId::new(&which.id);
    let listed = store.conversation(&id).await?.ok_or(Problem::Missing)?;
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
    let worth = store.worth_of(&answers).await?;
    let worth: HashMap<ResponseId, Worth> = worth.into_iter().map(|it| (it.answer, it)).collect();
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

fn response_id(text: &str) -> Result<ResponseId, Problem> {
    let id = text.parse::<Uuid>();
    id.map(ResponseId).map_err(|_| Problem::Missing)
}

/// A turn, as the pages show it.
fn shown_turn(turn: &Turn, worth: Option<&Worth>) -> Value {
    let kind = match turn.source {
        Source::Message => "said_to_others",
        Source::Note => "noted",
        Source::Model | Source::Knowledge | Source::Retrieval | Source::Memory => "asked",
    };
    let has_model = turn.model.as_ref().is_some_and(|model| !model.is_empty());
    // What the answer is that is no plain answer of a model.
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
    let files: Vec<&str> = turn
        .attached
        .iter()
        .map(|file| file.name.as_str())
        .collect();
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

#[derive(Debug, Deserialize)]
pub(super) struct WhichAnswer {
    #[serde(default)]
    conversation: String,
    #[serde(default)]
    answer: String,
}

impl WhichAnswer {
    async fn explained(&self, visitor: &Visitor) -> Result<Explanation, Problem> {
        let conversation = ConversationId::new(&self.conversation);
        let answer = response_id(&self.answer)?;
        let found = visitor.web.data.store.explain(&conversation, Some(answer));
        found.await?.ok_or(Problem::Missing)
    }
}

pub(super) async fn why(visitor: Visitor, Query(which): Query<WhichAnswer>) -> Response {
    let shown = provenance(&visitor, &which).await;
    visitor.shows("why.html", shown)
}

async fn provenance(visitor: &Visitor, which: &WhichAnswer) -> Result<Value, Problem> {
    let explained = which.explained(visitor).await?;
    visitor.looks_into(&which.conversation).await;
    let turn = &explained.turn;
    let worth = Worth {
        answer: turn.id,
        cost_micros: explained.trace.cost_micros(),
        votes: explained.votes,
    };
    let step = |id: ResponseId| address_of_why(&which.conversation, &id.to_string());
    let neighbours = visitor.web.data.store.neighbours(turn.id).await?;
    let calls: Vec<Value> = explained
        .trace
        .calls
        .iter()
        .map(|call| {
            let seconds = format!("{:.1}", f64::from(call.ms) / 1_000.0);
            context! { step => call.step.name(), read => call.prompt, written => call.completion, seconds }
        })
        .collect();
    let rows: Vec<Value> = things(&explained).iter().skip(1).map(row).collect();
    let fields = [
        ("conversation", &*which.conversation),
        ("answer", &*which.answer),
    ];
    Ok(context! {
        turn => shown_turn(turn, Some(&worth)), rows, calls,
        conversation => address_of(&which.conversation),
        picture => address("/why/picture", fields),
        before => neighbours.before.map(step), after => neighbours.after.map(step),
    })
}

fn row(thing: &Thing) -> Value {
    context! {
        address => address_of_thing(thing),
        score => thing.score.map(|score| format!("{score:.2}")),
        kind => thing.kind.name(), how => thing.how.name(), note => thing.note.map(Note::name),
        text => thing.text, link => thing.link, at => thing.turn.as_ref().map(|turn| turn.at.to_rfc3339()),
    }
}

fn address_of_thing(thing: &Thing) -> Option<String> {
    let turn = thing.turn.as_ref()?;
    Some(address_of_why(turn.conversation.as_str(), &turn.answer))
}

pub(super) async fn why_picture(visitor: Visitor, Query(which): Query<WhichAnswer>) -> Response {
    let explained = match which.explained(&visitor).await {
        Ok(explained) => explained,
        Err(why) => return problem(&visitor.web, &visitor.headers, why),
    };
    let language = Language::of(&visitor.headers);
    let said = |name: &str| visitor.web.templates.text(language, name);
    let nodes: Vec<serde_json::Value> = things(&explained)
        .iter()
        .map(|thing| {
            json!({
                "kind": thing.kind.name(), "kind_said": said(thing.kind.name()), "how": said(thing.how.name()),
                "of": thing.of, "label": thing.label, "text": thing.text,
                "score": thing.score.map(|score| format!("{score:.2}")),
                "address": address_of_thing(thing),
            })
        })
        .collect();
    Json(nodes).into_response()
}

pub(super) async fn health(visitor: Visitor) -> Response {
    let health = visitor.web.data.store.health().await.map_err(Problem::from);
    let shown = health.map(|health| {
        context! {
            engine => health.engine, schema => health.schema_version,
            sessions => health.sessions, turns => health.turns,
            warnings => [health.missing, health.warnings].concat(),
        }
    });
    visitor.shows("health.html", shown)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn the_cookie_is_found_among_others() {
        let headers = |cookie| HeaderMap::from_iter([(COOKIE, HeaderValue::from_static(cookie))]);
        for (cookie, expected) in [
            ("muninn_session=abc", Some("abc")),
            ("a=b; muninn_session=abc; c=d", Some("abc")),
            ("muninn_sessions=abc", None),
            ("xmuninn_session=abc", None),
            ("", None),
        ] {
            assert_eq!(session(&headers(cookie)), expected, "{cookie}");
        }
    }

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
        let wanted = asked.wanted();
        assert_eq!(wanted.words, "ferry & dues");
        assert_eq!(wanted.behind, Some(last));
        assert_eq!(wanted.since, "2026-01-02T00:00:00Z".parse().ok());
    }

    fn serde_html_form(asked: &str) -> FilterForm {
        let uri: axum::http::Uri = format!("/?{asked}").parse().unwrap();
        Query::try_from_uri(&uri).unwrap().0
    }
}
