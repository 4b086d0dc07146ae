//! `muninn export` and `muninn import`.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write as _};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use indicatif::{ProgressBar, ProgressStyle};
use muninn::config::Config;
use muninn::graph::transfer::{self, Checked, Progress, TransferError};
use muninn::graph::{self, GraphStore, Staged};
use private_files::private_file;

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
    let file = ImportFile {
        path,
        replace,
        checked: transfer::check(&mut BufReader::new(read(path)?))
            .with_context(|| format!("cannot import {}", path.display()))?,
    };
    // It stays open, so that nobody uses the graph meanwhile.
    let store = graph::open_unfinished(&config.graph).await?;
    let imported = match Staged::beside(&config.graph).await {
        Ok(Some(staged)) => file.take_the_place_of(&*store, staged).await,
        Ok(None) => file
            .carry_to(&*store, replace)
            .await
            .map(|done| (done, None)),
        Err(error) => Err(error.into()),
    };
    store.close().await?;
    let (done, staged) = imported?;
    if let Some(staged) = staged {
        staged.publish().await?;
    }
    say(&format!(
        "{done} nodes and relationships read from {}",
        path.display()
    ))
}

fn read(path: &Path) -> anyhow::Result<File> {
    File::open(path).with_context(|| format!("cannot read {}", path.display()))
}

/// A whole export, and whether it may replace what there is.
struct ImportFile<'a> {
    path: &'a Path,
    replace: bool,
    checked: Checked,
}

impl ImportFile<'_> {
    async fn carry_to(&self, store: &dyn GraphStore, replace: bool) -> anyhow::Result<u64> {
        let bar = bar();
        let mut lines = BufReader::new(read(self.path)?);
        let mut progress = |progress| show(&bar, progress);
        let imported = transfer::import(store, &mut lines, &self.checked, &mut progress, replace);
        let imported = imported.await;
        bar.finish_and_clear();
        imported.with_context(|| format!("cannot import {}", self.path.display()))?;
        Ok(bar.position())
    }

    /// Fills the staged graph, unless the one in use is not empty and must stay.
    async fn take_the_place_of(
        &self,
        store: &dyn GraphStore,
        staged: Staged,
    ) -> anyhow::Result<(u64, Option<Staged>)> {
        let filled = async {
            if !self.replace && store.size().await?.0 > 0 {
                return Err(TransferError::NotEmpty)
                    .with_context(|| format!("cannot import {}", self.path.display()));
            }
            self.carry_to(&*staged.store, true).await
        };
        match filled.await {
            Ok(done) => Ok((done, Some(staged))),
            Err(error) => {
                staged.discard().await?;
                Err(error)
            }
        }
    }
}

/// `muninn discard-damaged`: removes what was set aside of a damaged log.
pub(super) fn discard_damaged(config: &Config) -> anyhow::Result<ExitCode> {
    let removed = graph::discard_set_aside(&config.graph)?;
    if removed.is_empty() {
        return say("Nothing was set aside.");
    }
    let removed: Vec<String> = removed
        .iter()
        .map(|path| format!("removed {}", path.display()))
        .collect();
    say(&removed.join("\n"))
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
