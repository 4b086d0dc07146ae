//! `muninn export` and `muninn import`.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write as _};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use indicatif::{ProgressBar, ProgressStyle};
use muninn::config::Config;
use muninn::files::private_file;
use muninn::graph;
use muninn::graph::transfer::{self, Progress};

/// Writes the whole graph to `path`, whole or not at all.
pub(super) async fn export(config: &Config, path: &Path) -> anyhow::Result<ExitCode> {
    let store = graph::open(&config.graph).await?;
    let beside = path.with_extension("partial");
    let file = private_file()
        .write(true)
        .truncate(true)
        .open(&beside)
        .with_context(|| format!("cannot write {}", beside.display()))?;
    let mut out = BufWriter::new(file);
    let bar = bar();
    let exported = transfer::export(&*store, &mut out, &mut |progress| show(&bar, progress)).await;
    store.close().await?;
    bar.finish_and_clear();
    exported?;
    out.flush()?;
    out.get_ref().sync_all()?;
    std::fs::rename(&beside, path).with_context(|| format!("cannot write {}", path.display()))?;
    say(&format!(
        "{} nodes and relationships written to {}",
        bar.position(),
        path.display()
    ))
}

/// Reads `path` into the graph.
pub(super) async fn import(
    config: &Config,
    path: &Path,
    replace: bool,
) -> anyhow::Result<ExitCode> {
    let open = || File::open(path).with_context(|| format!("cannot read {}", path.display()));
    transfer::check(&mut BufReader::new(open()?))
        .with_context(|| format!("cannot import {}", path.display()))?;
    let store = graph::open(&config.graph).await?;
    let bar = bar();
    let mut lines = BufReader::new(open()?);
    let imported = transfer::import(
        &*store,
        &mut lines,
        &mut |progress| show(&bar, progress),
        replace,
    )
    .await;
    store.close().await?;
    bar.finish_and_clear();
    imported.with_context(|| format!("cannot import {}", path.display()))?;
    say(&format!(
        "{} nodes and relationships read from {}",
        bar.position(),
        path.display()
    ))
}

pub(super) fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} {eta}");
    ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn show(bar: &ProgressBar, progress: Progress) {
    bar.set_length(progress.total);
    bar.set_position(progress.done);
}

pub(super) fn say(text: &str) -> anyhow::Result<ExitCode> {
    writeln!(std::io::stdout().lock(), "{text}")?;
    Ok(ExitCode::SUCCESS)
}
