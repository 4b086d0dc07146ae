//! Checks the outside tools.

use std::time::Duration;

use futures::future::join_all;
use muninn::agent::mcp::{McpServers, ServerState};
use muninn::agent::tools::{HttpTool, ToolFiles};
use muninn::config::Config;
use muninn_platform::{CheckStatus, in_one_line};

use super::finding::{DoctorFinding, well};
use crate::cli::context::Context;

/// Maximum time for servers to start when no process runs them.
const START: Duration = Duration::from_secs(20);
/// Maximum time to resolve a host.
const RESOLVE_TIMEOUT: Duration = Duration::from_secs(5);

/// Checks whether HTTP tools can be offered, and whether their hosts are found and permitted. Sends
/// them nothing.
pub(super) async fn findings(config: &Config) -> Vec<DoctorFinding> {
    // An invalid file is reported with the prompts.
    let files = ToolFiles::load(config.prompts_dir.as_deref()).unwrap_or_default();
    join_all(files.http.iter().map(|tool| of_http(tool))).await
}

/// Checks the MCP servers in the process that runs them; without one they are started for the
/// check.
pub(super) async fn servers(at: &Context) -> Vec<DoctorFinding> {
    let own = match &at.running {
        Some(_) => None,
        None => match McpServers::start(at.config.mcp_file.clone()) {
            Ok(servers) => Some(servers),
            Err(error) => return vec![wrong(in_one_line(&error))],
        },
    };
    let running = at.running.as_ref();
    let servers = own
        .as_ref()
        .or(running.map(|running| &*running.mcp_servers));
    let states = match servers {
        Some(servers) => servers.states(START).await,
        None => Vec::new(),
    };
    let problem = running.and_then(|running| running.reloading.servers_problem());
    let problem = problem.map(|problem| {
        wrong(format!(
            "the process that runs has the MCP servers as before: {problem}"
        ))
    });
    let states = states.iter().map(|(settings, state)| DoctorFinding {
        part: "tools",
        verdict: match state {
            ServerState::Ready { left_out, .. } if left_out.is_empty() => CheckStatus::Ok,
            ServerState::Ready { .. } | ServerState::Starting => CheckStatus::Warning,
            ServerState::Down { .. } => CheckStatus::Error,
        },
        text: format!(
            "MCP server {} ({}): {state}",
            settings.name,
            settings.shown()
        ),
    });
    states.chain(problem).collect()
}

async fn of_http(tool: &HttpTool) -> DoctorFinding {
    if let Some(problem) = tool.problem() {
        return wrong(problem);
    }
    let line = tool.in_a_line();
    match tokio::time::timeout(RESOLVE_TIMEOUT, tool.look()).await {
        Ok(Ok(())) => well("tools", line),
        Ok(Err(error)) => wrong(format!("{line}: {}", in_one_line(&error))),
        Err(_) => wrong(format!(
            "{line}: its host was not found within {} s",
            RESOLVE_TIMEOUT.as_secs()
        )),
    }
}

fn wrong(text: String) -> DoctorFinding {
    DoctorFinding {
        part: "tools",
        verdict: CheckStatus::Error,
        text,
    }
}
