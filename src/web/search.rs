//! The pages that search memory and the team's knowledge, with explanations, and run confined statements.

use std::path::Path;
use std::sync::Arc;

use axum::Json;
use axum::extract::Query;
use axum::response::{IntoResponse as _, Response};
use minijinja::{Value, context};
use muninn_platform::{AudienceId, excerpt};
use serde::Deserialize;
use serde_json::Map;

use super::conversations::{address_of_why, shown_places};
use super::picture::{Drawing, DrawnLink, DrawnThing, is_web};
use super::templates::language_of;
use super::visitor::{PageProblem, Visitor, problem};
use crate::agent::tools::text2cypher::query_limits;
use crate::agent::tools::{SEARCH_KNOWLEDGE, TEXT2CYPHER};
use crate::graph::GraphStore;
use crate::graph::browsing::Readable;
use crate::graph::confine::{StatementLimits, confine};
use crate::graph::ingest::SourceOverview;
use crate::graph::query::{QueryError, QueryResult};
use crate::graph::schema::Survey;
use crate::knowledge::rejects::{self, RefusedLine};
use crate::knowledge::search::{Hit, KnowledgeFilter, SearchQuery};
use crate::memory::Candidate;
use crate::retrieval::scores::shown_score;

/// Maximum number of candidates shown, whatever the decision on them.
const CANDIDATES: usize = 50;
/// Maximum number of refused lines of a source.
const REFUSED: usize = 20;
/// Maximum rows of a statement.
const ROWS: u32 = 100;
/// Maximum characters of a statement.
const STATEMENT: usize = 4_000;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct SearchParameters {
    question: String,
    /// The audience for the question.
    place: String,
}

/// What would be recalled for a question, like `muninn recall`.
pub(super) async fn recalled(
    visitor: &Visitor,
    readable: &Readable,
    asked: &SearchParameters,
) -> Result<Value, PageProblem> {
    let data = &visitor.web.data;
    let places = data.store.listed_channels(readable).await?;
    let first = places.first().map(|place| place.id.as_str());
    let place = match asked.place.as_str() {
        "" => first.unwrap_or_default(),
        place => place,
    };
    let mut rows = Vec::new();
    if !asked.question.trim().is_empty() {
        let audience = AudienceId::new(place);
        if !readable.has(&audience) {
            return Err(PageProblem::Missing);
        }
        visitor.looks_into(place).await;
        let accounts = visitor.accounts().await?;
        let sought = data.recaller.embed_query(&asked.question).await;
        let sought = data
            .recaller
            .with_current_context(sought, &audience, accounts);
        let found = data
            .recaller
            .current_candidates(&data.store, &audience, &sought, CANDIDATES);
        let candidates = found.await?;
        rows.extend(candidates.iter().map(candidate));
    }
    Ok(context! {
        rows, place, question => asked.question, places => shown_places(&places),
    })
}

fn candidate(candidate: &Candidate) -> Value {
    let exchange = &candidate.exchange;
    let features = &exchange.features;
    let address = address_of_why(&exchange.session, &exchange.id.to_string());
    context! {
        address,
        text => excerpt(&exchange.input), author => &*exchange.author, at => exchange.at.to_rfc3339(),
        outcome => format!("outcome_{}", candidate.outcome().replace(' ', "_")),
        probability => shown_score(exchange.probability, 4),
        cosine => features.cosine.map(|cosine| format!("{cosine:.3}")),
        bm25 => format!("{:.2}", features.ln_bm25),
        coverage => format!("{:.2}", features.coverage),
        hints => format!("{:+.1}", features.hints.logit()),
    }
}

/// The sources, and what is found in them, like `muninn search`.
pub(super) async fn knowledge(visitor: Visitor, Query(asked): Query<SearchParameters>) -> Response {
    let shown = found(&visitor, &asked).await;
    visitor.render_page("knowledge.html", shown)
}

