//! `muninn export` and `muninn import`.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::{Context as _, bail};
use muninn::config::Config;
use muninn::conversation::audit::{Audit, AuditAction, OPERATOR};
use muninn::graph::transfer::{self, CheckedExport, Progress, TransferError};
use muninn::graph::{self, GraphStore, StagedGraph};

use super::admin;
use super::args::transfer::{ExportArgs, ExportFormat};
use super::context::Context;
use super::data_owner::refuse_root;
use super::exit::Exit;
use super::output::{Bar, Output};
use super::own_copy::Partial;
use super::progress::Unit;
use super::{chat_export, own_copy};

/// Exports the whole graph, or the requested part. Ctrl-C leaves no part of a file.
pub(super) async fn export_as_wanted(at: &Context, args: &ExportArgs) -> anyhow::Result<Exit> {
    let exporting = export_part(at, args);
    if at.running.is_some() {
        // Whoever asked a running process for it ends the command, not that process.
        return exporting.await;
    }
    tokio::select! {
        exported = exporting => exported,
        _ = tokio::signal::ctrl_c() => bail!("interrupted; nothing was written"),
    }
}

async fn export_part(at: &Context, args: &ExportArgs) -> anyhow::Result<Exit> {
    match (&args.person, args.format) {
        (Some(_), ExportFormat::ChatJsonl) => {
            bail!(
                "--person writes what is kept of a person, and chat-jsonl what channels said: name one of them"
            )
        }
        (Some(person), ExportFormat::Graph) => own_copy::export(at, &args.file, person).await,
        (None, ExportFormat::Graph) if !args.channels.is_empty() => {
            bail!("--channels is for --format chat-jsonl: a graph is exported as a whole")
        }
        (None, ExportFormat::Graph) => export(at, &args.file).await,
        (None, ExportFormat::ChatJsonl) => {
            chat_export::export(at, &args.file, &args.channels).await
        }
    }
}

/// Writes the whole graph to `path`, atomically.
async fn export(at: &Context, path: &Path) -> anyhow::Result<Exit> {
    let store = at.graph().await?;
    let mut out = Partial::of(path)?;
    let bar = at.out.bar(Unit::Things);
    let mut count = 0;
    let exported = transfer::export(&store, &mut out, &mut |progress| {
        count = progress.done;
        show(&bar, progress);
    })
    .await;
    store.close().await?;
    bar.clear();
    exported?;
    out.publish()?;
    let audit = Audit::new(&at.config.data_dir);
    let things = usize::try_from(count).ok();
    let exported = audit.record_action(OPERATOR, AuditAction::Exported, "the whole graph", things);
    exported.await;
    let said = format!(
        "{count} nodes and relationships written to {}",
        path.display()
    );
    at.out.say(&said).await
}

/// Checks that nobody else works with the graph, which changes as a whole.
///
/// # Errors
/// Fails with the process that does.
async fn alone(config: &Config, command: &str) -> anyhow::Result<()> {
    if let Some(connection) = admin::connect(config).await? {
        bail!(
            "process {} has the graph open, and `muninn {command}` needs it for itself: end that process, run this again, and start it after that",
            connection.pid()
        );
    }
    Ok(())
}

/// Checks that no process with another data folder serves platforms with the graph.
///
/// # Errors
/// Fails with the platforms.
async fn unserved(store: &GraphStore) -> anyhow::Result<()> {
    let served = store.served_platforms().await?;
    if !served.is_empty() {
        bail!(
            "another muninn serves {} with this graph, and `muninn import` needs it for itself: end that process, run this again, and start it after that; one that was killed counts for 30 s more",
            named_platforms(&served).join(", ")
        );
    }
    Ok(())
}

