//! How well the team's knowledge is searched: questions with known chunks, over texts of our own.
//!
//! `cargo test --workspace --test retrieval_eval -- --nocapture` prints the figures of
//! `docs/figures.md`; `-- --ignored --nocapture` tries weights on the first half of the questions.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::print_stdout, reason = "it prints figures")]

mod manual;

use std::path::Path;
use std::sync::Arc;

use muninn::graph::{self, GraphConfig, GraphStore};
use muninn::knowledge::ingest::{Ingest, ingest};
use muninn::knowledge::search::rank::Ranked;
use muninn::knowledge::search::weights::Fusion;
use muninn::knowledge::search::{
    Hit, KnowledgeFilter, KnowledgeIndex, SearchQuery, Searcher, Weights,
};
use muninn::knowledge::source::{Source, mapping};
use muninn::llm::Embedder;
use muninn::memory::{Calibration, RecallSettings, Recaller};
use muninn::retrieval::LocalEmbedder;
use muninn_platform::AudienceId;
use serde::Deserialize;

#[derive(Deserialize)]
struct RetrievalQuestion {
    question: String,
    source: String,
    /// Empty if nothing in the sources answers it.
    chunks: Vec<String>,
}

impl RetrievalQuestion {
    fn expected(&self) -> Vec<String> {
        let chunk = |chunk: &String| format!("{}/{chunk}", self.source);
        self.chunks.iter().map(chunk).collect()
    }
}

fn questions() -> Vec<RetrievalQuestion> {
    let lines = include_str!("../data/knowledge/questions.jsonl").lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

async fn put(store: &Arc<GraphStore>, path: &str, by: Option<&str>, name: &str) {
    let data = tempfile::tempdir().unwrap();
    let what = Ingest {
        source: Source::find(
            &[Path::new(path).to_owned()],
            Some(name),
            by.map(|by| mapping(by).unwrap()),
        )
        .unwrap(),
        paths: vec![path.to_owned()],
        channels: Vec::new(),
        data_dir: data.path(),
        is_dry: false,
    };
    let embedder = Arc::new(Embedder::Local(LocalEmbedder::shipped().unwrap()));
    ingest(store, &embedder, what, &mut |_far| {})
        .await
        .unwrap();
}

struct Bench {
    searcher: Arc<Searcher>,
    index: Arc<KnowledgeIndex>,
    weights: Weights,
    _folder: tempfile::TempDir,
}

fn query<'a>(text: &'a str, audience: &'a AudienceId) -> SearchQuery<'a> {
    SearchQuery {
        text,
        earlier: &[],
        audience,
        among: KnowledgeFilter::Everything,
        only: None,
        limit: None,
    }
}

/// A path, how it is parsed, and the source's name.
type Put<'a> = (&'a str, Option<&'a str>, &'a str);

impl Bench {
    async fn new() -> Self {
        Self::of(&[
            ("tests/data/knowledge/handbook", None, "handbook"),
            (
                "tests/data/knowledge/catalog.jsonl",
                Some("archives"),
                "archives",
            ),
        ])
        .await
    }

