//! How long recall takes, by the length of the history, and what an exchange costs to embed and
//! to keep.

use std::hint::black_box;

use chrono::{DateTime, TimeDelta};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use muninn::graph::{Embedding, ResponseId, Source, Turn};
use muninn::memory::{AudienceIndex, Calibration, Query, RecallSettings, embedded_text, recall};
use muninn::retrieval::LocalEmbedder;
use uuid::Uuid;

const SUBJECTS: &[&str] = &[
    "gateway",
    "invoice",
    "backup",
    "offsite",
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
    "laptop",
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
    let (subject, event) = (pick(SUBJECTS, 1), pick(EVENTS, 3));
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

fn turn(number: usize, embedder: &LocalEmbedder) -> Turn {
    let (input, output) = exchange(number);
    let vector = embedder.embed(&embedded_text(&input, &output));
    Turn {
        id: ResponseId(Uuid::from_u128(number as u128 + 1)),
        session: format!("session {}", number % 50),
        position: number as i64 + 1,
        created_at: DateTime::UNIX_EPOCH + TimeDelta::minutes(number as i64),
        source: Source::Model,
        input,
        rephrased_question: None,
        output,
        cypher: None,
        event: number.to_string(),
        author: format!("u{}", number % 9),
        author_name: ["Ada", "Bo", "Cleo"][number % 3].to_owned(),
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
    }
}

fn benches(criterion: &mut Criterion) {
    let embedder = LocalEmbedder::shipped().expect("the shipped model is sound");
    let calibration = Calibration::shipped().expect("the shipped calibration is sound");
    let (input, output) = exchange(3);
    let text = embedded_text(&input, &output);
    criterion.bench_function("embed an exchange", |bencher| {
        bencher.iter(|| embedder.embed(black_box(&text)));
    });
    let typeset = text.replace("the ", "the “").replace("; ", "” — ");
    let russian = "Что случилось с сертификатом проекта сегодня утром? ".repeat(5);
    for (name, text) in [
        ("with quotes and dashes", typeset),
        ("in Cyrillic", russian),
    ] {
        criterion.bench_function(&format!("embed an exchange {name}"), |bencher| {
            bencher.iter(|| embedder.embed(black_box(&text)));
        });
    }
    let settings = RecallSettings::by(&calibration);
    let question = "When was the certificate of project 77 finished, and who reviewed it?";
    let vector = embedder.embed(question);
    let mut index = AudienceIndex::new(Some((embedder.name(), embedder.dimension())), 0);
    let mut group = criterion.benchmark_group("recall");
    for size in [1_000, 10_000, 100_000] {
        for number in index.len()..size {
            index.push(&turn(number, &embedder));
        }
        // Criterion prints names, so this is where the memory goes.
        let name = format!("{size} exchanges of {} bytes", index.heap_bytes() / size);
        group.bench_function(BenchmarkId::from_parameter(name), |bencher| {
            bencher.iter(|| {
                let query = Query {
                    text: black_box(question),
                    vector: vector.as_deref(),
                    ..Query::default()
                };
                recall(&index, &calibration, &query, &settings)
            });
        });
    }
    group.finish();
}

criterion_group!(recall_benches, benches);
criterion_main!(recall_benches);
