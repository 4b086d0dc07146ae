//! The whole bot in Slack: the program itself, killed and restarted, in a workspace on loopback.

#![expect(
    clippy::unwrap_used,
    reason = "a test fails by panicking, also in what it is helped by"
)]

#[path = "../support/mod.rs"]
mod support;

mod allowing;
mod forgetting;
mod home;
mod languages;
mod owning;
mod replicas;
mod soak;

use loopback_slack::{APP_TOKEN, BOT_TOKEN, Chat, Message, ResponseFault, SlackApp};

use self::allowing::logs;
use self::home::SlackProgram;
use self::support::model_server::{Gate, ModelServer, ModelServerRequest, Reply};
use self::support::program::{Program, asks, end, kill, prompt};

fn standing(chat: &Chat) -> Vec<String> {
    let said = chat.said().into_iter();
    said.filter(|message| !message.is_deleted)
        .map(|message| message.shown)
        .collect()
}

fn ends_with(text: &'static str) -> impl Fn(&Message) -> bool {
    move |message| message.shown.ends_with(text) && !message.is_deleted
}

/// Whether an answer is complete, and so kept: a growing one has no such button.
fn is_kept(text: &'static str) -> impl Fn(&Message) -> bool {
    move |message| ends_with(text)(message) && message.blocks.to_string().contains("muninn_why")
}

