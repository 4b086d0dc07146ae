//! Reloads a team's custom prompts, tools and weights, and the settings, when their files change.
//!
//! Prompts, tools and weights are replaced together or not at all: if one of them is invalid, the
//! previous ones stay in use. A running turn keeps what it began with. The implementation of
//! [`Settings`] decides which settings can be reloaded.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use muninn_platform::{in_one_line, join_task};
use tokio::sync::Notify;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{App, WiringError};
use crate::agent::mcp::McpServers;
use crate::agent::prompts::Prompts;
use crate::agent::tools::Toolbox;
use crate::conversation::bot::Bot;
use crate::graph::GraphStore;
use crate::knowledge::search::nodes::NodeSettings;
use crate::knowledge::search::{Searcher, Weights};

/// How often the files are checked. A change is read only when the file has not changed for this long,
/// so that no incomplete file is read.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// The state of the files: modification times and sizes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSnapshot(BTreeMap<PathBuf, (Option<SystemTime>, u64)>);

impl FileSnapshot {
    /// Looks at the files of a folder with prompts, of its tools and of the settings, and at the file of MCP servers. A file
    /// that cannot be examined counts as missing; reading it reports why.
    pub fn look(folder: Option<&Path>, settings: &dyn Settings, servers: &Path) -> Self {
        let folders = folder.map(|folder| [folder.join("tools"), folder.to_owned()]);
        let folders = folders.into_iter().flatten();
        let entries = folders.filter_map(|folder| std::fs::read_dir(folder).ok());
        let files = entries.flatten().flatten().map(|entry| entry.path());
        let files = files.chain(settings.files()).chain([servers.to_owned()]);
        let seen = files.filter_map(|path| {
            let found = std::fs::metadata(&path).ok()?;
            let file = found.is_file();
            file.then(|| (path, (found.modified().ok(), found.len())))
        });
        Self(seen.collect())
    }
}

/// Settings that are reloaded too.
pub trait Settings: std::fmt::Debug + Send + Sync {
    /// The files from which they are read.
    fn files(&self) -> Vec<PathBuf>;

    /// Reloads them, and applies those that can be applied at once.
    fn read_again(&self) -> SettingsRead;
}

/// The result of reloading settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SettingsRead {
    /// Why the content of the files is not in use.
    pub problems: Vec<String>,
    /// Names of changed settings that only the next start applies.
    pub waiting: Vec<String>,
    /// Names of changed settings that are in use.
    pub used: Vec<String>,
}

/// Reloads the files, and passes them to the parts that use them.
#[derive(Debug)]
pub struct Reloading {
    folder: Option<PathBuf>,
    bot: Arc<Bot>,
    store: Arc<GraphStore>,
    searcher: Arc<Searcher>,
    mcp: Arc<McpServers>,
    settings: Arc<dyn Settings>,
    /// Notified when somebody requests a reload.
    asked: Notify,
    problem: Mutex<Option<String>>,
    servers_problem: Mutex<Option<String>>,
    settings_read: Mutex<SettingsRead>,
}

impl Reloading {
    /// Keeps a bot's files in `folder` and its settings current, until the guard is dropped. `at_start` is what the files were
    /// when they were read: the graph may have been opened since, which can take long.
    pub fn start(
        folder: Option<&Path>,
        settings: Arc<dyn Settings>,
        at_start: FileSnapshot,
        app: &App,
    ) -> (Arc<Self>, DropGuard) {
        let reloading = Arc::new(Self {
            folder: folder.map(Path::to_owned),
            bot: Arc::clone(&app.bot),
            store: Arc::clone(&app.store),
            searcher: Arc::clone(&app.searcher),
            mcp: Arc::clone(&app.mcp_servers),
            settings,
            asked: Notify::new(),
            problem: Mutex::new(None),
            servers_problem: Mutex::new(None),
            settings_read: Mutex::default(),
        });
        let done = CancellationToken::new();
        let (running, until) = (Arc::clone(&reloading), done.clone());
        tokio::spawn(async move { running.run(at_start, until).await });
        (reloading, done.drop_guard())
    }

