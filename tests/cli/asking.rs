//! Single questions, and chats with a running bot.

use serde_json::Value;

use crate::admin::serving;
use crate::home::{CliProcess, Home, eventually};
use crate::support::model_server::{Gate, ModelServer, Reply};

const FACT: &str = "The code of the coffee machine is 4711.";
const QUESTION: &str = "What is the code of the coffee machine?";

/// Ends a serving bot.
async fn end(serving: CliProcess) {
    serving.signal("TERM").await;
    serving.end().await.succeeds();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_answered_with_and_without_a_bot_that_runs() {
    let home = Home::new().with("TERMINAL_SOCKET", "socket");
    home.chat(&[], &[FACT]).await.succeeds();
    let alone = home.run(&["ask", QUESTION], "").await;
    assert!(alone.succeeds().contains("> The code"), "{alone:?}");
    assert!(alone.out.contains("4711"), "{alone:?}");

    let bot = serving(&home).await;
    let asked = home.run(&["ask", QUESTION], "").await;
    assert!(asked.succeeds().contains("4711"), "{asked:?}");
    let asked = home.run(&["ask", "--json", QUESTION], "").await;
    let json: Value = serde_json::from_str(asked.succeeds()).unwrap();
    assert_eq!(json["question"], QUESTION);
    assert_eq!(json["written_by"], "memory");
    assert!(json["answer"].as_str().unwrap().contains("4711"), "{json}");
    let recalled = json["recalled"].as_array().unwrap();
    assert!(recalled.iter().any(|it| it["question"] == FACT), "{json}");
    let conversation = json["conversation"].as_str().unwrap();
    assert!(conversation.starts_with("terminal/ask-"), "{json}");

    // It continues a conversation if asked to.
    let told = home.run(&["ask", "--session", "work", FACT], "").await;
    told.succeeds();
    let refused = home.run(&["ask", "--session", "a/b", QUESTION], "").await;
    refused.fails(1, &["session name"]);
    let sessions = home.run(&["sessions"], "").await;
    assert!(
        sessions.succeeds().contains("terminal/work"),
        "{sessions:?}"
    );
    end(bot).await;
}

/// The first five minutes: one small file, and no model.
#[tokio::test(flavor = "multi_thread")]
async fn a_single_small_file_is_quoted_where_it_answers() {
    let home = Home::new();
    let note = "# Welcome to the depot\n\n## Getting in\nThe side door opens with your badge from half past six.\n\n\
        ## Parking\nStaff park behind the building. The places in front are for customers.\n\n\
        ## Pay\nWages are paid on the 28th. Hand in your hours to Marta.\n";
    std::fs::write(home.path("welcome.md"), note).unwrap();
    home.run(&["ingest", "welcome.md"], "").await.succeeds();
    for (question, passage) in [
        ("Which door opens with my badge?", "The side door"),
        ("to whom do i hand in my hours", "hours to Marta"),
    ] {
        let asked = home.run(&["ask", question], "").await;
        assert!(asked.succeeds().contains(passage), "{asked:?}");
    }
    for question in [
        "What is the capital of Australia?",
        "Who may open the safe behind the counter?",
    ] {
        let asked = home.run(&["ask", question], "").await;
        assert!(!asked.succeeds().contains("welcome.md"), "{asked:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_shares_a_word_with_the_question_is_not_quoted_below_what_answers_it() {
    let home = Home::new();
    let welcome = "# Welcome to the depot\n\n## Getting in\nThe side door opens with your badge from half past six.\n\n\
        ## Pay\nWages are paid on the 28th. Hand in your hours to Marta.\n";
    let tools = "# Tools\n\n## Lending\nEach tool that leaves the depot is written into the red book, with the hour.\n\n\
        ## Broken tools\nPut what is broken on the bench by the door and hang a yellow card on it.\n";
    std::fs::create_dir(home.path("depot")).unwrap();
    std::fs::write(home.path("depot/welcome.md"), welcome).unwrap();
    std::fs::write(home.path("depot/tools.md"), tools).unwrap();
    home.run(&["ingest", "depot"], "").await.succeeds();
    for (question, passage, other) in [
        (
            "Which door opens with my badge?",
            "The side door",
            "tools.md",
        ),
        (
            "Where is a tool written that leaves the depot?",
            "the red book",
            "welcome.md",
        ),
    ] {
        let asked = home.run(&["ask", question], "").await;
        let answer = asked.succeeds();
        assert!(answer.contains(passage), "{asked:?}");
        assert!(!answer.contains(other), "{asked:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_noun_phrase_is_looked_up_and_not_quoted_to_the_next_question() {
    let home = Home::new();
    let note = "# Alarm system\n\nThe security firm has the phone number 0800 555 0199.\n";
    std::fs::write(home.path("alarm.md"), note).unwrap();
    home.run(&["ingest", "alarm.md"], "").await.succeeds();
    for question in [
        "phone number of the security firm",
        "What is the phone number of the security firm?",
    ] {
        let asked = home.run(&["ask", question], "").await;
        assert!(asked.succeeds().contains("0800 555 0199"), "{asked:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_decided_is_quoted_by_its_subject() {
    let home = Home::new();
    let minutes = "# Weekly meeting\n\n## Printer driver\nThe driver makes the printer stop. **Decision:** roll back to v3.1, and ask \
        the vendor for a date.\n\n## Parking\nStaff park behind the building.\n\n## Pay\nWages are paid on the 28th.\n";
    std::fs::write(home.path("weekly.md"), minutes).unwrap();
    home.run(&["ingest", "weekly.md"], "").await.succeeds();
    let asked = home.run(&["ask", "What did we decide about the printer driver?"], "");
    let asked = asked.await;
    assert!(asked.succeeds().contains("roll back"), "{asked:?}");
    let asked = home.run(&["ask", "What did we decide about the harbour?"], "");
    let asked = asked.await;
    assert!(!asked.succeeds().contains("weekly.md"), "{asked:?}");
}

/// Whole questions share most of their words with the document, and little with what was said about it since.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_said_since_is_quoted_beside_an_outdated_document() {
    let home = Home::new();
    let note = "# Gala\n\nThe summer gala takes place on 2 May in the big hall.\n\n## Parking\n\nVisitors park behind the church.\n\n\
        ## Alarm\n\nThe alarm code of the office is 4417. It is changed each spring.\n";
    std::fs::write(home.path("gala.md"), note).unwrap();
    home.run(&["ingest", "gala.md"], "").await.succeeds();
    let said = ["Gala moved to 9 May.", "code is 9921 since this morning"];
    home.chat(&[], &said).await.succeeds();
    for (question, passage, remark) in [
        (
            "When does the summer gala take place in the big hall?",
            "2 May",
            "> Gala moved to 9 May.",
        ),
        (
            "What is the alarm code of the office?",
            "4417",
            "> code is 9921 since this morning",
        ),
    ] {
        let asked = home.run(&["ask", question], "").await;
        let answer = asked.succeeds();
        assert!(answer.contains(passage), "{asked:?}");
        assert!(answer.contains(remark), "{asked:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_in_two_places_is_quoted() {
    let home = Home::new();
    std::fs::create_dir(home.path("dd")).unwrap();
    for name in ["dd/a.md", "dd/b.md"] {
        let text = "# Pump\nThe pump is serviced every 90 days by Olga.\n";
        std::fs::write(home.path(name), text).unwrap();
    }
    home.run(&["ingest", "dd"], "").await.succeeds();
    let asked = home.run(&["ask", "How often is the pump serviced?"], "");
    let asked = asked.await;
    assert!(asked.succeeds().contains("every 90 days"), "{asked:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_comes_on_stdin_is_read_with_the_question() {
    let server = ModelServer::start().await;
    let home = Home::new()
        .with_model(&server)
        .with("TERMINAL_SOCKET", "socket");
    let log = "12:00 started\n12:01 ERROR the disk is full\n";
    for is_running in [false, true] {
        let bot = match is_running {
            true => Some(serving(&home).await),
            false => None,
        };
        server
            .expects(|request| request.last_user().contains("the disk is full"))
            .answers("The disk was full.");
        let asked = home.run(&["ask", "What failed?"], log).await;
        assert_eq!(asked.succeeds(), "The disk was full.\n");
        if let Some(bot) = bot {
            end(bot).await;
        }
    }
    let large = "x".repeat(6 * 1024 * 1024);
    let refused = home.run(&["ask", "What failed?"], large).await;
    refused.fails(1, &["stdin has more than", "tail"]);
    server.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_is_refused_is_a_failure() {
    let home = Home::new().with("MESSAGE_CHARS", "100");
    let refused = home.run(&["ask", &"long ".repeat(50)], "").await;
    refused.fails(1, &["I read at most 100"]);
    assert_eq!(refused.out, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_does_not_wait_stops_the_turn() {
    let server = ModelServer::start().await;
    let home = Home::new()
        .with_model(&server)
        .with("TERMINAL_SOCKET", "socket");
    let bot = serving(&home).await;
    let gate = Gate::closed();
    server
        .expects(|_| true)
        .replies(Reply::chunks(["One, ", "two."]).paused(&gate));
    let mut asking = home.start(&["ask", "Count."]);
    drop(asking.take_stdin());
    server.arrived(1).await;
    asking.kill().await;
    eventually("that it knows", async || {
        bot.errors().contains("nobody waits for it").then_some(())
    })
    .await;
    // Its conversation is free again, and so is the bot.
    server.expects(|_| true).answers("Hello.");
    let asked = home.run(&["ask", "Hello?"], "").await;
    assert_eq!(asked.succeeds(), "Hello.\n");
    gate.open();
    end(bot).await;
    server.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chat_talks_to_the_bot_that_runs() {
    let server = ModelServer::start().await;
    let home = Home::new()
        .with_model(&server)
        .with("TERMINAL_SOCKET", "socket");
    let bot = serving(&home).await;
    server
        .expects(|request| request.last_user().ends_with("Hello"))
        .replies(Reply::chunks(["Hi ", "there, ", "Ada!"]));
    let talked = home
        .chat(&["--session", "work"], &["Hello", "/history"])
        .await;
    let text = talked.succeeds();
    assert!(text.starts_with("Hi there, Ada!\n"), "{text}");
    assert!(text.contains("ada: Hello"), "{text}");

    // The bot announces its end, and completes the current answer.
    let gate = Gate::closed();
    server
        .expects(|_| true)
        .replies(Reply::chunks(["One, ", "two."]).paused(&gate));
    let mut talk = home.start(&["chat"]);
    talk.say("Count.").await;
    server.arrived(2).await;
    bot.signal("TERM").await;
    eventually("that it knows of the signal", async || {
        bot.errors()
            .contains("turns under way are finished")
            .then_some(())
    })
    .await;
    gate.open();
    assert_eq!(talk.line().await.as_deref(), Some("One, two."));
    // Its input stays open: a script that has ended would not hear of it.
    let _input = talk.take_stdin();
    talk.end()
        .await
        .fails(1, &["has ended; start `muninn chat` again"]);
    bot.end().await.succeeds();
    server.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_chat_goes_through_the_first() {
    let home = Home::new();
    let mut first = home.start(&["chat"]);
    first.say(FACT).await;
    assert!(first.line().await.is_some());
    let second = home.chat(&["--session", "other"], &[QUESTION]).await;
    assert!(second.succeeds().contains("4711"), "{second:?}");
    let asked = home.run(&["ask", QUESTION], "").await;
    assert!(asked.succeeds().contains("4711"), "{asked:?}");
    first.say("And still here.").await;
    first.end().await.succeeds();
    let sessions = home.run(&["sessions"], "").await;
    assert!(
        sessions.succeeds().contains("terminal/other"),
        "{sessions:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_asked_to_be_remembered_is_done_and_said() {
    let home = Home::new();
    let noted = home.run(&["ask", "remember that tea is at four"], "").await;
    assert!(noted.succeeds().starts_with("Noted"), "{noted:?}");
    let listed = home
        .run(&["ask", "what do you remember about me?"], "")
        .await;
    assert!(listed.succeeds().contains("tea is at four"), "{listed:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_model_it_says_that_stdin_was_not_looked_at() {
    let home = Home::new();
    let asked = home
        .run(&["ask", "which disk is full?"], "ERROR disk sda1 full\n")
        .await;
    let said = asked.succeeds();
    assert!(said.contains("I remember nothing about that."), "{said}");
    assert!(said.contains("Without a model I did not look"), "{said}");
}
