//! User errors: each gets a sentence that says what to do, and nothing is lost.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::home::{Exported, Home, NOTED};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::pdf::pdf;
use crate::support::program::free_address;

/// Creates a home with content.
async fn lived_in() -> (Home, Exported) {
    let home = Home::new();
    home.chat(&[], &["The code of the coffee machine is 4711."])
        .await
        .succeeds();
    let exported = home.export().await;
    (home, exported)
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_that_are_no_messages_are_said_and_the_others_answered() {
    let home = Home::new();
    let blank = home
        .chat(&[], &["", "  \t", "", "The door is green."])
        .await;
    assert_eq!(blank.succeeds(), format!("{NOTED}\n"));
    assert_eq!(home.run(&["chat"], "").await.succeeds(), "");

    let unknown = home.chat(&[], &["/nonsense"]).await;
    assert!(
        unknown.succeeds().contains("no command \"nonsense\""),
        "{unknown:?}"
    );

    let mut bytes = b"a\xff\xfeb\n".to_vec();
    bytes.extend_from_slice(b"The cat is called Miso.\n");
    let invalid = home.run(&["chat"], bytes).await;
    invalid.fails(
        1,
        &[
            "line 1 is not valid UTF-8",
            "1 of the lines could not be read",
        ],
    );
    assert_eq!(invalid.out, format!("{NOTED}\n"));

    let long = format!("{}\nThe dog is called Rex.\n", "x".repeat(1_000_000));
    let long = home.run(&["chat"], long).await;
    let lines = long.succeeds();
    assert!(lines.starts_with("That message has 1000000 characters; I read at most 20000."));
    assert!(lines.ends_with(&format!("\n{NOTED}\n")), "{lines}");

    let longer = format!(
        "{}\nThe bird is called Hugin.\n",
        "x".repeat(1024 * 1024 + 1)
    );
    let longer = home.run(&["chat"], longer).await;
    longer.fails(1, &["line 1 is longer than 1048576 bytes"]);
    assert_eq!(longer.out, format!("{NOTED}\n"));
    assert_eq!(
        home.export().await.chain(),
        [
            "The door is green.",
            "The cat is called Miso.",
            "The dog is called Rex.",
            "The bird is called Hugin.",
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_that_make_no_sense_are_named() {
    let (mut home, before) = lived_in().await;
    for (name, value, code, words) in [
        (
            "GRAPH_USER",
            "neo4j",
            1,
            ["GRAPH_PASSWORD is not", "both or neither"],
        ),
        (
            "GRAPH_PASSWORD",
            "s3cret",
            1,
            ["GRAPH_USER is not", "both or neither"],
        ),
        (
            "GRAPH_URL",
            "http://localhost:7474",
            1,
            ["GRAPH_URL", "bolt://HOST:7687"],
        ),
        (
            "GRAPH_URL",
            "bolt://u:s3cret@localhost",
            1,
            ["GRAPH_URL", "GRAPH_PASSWORD"],
        ),
        (
            "RECALL_THRESHOLD",
            "7",
            2,
            ["RECALL_THRESHOLD", "between 0 and 1"],
        ),
        ("WINDOW_TURNS", "0", 1, ["WINDOW_TURNS is 0", "at least 1"]),
        (
            "EMBEDDING_MODEL",
            "m",
            1,
            ["EMBEDDING_MODEL", "OPENAI_BASE_URL"],
        ),
        ("PROMPTS_DIR", "nowhere", 1, ["nowhere", "PROMPTS_DIR"]),
        ("HTTP_ADDR", "here", 2, ["HTTP_ADDR", "here"]),
    ] {
        home.set(name, value);
        let refused = home.chat(&[], &["Hello?"]).await;
        refused.fails(code, &words);
        assert_eq!(refused.out, "", "{name}");
        assert!(!refused.err.contains("s3cret"), "{refused:?}");
        home.unset(name);
    }
    assert_eq!(home.export().await, before);

    std::fs::write(home.path(".env"), "BOT NAME = Hugin\n").unwrap();
    home.chat(&[], &["Hello?"])
        .await
        .fails(1, &["cannot read .env", "line 1"]);
    std::fs::write(home.path(".env"), "\nOPENAI_API_KEY=s3cret with blanks\n").unwrap();
    let refused = home.chat(&[], &["Hello?"]).await;
    refused.fails(1, &["cannot read .env", "line 2", "quotes"]);
    assert!(!refused.err.contains("s3cret"), "{refused:?}");
    std::fs::write(home.path(".env"), "RECALL_THRESHOLD=7\n").unwrap();
    home.chat(&[], &["Hello?"])
        .await
        .fails(2, &["RECALL_THRESHOLD"]);
    std::fs::write(home.path(".env"), "BOT_NAME=Hugin\n").unwrap();
    let named = home.chat(&[], &[]).await;
    named.succeeds();
    assert!(
        named.err.contains("Hugin answers from memory alone"),
        "{named:?}"
    );
    assert_eq!(home.export().await, before);

    let session = home.chat(&["--session", "a/b"], &["Hello?"]).await;
    session.fails(1, &["session name \"a/b\""]);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_command_there_is_help() {
    let bare = Home::new().run(&[], "").await;
    bare.fails(2, &["Usage: muninn [OPTIONS] <COMMAND>", "\n  chat "]);
    assert!(!bare.err.contains("error:"), "{bare:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_graph_that_is_not_there_is_named_quickly() {
    let url = format!("bolt://{}", free_address());
    let home = Home::new().with("GRAPH_URL", &url);
    let began = Instant::now();
    home.chat(&[], &["Hello?"])
        .await
        .fails(1, &[&url, "cannot be reached"]);
    assert!(began.elapsed() < Duration::from_secs(10));
    let doctor = home.run(&["doctor"], "").await;
    doctor.fails(1, &[]);
    assert!(doctor.out.contains("PROBLEM  graph: "), "{doctor:?}");
    assert!(doctor.out.contains(&url), "{doctor:?}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Neo4j (NEO4J_TEST_URI)"]
async fn a_wrong_password_is_said() {
    // An unknown user, since a real one would be locked out for a while.
    let home = Home::new()
        .with("GRAPH_URL", std::env::var("NEO4J_TEST_URI").unwrap())
        .with("GRAPH_USER", "nobody")
        .with("GRAPH_PASSWORD", "s3cret-of-nobody");
    let refused = home.chat(&[], &["Hello?"]).await;
    refused.fails(1, &["refused the user name or password", "GRAPH_PASSWORD"]);
    assert!(!refused.err.contains("s3cret"), "{refused:?}");
    let doctor = home.run(&["doctor"], "").await;
    doctor.fails(1, &[]);
    assert!(doctor.out.contains("PROBLEM  graph: "), "{doctor:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_in_which_nothing_can_be_written_is_a_problem() {
    let home = Home::new();
    home.run(&["sessions"], "").await.succeeds();
    // Empty files can still be made, as on a full disk.
    let limited = "trap '' XFSZ; ulimit -f 0; exec \"$0\" doctor";
    let doctor = tokio::process::Command::new("/bin/sh")
        .args(["-c", limited, env!("CARGO_BIN_EXE_muninn")])
        .current_dir(home.path(""))
        .env_clear()
        .env("DATA_DIR", "./muninn-data")
        .output()
        .await
        .unwrap();
    let told = String::from_utf8(doctor.stdout).unwrap();
    assert!(told.contains("PROBLEM  data: cannot use"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_graph_is_left_as_it_is() {
    let (home, before) = lived_in().await;
    let file = home.path("muninn-data/graph.kgl");
    let whole = std::fs::read(&file).unwrap();
    let mut flipped = whole.clone();
    let middle = flipped.len() / 2;
    for byte in &mut flipped[middle..middle + 64] {
        *byte ^= 0x5a;
    }
    for damaged in [
        b"garbage".to_vec(),
        whole[..whole.len() / 2].to_vec(),
        flipped,
    ] {
        std::fs::write(&file, &damaged).unwrap();
        let refused = home.chat(&[], &["Hello?"]).await;
        refused.fails(1, &["graph.kgl is damaged", "import the last export"]);
        let doctor = home.run(&["doctor"], "").await;
        doctor.fails(1, &[]);
        assert!(doctor.out.contains("PROBLEM  graph: "), "{doctor:?}");
        assert_eq!(
            std::fs::read(&file).unwrap(),
            damaged,
            "nothing was changed"
        );
    }
    std::fs::write(&file, &whole).unwrap();
    assert_eq!(home.export().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_in_use_names_the_process_that_uses_it() {
    let (home, _) = lived_in().await;
    let mut first = home.start(&["chat"]);
    first.say("I was here first.").await;
    assert!(first.line().await.is_some());
    let pid = format!("process {}", first.pid());
    home.run(&["export", "x.jsonl"], "").await.succeeds();
    for arguments in [["import", "--replace", "x.jsonl"]] {
        let refused = home.run(&arguments, "").await;
        refused.fails(1, &[&pid, "has the graph open", "end that process"]);
        assert_eq!(refused.out, "");
    }
    let doctor = home.run(&["doctor"], "").await;
    assert!(doctor.succeeds().contains(&pid), "{doctor:?}");

    first.say("And still am.").await;
    first.end().await.succeeds();
    let chain = home.export().await;
    assert_eq!(chain.chain()[1..], ["I was here first.", "And still am."]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_nobody_knows_leaves_memory_and_a_sentence() {
    let server = ModelServer::start().await;
    let home = Home::new().with_model(&server);
    server.expects(|_| true).answers("Noted.");
    let fact = "The code of the coffee machine is 4711.";
    home.chat(&[], &[fact]).await.succeeds();
    // The model is tried.
    server.echoes();
    let doctor = home.run(&["doctor"], "").await;
    let found = doctor.succeeds();
    for line in [
        "ok       model: the service lists chat",
        "note     model: did not call a tool when it was asked to",
        "ok       model: streams its answers",
    ] {
        assert!(found.contains(line), "{found}");
    }

    let home = home.with("CHAT_MODEL", "gpt-9");
    server
        .expects(|request| request.model() == "gpt-9")
        .replies(Reply::refusal(
            404,
            "model_not_found",
            "The model `gpt-9` does not exist",
        ));
    let question = "What is the code of the coffee machine?";
    let answered = home.chat(&["--session", "other"], &[question]).await;
    let text = answered.succeeds();
    assert!(
        text.starts_with("I could not ask the model (it does not know \"gpt-9\")"),
        "{text}"
    );
    assert!(text.contains(&format!("> {fact}")), "{text}");

    // It is not listed, so it is asked.
    server
        .expects(|request| request.model() == "gpt-9")
        .replies(Reply::refusal(404, "model_not_found", "no such model"));
    let doctor = home.run(&["doctor"], "").await;
    doctor.fails(1, &[]);
    assert!(doctor.out.contains("PROBLEM  model: "), "{doctor:?}");
    assert!(doctor.out.contains("gpt-9; check CHAT_MODEL"), "{doctor:?}");
    server.finish();
}

/// Starts an independent server, and one that is not installed.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs server-everything (MUNINN_MCP_EVERYTHING)"]
async fn the_doctor_tells_which_mcp_servers_are_up() {
    let home = Home::new();
    let program = std::env::var("MUNINN_MCP_EVERYTHING").unwrap();
    let settings = format!("[mcp.everything]\ncommand = 'node'\nargs = ['{program}', 'stdio']\n");
    std::fs::create_dir_all(home.path("muninn-data")).unwrap();
    let file = home.path("muninn-data/mcp.toml");
    std::fs::write(&file, &settings).unwrap();
    let doctor = home.run(&["doctor"], "").await;
    let text = doctor.succeeds();
    let up = format!("ok       tools: MCP server everything (node {program} stdio): ");
    assert!(text.contains(&up), "{text}");

    let missing = "[mcp.missing]\ncommand = 'no-such-program'\n";
    std::fs::write(&file, format!("{settings}{missing}")).unwrap();
    let doctor = home.run(&["doctor"], "").await;
    doctor.fails(1, &[]);
    let down = "PROBLEM  tools: MCP server missing (no-such-program): ";
    for part in [&up, down] {
        assert!(doctor.out.contains(part), "{doctor:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_finds_nothing_wrong_with_a_fresh_folder() {
    let home = Home::new();
    let doctor = home.run(&["doctor"], "").await;
    let text = doctor.succeeds();
    assert!(!text.contains("PROBLEM"), "{text}");
    for part in ["prompts", "graph", "journal", "model", "platforms"] {
        assert!(text.contains(&format!("  {part}: ")), "{part} in {text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backfill_needs_a_process_that_is_connected_and_a_day() {
    let home = Home::new();
    let backfill = async |since| {
        let arguments = ["backfill", "slack/T1/C1", "--since", since];
        home.run(&arguments, "").await
    };
    let alone = backfill("2026-01-31").await;
    alone.fails(1, &["no process serves this channel; start `muninn serve`"]);
    backfill("Monday").await.fails(2, &["--since"]);
}

/// Its page is 600 MB of blanks, compressed twice.
#[tokio::test(flavor = "multi_thread")]
async fn a_small_pdf_that_unpacks_to_more_than_fits_is_refused_alone() {
    let home = Home::new();
    let wiki = home.path("wiki");
    std::fs::create_dir(&wiki).unwrap();
    std::fs::write(wiki.join("bomb.pdf"), include_bytes!("../data/bomb.pdf")).unwrap();
    std::fs::write(wiki.join("light.pdf"), pdf("The lighthouse is white.")).unwrap();
    let read = home.run(&["ingest", "wiki", "--dry-run"], "").await;
    let said = read.succeeds();
    let refused = "refused     wiki/bomb.pdf: the reader broke off";
    assert!(said.contains(refused), "{said}");
    assert!(said.contains("new         light.pdf\n"), "{said}");
}

/// It would contain the file, and lie wherever the bot was started.
#[test]
fn a_reader_of_pdfs_that_runs_out_of_memory_leaves_no_core() {
    let folder = tempfile::tempdir().unwrap();
    let with_cores = r#"ulimit -S -c "$(ulimit -H -c)"; exec "$0" read-pdf-from-stdin"#;
    let bomb = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/bomb.pdf");
    let ended = Command::new("/bin/sh")
        .args(["-c", with_cores, env!("CARGO_BIN_EXE_muninn")])
        .current_dir(folder.path())
        .env_clear()
        .env("MIMALLOC_ARENA_RESERVE", "0")
        .stdin(std::fs::File::open(bomb).unwrap())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(ended.signal().is_some(), "{ended}");
    assert!(!ended.core_dumped(), "{ended}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
