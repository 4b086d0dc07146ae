//! What tells whoever watches the bot that sources cannot be read.

use super::{SETTINGS, home, put};
use crate::admin::serving;
use crate::home::eventually;
use crate::programs::stops;
use crate::serving::get;
use crate::support::program::free_address;
use tokio::net::TcpListener;

#[tokio::test(flavor = "multi_thread")]
async fn a_site_that_fails_is_counted_while_a_later_one_takes_its_time() {
    let address = free_address();
    let home = home().with("HTTP_ADDR", &address);
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let gone = free_address();
    let slow = silent.local_addr().unwrap();
    let sites = format!("[a]\nweb = \"http://{gone}/\"\n[b]\nweb = \"http://{slow}/\"\n");
    put(&home, SETTINGS, &sites);
    let running = serving(&home).await;
    // The round has not ended.
    eventually("the number of failing sources", async || {
        let metrics = get(&address, "/metrics").await;
        let line = "muninn_sources_failing{kind=\"sites\"} 1\n";
        metrics.contains(line).then_some(())
    })
    .await;
    stops(running).await;
}

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
