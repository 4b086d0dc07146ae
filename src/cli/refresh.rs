//! `muninn source refresh`, and the automatic refresh while a bot runs.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use chrono::Utc;
use muninn::config::Config;
use muninn::knowledge::access::EVERYBODY;
use muninn::knowledge::origins::{
    Configured, Due, LastRefresh, Origin, RefreshError, RefreshProgress, Refreshed, Refresher, load,
};
use muninn::llm::Embedder;
use muninn::wiring::{Models, models};
use muninn_platform::{count_with_noun, in_one_line};
use serde_json::{Value, json};
use tokio::sync::OnceCell;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::context::{Context, RunningProcess};
use super::exit::Exit;
use super::freshness::freshness;
use super::ingest::summary::{in_words, patient, removed_as_json, show, summary_as_json};
use super::output::{Bar, Output};
use super::progress::Unit;

/// Interval of checks. A changed folder is read when it has not changed for this long, so that no
/// file is read half-written.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// Checking a folder takes at most one part in so many of the time.
const CHECK_TIME_FACTOR: u32 = 20;

/// Refreshes a source now, or all of them.
pub(super) async fn run(at: &Context, name: Option<&str>, is_json: bool) -> anyhow::Result<Exit> {
    let config = &at.config;
    let all = load(&config.sources_file, &config.data_dir)?;
    let path = config.sources_file.path.display();
    let is_wanted = |of: &&Configured| name.is_none_or(|name| of.name == name);
    let wanted: Vec<&Configured> = all.iter().filter(is_wanted).collect();
    if wanted.is_empty() {
        let names: Vec<&str> = all.iter().map(|of| of.name.as_str()).collect();
        match (name, names.as_slice()) {
            (_, []) => bail!("{path} names no source; docs/knowledge.md shows how"),
            (Some(name), _) => bail!(
                "{path} has no section [{name}]; there are {}",
                names.join(", ")
            ),
            (None, _) => {}
        }
    }
    let Models { chat: _, embedder } = models(config)?;
    let embedder = Arc::new(embedder);
    let mut is_done = true;
    let mut told_of = Vec::new();
    for of in wanted {
        let bar = at.out.bar(Unit::Bytes);
        let done = refresh(at, of, &embedder, &bar).await;
        bar.clear();
        is_done &= done.is_ok();
        let done = done.map_err(|error| in_one_line(error.as_ref()));
        if is_json {
            told_of.push(as_json(&of.name, done));
            continue;
        }
        let line = match done {
            Ok(refreshed) => told(of, &refreshed),
            Err(error) => format!("{} was not refreshed: {error}", of.name),
        };
        at.out.line(&line).await?;
    }
    if is_json {
        at.out.say_json(&told_of).await?;
    }
    Ok(Exit::of(is_done))
}

fn as_json(name: &str, done: Result<Refreshed, String>) -> Value {
    let (refreshed, error) = match done {
        Ok(refreshed) => (refreshed, None),
        Err(error) => (Refreshed::default(), Some(error)),
    };
    let sources = refreshed.sources.iter();
    let sources = sources.map(|(name, summary)| summary_as_json(name, summary, false));
    json!({
        "name": name,
        "error": error,
        "sources": sources.collect::<Vec<_>>(),
        "removed": removed_as_json(&refreshed.removed),
        "note": refreshed.note,
    })
}

async fn refresh(
    at: &Context,
    of: &Configured,
    embedder: &Arc<Embedder>,
    bar: &Bar,
) -> anyhow::Result<Refreshed> {
    let store = at.graph_as(&patient(&at.config)).await?;
    let refresher = Refresher {
        store: &store,
        embedder,
        data_dir: &at.config.data_dir,
    };
    let mut tell = |step| match step {
        RefreshProgress::Fetching => bar.show(0, 0, &format!("{}: asking git", of.name)),
        RefreshProgress::Pages(read, most) => {
            bar.show(0, 0, &format!("{}: page {read}, at most {most}", of.name));
        }
        RefreshProgress::Ingesting(far) => show(bar, far),
    };
    let done = refresher.refresh(of, &mut tell).await;
    if done.as_ref().is_ok_and(Refreshed::has_changed) {
        at.prepare_search(&store).await;
    }
    store.close().await?;
    Ok(done?)
}