async fn found(visitor: &Visitor, asked: &SearchParameters) -> Result<Value, PageProblem> {
    let data = &visitor.web.data;
    let readable = visitor.readable().await?;
    let places = data.store.listed_channels(&readable).await?;
    let is_operator = readable == Readable::Everything;
    let first = places.first().filter(|_| !is_operator);
    let place = match (asked.place.as_str(), first) {
        ("", Some(first)) => first.id.as_str(),
        (place, _) => place,
    };
    let audience = AudienceId::new(place);
    let is_somewhere = is_operator || readable.has(&audience);
    if !is_somewhere && !place.is_empty() {
        return Err(PageProblem::Missing);
    }
    // A private question in a channel has the channel's settings.
    let channel = audience.channel();
    let set = data.channels.of(&channel).unwrap_or_default();
    let seen = data.searcher.sources(&channel).await;
    let is_seen = |source: &SourceOverview| {
        is_operator || seen.contains(&source.name) && set.reads(&source.name)
    };
    let mut sources = data.store.sources().await?;
    sources.retain(|source| is_somewhere && is_seen(source));
    // The reasons name servers and folders, and to find them takes a look into every folder.
    let stale = match is_operator {
        true => data.operating.stale_sources().await,
        false => Vec::new(),
    };
    let mut shown = Vec::new();
    for it in &sources {
        let lag = stale.iter().find(|(name, _)| *name == it.name);
        let refused = match is_operator && it.of.rejected > 0 {
            true => refused_lines(&data.folder, it).await,
            false => Vec::new(),
        };
        shown.push(source(it, lag.map(|(_, why)| why), &refused));
    }
    let is_searched = is_operator || set.offers(SEARCH_KNOWLEDGE);
    let mut hits = Vec::new();
    let mut notes = Vec::new();
    if is_somewhere && is_searched && !asked.question.trim().is_empty() {
        data.searcher.refresh().await;
        let searched = SearchQuery {
            text: &asked.question,
            earlier: &[],
            audience: &channel,
            among: KnowledgeFilter::Everything,
            only: set.sources.as_deref().filter(|_| !is_operator),
            limit: None,
        };
        let found = data.searcher.search(&searched).await;
        hits.extend(found.hits.iter().map(hit));
        notes.extend(data.searcher.answer_caveat(&found));
        notes.extend(
            found
                .degradations
                .iter()
                .map(|degradation| degradation.sentence()),
        );
    }
    Ok(context! {
        sources => shown, hits, notes, question => asked.question, place,
        places => shown_places(&places),
    })
}

/// The first refused lines; they may have been removed since.
async fn refused_lines(folder: &Path, source: &SourceOverview) -> Vec<RefusedLine> {
    let (folder, name, version) = (folder.to_owned(), source.name.clone(), source.version);
    let read = move || rejects::refused(&folder, &name, version, REFUSED);
    let read = tokio::task::spawn_blocking(read).await;
    read.ok().and_then(Result::ok).unwrap_or_default()
}

fn source(source: &SourceOverview, lag: Option<&String>, refused: &[RefusedLine]) -> Value {
    let lines = refused.iter().map(|it| {
        context! { file => it.file, line => it.line, reason => it.reason }
    });
    context! {
        lag, lines => lines.collect::<Vec<_>>(), is_under_way => source.holder.is_some() || source.staged > 0,
        name => source.name, kind => source.of.kind, version => source.version,
        since => source.since.map(|since| since.to_rfc3339()), records => source.of.records,
        chunks => source.chunks, refused => source.of.rejected,
    }
}