/// Those of some platforms by which an operator knows the process. Each one that serves anything counts programs as served, and
/// terminals, of which it may have none.
fn named_platforms(served: &[String]) -> Vec<&str> {
    let without = |always: &[&str]| -> Vec<&str> {
        let served = served.iter().map(String::as_str);
        served.filter(|it| !always.contains(it)).collect()
    };
    let choices = [&["mcp", "terminal"][..], &["mcp"], &[]].map(without);
    let named = choices.into_iter().find(|it| !it.is_empty());
    named.unwrap_or_default()
}

/// Imports `path` into the graph.
pub(super) async fn import(config: &Config, path: &Path, replace: bool) -> anyhow::Result<Exit> {
    alone(config, "import").await?;
    refuse_root(config)?;
    let file = ImportFile {
        path,
        replace,
        checked: transfer::check(&mut BufReader::new(read(path)?))
            .with_context(|| format!("cannot import {}", path.display()))?,
    };
    // It stays open, so that nobody uses the graph meanwhile.
    let store = graph::open_unfinished(&config.graph).await?;
    let importing = async {
        unserved(&store).await?;
        match StagedGraph::beside(&config.graph).await? {
            Some(staged) => file.take_the_place_of(&store, staged).await,
            None => Ok((file.carry_to(&store, replace).await?, None)),
        }
    };
    let imported = importing.await;
    store.close().await?;
    let (done, staged) = imported?;
    if let Some(staged) = staged {
        staged.publish().await?;
    }
    let said = format!(
        "{done} nodes and relationships read from {}",
        path.display()
    );
    Output::Here.say(&said).await
}

fn read(path: &Path) -> anyhow::Result<File> {
    File::open(path).with_context(|| format!("cannot read {}", path.display()))
}

/// A complete export, and whether it may replace the existing graph.
struct ImportFile<'a> {
    path: &'a Path,
    replace: bool,
    checked: CheckedExport,
}

impl ImportFile<'_> {
    async fn carry_to(&self, store: &GraphStore, replace: bool) -> anyhow::Result<u64> {
        let bar = Output::Here.bar(Unit::Things);
        let mut count = 0;
        let mut lines = BufReader::new(read(self.path)?);
        let mut progress = |progress: Progress| {
            count = progress.done;
            show(&bar, progress);
        };
        let imported = transfer::import(store, &mut lines, &self.checked, &mut progress, replace);
        let imported = imported.await;
        bar.clear();
        imported.with_context(|| format!("cannot import {}", self.path.display()))?;
        Ok(count)
    }

    /// Fills the staged graph, unless the current one is not empty and must stay.
    async fn take_the_place_of(
        &self,
        store: &GraphStore,
        staged: StagedGraph,
    ) -> anyhow::Result<(u64, Option<StagedGraph>)> {
        let filled = async {
            if !self.replace && store.size().await?.0 > 0 {
                return Err(TransferError::NotEmpty)
                    .with_context(|| format!("cannot import {}", self.path.display()));
            }
            self.carry_to(&staged.store, true).await
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

/// `muninn discard-damaged`: removes what was set aside from a damaged log.
pub(super) async fn discard_damaged(config: &Config) -> anyhow::Result<Exit> {
    refuse_root(config)?;
    let removed = graph::discard_set_aside(&config.graph)?;
    if removed.is_empty() {
        return Output::Here.say("Nothing was set aside.").await;
    }
    let removed: Vec<String> = removed
        .iter()
        .map(|path| format!("removed {}", path.display()))
        .collect();
    Output::Here.say(&removed.join("\n")).await
}

fn show(bar: &Bar, progress: Progress) {
    bar.show(progress.done, progress.total, "");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_told_by_what_not_each_one_serves() {
        for (served, told) in [
            ("mcp slack terminal", "slack"),
            ("discord mcp slack terminal", "discord slack"),
            ("mcp terminal", "terminal"),
            ("mcp", "mcp"),
        ] {
            let served: Vec<String> = served.split(' ').map(str::to_owned).collect();
            assert_eq!(named_platforms(&served).join(" "), told);
        }
    }
}
