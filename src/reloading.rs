//! Prompts, tools and weights of a team's own, read again when their files change.
//!
//! They are replaced together or not at all: where one of them is broken, those read before stay in
//! use. A turn that is under way keeps what it began with.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use muninn_platform::in_one_line;
use tokio::sync::Notify;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::agent::prompts::Prompts;
use crate::agent::tools::Toolbox;
use crate::conversation::bot::Bot;
use crate::graph::GraphStore;
use crate::knowledge::search::{Searcher, Weights};
use crate::wiring::{Wired, WiringError};

/// How often the files are looked at. What changed is read when it has not changed for as long, so
/// that no half-written file is.
const LOOK: Duration = Duration::from_secs(2);

/// What was last seen of the files: when they changed, and their sizes.
type Seen = BTreeMap<PathBuf, (Option<SystemTime>, u64)>;

/// Reads the files again, and gives them to the parts that use them.
#[derive(Debug)]
pub struct Reloading {
    folder: Option<PathBuf>,
    bot: Arc<Bot>,
    store: Arc<GraphStore>,
    searcher: Arc<Searcher>,
    /// Somebody wants it now.
    asked: Notify,
    problem: Mutex<Option<String>>,
}

impl Reloading {
    /// Keeps a bot's files in `folder` current, until the guard is dropped.
    pub fn start(folder: Option<&Path>, wired: &Wired) -> (Arc<Self>, DropGuard) {
        let reloading = Arc::new(Self {
            folder: folder.map(Path::to_owned),
            bot: Arc::clone(&wired.bot),
            store: Arc::clone(&wired.store),
            searcher: Arc::clone(&wired.searcher),
            asked: Notify::new(),
            problem: Mutex::new(None),
        });
        let done = CancellationToken::new();
        let (running, until) = (Arc::clone(&reloading), done.clone());
        tokio::spawn(async move { running.run(until).await });
        (reloading, done.drop_guard())
    }

    /// Has them read again now.
    pub fn ask(&self) {
        self.asked.notify_one();
    }

    /// Why what is in the files is not in use; nothing if it is.
    pub fn problem(&self) -> Option<String> {
        let problem = self.problem.lock().unwrap_or_else(PoisonError::into_inner);
        problem.clone()
    }

    /// Looks at the files until `done`.
    async fn run(&self, done: CancellationToken) {
        let Some(folder) = &self.folder else {
            return;
        };
        let mut in_use = look(folder).await;
        let mut last = in_use.clone();
        loop {
            let is_asked = tokio::select! {
                () = done.cancelled() => return,
                () = self.asked.notified() => true,
                () = tokio::time::sleep(LOOK) => false,
            };
            let seen = look(folder).await;
            let is_settled = seen == last;
            if is_asked || (is_settled && seen != in_use) {
                self.reload().await;
                in_use = seen.clone();
            }
            last = seen;
        }
    }

    async fn reload(&self) {
        let (folder, store) = (self.folder.clone(), Arc::clone(&self.store));
        let read = tokio::task::spawn_blocking(move || read(folder.as_deref(), store)).await;
        let problem = match read {
            Ok(Ok((prompts, toolbox, weights))) => {
                self.bot.use_files(&Arc::new(prompts), Arc::new(toolbox));
                self.searcher.weigh_by(weights);
                tracing::info!("prompts, tools and weights were read again");
                metrics::counter!("muninn_reloads_total", "outcome" => "done").increment(1);
                None
            }
            Ok(Err(error)) => Some(in_one_line(&error)),
            Err(error) => Some(error.to_string()),
        };
        if let Some(problem) = &problem {
            tracing::error!(
                problem,
                "prompts, tools and weights stay as they were read before"
            );
            metrics::counter!("muninn_reloads_total", "outcome" => "refused").increment(1);
        }
        *self.problem.lock().unwrap_or_else(PoisonError::into_inner) = problem;
    }
}

fn read(
    folder: Option<&Path>,
    store: Arc<GraphStore>,
) -> Result<(Prompts, Toolbox, Weights), WiringError> {
    let prompts = Prompts::load(folder)?;
    let toolbox = Toolbox::load(folder, &prompts, store)?;
    Ok((prompts, toolbox, Weights::load(folder)?))
}

/// The files of the folder and of its tools. What cannot be looked at is as if it were not there: reading
/// it says why.
async fn look(folder: &Path) -> Seen {
    let folders = [folder.to_owned(), folder.join("tools")];
    let looked = tokio::task::spawn_blocking(move || {
        let entries = folders
            .iter()
            .filter_map(|folder| std::fs::read_dir(folder).ok());
        let files = entries.flatten().flatten().filter_map(|entry| {
            let found = std::fs::metadata(entry.path()).ok()?;
            let file = found.is_file();
            file.then(|| (entry.path(), (found.modified().ok(), found.len())))
        });
        files.collect()
    });
    looked.await.unwrap_or_default()
}
