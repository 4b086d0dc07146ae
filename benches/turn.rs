//! Measures our own time per turn, without model and store; and how often a plain turn asks the
//! store.
//!
//! A whole turn goes through the bot on the embedded graph, with a model service on loopback that
//! answers at once. After each turn the same request goes to the service by itself, so that both
//! see the same load. The graph's calls within the turn are read from the bot's own metrics, and
//! timed once more by themselves. A table shows p50 and p99 of a plain loop; Criterion's figures
//! follow.

#![expect(clippy::print_stdout, reason = "the figures")]

mod exchanges;

use std::collections::BTreeMap;
use std::hint::black_box;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use clap::Parser;
use criterion::{Criterion, criterion_group, criterion_main};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use muninn::config::{Config, Options};
use muninn::conversation::ledger::Ledger;
use muninn::demo::load_movies;
use muninn::graph::session::{SessionGuard, Sessions};
use muninn::graph::{GraphStore, TurnRead, open};
use muninn::llm::{ModelConfig, RateLimits};
use muninn::memory::summary;
use muninn::retrieval::LocalEmbedder;
use muninn::wiring::{App, Parts};
use muninn_platform::testing::TestConversation;
use muninn_platform::{AudienceId, ConversationId, EventId, Inbox, Pace};
use serde_json::json;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use exchanges::{exchange, fill, new_turn};

/// Number of turns in the plain loop.
const TURNS: usize = 500;
/// Number of turns before it, so that the window is full and the index is loaded.
const WARM_UP: usize = 40;
/// Numbers of earlier turns in the audience.
const HISTORIES: [usize; 2] = [0, 10_000];
/// Pause between two turns, as with people: work after an answer does not delay the next turn.
const PAUSE: Duration = Duration::from_millis(5);

/// Returns the number when measuring; a handful when `cargo test` only checks that it runs.
fn scaled(number: usize) -> usize {
    let measured = std::env::args().any(|argument| argument == "--bench");
    if measured { number } else { number.min(5) }
}

const AUDIENCE: &str = "bench/general";
const UTILITY: &str = "utility";
/// The tool that the model calls if it is offered; without knowledge nothing is offered.
const TOOL: &str = "find_movies_by_actor";
/// Calls of the model in a turn with a tool: rephrase, route, critique, answer.
const CALLS_WITH_A_TOOL: u32 = 4;

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

    /// Returns a stream with one chunk per word.
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
            limits: RateLimits {
                requests_per_minute: None,
                tokens_per_minute: None,
                person_requests_per_minute: None,
                ..RateLimits::default()
            },
            ..ModelConfig::new(format!("http://{}/v1", self.address), "bench")
        }
    }

    /// Sends the last request once more, without any of our code around it.
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

/// The graph's calls so far: number and seconds, by kind.
type Asked = BTreeMap<String, (f64, f64)>;

/// Reads the metrics that the bot keeps of its graph.
struct Watch(PrometheusHandle);

impl Watch {
    fn start() -> Self {
        let recorder = PrometheusBuilder::new().install_recorder();
        Self(recorder.expect("nothing else records"))
    }

    fn asked(&self) -> Asked {
        let mut asked = Asked::new();
        for line in self.0.render().lines() {
            let Some((name, value)) = line.rsplit_once(' ') else {
                continue;
            };
            let value: f64 = value.parse().unwrap_or_default();
            let of = |part: &str| {
                let rest = name.strip_prefix("muninn_graph_seconds_")?;
                let kind = rest.strip_prefix(part)?.strip_prefix("{call=\"")?;
                Some(kind.trim_end_matches("\"}").to_owned())
            };
            if let Some(kind) = of("count") {
                asked.entry(kind).or_default().0 = value;
            } else if let Some(kind) = of("sum") {
                asked.entry(kind).or_default().1 = value;
            }
        }
        asked
    }

    /// Returns the number of exchanges recalled so far.
    fn recalled(&self) -> u64 {
        let text = self.0.render();
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("muninn_recalled_total "));
        line.and_then(|count| count.parse().ok())
            .unwrap_or_default()
    }
}

/// Returns the calls in between.
fn between(before: &Asked, after: &Asked) -> Asked {
    let each = after.iter().map(|(kind, (calls, seconds))| {
        let (earlier, spent) = before.get(kind).copied().unwrap_or_default();
        (kind.clone(), (calls - earlier, seconds - spent))
    });
    each.filter(|(_, (calls, _))| *calls > 0.0).collect()
}

/// A running bot, and a conversation with it.
struct BotConversation {
    room: TestConversation,
    store: Arc<GraphStore>,
    asked: AtomicUsize,
    shutdown: CancellationToken,
    running: tokio::task::JoinHandle<()>,
}

impl BotConversation {
    async fn start(
        folder: &Path,
        model: Option<ModelConfig>,
        history: usize,
        knowledge: bool,
    ) -> Self {
        let config = config(folder, model);
        let store = open(&config.graph).await.expect("the store opens");
        if knowledge {
            load_movies(&store).await.expect("the movies are loaded");
        }
        fill(&store, AUDIENCE, history).await;
        let shared = Arc::clone(&store);
        let App { bot, .. } = Parts::load(&config)
            .and_then(|parts| parts.assemble(&config, shared, Ledger::disabled()))
            .expect("the parts are sound");
        let (inbox, received) = Inbox::new(64);
        let shutdown = CancellationToken::new();
        let running = tokio::spawn(bot.run(received, shutdown.clone()));
        // The pace of a platform with editable messages.
        let pace = Pace {
            update_every: Duration::from_secs(1),
            working_every: Duration::from_secs(5),
        };
        let talk = Self {
            room: TestConversation::new(inbox, "bench/general/now", AUDIENCE).with_pace(pace),
            store,
            asked: AtomicUsize::new(history),
            shutdown,
            running,
        };
        for _ in 0..scaled(WARM_UP) {
            talk.turn().await;
            tokio::time::sleep(PAUSE).await;
        }
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
        let context = self.store.begin_turn(&read).await;
        black_box(context.expect("the window is read"));
    }

