//! `muninn reembed`.

use muninn_platform::counted;
use std::process::ExitCode;

use muninn::config::Config;
use muninn::graph;
use muninn::memory::reembed::{Reembedded, reembed};
use muninn::wiring::{Models, models};

use super::transfer::{bar, say};

/// Embeds again what the configured embedder has not embedded.
pub(super) async fn run(config: &Config) -> anyhow::Result<ExitCode> {
    let Models { chat: _, embedder } = models(config)?;
    let store = graph::open(&config.graph).await?;
    let bar = bar();
    let done = reembed(&*store, &embedder, &mut |far| {
        bar.set_length(far.total as u64);
        bar.set_position(far.turns as u64);
    })
    .await;
    store.close().await?;
    bar.finish_and_clear();
    let Reembedded {
        turns,
        empty,
        total: _,
    } = done?;
    let name = embedder.name().unwrap_or_default();
    match (turns, empty) {
        (0, _) => say(&format!("Every turn has its vector of {name} already.")),
        (_, 0) => say(&format!(
            "Embedded with {name}: {}.",
            counted(turns, "turn")
        )),
        (_, _) => say(&format!(
            "Embedded with {name}: {}; without words that it knows: {}.",
            counted(turns - empty, "turn"),
            counted(empty, "turn")
        )),
    }
}
