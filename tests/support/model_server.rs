//! A scripted model service on loopback, which checks that the client follows the protocol.
//!
//! ```ignore
//! let server = ModelServer::start().await;
//! server.expects(|request| request.last_user() == "Hello").answers("Hi there!");
//! server.expects(|request| request.tools().contains(&"search")).calls(&[("search", json!({"q": "x"}))]);
//! server.expects(|_| true).replies(Reply::refusal(429, "rate_limit", "slow down").header("retry-after", "1"));
//! // … drive the bot against `server.config()` …
//! server.finish();
//! ```
//!
//! A request gets the reply of the first unused expectation that fits. A request nobody expected, a reply nobody
//! asked for and a request that a strict service would refuse each fail the test in [`ModelServer::finish`], or when
//! the server is dropped. Embeddings work without a script; see [`Embeddings`]. So does what is asked before each answer
//! in a conversation, to make the question stand alone: it is repeated as it is, unless a test
//! [scripts](ModelServer::scripts_rephrasing) that.

mod quirk;
mod reply;
mod request;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::Response;
use axum::routing::{get, post};
use muninn::llm::ModelConfig;
use serde_json::{Value, json};
use tokio::sync::watch;

#[allow(unused_imports, reason = "not every test binary needs it")]
pub use quirk::Quirk;
pub use reply::{Gate, Reply};
pub use request::ModelServerRequest;

use reply::ReplyKind;

/// The key that [`ModelServer::config`] sends and the server requires.
pub const KEY: &str = "sk-test";

/// The models that `/models` lists by default.
pub const MODELS: [&str; 3] = ["chat", "utility", "embedding"];

/// The dimension of vectors, unless a test sets another.
const DIMENSION: usize = 64;

type Predicate = Box<dyn Fn(&ModelServerRequest) -> bool + Send>;
type Deciding = Box<dyn Fn(&ModelServerRequest) -> Reply + Send>;
type RefusingFunction = Box<dyn Fn(&[String]) -> Option<(u16, String)> + Send>;
type EmbeddingFunction = Box<dyn Fn(&[String]) -> Value + Send>;

/// How texts are embedded.
pub enum Embeddings {
    /// The sum of one pseudo-random direction per word, in this many dimensions: texts that share words are near.
    Words(usize),
    /// The whole body, made from the texts.
    Scripted(EmbeddingFunction),
    /// Refuses every request with this status and body.
    Refused(u16, String),
    /// As [`Words`](Embeddings::Words), unless it refuses these texts with a status and a body.
    #[allow(dead_code, reason = "not every test binary needs it")]
    Refusing(RefusingFunction),
}

struct Expectation {
    fits: Predicate,
    reply: Reply,
    place: String,
    used: bool,
    /// Serves all matching requests, not only the first.
    lasts: bool,
}

struct ModelServerScript {
    expectations: Vec<Expectation>,
    chats: Vec<ModelServerRequest>,
    embedded: Vec<ModelServerRequest>,
    faults: Vec<String>,
    embeddings: Embeddings,
    models: Option<Vec<Value>>,
    listings: usize,
    down: bool,
    echoes: bool,
    /// Rephrasing requests repeat the question.
    repeats: bool,
    quirks: Vec<Quirk>,
    /// Replies to every chat request, even to expected ones.
    decides: Option<Deciding>,
}

struct SharedModelServer {
    script: Mutex<ModelServerScript>,
    /// Number of answers that the client did not wait for.
    abandoned: watch::Sender<usize>,
    /// Number of chat requests so far.
    arrived: watch::Sender<usize>,
}

impl SharedModelServer {
    fn script(&self) -> MutexGuard<'_, ModelServerScript> {
        self.script.lock().unwrap()
    }
}

/// See the module.
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<SharedModelServer>,
    serving: tokio::task::JoinHandle<()>,
    checked: bool,
}

impl ModelServer {
    pub async fn start() -> Self {
        let shared = Arc::new(SharedModelServer {
            script: Mutex::new(ModelServerScript {
                expectations: Vec::new(),
                chats: Vec::new(),
                embedded: Vec::new(),
                faults: Vec::new(),
                embeddings: Embeddings::Words(DIMENSION),
                models: Some(MODELS.map(listed).to_vec()),
                listings: 0,
                down: false,
                echoes: false,
                repeats: true,
                quirks: Vec::new(),
                decides: None,
            }),
            abandoned: watch::Sender::new(0),
            arrived: watch::Sender::new(0),
        });
        let router = Router::new()
            .route("/v1/chat/completions", post(chat))
            .route("/v1/embeddings", post(embeddings))
            .route("/v1/models", get(models))
            .fallback(unknown_path)
            .with_state(Arc::clone(&shared));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self {
            address,
            shared,
            serving,
            checked: false,
        }
    }

    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Returns the options for this server, with the models `chat` and `utility`; [`MODELS`] has an
    /// `embedding` too.
    pub fn config(&self) -> ModelConfig {
        let mut config = ModelConfig::new(self.base_url(), "chat");
        config.utility_model = "utility".to_owned();
        config.api_key = Some(KEY.into());
        config
    }