fn told(of: &Configured, refreshed: &Refreshed) -> String {
    let name = &of.name;
    let mut lines = Vec::new();
    for (source, summary) in &refreshed.sources {
        lines.push(in_words(source, summary, false));
        if of.channels.is_empty() && !summary.channels.is_empty() {
            lines.push(format!(
                "It stays so; `channels = [\"{EVERYBODY}\"]` opens it to everybody."
            ));
        }
    }
    for (name, chunks) in &refreshed.removed {
        let chunks = count_with_noun(*chunks, "chunk");
        lines.push(format!(
            "{name} was removed, with {chunks}: it is gone where it came from."
        ));
    }
    if lines.is_empty() {
        lines.push(format!("{name} has not changed."));
    }
    lines.extend(refreshed.note.iter().map(|note| format!("{name}: {note}.")));
    lines.join("\n")
}

/// Refreshes what is due, in sequence, until cancelled. The sources file is read again each time;
/// while it is invalid nothing is refreshed, and the log and `doctor` say so.
pub(super) async fn keep_fresh(running: Arc<RunningProcess>, end: CancellationToken) {
    let at = Context {
        config: running.config.clone(),
        out: Output::Nowhere,
        running: Some(running),
    };
    let embedder = OnceCell::new();
    // A site may take hours; folders do not wait for it.
    let lane = |kind| Lane {
        kind,
        at: &at,
        embedder: &embedder,
        seen: HashMap::new(),
        problem: None,
    };
    let lanes = [LaneKind::Folders, LaneKind::Repositories, LaneKind::Sites].map(lane);
    tokio::select! {
        () = end.cancelled() => {}
        _ = futures::future::join_all(lanes.map(Lane::keep)) => {}
    }
}

/// The last check of folders.
#[derive(Debug)]
struct FolderCheck {
    mark: Option<String>,
    /// Time of the next check.
    next: Instant,
}

/// Sources that are refreshed in sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LaneKind {
    Folders,
    Repositories,
    Sites,
}

impl LaneKind {
    fn of(origin: &Origin) -> Self {
        match origin {
            Origin::Folder(_) => Self::Folders,
            Origin::Git(_) => Self::Repositories,
            Origin::Site(_) => Self::Sites,
        }
    }

    /// The name in metrics.
    fn name(self) -> &'static str {
        match self {
            Self::Folders => "folders",
            Self::Repositories => "repositories",
            Self::Sites => "sites",
        }
    }
}

struct Lane<'a> {
    kind: LaneKind,
    at: &'a Context,
    /// Created for the first source of any lane: it takes some memory.
    embedder: &'a OnceCell<Arc<Embedder>>,
    seen: HashMap<String, FolderCheck>,
    /// The current error of the sources file, so that it is logged once.
    problem: Option<String>,
}