    /// Appends a turn of usual length in another session.
    async fn append_alone(&self, guard: &SessionGuard, embedder: &LocalEmbedder) {
        let number = self.asked.fetch_add(1, Ordering::Relaxed);
        let new = new_turn(number, AUDIENCE, guard.session(), embedder);
        let appended = self.store.append(guard, &new);
        black_box(appended.await.expect("the turn is saved"));
    }

    async fn end(self) {
        self.shutdown.cancel();
        self.running.await.expect("the bot ends");
        self.store.close().await.expect("the store closes");
    }
}

fn config(folder: &Path, model: Option<ModelConfig>) -> Config {
    #[derive(Parser)]
    struct BenchCommandLine {
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
    let options = BenchCommandLine::parse_from(line).options;
    let config = options.into_config().expect("the options are sound");
    Config { model, ..config }
}

/// The results of the plain loop.
#[derive(Default)]
struct TurnMeasurements {
    whole: Vec<Duration>,
    model: Vec<Duration>,
    /// The graph's time per turn, all calls together.
    graph: Vec<Duration>,
    begin_alone: Vec<Duration>,
    append_alone: Vec<Duration>,
    /// Calls of the graph in all turns, by kind.
    calls: BTreeMap<String, f64>,
    /// Calls after the answer: the summary's.
    later: BTreeMap<String, f64>,
    recalled: u64,
}

impl TurnMeasurements {
    async fn of(talk: &BotConversation, watch: &Watch, service: Option<&Service>) -> Self {
        let mut figures = Self::default();
        let client = reqwest::Client::builder()
            .no_proxy()
            .build()
            .expect("a client");
        let recalled = watch.recalled();
        for _ in 0..scaled(TURNS) {
            let before = watch.asked();
            let began = Instant::now();
            talk.turn().await;
            figures.whole.push(began.elapsed());
            let answered = watch.asked();
            tokio::time::sleep(PAUSE).await;
            figures.sort(
                &between(&before, &answered),
                &between(&answered, &watch.asked()),
            );
            if let Some(service) = service {
                figures.model.push(timed(service.alone(&client)).await);
            }
        }
        figures.recalled = watch.recalled() - recalled;
        let alone = ConversationId::new("bench/general/alone");
        let guard = Sessions::default().lock(&alone).await;
        let embedder = LocalEmbedder::shipped().expect("the shipped model is sound");
        for _ in 0..scaled(TURNS) {
            tokio::time::sleep(PAUSE).await;
            figures.begin_alone.push(timed(talk.begin_alone()).await);
            let appending = talk.append_alone(&guard, &embedder);
            figures.append_alone.push(timed(appending).await);
        }
        figures
    }

    fn sort(&mut self, turn: &Asked, later: &Asked) {
        for (into, asked) in [(&mut self.calls, turn), (&mut self.later, later)] {
            for (kind, (calls, _)) in asked {
                *into.entry(kind.clone()).or_default() += calls;
            }
        }
        let seconds = turn.values().map(|(_, seconds)| seconds).sum();
        self.graph.push(Duration::from_secs_f64(seconds));
    }

    fn print(&self, title: &str, model_calls: u32) {
        let model = percentile(&self.model, 50) * model_calls;
        let own: Vec<Duration> = self
            .whole
            .iter()
            .zip(&self.graph)
            .map(|(whole, graph)| whole.saturating_sub(*graph + model))
            .collect();
        let turns = self.whole.len();
        println!("\n{title}: {turns} turns");
        println!("| | p50 ms | p99 ms |\n|---|---:|---:|");
        let rows = [
            ("whole turn", &self.whole),
            ("the model alone", &self.model),
            ("the graph within the turn", &self.graph),
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
        let per_turn = |calls: &BTreeMap<String, f64>| -> String {
            let each = calls
                .iter()
                .map(|(kind, n)| format!("{kind} {:.2}", n / turns as f64));
            let each: Vec<String> = each.collect();
            let all: f64 = calls.values().sum();
            format!("{:.2} ({})", all / turns as f64, each.join(", "))
        };
        println!("calls of the graph in a turn: {}", per_turn(&self.calls));
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
    let (service, watch) = (Service::start(), Watch::start());
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
        let start = BotConversation::start(folder.path(), Some(service.config()), history, false);
        let talk = runtime.block_on(start);
        let figures = runtime.block_on(TurnMeasurements::of(&talk, &watch, Some(&service)));
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
        let embedder = LocalEmbedder::shipped().expect("the shipped model is sound");
        group.bench_function("keeping alone", |bench| {
            bench
                .to_async(&runtime)
                .iter(|| talk.append_alone(&guard, &embedder));
        });
        drop(guard);
        runtime.block_on(talk.end());

        let folder = tempfile::tempdir().expect("a folder");
        let start = BotConversation::start(folder.path(), Some(service.config()), history, true);
        let talk = runtime.block_on(start);
        let figures = runtime.block_on(TurnMeasurements::of(&talk, &watch, Some(&service)));
        let title = format!("A model calls a tool, {history} turns before");
        figures.print(&title, CALLS_WITH_A_TOOL);
        runtime.block_on(talk.end());

        let folder = tempfile::tempdir().expect("a folder");
        let talk = runtime.block_on(BotConversation::start(folder.path(), None, history, false));
        let figures = runtime.block_on(TurnMeasurements::of(&talk, &watch, None));
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
