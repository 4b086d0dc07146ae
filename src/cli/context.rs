//! The environment of a command: its own graph, or that of the running process.

use std::ops::Deref;
use std::sync::Arc;

use muninn::agent::mcp::McpServers;
use muninn::config::Config;
use muninn::conversation::backfill::Backfills;
use muninn::graph::{self, GraphConfig, GraphStore, StoreError};
use muninn::knowledge::search::Searcher;
#[cfg(feature = "mcp")]
use muninn::mcp::Mcp;
use muninn::memory::{Archive, Recaller};
#[cfg(feature = "web")]
use muninn::web::Web;
use muninn::wiring::reloading::Reloading;
use muninn::wiring::{self, App, Models, WiringError, models, recaller};

use muninn_platform::Inbox;

use super::access_points::AccessPoints;
use super::output::Output;

/// A running process, as its commands see it.
#[derive(Clone, Debug)]
pub(super) struct RunningProcess {
    pub(super) config: Config,
    pub(super) store: Arc<GraphStore>,
    pub(super) archive: Arc<Archive>,
    pub(super) recaller: Arc<Recaller>,
    pub(super) searcher: Arc<Searcher>,
    pub(super) mcp_servers: Arc<McpServers>,
    pub(super) reloading: Arc<Reloading>,
    pub(super) backfills: Arc<Backfills>,
    /// Delivers to its bot.
    pub(super) inbox: Inbox,
    #[cfg(feature = "mcp")]
    pub(super) mcp: Arc<Mcp>,
    #[cfg(feature = "web")]
    pub(super) web: Option<Arc<Web>>,
}

impl RunningProcess {
    /// Returns the running process of this bot, with its inbox.
    #[cfg_attr(
        not(any(feature = "mcp", feature = "web")),
        expect(clippy::needless_pass_by_value, reason = "there are no access points")
    )]
    pub(super) fn of(
        config: &Config,
        app: App,
        reloading: Arc<Reloading>,
        backfills: Arc<Backfills>,
        inbox: Inbox,
        access_points: AccessPoints,
    ) -> Self {
        let AccessPoints {
            #[cfg(feature = "mcp")]
            mcp,
            #[cfg(feature = "web")]
            web,
        } = access_points;
        Self {
            config: config.clone(),
            store: app.store,
            archive: app.archive,
            recaller: app.recaller,
            searcher: app.searcher,
            mcp_servers: app.mcp_servers,
            reloading,
            backfills,
            inbox,
            #[cfg(feature = "mcp")]
            mcp,
            #[cfg(feature = "web")]
            web,
        }
    }
}

/// The environment of a command.
#[derive(Debug)]
pub(super) struct Context {
    pub(super) config: Config,
    pub(super) out: Output,
    /// `None`: the command has a process of its own.
    pub(super) running: Option<Arc<RunningProcess>>,
}

/// An open graph; a shared one stays open.
#[derive(Debug)]
pub(super) struct OpenGraph {
    store: Arc<GraphStore>,
    is_own: bool,
}

impl Deref for OpenGraph {
    type Target = Arc<GraphStore>;

    fn deref(&self) -> &Self::Target {
        &self.store
    }
}

impl OpenGraph {
    fn own(store: Arc<GraphStore>) -> Self {
        Self {
            store,
            is_own: true,
        }
    }

    /// Closes it, unless it is shared.
    pub(super) async fn close(self) -> Result<(), StoreError> {
        if self.is_own {
            self.store.close().await?;
        }
        Ok(())
    }
}

impl Context {
    /// Creates a context within this process alone.
    pub(super) fn here(config: Config) -> Self {
        Self {
            config,
            out: Output::Here,
            running: None,
        }
    }

    /// Returns the graph.
    ///
    /// # Errors
    /// Fails when it cannot be opened.
    pub(super) async fn graph(&self) -> Result<OpenGraph, StoreError> {
        match &self.running {
            Some(running) => Ok(running.graph()),
            None => Ok(OpenGraph::own(graph::open(&self.config.graph).await?)),
        }
    }

    /// Returns the graph, also one with an incomplete import.
    ///
    /// # Errors
    /// Fails when it cannot be opened.
    pub(super) async fn unfinished_graph(&self) -> Result<OpenGraph, StoreError> {
        match &self.running {
            Some(running) => Ok(running.graph()),
            None => {
                let store = graph::open_unfinished(&self.config.graph).await?;
                Ok(OpenGraph::own(store))
            }
        }
    }

    /// Returns the graph with other time-outs. A graph that several processes may have open is
    /// opened again for that.
    ///
    /// # Errors
    /// Fails when it cannot be opened.
    pub(super) async fn graph_as(&self, config: &GraphConfig) -> Result<OpenGraph, StoreError> {
        match &self.running {
            Some(running) if !running.store.is_shared() => Ok(running.graph()),
            Some(_) | None => Ok(OpenGraph::own(graph::open(config).await?)),
        }
    }

    /// Returns what recalls.
    ///
    /// # Errors
    /// Fails when the calibration is damaged, or a model's URL is invalid.
    pub(super) fn recaller(&self) -> Result<Arc<Recaller>, WiringError> {
        if let Some(running) = &self.running {
            return Ok(Arc::clone(&running.recaller));
        }
        let Models { chat: _, embedder } = models(&self.config)?;
        Ok(Arc::new(recaller(&self.config, embedder)?))
    }

    /// Returns what searches in a graph.
    ///
    /// # Errors
    /// As [`Context::recaller`]; also fails when the weights are invalid.
    pub(super) fn searcher(&self, store: &OpenGraph) -> Result<Arc<Searcher>, WiringError> {
        if let Some(running) = &self.running {
            return Ok(Arc::clone(&running.searcher));
        }
        let searcher = wiring::searcher(&self.config, Arc::clone(store), self.recaller()?)?;
        Ok(Arc::new(searcher))
    }

    /// Builds the index files of changed sources. Failures are only logged: the next question tries
    /// again.
    pub(super) async fn prepare_search(&self, store: &OpenGraph) {
        match self.searcher(store) {
            Ok(searcher) => searcher.prepare().await,
            Err(error) => tracing::warn!(
                error = &error as &dyn std::error::Error,
                "what was ingested is made ready for searching at the next question only"
            ),
        }
    }
}

impl RunningProcess {
    fn graph(&self) -> OpenGraph {
        OpenGraph {
            store: Arc::clone(&self.store),
            is_own: false,
        }
    }
}
