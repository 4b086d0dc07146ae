//! The first run, the next day, and the possible questions.

use chrono::Utc;

use crate::home::{Home, NOTED};
use crate::support::model_server::{Gate, ModelServer, Reply};

const FACT: &str = "The code of the coffee machine is 4711.";
const QUESTION: &str = "What is the code of the coffee machine?";

/// Whether an answer quotes the fact, with the day on which it was said.
fn recalls(answer: &[&str], said: [String; 2]) -> bool {
    let dated = said.map(|day| format!("{day}, ada:"));
    dated.iter().any(|date| date == answer[0]) && answer[1] == format!("> {FACT}")
}

fn today() -> String {
    Utc::now().format("%Y-%m-%d").to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_configured_and_it_remembers() {
    let home = Home::new();
    let before = today();
    let first = home.chat(&[], &[FACT]).await;
    let said = || [before.clone(), today()];
    assert_eq!(first.succeeds(), format!("{NOTED}\n"));
    assert_eq!(first.err.lines().count(), 1, "{first:?}");
    assert!(first.err.contains("from memory alone"), "{first:?}");
    assert!(first.err.contains("OPENAI_API_KEY"), "{first:?}");

    let later = home.chat(&[], &[QUESTION]).await;
    later.succeeds();
    assert!(recalls(&later.lines(), said()), "{later:?}");
    let elsewhere = home.chat(&["--session", "other"], &[QUESTION]).await;
    elsewhere.succeeds();
    assert!(recalls(&elsewhere.lines(), said()), "{elsewhere:?}");

    let sessions = home.run(&["sessions"], "").await;
    sessions.succeeds();
    let listed = sessions.lines();
    assert_eq!(listed.len(), 2, "the latest first: {listed:?}");
    assert!(
        listed[0].contains("1 turn  terminal/other  in terminal  What is"),
        "{listed:?}"
    );
    assert!(
        listed[1].contains("2 turns  terminal/default  in terminal  The code"),
        "{listed:?}"
    );
    // The name and what is listed are the same conversation, wherever one is asked for.
    for session in ["other", "terminal/other"] {
        let recall = ["recall", QUESTION, "--session", session];
        let recalled = home.run(&recall, "").await;
        assert!(recalled.succeeds().contains("The code"), "{recalled:?}");
        let history = home.chat(&["--session", session], &["/history"]).await;
        assert!(history.succeeds().contains("What is"), "{history:?}");
    }
    let recall = ["recall", QUESTION, "--session", "none"];
    let unknown = home.run(&recall, "").await;
    unknown.fails(1, &["there is no conversation none"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_can_ask_for_the_history_and_the_reason() {
    let home = Home::new();
    let asked = home.chat(&[], &[FACT, QUESTION, "/why", "/history"]).await;
    let text = asked.succeeds();
    assert!(text.contains("My last answer was to: What is"), "{text}");
    assert!(text.contains("No model wrote it"), "{text}");
    let history = text.split_once("Recalled:\n").unwrap().1;
    let at = |words: &str| {
        history
            .find(words)
            .unwrap_or_else(|| panic!("{words} in {text}"))
    };
    assert!(at(", ada] The code") < at("] ada: The code"), "{text}");
    assert!(at("] ada: The code") < at("] ada: What is"), "{text}");

    let help = home.chat(&[], &["/help"]).await;
    for command in ["history", "why", "forget last", "forget session"] {
        assert!(help.succeeds().contains(command), "{help:?}");
    }
    // What a terminal refuses is not offered.
    for command in ["link my accounts", "backfill since"] {
        assert!(!help.succeeds().contains(command), "{help:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_forgotten_is_gone_from_the_disk() {
    let home = Home::new();
    let first = home.chat(&[], &["The xylophone is in room 7.", FACT]).await;
    first.succeeds();
    let last = home.chat(&[], &["/forget last", "/history"]).await;
    let text = last.succeeds();
    assert!(text.starts_with("Forgotten: your message of "), "{text}");
    assert!(
        text.contains("xylophone") && !text.contains("4711"),
        "{text}"
    );

    let all = home
        .chat(&[], &["/forget session", "/history", "/why"])
        .await;
    let nothing = "Nothing was said here yet.";
    assert_eq!(
        all.succeeds(),
        format!("Forgotten: the only turn of this conversation.\n{nothing}\n{nothing}\n")
    );
    assert!(
        home.chat(&[], &[QUESTION])
            .await
            .succeeds()
            .contains("remember nothing")
    );
    for file in std::fs::read_dir(home.path("muninn-data")).unwrap() {
        let path = file.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        for word in ["xylophone", "4711"] {
            let found = bytes
                .windows(word.len())
                .any(|part| part == word.as_bytes());
            assert!(!found, "{word} in {}", path.display());
        }
    }
    let listed = home.export().await;
    assert!(!format!("{listed:?}").contains("xylophone"), "{listed:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn with_a_model_its_answers_are_the_output() {
    let server = ModelServer::start().await;
    let home = Home::new().with_model(&server);
    server
        .expects(|request| request.last_user().ends_with("Hello") && request.model() == "chat")
        .answers("Hi there, Ada!");
    server
        .expects(|request| request.last_user().ends_with("And now?"))
        .answers("One line.\nAnd another.");
    let talked = home.chat(&[], &["Hello", "And now?"]).await;
    assert_eq!(
        talked.succeeds(),
        "Hi there, Ada!\nOne line.\nAnd another.\n"
    );
    assert_eq!(talked.err, "");
    let why = home.chat(&[], &["/why"]).await;
    assert!(
        why.succeeds()
            .contains("from 100 tokens read and 10 written"),
        "{why:?}"
    );
    server.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_may_be_as_fast_as_it_likes() {
    let home = Home::new();
    let told: Vec<String> = (0..30).map(|n| format!("Fact {n}.")).collect();
    let told: Vec<&str> = told.iter().map(String::as_str).collect();
    let answered = home.chat(&[], &told).await;
    answered.succeeds();
    assert!(!answered.out.contains("a minute"), "{answered:?}");
    let sessions = home.run(&["sessions"], "").await;
    assert!(sessions.succeeds().contains("30 turns"), "{sessions:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_takes_along_what_is_kept_of_them() {
    let home = Home::new();
    let lines = [FACT, "export mine", "/export mine"];
    let done = home.chat(&[], &lines).await;
    let text = done.succeeds();
    assert!(
        text.contains("All that I keep of yours (1 thing) is in"),
        "{text}"
    );
    let mut found = Vec::new();
    for file in std::fs::read_dir(home.path(".")).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.starts_with("muninn-2") {
            let mode =
                std::os::unix::fs::PermissionsExt::mode(&path.metadata().unwrap().permissions());
            assert_eq!(mode & 0o777, 0o600, "{name}");
            assert!(
                std::fs::read_to_string(&path).unwrap().contains("4711"),
                "{name}"
            );
            found.push(name);
        }
    }
    // The second copy overwrites nothing.
    assert_eq!(found.len(), 4, "{found:?}");
    assert!(
        found.iter().any(|name| name.ends_with(" (2).json")),
        "{found:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn it_speaks_the_language_of_the_terminal() {
    let nothing = ["en", "de", "ja"].map(async |language| {
        let home = Home::new().with("LANG", format!("{language}.UTF-8"));
        let asked = home.chat(&[], &["/history"]).await;
        assert!(!asked.err.contains("LANG"), "{asked:?}");
        asked.succeeds().to_owned()
    });
    let [english, german, japanese] = nothing;
    assert_eq!(english.await, "Nothing was said here yet.\n");
    assert_eq!(german.await, "Hier wurde noch nichts gesagt.\n");
    assert_eq!(japanese.await, "ここではまだ何も話されていません。\n");
    // Without a locale of the terminal, the setting counts; unsupported languages become English.
    for (set, said) in [
        ("fr", "Rien n’a encore été dit ici.\n"),
        ("it_IT:it", "Nothing was said here yet.\n"),
    ] {
        let home = Home::new().with("LANGUAGE", set);
        let asked = home.chat(&[], &["/history"]).await;
        assert_eq!(asked.succeeds(), said);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_only_thing_that_was_said_is_quoted_however_much_of_it_is_asked_for() {
    for (fact, question) in [
        (
            "The quarterly compliance audit of the Rotterdam warehouse is on 12 March.",
            "When is the quarterly compliance audit of the Rotterdam warehouse?",
        ),
        (
            "大阪のオフィスは18時に閉まります",
            "大阪のオフィスは何時に閉まりますか？",
        ),
        ("鍵は田中さんが持っています", "鍵は誰が持っていますか？"),
    ] {
        let home = Home::new();
        home.chat(&[], &[fact]).await.succeeds();
        let asked = home.chat(&[], &[question]).await;
        assert!(asked.succeeds().contains(&format!("> {fact}")), "{asked:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chat_that_runs_in_another_process_ends_with_it_and_says_so() {
    let home = Home::new();
    let mut first = home.start(&["chat"]);
    first.say(FACT).await;
    assert!(first.line().await.is_some());
    let mut second = home.start(&["chat"]);
    second.say(QUESTION).await;
    assert!(second.line().await.is_some());
    // Its input stays open.
    let _input = second.take_stdin();
    first.kill().await;
    let ended = second.end().await;
    ended.fails(1, &["has ended; start `muninn chat` again"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn which_line_has_no_answer_is_said_when_the_process_that_answers_is_killed() {
    let server = ModelServer::start().await;
    let home = Home::new().with_model(&server);
    let mut first = home.start(&["chat"]);
    server.expects(|_| true).answers("Noted.");
    first.say(FACT).await;
    assert!(first.line().await.is_some());
    let gate = Gate::closed();
    server
        .expects(|_| true)
        .replies(Reply::chunks(["It ", "is 4711."]).paused(&gate));
    let mut second = home.start(&["chat"]);
    second.say(QUESTION).await;
    server.arrived(2).await;
    first.kill().await;
    let ended = second.end().await;
    ended.fails(1, &["has ended; start `muninn chat` again", "line 1"]);
    gate.open();
}
