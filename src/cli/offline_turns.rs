//! `muninn offline-turns`: what waits for the graph, and what it refused.

use std::io::Write as _;
use std::sync::Arc;

use clap::Subcommand;
use muninn::config::Config;
use muninn::graph;
use muninn::graph::session::Sessions;
use muninn::memory::journal::{Journal, SetAside, waiting_in};
use muninn::memory::{Archive, summary};
use muninn_platform::{counted, excerpt};

use super::output::{Exit, Output};

#[derive(Clone, Copy, Debug, Subcommand)]
pub(super) enum OfflineTurns {
    /// Lists how many turns wait, and each that the graph refused, with the reason
    List,
    /// Saves what waits, and tries again what the graph refused
    Retry,
    /// Removes what the graph refused, for good
    Discard,
}

pub(super) async fn run(config: &Config, what: OfflineTurns) -> anyhow::Result<Exit> {
    match what {
        OfflineTurns::List => list(config),
        OfflineTurns::Retry => retry(config).await,
        OfflineTurns::Discard => discard(config).await,
    }
}

fn list(config: &Config) -> anyhow::Result<Exit> {
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "Waiting for the graph: {}",
        counted(waiting_in(&config.data_dir)?, "turn")
    )?;
    let refused = SetAside::of(&config.data_dir).all()?;
    writeln!(
        out,
        "Refused by the graph: {}",
        counted(refused.len(), "turn")
    )?;
    for one in refused {
        let turn = &one.turn.turn;
        let at = turn.created_at.format("%Y-%m-%d %H:%M");
        writeln!(
            out,
            "- [{at}] {}: {}",
            turn.author_name,
            excerpt(&turn.input)
        )?;
        writeln!(out, "  {} in {}", turn.id, turn.session)?;
        writeln!(out, "  {}", one.reason)?;
    }
    Ok(Exit::SUCCESS)
}

async fn retry(config: &Config) -> anyhow::Result<Exit> {
    let store = graph::open(&config.graph).await?;
    let journal = Journal::open(&config.data_dir)?;
    let archive = Archive::new(
        Arc::clone(&store),
        journal,
        Arc::new(Sessions::default()),
        summary::read(config.turn.window_turns),
    );
    let tried = archive.retry_set_aside().await?;
    let saved = archive.replay().await;
    store.close().await?;
    saved?;
    let refused = SetAside::of(&config.data_dir).all()?.len();
    let waiting = archive.waiting();
    let said = format!(
        "Tried again: {}. Still refused: {}. Waiting: {}.",
        counted(tried, "turn"),
        counted(refused, "turn"),
        counted(waiting, "turn")
    );
    Output::Here.line(&said).await?;
    Ok(Exit::of(refused == 0 && waiting == 0))
}

async fn discard(config: &Config) -> anyhow::Result<Exit> {
    let discarded = SetAside::of(&config.data_dir).take_where(|_| true)?;
    let said = format!("Removed: {}.", counted(discarded.len(), "turn"));
    Output::Here.say(&said).await
}
