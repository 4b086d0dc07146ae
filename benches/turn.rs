//! Our own time per turn, beside model and store; and how often a plain turn asks the store.
//!
//! A whole turn goes through the bot on the embedded graph, with a model service on loopback that
//! answers at once. After each turn the same request goes to the service by itself, so that both
//! see the same load; the store's calls are timed within the turn, and once more by themselves. A
//! table tells p50 and p99 of a plain loop, Criterion's figures follow.

#![expect(clippy::print_stdout, reason = "the figures")]

use std::collections::{BTreeMap, BTreeSet};
use std::hint::black_box;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use axum::body::Bytes;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use clap::Parser;
use criterion::{Criterion, criterion_group, criterion_main};
use futures::future::join_all;
use muninn::config::{Config, Options};
use muninn::conversation::ledger::Ledger;
use muninn::demo::load_movies;
use muninn::graph::answers::{Answers, ForgottenEvent, Marks, MemoryStats, Spoken, Usage};
use muninn::graph::confine::ConfinedCypher;
use muninn::graph::knowledge::{KnowledgeLinks, KnowledgeNodes};
use muninn::graph::query::{QueryError, QueryLimits, QueryResult};
use muninn::graph::schema::Survey;
use muninn::graph::session::{SessionGuard, Sessions};
use muninn::graph::transfer::{GraphNode, GraphRelationship, Importing, Portable};
use muninn::graph::{
    Appended, ChainShape, EmbeddedBy, Embedding, Explanation, Forget, Forgotten, GraphStore, How,
    NewTurn, News, ResponseId, SessionOverview, Source, StoreError, StoreHealth, Summary, Turn,
    TurnContext, TurnRead, open,
};
use muninn::llm::{Limits, ModelConfig};
use muninn::memory::{embedded_text, summary};
use muninn::retrieval::LocalEmbedder;
use muninn::wiring::{Parts, Wired};
use muninn_platform::testing::Room;
use muninn_platform::{
    Audience, AudienceId, ConversationId, Delivered, EventId, Feedback, Inbox, MessageId,
    OwnSession, Pace,
};
use serde_json::json;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Turns of the plain loop.
const TURNS: usize = 500;
/// Turns before it, so that the window is full and the index is loaded.
const WARM_UP: usize = 40;
/// What was said in the audience before.
const HISTORIES: [usize; 2] = [0, 10_000];
/// Between two turns, as people pause: what is done after an answer is not in the next one's way.
const PAUSE: Duration = Duration::from_millis(5);

/// As many as that when measured; a handful when `cargo test` only looks whether it runs.
fn scaled(number: usize) -> usize {
    let measured = std::env::args().any(|argument| argument == "--bench");
    if measured { number } else { number.min(5) }
}

const AUDIENCE: &str = "bench/general";
const UTILITY: &str = "utility";
/// What the model calls where it is offered; there is nothing to offer without knowledge.
const TOOL: &str = "find_movies_by_actor";
/// Of the model, where it calls a tool: rephrase, route, critique, answer.
const CALLS_WITH_A_TOOL: u32 = 4;

const SUBJECTS: &[&str] = &[
    "gateway",
    "invoice",
    "backup",
    "violin",
    "release",
    "certificate",
    "budget",
    "dashboard",
    "contract",
    "printer",
    "warehouse",
    "translation",
    "audit",
    "tram",
];
const EVENTS: &[&str] = &[
    "failed on the first attempt",
    "was moved to another week",
    "costs more than last year",
    "needs two reviewers",
    "is waiting for the supplier",
    "was finished ahead of time",
    "has a new owner",
    "is described in the runbook",
    "was broken by the upgrade",
];