    async fn of(sources: &[Put<'_>]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("embedded:{}", folder.path().display());
        let store = graph::open(&GraphConfig::at(url)).await.unwrap();
        for (path, by, name) in sources {
            put(&store, path, *by, name).await;
        }
        let calibration = Calibration::shipped().unwrap();
        let settings = RecallSettings::by(&calibration);
        let embedder = Embedder::Local(LocalEmbedder::shipped().unwrap());
        let recaller = Arc::new(Recaller::new(embedder, calibration, settings));
        let weights = Weights::load(None).unwrap();
        let searcher = Arc::new(Searcher::new(store, recaller, weights.clone()));
        let index = searcher.ready().await.unwrap();
        Self {
            searcher,
            index,
            weights,
            _folder: folder,
        }
    }

    async fn ranked(&self, text: &str, weights: &Weights) -> Vec<Ranked> {
        let audience = AudienceId::new("eval");
        self.searcher.ranked(&query(text, &audience), weights).await
    }

    async fn hits(&self, text: &str) -> Vec<Hit> {
        let audience = AudienceId::new("eval");
        self.searcher.search(&query(text, &audience)).await.hits
    }

    async fn figures(&self, questions: &[&RetrievalQuestion], fusion: Fusion) -> RetrievalMetrics {
        let weights = Weights {
            fusion,
            ..self.weights.clone()
        };
        let mut figures = RetrievalMetrics::default();
        let mut count = 0.0;
        for question in questions.iter().filter(|it| !it.chunks.is_empty()) {
            let ranked = self.ranked(&question.question, &weights).await;
            let ranked = ranked.iter().filter(|it| it.scores.total > 0.0).take(10);
            let chunks = ranked.map(|it| self.index.entry(it.entry).chunk);
            figures.add(&chunks.collect::<Vec<_>>(), &question.expected());
            count += 1.0;
        }
        figures.share_of(count)
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct RetrievalMetrics {
    at_5: f64,
    at_10: f64,
    ndcg: f64,
}

impl RetrievalMetrics {
    fn add(&mut self, ranked: &[String], expected: &[String]) {
        let recall = |most: usize| {
            let found = ranked.iter().take(most).filter(|it| expected.contains(it));
            found.count() as f64 / expected.len() as f64
        };
        self.at_5 += recall(5);
        self.at_10 += recall(10);
        let gain = |at: usize| 1.0 / (at as f64 + 2.0).log2();
        let hits = ranked
            .iter()
            .enumerate()
            .filter(|(_, it)| expected.contains(it));
        let got: f64 = hits.map(|(at, _)| gain(at)).sum();
        let best: f64 = (0..expected.len().min(10)).map(gain).sum();
        self.ndcg += got / best;
    }

    fn share_of(self, count: f64) -> Self {
        Self {
            at_5: self.at_5 / count,
            at_10: self.at_10 / count,
            ndcg: self.ndcg / count,
        }
    }
}

impl std::fmt::Display for RetrievalMetrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.3} | {:.3} | {:.3}", self.at_5, self.at_10, self.ndcg)
    }
}

const NOTHING: Fusion = Fusion {
    graph: 0.0,
    cosine: 0.0,
    bm25: 0.0,
    coverage: 0.0,
    proximity: 0.0,
    recency: 0.0,
    policy: 0.0,
};

/// Returns every second question: one half is for choosing weights, the other for reporting.
fn half(questions: &[RetrievalQuestion], which: usize) -> Vec<&RetrievalQuestion> {
    questions.iter().skip(which).step_by(2).collect()
}

