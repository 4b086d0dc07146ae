//! MCP servers whose tools are called (<https://modelcontextprotocol.io>). Their answers are text by others; their settings
//! file says what they may do.
#![cfg_attr(
    not(feature = "mcp"),
    allow(dead_code, reason = "the file is read, and nobody is called")
)]

mod settings;
mod state;

#[cfg(feature = "mcp")]
mod connection;
#[cfg(feature = "mcp")]
mod server;
#[cfg(feature = "mcp")]
mod tool;

#[cfg(not(feature = "mcp"))]
#[path = "mcp/without.rs"]
mod server;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::join_all;
use muninn_platform::AudienceId;
use tokio::time::{Instant, timeout_at};

use self::server::McpServer;
pub use self::settings::{McpFile, McpFileError, McpSettings};
pub use self::state::ServerState;
use super::tools::OutsideTool;

/// How long after the start a turn waits for servers that were not tried yet. Later turns wait for none.
const STARTUP_WAIT_TIMEOUT: Duration = Duration::from_secs(5);

/// The servers of the file, which are kept running. They can be [replaced](McpServers::replace) while a bot runs.
#[derive(Debug)]
pub struct McpServers {
    file: McpFile,
    servers: Mutex<Vec<Arc<McpServer>>>,
    started: Mutex<Instant>,
}

impl McpServers {
    /// Starts the servers of a file without waiting for any.
    ///
    /// # Errors
    /// Fails when the file cannot be used.
    pub fn start(file: McpFile) -> Result<Self, McpFileError> {
        let servers = file.read()?.into_iter().map(McpServer::start).map(Arc::new);
        Ok(Self {
            servers: Mutex::new(servers.collect()),
            started: Mutex::new(Instant::now()),
            file,
        })
    }

    pub fn file(&self) -> &McpFile {
        &self.file
    }

    /// Replaces the servers; those with unchanged settings continue to run. Returns whether anything changed.
    pub fn replace(&self, settings: Vec<McpSettings>) -> bool {
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        let same = settings
            .iter()
            .eq(servers.iter().map(|server| &*server.settings));
        if same {
            return false;
        }
        let before = std::mem::take(&mut *servers);
        let next = settings.into_iter().map(|settings| {
            let running = before.iter().find(|server| *server.settings == settings);
            running.map_or_else(|| Arc::new(McpServer::start(settings)), Arc::clone)
        });
        *servers = next.collect();
        *self.started.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        true
    }

    /// The tools that may be called in a channel.
    pub async fn offered_in(&self, channel: &AudienceId) -> Vec<Arc<dyn OutsideTool>> {
        let servers = self.all();
        let until =
            *self.started.lock().unwrap_or_else(PoisonError::into_inner) + STARTUP_WAIT_TIMEOUT;
        self.tried_until(until).await;
        let offered = servers.iter().flat_map(|server| server.offered_in(channel));
        offered.collect()
    }

    /// Returns when every server was tried, or at this time.
    async fn tried_until(&self, until: Instant) {
        let servers = self.all();
        let tried = join_all(servers.iter().map(|server| server.tried()));
        drop(timeout_at(until, tried).await);
    }

    /// The settings and state of each server, after each was tried, or after the time `longest`.
    pub async fn states(&self, longest: Duration) -> Vec<(Arc<McpSettings>, ServerState)> {
        self.tried_until(Instant::now() + longest).await;
        let all = self.all().into_iter();
        all.map(|server| (Arc::clone(&server.settings), server.state()))
            .collect()
    }

    fn all(&self) -> Vec<Arc<McpServer>> {
        let servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        servers.clone()
    }
}
