//! Measures searches of the team's knowledge, with many chunks, on a store.
//!
//! `cargo run --release --example search_figures -- CHUNKS [bolt://… USER PASSWORD]`; on the
//! embedded store unless an address is given. It ingests a source called `search-figures`.
//! `WORDS=20000` makes records that are split into many chunks.
//!
//! `cargo run --release --example search_figures -- files CHUNKS [FOLDER]` writes the same chunks
//! directly into an index file, in a process of its own, and searches there. That allows more
//! chunks than a graph in memory, and excludes the graph's memory.

#![allow(clippy::print_stdout, reason = "it prints figures")]

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use chrono::NaiveDate;
use mimalloc::MiMalloc;
use muninn::graph::ingest::ServedChunk;
use muninn::graph::ingest::searching::{ServedLink, SourceVersion};
use muninn::graph::{self, Embedding, GraphConfig, GraphStore};
use muninn::knowledge::ingest::{Ingest, Phase, Progress, ingest};
use muninn::knowledge::search::index::IndexFolder;
use muninn::knowledge::search::plan::Plan;
use muninn::knowledge::search::rank::{Ranked, choose, fuse, graph_match, scan};
use muninn::knowledge::search::weights::Fusion;
use muninn::knowledge::search::{KnowledgeFilter, KnowledgeIndex, SearchQuery, Searcher, Weights};
use muninn::knowledge::source::{Source, mapping};
use muninn::llm::Embedder;
use muninn::memory::{Calibration, RecallSettings, Recaller};
use muninn::retrieval::LocalEmbedder;
use muninn::retrieval::vectors::Quantised;
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
/// The papers' words. In a file of their own, as other words are another million of chunks to ingest.
const WORDS: &str = include_str!("words.txt");

/// The bot's allocator, so that the memory use is comparable.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["files", chunks] => return files(tempfile::tempdir()?.path(), chunks.parse()?),
        ["files", chunks, folder] => return files(Path::new(folder), chunks.parse()?),
        ["write", chunks, folder] => return write(Path::new(folder), chunks.parse()?),
        _ => {}
    }
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
    let papers = folder.join("papers.jsonl");
    let mut file = std::io::BufWriter::new(std::fs::File::create(&papers)?);
    let mut word = random_words();
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

fn words() -> Vec<&'static str> {
    let words = WORDS.split_whitespace();
    words.filter(|it| it.len() > 3).collect()
}

fn random_words() -> impl FnMut() -> &'static str {
    let words = words();
    let mut seed = 1_u64;
    move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        words[(seed >> 33) as usize % words.len()]
    }
}

fn question(number: usize) -> String {
    let words = words();
    let text = (0..8).map(|at| words[(number * 31 + at * 17) % words.len()]);
    text.collect::<Vec<_>>().join(" ")
}

async fn search(searcher: &Arc<Searcher>) {
    let mut took = Vec::new();
    for number in 0..SEARCHES {
        let query = SearchQuery {
            text: &question(number),
            earlier: &[],
            audience: &AudienceId::new("figures"),
            among: KnowledgeFilter::Everything,
            only: None,
            limit: None,
        };
        let began = Instant::now();
        let found = searcher.search(&query).await;
        took.push(began.elapsed());
        if !found.degradations.is_empty() {
            println!("{:?}", found.degradations);
        }
    }
    tell("searches", took);
}

