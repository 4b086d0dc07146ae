//! Replaces the MCP client in builds without it.

use std::future::{Ready, ready};
use std::sync::Arc;

use muninn_platform::AudienceId;

use super::ServerState;
use super::settings::McpSettings;
use crate::agent::tools::OutsideTool;

#[derive(Debug)]
pub(super) struct McpServer {
    pub(super) settings: Arc<McpSettings>,
}

impl McpServer {
    pub(super) fn start(settings: McpSettings) -> Self {
        Self {
            settings: Arc::new(settings),
        }
    }

    pub(super) fn state(&self) -> ServerState {
        ServerState::Down {
            why: "this muninn speaks no MCP; build it with the cargo feature `mcp`".to_owned(),
            again_in: None,
        }
    }

    pub(super) fn tried(&self) -> Ready<()> {
        ready(())
    }

    pub(super) fn offered_in(&self, _: &AudienceId) -> Vec<Arc<dyn OutsideTool>> {
        Vec::new()
    }
}