impl Lane<'_> {
    async fn keep(mut self) {
        loop {
            self.look().await;
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    async fn look(&mut self) {
        let config = &self.at.config;
        let all = match load(&config.sources_file, &config.data_dir) {
            Ok(all) => all,
            Err(error) => {
                let problem = in_one_line(&error);
                if self.kind == LaneKind::Folders && self.problem.as_ref() != Some(&problem) {
                    tracing::error!(problem, "sources are not refreshed");
                }
                self.problem = Some(problem);
                return;
            }
        };
        self.problem = None;
        let own = |of: &&Configured| LaneKind::of(&of.origin) == self.kind;
        let own: Vec<&Configured> = all.iter().filter(own).collect();
        self.count_failing(&own);
        for of in &own {
            let last = LastRefresh::read(&config.data_dir, &of.name);
            let is_due = match of.due(last.as_ref(), Utc::now()) {
                Due::Now => true,
                Due::NotYet => false,
                Due::IfChanged => self.has_changed(of, last.and_then(|last| last.mark)).await,
            };
            if is_due {
                self.refresh(of).await;
                // The next one may take hours.
                self.count_failing(&own);
            }
        }
    }

    /// Counts the sources that could not be read the last time.
    fn count_failing(&self, own: &[&Configured]) {
        let data_dir = &self.at.config.data_dir;
        let last = own.iter().map(|of| LastRefresh::read(data_dir, &of.name));
        let failing = last.flatten().filter(|last| last.failures > 0).count();
        let failing = u32::try_from(failing).unwrap_or(u32::MAX);
        metrics::gauge!("muninn_sources_failing", "kind" => self.kind.name()).set(failing);
    }

    /// Whether a folder differs from what was read, and has settled.
    async fn has_changed(&mut self, of: &Configured, read: Option<String>) -> bool {
        let before = self.seen.get(&of.name);
        if before.is_some_and(|seen| Instant::now() < seen.next) {
            return false;
        }
        let began = Instant::now();
        let looking = of.clone();
        let looked = tokio::task::spawn_blocking(move || looking.folder_mark());
        // A missing folder is refreshed too, which reports that it is missing.
        let mark = looked.await.ok().and_then(Result::ok);
        let is_settled = before.is_some_and(|before| before.mark == mark);
        let next = Instant::now() + began.elapsed() * CHECK_TIME_FACTOR;
        let is_changed = mark != read;
        self.seen
            .insert(of.name.clone(), FolderCheck { mark, next });
        is_settled && is_changed
    }

    async fn refresh(&self, of: &Configured) {
        let made = self.embedder.get_or_try_init(async || {
            let Models { chat: _, embedder } = models(&self.at.config)?;
            anyhow::Ok(Arc::new(embedder))
        });
        let done = match made.await {
            Ok(embedder) => refresh(self.at, of, embedder, &self.at.out.bar(Unit::Bytes)).await,
            Err(error) => Err(error),
        };
        let outcome = match &done {
            Ok(_) => "done",
            Err(error) if is_busy(error) => return,
            Err(_) => "failed",
        };
        metrics::counter!("muninn_refreshes_total", "outcome" => outcome).increment(1);
        match done {
            Ok(refreshed) => log(&of.name, &refreshed),
            Err(error) => {
                let error = in_one_line(error.as_ref());
                tracing::warn!(source = of.name, error, "not refreshed");
            }
        }
    }
}

fn is_busy(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<RefreshError>();
    error.is_some_and(RefreshError::is_busy)
}

fn log(origin: &str, refreshed: &Refreshed) {
    for (source, summary) in &refreshed.sources {
        if !summary.is_same {
            let version = summary.version;
            tracing::info!(source, version, "refreshed");
            for warning in &summary.warnings {
                tracing::warn!(source, warning, "of a document something was left out");
            }
        }
    }
    for (source, chunks) in &refreshed.removed {
        tracing::info!(
            source,
            chunks,
            origin,
            "removed: it is gone where it came from"
        );
    }
}

/// Returns a warning that a removed source will be read again; empty if it will not.
pub(super) async fn comes_back(config: &Config, name: &str) -> String {
    if !is_configured(config, name).await {
        return String::new();
    }
    let path = config.sources_file.path.display();
    format!(
        " It comes back with the next refresh: take [{name}] out of {path} too, if that is not meant."
    )
}

/// Whether the sources file has a section of this name.
pub(super) async fn is_configured(config: &Config, name: &str) -> bool {
    let all = freshness(config).await.unwrap_or_default();
    all.iter().any(|fresh| fresh.configured.name == name)
}