    /// Scripts one reply, for the first matching request.
    #[track_caller]
    pub fn expects(
        &self,
        fits: impl Fn(&ModelServerRequest) -> bool + Send + 'static,
    ) -> Expecting<'_> {
        Expecting {
            server: self,
            fits: Box::new(fits),
            place: std::panic::Location::caller().to_string(),
        }
    }

    pub fn embeds(&self, embeddings: Embeddings) {
        self.shared.script().embeddings = embeddings;
    }

    /// Sets what `/models` lists; `None`: the service has no such address.
    pub fn lists(&self, models: Option<&[&str]>) {
        let owned = |models: &[&str]| models.iter().map(|&model| listed(model)).collect();
        self.shared.script().models = models.map(owned);
    }

    /// What `/models` lists, as it is.
    #[allow(dead_code, reason = "not every test binary needs it")]
    pub fn lists_as(&self, models: Vec<Value>) {
        self.shared.script().models = Some(models);
    }

    /// Sets whether the server is down: then every request is answered with 503, and nothing is
    /// checked.
    pub fn set_down(&self, down: bool) {
        self.shared.script().down = down;
    }

    /// Replies to every chat request by this from now on, also to unscripted ones, and expects
    /// nothing.
    #[allow(dead_code, reason = "not every test binary needs it")]
    pub fn replies_by(&self, decides: impl Fn(&ModelServerRequest) -> Reply + Send + 'static) {
        self.shared.script().decides = Some(Box::new(decides));
    }

    /// Answers unexpected requests from now on with their last line.
    #[allow(dead_code, reason = "not every test binary needs it")]
    pub fn echoes(&self) {
        self.shared.script().echoes = true;
    }

    /// Treats rephrasing requests like all others from now on, so that they need a reply.
    #[allow(dead_code, reason = "not every test binary needs it")]
    pub fn scripts_rephrasing(&self) {
        self.shared.script().repeats = false;
    }

    /// Gives the server the quirk of some service; what it refuses because of that is no fault of
    /// the client.
    #[allow(dead_code, reason = "not every test binary needs it")]
    pub fn has(&self, quirk: Quirk) {
        self.shared.script().quirks.push(quirk);
    }

    /// Returns every chat request so far, with retries, without automatic ones.
    pub fn chats(&self) -> Vec<ModelServerRequest> {
        self.shared.script().chats.clone()
    }

    /// Returns how often the list of models was requested.
    #[allow(dead_code, reason = "not every test binary needs it")]
    pub fn listings(&self) -> usize {
        self.shared.script().listings
    }

    /// Returns every embedding request so far.
    pub fn embedded(&self) -> Vec<ModelServerRequest> {
        self.shared.script().embedded.clone()
    }

    /// Waits until this many chat requests have arrived since the start.
    pub async fn arrived(&self, requests: usize) {
        reaches(&self.shared.arrived, requests, "chat requests").await;
    }

    /// Waits until the client has abandoned this many answers since the start.
    pub async fn abandoned(&self, answers: usize) {
        reaches(&self.shared.abandoned, answers, "abandoned answers").await;
    }

    /// Fails the test if anything differed from the script.
    #[track_caller]
    pub fn finish(mut self) {
        self.check();
    }

    #[track_caller]
    fn check(&mut self) {
        self.checked = true;
        let script = self.shared.script();
        let mut faults = script.faults.clone();
        let unused = script
            .expectations
            .iter()
            .filter(|expectation| !expectation.used);
        faults
            .extend(unused.map(|unused| format!("nobody asked for the reply at {}", unused.place)));
        drop(script);
        assert!(faults.is_empty(), "model server:\n{}", faults.join("\n"));
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.serving.abort();
        if !self.checked && !std::thread::panicking() {
            self.check();
        }
    }
}

/// An expectation that still needs its reply.
#[must_use = "say what is answered"]
pub struct Expecting<'a> {
    server: &'a ModelServer,
    fits: Predicate,
    place: String,
}

/// Waits for a count; fails the test after longer than any turn takes.
async fn reaches(count: &watch::Sender<usize>, least: usize, what: &str) {
    let mut counted = count.subscribe();
    let reached = counted.wait_for(|n| *n >= least);
    let in_time = tokio::time::timeout(Duration::from_secs(60), reached).await;
    assert!(
        in_time.is_ok(),
        "{least} {what} did not come, but {}",
        *count.borrow()
    );
}

