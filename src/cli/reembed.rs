//! `muninn reembed`.

use muninn_platform::count_with_noun;

use muninn::memory::reembed::{Reembedded, reembed};
use muninn::wiring::{Models, models};

use super::context::Context;
use super::exit::Exit;
use super::progress::Unit;

/// Embeds again what another embedder has embedded.
pub(super) async fn run(at: &Context) -> anyhow::Result<Exit> {
    let Models { chat: _, embedder } = models(&at.config)?;
    let store = at.graph().await?;
    let bar = at.out.bar(Unit::Things);
    let done = reembed(&store, &embedder, &mut |far| {
        bar.show(far.turns as u64, far.total as u64, "turns");
    })
    .await;
    store.close().await?;
    bar.clear();
    let Reembedded {
        turns,
        empty,
        total: _,
    } = done?;
    let name = embedder.name().unwrap_or_default();
    let said = match (turns, empty) {
        (0, _) => format!("Every turn has its vector of {name} already."),
        (_, 0) => format!("Embedded with {name}: {}.", count_with_noun(turns, "turn")),
        (_, _) => format!(
            "Embedded with {name}: {}; without words that it knows: {}.",
            count_with_noun(turns - empty, "turn"),
            count_with_noun(empty, "turn")
        ),
    };
    at.out.say(&said).await
}
