//! Signing in with a link, and signing out.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{ConnectInfo, Path, State};
use axum::http::HeaderMap;
use axum::http::header::SET_COOKIE;
use axum::response::{IntoResponse as _, Redirect, Response};
use chrono::{TimeDelta, Utc};
use minijinja::context;

use super::access::{SESSION_LIFETIME, Viewer};
use super::state::Web;
use super::templates::{PageContent, language_of};
use super::visitor::{COOKIE_NAME, PageProblem, Visitor, problem, session};

pub(super) async fn home(_: Visitor) -> Redirect {
    Redirect::to("/conversations")
}

pub(super) async fn missing(State(web): State<Arc<Web>>, headers: HeaderMap) -> Response {
    problem(&web, &headers, PageProblem::Missing)
}

/// Asks whether to continue, so that programs that preview links do not use them up.
pub(super) async fn door(State(web): State<Arc<Web>>, headers: HeaderMap) -> Response {
    let shown = PageContent {
        viewer: None,
        language: language_of(&headers),
        values: context! {},
    };
    web.templates.page("door.html", shown)
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
            let cookie = cookie(&web, session.as_str(), SESSION_LIFETIME);
            ([(SET_COOKIE, cookie)], Redirect::to("/conversations")).into_response()
        }
        None if web.limits.is_guessing(from.ip()) => problem(&web, &headers, PageProblem::TooMany),
        None => problem(&web, &headers, PageProblem::LinkOver),
    }
}

pub(super) async fn sign_out(State(web): State<Arc<Web>>, headers: HeaderMap) -> Response {
    if let Some(session) = session(&headers) {
        web.access.sign_out(session);
    }
    let cookie = cookie(&web, "", TimeDelta::zero());
    ([(SET_COOKIE, cookie)], Redirect::to("/")).into_response()
}

/// Signs somebody out in every browser.
pub(super) async fn sign_out_everywhere(visitor: Visitor) -> Response {
    match &visitor.viewer {
        Viewer::Person(account) => {
            let account = std::slice::from_ref(&account.id);
            visitor.web.access.sign_out_all(account);
        }
        // Other people may operate the bot too.
        Viewer::Operator => {}
    }
    sign_out(State(visitor.web), visitor.headers).await
}

fn cookie(web: &Web, session: &str, life: TimeDelta) -> String {
    let secure = if web.is_encrypted() { "; Secure" } else { "" };
    let seconds = life.num_seconds();
    format!("{COOKIE_NAME}={session}; Path=/; HttpOnly; SameSite=Lax; Max-Age={seconds}{secure}")
}
