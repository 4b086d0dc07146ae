//! `muninn offline-turns`: turns that wait for the graph, and turns that it refused.

use std::sync::Arc;

use muninn::conversation::withdrawals::Withdrawals;
use muninn::graph::session::Sessions;
use muninn::memory::journal::{Journal, SetAside, waiting_in};
use muninn::memory::{Archive, summary};
use muninn_platform::{count_with_noun, excerpt};
use serde_json::{Value, json};

use super::args::offline_turns::OfflineTurns;
use super::context::{Context, OpenGraph};
use super::exit::Exit;

pub(super) async fn run(at: &Context, what: OfflineTurns) -> anyhow::Result<Exit> {
    match what {
        OfflineTurns::List { json } => list(at, json).await,
        OfflineTurns::Retry => retry(at).await,
        OfflineTurns::Discard => discard(at).await,
    }
}

async fn list(at: &Context, is_json: bool) -> anyhow::Result<Exit> {
    let data_dir = &at.config.data_dir;
    let refused = SetAside::of(data_dir).all()?;
    let waiting = waiting_in(data_dir)?;
    if is_json {
        let refused = refused.iter().map(|one| {
            let turn = &one.turn.turn;
            json!({
                "id": turn.id,
                "conversation": turn.session,
                "author": turn.author_name,
                "at": turn.created_at,
                "question": turn.input,
                "reason": one.reason,
            })
        });
        let refused: Vec<Value> = refused.collect();
        let told = json!({"waiting": waiting, "refused": refused});
        return at.out.say_json(&told).await;
    }
    let mut lines = vec![
        format!(
            "Waiting for the graph: {}",
            count_with_noun(waiting, "turn")
        ),
        format!(
            "Refused by the graph: {}",
            count_with_noun(refused.len(), "turn")
        ),
    ];
    for one in refused {
        let turn = &one.turn.turn;
        let created = turn.created_at.format("%Y-%m-%d %H:%M");
        let input = excerpt(&turn.input);
        lines.push(format!("- [{created}] {}: {input}", turn.author_name));
        lines.push(format!("  {} in {}", turn.id, turn.session));
        lines.push(format!("  {}", one.reason));
    }
    at.out.say(&lines.join("\n")).await
}

/// Returns what saves turns: that of the running process, which has its own journal open.
fn archive(at: &Context, store: &OpenGraph) -> anyhow::Result<Arc<Archive>> {
    if let Some(running) = &at.running {
        return Ok(Arc::clone(&running.archive));
    }
    let journal = Journal::open(&at.config.data_dir)?;
    let sessions = Arc::new(Sessions::default());
    let read = summary::read(at.config.turn.window_turns);
    let archive = Archive::new(Arc::clone(store), journal, sessions, read);
    // Withdrawals are written down, for the next process that serves.
    let withdrawals = Arc::new(Withdrawals::open(&at.config.data_dir)?);
    Ok(Arc::new(archive.with_withdrawals(withdrawals)))
}

async fn retry(at: &Context) -> anyhow::Result<Exit> {
    let store = at.graph().await?;
    let archive = archive(at, &store)?;
    let tried = archive.retry_set_aside().await?;
    let saved = archive.replay().await;
    store.close().await?;
    saved?;
    let refused = SetAside::of(&at.config.data_dir).all()?.len();
    let waiting = archive.waiting();
    let said = format!(
        "Tried again: {}. Still refused: {}. Waiting: {}.",
        count_with_noun(tried, "turn"),
        count_with_noun(refused, "turn"),
        count_with_noun(waiting, "turn")
    );
    at.out.line(&said).await?;
    Ok(Exit::of(refused == 0 && waiting == 0))
}

async fn discard(at: &Context) -> anyhow::Result<Exit> {
    let discarded = SetAside::of(&at.config.data_dir).take_where(|_| true)?;
    let said = format!("Removed: {}.", count_with_noun(discarded.len(), "turn"));
    at.out.say(&said).await
}
