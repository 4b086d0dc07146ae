//! Measures what a bot needs: memory at rest and with 10,000 turns, the time from its start to its
//! first answer, and recall as in a turn.
//!
//! ```text
//! cargo run --release --example figures
//! ```
//!
//! Each bot is a process of its own (this program, started again), so that no measurement is
//! affected by leftovers of another. `NEO4J_TEST_URI` (with `NEO4J_TEST_USER` and
//! `NEO4J_TEST_PASSWORD`) adds the server; what is written there stays.

#![expect(clippy::print_stdout, reason = "the figures")]

#[path = "../benches/exchanges/mod.rs"]
mod exchanges;

use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use clap::Parser;
use muninn::config::Options;
use muninn::conversation::ledger::Ledger;
use muninn::graph::ResponseId;
use muninn::memory::{AudienceIndex, Calibration, Earlier, IndexQuery, RecallSettings, recall};
use muninn::retrieval::LocalEmbedder;
use muninn::wiring::{App, wire};
use muninn_platform::Inbox;
use muninn_platform::testing::TestConversation;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use exchanges::{SESSIONS, fill, turn};

const TURNS: usize = 10_000;
/// Number of starts per figure.
const STARTS: usize = 11;

#[derive(Parser)]
struct FiguresCommandLine {
    /// What this process does; none: everything, in processes of their own.
    #[arg(long, value_enum, default_value_t = ProcessRole::All)]
    role: ProcessRole,
    /// Keeps runs apart that share a server.
    #[arg(long, default_value = "")]
    name: String,
    #[command(flatten)]
    options: Options,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum ProcessRole {
    All,
    Fill,
    Rest,
    Answer,
    Recall,
}

/// The measurements of one process.
#[derive(Clone, Copy, Default, serde::Serialize, serde::Deserialize)]
struct ProcessMeasurements {
    open_ms: f64,
    answer_ms: f64,
    open_mb: f64,
    answered_mb: f64,
    peak_mb: f64,
}

/// Selects one of them.
type Figure = fn(&ProcessMeasurements) -> f64;

fn main() -> anyhow::Result<()> {
    let began = Instant::now();
    let _ = rustls::crypto::ring::default_provider().install_default();
    let line = FiguresCommandLine::parse();
    match line.role {
        ProcessRole::All => all(),
        ProcessRole::Recall => {
            recall_figures();
            Ok(())
        }
        ProcessRole::Fill | ProcessRole::Rest | ProcessRole::Answer => {
            tokio::runtime::Runtime::new()?.block_on(part(line, began))
        }
    }
}

async fn part(line: FiguresCommandLine, began: Instant) -> anyhow::Result<()> {
    let (role, name) = (line.role, line.name);
    let config = line.options.into_config()?;
    let App { bot, store, .. } = wire(&config, Ledger::disabled()).await?;
    let mut found = ProcessMeasurements {
        open_ms: ms(began.elapsed()),
        ..ProcessMeasurements::default()
    };
    let (inbox, received) = Inbox::new(config.admission.inbox_size);
    let shutdown = CancellationToken::new();
    let running = tokio::spawn(bot.run(received, shutdown.clone()));
    match role {
        ProcessRole::Fill => {
            fill(&store, &name, TURNS).await;
            println!("{}", began.elapsed().as_secs_f64());
        }
        ProcessRole::Answer => {
            found.open_mb = memory("VmRSS:");
            let room = TestConversation::new(inbox, &format!("{name}/0"), &name);
            let asked = "Which project's certificate was finished ahead of time?";
            black_box(room.say("ada", asked).await);
            found.answer_ms = ms(began.elapsed());
            found.answered_mb = memory("VmRSS:");
        }
        ProcessRole::Rest | ProcessRole::All | ProcessRole::Recall => {
            tokio::time::sleep(Duration::from_millis(500)).await;
            found.open_mb = memory("VmRSS:");
        }
    }
    found.peak_mb = memory("VmHWM:");
    shutdown.cancel();
    running.await?;
    store.close().await?;
    if matches!(role, ProcessRole::Rest | ProcessRole::Answer) {
        println!("{}", serde_json::to_string(&found)?);
    }
    Ok(())
}

fn all() -> anyhow::Result<()> {
    println!("| Memory at rest, MB (median of {STARTS}) | after the start | peak |");
    println!("|---|---:|---:|");
    let empty = tempfile::tempdir()?;
    let at = embedded(empty.path());
    for (what, model) in [
        ("memory alone answers", ""),
        ("with a model configured", "http://127.0.0.1:9/v1"),
    ] {
        let model = format!("--openai-base-url={model}");
        let found = started("rest", empty.path(), &at, &["--name=rest", &model])?;
        let open = median(&found, |one| one.open_mb);
        let peak = median(&found, |one| one.peak_mb);
        println!("| {what} | {open:.1} | {peak:.1} |");
    }
    let folder = tempfile::tempdir()?;
    with_turns("embedded", folder.path(), &embedded(folder.path()))?;
    if let Ok(url) = std::env::var("NEO4J_TEST_URI") {
        let mut at = vec![format!("--graph-url={url}")];
        let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        if let (Some(user), Some(password)) = (set("NEO4J_TEST_USER"), set("NEO4J_TEST_PASSWORD")) {
            at.push(format!("--graph-user={user}"));
            at.push(format!("--graph-password={password}"));
        }
        with_turns("Neo4j", tempfile::tempdir()?.path(), &at)?;
    }
    println!("\n{}", child("recall", folder.path(), &[], &[])?);
    Ok(())
}

fn with_turns(store: &str, folder: &Path, at: &[String]) -> anyhow::Result<()> {
    let name = format!("--name=figures/{}", Uuid::now_v7().simple());
    let filled = child("fill", folder, at, &[&name])?;
    println!(
        "\n{store}: {TURNS} turns in {SESSIONS} sessions of one audience, written in {filled} s"
    );
    let found = started("answer", folder, at, &[&name])?;
    println!("| {STARTS} starts | median | worst |\n|---|---:|---:|");
    let rows: [(&str, Figure); 5] = [
        ("start to open, ms", |one| one.open_ms),
        ("start to first answer, ms", |one| one.answer_ms),
        ("memory when open, MB", |one| one.open_mb),
        ("memory after the first answer, MB", |one| one.answered_mb),
        ("peak, MB", |one| one.peak_mb),
    ];
    for (what, of) in rows {
        let worst = found.iter().map(of).fold(0.0, f64::max);
        println!("| {what} | {:.1} | {worst:.1} |", median(&found, of));
    }
    Ok(())
}

fn embedded(folder: &Path) -> Vec<String> {
    vec![format!("--graph-url=embedded:{}", folder.display())]
}

fn started(
    role: &str,
    folder: &Path,
    at: &[String],
    more: &[&str],
) -> anyhow::Result<Vec<ProcessMeasurements>> {
    (0..STARTS)
        .map(|_| Ok(serde_json::from_str(&child(role, folder, at, more)?)?))
        .collect()
}

/// Runs this program once more, and returns its output.
fn child(role: &str, folder: &Path, at: &[String], more: &[&str]) -> anyhow::Result<String> {
    let output = Command::new(std::env::current_exe()?)
        .arg(format!("--role={role}"))
        .args([
            "--openai-api-key=",
            "--embedding-model=",
            "--graph-timeout=60",
        ])
        .arg(format!("--data-dir={}", folder.display()))
        .args(at)
        .args(more)
        .stderr(std::process::Stdio::inherit())
        .output()?;
    anyhow::ensure!(output.status.success(), "{role}: {}", output.status);
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// Measures recall as in a turn: with the turns before it, and without those the model reads
/// anyway.
fn recall_figures() {
    let embedder = LocalEmbedder::shipped().expect("the shipped model is sound");
    let calibration = Calibration::shipped().expect("the shipped calibration is sound");
    let settings = RecallSettings::by(&calibration);
    let mut index = AudienceIndex::new(Some((embedder.name(), embedder.dimension())), 0);
    let mut last = Vec::new();
    println!("| Recall as a turn asks, ms | p50 | p99 | within a window of 18, p50 | p99 |");
    println!("|---|---:|---:|---:|---:|");
    for size in [1_000, 10_000, 100_000] {
        for number in index.len()..size {
            let turn = turn(number, &format!("{}", number % SESSIONS), &embedder);
            index.push(&turn);
            last.push(turn);
            if last.len() > 18 {
                last.remove(0);
            }
        }
        let vectors: Vec<_> = last
            .iter()
            .map(|turn| embedder.embed(&turn.input))
            .collect();
        let before: Vec<Earlier<'_>> = last
            .iter()
            .zip(&vectors)
            .skip(16)
            .map(|(turn, vector)| Earlier {
                text: &turn.input,
                vector: vector.as_deref(),
            })
            .collect();
        let window: Vec<ResponseId> = last.iter().map(|turn| turn.id).collect();
        let once = |earlier: &[Earlier<'_>], exclude: &[ResponseId], number: usize| {
            let text = format!(
                "When was the certificate of project {number} finished, and who reviewed it?"
            );
            let vector = embedder.embed(&text);
            let began = Instant::now();
            let query = IndexQuery {
                text: &text,
                vector: vector.as_deref(),
                earlier,
                exclude,
                ..IndexQuery::default()
            };
            black_box(recall(&index, &calibration, &query, &settings));
            ms(began.elapsed())
        };
        let mut alone: Vec<f64> = (0..300).map(|n| once(&[], &[], n * 3)).collect();
        let mut within: Vec<f64> = (0..300).map(|n| once(&before, &window, n * 3)).collect();
        alone.sort_by(f64::total_cmp);
        within.sort_by(f64::total_cmp);
        println!(
            "| {size} exchanges | {:.2} | {:.2} | {:.2} | {:.2} |",
            alone[150], alone[297], within[150], within[297]
        );
    }
}

fn median(found: &[ProcessMeasurements], of: impl Fn(&ProcessMeasurements) -> f64) -> f64 {
    let mut all: Vec<f64> = found.iter().map(of).collect();
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

fn ms(took: Duration) -> f64 {
    took.as_secs_f64() * 1_000.0
}

/// Returns a field of the process's memory, in megabytes.
fn memory(field: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    let kilobytes = line.and_then(|line| line.trim().split(' ').next()?.parse::<f64>().ok());
    kilobytes.map_or(f64::NAN, |kilobytes| kilobytes / 1_024.0)
}
