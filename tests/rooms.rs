//! The whole bot in Matrix rooms: the program itself, killed and started again, a real Synapse, and
//! people with clients of their own.

#![recursion_limit = "256"]
#![expect(
    clippy::unwrap_used,
    reason = "a test fails by panicking, also in what it is helped by"
)]

mod support;

use std::process::Stdio;
use std::time::Duration;

use muninn_matrix::testing::{Account, Chat, Message, Person, RoomKind, homeserver};
use support::model_server::{Gate, KEY, ModelServer, Reply, Request};
use tempfile::TempDir;
use tokio::process::{Child, Command};

fn asks(text: &'static str) -> impl Fn(&Request) -> bool {
    move |request| request.last_user().ends_with(text)
}

fn prompt(request: &Request) -> String {
    ["system", "user", "assistant"]
        .iter()
        .flat_map(|role| request.texts(role))
        .collect::<Vec<_>>()
        .join("\n")
}

/// A bot's account and folder, in which the program is run.
struct Home {
    homeserver: String,
    account: Account,
    folder: TempDir,
    model: String,
}

impl Home {
    async fn new(homeserver: &str, model: &ModelServer) -> Self {
        Self {
            homeserver: homeserver.to_owned(),
            account: Account::new(homeserver, "muninn").await,
            folder: tempfile::tempdir().unwrap(),
            model: model.base_url(),
        }
    }

    fn start(&self) -> Child {
        self.command("serve").kill_on_drop(true).spawn().unwrap()
    }

    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_muninn"));
        command
            .arg(name)
            .current_dir(self.folder.path())
            .env_clear()
            .env("USER", "ada")
            .env("OPENAI_BASE_URL", &self.model)
            .env("OPENAI_API_KEY", KEY)
            .env("CHAT_MODEL", "chat")
            .env("UTILITY_MODEL", "utility")
            .env("MESSAGES_PER_MINUTE", "1000")
            // Nothing falls out of it here, so nothing is summarised.
            .env("WINDOW_TURNS", "50")
            .env("MATRIX_HOMESERVER", &self.homeserver)
            .env("MATRIX_USER", self.account.user.as_str())
            .env("MATRIX_PASSWORD", &self.account.password)
            .env("MATRIX_ALLOW", "*")
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        command
    }
}

/// What `kill -9` does.
async fn kill(mut bot: Child) {
    bot.kill().await.unwrap();
}

/// Ends it as a service manager does.
async fn end(mut bot: Child) {
    let pid = bot.id().unwrap().to_string();
    let signal = Command::new("kill").args(["-TERM", &pid]).status().await;
    assert!(signal.unwrap().success());
    let ended = tokio::time::timeout(Duration::from_secs(60), bot.wait()).await;
    assert!(ended.expect("it ends").unwrap().success());
}

fn standing(chat: &Chat) -> Vec<String> {
    let said = chat.said().into_iter();
    said.filter(|message| !message.is_redacted)
        .map(|message| message.text)
        .collect()
}

