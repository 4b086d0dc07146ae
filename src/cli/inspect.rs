//! Commands that look at the graph.

use std::io::Write as _;
use std::process::ExitCode;

use muninn::config::Config;
use muninn::graph::{self, SessionOverview};

/// `muninn sessions`: a line a conversation, the most recent first.
pub(super) async fn sessions(config: &Config) -> anyhow::Result<ExitCode> {
    let store = graph::open(&config.graph).await?;
    let sessions = store.sessions().await?;
    store.close().await?;
    let mut out = std::io::stdout().lock();
    if sessions.is_empty() {
        writeln!(out, "No conversations yet. `muninn chat` begins one.")?;
    }
    for session in sessions {
        writeln!(out, "{}", line(&session))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn line(session: &SessionOverview) -> String {
    let last = session.last_at.unwrap_or(session.created_at);
    format!(
        "{}  {:>5} turns  {}  {}",
        last.format("%Y-%m-%d %H:%M"),
        session.turns,
        session.id,
        session.title.as_deref().unwrap_or("")
    )
}