fn hit(hit: &Hit) -> Value {
    let scores = &hit.scores;
    let path: Vec<&str> = hit.path.iter().map(|step| step.name.as_str()).collect();
    let cosine = Some(scores.cosine).filter(|cosine| !cosine.is_nan());
    context! {
        name => hit.name(), label => hit.label, source => hit.source, text => hit.text, why => hit.why, path,
        link => hit.link.as_ref().filter(|link| is_web(link)),
        total => format!("{:.3}", scores.total), graph => format!("{:.2}", scores.graph),
        cosine => cosine.map(|cosine| format!("{cosine:.2}")),
        bm25 => format!("{:.1}", scores.bm25), recency => format!("{:.2}", scores.recency),
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CypherForm {
    statement: String,
}

/// The confined form of a statement and its result.
pub(super) async fn cypher(visitor: Visitor, Query(written): Query<CypherForm>) -> Response {
    let shown = run(&visitor, &written.statement).await;
    visitor.render_page("cypher.html", shown)
}

/// The schema, as a picture.
pub(super) async fn schema_picture(visitor: Visitor) -> Response {
    let survey = match askable(&visitor).await {
        Ok(survey) => survey,
        Err(why) => return problem(&visitor.web, &visitor.headers, why),
    };
    let language = language_of(&visitor.headers);
    let kind_said = visitor.web.templates.text(language, "label");
    Json(drawn(&survey, &kind_said)).into_response()
}

fn drawn(survey: &Survey, kind_said: &str) -> Drawing {
    let labels: Vec<&String> = survey.schema.nodes.keys().collect();
    let things = labels.iter().map(|label| {
        let count = survey.nodes.get(*label).copied().unwrap_or_default();
        let properties = survey.schema.nodes.get(*label).into_iter().flatten();
        let properties = properties.map(|it| format!("{} ({})", it.name, it.kind));
        let properties: Vec<String> = properties.collect();
        DrawnThing {
            kind: "context",
            kind_said: kind_said.to_owned(),
            label: format!("{label} ({count})"),
            text: format!("{label}: {}", properties.join(", ")),
            address: None,
        }
    });
    let at = |label: &String| labels.iter().position(|it| *it == label);
    let links = survey.schema.patterns.iter().filter_map(|pattern| {
        Some(DrawnLink {
            from: at(&pattern.from)?,
            to: at(&pattern.to)?,
            said: Some(pattern.kind.clone()),
        })
    });
    Drawing {
        layout: "free",
        things: things.collect(),
        links: links.collect(),
    }
}

/// The schema that somebody may query, if they may query at all.
async fn askable(visitor: &Visitor) -> Result<Arc<Survey>, PageProblem> {
    let data = &visitor.web.data;
    if let Readable::Audiences(places) = visitor.readable().await? {
        let may_ask = |place: &AudienceId| {
            let set = data.channels.of(&place.channel()).unwrap_or_default();
            set.offers(TEXT2CYPHER)
        };
        if !places.iter().any(may_ask) {
            return Err(PageProblem::Missing);
        }
    }
    Ok(data.store.schema().await?)
}

async fn run(visitor: &Visitor, statement: &str) -> Result<Value, PageProblem> {
    let survey = askable(visitor).await?;
    let store = &visitor.web.data.store;
    let StatementResult {
        confined,
        refusal,
        result,
    } = match statement.trim() {
        "" => StatementResult::default(),
        statement => {
            let _permit = visitor.search_permit().await?;
            confine_and_run(store, &survey, statement).await?
        }
    };
    Ok(context! {
        statement => statement.trim(), refusal, confined, result,
        schema => survey.text(u32::MAX), is_empty => survey.is_empty(),
    })
}

/// The result of a statement.
#[derive(Debug, Default)]
struct StatementResult {
    /// The statement as it ran.
    confined: Option<String>,
    /// Why there is no result.
    refusal: Option<String>,
    result: Option<Value>,
}

impl StatementResult {
    fn refused(why: &dyn std::fmt::Display) -> Self {
        Self {
            refusal: Some(why.to_string()),
            ..Self::default()
        }
    }
}

async fn confine_and_run(
    store: &GraphStore,
    survey: &Survey,
    statement: &str,
) -> Result<StatementResult, PageProblem> {
    if statement.chars().count() > STATEMENT {
        return Ok(StatementResult::refused(&format_args!(
            "longer than {STATEMENT} characters"
        )));
    }
    let limits = StatementLimits {
        rows: ROWS,
        nodes: Some(&survey.nodes),
    };
    let query = match confine(statement, &survey.schema, &limits) {
        Ok(query) => query,
        Err(why) => return Ok(StatementResult::refused(&why)),
    };
    let ran = store.query(&query, Map::new(), query_limits(ROWS)).await;
    let ran = match ran {
        Ok(rows) => StatementResult {
            result: Some(table(&rows)),
            ..StatementResult::default()
        },
        Err(QueryError::Store(error)) => return Err(error.into()),
        Err(
            error @ (QueryError::Repairable { .. }
            | QueryError::TimedOut { .. }
            | QueryError::TooBig),
        ) => StatementResult::refused(&error),
    };
    Ok(StatementResult {
        confined: Some(query.as_str().to_owned()),
        ..ran
    })
}

fn table(result: &QueryResult) -> Value {
    let cell = |value: &serde_json::Value| match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Null => String::new(),
        serde_json::Value::Bool(_)
        | serde_json::Value::Number(_)
        | serde_json::Value::Array(_)
        | serde_json::Value::Object(_) => value.to_string(),
    };
    let rows = result.rows.iter();
    let rows = rows.map(|row| row.iter().map(cell).collect::<Vec<_>>());
    context! {
        columns => result.columns, rows => rows.collect::<Vec<_>>(), is_cut => result.cut.is_some(),
    }
}
