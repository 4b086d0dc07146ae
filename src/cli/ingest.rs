//! `muninn ingest` and `muninn catalog`.

use muninn_platform::counted;
use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use muninn::config::Config;
use muninn::graph::{self, GraphConfig};
use muninn::knowledge::catalog::text;
use muninn::knowledge::ingest::{Counts, Ingest, Phase, Progress, Summary, ingest};
use muninn::knowledge::source::{Source, mapping};
use muninn::wiring::{Models, models};

use super::transfer::say;

#[derive(Args, Debug)]
pub(super) struct IngestArgs {
    /// A folder of documents, or files: .md, .txt, .html, .pdf; .jsonl, .csv
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// How records become nodes: a TOML file, or `archives`, which is built in
    #[arg(long)]
    mapping: Option<String>,
    /// What the source is called; unset for the name of the path
    #[arg(long = "as", value_name = "NAME")]
    name: Option<String>,
    /// Channels that may see it, by their ids; unset for everybody
    #[arg(long, value_delimiter = ',')]
    channels: Vec<String>,
    /// Read and count, and write nothing
    #[arg(long)]
    dry_run: bool,
}

/// Ingests, and says what came of it.
pub(super) async fn run(config: &Config, args: IngestArgs) -> anyhow::Result<ExitCode> {
    let mapping = args.mapping.as_deref().map(mapping).transpose()?;
    let source = Source::find(&args.paths, args.name.as_deref(), mapping)?;
    let name = source.name.clone();
    let Models { chat: _, embedder } = models(config)?;
    let store = graph::open(&patient(config)).await?;
    let paths = args.paths.iter().map(|path| path.display().to_string());
    let mut channels = args.channels;
    channels.sort_unstable();
    channels.dedup();
    let what = Ingest {
        source,
        paths: paths.collect(),
        channels,
        data_dir: &config.data_dir,
        is_dry: args.dry_run,
    };
    let bar = bar();
    let done = ingest(&store, &Arc::new(embedder), what, &mut |far| {
        show(&bar, far)
    })
    .await;
    store.close().await?;
    bar.finish_and_clear();
    say(&in_words(&name, &done?, args.dry_run))
}

/// How long a batch may take at least: it is far more than a turn, for which `GRAPH_TIMEOUT` is
/// made.
const PATIENCE: Duration = Duration::from_secs(60);

fn patient(config: &Config) -> GraphConfig {
    GraphConfig {
        timeout: config.graph.timeout.max(PATIENCE),
        ..config.graph.clone()
    }
}

fn bar() -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{wide_bar} {bytes}/{total_bytes} {msg} {eta}");
    ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn show(bar: &ProgressBar, far: Progress) {
    let (done, total) = far.bytes;
    bar.set_length(total);
    bar.set_position(done);
    bar.set_message(match far.phase {
        Phase::Reading => format!(
            "{}, {}",
            counted(far.records, "record"),
            counted(far.chunks, "chunk")
        ),
        Phase::Exchanging => "exchanging the versions".to_owned(),
    });
}

fn in_words(name: &str, summary: &Summary, is_dry: bool) -> String {
    let Counts {
        new,
        changed,
        unchanged,
        removed,
    } = summary.counts;
    let head = match (is_dry, summary.is_same) {
        (true, _) => format!("{name} would have"),
        (false, true) => format!("{name} stays at version {}:", summary.version),
        (false, false) => format!("{name} is at version {} now:", summary.version),
    };
    let rejected = summary.rejected;
    let mut lines = vec![format!(
        "{head} {new} new, {changed} changed, {unchanged} unchanged, {removed} removed, {rejected} refused."
    )];
    let chunks = counted(summary.chunks, "chunk");
    if is_dry {
        lines.push(format!("To be embedded: {chunks}. Nothing was written."));
    } else {
        let links = counted(summary.links, "relationship");
        lines.push(format!("Embedded: {chunks}. Created: {links}."));
    }
    for (what, count, noun) in [
        (
            "Found by words only, since the embedder knows none of them",
            summary.without_vector,
            "chunk",
        ),
        ("To records that are not there", summary.dangling, "link"),
        ("Cut out of the hierarchy", summary.circles, "circle"),
        ("Left alone, of other kinds", summary.skipped, "file"),
    ] {
        if count > 0 {
            lines.push(format!("{what}: {}.", counted(count, noun)));
        }
    }
    lines.extend(
        summary
            .examples
            .iter()
            .map(|example| format!("refused: {example}")),
    );
    if let Some(path) = &summary.rejects {
        lines.push(format!("All that was refused: {}", path.display()));
    }
    lines.join("\n")
}

/// Shows the sources.
pub(super) async fn catalog(config: &Config) -> anyhow::Result<ExitCode> {
    let Models { chat: _, embedder } = models(config)?;
    let store = graph::open(&patient(config)).await?;
    let sources = store.ingesting().sources().await?;
    store.close().await?;
    if sources.is_empty() {
        return say(
            "Nothing was ingested yet. `muninn ingest PATH` takes in documents and records.",
        );
    }
    say(text(&sources, &embedder).trim_end())
}
