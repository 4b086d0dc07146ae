//! The Web API over HTTP: authorization, encoding and rate limits of calls; and the URLs for files
//! and responses.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Path, State as Extract};
use axum::http::{HeaderMap, Method as Verb, StatusCode, Uri, header};
use axum::response::Response;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use crate::api::MethodError;
use crate::call::Call;
use crate::check::{Encoding, check};
use crate::faults::ResponseFault;
use crate::ids::{APP_TOKEN, BOT_TOKEN};
use crate::methods::{self, Method, Scopes, TokenKind};
use crate::responses;
use crate::state::{SharedState, State};

/// A received call.
struct Received {
    arguments: Map<String, Value>,
    encoding: Encoding,
    token: Option<String>,
}

/// A response: status, additional headers, body.
type ApiResponse = (u16, Vec<(&'static str, String)>, Value);

/// `/api/<method>`
pub(crate) async fn call(
    Extract(shared): Extract<Arc<SharedState>>,
    Path(name): Path<String>,
    verb: Verb,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let received = receive(&verb, &uri, &headers, &body);
    let fault = shared.change(|state| state.faults.take(&name));
    let fault = fault.filter(|fault| meets(fault, &Value::Object(received.arguments.clone())));
    if let Some(ResponseFault::Slow(wait)) = &fault {
        tokio::time::sleep(*wait).await;
    }
    let (answer, is_closed) = shared.change(|state| {
        let done = match instead(fault.as_ref()) {
            Some(answer) => answer,
            None => answer(state, &name, &received),
        };
        let answer = behind(fault.as_ref()).unwrap_or(done);
        let is_closed = matches!(
            fault,
            Some(ResponseFault::Closed | ResponseFault::LostAnswer)
        );
        let (status, _, told) = &answer;
        let mut arguments = received.arguments.clone();
        arguments.remove("token");
        state.calls.push(Call {
            method: name.clone(),
            arguments: Value::Object(arguments),
            answer: if matches!(fault, Some(ResponseFault::Closed)) {
                Value::Null
            } else {
                told.clone()
            },
            status: if is_closed { 0 } else { *status },
            at: Instant::now(),
        });
        (answer, is_closed)
    });
    if is_closed { cut() } else { respond(answer) }
}

/// Whether a fault applies to this call.
fn meets(fault: &ResponseFault, sent: &Value) -> bool {
    let blocks = sent["blocks"].as_array();
    !matches!(fault, ResponseFault::Blocks(_)) || blocks.is_some_and(|blocks| !blocks.is_empty())
}

/// Returns the response that a fault causes instead of the method.
fn instead(fault: Option<&ResponseFault>) -> Option<ApiResponse> {
    match fault? {
        ResponseFault::RateLimited(seconds) => Some(rate_limited(*seconds)),
        ResponseFault::Status(status) => {
            Some((*status, Vec::new(), json!("<html>Server Error</html>")))
        }
        ResponseFault::Error(error) | ResponseFault::Blocks(error) => {
            Some((200, Vec::new(), MethodError::new(error).json()))
        }
        ResponseFault::Garbage => Some((200, Vec::new(), json!("}{"))),
        ResponseFault::Closed => Some((200, Vec::new(), Value::Null)),
        ResponseFault::LostAnswer | ResponseFault::LostBehind(_) | ResponseFault::Slow(_) => None,
    }
}

/// Returns the response that a fault causes after the method was executed.
fn behind(fault: Option<&ResponseFault>) -> Option<ApiResponse> {
    match fault? {
        ResponseFault::LostBehind(status) => instead(Some(&ResponseFault::Status(*status))),
        ResponseFault::RateLimited(_)
        | ResponseFault::Status(_)
        | ResponseFault::Error(_)
        | ResponseFault::Blocks(_)
        | ResponseFault::Closed
        | ResponseFault::LostAnswer
        | ResponseFault::Slow(_)
        | ResponseFault::Garbage => None,
    }
}

fn rate_limited(seconds: u64) -> ApiResponse {
    let headers = vec![("retry-after", seconds.to_string())];
    (429, headers, json!({ "ok": false, "error": "ratelimited" }))
}

fn receive(verb: &Verb, uri: &Uri, headers: &HeaderMap, body: &Bytes) -> Received {
    let header = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let kind = header(header::CONTENT_TYPE).unwrap_or_default();
    let mut arguments = pairs(uri.query().unwrap_or_default().as_bytes());
    let mut encoding = Encoding::Form;
    if verb == Verb::POST && kind.starts_with("application/json") {
        if let Ok(Value::Object(sent)) = serde_json::from_slice(body) {
            encoding = Encoding::Json;
            arguments.extend(sent);
        }
    } else if verb == Verb::POST {
        arguments.extend(pairs(body));
    }
    let bearer = header(header::AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
    let token = bearer.or_else(|| arguments.get("token").and_then(Value::as_str));
    let token = token.map(str::to_owned);
    Received {
        arguments,
        encoding,
        token,
    }
}

fn pairs(form: &[u8]) -> Map<String, Value> {
    let pairs = url::form_urlencoded::parse(form);
    pairs
        .map(|(name, value)| (name.into_owned(), Value::String(value.into_owned())))
        .collect()
}

fn answer(state: &mut State, name: &str, received: &Received) -> ApiResponse {
    let Some(method) = methods::find(name) else {
        state.violate(format!("{name}: no such method"));
        return (200, Vec::new(), MethodError::new("unknown_method").json());
    };
    let scopes = match method.token {
        TokenKind::Bot => state.workspace.app.scopes.join(","),
        TokenKind::App => state.workspace.app.app_scopes.join(","),
    };
    let headers = vec![
        ("x-oauth-scopes", scopes),
        ("x-accepted-oauth-scopes", accepted(method)),
    ];
    match act(state, method, received) {
        Ok(mut told) => {
            told["ok"] = json!(true);
            (200, headers, told)
        }
        Err(Stop::Refused(refusal)) => (200, headers, refusal.json()),
        Err(Stop::Limited(seconds)) => rate_limited(seconds),
    }
}

enum Stop {
    Refused(MethodError),
    Limited(u64),
}

impl From<MethodError> for Stop {
    fn from(refusal: MethodError) -> Self {
        Self::Refused(refusal)
    }
}

/// Makes all checks in Slack's order, and then executes the method.
fn act(state: &mut State, method: &Method, received: &Received) -> Result<Value, Stop> {
    authenticate(state, method, received.token.as_deref())?;
    let checked = check(method, &received.arguments, received.encoding);
    for violation in checked.violations {
        state.violate(violation);
    }
    let channel = checked.arguments.text("channel").to_owned();
    authorize(state, method, &channel)?;
    if let Some(refusal) = checked.refusal {
        return Err(refusal.into());
    }
    state
        .limits
        .admit(method.name, &channel, method.tier)
        .map_err(Stop::Limited)?;
    Ok((method.act)(state, &checked.arguments)?)
}

fn authenticate(
    state: &mut State,
    method: &Method,
    token: Option<&str>,
) -> Result<(), MethodError> {
    let Some(token) = token else {
        return Err(MethodError::new("not_authed"));
    };
    if state.revoked.iter().any(|revoked| revoked == token) {
        return Err(MethodError::new("token_revoked"));
    }
    let wanted = match method.token {
        TokenKind::Bot => BOT_TOKEN,
        TokenKind::App => APP_TOKEN,
    };
    match token {
        _ if token == wanted => Ok(()),
        BOT_TOKEN | APP_TOKEN => Err(MethodError::new("not_allowed_token_type")),
        _ => Err(MethodError::new("invalid_auth")),
    }
}

/// Checks the scopes; `missing_scope` contains the needed and the provided ones.
fn authorize(state: &State, method: &Method, channel: &str) -> Result<(), MethodError> {
    let app = &state.workspace.app;
    let provided = match method.token {
        TokenKind::Bot => &app.scopes,
        TokenKind::App => &app.app_scopes,
    };
    let holds = |scope: &str| provided.iter().any(|held| held == scope);
    let needed = match method.scopes {
        Scopes::None => return Ok(()),
        Scopes::AnyOf(scopes) if scopes.iter().any(|scope| holds(scope)) => return Ok(()),
        Scopes::AnyOf(scopes) => scopes.join(","),
        Scopes::OfConversation(what) => {
            let Some(room) = state.workspace.rooms.get(channel) else {
                return Ok(());
            };
            let scope = format!("{}:{what}", room.kind.family());
            if holds(&scope) {
                return Ok(());
            }
            scope
        }
    };
    let refusal = MethodError::new("missing_scope").with("needed", json!(needed));
    Err(refusal.with("provided", json!(provided.join(","))))
}

fn accepted(method: &Method) -> String {
    match method.scopes {
        Scopes::None => String::new(),
        Scopes::AnyOf(scopes) => scopes.join(","),
        Scopes::OfConversation(what) => {
            let families = ["channels", "groups", "mpim", "im"];
            families.map(|family| format!("{family}:{what}")).join(",")
        }
    }
}

fn respond((status, headers, told): ApiResponse) -> Response {
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(name, value);
    }
    // A string is a body that is not JSON.
    let (kind, body) = match told {
        Value::String(page) => ("text/html; charset=utf-8", page),
        told => ("application/json; charset=utf-8", told.to_string()),
    };
    let response = response.header(header::CONTENT_TYPE, kind);
    response.body(Body::from(body)).expect("headers of our own")
}

/// Begins a response and closes the connection within it.
fn cut() -> Response {
    let broken = futures::stream::once(async {
        Err::<Bytes, _>(std::io::Error::other("closed by the test"))
    });
    let response = Response::builder().header(header::CONTENT_LENGTH, 100);
    response
        .body(Body::from_stream(broken))
        .expect("a header of our own")
}

/// `/response/<team>/<number>`: 200 `ok`, or 404 and the error.
pub(crate) async fn response_url(
    Extract(shared): Extract<Arc<SharedState>>,
    Path((team, number)): Path<(String, String)>,
    body: Bytes,
) -> Response {
    let key = format!("{team}/{number}");
    let told: Value = serde_json::from_slice(&body).unwrap_or_default();
    let fault = shared.change(|state| state.faults.take("response_url"));
    let fault = fault.filter(|fault| meets(fault, &told));
    if let Some(answer) = instead(fault.as_ref()) {
        return respond(answer);
    }
    let done = shared.change(|state| {
        let done = responses::respond(state, &key, &told);
        state.calls.push(Call {
            method: "response_url".to_owned(),
            arguments: told.clone(),
            answer: json!({ "ok": done.is_ok(), "error": done.err() }),
            status: if done.is_ok() { 200 } else { 404 },
            at: Instant::now(),
        });
        done
    });
    if let Some(answer) = behind(fault.as_ref()) {
        return respond(answer);
    }
    if matches!(fault, Some(ResponseFault::LostAnswer)) {
        return cut();
    }
    match done {
        Ok(()) => respond((200, Vec::new(), json!("ok"))),
        Err(error) => respond((404, Vec::new(), json!({ "ok": false, "error": error }))),
    }
}

/// `/files-pri/<file>/<name>`: the content with a token, else a redirect to the login page, as in
/// Slack.
pub(crate) async fn file(
    Extract(shared): Extract<Arc<SharedState>>,
    Path((id, _name)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    let header = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok());
    let is_authentic = header == Some(&format!("Bearer {BOT_TOKEN}"));
    let fault = shared.change(|state| state.faults.take("files"));
    if let Some(answer) = instead(fault.as_ref()) {
        return respond(answer);
    }
    let state = shared.look();
    let holds = state.workspace.app.holds("files:read")
        && !state.revoked.iter().any(|one| one == BOT_TOKEN);
    let file = state
        .workspace
        .files
        .get(&id)
        .filter(|_| is_authentic && holds);
    let Some((file, content)) = file else {
        let login = format!(
            "{}/login?redir=%2Ffiles-pri%2F{id}",
            state.workspace.base_url
        );
        let response = Response::builder()
            .status(StatusCode::FOUND)
            .header(header::LOCATION, login);
        return response.body(Body::empty()).expect("headers of our own");
    };
    let kind = file["mimetype"]
        .as_str()
        .unwrap_or("application/octet-stream");
    let response = Response::builder().header(header::CONTENT_TYPE, kind);
    response
        .body(Body::from(content.clone()))
        .expect("a header of our own")
}

/// `/upload/v1/<file>`: accepts the content of a file, at the URL given to the app.
pub(crate) async fn upload(
    Extract(shared): Extract<Arc<SharedState>>,
    Path(id): Path<String>,
    body: Bytes,
) -> Response {
    let fault = shared.change(|state| state.faults.take("upload"));
    if let Some(answer) = instead(fault.as_ref()) {
        return respond(answer);
    }
    let taken = shared.change(|state| {
        let upload = state.workspace.uploads.get_mut(&id)?;
        (upload.length == body.len()).then(|| upload.content = Some(body.to_vec()))
    });
    match taken {
        Some(()) => respond((200, Vec::new(), json!("OK"))),
        None => respond((400, Vec::new(), json!("not what was announced"))),
    }
}

/// The login page for requests without a token.
pub(crate) async fn login() -> Response {
    let page =
        "<!DOCTYPE html><html><head><title>Sign in | Slack</title></head><body></body></html>";
    respond((200, Vec::new(), json!(page)))
}
