//! The visitor of a page, and what they may read at this moment.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::header::COOKIE;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use chrono::Utc;
use minijinja::{Value, context};
use muninn_platform::AudienceId;

use super::access::Viewer;
use super::search_permits::SearchPermit;
use super::state::Web;
use super::templates::{PageContent, language_of};
use crate::conversation::audit::{AuditAction, OPERATOR};
use crate::conversation::bot_connection::NoBotReply;
use crate::conversation::readable::NotReadable;
use crate::graph::StoreError;
use crate::graph::browsing::{ListedConversation, Readable};

pub(super) const COOKIE_NAME: &str = "muninn_session";

/// Why a page is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageProblem {
    NotSignedIn,
    LinkOver,
    TooMany,
    Missing,
    Refused,
    Failed,
    /// The platform does not tell what somebody may read.
    NotTold,
    /// The bot is shutting down.
    Ending,
}

impl From<StoreError> for PageProblem {
    fn from(error: StoreError) -> Self {
        tracing::warn!(%error, "a page could not be shown");
        Self::Failed
    }
}

impl From<NotReadable> for PageProblem {
    fn from(error: NotReadable) -> Self {
        match error {
            NotReadable::Store(error) => error.into(),
            NotReadable::NotTold(_) | NotReadable::NoMembership(_) => {
                tracing::warn!(%error, "a page could not be shown");
                Self::NotTold
            }
        }
    }
}

impl From<NoBotReply> for PageProblem {
    fn from(why: NoBotReply) -> Self {
        match why {
            NoBotReply::Ending => Self::Ending,
            NoBotReply::Silent | NoBotReply::TooLate => Self::Failed,
        }
    }
}

/// A page that says why another one is not shown.
pub(super) fn problem(web: &Web, headers: &HeaderMap, problem: PageProblem) -> Response {
    let (status, name) = match problem {
        PageProblem::NotSignedIn => (StatusCode::UNAUTHORIZED, "signed_out"),
        PageProblem::LinkOver => (StatusCode::FORBIDDEN, "link_over"),
        PageProblem::TooMany => (StatusCode::TOO_MANY_REQUESTS, "too_many"),
        PageProblem::Missing => (StatusCode::NOT_FOUND, "missing"),
        PageProblem::Refused => (StatusCode::FORBIDDEN, "refused"),
        PageProblem::Failed => (StatusCode::SERVICE_UNAVAILABLE, "failed"),
        PageProblem::NotTold => (StatusCode::SERVICE_UNAVAILABLE, "not_told"),
        PageProblem::Ending => (StatusCode::SERVICE_UNAVAILABLE, "ending"),
    };
    let language = language_of(headers);
    let text = |name: &str| web.templates.text(language, name);
    let shown = context! {
        title => text(&format!("{name}_title")), text => text(name),
        names_command => matches!(problem, PageProblem::NotSignedIn | PageProblem::LinkOver),
    };
    let session = session(headers);
    let viewer = session.and_then(|session| web.access.viewer(session, Utc::now()));
    let shown = PageContent {
        viewer: viewer.as_ref(),
        language,
        values: shown,
    };
    (status, web.templates.page("said.html", shown)).into_response()
}

/// The session in the cookie.
pub(super) fn session(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get_all(COOKIE).iter();
    let mut cookies = cookies
        .filter_map(|it| it.to_str().ok())
        .flat_map(|it| it.split(';'));
    cookies.find_map(|cookie| cookie.trim().strip_prefix(COOKIE_NAME)?.strip_prefix('='))
}

/// Somebody who is signed in.
pub(super) struct Visitor {
    pub(super) web: Arc<Web>,
    pub(super) headers: HeaderMap,
    pub(super) viewer: Viewer,
}

impl FromRequestParts<Arc<Web>> for Visitor {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, web: &Arc<Web>) -> Result<Self, Response> {
        let session = session(&parts.headers);
        let viewer = session.and_then(|session| web.access.viewer(session, Utc::now()));
        let Some(viewer) = viewer else {
            return Err(problem(web, &parts.headers, PageProblem::NotSignedIn));
        };
        Ok(Self {
            web: Arc::clone(web),
            headers: parts.headers.clone(),
            viewer,
        })
    }
}

/// The signed-in operator.
pub(super) struct Operator(pub(super) Visitor);

impl FromRequestParts<Arc<Web>> for Operator {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, web: &Arc<Web>) -> Result<Self, Response> {
        let visitor = Visitor::from_request_parts(parts, web).await?;
        match visitor.viewer {
            Viewer::Operator => Ok(Self(visitor)),
            // Others do not learn which pages exist.
            Viewer::Person(_) => Err(problem(web, &parts.headers, PageProblem::Missing)),
        }
    }
}

impl Visitor {
    pub(super) fn render_page(&self, name: &str, shown: Result<Value, PageProblem>) -> Response {
        match shown {
            Ok(values) => {
                let shown = PageContent {
                    viewer: Some(&self.viewer),
                    language: language_of(&self.headers),
                    values,
                };
                self.web.templates.page(name, shown)
            }
            Err(why) => problem(&self.web, &self.headers, why),
        }
    }

    /// The ID of their account.
    fn id(&self) -> &str {
        match &self.viewer {
            Viewer::Operator => OPERATOR,
            Viewer::Person(account) => &account.id,
        }
    }

    /// Waits until they may search; too many searches are a problem.
    pub(super) async fn search_permit(&self) -> Result<SearchPermit<'_>, PageProblem> {
        let permit = self.web.searches.acquire(self.id()).await;
        permit.ok_or(PageProblem::TooMany)
    }

    /// Records that they looked into a conversation.
    pub(super) async fn looks_into(&self, conversation: &str) {
        let audit = &self.web.data.audit;
        audit
            .record_action(self.id(), AuditAction::LookedInto, conversation, None)
            .await;
    }

    /// The IDs of their accounts; the operator has none.
    pub(super) async fn accounts(&self) -> Result<Vec<String>, PageProblem> {
        match &self.viewer {
            Viewer::Operator => Ok(Vec::new()),
            Viewer::Person(account) => {
                let others = self.web.readable.others(account).await?;
                let others = others.into_iter().map(|it| it.id);
                Ok(others.chain([account.id.clone()]).collect())
            }
        }
    }

    /// What they may read. Asks the platforms.
    pub(super) async fn readable(&self) -> Result<Readable, PageProblem> {
        match &self.viewer {
            Viewer::Operator => Ok(Readable::Everything),
            Viewer::Person(account) => {
                let all = self.web.readable.by(account, &[], |_| true).await?;
                Ok(Readable::Audiences(all))
            }
        }
    }

    /// Whether they may read this audience. Asks the platform.
    pub(super) async fn may_read(&self, audience: &AudienceId) -> Result<bool, PageProblem> {
        match &self.viewer {
            Viewer::Operator => Ok(true),
            Viewer::Person(account) => {
                let found = self
                    .web
                    .readable
                    .by(account, &[], |it| it == audience)
                    .await?;
                Ok(!found.is_empty())
            }
        }
    }

    /// A conversation that they may read. One that they may not read is treated as missing.
    pub(super) async fn conversation(&self, id: &str) -> Result<ListedConversation, PageProblem> {
        let id = muninn_platform::ConversationId::new(id);
        let listed = self.web.data.store.conversation(&id).await?;
        let listed = listed.ok_or(PageProblem::Missing)?;
        match self.may_read(&listed.audience).await? {
            true => Ok(listed),
            false => Err(PageProblem::Missing),
        }
    }
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
}
