//! Invalid settings, and the messages about them.

use std::path::Path;

use serde_json::Value;

use crate::admin::serving;
use crate::home::{Done, Home, eventually};
use crate::support::model_server::ModelServer;
use crate::support::program::prompt;

fn write(home: &Home, name: &str, text: &str) {
    let path = home.path(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Returns the findings of `doctor` about a part.
fn told(done: &Done, part: &str) -> Vec<(String, String)> {
    let all: Vec<Value> = serde_json::from_str(&done.out).unwrap();
    let of_part = all.iter().filter(|it| it["part"] == part);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    of_part
        .map(|it| (text(&it["verdict"]), text(&it["text"])))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn names_that_are_none_are_told_with_what_was_meant() {
    let home = Home::new().with("OPENAI_APIKEY", "hunter2");
    write(
        &home,
        ".env",
        "SLACK_BOT_TOKNE=hunter3\nMODEL_NAMES=a\nNEO4J_AUTH=none\n",
    );
    let doctor = home.run(&["doctor", "--json"], "").await;
    doctor.succeeds();
    let settings: Vec<String> = told(&doctor, "settings")
        .into_iter()
        .map(|it| it.1)
        .collect();
    assert_eq!(
        settings,
        [
            "MODEL_NAMES in .env is no setting; did you mean MODEL_KEYS?",
            "OPENAI_APIKEY in the environment is no setting; did you mean OPENAI_API_KEY?",
            "SLACK_BOT_TOKNE in .env is no setting; did you mean SLACK_BOT_TOKEN?",
        ]
    );
    // Chats show it too, and nobody sees the values.
    let chat = home.chat(&[], &["Hello"]).await;
    chat.succeeds();
    assert!(
        chat.err.contains("did you mean SLACK_BOT_TOKEN?"),
        "{chat:?}"
    );
    let all = format!("{doctor:?}{chat:?}");
    assert!(!all.contains("hunter"), "{all}");
}

#[tokio::test(flavor = "multi_thread")]
async fn names_in_files_that_are_none_are_told_with_what_was_meant() {
    let home = Home::new().with("PROMPTS_DIR", "own");
    write(&home, "own/sytem.md", "You are a lighthouse keeper.");
    write(&home, "own/README.md", "How we write prompts.");
    write(&home, "own/tool/mine.toml", "");
    write(
        &home,
        "own/tools/mine.toml",
        "name = \"mine\"\ndescripton = \"a\"\n",
    );
    let doctor = home.run(&["doctor", "--json"], "").await;
    doctor.fails(1, &[]);
    let prompts = told(&doctor, "prompts");
    let notes: Vec<&str> = prompts.iter().skip(1).map(|it| it.1.as_str()).collect();
    assert_eq!(
        notes,
        [
            "own/sytem.md is no prompt, so nobody reads it; did you mean system.md?",
            "own/tool is no prompt, so nobody reads it; did you mean tools?",
        ]
    );
    // There is no knowledge, but the tool is checked all the same, in one line.
    let tools = told(&doctor, "tools");
    let [(verdict, text)] = tools.as_slice() else {
        panic!("{tools:?}");
    };
    assert_eq!(verdict, "problem");
    assert!(
        text.contains("mine.toml") && text.contains("did you mean `description`?"),
        "{text}"
    );
    let doctor = home.run(&["doctor"], "").await;
    let is_finding = |line: &str| ["ok  ", "note", "PROB"].contains(&&line[..4]);
    assert!(doctor.out.lines().all(is_finding), "{doctor:?}");

    let home = Home::new().with("CHANNEL_SETTINGS", "channels.toml");
    write(&home, "channels.toml", "['slack/T/C']\nanswr = 'always'\n");
    // Invalid channel settings are one finding, and the others follow.
    let doctor = home.run(&["doctor"], "").await;
    doctor.fails(1, &[]);
    let channels = "PROBLEM  channels: the channel settings channels.toml are wrong: ";
    let line = doctor.out.lines().find(|line| line.starts_with(channels));
    let line = line.unwrap_or_else(|| panic!("{doctor:?}"));
    assert!(line.ends_with("did you mean `answer`?"), "{line}");
    assert!(doctor.out.contains("\nok       prompts: "), "{doctor:?}");
    assert!(doctor.out.lines().all(is_finding), "{doctor:?}");
    assert_eq!(
        told(&home.run(&["doctor", "--json"], "").await, "channels").len(),
        1
    );
    let refused = home.run(&["sessions"], "").await;
    refused.fails(1, &["channels.toml", "did you mean `answer`?"]);
    assert_eq!(refused.err.lines().count(), 1, "{refused:?}");
    write(&home, "channels.toml", "['slak/T/C']\nanswer = 'always'\n");
    let doctor = home.run(&["doctor"], "").await;
    assert!(
        doctor
            .succeeds()
            .contains("\"slak/T/C\", which is no channel"),
        "{doctor:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_keeps_causes_and_a_driver_keeps_quiet() {
    for address in ["localhost:11434", "127.0.0.1:11434/v1"] {
        let home = Home::new().with("OPENAI_BASE_URL", address);
        let doctor = home.run(&["doctor"], "").await;
        doctor.fails(1, &[]);
        assert!(
            doctor.out.contains("it must begin with http://"),
            "{doctor:?}"
        );
    }

    for (host, cause) in [
        ("127.0.0.1:1", "Connection refused"),
        ("nowhere.invalid", "lookup"),
    ] {
        let home = Home::new().with("GRAPH_URL", format!("neo4j://{host}"));
        for command in ["sessions", "doctor"] {
            let refused = home.run(&[command], "").await;
            refused.fails(1, &[]);
            let said = format!("{}{}", refused.out, refused.err);
            let told: Vec<&str> = said.lines().filter(|line| line.contains(host)).collect();
            let [line] = told.as_slice() else {
                panic!("{said}");
            };
            assert!(line.contains(cause), "{line}");
            assert!(!said.contains("neo4rs"), "{said}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_data_folder_is_one_and_the_doctor_says_which() {
    let home = Home::new().with("DATA_DIR", "");
    let elsewhere = home.path("home");
    let home = home.with("HOME", elsewhere.to_str().unwrap());
    home.chat(&[], &["Remember me."]).await.succeeds();
    assert!(!home.path("muninn-data").exists());
    let doctor = home.run(&["doctor", "--json"], "").await;
    doctor.succeeds();
    let [(_, text)] = told(&doctor, "data").try_into().unwrap();
    assert!(text.contains("DATA_DIR is not set"), "{text}");
    let folder = text.strip_prefix("in ").unwrap();
    let folder = Path::new(folder.split(", ").next().unwrap());
    assert!(folder.starts_with(&elsewhere), "{text}");
    assert!(folder.join("graph.kgl").exists(), "{text}");

    // An existing one in the working directory is used.
    std::fs::create_dir(home.path("muninn-data")).unwrap();
    let sessions = home.run(&["sessions"], "").await;
    assert!(
        sessions.succeeds().contains("No conversations"),
        "{sessions:?}"
    );
    let doctor = home.run(&["doctor"], "").await;
    assert!(
        doctor.succeeds().contains("in the working directory"),
        "{doctor:?}"
    );

    // A folder that DATA_DIR names has a graph of its own: what is done there changes no other one.
    home.chat(&[], &["I was here."]).await.succeeds();
    let home = home.with("DATA_DIR", "data");
    let sessions = home.run(&["sessions"], "").await;
    assert!(
        sessions.succeeds().contains("No conversations"),
        "{sessions:?}"
    );
    let doctor = home.run(&["doctor", "--json"], "").await;
    doctor.succeeds();
    let graph = &told(&doctor, "graph")[0].1;
    assert!(graph.contains("/data, schema "), "{graph}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_can_leave_too() {
    let home = Home::new();
    let left = home.chat(&[], &["One.", "/quit", "Two."]).await;
    assert_eq!(left.succeeds().lines().count(), 1, "{left:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn prompts_are_read_again_and_broken_ones_change_nothing() {
    let server = ModelServer::start().await;
    let home = Home::new()
        .with_model(&server)
        .with("PROMPTS_DIR", "own")
        .with("TERMINAL_SOCKET", "socket");
    write(&home, "own/system.md", "You keep a lighthouse.");
    let bot = serving(&home).await;
    let says = |words: &'static str| {
        server
            .expects(move |request| prompt(request).contains(words))
            .answers("Aye.");
    };
    says("You keep a lighthouse.");
    home.run(&["ask", "Hello?"], "").await.succeeds();

    write(&home, "own/system.md", "You keep a windmill.");
    bot.signal("HUP").await;
    let logs = |words: &'static str| {
        let bot = &bot;
        eventually(words, async move || {
            bot.errors().contains(words).then_some(())
        })
    };
    logs("were read again").await;
    says("You keep a windmill.");
    home.run(&["ask", "Hello?"], "").await.succeeds();

    // The change is noticed without a signal too; what is invalid is reported and not used.
    write(
        &home,
        "own/system.md",
        "You keep {{ nothing_of_the_kind }}.",
    );
    logs("stay as they were read before").await;
    says("You keep a windmill.");
    home.run(&["ask", "Hello?"], "").await.succeeds();
    // `doctor` tries the model.
    server.echoes();
    let doctor = home.run(&["doctor"], "").await;
    assert!(
        doctor.out.contains("uses what it read before"),
        "{doctor:?}"
    );
    bot.signal("TERM").await;
    bot.end().await.succeeds();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_value_that_loses_a_part_is_named_and_not_shown() {
    let home = Home::new();
    write(&home, ".env", "BOT_NAME=hunter$tango3\nNOTES='a$tango3'\n");
    let doctor = home.run(&["doctor", "--json"], "").await;
    let settings = told(&doctor, "settings");
    let named: Vec<&str> = settings.iter().map(|it| it.1.as_str()).collect();
    assert!(
        named
            .iter()
            .any(|text| text.starts_with("BOT_NAME in .env has a $ that is replaced by nothing")),
        "{named:?}"
    );
    assert!(!named.concat().contains("NOTES"), "{named:?}");
    assert!(!doctor.out.contains("tango3"), "{doctor:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_are_read_again_and_what_needs_a_restart_is_named() {
    let server = ModelServer::start().await;
    let mut home = Home::new()
        .with_model(&server)
        .with("TERMINAL_SOCKET", "socket");
    write(&home, ".env", "CHANNEL_SETTINGS=channels.toml\n");
    let persona = |home: &Home, text: &str| {
        let settings = format!("[\"terminal\"]\npersona = \"{text}\"\n");
        write(home, "channels.toml", &settings);
    };
    persona(&home, "You keep a lighthouse.");
    let bot = serving(&home).await;
    let says = |words: &'static str| {
        server
            .expects(move |request| prompt(request).contains(words))
            .answers("Aye.");
    };
    let logs = |words: &'static str| {
        let bot = &bot;
        eventually(words, async move || {
            bot.errors().contains(words).then_some(())
        })
    };
    says("You keep a lighthouse.");
    home.run(&["ask", "Hello?"], "").await.succeeds();
    persona(&home, "You keep a windmill.");
    logs("settings were read again: channel settings").await;
    says("You keep a windmill.");
    home.run(&["ask", "Hello?"], "").await.succeeds();

    // An invalid file changes nothing, and is reported as a problem.
    write(&home, "channels.toml", "[\"terminal\"]\npersonas = 1\n");
    logs("channel settings stay as they were").await;
    // The asking process reads its own settings.
    write(&home, "none.toml", "");
    home.set("CHANNEL_SETTINGS", "none.toml");
    says("You keep a windmill.");
    home.run(&["ask", "Hello?"], "").await.succeeds();
    home.unset("CHANNEL_SETTINGS");
    persona(&home, "You keep a windmill.");
    let settings = "CHANNEL_SETTINGS=channels.toml\nBOT_NAME=Hugin\nWINDOW_TURNS=many\n";
    write(&home, ".env", settings);
    logs("settings need a restart: BOT_NAME, WINDOW_TURNS").await;
    logs("could not start with these settings: invalid value 'many'").await;
    write(
        &home,
        ".env",
        "CHANNEL_SETTINGS=channels.toml\nBOT_NAME=Hugin\n",
    );
    // `doctor` tries the model.
    server.echoes();
    let doctor = eventually("what needs a restart", async || {
        let doctor = home.run(&["doctor"], "").await;
        let is_so = doctor.out.contains("needs a restart: BOT_NAME\n");
        is_so.then_some(doctor)
    })
    .await;
    assert!(!doctor.out.contains("could not start"), "{doctor:?}");

    // A file that is gone, perhaps for a moment, makes no channel one like any other.
    std::fs::remove_file(home.path(".env")).unwrap();
    logs(".env is not there any more").await;
    says("You keep a windmill.");
    home.run(&["ask", "Hello?"], "").await.succeeds();
    bot.signal("TERM").await;
    bot.end().await.succeeds();
}

/// Without knowledge and without a graph, this much of a tool is checked.
#[tokio::test(flavor = "multi_thread")]
async fn the_statement_of_a_tool_is_checked_without_a_graph() {
    let home = Home::new().with("PROMPTS_DIR", "own");
    let tool = |cypher: &str| {
        let text = format!(
            "name = \"count\"\ndescription = \"Counts.\"\nrow_limit = 5\ncypher = \"{cypher}\"\n"
        );
        write(&home, "own/tools/mine.toml", &text);
    };
    let wrong =
        "PROBLEM  tools: the statement of the tool count of mine.toml cannot run: line 1, column ";
    for cypher in ["MATCH (n:Thing RETURN n", "MATCH (n) DELETE n"] {
        tool(cypher);
        let doctor = home.run(&["doctor"], "").await;
        assert_eq!(doctor.status.code(), Some(1), "{doctor:?}");
        assert_eq!(doctor.out.matches(wrong).count(), 1, "{doctor:?}");
    }
    tool("MATCH (n:Thing) RETURN n");
    home.run(&["doctor"], "").await.succeeds();
    tool("MATCH (n:Thing RETURN n");
    home.run(&["demo", "movies"], "").await.succeeds();
    let doctor = home.run(&["doctor"], "").await;
    assert_eq!(doctor.out.matches("mine.toml").count(), 1, "{doctor:?}");
    let home = home.with("GRAPH_URL", "bolt://127.0.0.1:1");
    let doctor = home.run(&["doctor"], "").await;
    assert_eq!(doctor.out.matches(wrong).count(), 1, "{doctor:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_shows_what_makes_a_channel_another_and_names_what_there_is_not() {
    let home = Home::new().with("CHANNEL_SETTINGS", "channels.toml");
    write(&home, "archive.md", "Be exact.");
    let right = "['slack/T/C']\ntools = ['search_knowledge']\ninstructions = ['archive.md']\ngrounding = 'strict'\nstyle = 'brief'\n";
    write(&home, "channels.toml", right);
    let doctor = home.run(&["doctor", "--json"], "").await;
    doctor.succeeds();
    let shown = "slack/T/C: tools search_knowledge; instructions archive.md; strict grounding; brief answers";
    assert_eq!(
        told(&doctor, "channels"),
        [("ok".to_owned(), shown.to_owned())]
    );

    let wrong = "['slack/T/C']\ntools = ['search_knowlege']\nsources = ['handbok']\ninstructions = ['gone.md']\n";
    write(&home, "channels.toml", wrong);
    let doctor = home.run(&["doctor", "--json"], "").await;
    doctor.fails(1, &[]);
    let problems: Vec<String> = told(&doctor, "channels")
        .into_iter()
        .filter(|(verdict, _)| verdict == "problem")
        .map(|it| it.1)
        .collect();
    for (problem, words) in problems.iter().zip([
        "there is no tool \"search_knowlege\"; did you mean \"search_knowledge\"?",
        "gone.md cannot be read",
        "there is no source \"handbok\"; there is no source at all yet; `muninn ingest`",
    ]) {
        assert!(problem.contains(words), "{problem}");
    }
    assert_eq!(problems.len(), 3, "{problems:?}");
    // With an unknown tool, nothing starts.
    let chat = home.chat(&[], &["Hello"]).await;
    assert!(
        chat.err.contains("did you mean \"search_knowledge\"?"),
        "{chat:?}"
    );
    assert!(!chat.out.contains("Hello"), "{chat:?}");

    write(
        &home,
        "channels.toml",
        "['slack/T/C']\ngrounding = 'strickt'\n",
    );
    let doctor = home.run(&["doctor"], "").await;
    doctor.fails(1, &[]);
    let meant = doctor.out.matches("did you mean `strict`?");
    assert_eq!(meant.count(), 1, "{doctor:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_that_ask_a_service_are_looked_at_and_nobody_is_asked() {
    let mut home = Home::new().with("PROMPTS_DIR", "own");
    let tool = |name: &str, rest: &str| {
        format!("name = \"{name}\"\ndescription = \"Asks.\"\nurl = {rest}\n")
    };
    // Nothing listens there.
    write(
        &home,
        "own/tools/a.toml",
        &tool("near", "\"http://127.0.0.1:9/\"\nprivate = true"),
    );
    write(
        &home,
        "own/tools/b.toml",
        &tool("hidden", "\"http://localhost:9/\""),
    );
    let keyed = tool(
        "keyed",
        "\"https://127.0.0.1:9/\"\nprivate = true\n[headers]\nX-Key = \"${TICKETS_KEY}\"",
    );
    write(&home, "own/tools/c.toml", &keyed);
    let doctor = home.run(&["doctor", "--json"], "").await;
    doctor.fails(1, &[]);
    let all: Vec<(String, String)> = told(&doctor, "tools");
    let all: Vec<(&str, &str)> = all
        .iter()
        .map(|(it, text)| (it.as_str(), text.as_str()))
        .collect();
    assert_eq!(
        all,
        [
            ("ok", "near: GET http://127.0.0.1:9"),
            (
                "problem",
                "hidden: GET http://localhost:9: localhost leads to an address of this machine or network; add `private = true` if that is meant"
            ),
            (
                "problem",
                "the tool keyed of c.toml is not offered, since TICKETS_KEY is not set"
            ),
        ]
    );
    std::fs::remove_file(home.path("own/tools/b.toml")).unwrap();
    home.set("TICKETS_KEY", "hunter2");
    let doctor = home.run(&["doctor", "--json"], "").await;
    doctor.succeeds();
    assert!(!format!("{doctor:?}").contains("hunter2"), "{doctor:?}");
    // The bot's own secrets are not sent to anybody.
    let stolen = keyed.replace("TICKETS_KEY", "SLACK_BOT_TOKEN");
    write(&home, "own/tools/c.toml", &stolen);
    let doctor = home.run(&["doctor"], "").await;
    doctor.fails(1, &[]);
    assert!(
        doctor
            .out
            .contains("SLACK_BOT_TOKEN} is a setting of the bot itself"),
        "{doctor:?}"
    );
}
