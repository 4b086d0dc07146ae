//! Rendering: templates that escape everything they show, texts in several languages, and static files.

use std::collections::BTreeMap;

use axum::extract::Path;
use axum::http::header::{ACCEPT_LANGUAGE, CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use chrono::{DateTime, Utc};
use minijinja::{Environment, UndefinedBehavior, Value, context};
use muninn_platform::Language;
use muninn_texts::plain_texts;

use super::access::Viewer;

/// The catalogue's file with the texts of pages, and the prefix of their keys.
const TEXTS: &str = "pages";
const PREFIX: &str = "page-";

const TEMPLATES: [(&str, &str); 11] = [
    (
        "places.html",
        include_str!("../../web/templates/places.html"),
    ),
    ("base.html", include_str!("../../web/templates/base.html")),
    ("door.html", include_str!("../../web/templates/door.html")),
    ("said.html", include_str!("../../web/templates/said.html")),
    (
        "conversations.html",
        include_str!("../../web/templates/conversations.html"),
    ),
    (
        "conversation.html",
        include_str!("../../web/templates/conversation.html"),
    ),
    ("why.html", include_str!("../../web/templates/why.html")),
    (
        "memory.html",
        include_str!("../../web/templates/memory.html"),
    ),
    (
        "knowledge.html",
        include_str!("../../web/templates/knowledge.html"),
    ),
    (
        "cypher.html",
        include_str!("../../web/templates/cypher.html"),
    ),
    (
        "health.html",
        include_str!("../../web/templates/health.html"),
    ),
];

const FILES: [(&str, &str, &[u8]); 5] = [
    ("icon.svg", SVG, include_bytes!("../../web/static/icon.svg")),
    (
        "style.css",
        CSS,
        include_bytes!("../../web/static/style.css"),
    ),
    (
        "picture.js",
        JS,
        include_bytes!("../../web/static/picture.js"),
    ),
    (
        "htmx.min.js",
        JS,
        include_bytes!("../../web/static/htmx.min.js"),
    ),
    (
        "cytoscape.min.js",
        JS,
        include_bytes!("../../web/static/cytoscape.min.js"),
    ),
];
const CSS: &str = "text/css; charset=utf-8";
const SVG: &str = "image/svg+xml";
const JS: &str = "text/javascript; charset=utf-8";

/// The supported language that a browser prefers; they are listed in order of preference.
pub(super) fn language_of(headers: &HeaderMap) -> Language {
    let wanted = headers.get(ACCEPT_LANGUAGE).and_then(|it| it.to_str().ok());
    wanted.and_then(Language::of_locales).unwrap_or_default()
}

/// The content of a page, and its visitor.
pub(super) struct PageContent<'a> {
    /// `None` if nobody is signed in.
    pub(super) viewer: Option<&'a Viewer>,
    pub(super) language: Language,
    pub(super) values: Value,
}

/// The templates and their texts.
#[derive(Debug)]
pub(super) struct Templates {
    environment: Environment<'static>,
    texts: Vec<Value>,
}

impl Templates {
    /// # Panics
    /// Panics when a template or a text of this program is invalid, which a test finds.
    pub(super) fn new() -> Self {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.add_filter("moment", moment);
        for (name, template) in TEMPLATES {
            let added = environment.add_template(name, template);
            added.unwrap_or_else(|error| panic!("{name}: {error:#}"));
        }
        let texts = Language::ALL.map(|language| Value::from_serialize(texts(language)));
        Self {
            environment,
            texts: texts.into(),
        }
    }

    /// A page.
    pub(super) fn page(&self, name: &str, shown: PageContent<'_>) -> Response {
        let PageContent {
            viewer,
            language,
            values,
        } = shown;
        let who = match viewer {
            Some(Viewer::Person(account)) => Some(account.name.as_str()),
            Some(Viewer::Operator) | None => None,
        };
        let all = context! {
            t => self.texts[language as usize], language => language.code(), page => name, who,
            is_signed_in => viewer.is_some(), is_operator => viewer == Some(&Viewer::Operator), ..values
        };
        let rendered = self.environment.get_template(name);
        match rendered.and_then(|template| template.render(all)) {
            Ok(page) => ([(CONTENT_TYPE, "text/html; charset=utf-8")], page).into_response(),
            Err(error) => {
                tracing::error!(error = %format!("{error:#}"), name, "a page could not be made");
                StatusCode::INTERNAL_SERVER_ERROR.into_response()
            }
        }
    }

    /// One of the pages' texts.
    pub(super) fn text(&self, language: Language, name: &str) -> String {
        let text = self.texts[language as usize]
            .get_attr(name)
            .unwrap_or_default();
        text.as_str().unwrap_or(name).to_owned()
    }
}

/// The texts of a language by their names in templates.
fn texts(language: Language) -> BTreeMap<&'static str, String> {
    let all = plain_texts(language, TEXTS);
    all.filter_map(|(key, text)| Some((key.strip_prefix(PREFIX)?, text)))
        .collect()
}

/// `2026-11-24 09:40`, from a serialised moment.
fn moment(at: &str) -> String {
    let read = DateTime::parse_from_rfc3339(at);
    read.map_or_else(
        |_| at.to_owned(),
        |at| at.with_timezone(&Utc).format("%Y-%m-%d %H:%M").to_string(),
    )
}

/// A static file of the pages. Browsers cache it for ten minutes only, so that they soon get a new version.
pub(super) async fn static_file(Path(name): Path<String>) -> Response {
    match FILES.iter().find(|(known, ..)| *known == name) {
        Some((_, kind, content)) => {
            let headers = [
                (CONTENT_TYPE, *kind),
                (CACHE_CONTROL, "private, max-age=600"),
            ];
            (headers, *content).into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn the_pages_say_every_text_of_theirs() {
        let all: String = TEMPLATES.iter().map(|(_, template)| *template).collect();
        let code = concat!(
            include_str!("conversations.rs"),
            include_str!("health.rs"),
            include_str!("own.rs"),
            include_str!("picture.rs"),
            include_str!("search.rs"),
            include_str!("visitor.rs"),
            include_str!("why.rs")
        );
        for name in texts(Language::English).into_keys() {
            let problem = name.strip_suffix("_title").unwrap_or(name);
            if let Some(outcome) = name.strip_prefix("outcome_") {
                let outcomes = include_str!("../memory/recall/candidates.rs");
                assert!(
                    outcomes.contains(&format!("\"{}\"", outcome.replace('_', " "))),
                    "{name}"
                );
                continue;
            }
            let is_used = all.contains(&format!("t.{name}"))
                || [problem, name]
                    .iter()
                    .any(|it| code.contains(&format!("\"{it}\"")));
            assert!(is_used, "nothing says {name}");
        }
        Templates::new();
    }

    #[test]
    fn the_language_is_the_first_that_there_is() {
        for (wanted, expected) in [
            ("de-AT,de;q=0.9,en;q=0.8", "de"),
            ("it,en;q=0.5,de;q=0.3", "en"),
            ("fr-CH, de;q=0.5", "fr"),
            ("it", "en"),
            ("DE", "de"),
        ] {
            let wanted_by =
                HeaderMap::from_iter([(ACCEPT_LANGUAGE, HeaderValue::from_static(wanted))]);
            assert_eq!(language_of(&wanted_by).code(), expected, "{wanted}");
        }
        assert_eq!(language_of(&HeaderMap::new()).code(), "en");
    }
}
