//! Handles a request: requested failures, limits, rules, the record.

use std::collections::HashMap;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Path, Query, Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::Response;
use serde_json::{Value, json};

use super::SharedWorld;
use super::multipart::{self, Sent};
use crate::Id;
use crate::error::ApiError;
use crate::fault::Failing;
use crate::limits::{Verdict, key};
use crate::rest::{self, Call, RouteMatch};
use crate::traffic::RestExchange;
use crate::world::{RefusedRequest, World};

/// Ends the connection instead of a response.
#[derive(Clone, Copy, Debug)]
pub(super) struct CutHere;

impl std::fmt::Display for CutHere {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("cut by the test")
    }
}

impl std::error::Error for CutHere {}

/// A request.
struct Received {
    method: Method,
    path: String,
    query: HashMap<String, String>,
    headers: HeaderMap,
    body: Value,
    files: Vec<Sent>,
    is_json: bool,
}

/// A response.
struct RestResponse {
    status: u16,
    body: Value,
    headers: Vec<(&'static str, String)>,
    /// It results from a failure that the test requested.
    staged: bool,
}

pub(super) async fn rest(State(shared): State<Arc<SharedWorld>>, request: Request) -> Response {
    let received = receive(request).await;
    let found = rest::find(received.method.as_str(), &received.path);
    let route = found.as_ref().ok().map(|found| found.template);
    let failing = shared.with(|world| world.failing(received.method.as_str(), route));
    match &failing {
        Some(Failing::Cut) => return cut(),
        Some(Failing::Slow(by)) => tokio::time::sleep(*by).await,
        Some(Failing::Held(gate)) => gate.pass().await,
        Some(
            Failing::Limited { .. } | Failing::Status(_) | Failing::Lost | Failing::Unnumbered,
        )
        | None => {}
    }
    let mut outgoing = shared.with(|world| world.respond(&received, found, failing.as_ref()));
    if let Some(Failing::Unnumbered) = failing {
        outgoing.headers = vec![
            ("x-ratelimit-remaining", "some".to_owned()),
            ("x-ratelimit-reset-after", "-1".to_owned()),
        ];
    }
    shared.traffic.rest(&RestExchange {
        method: received.method.as_str(),
        path: &received.path,
        route,
        query: &json!(received.query),
        status: outgoing.status,
        request: &received.body,
        answer: &outgoing.body,
        staged: outgoing.staged,
    });
    if let Some(Failing::Lost) = failing {
        return cut();
    }
    finish(&outgoing)
}

async fn receive(request: Request) -> Received {
    let (parts, body) = request.into_parts();
    let query = Query::try_from_uri(&parts.uri)
        .map(|Query(query)| query)
        .unwrap_or_default();
    let bytes = axum::body::to_bytes(body, 64 << 20)
        .await
        .unwrap_or_default();
    let mut received = Received {
        path: parts.uri.path().to_owned(),
        query,
        body: Value::Null,
        files: Vec::new(),
        is_json: true,
        method: parts.method.clone(),
        headers: parts.headers.clone(),
    };
    let kind = received.headers.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if let Some((body, files)) = multipart::read(kind, &bytes) {
        received.body = body;
        received.files = files;
    } else if !bytes.is_empty() {
        let body = serde_json::from_slice(&bytes);
        received.is_json = body.is_ok();
        received.body = body.unwrap_or_default();
    }
    received
}

fn cut() -> Response {
    let mut response = Response::new(Body::empty());
    response.extensions_mut().insert(CutHere);
    response
}

fn finish(outgoing: &RestResponse) -> Response {
    let status = StatusCode::from_u16(outgoing.status).expect("a status of three digits");
    let mut response = Response::builder().status(status);
    for (name, value) in &outgoing.headers {
        response = response.header(*name, value);
    }
    let body = match &outgoing.body {
        Value::Null => Body::empty(),
        Value::String(text) if outgoing.staged => Body::from(text.clone()),
        body => {
            response = response.header(header::CONTENT_TYPE, "application/json");
            Body::from(body.to_string())
        }
    };
    response.body(body).expect("headers are plain text")
}

impl World {
    /// Returns the first requested failure that matches a request.
    fn failing(&mut self, method: &str, route: Option<&str>) -> Option<Failing> {
        let fits = |fault: &&mut crate::fault::QueuedFault| {
            fault.left > 0
                && (fault.method == "*" || fault.method == method)
                && (fault.route == "*" || Some(fault.route.as_str()) == route)
        };
        let fault = self.faults.iter_mut().find(fits)?;
        fault.left -= 1;
        Some(fault.failing.clone())
    }

    fn respond(
        &mut self,
        received: &Received,
        found: Result<RouteMatch, ApiError>,
        failing: Option<&Failing>,
    ) -> RestResponse {
        let method = received.method.as_str();
        let route = found.as_ref().map_or("", |found| found.template);
        self.requests.push((method.to_owned(), route));
        if let Some(Failing::Status(status)) = failing {
            let body = Value::from("upstream connect error or disconnect/reset before headers");
            return RestResponse {
                status: *status,
                body,
                headers: Vec::new(),
                staged: true,
            };
        }
        let verdict = self.judge(received, &found, failing);
        if let Some(refused) = verdict.refused {
            self.buckets.invalid += 1;
            self.refuse(received, 429, 0);
            return RestResponse {
                status: 429,
                body: refused.body(),
                headers: verdict.headers,
                staged: false,
            };
        }
        let creates = found.as_ref().is_ok_and(|found| found.route.creates());
        let answer = self.check(received, &found).and_then(|app| {
            let call = call(received, &found?, app);
            rest::answer(self, &call)
        });
        self.outgoing(received, answer, verdict, creates)
    }