#[tokio::test(flavor = "multi_thread")]
async fn threads_of_a_channel_recall_each_other_and_nobody_else_does() {
    let server = ModelServer::start().await;
    let home = SlackProgram::over_socket(&server).await;
    let bot = home.start().await;
    let (ann, bob) = (home.slack.person("Ann"), home.slack.person("Bob"));
    let channel = home.slack.channel("kitchen");
    let kitchen = ann.in_channel(&channel);
    let secret = home.slack.private_channel("secret", &[&ann]);
    let secret = ann.in_channel(&secret);

    server.expects(asks("is 4711.")).answers("Noted.");
    let told = kitchen.ask("The code of the coffee machine is 4711.");
    let in_thread = kitchen.in_thread(&told);
    in_thread.finds("the answer", is_kept("Noted.")).await;

    let recalls = |request: &ModelServerRequest| {
        prompt(request).contains("> The code of the coffee machine is 4711.")
    };
    // In another thread, by somebody else; the follow-up needs no mention.
    server
        .expects(move |request| request.last_user().ends_with("machine?") && recalls(request))
        .answers("It is 4711.");
    let bobs = bob.in_channel(&channel);
    let thread = bobs.in_thread(&bobs.ask("What is the code of the coffee machine?"));
    thread.hears("It is 4711.").await;
    server.expects(asks("Thanks!")).answers("You are welcome.");
    thread.say("Thanks!");
    thread.hears("You are welcome.").await;

    // Privately, by the slash command: the channel is recalled, but does not learn of it.
    server
        .expects(move |request| request.last_user().ends_with("remind me?") && recalls(request))
        .answers("4711, between us.");
    kitchen
        .slash("/muninn", "ask The code of the coffee machine, remind me?")
        .await;
    let aside = kitchen
        .finds("the answer", ends_with("4711, between us."))
        .await;
    assert!(aside.is_ephemeral);

    // In a private channel and in a direct message nothing of it is known.
    let knows_nothing = |request: &ModelServerRequest| !prompt(request).contains("4711");
    for (chat, is_direct) in [(secret, false), (ann.with_bot(), true)] {
        server
            .expects(move |request| {
                request.last_user().ends_with("machine?") && knows_nothing(request)
            })
            .answers("I do not know.");
        let asked = chat.ask("What is the code of the coffee machine?");
        let answered = if is_direct {
            chat
        } else {
            chat.in_thread(&asked)
        };
        answered.hears("I do not know.").await;
    }

    // Why, by the button; private exchanges are not shown to others.
    let noted = kitchen
        .in_thread(&told)
        .finds("it", ends_with("Noted."))
        .await;
    bobs.in_thread(&told).click(&noted, "👍").await;
    let why = bobs.in_thread(&told);
    why.click(&noted, "Why?").await;
    let explained = why
        .finds("why", |message| {
            message.is_ephemeral && message.shown.contains("4711")
        })
        .await;
    assert!(
        !explained.shown.contains("between us"),
        "{}",
        explained.shown
    );
    end(bot).await;
    server.finish();
    home.slack.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_it_answers_it_answers_once_after_all() {
    let server = ModelServer::start().await;
    let home = SlackProgram::over_socket(&server).await;
    let bot = home.start().await;
    let ann = home.slack.person("Ann");
    let chat = ann.in_channel(&home.slack.channel("general"));
    server.expects(asks("Hello")).answers("Hi!");
    let thread = chat.in_thread(&chat.ask("Hello"));
    thread.hears("Hi!").await;

    let gate = Gate::closed();
    server
        .expects(asks("The first."))
        .replies(Reply::chunks(["One", " after all."]).paused(&gate));
    thread.say("The first.");
    thread
        .finds("its beginning", |message| message.shown.starts_with("One"))
        .await;
    thread.say("The second.");
    server.arrived(2).await;
    kill(bot).await;
    thread.say("The third.");

    for (question, answer) in [
        ("first.", "One after all."),
        ("second.", "Two."),
        ("third.", "Three."),
    ] {
        server.expects(asks(question)).answers(answer);
    }
    let bot = home.start().await;
    for answer in ["One after all.", "Two.", "Three."] {
        thread.finds(answer, ends_with(answer)).await;
    }
    end(bot).await;
    let mut said = standing(&thread);
    said.sort();
    assert_eq!(said, ["Hi!", "One after all.", "Three.", "Two."]);

    // Once more, without pending messages, and with repeated events: nothing is answered twice.
    home.slack.repeat_events(2);
    let bot = home.start().await;
    server.expects(asks("Anything else?")).answers("No.");
    thread.say("Anything else?");
    thread.hears("No.").await;
    home.slack.all_told().await;
    end(bot).await;
    assert_eq!(standing(&thread).len(), 5);
    server.finish();
    home.slack.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_slack_did_not_take_is_posted_after_a_kill_and_once() {
    let server = ModelServer::start().await;
    let mut home = SlackProgram::over_socket(&server).await;
    home.program.is_logged = true;
    let bot = home.start().await;
    let ann = home.slack.person("Ann");
    let chat = ann.in_channel(&home.slack.channel("general"));
    // Nothing is shown while it grows, and Slack asks for a longer pause than the bot waits.
    home.slack
        .fail("chat.startStream", ResponseFault::Closed, 1);
    home.slack
        .fail("chat.postMessage", ResponseFault::RateLimited(900), 1);
    // The model is asked once.
    server.expects(asks("Hello")).answers("Hi!");
    let thread = chat.in_thread(&chat.ask("Hello"));
    let log = home.program.folder.path().join("log");
    logs(&log, "an answer was not delivered", 1).await;
    kill(bot).await;
    assert_eq!(standing(&thread), [""; 0]);

    let bot = home.start().await;
    thread.hears("Hi!").await;
    end(bot).await;
    assert_eq!(standing(&thread), ["Hi!"]);
    server.finish();
    home.slack.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_follows_what_is_edited_and_deleted_over_http_too() {
    let server = ModelServer::start().await;
    let home = SlackProgram::over_http(&server).await;
    let bot = home.start().await;
    let ann = home.slack.person("Ann");
    let chat = ann.in_channel(&home.slack.channel("general"));
    server.expects(asks("in Berlin.")).answers("Noted: Berlin.");
    let told = chat.ask("The office party of the harbour team is in Berlin.");
    let thread = chat.in_thread(&told);
    let answer = thread.hears("Noted: Berlin.").await;
    server.expects(asks("in Oslo.")).answers("Noted: Oslo.");
    chat.edit(
        &told,
        "<@bot> The office party of the harbour team is in Oslo.",
    );
    let edited = thread.hears("Noted: Oslo.").await;
    assert_eq!(edited.ts, answer.ts, "the answer was edited");

    chat.delete(&told);
    thread
        .sees("the answer taken away", |said| {
            said.iter()
                .find(|message| message.ts == edited.ts && message.is_deleted)
                .map(drop)
        })
        .await;
    server
        .expects(|request| !prompt(request).contains("Oslo"))
        .answers("I do not know.");
    let asked = chat.ask("Where is the office party of the harbour team?");
    chat.in_thread(&asked).hears("I do not know.").await;
    end(bot).await;
    server.finish();
    home.slack.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_says_what_is_wrong() {
    let server = ModelServer::start().await;
    // `doctor` tries the model.
    server.echoes();
    let home = SlackProgram::over_socket(&server).await;
    let said = home.program.says(&["doctor"]).await;
    assert!(
        said.contains("ok       slack: the app has every scope it needs"),
        "{said}"
    );

    home.slack
        .reinstall(SlackApp::default().without_scope("files:read"));
    let said = home.program.says(&["doctor"]).await;
    assert!(
        said.contains("PROBLEM  slack:") && said.contains("files:read"),
        "{said}"
    );

    let half_set = Program::new(&server).with("SLACK_BOT_TOKEN", BOT_TOKEN);
    let said = half_set.says(&["serve"]).await;
    assert!(said.contains("SLACK_APP_TOKEN"), "{said}");
    let nobody = Program::new(&server).with("SLACK_APP_TOKEN", APP_TOKEN);
    assert!(
        nobody
            .says(&["serve"])
            .await
            .contains("SLACK_BOT_TOKEN is not")
    );
    server.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn who_catches_up_is_told_alone() {
    let server = ModelServer::start().await;
    let home = SlackProgram::over_socket(&server).await;
    let bot = home.start().await;
    let (ann, bob) = (home.slack.person("Ann"), home.slack.person("Bob"));
    let channel = home.slack.channel("kitchen");
    let (anns, bobs) = (ann.in_channel(&channel), bob.in_channel(&channel));
    server.expects(asks("white helmets.")).answers("Noted.");
    let told = anns.ask("We order 14 white helmets.");
    anns.in_thread(&told)
        .finds("the answer", is_kept("Noted."))
        .await;

    // By a mention, and by the command.
    let way = async |what: &'static str| {
        let came_of_it = serde_json::json!({
            "decided": [{"what": what, "messages": [1]}], "answered": [], "open": [],
        });
        server
            .expects(|request| prompt(request).contains("1. ["))
            .answers(&came_of_it.to_string());
        if what == "14 white ones." {
            bobs.ask("catch me up since yesterday");
        } else {
            bobs.slash("/muninn", "what did I miss since yesterday?")
                .await;
        }
        let told = |message: &Message| message.blocks.to_string().contains(what);
        let told = bobs.finds("what came of it", told).await;
        assert!(told.is_ephemeral);
        let blocks = told.blocks.to_string();
        for words in ["Decided", "Ann, ", "/archives/"] {
            assert!(blocks.contains(words), "{words:?} is not in {blocks}");
        }
    };
    way("14 white ones.").await;
    way("14 white helmets.").await;
    // Bob alone sees what stays of it, so Ann is not told.
    anns.slash("/muninn", "forget last").await;
    let is_forgotten = |message: &Message| message.shown.starts_with("Forgotten: ");
    let forgotten = anns.finds("that it is forgotten", is_forgotten).await;
    assert!(!forgotten.shown.contains("visible"), "{}", forgotten.shown);

    end(bot).await;
    server.finish();
}

/// Creates a workspace where overheard messages of a channel are remembered: Ann and Bob in the
/// channel, and its audience.
async fn remembering(server: &ModelServer) -> (SlackProgram, [Chat; 2], String, tempfile::TempDir) {
    let mut home = SlackProgram::over_socket(server).await;
    let channel = home.slack.channel("kitchen");
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("channels.toml");
    let audience = format!("slack/T00RAVENS1/{}", channel.id());
    std::fs::write(
        &settings,
        format!("[\"{audience}\"]\nmemory = \"channel\"\n"),
    )
    .unwrap();
    let settings = settings.display().to_string();
    home.program = home.program.with("CHANNEL_SETTINGS", settings);
    let chats = ["Ann", "Bob"].map(|name| home.slack.person(name).in_channel(&channel));
    (home, chats, audience, folder)
}

/// Sends the first remembered message, and waits until people are notified; returns its `ts`.
async fn is_heard(chat: &Chat, text: &str) -> String {
    let said = chat.say(text);
    let listens = |it: &Message| it.shown.starts_with("From now on I remember");
    chat.finds("that it listens", listens).await;
    said
}

/// Makes the model refuse a summary, so that messages are counted and listed.
fn says_nothing_of_it(server: &ModelServer) {
    server
        .expects(|request| prompt(request).contains("1. ["))
        .always_replies(Reply::text("I would rather not."));
}

/// Catches up until this many messages are listed.
async fn counts(chat: &Chat, messages: &str) {
    let counted = async {
        let all = |it: &Message| it.shown.contains(&format!(": {messages}."));
        while !chat.said().iter().any(all) {
            chat.slash("/muninn", "catch me up since yesterday").await;
            tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        }
    };
    let counted = tokio::time::timeout(std::time::Duration::from_secs(60), counted).await;
    assert!(counted.is_ok(), "{:?}", standing(chat));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_said_before_is_read_when_somebody_asks_for_it() {
    let server = ModelServer::start().await;
    let (home, [anns, bobs], audience, _folder) = remembering(&server).await;
    let root = anns.say("Is the mast up?");
    anns.in_thread(&root).say("Since noon.");
    for number in 1..=28 {
        anns.say(&format!("Message {number}."));
    }

    let bot = home.start().await;
    let day = (chrono::Utc::now() - chrono::TimeDelta::days(1)).format("%Y-%m-%d");
    let since = ["backfill", &audience, "--since", &day.to_string()];
    for _ in 0..2 {
        let said = home.program.says(&since).await;
        assert_eq!(said.trim(), "Done: I read 30 messages.");
    }
    says_nothing_of_it(&server);
    counts(&bobs, "30 messages by 1 person").await;
    end(bot).await;
    server.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_colleagues_say_is_kept_once_although_the_program_is_killed() {
    let server = ModelServer::start().await;
    let (home, [anns, bobs], _audience, _folder) = remembering(&server).await;
    let bot = home.start().await;
    is_heard(&anns, "Message 0.").await;
    for number in 1..=60 {
        anns.say(&format!("Message {number}."));
    }
    kill(bot).await;
    for number in 61..=80 {
        anns.say(&format!("Message {number}."));
    }

    let bot = home.start().await;
    says_nothing_of_it(&server);
    counts(&bobs, "81 messages by 1 person").await;
    // None was kept twice either.
    let more = |it: &Message| it.shown.starts_with("Since ") && it.shown.contains(": 82 messages");
    assert!(!bobs.said().iter().any(more));
    end(bot).await;
    server.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_colleagues_edit_and_delete_while_it_is_away_is_followed() {
    let server = ModelServer::start().await;
    let (home, [anns, bobs], _audience, _folder) = remembering(&server).await;
    let bot = home.start().await;
    let root = is_heard(&anns, "Where does the new mast stand?").await;
    let mistaken = bobs
        .in_thread(&root)
        .say("The new mast stands on Ridge Farm.");
    let regretted = anns.say("The code of the hut is 4711.");
    says_nothing_of_it(&server);
    counts(&bobs, "3 messages by 2 people").await;
    end(bot).await;
    bobs.in_thread(&root)
        .edit(&mistaken, "The new mast stands on Summit Rock.");
    anns.delete(&regretted);

    let bot = home.start().await;
    counts(&bobs, "2 messages by 2 people").await;
    let asked = |request: &ModelServerRequest| {
        let prompt = prompt(request);
        prompt.contains("Summit Rock") && !prompt.contains("Ridge Farm")
    };
    server
        .expects(asked)
        .replies(Reply::text("On Summit Rock."));
    let question = anns.ask("Where does the new mast stand?");
    anns.in_thread(&question).hears("On Summit Rock.").await;
    end(bot).await;
    server.finish();
}
