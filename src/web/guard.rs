//! Checks every request: the right host, our own pages for changes, and rate limits. Also sets the security headers of every
//! response.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::HeaderMap;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::middleware::Next;
use axum::response::Response;
use chrono::Utc;

use super::access::{Access, Viewer};
use super::rate_limiters::Asker;
use super::state::Web;
use super::visitor::{PageProblem, problem, session};

/// Admits a request or refuses it.
pub(super) async fn check(
    State(web): State<Arc<Web>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    request: Request,
    next: Next,
) -> Response {
    let headers = request.headers();
    if !web.origin.is_host(headers) {
        return problem(&web, headers, PageProblem::Refused);
    }
    if !request.method().is_safe() && !web.origin.is_said(headers) {
        return problem(&web, headers, PageProblem::Refused);
    }
    let asker = asker(&web.access, headers, from.ip());
    // Somebody with a valid link gets in, however many requests others send.
    let link = request.uri().path().strip_prefix("/enter/");
    let is_invited = link.is_some_and(|link| web.access.is_link(link, Utc::now()));
    if !is_invited && web.limits.is_too_much(&asker) {
        return problem(&web, headers, PageProblem::TooMany);
    }
    next.run(request).await
}

/// Who is rate limited for a request.
fn asker(access: &Access, headers: &HeaderMap, from: IpAddr) -> Asker {
    match session(headers).and_then(|session| access.viewer(session, Utc::now())) {
        Some(Viewer::Operator) => Asker::Operator,
        Some(Viewer::Person(account)) => Asker::Account(account.id),
        None => Asker::Address(from),
    }
}

/// Forbids content from other hosts, inline scripts, framing, and caching.
pub(super) async fn headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    let says = |value| HeaderValue::from_static(value);
    headers.insert(
        CONTENT_SECURITY_POLICY,
        says(
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
             form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        ),
    );
    headers.insert(X_CONTENT_TYPE_OPTIONS, says("nosniff"));
    headers.insert(X_FRAME_OPTIONS, says("DENY"));
    headers.insert(REFERRER_POLICY, says("same-origin"));
    headers.insert(
        HeaderName::from_static("cross-origin-opener-policy"),
        says("same-origin"),
    );
    headers.insert(
        HeaderName::from_static("cross-origin-resource-policy"),
        says("same-origin"),
    );
    headers.entry(CACHE_CONTROL).or_insert(says("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use axum::http::header::COOKIE;

    use super::super::visitor::COOKIE_NAME;
    use super::*;
    use crate::graph::accounts::Account;

    #[test]
    fn all_sessions_of_an_account_have_one_rate_limit() {
        let access = Access::default();
        let address = IpAddr::from([127, 0, 0, 1]);
        let asks = |viewer: Viewer| {
            let link = access.link(viewer, Utc::now());
            let session = access.enter(link.as_str(), Utc::now()).unwrap();
            let cookie = format!("{COOKIE_NAME}={}", session.as_str());
            let headers = HeaderMap::from_iter([(COOKIE, HeaderValue::from_str(&cookie).unwrap())]);
            asker(&access, &headers, address)
        };
        let person = |id: &str| {
            Viewer::Person(Account {
                id: id.to_owned(),
                platform: "slack".to_owned(),
                name: "Ann".to_owned(),
            })
        };
        assert_eq!(asks(person("ann")), Asker::Account("ann".to_owned()));
        assert_eq!(asks(person("ann")), asks(person("ann")));
        assert_ne!(asks(person("ann")), asks(person("bob")));
        assert_eq!(asks(Viewer::Operator), Asker::Operator);
        let nobody = asker(&access, &HeaderMap::new(), address);
        assert_eq!(nobody, Asker::Address(address));
    }
}
