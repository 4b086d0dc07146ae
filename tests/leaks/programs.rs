//! The same for programs that ask for somebody: with every tool, each reads what its token names
//! and its person may read at that moment, and nothing else.

use reqwest::StatusCode;

use super::support::mcp::McpClient;
use super::support::model_server::ModelServer;
use super::support::program::{Program, end, free_address};
use super::*;

/// A person's program, and the places that it reads.
struct Reader {
    name: &'static str,
    client: McpClient,
    reads: Vec<&'static str>,
}

impl Reader {
    fn may_read(&self, kind: &str) -> bool {
        self.reads.contains(&kind)
    }

    /// Asserts that the output contains the secrets of these kinds of places, and no others.
    fn shows(&self, row: &str, came_out: &str, kinds: &[&str]) {
        for (kind, secret) in SECRETS {
            let name = self.name;
            let is_shown = came_out.contains(secret);
            assert_eq!(
                is_shown,
                kinds.contains(&kind),
                "{name}, {row}, {kind}: {came_out}"
            );
        }
    }
}

/// A place, by its id for programs.
struct Named {
    kind: &'static str,
    id: String,
}

/// Extracts the token from the bot's message.
fn token_in(said: &str) -> String {
    let at = said.find("muninn-mcp-").expect("a token");
    let is_of_token = |c: &char| c.is_ascii_alphanumeric() || *c == '-';
    said[at..].chars().take_while(is_of_token).collect()
}

/// Tells each place its secret.
async fn tell_all(server: &ModelServer, spots: &[SecretPlace; 3]) {
    for spot in spots {
        let text = format!("The code of the coffee machine is {}.", spot.secret);
        let ends = text.clone();
        server
            .expects(move |request| request.last_user().ends_with(&ends))
            .answers("Noted.");
        spot.asks(&text, "Noted.").await;
    }
}

const QUESTION: &str = "What is the code of the coffee machine?";

/// Returns the places of the secrets, as listed for a program that reads all of them.
async fn places(reader: &Reader) -> Vec<Named> {
    let found = reader
        .client
        .calls("search_memory", json!({"query": QUESTION}))
        .await;
    let results = found.structured["results"].as_array().unwrap().clone();
    let place = |(kind, secret): &(&'static str, &'static str)| {
        let is_of = |it: &&serde_json::Value| it["said"].as_str().unwrap().contains(secret);
        let result = results.iter().find(is_of);
        let result = result.unwrap_or_else(|| panic!("{kind}: {found:?}"));
        let id = result["place"].as_str().unwrap().to_owned();
        Named { kind, id }
    };
    SECRETS.iter().map(place).collect()
}

/// Lets each program try every tool in every place.
async fn check_all(server: &ModelServer, readers: &[Reader], places: &[Named], round: u32) {
    for reader in readers {
        let (name, client) = (reader.name, &reader.client);
        let listed = client.calls("list_sources", json!({})).await;
        let listed = listed.structured["places"].as_array().unwrap().clone();
        for Named { kind, id } in places {
            let is_listed = listed.iter().any(|it| it["id"] == *id);
            assert_eq!(
                is_listed,
                reader.may_read(kind),
                "{name} {kind}: {listed:?}"
            );
        }
        let everywhere = client
            .calls("search_memory", json!({"query": QUESTION}))
            .await;
        let came_out = format!("{everywhere:?}");
        reader.shows("everywhere", &came_out, &reader.reads);
        for Named { kind, id } in places {
            let own: &[&str] = if reader.may_read(kind) { &[kind] } else { &[] };
            let is_refused = own.is_empty();
            let search = json!({"query": QUESTION, "place": id});
            let found = client.calls("search_memory", search.clone()).await;
            reader.shows("search_memory", &format!("{found:?}"), own);
            assert_eq!(found.is_error, is_refused, "{name} {kind}: {found:?}");
            let found = client.calls("search_knowledge", search).await;
            reader.shows("search_knowledge", &format!("{found:?}"), &[]);
            assert_eq!(found.is_error, is_refused, "{name} {kind}: {found:?}");

            let ending = format!("({name} in {kind}, {round})?");
            if !is_refused {
                let ends = ending.clone();
                server
                    .expects(move |request| request.body["messages"].to_string().contains(&ends))
                    .answers("Asked and answered.");
            }
            let question = format!("What is the code of the coffee machine {ending}");
            let ask = json!({"question": question, "place": id});
            let asked = client.calls("ask", ask).await;
            assert_eq!(asked.is_error, is_refused, "{name} {kind}: {asked:?}");
            reader.shows("ask", &given(server, &ending), own);
            // The result includes what it was made from.
            reader.shows("ask", &format!("{:?}", asked.structured), own);

            let note = format!("{name} wants the bagel order {round} of {kind} at eight.");
            let noted = client
                .calls("remember", json!({"text": note, "place": id}))
                .await;
            assert_eq!(noted.is_error, is_refused, "{name} {kind}: {noted:?}");
            // A person's programs read that person's notes, if their tokens name the place.
            let person = |name: &str| name.split(' ').next().map(str::to_owned);
            let is_stranger = |it: &&Reader| person(it.name) != person(name) || !it.may_read(kind);
            for other in readers.iter().filter(is_stranger) {
                let found = other
                    .client
                    .calls("search_memory", json!({"query": note}))
                    .await;
                assert!(
                    !found.text.contains(&note),
                    "{name} to {}: {found:?}",
                    other.name
                );
            }
        }
    }
}

