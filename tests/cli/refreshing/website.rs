//! A website on this machine, which records every request.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use tokio::net::TcpListener;

/// A response.
#[derive(Clone, Debug)]
pub(super) struct PageResponse {
    status: u16,
    kind: &'static str,
    text: String,
}

impl PageResponse {
    pub(super) fn of(kind: &'static str, text: &str) -> Self {
        Self {
            status: 200,
            kind,
            text: text.to_owned(),
        }
    }

    pub(super) fn text(text: &str) -> Self {
        Self::of("text/plain; charset=utf-8", text)
    }

    pub(super) fn status(status: u16) -> Self {
        Self {
            status,
            ..Self::text("")
        }
    }

    pub(super) fn led(status: u16, to: &str) -> Self {
        Self {
            status,
            ..Self::text(to)
        }
    }
}

/// Returns a page with links in its navigation.
pub(super) fn html(text: &str, links: &[&str]) -> PageResponse {
    let links = links.iter().map(|link| format!("<a href=\"{link}\">x</a>"));
    let links: String = links.collect();
    let page = format!("<html><body><nav>{links}</nav><main><p>{text}</p></main></body></html>");
    PageResponse::of("text/html; charset=utf-8", &page)
}

#[derive(Clone, Default)]
struct Inside {
    pages: Arc<Mutex<BTreeMap<String, PageResponse>>>,
    asked: Arc<Mutex<Vec<String>>>,
    unchanged: Arc<Mutex<Vec<String>>>,
}

pub(super) struct Website {
    pub(super) address: String,
    inside: Inside,
}

impl Website {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let inside = Inside::default();
        let router = Router::new().fallback(answer).with_state(inside.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { address, inside }
    }

    /// Sets the page of a path with its query.
    pub(super) fn put(&self, path: &str, page: PageResponse) {
        let mut pages = self.inside.pages.lock().unwrap();
        pages.insert(path.to_owned(), page);
    }

    /// Returns the requests since the last call, in order.
    pub(super) fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.inside.asked.lock().unwrap())
    }

    /// Returns the requests with response "not modified" since the last call.
    pub(super) fn unchanged(&self) -> Vec<String> {
        std::mem::take(&mut *self.inside.unchanged.lock().unwrap())
    }
}

async fn answer(State(inside): State<Inside>, request: Request) -> Response {
    let whole = request.uri().path_and_query().unwrap().to_string();
    let path = request.uri().path().to_owned();
    inside.asked.lock().unwrap().push(whole.clone());
    let page = {
        let pages = inside.pages.lock().unwrap();
        pages.get(&whole).or(pages.get(&path)).cloned()
    };
    let Some(PageResponse { status, kind, text }) = page else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let status = StatusCode::from_u16(status).unwrap();
    if status.is_redirection() {
        return (status, [(header::LOCATION, text)]).into_response();
    }
    let etag = format!(
        "\"{}-{}\"",
        text.len(),
        text.bytes().map(u64::from).sum::<u64>()
    );
    let known = request.headers().get(header::IF_NONE_MATCH);
    if status.is_success() && known.is_some_and(|known| known.to_str().unwrap() == etag) {
        inside.unchanged.lock().unwrap().push(whole);
        return StatusCode::NOT_MODIFIED.into_response();
    }
    let headers = [
        (header::CONTENT_TYPE, kind.to_owned()),
        (header::ETAG, etag),
    ];
    (status, headers, text).into_response()
}