/// Returns each part by itself, all together, and all but one.
fn parts(fused: Fusion) -> [(&'static str, Fusion); 8] {
    [
        (
            "graph",
            Fusion {
                graph: 1.0,
                ..NOTHING
            },
        ),
        (
            "vector",
            Fusion {
                cosine: 1.0,
                ..NOTHING
            },
        ),
        (
            "BM25",
            Fusion {
                bm25: 1.0,
                ..NOTHING
            },
        ),
        ("fused", fused),
        (
            "without graph",
            Fusion {
                graph: 0.0,
                ..fused
            },
        ),
        (
            "without vector",
            Fusion {
                cosine: 0.0,
                ..fused
            },
        ),
        (
            "without words",
            Fusion {
                bm25: 0.0,
                coverage: 0.0,
                proximity: 0.0,
                ..fused
            },
        ),
        (
            "without proximity",
            Fusion {
                proximity: 0.0,
                ..fused
            },
        ),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn each_part_adds_to_what_is_found() {
    let bench = Bench::new().await;
    let all = questions();
    let asked = all.iter().filter(|it| !it.chunks.is_empty()).count();
    assert!(asked >= 100, "{asked}");
    let parts = parts(bench.weights.fusion);
    println!("{asked} questions, {} chunks", bench.index.len());
    let mut told = Vec::new();
    for (which, name) in [(1, "reported half"), (0, "chosen half")] {
        let questions = half(&all, which);
        println!("{name}: | R@5 | R@10 | nDCG@10");
        for (name, fusion) in parts {
            let figures = bench.figures(&questions, fusion).await;
            println!("| {name} | {figures} |");
            told.push(figures);
        }
    }
    for source in ["handbook", "archives"] {
        let of: Vec<&RetrievalQuestion> = all.iter().filter(|it| it.source == source).collect();
        for (name, fusion) in &parts[..4] {
            println!(
                "| {source}, {name} | {} |",
                bench.figures(&of, *fusion).await
            );
        }
    }
    floors(&bench, &all).await;
    // On this set the vector alone finds about as much; the fusion must not lose what it finds.
    let (graph, vector, words, fused) = (told[0], told[1], told[2], told[3]);
    assert!(
        fused.at_10 > words.at_10 && fused.at_10 > graph.at_10,
        "{told:?}"
    );
    assert!(
        fused.at_10 >= vector.at_10 - 0.03 && fused.ndcg > 0.65,
        "{told:?}"
    );
}

/// Prints what is found for unanswerable questions, and kept for answerable ones.
async fn floors(bench: &Bench, all: &[RetrievalQuestion]) {
    let (mut vain, mut kept) = (0, 0);
    let (mut unanswerable, mut answerable) = (0, 0);
    for question in all {
        let hits = bench.hits(&question.question).await;
        let expected = question.expected();
        if expected.is_empty() {
            unanswerable += 1;
            vain += usize::from(hits.is_empty());
        } else {
            answerable += 1;
            kept += usize::from(hits.iter().any(|hit| expected.contains(&hit.chunk)));
        }
    }
    println!("nothing found for {vain} of {unanswerable} that nothing answers");
    println!("a right chunk among the passages for {kept} of {answerable}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "it tries hundreds of weights"]
async fn figures_of_weights_in_the_first_half() {
    let bench = Bench::new().await;
    let all = questions();
    let questions = half(&all, 0);
    let mut tried = Vec::new();
    for graph in [0.1, 0.2, 0.3, 0.5] {
        for cosine in [0.4, 0.5, 0.6, 0.7, 0.8, 0.9] {
            let fusion = Fusion {
                graph,
                cosine,
                bm25: 1.0 - cosine,
                ..bench.weights.fusion
            };
            let figures = bench.figures(&questions, fusion).await;
            tried.push((figures, graph, cosine));
        }
    }
    tried.sort_by(|a, b| (b.0.at_10 + b.0.ndcg).total_cmp(&(a.0.at_10 + a.0.ndcg)));
    for (figures, graph, cosine) in tried.iter().take(12) {
        println!("graph {graph} cosine {cosine}: {figures}");
    }
    for question in &questions {
        if question.chunks.is_empty() {
            let ranked = bench.ranked(&question.question, &bench.weights).await;
            let best = |of: &dyn Fn(&Ranked) -> f32| ranked.iter().map(of).fold(0.0, f32::max);
            println!(
                "nothing: cosine {:.2} coverage {:.2} graph {:.2}: {}",
                best(&|it| it.scores.cosine),
                best(&|it| it.scores.coverage),
                best(&|it| it.scores.graph),
                question.question
            );
        } else if let Some(it) = bench
            .ranked(&question.question, &bench.weights)
            .await
            .iter()
            .find(|it| {
                question
                    .expected()
                    .contains(&bench.index.entry(it.entry).chunk)
            })
        {
            println!(
                "right: cosine {:.2} coverage {:.2} graph {:.2}",
                it.scores.cosine, it.scores.coverage, it.scores.graph
            );
        }
    }
}