/// Asserts that a program on the bot's machine without a token gets nothing of the platforms.
async fn terminal_shows_nothing(program: &Program) {
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
    }});
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let search = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "search_memory", "arguments": {"query": QUESTION},
    }});
    let mut child = program
        .command(&["mcp"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut lines =
        tokio::io::AsyncBufReadExt::lines(tokio::io::BufReader::new(child.stdout.take().unwrap()));
    for line in [hello, ready, search] {
        let line = format!("{line}\n");
        tokio::io::AsyncWriteExt::write_all(&mut stdin, line.as_bytes())
            .await
            .unwrap();
    }
    for _ in 0..2 {
        let said = timeout(Duration::from_secs(60), lines.next_line()).await;
        let said = said.unwrap().unwrap().unwrap();
        for (kind, secret) in SECRETS {
            assert!(!said.contains(secret), "{kind}: {said}");
        }
    }
    drop(stdin);
    child.wait().await.unwrap();
}

/// Checks that a search shows what each reader may read now, and nothing else.
async fn check_search(readers: &[Reader]) {
    for reader in readers {
        let found = reader
            .client
            .calls("search_memory", json!({"query": QUESTION}))
            .await;
        reader.shows("after leaving", &format!("{found:?}"), &reader.reads);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_are_given_nothing_that_their_person_may_not_read_on_slack() {
    let server = ModelServer::start().await;
    let (slack, program) = with_slack(&server).await;
    let address = free_address();
    let program = program.with("MCP_ADDR", &*address);
    let bot = program.start();
    slack.connected(1).await;
    let (ann, bob) = (slack.admin("Ann"), slack.person("Bob"));
    let kitchen = slack.channel("kitchen");
    let private = slack.private_channel("secret", &[&ann]);
    let spots = SecretPlace::all([
        PlatformChat::Slack(ann.in_channel(&kitchen)),
        PlatformChat::Slack(ann.in_channel(&private)),
        PlatformChat::Slack(ann.with_bot()),
    ]);
    tell_all(&server, &spots).await;
    bob.in_channel(&kitchen);
    let made = async |chat: &loopback_slack::Chat, command: &str| {
        let before = chat.said().len();
        chat.slash("/muninn", command).await;
        let is_it = |it: &loopback_slack::Message| it.shown.contains("muninn-mcp-");
        let said = chat.finds("a token", is_it).await;
        assert!(
            said.is_ephemeral || chat.said().len() > before,
            "it is for them alone"
        );
        let all = chat.said();
        let last = all
            .iter()
            .rfind(|it| it.shown.contains("muninn-mcp-"))
            .unwrap();
        McpClient::new(&address, &token_in(&last.shown))
    };
    let mut readers = [
        Reader {
            name: "ann",
            client: made(&ann.with_bot(), "mcp token everywhere").await,
            reads: vec!["public", "private", "direct"],
        },
        Reader {
            name: "ann in the kitchen",
            client: made(&ann.in_channel(&kitchen), "mcp token for 2 hours").await,
            reads: vec!["public"],
        },
        Reader {
            name: "bob",
            client: made(&bob.with_bot(), "mcp token everywhere").await,
            reads: vec!["public"],
        },
    ];
    let places = places(&readers[0]).await;
    check_all(&server, &readers, &places, 1).await;
    terminal_shows_nothing(&program).await;

    // At the next call, memberships have changed.
    private.remove(&ann);
    readers[0].reads = vec!["public", "direct"];
    kitchen.remove(&bob);
    readers[2].reads = Vec::new();
    check_search(&readers).await;
    // If Slack does not answer, nobody is given anything.
    let fault = loopback_slack::ResponseFault::Error("internal_error");
    slack.fail_next("users.conversations", fault);
    let refused = readers[0]
        .client
        .calls("search_memory", json!({"query": QUESTION}))
        .await;
    assert!(refused.is_error, "{refused:?}");
    readers[0].shows("not told", &refused.text, &[]);

    // A token that is revoked in chat is invalid at once.
    let chat = ann.with_bot();
    chat.slash("/muninn", "mcp revoke all").await;
    chat.finds("that", |it| it.shown.contains("Revoked: 2 tokens"))
        .await;
    for reader in &readers[..2] {
        let out = reader.client.lists().await;
        assert_eq!(out.status(), StatusCode::UNAUTHORIZED);
    }
    end(bot).await;
    server.finish();
    slack.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_are_given_nothing_that_their_person_may_not_read_on_discord() {
    let server = ModelServer::start().await;
    let discord = Discord::start().await;
    let guild = discord.guild("Ravens");
    let address = free_address();
    let program = with_discord(&server, &discord).with("MCP_ADDR", &*address);
    let bot = program.start();
    discord.connected(1).await;
    discord.registered("ask").await;
    let (ann, bob) = (guild.person("ann"), guild.person("bob"));
    let channel = guild.text("kitchen");
    let kitchen = ann.at(&channel);
    let private = kitchen.open_private_thread("secret");
    private.brings(discord.bot());
    let spots = SecretPlace::all([
        PlatformChat::Discord(kitchen.clone()),
        PlatformChat::Discord(private.clone()),
        PlatformChat::Discord(ann.direct()),
    ]);
    tell_all(&server, &spots).await;
    let made = async |chat: &loopback_discord::Chat, what: &str| {
        let asked = chat.command("mcp", &[("what", json!(what))]);
        let is_it = |it: &loopback_discord::Message| it.text.contains("muninn-mcp-");
        let said = asked.finds("a token", is_it).await;
        assert!(said.is_ephemeral);
        McpClient::new(&address, &token_in(&said.text))
    };
    let mut readers = [
        Reader {
            name: "ann",
            client: made(&kitchen, "token everywhere").await,
            reads: vec!["public", "private", "direct"],
        },
        Reader {
            name: "ann alone",
            client: made(&ann.direct(), "token").await,
            reads: vec!["direct"],
        },
        Reader {
            name: "bob",
            client: made(&bob.at(&channel), "token everywhere").await,
            reads: vec!["public"],
        },
    ];
    let places = places(&readers[0]).await;
    check_all(&server, &readers, &places, 1).await;
    private.leaves_thread();
    readers[0].reads = vec!["public", "direct"];
    guild.loses(&bob);
    readers[2].reads = Vec::new();
    check_search(&readers).await;
    end(bot).await;
    server.finish();
    discord.finish();
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn programs_are_given_nothing_that_their_person_may_not_read_on_matrix() {
    let homeserver = homeserver();
    let server = ModelServer::start().await;
    let account = MatrixAccount::new(&homeserver, "muninn").await;
    let address = free_address();
    let program = with_matrix(&server, &homeserver, &account).with("MCP_ADDR", &*address);
    let bot = program.start();
    let (ann, bob) = (
        MatrixPerson::new(&homeserver, "ann").await,
        MatrixPerson::new(&homeserver, "bob").await,
    );
    let bobs = bob.room(&account.user, RoomKind::DIRECT).await;
    let spots = SecretPlace::rooms(&ann, &account).await;
    tell_all(&server, &spots).await;
    let [public, private, direct] = spots.map(SecretPlace::into_room);
    ann.bring(&public, &bob).await;
    let made = async |chat: &muninn_matrix::testing::MatrixChat| {
        chat.say("!muninn mcp token everywhere").await;
        let is_it = |it: &muninn_matrix::testing::RoomMessage| it.text.contains("muninn-mcp-");
        McpClient::new(
            &address,
            &token_in(&chat.finds("a token", is_it).await.text),
        )
    };
    let mut readers = [
        Reader {
            name: "ann",
            client: made(&direct).await,
            reads: vec!["public", "private", "direct"],
        },
        Reader {
            name: "bob",
            client: made(&bobs).await,
            reads: vec!["public"],
        },
    ];
    let places = places(&readers[0]).await;
    check_all(&server, &readers, &places, 1).await;
    ann.leaves(&private).await;
    readers[0].reads = vec!["public", "direct"];
    bob.leaves(&bob.seen_by(&public)).await;
    readers[1].reads = Vec::new();
    check_search(&readers).await;
    end(bot).await;
    server.finish();
}
