//! What is found of the tools that ask others.

use std::time::Duration;

use futures::future::join_all;
use muninn::agent::mcp::{McpServers, ServerState};
use muninn::agent::tools::{HttpTool, ToolFiles};
use muninn::config::Config;
use muninn_platform::{Verdict, in_one_line};

use super::{Finding, well};
use crate::cli::context::Context;

/// How long servers that no process runs are given to start.
const START: Duration = Duration::from_secs(20);
/// How long a host is looked for.
const LOOK: Duration = Duration::from_secs(5);

/// Whether the tools with an address can be offered, and their hosts be asked. Nothing is asked of them.
pub(super) async fn findings(config: &Config) -> Vec<Finding> {
    // A file that is not right is told with the prompts.
    let files = ToolFiles::load(config.prompts_dir.as_deref()).unwrap_or_default();
    join_all(files.http.iter().map(|tool| of_http(tool))).await
}

/// How the MCP servers are, in the process that runs them; where none does, they are started to see.
pub(super) async fn servers(at: &Context) -> Vec<Finding> {
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
    let states = states.iter().map(|(settings, state)| Finding {
        part: "tools",
        verdict: match state {
            ServerState::Ready { left_out, .. } if left_out.is_empty() => Verdict::Ok,
            ServerState::Ready { .. } | ServerState::Starting => Verdict::Warning,
            ServerState::Down { .. } => Verdict::Error,
        },
        text: format!(
            "MCP server {} ({}): {state}",
            settings.name,
            settings.shown()
        ),
    });
    states.chain(problem).collect()
}

async fn of_http(tool: &HttpTool) -> Finding {
    if let Some(problem) = tool.problem() {
        return wrong(problem);
    }
    let line = tool.in_a_line();
    match tokio::time::timeout(LOOK, tool.look()).await {
        Ok(Ok(())) => well("tools", line),
        Ok(Err(error)) => wrong(format!("{line}: {}", in_one_line(&error))),
        Err(_) => wrong(format!(
            "{line}: its host was not found within {} s",
            LOOK.as_secs()
        )),
    }
}

fn wrong(text: String) -> Finding {
    Finding {
        part: "tools",
        verdict: Verdict::Error,
        text,
    }
}
