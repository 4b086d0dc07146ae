//! How long searching the team's knowledge takes, at many chunks, on a store.
//!
//! `cargo run --release --example search_figures -- CHUNKS [bolt://… USER PASSWORD]`; without an
//! address on the embedded store. What it ingests there is a source called `search-figures`. `WORDS=20000`
//! makes records that are cut into many chunks.

#![allow(clippy::print_stdout, reason = "it prints figures")]

use std::io::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use muninn::graph::{self, GraphConfig, GraphStore};
use muninn::knowledge::ingest::{Ingest, Phase, Progress, ingest};
use muninn::knowledge::search::{Among, Query, Searcher, Weights};
use muninn::knowledge::source::{Source, mapping};
use muninn::llm::Embedder;
use muninn::memory::{Calibration, RecallSettings, Recaller};
use muninn::retrieval::LocalEmbedder;
use muninn_platform::AudienceId;

const SOURCE: &str = "search-figures";
const SEARCHES: usize = 200;
const MAPPING: &str = r#"
[[record]]
label = "Paper"
id = "/id"
title = "/title"
text = ["/text"]
[record.above]
ids = "/above/*"
[[record.relation]]
type = "mentions"
ids = "/mentions/*"
"#;
/// Words that papers are made of.
const WORDS: &str = include_str!("../docs/recall.md");

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let chunks: usize = arguments.first().map_or(Ok(50_000), |it| it.parse())?;
    let folder = tempfile::tempdir()?;
    let mut config = GraphConfig::at(match arguments.get(1) {
        Some(url) => url.clone(),
        None => format!("embedded:{}", folder.path().display()),
    });
    config.timeout = Duration::from_secs(600);
    if let [_, _, user, password] = arguments.as_slice() {
        config.user.clone_from(user);
        config.password = password.clone().into();
    }
    let store = graph::open(&config).await?;
    put(&store, folder.path(), chunks).await?;

    let calibration = Calibration::shipped()?;
    let settings = RecallSettings::by(&calibration);
    let embedder = Embedder::Local(LocalEmbedder::shipped()?);
    let recaller = Arc::new(Recaller::new(embedder, calibration, settings));
    let before = memory("VmRSS:");
    let searcher = Searcher::new(Arc::clone(&store), recaller, Weights::load(None)?);
    let searcher = Arc::new(searcher);
    let began = Instant::now();
    searcher.refresh().await;
    let index = searcher.ready().await.context("nothing was loaded")?;
    println!(
        "{} chunks loaded in {:.1} s, {} MB more",
        index.len(),
        began.elapsed().as_secs_f64(),
        memory("VmRSS:").saturating_sub(before) / 1_024
    );
    search(&searcher).await;
    store.close().await?;
    Ok(())
}

async fn put(
    store: &Arc<GraphStore>,
    folder: &std::path::Path,
    chunks: usize,
) -> anyhow::Result<()> {
    let words: Vec<&str> = WORDS.split_whitespace().filter(|it| it.len() > 3).collect();
    let papers = folder.join("papers.jsonl");
    let mut file = std::io::BufWriter::new(std::fs::File::create(&papers)?);
    let mut seed = 1_u64;
    let mut word = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        words[(seed >> 33) as usize % words.len()]
    };
    let long: usize = std::env::var("WORDS").map_or(Ok(60), |it| it.parse())?;
    for id in 0..chunks {
        let title = [word(), word(), &id.to_string()].join(" ");
        let text: Vec<&str> = (0..long).map(|_| word()).collect();
        let paper = serde_json::json!({
            "id": id, "title": title, "text": text.join(" "),
            "above": [id / 10], "mentions": [(id * 7 + 3) % chunks],
        });
        writeln!(file, "{paper}")?;
    }
    file.flush()?;
    let by = folder.join("papers.toml");
    std::fs::write(&by, MAPPING)?;
    let by = mapping(&by.display().to_string())?;
    let what = Ingest {
        source: Source::find(&[papers], Some(SOURCE), Some(by))?,
        paths: vec!["papers".to_owned()],
        channels: Vec::new(),
        data_dir: folder,
        is_dry: false,
    };
    let began = Instant::now();
    let embedder = Arc::new(Embedder::Local(LocalEmbedder::shipped()?));
    let mut exchanging = None;
    let mut tell = |far: Progress| {
        if far.phase == Phase::Exchanging {
            exchanging.get_or_insert_with(Instant::now);
        }
    };
    let summary = ingest(store, &embedder, what, &mut tell).await?;
    let seconds = began.elapsed().as_secs_f64();
    println!(
        "{} chunks ingested in {seconds:.1} s ({:.0} a second), of it the exchange {:.1} s; {} MB at most",
        summary.chunks,
        summary.chunks as f64 / seconds,
        exchanging.map_or(0.0, |at| at.elapsed().as_secs_f64()),
        memory("VmHWM:") / 1_024
    );
    Ok(())
}

async fn search(searcher: &Arc<Searcher>) {
    let words: Vec<&str> = WORDS.split_whitespace().filter(|it| it.len() > 3).collect();
    let mut took = Vec::new();
    for number in 0..SEARCHES {
        let text: Vec<&str> = (0..8)
            .map(|at| words[(number * 31 + at * 17) % words.len()])
            .collect();
        let query = Query {
            text: &text.join(" "),
            earlier: &[],
            audience: &AudienceId::new("figures"),
            among: Among::Everything,
            only: None,
            limit: None,
        };
        let began = Instant::now();
        let found = searcher.search(&query).await;
        took.push(began.elapsed());
        if !found.rungs.is_empty() {
            println!("{:?}", found.rungs);
        }
    }
    took.sort();
    let at = |share: f64| took[((took.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    println!(
        "{SEARCHES} searches: p50 {:.1} ms, p99 {:.1} ms",
        at(0.5),
        at(0.99)
    );
}

/// Kilobytes of memory that this process has, or had at most, by the field of its status.
fn memory(field: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(field));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    number
        .and_then(|number| number.parse().ok())
        .unwrap_or_default()
}
