//! Sources that refresh themselves: a folder, a git repository behind a web server, and a website.

mod failing;
mod git_server;
mod limiting;
mod redirects;
mod repositories;
mod website;

use std::path::Path;

use axum::http::StatusCode;
use serde_json::{Value, json};

use self::git_server::{GitServer, Repository};
use self::website::{PageResponse, Website, html};
use crate::admin::serving;
use crate::home::{Home, eventually};

/// Creates a home with what git needs.
fn home() -> Home {
    Home::new()
        .with("PATH", std::env::var("PATH").unwrap())
        .with("TERMINAL_SOCKET", "t.sock")
}

fn put(home: &Home, name: &str, text: &str) {
    write(&home.path(name), text);
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

const SETTINGS: &str = "muninn-data/sources.toml";

/// Returns the served texts, and where people find them.
async fn served(home: &Home) -> Vec<(String, String)> {
    let exported = home.run(&["export", "export.jsonl"], "").await;
    exported.succeeds();
    let text = std::fs::read_to_string(home.path("export.jsonl")).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    let chunks = lines.filter_map(|line: Value| {
        let node = &line["node"]["properties"];
        let (text, link) = (node["text"].as_str()?, node["link"].as_str()?);
        Some((text.to_owned(), link.to_owned()))
    });
    let mut chunks: Vec<(String, String)> = chunks.collect();
    chunks.sort();
    chunks
}

async fn texts(home: &Home) -> Vec<String> {
    served(home)
        .await
        .into_iter()
        .map(|(text, _)| text)
        .collect()
}

/// Refreshes everything, and returns the output.
async fn refreshed(home: &Home) -> String {
    let done = home.run(&["source", "refresh"], "").await;
    done.succeeds().to_owned()
}

/// Waits until the catalog contains these words.
async fn catalog_says(home: &Home, words: &'static str) {
    eventually(words, async || {
        let catalog = home.run(&["catalog"], "").await;
        catalog.out.contains(words).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_is_fetched_when_it_has_a_new_commit() {
    let home = home();
    let book = Repository::new(&home.path("served/book"));
    book.put("src/ferries.md", "# Ferries\nAt six.\n");
    book.put("src/gone.md", "# Soon gone\nStill here.\n");
    book.put("README.md", "Not this one.\n");
    // Rules above the folder apply, too.
    book.put("src/private/b.md", "# Private\nNot this one either.\n");
    book.put(".muninnignore", "src/private/\n");
    // A file that git ignores can still be in the repository.
    book.put(".gitignore", "ferries.md\n");
    book.commit("One");
    let server = GitServer::start(&home.path("served")).await;
    let settings = format!(
        "[book]\ngit = \"{}/book/.git\"\nfolder = \"src\"\n",
        server.address
    );
    put(&home, SETTINGS, &settings);

    assert!(
        refreshed(&home)
            .await
            .contains("book is at version 1 now: 2 new")
    );
    assert_eq!(texts(&home).await, ["At six.", "Still here."]);
    server.asked();
    assert_eq!(refreshed(&home).await, "book has not changed.\n");
    let asked = server.asked();
    assert!(
        asked.iter().all(|it| it.starts_with("GET")),
        "nothing was fetched: {asked:?}"
    );

    book.put("src/ferries.md", "# Ferries\nAt seven.\n");
    book.remove("src/gone.md");
    book.commit("Two");
    let second = refreshed(&home).await;
    let counts = "version 2 now: 0 new, 1 changed, 0 unchanged, 1 removed";
    assert!(second.contains(counts), "{second}");
    assert_eq!(texts(&home).await, ["At seven."]);
    let found = home.run(&["search", "what is still here?"], "").await;
    assert!(!found.out.contains("Still here"), "{found:?}");

    // Leftovers of a process that was killed half-way do not interfere.
    let copy = home.path("muninn-data/sources/book/repository/.git");
    write(&copy.join("index.lock"), "");
    write(&copy.join("shallow.lock"), "");
    book.put("src/ferries.md", "# Ferries\nAt eight.\n");
    book.commit("Three");
    assert!(refreshed(&home).await.contains("version 3 now"));
    assert_eq!(texts(&home).await, ["At eight."]);

    // A commit that leaves no documents empties the source.
    book.remove("src/ferries.md");
    book.commit("Four");
    assert!(refreshed(&home).await.contains("book was removed, with"));
    assert_eq!(texts(&home).await, [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_that_cannot_be_had_keeps_its_version_and_its_password() {
    let home = home();
    let book = Repository::new(&home.path("served/book"));
    book.put("a.md", "# Ferries\nAt six.\n");
    book.commit("One");
    let settings = |address: &str, more: &str| {
        put(
            &home,
            SETTINGS,
            &format!("[book]\ngit = \"{address}\"\n{more}"),
        );
    };
    settings(
        &format!("file://{}", home.path("served/book").display()),
        "",
    );
    assert!(refreshed(&home).await.contains("version 1"));

    settings("http://ada:s3cret@127.0.0.1:1/book.git", "");
    let failed = home.run(&["source", "refresh", "book"], "").await;
    assert_eq!(failed.status.code(), Some(1), "{failed:?}");
    assert!(
        failed
            .out
            .contains("book was not refreshed: git ls-remote failed"),
        "{failed:?}"
    );
    let catalog = home.run(&["catalog"], "").await;
    let doctor = home.run(&["doctor"], "").await;
    assert_eq!(doctor.status.code(), Some(1), "{doctor:?}");
    assert!(
        doctor
            .out
            .contains("PROBLEM  sources: book: it cannot be refreshed"),
        "{doctor:?}"
    );
    for said in [&failed, &catalog, &doctor] {
        assert!(!format!("{said:?}").contains("s3cret"), "{said:?}");
    }
    assert_eq!(texts(&home).await, ["At six."]);

    // A redirect of git to another server is not followed: that could be anybody's.
    let site = Website::start().await;
    let elsewhere = Website::start().await;
    let to = format!("{}/info/refs?service=git-upload-pack", elsewhere.address);
    site.put("/info/refs", PageResponse::led(302, &to));
    settings(&site.address, "");
    let led = home.run(&["source", "refresh"], "").await;
    assert!(led.out.contains("book was not refreshed"), "{led:?}");
    assert_eq!(elsewhere.asked(), [""; 0]);

    settings(
        &format!("file://{}", home.path("served/book").display()),
        "branch = \"nope\"\n",
    );
    let none = home.run(&["source", "refresh"], "").await;
    assert!(none.out.contains("no branch or tag nope"), "{none:?}");
    let unknown = home.run(&["source", "refresh", "nobody"], "").await;
    unknown.fails(1, &["no section [nobody]", "there are book"]);
    put(&home, SETTINGS, "[book]\ngit = \"x\"\nevry = \"1h\"\n");
    let wrong = home.run(&["doctor"], "").await;
    assert!(
        wrong
            .out
            .contains("PROBLEM  sources: they are not refreshed"),
        "{wrong:?}"
    );
    assert!(wrong.out.contains("unknown field `evry`"), "{wrong:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_is_read_within_its_rules_and_what_is_gone_is_gone() {
    let home = home();
    let site = Website::start().await;
    let elsewhere = Website::start().await;
    site.put(
        "/robots.txt",
        PageResponse::text("User-agent: *\nDisallow: /docs/secret\n"),
    );
    let other = format!("{}/other.html", elsewhere.address);
    let links = [
        "one.html#part",
        "two",
        "/docs/secret/x.html",
        "/elsewhere.html",
        "picture.png",
        "one.html?page=2",
        &other,
        "moved",
        "led",
    ];
    site.put("/docs", PageResponse::led(301, "/docs/"));
    site.put("/docs/", html("Start.", &links));
    site.put(
        "/docs/one.html",
        html("One.", &["../", "/docs/deep/three.html#part"]),
    );
    site.put("/docs/two", html("Two.", &[]));
    site.put("/docs/deep/three.html", html("Three.", &[]));
    site.put("/docs/secret/x.html", html("Secret.", &[]));
    site.put("/elsewhere.html", html("Elsewhere.", &[]));
    site.put("/docs/picture.png", PageResponse::of("image/png", "x"));
    site.put("/docs/moved", PageResponse::led(302, &other));
    site.put("/docs/led", PageResponse::led(308, "/docs/two"));
    elsewhere.put("/other.html", html("Of another host.", &[]));
    put(
        &home,
        SETTINGS,
        &format!("[site]\nweb = \"{}/docs\"\n", site.address),
    );

    let first = refreshed(&home).await;
    assert!(first.contains("site is at version 1 now: 4 new"), "{first}");
    let mut asked = site.asked();
    asked.sort();
    assert_eq!(
        asked,
        [
            "/docs",
            "/docs/",
            "/docs/deep/three.html",
            "/docs/led",
            "/docs/moved",
            "/docs/one.html",
            "/docs/picture.png",
            "/docs/two",
            "/robots.txt",
        ]
    );
    assert_eq!(elsewhere.asked(), [""; 0], "nobody has named it");
    let three = format!("{}/docs/deep/three.html", site.address);
    assert!(served(&home).await.contains(&("Three.".to_owned(), three)));

    // One page is gone, one is unavailable, one is new, and one is unchanged.
    site.put("/docs/two", PageResponse::status(404));
    site.put("/docs/one.html", PageResponse::status(503));
    site.put(
        "/docs/",
        html("Start again.", &["one.html", "two", "four.html"]),
    );
    site.put("/docs/four.html", html("Four.", &[]));
    let second = refreshed(&home).await;
    assert!(
        second.contains("1 new, 1 changed, 2 unchanged, 1 removed"),
        "{second}"
    );
    assert_eq!(
        texts(&home).await,
        ["Four.", "One.", "Start again.", "Three."]
    );
    assert_eq!(
        site.unchanged(),
        ["/docs/deep/three.html"],
        "what it was is not sent again"
    );
    let found = home.run(&["search", "two"], "").await;
    assert!(!found.out.contains("Two."), "{found:?}");

    // If the start page is unavailable, nothing changes.
    site.put("/docs/", PageResponse::status(500));
    std::fs::remove_dir_all(home.path("muninn-data/sources/site/pages")).unwrap();
    let failed = home.run(&["source", "refresh"], "").await;
    assert!(failed.out.contains("answers 500"), "{failed:?}");
    assert_eq!(texts(&home).await.len(), 4);
    let catalog = home.run(&["catalog", "--json"], "").await;
    let catalog: Value = serde_json::from_str(catalog.succeeds()).unwrap();
    assert_eq!(catalog[0]["version"], 2);
    assert_eq!(catalog[0]["refresh"]["failures"], 1);
    assert!(
        catalog[0]["refresh"]["error"]
            .as_str()
            .unwrap()
            .contains("answers 500")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sitemap_names_the_pages_and_bounds_hold() {
    let home = home();
    let site = Website::start().await;
    let page = |name: &str| format!("<url><loc>{}/{name}</loc></url>", site.address);
    let index = format!(
        "<sitemapindex><sitemap><loc>{}/1.xml</loc></sitemap></sitemapindex>",
        site.address
    );
    site.put("/map.xml", PageResponse::of("application/xml", &index));
    let pages: String = ["a?id=1", "a?id=2", "b.html", "c.html"].map(page).concat();
    let pages = format!("<urlset>{pages}<url><loc>http://127.0.0.1:1/x</loc></url></urlset>");
    site.put("/1.xml", PageResponse::of("application/xml", &pages));
    site.put("/a?id=1", html("A one.", &["/not-named.html"]));
    site.put("/a?id=2", html("A two.", &[]));
    site.put("/b.html", html("B.", &[]));
    site.put("/c.html", html("C.", &[]));
    site.put("/not-named.html", html("Not named.", &[]));
    let settings = |more: &str| {
        put(
            &home,
            SETTINGS,
            &format!("[site]\nweb = \"{}/map.xml\"\n{more}", site.address),
        );
    };
    settings("pages = 3\n");
    let first = refreshed(&home).await;
    assert!(first.contains("version 1 now: 3 new"), "{first}");
    assert!(first.contains("only the first 3 pages are read"), "{first}");
    let catalog = home.run(&["catalog"], "").await;
    assert!(
        catalog.out.contains("only the first 3 pages"),
        "{catalog:?}"
    );
    settings("");
    assert!(
        refreshed(&home)
            .await
            .contains("1 new, 0 changed, 3 unchanged")
    );
    assert_eq!(texts(&home).await, ["A one.", "A two.", "B.", "C."]);

    site.put("/robots.txt", PageResponse::status(503));
    let unknown = home.run(&["source", "refresh"], "").await;
    assert!(unknown.out.contains("nothing may be read"), "{unknown:?}");
    site.put(
        "/robots.txt",
        PageResponse::led(302, "http://169.254.169.254/latest/meta-data"),
    );
    let led = home.run(&["source", "refresh"], "").await;
    assert!(
        led.out.contains("not on the host that was named"),
        "{led:?}"
    );
    assert_eq!(texts(&home).await.len(), 4);
}

/// A file without read rights stands for a disk that fails.
#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_read_is_served_as_before_and_read_once_it_can_be() {
    let home = home();
    put(&home, "docs/a.md", "# Ferries\nAt six.\n");
    put(&home, "docs/b.md", "# Trains\nAt nine.\n");
    put(&home, SETTINGS, "[docs]\npath = \"../docs\"\n");
    refreshed(&home).await;
    let rights = |mode| {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
        std::fs::set_permissions(home.path("docs/a.md"), mode).unwrap();
    };
    put(&home, "docs/a.md", "# Ferries\nAt seven.\n");
    put(&home, "docs/b.md", "# Trains\nAt ten.\n");
    rights(0o000);
    if std::fs::read(home.path("docs/a.md")).is_ok() {
        // An administrator reads everything.
        return;
    }
    let said = refreshed(&home).await;
    for words in [
        "0 new, 1 changed, 1 unchanged, 0 removed, 1 refused",
        "docs: 1 document could not be read",
    ] {
        assert!(said.contains(words), "{said}");
    }
    assert_eq!(texts(&home).await, ["At six.", "At ten."]);
    // Its rights are no part of what is compared to find changes.
    rights(0o600);
    let said = refreshed(&home).await;
    assert!(said.contains("0 new, 1 changed, 1 unchanged"), "{said}");
    assert_eq!(texts(&home).await, ["At seven.", "At ten."]);
    assert_eq!(refreshed(&home).await, "docs has not changed.\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_is_watched_while_the_bot_runs_and_a_failure_keeps_its_version() {
    let home = home();
    put(&home, "docs/a.md", "# Ferries\nAt six.\n");
    put(&home, "docs/b.md", "# Trains\nAt nine.\n");
    put(&home, SETTINGS, "[docs]\npath = \"../docs\"\n");
    let said = home.run(&["catalog"], "").await;
    let said = said.succeeds();
    assert!(
        said.contains("docs  no version yet") && said.contains("never read"),
        "{said}"
    );

    let running = serving(&home).await;
    catalog_says(&home, "docs  version 1").await;
    put(&home, "docs/c.md", "# Buses\nAt noon.\n");
    std::fs::remove_file(home.path("docs/b.md")).unwrap();
    catalog_says(&home, "docs  version 2").await;
    assert_eq!(texts(&home).await, ["At noon.", "At six."]);

    // An unmounted disk does not empty the source.
    std::fs::rename(home.path("docs"), home.path("away")).unwrap();
    std::fs::create_dir(home.path("docs")).unwrap();
    catalog_says(&home, "nothing is left to ingest").await;
    assert_eq!(texts(&home).await.len(), 2);
    let doctor = home.run(&["doctor"], "").await;
    assert!(
        doctor
            .out
            .contains("PROBLEM  sources: docs: it cannot be refreshed"),
        "{doctor:?}"
    );
    std::fs::remove_dir(home.path("docs")).unwrap();
    std::fs::rename(home.path("away"), home.path("docs")).unwrap();
    let again = home.run(&["source", "refresh", "docs"], "").await;
    assert_eq!(again.succeeds(), "docs has not changed.\n");
    assert!(!home.run(&["catalog"], "").await.out.contains('!'));

    // So does renaming it.
    let renamed = home.run(&["source", "rename", "docs", "papers"], "").await;
    assert!(
        renamed.succeeds().contains("Rename its section [docs] of"),
        "{renamed:?}"
    );
    home.run(&["source", "rename", "papers", "docs"], "")
        .await
        .succeeds();

    // Removing it by hand warns that it will come back.
    let removed = home.run(&["source", "remove", "docs", "--yes"], "").await;
    assert!(
        removed.succeeds().contains("take [docs] out of"),
        "{removed:?}"
    );
    running.signal("TERM").await;
    running.end().await.succeeds();

    // It is not watched now, but its change is detected all the same.
    home.run(&["source", "refresh"], "").await.succeeds();
    put(&home, "docs/c.md", "# Buses\nAt two.\n");
    let stale = home.run(&["doctor"], "").await;
    assert!(
        stale.out.contains("note     sources: docs: stale"),
        "{stale:?}"
    );
    let catalog = home.run(&["catalog"], "").await;
    assert!(
        catalog.out.contains("! stale: it was read last on"),
        "{catalog:?}"
    );
}

/// Either the old or the new version is served.
#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_is_killed_while_it_refreshes_leaves_a_whole_version() {
    const NOTES: usize = 1_000;
    let home = home();
    let all = |word: &str| {
        let notes = (0..NOTES).map(|number| format!("# Note {number}\n{word} {number}.\n\n"));
        put(&home, "docs/notes.md", &notes.collect::<String>());
    };
    all("First");
    put(&home, SETTINGS, "[docs]\npath = \"../docs\"\n");
    home.run(&["source", "refresh"], "").await.succeeds();
    all("Second");
    let mut running = serving(&home).await;
    catalog_says(&home, "version 2 is being made").await;
    running.kill().await;
    let of = |texts: &[String], word: &str| {
        let own = texts.iter().filter(|text| text.starts_with(word));
        own.count()
    };
    assert_eq!(of(&texts(&home).await, "First"), NOTES);
    let catalog = home.run(&["catalog"], "").await;
    assert!(catalog.out.contains("docs  version 1"), "{catalog:?}");

    home.run(&["source", "refresh"], "").await.succeeds();
    let texts = texts(&home).await;
    assert_eq!((of(&texts, "First"), of(&texts, "Second")), (0, NOTES));
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_records_and_settings_that_change_are_followed() {
    let home = home();
    put(&home, "docs/a.md", "# Ferries\nAt six.\n");
    put(
        &home,
        "docs/ports.csv",
        "id,name\n1,Lisbon harbour\n2,Porto harbour\n",
    );
    let settings = |more: &str| {
        put(
            &home,
            "team.toml",
            &format!("[docs]\npath = \"docs\"\n{more}"),
        );
    };
    settings("");
    let home = home.with("SOURCES_FILE", "team.toml");
    let first = refreshed(&home).await;
    assert!(
        first.contains("docs is at version 1") && first.contains("docs.ports.csv is at version 1"),
        "{first}"
    );
    assert_eq!(refreshed(&home).await, "docs has not changed.\n");
    std::fs::remove_file(home.path("docs/ports.csv")).unwrap();
    assert!(
        refreshed(&home)
            .await
            .contains("docs.ports.csv was removed, with 2 chunks")
    );

    // Other channels make it another version, although no file has changed.
    let settings = |more: &str| {
        put(
            &home,
            "team.toml",
            &format!("[docs]\npath = \"docs\"\n{more}"),
        );
    };
    settings("channels = [\"slack/T1/C1\"]\n");
    assert!(refreshed(&home).await.contains("version 2"));
    let catalog = home.run(&["catalog", "--json"], "").await;
    let catalog: Value = serde_json::from_str(catalog.succeeds()).unwrap();
    assert_eq!(catalog[0]["channels"], json!(["slack/T1/C1"]));
    assert_eq!(catalog.as_array().unwrap().len(), 1);
    let opened = ["ingest", "docs", "--channels", "everybody"];
    home.run(&opened, "").await.succeeds();
    // The section says who may see it.
    assert!(refreshed(&home).await.contains("Seen only in slack/T1/C1."));
    assert_eq!(refreshed(&home).await, "docs has not changed.\n");
    settings("");
    let stays = "Seen only in slack/T1/C1.\nIt stays so; `channels = [\"everybody\"]` opens it to everybody.";
    let told = refreshed(&home).await;
    assert!(told.contains(stays), "{told}");
    settings("channels = [\"everybody\"]\n");
    assert!(!refreshed(&home).await.contains("Seen only in"));

    std::fs::remove_file(home.path("team.toml")).unwrap();
    let missing = home.run(&["source", "refresh"], "").await;
    missing.fails(1, &["team.toml cannot be used"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_source_is_as_limited_as_those_of_its_section() {
    const LIMITED: &str = "channels = [\"C1\"]\n";
    let channels = async |home: &Home| {
        let catalog = home.run(&["catalog", "--json"], "").await;
        let catalog: Value = serde_json::from_str(catalog.succeeds()).unwrap();
        let sources = catalog.as_array().unwrap().iter();
        let told = sources.map(|of| format!("{} {}", of["name"], of["channels"]));
        told.collect::<Vec<String>>().join("\n")
    };
    let ports = "id,name\n1,Lisbon harbour\n2,Porto harbour\n";
    let team = |more: &str| format!("[team]\npath = \"../team\"\n{more}");
    let api = |more: &str| format!("[\"team.api\"]\npath = \"../api\"\n{more}");

    let home_of_files = home();
    put(
        &home_of_files,
        "api/guide.md",
        "# Guide\nAsk at the desk.\n",
    );
    put(&home_of_files, "team/a.csv", ports);
    put(&home_of_files, SETTINGS, &(team(LIMITED) + &api("")));
    refreshed(&home_of_files).await;
    put(&home_of_files, "team/z.csv", ports);
    put(&home_of_files, SETTINGS, &(team("") + &api("")));
    refreshed(&home_of_files).await;
    let told = channels(&home_of_files).await;
    for part in [
        "\"team.a.csv\" [\"C1\"]",
        "\"team.z.csv\" [\"C1\"]",
        "\"team.api\" []",
    ] {
        assert!(told.contains(part), "no {part} in {told}");
    }

    let home_of_api = home();
    put(&home_of_api, "api/guide.md", "# Guide\nAsk at the desk.\n");
    put(&home_of_api, "team/ferries.md", "# Ferries\nAt six.\n");
    put(&home_of_api, "team/ports.csv", ports);
    put(&home_of_api, SETTINGS, &api(LIMITED));
    refreshed(&home_of_api).await;
    put(&home_of_api, SETTINGS, &(team("") + &api(LIMITED)));
    refreshed(&home_of_api).await;
    let told = channels(&home_of_api).await;
    for part in [
        "\"team.api\" [\"C1\"]",
        "\"team\" []",
        "\"team.ports.csv\" []",
    ] {
        assert!(told.contains(part), "no {part} in {told}");
    }
}

/// The test servers respond like real ones.
#[tokio::test(flavor = "multi_thread")]
async fn the_website_keeps_its_word() {
    let site = Website::start().await;
    site.put("/", html("Start.", &[]));
    let client = reqwest::Client::new();
    let first = client.get(&site.address).send().await.unwrap();
    let etag = first.headers()["etag"].clone();
    assert_eq!(first.status(), StatusCode::OK);
    let again = client.get(&site.address).header("if-none-match", etag);
    assert_eq!(
        again.send().await.unwrap().status(),
        StatusCode::NOT_MODIFIED
    );
    let none = client
        .get(format!("{}/none", site.address))
        .send()
        .await
        .unwrap();
    assert_eq!(none.status(), StatusCode::NOT_FOUND);
}