fn ends_with(text: &'static str) -> impl Fn(&Message) -> bool {
    move |message| message.text.ends_with(text) && !message.is_redacted
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_said_in_one_room_is_recalled_there_and_in_no_other() {
    let Some(homeserver) = homeserver() else {
        return;
    };
    let server = ModelServer::start().await;
    let home = Home::new(&homeserver, &server).await;
    let bot = home.start();
    let ann = Person::new(&homeserver, "ann").await;
    let room = ann.room(&home.account.user, RoomKind::ENCRYPTED).await;
    let other = ann.room(&home.account.user, RoomKind::PLAIN).await;

    server.expects(asks("is 4711.")).answers("Noted.");
    room.ask("The code of the coffee machine is 4711.").await;
    assert!(room.hears("Noted.").await.is_encrypted);

    // The same question in both rooms at the same time.
    let question = "What is the code of the coffee machine?";
    let recalls =
        |request: &Request| prompt(request).contains("> The code of the coffee machine is 4711.");
    server
        .expects(move |request| recalls(request))
        .answers("It is 4711.");
    server
        .expects(|request| {
            request.last_user().ends_with("coffee machine?") && !prompt(request).contains("4711")
        })
        .answers("I do not know.");
    tokio::join!(room.ask(question), other.ask(question));
    room.hears("It is 4711.").await;
    other.hears("I do not know.").await;

    room.say("!muninn about").await;
    room.finds("what it remembers", |message| {
        message.text.contains("2 questions and answers")
    })
    .await;
    end(bot).await;
    server.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_it_answers_it_answers_once_after_all() {
    let Some(homeserver) = homeserver() else {
        return;
    };
    let server = ModelServer::start().await;
    let home = Home::new(&homeserver, &server).await;
    let bot = home.start();
    let ann = Person::new(&homeserver, "ann").await;
    let room = ann.room(&home.account.user, RoomKind::ENCRYPTED).await;
    server.expects(asks("Hello")).answers("Hi!");
    room.ask("Hello").await;
    room.hears("Hi!").await;

    // In the middle of an answer, with another message waiting behind it.
    let gate = Gate::closed();
    server
        .expects(asks("The first."))
        .replies(Reply::chunks(["One", " after all."]).paused(&gate));
    room.ask("The first.").await;
    room.hears("One").await;
    let thread = room.ask("The second.").await;
    server.arrived(2).await;
    kill(bot).await;
    // While it is away.
    room.ask("The third.").await;

    for (question, answer) in [
        ("first.", "One after all."),
        ("second.", "Two."),
        ("third.", "Three."),
    ] {
        server.expects(asks(question)).answers(answer);
    }
    let bot = home.start();
    for answer in ["One after all.", "Two.", "Three."] {
        room.finds(answer, ends_with(answer)).await;
    }
    let second = room.finds("the second", ends_with("Two.")).await;
    assert_eq!(second.thread.as_deref(), Some(thread.as_str()));
    end(bot).await;
    let mut standing = standing(&room);
    standing.sort();
    assert_eq!(standing, ["Hi!", "One after all.", "Three.", "Two."]);

    // Once more, with nothing to do: nothing is said again.
    let bot = home.start();
    server.expects(asks("Anything else?")).answers("No.");
    room.ask("Anything else?").await;
    room.hears("No.").await;
    end(bot).await;
    assert_eq!(self::standing(&room).len(), 5, "{:?}", room.said());
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_follows_what_is_edited_and_taken_back() {
    let Some(homeserver) = homeserver() else {
        return;
    };
    let server = ModelServer::start().await;
    let home = Home::new(&homeserver, &server).await;
    let bot = home.start();
    let ann = Person::new(&homeserver, "ann").await;
    let room = ann.room(&home.account.user, RoomKind::PLAIN).await;

    server.expects(asks("in Berlin.")).answers("Noted: Berlin.");
    let told = room
        .ask("The office party of the harbour team is in Berlin.")
        .await;
    let answer = room.hears("Noted: Berlin.").await;
    server.expects(asks("in Oslo.")).answers("Noted: Oslo.");
    room.edit(&told, "The office party of the harbour team is in Oslo.")
        .await;
    let edited = room.hears("Noted: Oslo.").await;
    assert_eq!(edited.id, answer.id, "the answer was edited");

    room.react(&edited.id, "👍").await;
    loop {
        let asked = room.say_in(&told, "!muninn why").await;
        let why = room
            .finds("why", |message| {
                message.text.contains("My last answer was to")
            })
            .await;
        assert!(!why.text.contains("Berlin"), "{}", why.text);
        if why.text.contains("👍 1") {
            break;
        }
        room.redact(&asked).await;
        room.redact(why.id.as_str().try_into().unwrap()).await;
    }

    room.redact(&told).await;
    room.sees("the answer taken away", |view| {
        view.messages
            .iter()
            .find(|message| message.id == edited.id && message.is_redacted)
            .map(drop)
    })
    .await;
    server
        .expects(|request| !prompt(request).contains("Oslo"))
        .answers("I do not know.");
    room.ask("Where is the office party of the harbour team?")
        .await;
    room.hears("I do not know.").await;
    end(bot).await;
    server.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_burst_is_answered_each_once_and_in_order_within_a_thread() {
    let Some(homeserver) = homeserver() else {
        return;
    };
    let server = ModelServer::start().await;
    let home = Home::new(&homeserver, &server).await;
    let bot = home.start();
    let ann = Person::new(&homeserver, "ann").await;
    let room = ann.room(&home.account.user, RoomKind::DIRECT).await;
    for n in 0..20 {
        let question = format!("question {n}.");
        server
            .expects(move |request| request.last_user().ends_with(&question))
            .answers(&format!("answer {n}"));
        room.say(&format!("This is question {n}.")).await;
    }
    room.hears("answer 19").await;
    let expected: Vec<String> = (0..20).map(|n| format!("answer {n}")).collect();
    assert_eq!(standing(&room), expected);
    end(bot).await;
    server.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_read_in_encrypted_rooms_too() {
    let Some(homeserver) = homeserver() else {
        return;
    };
    let server = ModelServer::start().await;
    let home = Home::new(&homeserver, &server).await;
    let bot = home.start();
    let ann = Person::new(&homeserver, "ann").await;
    let room = ann
        .room(
            &home.account.user,
            RoomKind {
                encrypted: true,
                direct: true,
            },
        )
        .await;
    server
        .expects(|request| {
            request
                .last_user()
                .contains("report.txt:\n> The roof leaks.")
        })
        .answers("A leak.");
    room.send_file(
        "report.txt",
        "text/plain",
        b"The roof leaks.",
        "What is wrong?",
    )
    .await;
    room.hears("A leak.").await;
    end(bot).await;
    server.finish();
}
