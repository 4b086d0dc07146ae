//! Commands while a bot runs: they go through the process that has opened the graph.

use std::io::Write as _;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream as StdStream};
use std::path::PathBuf;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;

use crate::home::{CliProcess, Home, TIMEOUT, eventually};

const NOTES: &str =
    "# The office\n\nThe xylophone is kept in room 7, and the stapler is in room 3.\n";

/// Starts a serving bot, and waits until it accepts commands.
pub(crate) async fn serving(home: &Home) -> CliProcess {
    let serving = home.start(&["serve"]);
    let path = home.path("muninn-data/admin.sock");
    tokio::select! {
        () = eventually("the admin socket", async || {
            StdStream::connect(&path).is_ok().then_some(())
        }) => {}
        () = tokio::time::sleep(TIMEOUT) => panic!("no socket: {}", serving.errors()),
    }
    serving
}

fn home() -> Home {
    let home = Home::new().with("TERMINAL_SOCKET", "socket");
    std::fs::create_dir(home.path("docs")).unwrap();
    std::fs::write(home.path("docs/office.md"), NOTES).unwrap();
    home
}

async fn json(home: &Home, arguments: &[&str]) -> Value {
    let done = home.run(arguments, "").await;
    serde_json::from_str(done.succeeds()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_command_works_while_the_bot_runs() {
    let home = home();
    home.chat(&[], &["The code of the coffee machine is 4711."])
        .await
        .succeeds();
    let serving = serving(&home).await;
    let socket = std::fs::symlink_metadata(home.path("muninn-data/admin.sock")).unwrap();
    assert!(socket.file_type().is_socket());
    assert_eq!(socket.permissions().mode() & 0o777, 0o600);

    let ingested = home.run(&["ingest", "docs"], "").await;
    assert!(ingested.succeeds().contains("1 new"), "{ingested:?}");
    let catalog = home.run(&["catalog"], "").await;
    assert!(
        catalog.succeeds().contains("docs  version 1"),
        "{catalog:?}"
    );
    let found = home.run(&["search", "where is the xylophone?"], "").await;
    assert!(found.succeeds().contains("room 7"), "{found:?}");
    let backfill = ["backfill", "slack/T1/C1", "--since", "2026-01-31"];
    let refused = home.run(&backfill, "").await;
    refused.fails(1, &["set memory = \"channel\" for slack/T1/C1"]);
    let schema = home.run(&["schema"], "").await;
    assert!(schema.succeeds().contains("Document"), "{schema:?}");
    let sessions = home.run(&["sessions"], "").await;
    assert!(
        sessions.succeeds().contains("terminal/default"),
        "{sessions:?}"
    );
    let recalled = home
        .run(&["recall", "the code of the coffee machine?"], "")
        .await;
    assert!(recalled.succeeds().contains("4711"), "{recalled:?}");
    let doctor = home.run(&["doctor"], "").await;
    let open = format!("open in process {}", serving.pid());
    assert!(doctor.succeeds().contains(&open), "{doctor:?}");
    home.run(&["demo", "movies"], "").await.succeeds();

    // Paths are relative to the folder in which the command runs.
    home.run(&["export", "export.jsonl"], "").await.succeeds();
    let exported = std::fs::read_to_string(home.path("export.jsonl")).unwrap();
    assert!(exported.contains("xylophone") && exported.contains("The Matrix"));

    // A failure there fails the command here.
    let missing = home.run(&["ingest", "nowhere"], "").await;
    missing.fails(1, &["nowhere"]);

    serving.signal("TERM").await;
    serving.end().await.succeeds();
    assert!(!home.path("muninn-data/admin.sock").exists());
    // And the same without it.
    let catalog = home.run(&["catalog"], "").await;
    assert!(
        catalog.succeeds().contains("docs  version 1"),
        "{catalog:?}"
    );
}

/// Offline turns, Cypher that is checked line by line, and what cannot be done while a bot runs.
#[tokio::test(flavor = "multi_thread")]
async fn the_rest_of_the_commands_works_while_the_bot_runs_or_says_why_not() {
    let home = home();
    home.run(&["demo", "movies"], "").await.succeeds();
    home.run(&["export", "export.jsonl"], "").await.succeeds();
    let serving = serving(&home).await;
    let retried = home.run(&["offline-turns", "retry"], "").await;
    let said = "Tried again: 0 turns. Still refused: 0 turns. Waiting: 0 turns.\n";
    assert_eq!(retried.succeeds(), said);
    let listed = home.run(&["offline-turns", "list"], "").await;
    assert!(
        listed.succeeds().contains("Waiting for the graph: 0 turns"),
        "{listed:?}"
    );
    let discarded = home.run(&["offline-turns", "discard"], "").await;
    assert_eq!(discarded.succeeds(), "Removed: 0 turns.\n");

    let statement = "MATCH (m:Movie) RETURN m.title";
    let checked = home.run(&["cypher", "check", statement], "").await;
    assert!(checked.succeeds().contains("Movie"), "{checked:?}");
    let refused = home
        .run(&["cypher", "check", "MATCH (m:Mvie) RETURN m"], "")
        .await;
    assert!(refused.out.contains("Mvie"), "{refused:?}");
    // A program asks, reads the response, and asks again.
    let mut asking = home.start(&["cypher", "check", "-"]);
    for _ in 0..2 {
        asking.say(statement).await;
        let answer: Value = serde_json::from_str(&asking.line().await.unwrap()).unwrap();
        assert_eq!(answer["ok"], json!(true));
    }
    asking.end().await.succeeds();

    let imported = home.run(&["import", "export.jsonl", "--replace"], "").await;
    let process = format!("process {} has the graph open", serving.pid());
    imported.fails(1, &[&process, "end that process"]);
    serving.signal("TERM").await;
    serving.end().await.succeeds();
    home.run(&["import", "export.jsonl", "--replace"], "")
        .await
        .succeeds();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_shown_can_be_read_by_a_script_with_and_without_a_bot() {
    let home = home();
    home.chat(&[], &["The code of the coffee machine is 4711."])
        .await
        .succeeds();
    home.run(&["ingest", "docs"], "").await.succeeds();
    let all: [&[&str]; 6] = [
        &["catalog", "--json"],
        &["search", "xylophone", "--json"],
        &["schema", "--json"],
        &["sessions", "--json"],
        &["recall", "the code of the coffee machine?", "--json"],
        &["doctor", "--json"],
    ];
    let mut alone = Vec::new();
    for arguments in all {
        alone.push(json(&home, arguments).await);
    }
    let [catalog, search, schema, sessions, recall, doctor] = alone.as_slice() else {
        panic!("{alone:?}");
    };
    assert_eq!(catalog[0]["name"], "docs");
    assert_eq!(catalog[0]["version"], 1);
    assert_eq!(catalog[0]["warnings"], json!([]));
    assert_eq!(search["hits"][0]["source"], "docs");
    assert!(search["hits"][0]["scores"]["total"].is_f64(), "{search}");
    assert!(schema["nodes"]["Document"].is_array(), "{schema}");
    assert_eq!(sessions[0]["id"], "terminal/default");
    assert_eq!(sessions[0]["turns"], 1);
    assert_eq!(recall[0]["verdict"], "and quoted");
    assert_eq!(recall[0]["recalled"], true);
    assert!(recall[0]["question"].as_str().unwrap().contains("4711"));
    let part = |name: &str| {
        doctor
            .as_array()
            .unwrap()
            .iter()
            .find(|it| it["part"] == name)
    };
    assert_eq!(part("prompts").unwrap()["verdict"], "ok");
    assert_eq!(part("model").unwrap()["verdict"], "note");

    let serving = serving(&home).await;
    for (arguments, alone) in all.iter().zip(&alone).take(5) {
        let running = json(&home, arguments).await;
        assert_eq!(shape(&running), shape(alone), "{arguments:?}");
    }
    serving.signal("TERM").await;
    serving.end().await.succeeds();
}

#[tokio::test(flavor = "multi_thread")]
async fn recall_reads_a_question_as_if_somebody_asked_it_now() {
    let home = home();
    home.chat(&[], &["The code of the coffee machine is 4711."])
        .await
        .succeeds();
    let recalled = async |question: &str, more: &[&str]| {
        let arguments = [&["recall", question, "--json"], more].concat();
        json(&home, &arguments).await[0].clone()
    };
    let plain = recalled("What is the code of the coffee machine?", &[]).await;
    let author = plain["author"].as_str().unwrap();
    let asked_as = ["--as", author];
    let hints = |recalled: &Value| recalled["hints"].as_f64().unwrap();
    for (question, more) in [
        (
            "What was the code of the coffee machine yesterday?",
            [].as_slice(),
        ),
        ("What is the code of my coffee machine?", &asked_as),
    ] {
        let recalled = recalled(question, more).await;
        assert!(
            hints(&recalled) > hints(&plain) + 0.3,
            "{question}: {recalled}"
        );
    }
    let unknown = home.run(&["recall", "my code", "--as", "nobody"], "").await;
    unknown.fails(1, &["nobody called nobody"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_listed_and_done_can_be_read_by_a_script_too() {
    let home = home().with("CHANNEL_SETTINGS", "channels.toml");
    let held = "['slack/T1/C1']\nlegal_hold = true\n";
    std::fs::write(home.path("channels.toml"), held).unwrap();
    std::fs::create_dir(home.path("muninn-data")).unwrap();
    let origin = "[office]\npath = \"../docs\"\n";
    std::fs::write(home.path("muninn-data/sources.toml"), origin).unwrap();
    let broken = "---\ntitle: a: b\n---\nThe parrot is loud.\n";
    std::fs::write(home.path("docs/parrot.md"), broken).unwrap();

    let dry = json(&home, &["ingest", "docs", "--dry-run", "--json"]).await;
    assert_eq!(dry["dry_run"], true);
    let source = &dry["sources"][0];
    assert_eq!(
        (&source["name"], &source["new"]),
        (&json!("docs"), &json!(2))
    );
    assert_eq!(source["version"], Value::Null);
    let fate = json!({"file": "office.md", "fate": "new", "reason": null});
    assert_eq!(source["files"][0], fate);
    let warning = source["warnings"][0].as_str().unwrap();
    assert!(
        warning.starts_with("docs/parrot.md: its front matter"),
        "{warning}"
    );
    let catalog = json(&home, &["catalog", "--json"]).await;
    assert_eq!(catalog.as_array().unwrap().len(), 1, "{catalog}");
    assert_eq!(
        catalog[0]["version"], 0,
        "only what is refreshed: {catalog}"
    );

    let statement = "MATCH (d:Document) RETURN d.title";
    let all: [&[&str]; 6] = [
        &["ingest", "docs", "--json"],
        &["source", "refresh", "--json"],
        &["source", "originals", "docs", "--json"],
        &["offline-turns", "list", "--json"],
        &["hold", "list", "--json"],
        &["cypher", "check", statement, "--json"],
    ];
    let mut alone = Vec::new();
    for arguments in all {
        alone.push(json(&home, arguments).await);
    }
    let [ingest, refresh, originals, offline, hold, cypher] = alone.as_slice() else {
        panic!("{alone:?}");
    };
    assert_eq!(ingest["sources"][0]["version"], 1);
    assert_eq!(ingest["left_alone"], json!([]));
    assert_eq!(refresh[0]["sources"][0]["name"], "office");
    assert_eq!(refresh[0]["error"], Value::Null);
    assert_eq!(originals, &json!([]));
    assert_eq!(offline, &json!({"waiting": 0, "refused": []}));
    let place = json!([{"place": "slack/T1/C1", "held": true, "copies": 0}]);
    assert_eq!(hold, &place);
    assert_eq!(cypher["ok"], true);
    let refused = home
        .run(
            &["cypher", "check", "MATCH (d:Dcument) RETURN d", "--json"],
            "",
        )
        .await;
    refused.fails(1, &[]);
    let refused: Value = serde_json::from_str(&refused.out).unwrap();
    assert_eq!(refused["ok"], false);

    std::fs::write(home.path("muninn-data/sources.toml"), "").unwrap();
    let health = home.run(&["health", "--json"], "").await;
    health.fails(1, &[]);
    let health: Value = serde_json::from_str(&health.out).unwrap();
    assert_eq!(health["well"], json!(false));
    let trouble = health["trouble"].as_str().unwrap();
    assert!(trouble.contains("start `muninn serve`"), "{trouble}");
    let serving = serving(&home).await;
    let health = json(&home, &["health", "--json"]).await;
    assert_eq!(health, json!({"well": true, "trouble": null}));
    for (arguments, alone) in all.iter().zip(&alone) {
        // Nothing is left to refresh.
        if arguments[1] != "refresh" {
            let running = json(&home, arguments).await;
            assert_eq!(shape(&running), shape(alone), "{arguments:?}");
        }
    }
    serving.signal("TERM").await;
    serving.end().await.succeeds();
}

/// As in `muninn catalog | head -1`, with and without a bot.
#[tokio::test(flavor = "multi_thread")]
async fn who_has_read_enough_ends_a_command_quietly() {
    // Log lines are no complaints.
    let home = home().with("LOG", "warn");
    home.chat(&[], &["The code of the coffee machine is 4711."])
        .await
        .succeeds();
    home.run(&["ingest", "docs"], "").await.succeeds();
    let through_the_bot: [&[&str]; 8] = [
        &["catalog"],
        &["catalog", "--json"],
        &["search", "xylophone"],
        &["schema"],
        &["sessions"],
        &["recall", "the code of the coffee machine?"],
        &["doctor"],
        &["offline-turns", "list"],
    ];
    let by_itself: [&[&str]; 5] = [
        &["cypher", "check", "MATCH (d:Document) RETURN d.title"],
        &["audit", "--json"],
        &["completions", "bash"],
        &["man"],
        &["--help"],
    ];
    for arguments in through_the_bot.into_iter().chain(by_itself) {
        let done = home.run_unread(arguments).await;
        done.succeeds();
        assert_eq!(done.err, "", "{arguments:?}");
    }
    let serving = serving(&home).await;
    for arguments in through_the_bot.into_iter().chain([&["health"][..]]) {
        let done = home.run_unread(arguments).await;
        done.succeeds();
        assert_eq!(done.err, "", "{arguments:?}");
    }
    serving.signal("TERM").await;
    serving.end().await.succeeds();
}

/// Returns the field names of a value, without the contents.
fn shape(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(name, value)| (name.clone(), shape(value)));
            Value::Object(fields.collect())
        }
        Value::Array(all) => Value::Array(all.iter().map(shape).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Value::Null,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bot_that_was_killed_leaves_nothing_in_the_way() {
    let home = home();
    let mut killed = serving(&home).await;
    killed.kill().await;
    assert!(home.path("muninn-data/admin.sock").exists());
    home.run(&["sessions"], "").await.succeeds();
    // The next one replaces it.
    let serving = serving(&home).await;
    home.run(&["sessions"], "").await.succeeds();
    serving.signal("TERM").await;
    serving.end().await.succeeds();
}

#[tokio::test(flavor = "multi_thread")]
async fn nonsense_is_answered_and_harms_nobody() {
    let home = home();
    let serving = serving(&home).await;
    let path = home.path("muninn-data/admin.sock");
    for nonsense in [
        b"GET / HTTP/1.0\r\n\r\n".as_slice(),
        b"\xFF\xFE\n",
        b"{}\n",
        b"{\"what\":{\"run\":{\"delete_everything\":{}}},\"shows_progress\":false}\n",
        b"null\n\n\n",
    ] {
        let mut stream = BufReader::new(UnixStream::connect(&path).await.unwrap());
        let mut hello = String::new();
        stream.read_line(&mut hello).await.unwrap();
        let hello: Value = serde_json::from_str(&hello).unwrap();
        assert_eq!(hello["pid"], serving.pid());
        stream.get_mut().write_all(nonsense).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.contains("failed"), "{answer:?}");
    }
    // A client that disconnects at once, and one that sends more than is accepted.
    drop(UnixStream::connect(&path).await.unwrap());
    let mut endless = StdStream::connect(&path).unwrap();
    let block = vec![b'x'; 1024 * 1024];
    let refused =
        tokio::task::spawn_blocking(move || (0..64).any(|_| endless.write_all(&block).is_err()));
    assert!(refused.await.unwrap(), "it reads no more than a request");
    home.run(&["sessions"], "").await.succeeds();
    serving.signal("TERM").await;
    serving.end().await.succeeds();
}

#[tokio::test(flavor = "multi_thread")]
async fn too_many_at_once_are_told_to_come_later() {
    let home = home();
    let serving = serving(&home).await;
    let path = home.path("muninn-data/admin.sock");
    let connects = async || {
        let mut stream = BufReader::new(UnixStream::connect(&path).await.unwrap());
        stream.read_line(&mut String::new()).await.unwrap();
        stream
    };
    let chat = json!({
        "what": {"chat": {"session": "default", "person": "ada"}}, "shows_progress": false,
    });
    let mut waiting = Vec::new();
    for _ in 0..16 {
        let mut stream = connects().await;
        stream
            .write_all(format!("{chat}\n").as_bytes())
            .await
            .unwrap();
        waiting.push(stream);
    }
    let refused = eventually("no room for a command", async || {
        let done = home.run(&["sessions"], "").await;
        (!done.status.success()).then_some(done)
    })
    .await;
    refused.fails(1, &["has too many commands", "try again later"]);
    // Whoever watches the bot is answered.
    home.run(&["health"], "").await.succeeds();
    let well = json(&home, &["health", "--json"]).await;
    assert_eq!(well, json!({"well": true, "trouble": null}));
    // Connections have a limit too, and JSON is JSON.
    for _ in 16..64 {
        waiting.push(connects().await);
    }
    let told = home.run(&["health", "--json"], "").await;
    assert_eq!(told.status.code(), Some(1), "{told:?}");
    let told: Value = serde_json::from_str(&told.out).unwrap();
    let trouble = told["trouble"].as_str().unwrap();
    assert!(trouble.contains("has too many commands"), "{told}");
    drop(waiting);
    eventually("room for a command", async || {
        let done = home.run(&["sessions"], "").await;
        done.status.success().then_some(())
    })
    .await;
    serving.signal("TERM").await;
    serving.end().await.succeeds();
}

#[tokio::test(flavor = "multi_thread")]
async fn another_version_is_named() {
    let home = home();
    home.run(&["sessions"], "").await.succeeds();
    let path = home.path("muninn-data/admin.sock");
    // The id of this folder's graph, from the program itself.
    let serving = serving(&home).await;
    let mut hello = String::new();
    let mut stream = BufReader::new(UnixStream::connect(&path).await.unwrap());
    stream.read_line(&mut hello).await.unwrap();
    serving.signal("TERM").await;
    serving.end().await.succeeds();

    let older = hello.replace(env!("CARGO_PKG_VERSION"), "0.0.1");
    assert_ne!(older, hello);
    let listener = UnixListener::bind(&path).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    let answering = tokio::task::spawn_blocking(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(older.as_bytes()).unwrap();
        stream
    });
    let refused = home.run(&["sessions"], "").await;
    refused.fails(1, &["runs muninn 0.0.1", "restart that process"]);
    answering.await.unwrap();

    // A socket that others may have created is not used.
    let _listener = {
        std::fs::remove_file(&path).unwrap();
        UnixListener::bind(&path).unwrap()
    };
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o777)).unwrap();
    let refused = home.run(&["sessions"], "").await;
    refused.fails(1, &["admin.sock cannot be used", "others may open it"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_for_another_graph_is_none_for_that_process() {
    let home = home();
    let serving = serving(&home).await;
    let elsewhere = home
        .run(&["--graph-url=embedded:other", "demo", "movies"], "")
        .await;
    elsewhere.succeeds();
    let schema = home.run(&["schema"], "").await;
    assert!(schema.succeeds().contains("no knowledge"), "{schema:?}");
    serving.signal("TERM").await;
    serving.end().await.succeeds();
}

/// A command that names no graph would else make one of its own beside it, in which nothing is.
#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_names_no_graph_means_that_of_the_process_with_its_folder() {
    let mut home = home().with("GRAPH_URL", "embedded:other");
    let said = ["The code of the coffee machine is 4711."];
    home.chat(&[], &said).await.succeeds();
    let serving = serving(&home).await;
    home.unset("GRAPH_URL");
    home.run(&["export", "export.jsonl"], "").await.succeeds();
    let exported = std::fs::read_to_string(home.path("export.jsonl")).unwrap();
    assert!(exported.contains("4711"), "{exported}");
    home.run(&["health"], "").await.succeeds();
    let imported = home.run(&["import", "export.jsonl", "--replace"], "").await;
    let process = format!("process {} has the graph open", serving.pid());
    imported.fails(1, &[&process]);
    assert!(!home.path("muninn-data/graph.kgl").exists());
    // Whether it is well does not depend on the graph that a command would open.
    let health = home.run(&["--graph-url=embedded:third", "health"], "");
    health.await.succeeds();
    serving.signal("TERM").await;
    serving.end().await.succeeds();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_path_that_is_too_long_for_a_socket_has_it_elsewhere() {
    let home = Home::new();
    let long = home.path(&"x".repeat(100));
    let name = long.file_name().unwrap().to_str().unwrap().to_owned();
    let temporary = home.path("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let home = home
        .with("TERMINAL_SOCKET", "socket")
        .with("DATA_DIR", &name)
        .with("GRAPH_URL", format!("embedded:{name}"))
        .with("TMPDIR", temporary.to_str().unwrap());
    let serving = home.start(&["serve"]);
    let told = eventually("where it is", async || {
        std::fs::read_to_string(long.join("admin.path")).ok()
    })
    .await;
    let socket = PathBuf::from(told);
    eventually("the socket", async || {
        StdStream::connect(&socket).is_ok().then_some(())
    })
    .await;
    eventually("that it is told", async || {
        let told = serving.errors().contains("too long for a socket");
        told.then_some(())
    })
    .await;
    home.run(&["sessions"], "").await.succeeds();
    serving.signal("TERM").await;
    serving.end().await.succeeds();
    assert!(!socket.exists());
    home.run(&["sessions"], "").await.succeeds();
}