    /// Requests a reload now.
    pub fn ask(&self) {
        self.asked.notify_one();
    }

    /// The result of the last reload of the settings.
    pub fn settings_read(&self) -> SettingsRead {
        let read = self.settings_read.lock();
        read.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Why the files of prompts, tools and weights are not in use; `None` if they are.
    pub fn problem(&self) -> Option<String> {
        let problem = self.problem.lock().unwrap_or_else(PoisonError::into_inner);
        problem.clone()
    }

    /// Why the file of MCP servers is not in use; `None` if it is.
    pub fn servers_problem(&self) -> Option<String> {
        let problem = self.servers_problem.lock();
        problem.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Checks the files until `done`.
    async fn run(&self, mut in_use: FileSnapshot, done: CancellationToken) {
        let mut last = in_use.clone();
        loop {
            let is_asked = tokio::select! {
                () = done.cancelled() => return,
                () = self.asked.notified() => true,
                () = tokio::time::sleep(POLL_INTERVAL) => false,
            };
            let seen = self.look().await;
            let is_settled = seen == last;
            if is_asked || (is_settled && seen != in_use) {
                self.read_settings().await;
                self.read_servers().await;
                if self.folder.is_some() {
                    self.reload().await;
                }
                in_use = seen.clone();
            }
            last = seen;
        }
    }

    async fn look(&self) -> FileSnapshot {
        let (folder, settings) = (self.folder.clone(), Arc::clone(&self.settings));
        let servers = self.mcp.file().path.clone();
        let looked = tokio::task::spawn_blocking(move || {
            FileSnapshot::look(folder.as_deref(), &*settings, &servers)
        });
        looked.await.unwrap_or_default()
    }

    async fn read_settings(&self) {
        let settings = Arc::clone(&self.settings);
        let read = tokio::task::spawn_blocking(move || settings.read_again()).await;
        let read = read.unwrap_or_else(|error| SettingsRead {
            problems: vec![error.to_string()],
            ..SettingsRead::default()
        });
        let SettingsRead {
            problems,
            waiting,
            used,
        } = &read;
        for problem in problems {
            tracing::error!(problem, "settings are not right");
        }
        if !used.is_empty() {
            tracing::info!("settings were read again: {}", used.join(", "));
        }
        if !waiting.is_empty() {
            tracing::warn!("settings need a restart: {}", waiting.join(", "));
        }
        let mut last = self
            .settings_read
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *last = read;
    }

    /// Starts and stops MCP servers according to their file.
    async fn read_servers(&self) {
        let file = self.mcp.file().clone();
        let read = join_task(tokio::task::spawn_blocking(move || file.read())).await;
        let problem = match read {
            Ok(servers) => {
                if self.mcp.replace(servers) {
                    tracing::info!("the file of MCP servers was read again");
                }
                None
            }
            Err(error) => Some(in_one_line(&error)),
        };
        if let Some(problem) = &problem {
            tracing::error!(problem, "MCP servers stay as they were");
        }
        *self
            .servers_problem
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = problem;
    }

    async fn reload(&self) {
        let (folder, store) = (self.folder.clone(), Arc::clone(&self.store));
        let read = tokio::task::spawn_blocking(move || read(folder.as_deref(), store)).await;
        let problem = match read {
            Ok(Ok(files)) => {
                let (prompts, toolbox) = (Arc::new(files.prompts), Arc::new(files.toolbox));
                self.bot.use_files(&prompts, toolbox);
                self.searcher.weigh_by(files.weights);
                self.searcher.use_nodes(files.nodes);
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

/// What is reloaded.
struct Files {
    prompts: Prompts,
    toolbox: Toolbox,
    weights: Weights,
    nodes: NodeSettings,
}

fn read(folder: Option<&Path>, store: Arc<GraphStore>) -> Result<Files, WiringError> {
    let prompts = Prompts::load(folder)?;
    Ok(Files {
        toolbox: Toolbox::load(folder, &prompts, store)?,
        weights: Weights::load(folder)?,
        nodes: NodeSettings::load(folder)?,
        prompts,
    })
}
