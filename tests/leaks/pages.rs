//! The same for the pages: each person sees what they may read in chat at that moment, and nothing
//! else.
//!
//! The operator's pages list everything; then every reader tries all of it.

use reqwest::StatusCode;

use super::support::browser::{Browser, addresses, items, link_in};
use super::support::model_server::ModelServer;
use super::support::program::{Program, end, free_address};
use super::*;

/// A person, and the places that they may read.
struct Reader {
    name: &'static str,
    browser: Browser,
    reads: Vec<&'static str>,
}

impl Reader {
    async fn new(name: &'static str, link: &str, reads: &[&'static str]) -> Self {
        Self {
            name,
            browser: Browser::entered_by(link).await,
            reads: reads.to_vec(),
        }
    }

    fn may_read(&self, secret: &str) -> bool {
        let mut secrets = SECRETS.iter();
        secrets.any(|(kind, it)| *it == secret && self.reads.contains(kind))
    }
}

/// A page that shows a secret.
struct LeakingPage {
    address: String,
    /// The secret that it shows.
    secret: &'static str,
}

/// Returns every page that shows a secret, as the operator sees them.
async fn pages_of(operator: &Browser) -> Vec<LeakingPage> {
    let mut pages = Vec::new();
    let list = operator.sees("/conversations").await;
    for address in addresses(&list, "/conversation?") {
        let shown = operator.sees(&address).await;
        let Some((_, secret)) = SECRETS.iter().find(|(_, secret)| shown.contains(secret)) else {
            continue;
        };
        pages.push(LeakingPage { address, secret });
        for why in addresses(&shown, "/why?") {
            for address in [why.replace("/why?", "/why/picture?"), why] {
                pages.push(LeakingPage { address, secret });
            }
        }
    }
    assert!(pages.len() >= 3 * SECRETS.len(), "{}", pages.len());
    pages
}

/// Returns the places that the operator can choose.
async fn places_of(operator: &Browser) -> Vec<String> {
    let page = operator.sees("/memory").await;
    let (_, places) = page.split_once("<select name=\"place\">").unwrap();
    super::support::browser::values(places, "value")
}

/// Lets each reader try every page; returns the number of looks.
async fn check_all(readers: &[Reader], pages: &[LeakingPage], places: &[String]) -> usize {
    let mut looks = 0;
    for reader in readers {
        let name = reader.name;
        for LeakingPage { address, secret } in pages {
            looks += 1;
            let (status, shown) = reader.browser.reads(address).await;
            if reader.may_read(secret) {
                assert!(shown.contains(secret), "{name} {address}: {shown}");
                continue;
            }
            assert_eq!(status, StatusCode::NOT_FOUND, "{name} {address}");
            for (kind, secret) in SECRETS {
                assert!(!shown.contains(secret), "{name} {address}: {kind}");
            }
        }
        let mut asked = vec![
            "/conversations".to_owned(),
            "/conversations?words=coffee".to_owned(),
            "/conversations?person=ann&feedback=".to_owned(),
            "/memory".to_owned(),
            "/memory?words=coffee".to_owned(),
            "/knowledge?question=coffee".to_owned(),
        ];
        for place in places {
            for path in [
                "/memory?question=What+is+the+code%3F",
                "/knowledge?question=coffee",
                "/conversations?words=coffee",
            ] {
                asked.push(format!("{path}&place={}", place.replace('#', "%23")));
            }
        }
        for address in asked {
            looks += 1;
            let (_, shown) = reader.browser.reads(&address).await;
            for (kind, secret) in SECRETS {
                let leaks = shown.contains(secret) && !reader.may_read(secret);
                assert!(!leaks, "{name} {address}: {kind} leaks: {shown}");
            }
        }
        // The control: what they may read is listed.
        let list = reader.browser.sees("/conversations").await;
        for (kind, secret) in SECRETS {
            let is_listed = list.contains(secret);
            assert_eq!(is_listed, reader.may_read(secret), "{name} {kind}: {list}");
        }
        let health = reader.browser.gets("/health").await;
        assert_eq!(health.status(), StatusCode::NOT_FOUND, "{name}");
    }
    looks
}

