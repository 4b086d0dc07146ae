//! Measures recall by the length of the history, and what embedding and keeping an exchange costs.

mod exchanges;

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use muninn::memory::{
    AudienceIndex, Calibration, IndexQuery, RecallSettings, embedded_text, recall,
};
use muninn::retrieval::LocalEmbedder;

use exchanges::{exchange, turn};

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
            index.push(&turn(
                number,
                &format!("session {}", number % 50),
                &embedder,
            ));
        }
        // Criterion only prints names, so the memory is part of the name.
        let name = format!("{size} exchanges of {} bytes", index.heap_bytes() / size);
        group.bench_function(BenchmarkId::from_parameter(name), |bencher| {
            bencher.iter(|| {
                let query = IndexQuery {
                    text: black_box(question),
                    vector: vector.as_deref(),
                    ..IndexQuery::default()
                };
                recall(&index, &calibration, &query, &settings)
            });
        });
    }
    group.finish();
}

criterion_group!(recall_benches, benches);
criterion_main!(recall_benches);
