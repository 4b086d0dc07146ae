//! Changes of a section's settings, which limit what is served already.

use serde_json::{Value, json};

use super::git_server::Repository;
use super::website::{PageResponse, Website, html};
use super::{SETTINGS, catalog_says, home, put, refreshed, served, texts};
use crate::admin::serving;
use crate::home::Home;

/// Returns the channels of the only source.
async fn channels(home: &Home) -> Value {
    let catalog = home.run(&["catalog", "--json"], "").await;
    let catalog: Value = serde_json::from_str(catalog.succeeds()).unwrap();
    catalog[0]["channels"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_holds_at_once_while_the_bot_runs() {
    let home = home();
    let pay = Repository::new(&home.path("pay"));
    pay.put("pay.md", "# Pay\nThe pay of Ada is 4711.\n");
    pay.put("a.md", "# Ferries\nAt six.\n");
    pay.commit("One");
    let section = |more: &str| {
        let address = home.path("pay").display().to_string();
        let text = format!("[pay]\ngit = \"file://{address}\"\n{more}");
        put(&home, SETTINGS, &text);
    };
    section("every = \"1h\"\n");
    let running = serving(&home).await;
    catalog_says(&home, "pay  version 1").await;
    section("every = \"1h\"\nchannels = [\"C1\"]\n");
    catalog_says(&home, "seen only in C1").await;
    let search = ["search", "pay of Ada", "--channel", "C2"];
    let found = home.run(&search, "").await;
    assert!(!found.out.contains("4711"), "{found:?}");
    section("every = \"never\"\nchannels = [\"C1\"]\nexclude = [\"pay.md\"]\n");
    catalog_says(&home, "pay  version 3").await;
    assert_eq!(texts(&home).await, ["At six."]);
    running.signal("TERM").await;
    running.end().await.succeeds();
    refreshed(&home).await;

    // When it is read is no reason to read it.
    section("channels = [\"C1\"]\nexclude = [\"pay.md\"]\n");
    let doctor = home.run(&["doctor"], "").await;
    assert!(doctor.out.contains("ok       sources"), "{doctor:?}");
    section("every = \"never\"\n");
    let doctor = home.run(&["doctor"], "").await;
    let told = "note     sources: pay: its settings have changed since it was read on";
    assert!(doctor.out.contains(told), "{doctor:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_holds_although_the_repository_cannot_be_reached() {
    let home = home();
    let pay = Repository::new(&home.path("pay"));
    pay.put("pay.md", "# Pay\nThe pay of Ada is 4711.\n");
    pay.put("a.md", "# Ferries\nAt six.\n");
    pay.commit("One");
    let section = |more: &str| {
        put(&home, SETTINGS, &format!("[pay]\ngit = \"../pay\"\n{more}"));
    };
    section("");
    refreshed(&home).await;
    std::fs::rename(home.path("pay"), home.path("away")).unwrap();
    let limited = "channels = [\"C1\"]\n";
    for (more, left) in [
        (
            limited.to_owned(),
            &["At six.", "The pay of Ada is 4711."][..],
        ),
        (format!("{limited}exclude = [\"pay.md\"]\n"), &["At six."]),
    ] {
        section(&more);
        let failed = home.run(&["source", "refresh"], "").await;
        assert!(failed.out.contains("pay was not refreshed"), "{failed:?}");
        assert_eq!(channels(&home).await, json!(["C1"]));
        assert_eq!(texts(&home).await, left);
    }
    // Without a copy nothing can be done, and nothing is taken for gone.
    std::fs::remove_dir_all(home.path("muninn-data/sources/pay")).unwrap();
    section("channels = [\"C1\"]\nexclude = [\"a.md\"]\n");
    home.run(&["source", "refresh"], "").await;
    assert_eq!(texts(&home).await, ["At six."]);
    let doctor = home.run(&["doctor"], "").await;
    let told = "is served without the settings that have changed since";
    assert!(doctor.out.contains(told), "{doctor:?}");
    std::fs::rename(home.path("away"), home.path("pay")).unwrap();
    refreshed(&home).await;
    assert_eq!(texts(&home).await, ["The pay of Ada is 4711."]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_holds_although_the_site_cannot_be_reached() {
    let home = home();
    let site = Website::start().await;
    site.put("/", html("Start.", &["one.html"]));
    site.put("/one.html", html("One.", &[]));
    let section = |more: &str| {
        put(
            &home,
            SETTINGS,
            &format!("[site]\nweb = \"{}\"\n{more}", site.address),
        );
    };
    section("");
    refreshed(&home).await;
    let before = served(&home).await;
    site.put("/robots.txt", PageResponse::status(503));
    section("channels = [\"C1\"]\n");
    let failed = home.run(&["source", "refresh"], "").await;
    assert!(failed.out.contains("site was not refreshed"), "{failed:?}");
    assert_eq!(channels(&home).await, json!(["C1"]));
    assert_eq!(served(&home).await, before);
    site.put("/robots.txt", PageResponse::status(404));
    // What was limited is told although nothing else has changed.
    section("channels = [\"C2\"]\n");
    let told = refreshed(&home).await;
    assert!(
        told.contains("site is at version 3 now") && told.contains("Seen only in C2"),
        "{told}"
    );
    assert_eq!(told.matches("version").count(), 1, "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_the_place_before_is_served_once_a_section_has_another() {
    // The name of a file of records has only the beginning of a name as long as this.
    for name in ["docs", "engineering-handbook-and-runbooks-of-2026"] {
        let home = home();
        let records = "data/ports-and-terminals-of-the-region-export.csv";
        put(&home, &format!("one/{records}"), "id,name\n1,Secretport\n");
        put(&home, "one/a.md", "# Ferries\nAt six.\n");
        put(&home, "two/a.md", "# Ferries\nAt seven.\n");
        let section = |more: &str| put(&home, SETTINGS, &format!("[{name}]\n{more}"));
        section("path = \"../one\"\n");
        let both = refreshed(&home).await;
        assert_eq!(both.matches("is at version 1 now").count(), 2, "{both}");
        section("path = \"../two\"\nchannels = [\"C1\"]\n");
        let moved = refreshed(&home).await;
        assert!(moved.contains("was removed, with 1 chunk"), "{moved}");
        assert_eq!(texts(&home).await, ["At seven."]);
        assert_eq!(channels(&home).await, json!(["C1"]));

        put(&home, &format!("two/{records}"), "id,name\n1,Newport\n");
        let more = refreshed(&home).await;
        assert!(more.contains("is at version 1 now"), "{more}");
        std::fs::remove_file(home.path("two").join(records)).unwrap();
        let less = refreshed(&home).await;
        assert!(less.contains("was removed, with 1 chunk"), "{less}");
    }
}