impl Expecting<'_> {
    /// Replies with a text, streamed in words; 100 prompt and 10 completion tokens.
    pub fn answers(self, text: &str) {
        self.replies(Reply::text(text).usage(100, 10));
    }

    /// Replies with tool calls: name and arguments.
    pub fn calls(self, calls: &[(&str, Value)]) {
        self.replies(Reply::calls(calls).usage(100, 10));
    }

    pub fn replies(self, reply: Reply) {
        self.script(reply, false);
    }

    /// Gives the same reply to every matching request that nothing scripted before matches, at
    /// least once.
    pub fn always_replies(self, reply: Reply) {
        self.script(reply, true);
    }

    fn script(self, reply: Reply, lasts: bool) {
        self.server.shared.script().expectations.push(Expectation {
            fits: self.fits,
            reply,
            place: self.place,
            used: false,
            lasts,
        });
    }
}

/// Counts an answer as abandoned unless it reached its end.
struct Abandoned {
    shared: Arc<SharedModelServer>,
    ended: bool,
}

impl Abandoned {
    fn end(&mut self) {
        self.ended = true;
    }
}

impl Drop for Abandoned {
    fn drop(&mut self) {
        if !self.ended {
            self.shared.abandoned.send_modify(|n| *n += 1);
        }
    }
}

fn received(uri: &Uri, headers: &HeaderMap, body: &Bytes) -> ModelServerRequest {
    let authorization = headers.get(header::AUTHORIZATION);
    ModelServerRequest {
        path: uri.path().to_owned(),
        authorization: authorization.map(|value| value.to_str().unwrap().to_owned()),
        body: serde_json::from_slice(body).unwrap_or_default(),
    }
}

/// Records what is wrong with the request.
fn note_faults(script: &mut ModelServerScript, request: &ModelServerRequest) {
    script.faults.extend(request.faults());
    if request.authorization.as_deref() != Some(&format!("Bearer {KEY}")) {
        script
            .faults
            .push(format!("{}: the key is missing or another", request.path));
    }
}

async fn chat(
    State(shared): State<Arc<SharedModelServer>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let request = received(&uri, &headers, &body);
    let Some(reply) = choose(&shared, &request) else {
        // Not a status that the client would retry.
        return plain(StatusCode::NOT_IMPLEMENTED, "unexpected".to_owned());
    };
    let mut guard = Abandoned {
        shared,
        ended: false,
    };
    match &reply.kind {
        ReplyKind::Hang => std::future::pending().await,
        ReplyKind::Refusal { status, body } => {
            guard.end();
            with_headers(
                &reply,
                StatusCode::from_u16(*status).unwrap(),
                Body::from(body.clone()),
            )
        }
        ReplyKind::Stream { .. } | ReplyKind::Events(_) => {
            if request.body["stream"] == false {
                guard.end();
                let whole = reply.whole(&request.body);
                return plain(StatusCode::OK, whole.to_string());
            }
            let lines = reply.lines(&request.body);
            let body = Body::from_stream(stream(lines, reply.clone(), guard));
            with_headers(&reply, StatusCode::OK, body)
        }
    }
}

/// Returns the scripted reply; `None` for an unexpected request.
fn choose(shared: &SharedModelServer, request: &ModelServerRequest) -> Option<Reply> {
    let mut script = shared.script();
    let decided = script.decides.as_ref().map(|decides| decides(request));
    if decided.is_some() {
        // After a malformed stream, a client repeats the request without streaming.
        if request.body["stream"] == true {
            note_faults(&mut script, request);
        }
        return decided;
    }
    if let Some(question) = request.to_rephrase().filter(|_| script.repeats) {
        if script.down {
            return Some(Reply::refusal(503, "server_error", "down for the test"));
        }
        note_faults(&mut script, request);
        return Some(Reply::text(&question).usage(0, 0));
    }
    script.chats.push(request.clone());
    shared.arrived.send_modify(|n| *n += 1);
    if script.down {
        return Some(Reply::refusal(503, "server_error", "down for the test"));
    }
    let refused = script
        .quirks
        .iter()
        .find_map(|quirk| quirk.refuses(request));
    if refused.is_some() {
        return refused;
    }
    let streams = !script.quirks.iter().any(Quirk::is_about_streams);
    if streams || request.body["stream"] == true {
        note_faults(&mut script, request);
    }
    let fitting = script.expectations.iter_mut().find(|expectation| {
        (expectation.lasts || !expectation.used) && (expectation.fits)(request)
    });
    if let Some(expectation) = fitting {
        expectation.used = true;
        return Some(expectation.reply.clone());
    }
    if script.echoes {
        let asked = request.last_user();
        let last = asked.lines().last().unwrap_or_default();
        return Some(Reply::text(&format!("You asked: {last}")).usage(100, 10));
    }
    let fault = format!("nobody expected {:#}", request.body);
    script.faults.push(fault);
    None
}