fn tell(what: &str, mut took: Vec<Duration>) {
    took.sort();
    let at = |share: f64| took[((took.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    println!(
        "{} {what}: p50 {:.1} ms, p99 {:.1} ms",
        took.len(),
        at(0.5),
        at(0.99)
    );
}

fn version(chunks: usize) -> SourceVersion {
    SourceVersion {
        name: SOURCE.to_owned(),
        version: 1,
        chunks: Some(chunks),
        ..SourceVersion::default()
    }
}

/// Writes an index file.
fn write(folder: &Path, chunks: usize) -> anyhow::Result<()> {
    let local = LocalEmbedder::shipped()?;
    let (name, dimension) = (local.name().to_owned(), local.dimension());
    let embedder = Some((name.as_str(), dimension));
    let folder = IndexFolder::in_data_dir(folder);
    let began = Instant::now();
    let mut builder = folder.build(&version(chunks), embedder)?;
    let mut word = random_words();
    let name_of = |id: usize| format!("{SOURCE}/{id}#0");
    for id in 0..chunks {
        let title = [word(), word(), &id.to_string()].join(" ");
        let text: Vec<&str> = (0..60).map(|_| word()).collect();
        let text = text.join(" ");
        let vector = local.embed(&text);
        builder.push(&ServedChunk {
            chunk: name_of(id),
            record: format!("{SOURCE}/{id}"),
            source: SOURCE.to_owned(),
            version: 1,
            label: "Paper".to_owned(),
            embedding: vector.map(|vector| Embedding {
                embedder: name.clone(),
                vector,
            }),
            title: Some(title),
            parent: Some(name_of(id / 10)),
            text,
            ..ServedChunk::default()
        })?;
    }
    let embedded = began.elapsed();
    for id in 0..chunks {
        builder.link(&ServedLink {
            from: name_of(id),
            kind: "mentions".to_owned(),
            to: name_of((id * 7 + 3) % chunks),
        })?;
    }
    let written = folder.put(SOURCE, builder)?;
    let written = written.map_err(|_moved| anyhow::anyhow!("the version has moved"))?;
    println!(
        "{} chunks written in {:.1} s, of it making texts and vectors {:.1} s; {} MB at most",
        written.count(),
        began.elapsed().as_secs_f64(),
        embedded.as_secs_f64(),
        memory("VmHWM:") / 1_024
    );
    Ok(())
}

/// Has another process write the file, opens it and searches.
fn files(folder: &Path, chunks: usize) -> anyhow::Result<()> {
    let local = LocalEmbedder::shipped()?;
    let embedder = Some((local.name(), local.dimension()));
    let index_folder = IndexFolder::in_data_dir(folder);
    if index_folder.open(&version(chunks), embedder).is_none() {
        let mut writing = std::process::Command::new(std::env::current_exe()?);
        let writing = writing.arg("write").arg(chunks.to_string()).arg(folder);
        anyhow::ensure!(writing.status()?.success(), "the file was not written");
    }
    let before = memory("VmRSS:");
    let began = Instant::now();
    let opened = index_folder.open(&version(chunks), embedder);
    let opened = Arc::new(opened.context("the file does not fit")?);
    let index = KnowledgeIndex::new(vec![(version(chunks), opened)], embedder);
    println!(
        "opened in {:.2} s: {:.1} bytes a chunk",
        began.elapsed().as_secs_f64(),
        index.heap_bytes() as f64 / chunks as f64
    );
    let weights = Weights::load(None)?;
    let mut took = Vec::new();
    for number in 0..SEARCHES {
        let began = Instant::now();
        let ranked = ranked(&index, &local, &question(number), &weights);
        let chosen = choose(&index, &ranked, &weights.choice);
        let texts = chosen.iter().map(|one| index.text(one.entry).len());
        anyhow::ensure!(texts.sum::<usize>() > 0, "nothing was found");
        took.push(began.elapsed());
    }
    println!(
        "the first search took {:.1} ms",
        took[0].as_secs_f64() * 1e3
    );
    tell("searches, without the passages of a graph", took);
    anyhow::ensure!(index.damaged().is_empty(), "the file is damaged");
    println!(
        "{} MB in the process, at most {} MB; {} MB before the index was opened",
        memory("VmRSS:") / 1_024,
        memory("VmHWM:") / 1_024,
        before / 1_024
    );
    found_of_all(&index, &local, &weights);
    Ok(())
}

fn ranked(
    index: &KnowledgeIndex,
    local: &LocalEmbedder,
    question: &str,
    weights: &Weights,
) -> Vec<Ranked> {
    let plan = Plan {
        text: question.to_owned(),
        seen: index.visible_sources(&AudienceId::new("figures")),
        policies: Vec::new(),
        identified: Vec::new(),
    };
    let vector = local.embed(question);
    let (scanned, graph) = std::thread::scope(|scope| {
        let graph = scope.spawn(|| graph_match(index, &plan, &weights.graph));
        let scanned = scan(index, &plan, vector.as_deref());
        (scanned, graph.join().unwrap_or_default())
    });
    let today = NaiveDate::from_ymd_opt(2026, 11, 25).unwrap_or_default();
    fuse(index, &plan, &scanned, &graph, &weights.fusion, today)
}

/// Prints how many of the most similar vectors are found by comparing only the signs of all.
fn found_of_all(index: &KnowledgeIndex, local: &LocalEmbedder, weights: &Weights) {
    const QUESTIONS: usize = 20;
    let fusion = Fusion {
        graph: 0.0,
        cosine: 1.0,
        bm25: 0.0,
        coverage: 0.0,
        proximity: 0.0,
        recency: 0.0,
        policy: 0.0,
    };
    let weights = Weights {
        fusion,
        ..weights.clone()
    };
    let all: Vec<usize> = (0..index.len()).collect();
    for most in [10, 100] {
        let (mut found, mut expected) = (0, 0);
        for number in 0..QUESTIONS {
            let question = question(number);
            let query = local.embed(&question);
            let Some(query) = query.as_deref().and_then(Quantised::new) else {
                continue;
            };
            let cosines = index.cosines(&all, &query);
            let mut best = all.clone();
            best.sort_by(|a, b| cosines[*b].total_cmp(&cosines[*a]));
            let ranked = ranked(index, local, &question, &weights);
            let known = |at: &&usize| ranked.iter().any(|one| one.entry == **at);
            found += best.iter().take(most).filter(known).count();
            expected += most.min(best.len());
        }
        println!("of the {most} most alike of all, {found} of {expected} are found");
    }
}

/// Returns a field of the process's memory, current or maximum, in kilobytes.
fn memory(field: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(field));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    number
        .and_then(|number| number.parse().ok())
        .unwrap_or_default()
}
