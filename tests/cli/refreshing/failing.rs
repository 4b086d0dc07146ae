//! What tells whoever watches the bot that sources cannot be read.

use super::{SETTINGS, home, put};
use crate::admin::serving;
use crate::home::eventually;
use crate::programs::stops;
use crate::serving::get;
use crate::support::program::free_address;

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_cannot_be_read_is_counted_until_it_can_be() {
    let address = free_address();
    let home = home().with("HTTP_ADDR", &address);
    put(&home, SETTINGS, "[docs]\npath = \"../docs\"\n");
    let running = serving(&home).await;
    let counted = async |failing: u32| {
        let line = format!("muninn_sources_failing{{kind=\"folders\"}} {failing}\n");
        eventually("the number of failing sources", async || {
            let metrics = get(&address, "/metrics").await;
            metrics.contains(&line).then_some(())
        })
        .await;
    };
    counted(1).await;
    put(&home, "docs/a.md", "# Ferries\nAt six.\n");
    home.run(&["source", "refresh", "docs"], "")
        .await
        .succeeds();
    counted(0).await;
    stops(running).await;
}