fn stream(
    lines: Vec<String>,
    reply: Reply,
    guard: Abandoned,
) -> impl futures::Stream<Item = std::io::Result<Bytes>> {
    let lines = lines.into_iter().enumerate();
    futures::stream::unfold(
        (lines, reply, guard),
        |(mut lines, reply, mut guard)| async move {
            let next = lines.next();
            match &next {
                Some((0, _)) => tokio::time::sleep(reply.first_after).await,
                Some(_) => {
                    tokio::time::sleep(reply.each_after).await;
                    if let Some(gate) = &reply.gate {
                        gate.pass().await;
                    }
                }
                None => {}
            }
            match next {
                Some((at, _)) if reply.cut_after == Some(at) => {
                    guard.end();
                    // The last chunk may still be in the connection's buffer: it is sent before the
                    // cut.
                    tokio::task::yield_now().await;
                    let cut = std::io::Error::other("cut by the test");
                    Some((Err(cut), (lines, reply, guard)))
                }
                Some((_, line)) => Some((Ok(Bytes::from(line)), (lines, reply, guard))),
                None => {
                    guard.end();
                    None
                }
            }
        },
    )
}

async fn embeddings(
    State(shared): State<Arc<SharedModelServer>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let request = received(&uri, &headers, &body);
    let mut script = shared.script();
    script.embedded.push(request.clone());
    if script.down {
        return plain(
            StatusCode::SERVICE_UNAVAILABLE,
            "down for the test".to_owned(),
        );
    }
    note_faults(&mut script, &request);
    let inputs = request.inputs();
    match &script.embeddings {
        Embeddings::Words(dimension) => embedded_words(&request, *dimension),
        Embeddings::Refusing(refuses) => match refuses(&inputs) {
            Some((status, body)) => plain(StatusCode::from_u16(status).unwrap(), body),
            None => embedded_words(&request, DIMENSION),
        },
        Embeddings::Scripted(body) => plain(StatusCode::OK, body(&inputs).to_string()),
        Embeddings::Refused(status, body) => {
            plain(StatusCode::from_u16(*status).unwrap(), body.clone())
        }
    }
}

fn embedded_words(request: &ModelServerRequest, dimension: usize) -> Response {
    let inputs = request.inputs();
    let vectors = inputs.iter().enumerate().map(|(index, text)| {
        json!({ "object": "embedding", "index": index, "embedding": word_vector(text, dimension) })
    });
    let data: Vec<Value> = vectors.collect();
    let body = json!({ "object": "list", "model": request.model(), "data": data,
        "usage": { "prompt_tokens": 1, "total_tokens": 1 } });
    plain(StatusCode::OK, body.to_string())
}

async fn models(State(shared): State<Arc<SharedModelServer>>) -> Response {
    let mut script = shared.script();
    script.listings += 1;
    let Some(models) = script.models.as_ref().filter(|_| !script.down) else {
        let status = if script.down { 503 } else { 404 };
        return plain(
            StatusCode::from_u16(status).unwrap(),
            "404 page not found".to_owned(),
        );
    };
    plain(
        StatusCode::OK,
        json!({ "object": "list", "data": models }).to_string(),
    )
}

fn listed(id: &str) -> Value {
    json!({ "id": id, "object": "model" })
}

async fn unknown_path(State(shared): State<Arc<SharedModelServer>>, uri: Uri) -> Response {
    shared
        .script()
        .faults
        .push(format!("no such address: {}", uri.path()));
    plain(StatusCode::NOT_FOUND, "404 page not found".to_owned())
}

fn plain(status: StatusCode, body: String) -> Response {
    let response = Response::builder().status(status);
    response
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(body))
        .unwrap()
}

fn with_headers(reply: &Reply, status: StatusCode, body: Body) -> Response {
    let mut response = Response::builder().status(status);
    for (name, value) in &reply.headers {
        response = response.header(name, value);
    }
    let has_type = reply.headers.iter().any(|(name, _)| name == "content-type");
    if status.is_success() && !has_type {
        response = response.header(header::CONTENT_TYPE, "text/event-stream");
    }
    response.body(body).unwrap()
}

/// Not normalised, so that callers have to do that.
fn word_vector(text: &str, dimension: usize) -> Vec<f32> {
    let mut vector = vec![0.0; dimension];
    let words = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    for word in words {
        // FNV-1a, then xorshift for each direction.
        let mut state = word
            .to_lowercase()
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            });
        for x in &mut vector {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            *x += if state & 1 == 0 { 1.0 } else { -1.0 };
        }
    }
    vector
}