/// Asserts that nobody changes here what they cannot change elsewhere.
async fn nobody_changes(other: &Reader, ann: &Reader) {
    let own = ann.browser.sees("/memory").await;
    let all = items(&own, "coffee");
    assert!(all.len() >= SECRETS.len(), "{own}");
    for item in &all {
        for path in ["/memory/forget", "/memory/correct", "/memory/note"] {
            let fields = [("item", item.as_str()), ("text", "It is 0815.")];
            let done = other.browser.posts(path, &fields).await;
            let status = done.status();
            if path == "/memory/note" {
                // Who reads a place may perhaps not write there.
                assert_eq!(status, StatusCode::NOT_FOUND, "{}", other.name);
                continue;
            }
            assert!(
                status == StatusCode::NOT_FOUND || status == StatusCode::SEE_OTHER,
                "{status}"
            );
            if status == StatusCode::SEE_OTHER {
                let said = other.browser.sees("/memory").await;
                assert!(said.contains("role=\"status\">"), "{said}");
                assert!(!said.contains("status\">Forgotten"), "{said}");
                assert!(!said.contains("status\">Corrected"), "{said}");
            }
        }
    }
    let after = ann.browser.sees("/memory").await;
    assert_eq!(items(&after, "coffee"), all);
}

async fn operator(program: &Program) -> Browser {
    Browser::entered_by(&link_in(&program.says(&["web", "--admin"]).await)).await
}

/// Tells each place its secret; returns the operator's view.
async fn tell_all(
    server: &ModelServer,
    program: &Program,
    spots: &[SecretPlace; 3],
) -> (Vec<LeakingPage>, Vec<String>) {
    for spot in spots {
        let text = format!("The code of the coffee machine is {}.", spot.secret);
        let ends = text.clone();
        server
            .expects(move |request| request.last_user().ends_with(&ends))
            .answers("Noted.");
        spot.asks(&text, "Noted.").await;
    }
    let operator = operator(program).await;
    (pages_of(&operator).await, places_of(&operator).await)
}

