//! Measures on each store, with 10,000 turns: appending, reading, and loading all turns for recall;
//! and opening the embedded store.
//!
//! `NEO4J_TEST_URI` (with `NEO4J_TEST_USER` and `NEO4J_TEST_PASSWORD`) adds the server; what is
//! written there stays.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use muninn::graph::session::{SessionGuard, Sessions};
use muninn::graph::{Embedding, GraphConfig, GraphStore, NewTurn, Turn, TurnRead, open};
use muninn::llm::Embedder;
use muninn::memory::{Calibration, RecallSettings, Recaller};
use muninn::retrieval::LocalEmbedder;
use muninn_platform::{Audience, AudienceId, ConversationId, EventId};
use secrecy::SecretString;
use tokio::runtime::Runtime;
use uuid::Uuid;

const TURNS: i64 = 10_000;

/// The dimensions of the local embedder's vectors.
const DIMENSIONS: usize = 256;

struct BenchConversation {
    store: Arc<GraphStore>,
    guard: SessionGuard,
    audience: Audience,
}

impl BenchConversation {
    async fn of_ten_thousand_turns(config: &GraphConfig) -> Self {
        let id = Uuid::new_v4();
        let session = ConversationId::new(format!("bench/{id}"));
        let talk = Self {
            store: open(config).await.expect("the store opens"),
            guard: Sessions::default().lock(&session).await,
            audience: Audience {
                id: AudienceId::new(format!("bench/channel/{id}")),
                platform: "bench".to_owned(),
                workspace: String::new(),
                name: "bench".to_owned(),
                private_to: None,
            },
        };
        for _ in 0..TURNS {
            talk.append().await;
        }
        talk
    }

    async fn append(&self) {
        let turn = Turn {
            embedding: Some(Embedding {
                embedder: LocalEmbedder::NAME.to_owned(),
                vector: vec![1.0 / 16.0; DIMENSIONS],
            }),
            ..Turn::of(
                self.guard.session().as_str(),
                "Snorri",
                "Which of the two ravens brings the news of the day, and to whom?",
                &"Both of them fly over the whole world each day and bring it to Odin. ".repeat(4),
            )
        };
        let new = NewTurn {
            recalls_also: Vec::new(),
            audience: self.audience.clone(),
            turn,
            context: Vec::new(),
            recalled: Vec::new(),
            trace: Default::default(),
            asked_at: None,
        };
        let appended = self.store.append(&self.guard, &new).await;
        black_box(appended.expect("the turn is saved"));
    }

    async fn begin(&self) {
        // Up to date, like a process that wrote the last turn itself.
        let context = self
            .store
            .begin_turn(&TurnRead {
                session: self.guard.session(),
                audience: &self.audience.id,
                event: &EventId::new("none"),
                window: 10,
                seen: i64::MAX / 2,
            })
            .await;
        black_box(context.expect("the window is read"));
    }
}

fn recaller() -> Recaller {
    let embedder = LocalEmbedder::shipped().expect("the shipped model is sound");
    let calibration = Calibration::shipped().expect("the shipped calibration is sound");
    let settings = RecallSettings::by(&calibration);
    Recaller::new(Embedder::Local(embedder), calibration, settings)
}

fn measure(criterion: &mut Criterion, runtime: &Runtime, name: &str, config: &GraphConfig) {
    let talk = runtime.block_on(BenchConversation::of_ten_thousand_turns(config));
    let mut group = criterion.benchmark_group(name);
    group
        .sample_size(50)
        .measurement_time(Duration::from_secs(10));
    group.bench_function("append at 10,000 turns", |bench| {
        bench.to_async(runtime).iter(|| talk.append());
    });
    group.bench_function("begin a turn at 10,000 turns", |bench| {
        bench.to_async(runtime).iter(|| talk.begin());
    });
    group.sample_size(10);
    let recaller = recaller();
    let audience = &talk.audience.id;
    group.bench_function("load 10,000 turns for recall", |bench| {
        bench.to_async(runtime).iter(async || {
            recaller.forget(audience);
            recaller.load(&talk.store, audience).await;
            assert!(recaller.known_position(audience) >= TURNS, "it is loaded");
        });
    });
    group.finish();
    runtime
        .block_on(talk.store.close())
        .expect("the store closes");
}

fn embedded(criterion: &mut Criterion) {
    let runtime = Runtime::new().expect("a runtime");
    let folder = tempfile::tempdir().expect("a folder");
    let config = GraphConfig::at(format!("embedded:{}", folder.path().display()));
    measure(criterion, &runtime, "embedded", &config);
    let mut group = criterion.benchmark_group("embedded");
    group.sample_size(10);
    group.bench_function("open with 10,000 turns", |bench| {
        bench.to_async(&runtime).iter(async || {
            let store = open(&config).await.expect("the store opens");
            store.close().await.expect("the store closes");
        });
    });
    group.finish();
}

fn neo4j(criterion: &mut Criterion) {
    let Ok(url) = std::env::var("NEO4J_TEST_URI") else {
        return;
    };
    let config = GraphConfig {
        user: std::env::var("NEO4J_TEST_USER").unwrap_or_default(),
        password: SecretString::from(std::env::var("NEO4J_TEST_PASSWORD").unwrap_or_default()),
        ..GraphConfig::at(url)
    };
    let runtime = Runtime::new().expect("a runtime");
    measure(criterion, &runtime, "neo4j", &config);
}

criterion_group!(benches, embedded, neo4j);
criterion_main!(benches);
