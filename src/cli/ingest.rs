//! `muninn ingest` and `muninn catalog`.

use muninn_platform::counted;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use muninn::config::Config;
use muninn::graph::GraphConfig;
use muninn::graph::ingest::SourceOverview;
use muninn::knowledge::catalog::{text, warnings};
use muninn::knowledge::ingest::{Counts, Ingest, Phase, Progress, Summary, ingest};
use muninn::knowledge::source::{Source, mapping};
use muninn::llm::Embedder;
use muninn::wiring::{Models, models};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::context::Context;
use super::open_commands::whole;
use super::output::{Bar, Exit, Unit};

#[derive(Args, Debug, Serialize, Deserialize)]
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

impl IngestArgs {
    /// With paths that mean the same in any folder.
    pub(super) fn with_whole_paths(self) -> io::Result<Self> {
        let paths = self.paths.iter().map(|path| whole(path));
        let mapping = self.mapping.map(|named| {
            let path = PathBuf::from(&named);
            match path.is_file() {
                true => whole(&path).map(|path| path.display().to_string()),
                false => Ok(named),
            }
        });
        Ok(Self {
            paths: paths.collect::<io::Result<_>>()?,
            mapping: mapping.transpose()?,
            ..self
        })
    }
}

/// Ingests, and says what came of it.
pub(super) async fn run(at: &Context, args: IngestArgs) -> anyhow::Result<Exit> {
    let config = &at.config;
    let mapping = args.mapping.as_deref().map(mapping).transpose()?;
    let source = Source::find(&args.paths, args.name.as_deref(), mapping)?;
    let name = source.name.clone();
    let Models { chat: _, embedder } = models(config)?;
    let store = at.graph_as(&patient(config)).await?;
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
    let bar = at.out.bar(Unit::Bytes);
    let done = ingest(&store, &Arc::new(embedder), what, &mut |far| {
        show(&bar, far)
    })
    .await;
    store.close().await?;
    bar.clear();
    at.out.say(&in_words(&name, &done?, args.dry_run)).await
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

fn show(bar: &Bar, far: Progress) {
    let (done, total) = far.bytes;
    let what = match far.phase {
        Phase::Reading => format!(
            "{}, {}",
            counted(far.records, "record"),
            counted(far.chunks, "chunk")
        ),
        Phase::Exchanging => "exchanging the versions".to_owned(),
    };
    bar.show(done, total, &what);
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

#[derive(Args, Debug, Serialize, Deserialize)]
pub(super) struct CatalogArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Shows the sources.
pub(super) async fn catalog(at: &Context, args: &CatalogArgs) -> anyhow::Result<Exit> {
    let Models { chat: _, embedder } = models(&at.config)?;
    let store = at.graph_as(&patient(&at.config)).await?;
    let sources = store.ingesting().sources().await?;
    store.close().await?;
    if args.json {
        let sources = sources.iter().map(|source| as_json(source, &embedder));
        return at.out.say_json(&sources.collect::<Vec<_>>()).await;
    }
    if sources.is_empty() {
        let nothing =
            "Nothing was ingested yet. `muninn ingest PATH` takes in documents and records.";
        return at.out.say(nothing).await;
    }
    at.out.say(text(&sources, &embedder).trim_end()).await
}

fn as_json(source: &SourceOverview, embedder: &Embedder) -> Value {
    let of = &source.of;
    json!({
        "name": source.name,
        "kind": of.kind,
        "version": source.version,
        "since": source.since,
        "paths": of.paths,
        "mapping": of.mapping,
        "channels": of.channels,
        "embedder": of.embedder,
        "records": of.records,
        "chunks": source.chunks,
        "rejected": of.rejected,
        "holder": source.holder,
        "warnings": warnings(source, embedder),
    })
}