/// An exchange of usual length: about 250 characters.
fn exchange(number: usize) -> (String, String) {
    let pick = |list: &[&'static str], step: usize| list[(number * step + number / 7) % list.len()];
    let (subject, event) = (pick(SUBJECTS, 1), pick(EVENTS, 2));
    let input = format!("What happened with the {subject} of project {number} this morning?");
    let output = format!(
        "The {subject} of project {number} {event}; later the {} {}. Please ask whoever is on \
         call before the {} is touched again, and write down what you find.",
        pick(SUBJECTS, 5),
        pick(EVENTS, 7),
        pick(SUBJECTS, 11),
    );
    (input, output)
}

/// A model service that answers at once, on a thread of its own.
#[derive(Clone)]
struct Service {
    address: SocketAddr,
    said: Arc<Said>,
}

#[derive(Default)]
struct Said {
    answers: AtomicUsize,
    /// The last request for an answer, not for a summary.
    request: Mutex<Bytes>,
}

impl Service {
    fn start() -> Self {
        let said = Arc::new(Said::default());
        let router = axum::Router::new()
            .route(
                "/v1/chat/completions",
                post(
                    |State(said): State<Arc<Said>>, body| async move { Self::answer(&said, body) },
                ),
            )
            .with_state(Arc::clone(&said));
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let address = listener.local_addr().expect("an address");
        listener.set_nonblocking(true).expect("a socket");
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
                axum::serve(listener, router)
                    .await
                    .expect("the service runs");
            });
        });
        Self { address, said }
    }

    /// A stream of a chunk per word.
    fn answer(said: &Said, body: Bytes) -> Response {
        let asked: serde_json::Value = serde_json::from_slice(&body).expect("a request");
        if asked["model"] != UTILITY {
            *lock(&said.request) = body;
        }
        let number = 1_000_000 + said.answers.fetch_add(1, Ordering::Relaxed);
        let prompt = asked["messages"].to_string();
        let text = if prompt.contains("Judge whether") {
            r#"{"questions": []}"#.to_owned()
        } else {
            exchange(number).1
        };
        let is_asked_for_tools = asked["tools"].to_string().contains(TOOL);
        let chunk = |choices: serde_json::Value| {
            let chunk = json!({"id": "1", "object": "chat.completion.chunk", "created": 1,
                "model": "bench", "choices": choices});
            format!("data: {chunk}\n\n")
        };
        let call = json!([{"index": 0, "finish_reason": null, "delta": {"tool_calls": [{"index": 0,
            "id": "1", "function": {"name": TOOL, "arguments": r#"{"name": "Keanu Reeves"}"#}}]}}]);
        let text = if is_asked_for_tools { "" } else { &text };
        let mut stream: String = text
            .split_inclusive(' ')
            .map(|word| {
                let choice =
                    json!([{"index": 0, "delta": {"content": word}, "finish_reason": null}]);
                chunk(choice)
            })
            .collect();
        if is_asked_for_tools {
            stream = chunk(call);
        }
        let end = json!([{"index": 0, "delta": {}, "finish_reason": "stop"}]);
        stream.push_str(&chunk(end));
        stream.push_str("data: [DONE]\n\n");
        ([("content-type", "text/event-stream")], stream).into_response()
    }

    fn config(&self) -> ModelConfig {
        ModelConfig {
            utility_model: UTILITY.to_owned(),
            limits: Limits {
                requests_per_minute: None,
                tokens_per_minute: None,
                person_requests_per_minute: None,
                ..Limits::default()
            },
            ..ModelConfig::new(format!("http://{}/v1", self.address), "bench")
        }
    }

    /// The last request once more, without anything of ours around it.
    async fn alone(&self, client: &reqwest::Client) {
        let body = lock(&self.said.request).clone();
        let response = client
            .post(format!("http://{}/v1/chat/completions", self.address))
            .header("content-type", "application/json")
            .body(body)
            .send()
            .await
            .expect("the service answers");
        black_box(response.bytes().await.expect("a whole answer"));
    }
}

/// The store, with every call named and timed.
#[derive(Debug)]
struct Timed {
    store: Arc<dyn GraphStore>,
    calls: Mutex<Vec<(&'static str, Duration)>>,
    last: Mutex<Option<NewTurn>>,
}

impl Timed {
    async fn call<T>(&self, name: &'static str, call: impl Future<Output = T> + Send) -> T {
        let began = Instant::now();
        let result = call.await;
        lock(&self.calls).push((name, began.elapsed()));
        result
    }

    fn taken(&self) -> Vec<(&'static str, Duration)> {
        std::mem::take(&mut *lock(&self.calls))
    }
}

#[async_trait]
impl GraphStore for Timed {
    async fn begin_turn(&self, read: &TurnRead<'_>) -> Result<TurnContext, StoreError> {
        self.call("begin_turn", self.store.begin_turn(read)).await
    }

    async fn append(&self, guard: &SessionGuard, turn: &NewTurn) -> Result<Appended, StoreError> {
        *lock(&self.last) = Some(turn.clone());
        self.call("append", self.store.append(guard, turn)).await
    }

    async fn append_all(
        &self,
        guards: &[SessionGuard],
        turns: &[Arc<NewTurn>],
    ) -> Result<(), StoreError> {
        self.call("append_all", self.store.append_all(guards, turns))
            .await
    }

    fn is_shared(&self) -> bool {
        self.store.is_shared()
    }

    async fn probe(&self) -> Result<(), StoreError> {
        self.call("probe", self.store.probe()).await
    }

    fn pending(&self) -> &dyn muninn::graph::pending::PendingMessages {
        self.store.pending()
    }

    fn claims(&self) -> &dyn muninn::graph::claims::Claims {
        self.store.claims()
    }

    fn ingesting(&self) -> &dyn muninn::graph::ingest::Ingesting {
        self.store.ingesting()
    }

    fn searching(&self) -> &dyn muninn::graph::ingest::searching::Searching {
        self.store.searching()
    }

    fn unsupported_features(&self) -> &'static [&'static str] {
        self.store.unsupported_features()
    }

    async fn embedders(&self) -> Result<Vec<EmbeddedBy>, StoreError> {
        self.call("embedders", self.store.embedders()).await
    }

    async fn stale_embeddings(
        &self,
        embedder: &str,
        audience: &AudienceId,
        seen: i64,
        limit: usize,
    ) -> Result<News, StoreError> {
        let call = self.store.stale_embeddings(embedder, audience, seen, limit);
        self.call("stale_embeddings", call).await
    }

    async fn missing_embeddings(
        &self,
        audience: &AudienceId,
        seen: i64,
        limit: usize,
    ) -> Result<News, StoreError> {
        let call = self.store.missing_embeddings(audience, seen, limit);
        self.call("missing_embeddings", call).await
    }

    async fn set_embeddings(
        &self,
        embedder: &str,
        audience: &AudienceId,
        vectors: &[(ResponseId, Option<Vec<f32>>)],
    ) -> Result<usize, StoreError> {
        let call = self.store.set_embeddings(embedder, audience, vectors);
        self.call("set_embeddings", call).await
    }

    async fn supersede(
        &self,
        audience: &AudienceId,
        turn: ResponseId,
        earlier: &[(ResponseId, How)],
    ) -> Result<usize, StoreError> {
        let call = self.store.supersede(audience, turn, earlier);
        self.call("supersede", call).await
    }

    async fn superseded(
        &self,
        audience: &AudienceId,
    ) -> Result<Vec<(ResponseId, ResponseId)>, StoreError> {
        let call = self.store.superseded(audience);
        self.call("superseded", call).await
    }

    async fn turns_since(
        &self,
        audience: &AudienceId,
        seen: i64,
        limit: usize,
    ) -> Result<News, StoreError> {
        let call = self.store.turns_since(audience, seen, limit);
        self.call("turns_since", call).await
    }

    async fn chain(
        &self,
        session: &ConversationId,
        after: Option<ResponseId>,
        limit: usize,
    ) -> Result<Vec<Turn>, StoreError> {
        let call = self.store.chain(session, after, limit);
        self.call("chain", call).await
    }

    async fn save_summary(
        &self,
        guard: &SessionGuard,
        summary: &Summary,
        previous: Option<ResponseId>,
        epoch: i64,
    ) -> Result<bool, StoreError> {
        let call = self.store.save_summary(guard, summary, previous, epoch);
        self.call("save_summary", call).await
    }

    async fn explain(
        &self,
        session: &ConversationId,
        response: Option<ResponseId>,
    ) -> Result<Option<Explanation>, StoreError> {
        let call = self.store.explain(session, response);
        self.call("explain", call).await
    }

    async fn forget(&self, guard: &SessionGuard, what: Forget) -> Result<Forgotten, StoreError> {
        self.call("forget", self.store.forget(guard, what)).await
    }

    async fn sessions(&self) -> Result<Vec<SessionOverview>, StoreError> {
        self.call("sessions", self.store.sessions()).await
    }

    async fn chain_shape(&self, session: &ConversationId) -> Result<ChainShape, StoreError> {
        let call = self.store.chain_shape(session);
        self.call("chain_shape", call).await
    }

    async fn schema(&self) -> Result<Arc<Survey>, StoreError> {
        self.call("schema", self.store.schema()).await
    }

    async fn query(
        &self,
        query: &ConfinedCypher,
        params: serde_json::Map<String, serde_json::Value>,
        limits: QueryLimits,
    ) -> Result<QueryResult, QueryError> {
        let call = self.store.query(query, params, limits);
        self.call("query", call).await
    }

    async fn merge_nodes(&self, put: &KnowledgeNodes) -> Result<usize, StoreError> {
        self.call("merge_nodes", self.store.merge_nodes(put)).await
    }

    async fn merge_links(&self, put: &KnowledgeLinks) -> Result<usize, StoreError> {
        self.call("merge_links", self.store.merge_links(put)).await
    }

    async fn health(&self) -> Result<StoreHealth, StoreError> {
        self.call("health", self.store.health()).await
    }

    async fn close(&self) -> Result<(), StoreError> {
        self.store.close().await
    }
}

#[async_trait]
impl Answers for Timed {
    async fn turn_of_event(&self, event: &EventId) -> Result<Option<Turn>, StoreError> {
        let call = self.store.turn_of_event(event);
        self.call("turn_of_event", call).await
    }

    async fn last_turns(
        &self,
        audience: &AudienceId,
        most: usize,
    ) -> Result<Vec<Turn>, StoreError> {
        let call = self.store.last_turns(audience, most);
        self.call("last_turns", call).await
    }

    async fn marks(&self, session: &ConversationId) -> Result<Marks, StoreError> {
        self.call("marks", self.store.marks(session)).await
    }

    async fn mark_forgotten(&self, events: &BTreeSet<ForgottenEvent>) -> Result<(), StoreError> {
        self.call("mark_forgotten", self.store.mark_forgotten(events))
            .await
    }

    async fn replace(&self, guard: &SessionGuard, turn: &NewTurn) -> Result<bool, StoreError> {
        self.call("replace", self.store.replace(guard, turn)).await
    }

    async fn set_delivered(
        &self,
        response: ResponseId,
        delivered: &Delivered,
    ) -> Result<(), StoreError> {
        let call = self.store.set_delivered(response, delivered);
        self.call("set_delivered", call).await
    }

    async fn quoted_in(&self, answers: &[ResponseId], listing: &Spoken) -> Result<(), StoreError> {
        let call = self.store.quoted_in(answers, listing);
        self.call("quoted_in", call).await
    }

    async fn keep_feedback(
        &self,
        audience: &AudienceId,
        feedback: &Feedback,
    ) -> Result<Option<ResponseId>, StoreError> {
        let call = self.store.keep_feedback(audience, feedback);
        self.call("keep_feedback", call).await
    }

    async fn response_of_message(
        &self,
        audience: &AudienceId,
        message: &MessageId,
    ) -> Result<Option<(ConversationId, ResponseId)>, StoreError> {
        let call = self.store.response_of_message(audience, message);
        self.call("response_of_message", call).await
    }

    async fn last_turn_by(
        &self,
        audience: &AudienceId,
        person: &str,
    ) -> Result<Option<(ConversationId, ResponseId)>, StoreError> {
        let call = self.store.last_turn_by(audience, person);
        self.call("last_turn_by", call).await
    }

    async fn own_sessions(
        &self,
        person: &str,
        prefix: &str,
        most: usize,
    ) -> Result<Vec<OwnSession>, StoreError> {
        let call = self.store.own_sessions(person, prefix, most);
        self.call("own_sessions", call).await
    }

    async fn last_response(
        &self,
        audience: &AudienceId,
    ) -> Result<Option<(ConversationId, ResponseId)>, StoreError> {
        self.call("last_response", self.store.last_response(audience))
            .await
    }

    async fn memory_stats(&self, audience: &AudienceId) -> Result<MemoryStats, StoreError> {
        self.call("extent", self.store.memory_stats(audience)).await
    }

    async fn takes_part(&self, session: &ConversationId) -> Result<bool, StoreError> {
        self.call("takes_part", self.store.takes_part(session))
            .await
    }

    async fn spoken(
        &self,
        session: &ConversationId,
        turn: Option<ResponseId>,
    ) -> Result<Vec<Spoken>, StoreError> {
        self.call("spoken", self.store.spoken(session, turn)).await
    }

    async fn sessions_under(
        &self,
        place: &str,
    ) -> Result<Vec<(ConversationId, AudienceId)>, StoreError> {
        self.call("sessions_under", self.store.sessions_under(place))
            .await
    }

    async fn newest_sessions(
        &self,
        prefix: &str,
        most: usize,
    ) -> Result<Vec<ConversationId>, StoreError> {
        self.call("newest_sessions", self.store.newest_sessions(prefix, most))
            .await
    }

    async fn sessions_of(&self, audience: &AudienceId) -> Result<Vec<ConversationId>, StoreError> {
        self.call("sessions_of", self.store.sessions_of(audience))
            .await
    }

    async fn usage(
        &self,
        person: &str,
        audience: &AudienceId,
        since: chrono::DateTime<chrono::Utc>,
    ) -> Result<Usage, StoreError> {
        let call = self.store.usage(person, audience, since);
        self.call("usage", call).await
    }
}

#[async_trait]
impl Portable for Timed {
    async fn size(&self) -> Result<(u64, u64), StoreError> {
        self.store.size().await
    }

    async fn nodes(&self, to: mpsc::Sender<GraphNode>) -> Result<(), StoreError> {
        self.store.nodes(to).await
    }

    async fn relationships(&self, to: mpsc::Sender<GraphRelationship>) -> Result<(), StoreError> {
        self.store.relationships(to).await
    }

    async fn create_nodes(&self, nodes: Vec<GraphNode>) -> Result<Vec<String>, StoreError> {
        self.store.create_nodes(nodes).await
    }

    async fn create_relationships(
        &self,
        relationships: Vec<GraphRelationship>,
    ) -> Result<(), StoreError> {
        self.store.create_relationships(relationships).await
    }

    async fn wipe(&self) -> Result<(), StoreError> {
        self.store.wipe().await
    }

    fn importing(&self) -> &dyn Importing {
        self.store.importing()
    }
}

/// A bot under way, and one conversation with it.
struct Talk {
    room: Room,
    store: Arc<Timed>,
    asked: AtomicUsize,
    shutdown: CancellationToken,
    running: tokio::task::JoinHandle<()>,
}

impl Talk {
    /// A bot whose store is timed.
    async fn start(
        folder: &Path,
        model: Option<ModelConfig>,
        history: usize,
        knowledge: bool,
    ) -> Self {
        let config = config(folder, model);
        let store = open(&config.graph).await.expect("the store opens");
        if knowledge {
            load_movies(&*store).await.expect("the movies are loaded");
        }
        fill(&*store, history).await;
        let store = Arc::new(Timed {
            store,
            calls: Mutex::default(),
            last: Mutex::default(),
        });
        let shared: Arc<dyn GraphStore> = store.clone();
        let Wired { bot, .. } = Parts::load(&config)
            .and_then(|parts| parts.assemble(&config, shared, Ledger::nowhere()))
            .expect("the parts are sound");
        let (inbox, received) = Inbox::new(64);
        let shutdown = CancellationToken::new();
        let running = tokio::spawn(bot.run(received, shutdown.clone()));
        // The pace of a platform that lets messages be edited.
        let pace = Pace {
            update_every: Duration::from_secs(1),
            working_every: Duration::from_secs(5),
        };
        let talk = Self {
            room: Room::new(inbox, "bench/general/now", AUDIENCE).with_pace(pace),
            store,
            asked: AtomicUsize::new(history),
            shutdown,
            running,
        };
        for _ in 0..scaled(WARM_UP) {
            talk.turn().await;
            tokio::time::sleep(PAUSE).await;
        }
        talk.store.taken();
        talk
    }

    async fn turn(&self) {
        let (question, _) = exchange(self.asked.fetch_add(1, Ordering::Relaxed));
        black_box(self.room.say("ada", &question).await);
    }

    async fn begin_alone(&self) {
        let read = TurnRead {
            session: &ConversationId::new("bench/general/now"),
            audience: &AudienceId::new(AUDIENCE),
            event: &EventId::new("none"),
            window: summary::read(12),
            seen: i64::MAX / 2,
        };
        let context = self.store.store.begin_turn(&read).await;
        black_box(context.expect("the window is read"));
    }

    /// The last turn once more, in another session.
    async fn append_alone(&self, guard: &SessionGuard) {
        let mut new = lock(&self.store.last).clone().expect("a turn was taken");
        new.turn.id = ResponseId::fresh();
        new.turn.event = new.turn.id.to_string();
        guard.session().as_str().clone_into(&mut new.turn.session);
        let appended = self.store.store.append(guard, &new).await;
        black_box(appended.expect("the turn is saved"));
    }

    async fn end(self) {
        self.shutdown.cancel();
        self.running.await.expect("the bot ends");
        self.store.close().await.expect("the store closes");
    }
}

fn config(folder: &Path, model: Option<ModelConfig>) -> Config {
    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }
    let line = [
        "bench".to_owned(),
        "--openai-api-key=".to_owned(),
        "--openai-base-url=".to_owned(),
        "--embedding-model=".to_owned(),
        "--messages-per-minute=100000000".to_owned(),
        format!("--graph-url=embedded:{}", folder.display()),
        format!("--data-dir={}", folder.display()),
    ];
    let options = Line::parse_from(line).options;
    let config = options.into_config().expect("the options are sound");
    Config { model, ..config }
}

/// Talk of 50 sessions.
async fn fill(store: &dyn GraphStore, turns: usize) {
    let embedder = LocalEmbedder::shipped().expect("the shipped model is sound");
    let (sessions, embedder) = (&Sessions::default(), &embedder);
    join_all((0..50).map(|session| async move {
        let id = ConversationId::new(format!("bench/general/{session}"));
        let guard = sessions.lock(&id).await;
        for number in (session..turns).step_by(50) {
            let appended = store.append(&guard, &earlier(number, &id, embedder)).await;
            appended.expect("the turn is saved");
        }
    }))
    .await;
}

fn earlier(number: usize, session: &ConversationId, embedder: &LocalEmbedder) -> NewTurn {
    let (input, output) = exchange(number);
    let vector = embedder.embed(&embedded_text(&input, &output));
    let id = ResponseId::fresh();
    NewTurn {
        audience: Audience {
            id: AudienceId::new(AUDIENCE),
            platform: "test".to_owned(),
            workspace: String::new(),
            name: AUDIENCE.to_owned(),
        },
        turn: Turn {
            id,
            session: session.as_str().to_owned(),
            position: 0,
            created_at: chrono::Utc::now(),
            source: Source::Model,
            input,
            rephrased_question: None,
            output,
            cypher: None,
            event: id.to_string(),
            author: "bo".to_owned(),
            author_name: "Bo".to_owned(),
            volatile: false,
            embedding: vector.map(|vector| Embedding {
                embedder: embedder.name().to_owned(),
                vector,
            }),
            model: None,
            prompt_tokens: 0,
            completion_tokens: 0,
            duration_ms: 0,
            link: None,
            delivered: None,
            revised_at: None,
            attached: Vec::new(),
        },
        context: Vec::new(),
        recalled: Vec::new(),
        trace: Default::default(),
    }
}

/// What the plain loop found.
#[derive(Default)]
struct Figures {
    whole: Vec<Duration>,
    model: Vec<Duration>,
    begin: Vec<Duration>,
    append: Vec<Duration>,
    /// Of a turn together.
    store: Vec<Duration>,
    begin_alone: Vec<Duration>,
    append_alone: Vec<Duration>,
    calls: BTreeMap<&'static str, usize>,
    /// Made after the answer: the summary's.
    later: BTreeMap<&'static str, usize>,
    recalled: usize,
}

impl Figures {
    async fn of(talk: &Talk, service: Option<&Service>) -> Self {
        let mut figures = Self::default();
        let client = reqwest::Client::builder()
            .no_proxy()
            .build()
            .expect("a client");
        for _ in 0..scaled(TURNS) {
            let began = Instant::now();
            talk.turn().await;
            figures.whole.push(began.elapsed());
            tokio::time::sleep(PAUSE).await;
            figures.sort(&talk.store.taken());
            figures.recalled += lock(&talk.store.last)
                .as_ref()
                .map_or(0, |turn| turn.recalled.len());
            if let Some(service) = service {
                figures.model.push(timed(service.alone(&client)).await);
            }
        }
        let alone = ConversationId::new("bench/general/alone");
        let guard = Sessions::default().lock(&alone).await;
        for _ in 0..scaled(TURNS) {
            tokio::time::sleep(PAUSE).await;
            figures.begin_alone.push(timed(talk.begin_alone()).await);
            figures
                .append_alone
                .push(timed(talk.append_alone(&guard)).await);
        }
        figures
    }

    /// Everything up to the append was in the answer's way.
    fn sort(&mut self, calls: &[(&'static str, Duration)]) {
        let appended = calls.iter().position(|(name, _)| *name == "append");
        let (turn, later) = calls.split_at(appended.map_or(calls.len(), |at| at + 1));
        for (name, took) in turn {
            *self.calls.entry(name).or_default() += 1;
            match *name {
                "begin_turn" => self.begin.push(*took),
                "append" => self.append.push(*took),
                _ => {}
            }
        }
        for (name, _) in later {
            *self.later.entry(name).or_default() += 1;
        }
        self.store.push(turn.iter().map(|(_, took)| *took).sum());
    }

    fn print(&self, title: &str, model_calls: u32) {
        let model = percentile(&self.model, 50) * model_calls;
        let own: Vec<Duration> = self
            .whole
            .iter()
            .zip(&self.store)
            .map(|(whole, store)| whole.saturating_sub(*store + model))
            .collect();
        let turns = self.whole.len();
        println!("\n{title}: {turns} turns");
        println!("| | p50 ms | p99 ms |\n|---|---:|---:|");
        let rows = [
            ("whole turn", &self.whole),
            ("the model alone", &self.model),
            ("the store within the turn", &self.store),
            ("- reading", &self.begin),
            ("- keeping", &self.append),
            ("the store alone, reading", &self.begin_alone),
            ("the store alone, keeping", &self.append_alone),
            ("our own time", &own),
        ];
        for (name, took) in rows.iter().filter(|(_, took)| !took.is_empty()) {
            let ms = |percent| percentile(took, percent).as_secs_f64() * 1_000.0;
            println!("| {name} | {:.2} | {:.2} |", ms(50), ms(99));
        }
        let alone = percentile(&self.begin_alone, 50) + percentile(&self.append_alone, 50);
        let rest = percentile(&self.whole, 50).saturating_sub(model + alone);
        println!(
            "our own time, p50 of the turn less those of model and store alone: {:.2} ms",
            rest.as_secs_f64() * 1_000.0
        );
        let per_turn = |calls: &BTreeMap<&'static str, usize>| -> String {
            let each = calls
                .iter()
                .map(|(name, n)| format!("{name} {:.2}", *n as f64 / turns as f64));
            let all: usize = calls.values().sum();
            let each: Vec<String> = each.collect();
            format!("{:.2} ({})", all as f64 / turns as f64, each.join(", "))
        };
        println!("store round trips a turn: {}", per_turn(&self.calls));
        println!(
            "after the answer, for the summary: {}",
            per_turn(&self.later)
        );
        println!(
            "recalled exchanges a turn: {:.1}",
            self.recalled as f64 / turns as f64
        );
    }
}

async fn timed(what: impl Future<Output = ()>) -> Duration {
    let began = Instant::now();
    what.await;
    began.elapsed()
}

fn percentile(took: &[Duration], percent: usize) -> Duration {
    let mut sorted = took.to_vec();
    sorted.sort_unstable();
    let at = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
    sorted.get(at).copied().unwrap_or_default()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn turns(criterion: &mut Criterion) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = Runtime::new().expect("a runtime");
    let service = Service::start();
    let client = reqwest::Client::builder()
        .no_proxy()
        .build()
        .expect("a client");
    for history in HISTORIES.map(scaled) {
        let mut group = criterion.benchmark_group(format!("turn after {history}"));
        group
            .sample_size(50)
            .warm_up_time(Duration::from_secs(1))
            .measurement_time(Duration::from_secs(4));

        let folder = tempfile::tempdir().expect("a folder");
        let start = Talk::start(folder.path(), Some(service.config()), history, false);
        let talk = runtime.block_on(start);
        let figures = runtime.block_on(Figures::of(&talk, Some(&service)));
        figures.print(&format!("A model answers, {history} turns before"), 1);
        group.bench_function("answered by a model", |bench| {
            bench.to_async(&runtime).iter(|| talk.turn());
        });
        group.bench_function("the model alone", |bench| {
            bench.to_async(&runtime).iter(|| service.alone(&client));
        });
        group.bench_function("reading alone", |bench| {
            bench.to_async(&runtime).iter(|| talk.begin_alone());
        });
        let alone = ConversationId::new("bench/general/alone");
        let guard = runtime.block_on(async { Sessions::default().lock(&alone).await });
        group.bench_function("keeping alone", |bench| {
            bench.to_async(&runtime).iter(|| talk.append_alone(&guard));
        });
        drop(guard);
        runtime.block_on(talk.end());

        let folder = tempfile::tempdir().expect("a folder");
        let start = Talk::start(folder.path(), Some(service.config()), history, true);
        let talk = runtime.block_on(start);
        let figures = runtime.block_on(Figures::of(&talk, Some(&service)));
        let title = format!("A model calls a tool, {history} turns before");
        figures.print(&title, CALLS_WITH_A_TOOL);
        runtime.block_on(talk.end());

        let folder = tempfile::tempdir().expect("a folder");
        let talk = runtime.block_on(Talk::start(folder.path(), None, history, false));
        let figures = runtime.block_on(Figures::of(&talk, None));
        figures.print(&format!("Memory answers, {history} turns before"), 0);
        group.bench_function("answered from memory", |bench| {
            bench.to_async(&runtime).iter(|| talk.turn());
        });
        runtime.block_on(talk.end());
        group.finish();
    }
}

criterion_group!(benches, turns);
criterion_main!(benches);
