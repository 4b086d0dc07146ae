//! The pages, as a browser requests them.

use reqwest::StatusCode;
use reqwest::header::{HOST, ORIGIN};

use crate::admin::serving;
use crate::home::{CliProcess, Home, TIMEOUT};
use crate::support::browser::{Browser, addresses, follows, items, link_in, parts};
use crate::support::program::free_address;

/// Creates 35 conversations, more than fit on a page.
async fn speaks_of_ferries(home: &Home) {
    for number in 1..=35 {
        let session = format!("talk-{number}");
        let said = format!("The ferry number {number} leaves at nine.");
        home.chat(&["--session", &session], &[&said])
            .await
            .succeeds();
    }
}

/// Starts a serving bot with pages and an earlier conversation.
async fn talked_to(said: &[&str]) -> (Home, CliProcess) {
    let home = Home::new()
        .with("TERMINAL_SOCKET", "socket")
        .with("WEB_ADDR", free_address());
    home.chat(&[], said).await.succeeds();
    let serving = serving(&home).await;
    (home, serving)
}

/// Returns a new link for the operator.
async fn new_link(home: &Home) -> String {
    let said = home.run(&["web", "--admin"], "").await;
    link_in(said.succeeds())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_is_looked_at_with_what_its_answers_came_from() {
    let said = [
        "The code of the coffee machine is <b>4711</b>.",
        "What is the code of the coffee machine?",
    ];
    let (home, serving) = talked_to(&said).await;
    let browser = Browser::entered_by(&new_link(&home).await).await;

    let list = browser.sees("/conversations").await;
    assert!(
        list.contains("The code of the coffee machine is &lt;b&gt;4711&lt;"),
        "{list}"
    );
    assert!(list.contains("2 turns"), "{list}");
    let path = follows(&list, "/conversation?");
    let conversation = browser.sees(&path).await;
    assert!(
        conversation.contains("no model: quotes memory"),
        "{conversation}"
    );
    assert!(!conversation.contains("<b>4711"), "{conversation}");

    // The second answer quotes the first turn.
    let path = addresses(&conversation, "/why").pop().unwrap();
    let why = browser.sees(&path).await;
    assert!(
        why.contains("recalled turn") && why.contains("recalled, probability"),
        "{why}"
    );
    assert!(why.contains("Turn before"), "{why}");
    let picture = browser.sees(&path.replace("/why?", "/why/picture?")).await;
    let picture: serde_json::Value = serde_json::from_str(&picture).unwrap();
    assert_eq!(
        picture["things"][0]["label"],
        "What is the code of the coffee machine?"
    );
    assert_eq!(
        (&picture["things"][1]["kind"], &picture["links"][0]["to"]),
        (&"recalled".into(), &0.into())
    );

    assert!(browser.sees("/health").await.contains("embedded (kglite"));
    let german = browser
        .asks("/conversations")
        .header("accept-language", "de-AT,en;q=0.5");
    let german = german.send().await.unwrap().text().await.unwrap();
    assert!(german.contains("<html lang=\"de\">") && german.contains("Unterhaltungen"));

    // Each look is in the audit.
    let audit = home.run(&["audit"], "").await;
    let looks = audit
        .succeeds()
        .matches("looked into a conversation")
        .count();
    assert_eq!(looks, 2, "{audit:?}");
    serving.signal("TERM").await;
    serving.end().await.succeeds();
}

#[tokio::test(flavor = "multi_thread")]
async fn conversations_are_found_by_what_is_sought() {
    let home = Home::new();
    speaks_of_ferries(&home).await;
    let mut serving = home.start(&["web", "--admin"]);
    let mut said = String::new();
    while !said.contains("Ctrl-C") {
        said.push_str(&serving.line().await.unwrap());
        said.push('\n');
    }
    let browser = Browser::entered_by(&link_in(&said)).await;
    let shown = |page: &str| page.matches("<time").count();

    let list = browser.sees("/conversations").await;
    assert_eq!(shown(&list), 30);
    let next = follows(&list, "/conversations?");
    let rest = browser.sees(&next).await;
    assert_eq!(shown(&rest), 5, "{next}");
    assert!(rest.contains("ferry number 1 ") && !list.contains("ferry number 1 "));
    for (sought, found) in [
        ("words=FERRY+35", 1),
        ("words=nothing+like+it", 0),
        ("platform=terminal&person=", 30),
        ("platform=slack", 0),
        ("place=elsewhere", 0),
        ("person=nobody-of-that-name", 0),
        ("since=2020-01-01", 30),
        ("until=2020-01-01", 0),
        ("since=nonsense", 30),
    ] {
        let page = browser.sees(&format!("/conversations?{sought}")).await;
        assert_eq!(shown(&page), found, "{sought}");
    }
    serving.signal("INT").await;
    serving.end().await.succeeds();
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_comes_in_but_by_a_link_that_works_once() {
    let (home, serving) = talked_to(&["The safe is behind the map."]).await;
    let link = new_link(&home).await;
    let browser = Browser::entered_by(&link).await;
    let list = browser.sees("/conversations").await;
    let conversation = follows(&list, "/conversation?");
    let seen = browser.sees(&conversation).await;
    let why = follows(&seen, "/why");
    let picture = why.replace("/why?", "/why/picture?");

    // Without the cookie, or with a wrong one, nothing is shown; with it everything is.
    let paths = [
        "/",
        "/conversations",
        &conversation,
        &why,
        &picture,
        "/memory?question=safe",
        "/knowledge?question=safe",
        "/cypher",
        "/health",
    ];
    let stranger = Browser::at(&browser.origin);
    let forger = Browser {
        cookie: Some("muninn_session=AAAA".to_owned()),
        ..Browser::at(&browser.origin)
    };
    for path in paths {
        for nobody in [&stranger, &forger] {
            let refused = nobody.gets(path).await;
            assert_eq!(refused.status(), StatusCode::UNAUTHORIZED, "{path}");
            let said = refused.text().await.unwrap();
            assert!(
                said.contains("muninn web") && !said.contains("safe"),
                "{said}"
            );
            assert!(said.contains("“web” to the bot in chat"), "{said}");
        }
        assert!(browser.gets(path).await.status().as_u16() < 400, "{path}");
    }

    // A link works once. Guessing is rate limited, and whoever is signed in stays signed in.
    let (_, used) = parts(&link);
    let again = stranger.posts(used, &[]).await;
    assert_eq!(again.status(), StatusCode::FORBIDDEN);
    let said = again.text().await.unwrap();
    assert!(said.contains("“web” to the bot in chat"), "{said}");
    let mut statuses = Vec::new();
    for guess in 0..1_000 {
        let guessed = stranger.posts(&format!("/enter/{guess:064}"), &[]).await;
        statuses.push(guessed.status());
    }
    assert!(statuses.contains(&StatusCode::TOO_MANY_REQUESTS));
    assert!(
        statuses.iter().all(|it| it.is_client_error()),
        "{statuses:?}"
    );
    assert_eq!(browser.gets("/health").await.status(), StatusCode::OK);

    // Another site cannot use up a link or sign somebody out, nor read pages under its own host
    // name.
    let fresh = new_link(&home).await;
    let (_, path) = parts(&fresh);
    for origin in [Some("https://evil.example"), Some("null"), None] {
        for path in [path, "/sign-out"] {
            let posted = browser.client.post(format!("{}{path}", browser.origin));
            let mut posted = browser.with_cookie(posted);
            if let Some(origin) = origin {
                posted = posted.header(ORIGIN, origin);
            }
            let refused = posted.send().await.unwrap();
            assert_eq!(refused.status(), StatusCode::FORBIDDEN, "{origin:?} {path}");
        }
    }
    let rebound = browser.asks("/conversations").header(HOST, "evil.example");
    assert_eq!(
        rebound.send().await.unwrap().status(),
        StatusCode::FORBIDDEN
    );
    Browser::entered_by(&fresh).await;

    let page = browser.gets("/conversations").await;
    let policy = page.headers()["content-security-policy"].to_str().unwrap();
    for part in [
        "default-src 'none'",
        "script-src 'self'",
        "frame-ancestors 'none'",
    ] {
        assert!(
            policy.contains(part) && !policy.contains("unsafe"),
            "{policy}"
        );
    }
    assert_eq!(page.headers()["cache-control"], "no-store");
    let text = page.text().await.unwrap();
    assert!(
        !text.contains("http://") && !text.contains("https://"),
        "{text}"
    );

    let out = browser.posts("/sign-out", &[]).await;
    assert_eq!(out.status(), StatusCode::SEE_OTHER);
    assert_eq!(
        browser.gets("/health").await.status(),
        StatusCode::UNAUTHORIZED
    );
    serving.signal("TERM").await;
    serving.end().await.succeeds();
}

#[tokio::test(flavor = "multi_thread")]
async fn people_see_and_change_what_is_remembered_of_them() {
    let home = Home::new().with("WEB_ADDR", free_address());
    let said = [
        "The code of the coffee machine is 4711.",
        "The ferry leaves at nine.",
        "My sister lives in Turku.",
    ];
    // A bot that serves only a terminal, with its pages.
    let mut chat = home.start(&["chat"]);
    for text in said.into_iter().chain(["/web"]) {
        chat.say(text).await;
    }
    let mut line = String::new();
    while !line.contains("/enter/") {
        line = chat.line().await.unwrap();
    }
    let browser = Browser::entered_by(&link_in(&line)).await;

    let list = browser.sees("/conversations").await;
    assert!(list.contains("The code of the coffee machine"), "{list}");
    assert!(!list.contains("/health"), "{list}");
    let health = browser.gets("/health").await;
    assert_eq!(health.status(), StatusCode::NOT_FOUND);
    let own = browser.sees("/memory").await;
    assert_eq!(items(&own, "you said this to me").len(), 3);

    let ferry = items(&own, "ferry");
    let corrected = [("item", &*ferry[0]), ("text", "The ferry leaves at ten.")];
    let own = browser.does("/memory/correct", &corrected).await;
    assert!(own.contains("role=\"status\">Corrected"), "{own}");
    assert!(
        own.contains("leaves at ten") && own.contains("corrected on"),
        "{own}"
    );
    // The confirmation is shown once.
    assert!(!browser.sees("/memory").await.contains("role=\"status\""));
    let coffee = items(&own, "coffee");
    let forgotten = [("item", &*coffee[0])];
    let own = browser.does("/memory/forget", &forgotten).await;
    assert!(own.contains("role=\"status\">Forgotten"), "{own}");
    assert!(!own.contains("4711"), "{own}");
    let sister = items(&own, "Turku");
    // A note says what its author said, whatever the form says.
    let noted = [("item", &*sister[0]), ("text", "My sister lives in Oslo.")];
    let gone = browser.posts("/memory/forget", &forgotten).await;
    assert_eq!(gone.status(), StatusCode::NOT_FOUND);
    let own = browser.does("/memory/note", &noted).await;
    assert!(own.contains("you had this noted"), "{own}");
    assert_eq!(items(&own, "Turku").len(), 2, "{own}");
    assert!(!own.contains("Oslo"), "{own}");
    let recalled = browser
        .sees("/memory?question=Where+does+my+sister+live")
        .await;
    assert!(
        recalled.contains("Turku") && !recalled.contains("4711"),
        "{recalled}"
    );
    // It is their own sister, and they said all of it.
    assert!(
        recalled.contains("<td>+") && !recalled.contains("<td>+0.0</td>"),
        "{recalled}"
    );

    for (form, kind) in [("json", "application/json"), ("md", "text/markdown")] {
        let file = browser.posts("/memory/export", &[("form", form)]).await;
        assert_eq!(file.headers()["content-type"], kind);
        let disposition = file.headers()["content-disposition"].to_str().unwrap();
        assert!(
            disposition.starts_with("attachment; filename=\"muninn-"),
            "{disposition}"
        );
        let file = file.text().await.unwrap();
        assert!(
            file.contains("ferry leaves at ten") && !file.contains("4711"),
            "{file}"
        );
    }

    // Without a confirmation nothing is forgotten; with it everything is, and everybody is signed
    // out.
    let asked = browser.does("/memory/forget-me", &[]).await;
    assert!(asked.contains("Turku"), "{asked}");
    let done = browser.posts("/memory/forget-me", &[("sure", "yes")]).await;
    let done = done.text().await.unwrap();
    assert!(done.contains("<h1>Forgotten</h1>"), "{done}");
    let out = browser.gets("/memory").await;
    assert_eq!(out.status(), StatusCode::UNAUTHORIZED);
    chat.end().await.succeeds();
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_opens_the_pages_of_a_bot_sees_what_is_kept_of_them() {
    let (mut home, serving) = talked_to(&["remember that my tea is green"]).await;
    home.set("USER", "bob");
    home.chat(&[], &["remember that my tea is black"])
        .await
        .succeeds();
    let link = link_in(home.run(&["web"], "").await.succeeds());
    let own = Browser::entered_by(&link).await.sees("/memory").await;
    assert!(own.contains("tea is black"), "{own}");
    assert!(!own.contains("tea is green"), "{own}");
    serving.signal("TERM").await;
    serving.end().await.succeeds();
}

#[tokio::test(flavor = "multi_thread")]
async fn where_pages_cannot_be_served_it_says_what_to_do() {
    for (name, value, words) in [
        (
            "WEB_ADDR",
            "0.0.0.0:8088",
            ["WEB_ADDR 0.0.0.0:8088", "WEB_URL"],
        ),
        ("WEB_URL", "http://muninn.example", ["WEB_URL", "https://"]),
    ] {
        let home = Home::new().with(name, value);
        home.run(&["web"], "").await.fails(1, &words);
    }
    let home = Home::new().with("TERMINAL_SOCKET", "socket");
    let serving = serving(&home).await;
    home.run(&["web"], "")
        .await
        .fails(1, &["has no pages", "WEB_ADDR="]);
    serving.signal("TERM").await;
    serving.end().await.succeeds();
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium (MUNINN_CHROMIUM)"]
async fn in_a_real_browser_every_page_is_whole() {
    let installed = std::env::var("MUNINN_CHROMIUM")
        .expect("MUNINN_CHROMIUM is what tests/servers/chromium/chromium-install prints, a folder");
    let home = Home::new()
        .with("TERMINAL_SOCKET", "socket")
        .with("WEB_ADDR", free_address());
    speaks_of_ferries(&home).await;
    let said = [
        "The code of the coffee machine is 4711.",
        "Maria is on call this week.",
        "What is the code of the coffee machine?",
    ];
    home.chat(&[], &said).await.succeeds();
    std::fs::create_dir(home.path("docs")).unwrap();
    let notes = "# The office\n\nThe xylophone is kept in room 7, and the stapler is in room 3.\n";
    std::fs::write(home.path("docs/office.md"), notes).unwrap();
    home.run(&["ingest", "docs"], "").await.succeeds();
    home.run(&["demo", "movies"], "").await.succeeds();

    let serving = serving(&home).await;
    let screenshots = std::env::var_os("MUNINN_SCREENSHOTS");
    let screenshots = screenshots.map_or_else(|| home.path(""), Into::into);
    let script = "tests/servers/chromium/look.mjs";
    let persons = link_in(home.run(&["web"], "").await.succeeds());
    let looked = tokio::process::Command::new("node")
        .args([script, &installed, &new_link(&home).await, &persons])
        .arg(screenshots)
        .output();
    let looked = tokio::time::timeout(TIMEOUT * 5, looked)
        .await
        .unwrap()
        .unwrap();
    let said = String::from_utf8_lossy(&looked.stdout);
    let errors = String::from_utf8_lossy(&looked.stderr);
    assert!(looked.status.success(), "{said}{errors}");
    serving.signal("TERM").await;
    serving.end().await.succeeds();
}
