//! What tells whoever watches the bot that sources cannot be read.

use super::git_server::Repository;
use super::{SETTINGS, home, put, refreshed};
use crate::admin::serving;
use crate::home::eventually;
use crate::programs::stops;
use crate::serving::get;
use crate::support::browser::{Browser, link_in};
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

#[tokio::test(flavor = "multi_thread")]
async fn the_pages_tell_the_operator_alone_why_a_source_is_stale() {
    let home = home().with("WEB_ADDR", free_address()).with("USER", "ada");
    let pay = Repository::new(&home.path("pay"));
    pay.put("a.md", "# Ferries\nAt six.\n");
    pay.commit("One");
    put(&home, SETTINGS, "[pay]\ngit = \"../pay\"\n");
    refreshed(&home).await;
    std::fs::rename(home.path("pay"), home.path("away")).unwrap();
    let failed = home.run(&["source", "refresh"], "").await;
    assert!(failed.out.contains("pay was not refreshed"), "{failed:?}");
    home.chat(&[], &["The safe is behind the map."])
        .await
        .succeeds();

    let running = serving(&home).await;
    let mut pages = Vec::new();
    for arguments in [&["web", "--admin"][..], &["web"]] {
        let link = link_in(home.run(arguments, "").await.succeeds());
        let browser = Browser::entered_by(&link).await;
        let page = eventually("the source", async || {
            let page = browser.sees("/knowledge").await;
            page.contains("<td>pay</td>").then_some(page)
        });
        pages.push(page.await);
    }
    let [operators, adas]: [String; 2] = pages.try_into().unwrap();
    assert!(operators.contains("it cannot be refreshed"), "{operators}");
    assert!(!adas.contains("it cannot be refreshed"), "{adas}");
    assert!(!adas.contains("<td>fresh</td>"), "{adas}");
    stops(running).await;
}