/// Returns the link that `/muninn web` gives a person, visible to them alone.
async fn slack_link(chat: &loopback_slack::Chat) -> String {
    chat.slash("/muninn", "web").await;
    let is_it = |it: &loopback_slack::Message| it.is_ephemeral && it.shown.contains("/enter/");
    link_in(&chat.finds("a link", is_it).await.shown)
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_show_nobody_what_they_may_not_read_on_slack() {
    let server = ModelServer::start().await;
    let (slack, program) = with_slack(&server).await;
    let program = program.with("WEB_ADDR", free_address());
    let bot = program.start();
    slack.connected(1).await;
    let (ann, bob, eve) = (slack.admin("Ann"), slack.person("Bob"), slack.person("Eve"));
    let (kitchen, private) = (
        slack.channel("kitchen"),
        slack.private_channel("secret", &[&ann]),
    );
    let spots = SecretPlace::all([
        PlatformChat::Slack(ann.in_channel(&kitchen)),
        PlatformChat::Slack(ann.in_channel(&private)),
        PlatformChat::Slack(ann.with_bot()),
    ]);
    let (pages, places) = tell_all(&server, &program, &spots).await;
    bob.in_channel(&kitchen);
    let everywhere = ["public", "private", "direct"];
    let mut readers = [
        Reader::new(
            "Ann",
            &slack_link(&ann.in_channel(&kitchen)).await,
            &everywhere,
        )
        .await,
        Reader::new("Bob", &slack_link(&bob.with_bot()).await, &["public"]).await,
        Reader::new("Eve", &slack_link(&eve.with_bot()).await, &[]).await,
    ];
    let looks = check_all(&readers, &pages, &places).await;
    assert!(looks > 60, "{looks}");
    nobody_changes(&readers[1], &readers[0]).await;
    nobody_changes(&readers[2], &readers[0]).await;

    // At the next click, memberships have changed.
    private.remove(&ann);
    readers[0].reads = vec!["public", "direct"];
    kitchen.remove(&bob);
    readers[1].reads = Vec::new();
    eve.in_channel(&kitchen);
    readers[2].reads = vec!["public"];
    check_all(&readers, &pages, &places).await;

    // If Slack does not answer, nobody sees anything.
    slack.fail_next(
        "users.conversations",
        loopback_slack::ResponseFault::Error("internal_error"),
    );
    let (status, shown) = readers[0].browser.reads("/conversations").await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(!shown.contains("coffee"), "{shown}");

    // Signing out by a command in chat takes effect at once.
    let chat = ann.with_bot();
    chat.slash("/muninn", "web sign out").await;
    chat.finds("that", |it| it.shown.contains("signed out"))
        .await;
    let out = readers[0].browser.gets("/memory").await;
    assert_eq!(out.status(), StatusCode::UNAUTHORIZED);
    end(bot).await;
    server.finish();
    slack.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_show_nobody_what_they_may_not_read_on_discord() {
    let server = ModelServer::start().await;
    let discord = Discord::start().await;
    let guild = discord.guild("Ravens");
    let program = with_discord(&server, &discord).with("WEB_ADDR", free_address());
    let bot = program.start();
    discord.connected(1).await;
    discord.registered("ask").await;
    let (ann, bob, eve) = (
        guild.person("ann"),
        guild.person("bob"),
        guild.person("eve"),
    );
    let channel = guild.text("kitchen");
    let kitchen = ann.at(&channel);
    let private = kitchen.open_private_thread("secret");
    private.brings(discord.bot());
    let spots = SecretPlace::all([
        PlatformChat::Discord(kitchen.clone()),
        PlatformChat::Discord(private.clone()),
        PlatformChat::Discord(ann.direct()),
    ]);
    let (pages, places) = tell_all(&server, &program, &spots).await;
    let link = async |chat: &loopback_discord::Chat| {
        let asked = chat.command("web", &[]);
        let is_it = |it: &loopback_discord::Message| it.text.contains("/enter/");
        let said = asked.finds("a link", is_it).await;
        assert!(said.is_ephemeral);
        link_in(&said.text)
    };
    let everywhere = ["public", "private", "direct"];
    let mut readers = [
        Reader::new("Ann", &link(&kitchen).await, &everywhere).await,
        Reader::new("Bob", &link(&bob.at(&channel)).await, &["public"]).await,
        Reader::new("Eve", &link(&eve.direct()).await, &["public"]).await,
    ];
    check_all(&readers, &pages, &places).await;
    nobody_changes(&readers[1], &readers[0]).await;

    private.leaves_thread();
    readers[0].reads = vec!["public", "direct"];
    private.brings(bob.id());
    readers[1].reads = vec!["public", "private"];
    guild.loses(&eve);
    readers[2].reads = Vec::new();
    check_all(&readers, &pages, &places).await;
    end(bot).await;
    server.finish();
    discord.finish();
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn pages_show_nobody_what_they_may_not_read_on_matrix() {
    let homeserver = homeserver();
    let server = ModelServer::start().await;
    let account = MatrixAccount::new(&homeserver, "muninn").await;
    let program = with_matrix(&server, &homeserver, &account).with("WEB_ADDR", free_address());
    let bot = program.start();
    let (ann, bob) = (
        MatrixPerson::new(&homeserver, "ann").await,
        MatrixPerson::new(&homeserver, "bob").await,
    );
    let bobs = bob.room(&account.user, RoomKind::DIRECT).await;
    let spots = SecretPlace::rooms(&ann, &account).await;
    let (pages, places) = tell_all(&server, &program, &spots).await;
    let [public, private, direct] = spots.map(SecretPlace::into_room);
    ann.bring(&public, &bob).await;
    let link = async |chat: &muninn_matrix::testing::MatrixChat| {
        chat.say("!muninn web").await;
        let is_it = |it: &muninn_matrix::testing::RoomMessage| it.text.contains("/enter/");
        link_in(&chat.finds("a link", is_it).await.text)
    };
    let everywhere = ["public", "private", "direct"];
    let mut readers = [
        Reader::new("Ann", &link(&direct).await, &everywhere).await,
        Reader::new("Bob", &link(&bobs).await, &["public"]).await,
    ];
    check_all(&readers, &pages, &places).await;
    nobody_changes(&readers[1], &readers[0]).await;

    ann.leaves(&private).await;
    readers[0].reads = vec!["public", "direct"];
    bob.leaves(&bob.seen_by(&public)).await;
    readers[1].reads = Vec::new();
    check_all(&readers, &pages, &places).await;
    end(bot).await;
    server.finish();
}