    /// Counts a request against its limits.
    fn judge(
        &mut self,
        received: &Received,
        found: &Result<RouteMatch, ApiError>,
        failing: Option<&Failing>,
    ) -> Verdict {
        let (template, major) = match found {
            Ok(found) => (found.template, found.major()),
            Err(_) => ("", String::new()),
        };
        let bucket = format!("{} {template}", received.method);
        let now = self.clock.elapsed();
        if let Some(Failing::Limited { after, global }) = failing {
            self.buckets
                .close(&key(&bucket, &major), now + *after, *global);
        }
        let verdict = self.buckets.count(&bucket, &major, now);
        if verdict.impatient {
            let path = &received.path;
            self.blame(format!(
                "{} {path}: asked again and again while it was told to wait",
                received.method
            ));
        }
        verdict
    }

    fn outgoing(
        &mut self,
        received: &Received,
        answer: Result<Value, ApiError>,
        verdict: Verdict,
        creates: bool,
    ) -> RestResponse {
        let (status, body) = match answer {
            Ok(Value::Null) => (204, Value::Null),
            Ok(body) => (if creates { 201 } else { 200 }, body),
            Err(error) => {
                if error.is_clients_fault() {
                    self.blame(format!(
                        "{} {}: {}, asked with {}",
                        received.method,
                        received.path,
                        error.body(),
                        received.body
                    ));
                }
                if matches!(error.status, 401 | 403) {
                    self.buckets.invalid += 1;
                }
                self.refuse(received, error.status, error.code);
                (error.status, error.body())
            }
        };
        RestResponse {
            status,
            body,
            headers: verdict.headers,
            staged: false,
        }
    }

    fn refuse(&mut self, received: &Received, status: u16, code: u32) {
        self.refusals.push(RefusedRequest {
            method: received.method.to_string(),
            path: received.path.clone(),
            status,
            code,
        });
    }

    /// Authenticates a request and checks its headers. Returns the application; `None` if the path
    /// contains its own key.
    fn check(
        &mut self,
        received: &Received,
        found: &Result<RouteMatch, ApiError>,
    ) -> Result<Option<Id>, ApiError> {
        let text = |name| {
            received
                .headers
                .get(name)
                .and_then(|value| value.to_str().ok())
                .unwrap_or_default()
        };
        if !received.is_json {
            return Err(ApiError::bad_json());
        }
        let Ok(found) = found else { return Ok(None) };
        let agent = text(header::USER_AGENT);
        // discord.py sends its user agent only together with its token.
        if !found.route.needs_no_token() && !agent.starts_with("DiscordBot (") {
            self.blame(format!(
                "{}: the user agent is {agent:?}, not DiscordBot (address, version)",
                received.path,
            ));
        }
        let token = text(header::AUTHORIZATION).strip_prefix("Bot ");
        let app = token.and_then(|token| self.app_of(token)).map(|app| app.id);
        match app {
            Some(app) => Ok(Some(app)),
            None if found.route.needs_no_token() => Ok(None),
            None => Err(ApiError::unauthorized()),
        }
    }
}

fn call<'a>(received: &'a Received, found: &RouteMatch, app: Option<Id>) -> Call<'a> {
    Call {
        route: found.route,
        params: found.params.clone(),
        query: &received.query,
        body: &received.body,
        files: &received.files,
        app: app.unwrap_or_default(),
    }
}

/// Returns an attachment, like the content delivery network.
pub(super) async fn file(
    State(shared): State<Arc<SharedWorld>>,
    Path((channel, id, name)): Path<(String, String, String)>,
) -> Response {
    let failing = shared.with(|world| world.failing("GET", Some("/attachments")));
    match &failing {
        Some(Failing::Cut | Failing::Lost) => return cut(),
        Some(Failing::Slow(by)) => tokio::time::sleep(*by).await,
        Some(Failing::Held(gate)) => gate.pass().await,
        Some(Failing::Limited { .. } | Failing::Status(_) | Failing::Unnumbered) | None => {}
    }
    let found = shared.look(|world| {
        let file = Id::parse(&id).and_then(|id| world.files.get(&id));
        let file = file.filter(|file| file.channel == *channel.as_str() && file.name == name);
        file.map(|file| (file.media_type.clone(), file.content.clone()))
    });
    let response = Response::builder();
    let response = match (failing, found) {
        (Some(Failing::Status(status)), _) => response.status(status).body(Body::empty()),
        (_, Some((media_type, content))) => {
            let kind = if media_type.is_empty() {
                "application/octet-stream"
            } else {
                media_type.as_str()
            };
            response
                .header(header::CONTENT_TYPE, kind)
                .body(Body::from(Bytes::from(content)))
        }
        (_, None) => response
            .status(404)
            .body(Body::from("This content is no longer available.")),
    };
    response.expect("headers are plain text")
}
