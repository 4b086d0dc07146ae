//! The whole bot in Matrix rooms: the program itself, killed and restarted, a real Synapse, and
//! people with their own clients.

#![recursion_limit = "256"]
mod support;

use std::time::Duration;

use muninn_matrix::testing::{
    MatrixAccount, MatrixChat, MatrixPerson, RoomKind, RoomMessage, TIMEOUT, homeserver,
};
use support::files::files_with;
use support::model_server::{Gate, ModelServer, ModelServerRequest, Reply};
use support::program::{Program, asks, end, kill, prompt};
use tokio::process::Child;

/// A bot's account, and the program that uses it.
struct MatrixProgram {
    account: MatrixAccount,
    program: Program,
}

impl MatrixProgram {
    async fn new(homeserver: &str, model: &ModelServer) -> Self {
        let account = MatrixAccount::new(homeserver, "muninn").await;
        let program = Program::new(model)
            .with("MATRIX_HOMESERVER", homeserver)
            .with("MATRIX_USER", account.user.as_str())
            .with("MATRIX_PASSWORD", &account.password)
            .with("MATRIX_ALLOW", "*");
        Self { account, program }
    }

    fn start(&self) -> Child {
        self.program.start()
    }
}

fn standing(chat: &MatrixChat) -> Vec<String> {
    let said = chat.said().into_iter();
    said.filter(|message| !message.is_redacted)
        .map(|message| message.text)
        .collect()
}

fn ends_with(text: &'static str) -> impl Fn(&RoomMessage) -> bool {
    move |message| message.text.ends_with(text) && !message.is_redacted
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn what_was_said_in_one_room_is_recalled_there_and_in_no_other() {
    let homeserver = homeserver();
    let server = ModelServer::start().await;
    let home = MatrixProgram::new(&homeserver, &server).await;
    let bot = home.start();
    let ann = MatrixPerson::new(&homeserver, "ann").await;
    let room = ann.room(&home.account.user, RoomKind::ENCRYPTED).await;
    let other = ann.room(&home.account.user, RoomKind::PLAIN).await;

    server.expects(asks("is 4711.")).answers("Noted.");
    room.ask("The code of the coffee machine is 4711.").await;
    assert!(room.hears("Noted.").await.is_encrypted);

    // The same question in both rooms at once.
    let question = "What is the code of the coffee machine?";
    let recalls = |request: &ModelServerRequest| {
        prompt(request).contains("> The code of the coffee machine is 4711.")
    };
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
        message.text.contains("I remember 2 turns")
    })
    .await;
    end(bot).await;
    server.finish();
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn killed_while_it_answers_it_answers_once_after_all() {
    let homeserver = homeserver();
    let server = ModelServer::start().await;
    let home = MatrixProgram::new(&homeserver, &server).await;
    let bot = home.start();
    let ann = MatrixPerson::new(&homeserver, "ann").await;
    let room = ann.room(&home.account.user, RoomKind::ENCRYPTED).await;
    server.expects(asks("Hello")).answers("Hi!");
    room.ask("Hello").await;
    room.hears("Hi!").await;

    // In the middle of an answer, with another message queued.
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

    // Once more, without pending messages: nothing is repeated.
    let bot = home.start();
    server.expects(asks("Anything else?")).answers("No.");
    room.ask("Anything else?").await;
    room.hears("No.").await;
    end(bot).await;
    assert_eq!(self::standing(&room).len(), 5, "{:?}", room.said());
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn memory_follows_what_is_edited_and_taken_back() {
    let homeserver = homeserver();
    let server = ModelServer::start().await;
    let home = MatrixProgram::new(&homeserver, &server).await;
    let bot = home.start();
    let ann = MatrixPerson::new(&homeserver, "ann").await;
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
    room.say("!muninn history").await;
    room.finds("the listing", |message| message.text.contains("] ann"))
        .await;

    room.redact(&told).await;
    room.sees("the answer taken away, and what showed it", |view| {
        let gone = view.messages.iter().filter(|it| it.is_redacted);
        let is_answer_gone = gone.into_iter().any(|it| it.id == edited.id);
        let standing = view.messages.iter().filter(|it| !it.is_redacted);
        let shows = |it: &&RoomMessage| it.text.contains("office party") && it.id != told;
        (is_answer_gone && !standing.into_iter().any(|it| shows(&it))).then_some(())
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
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn a_burst_is_answered_each_once_and_in_order_within_a_thread() {
    let homeserver = homeserver();
    let server = ModelServer::start().await;
    let home = MatrixProgram::new(&homeserver, &server).await;
    let bot = home.start();
    let ann = MatrixPerson::new(&homeserver, "ann").await;
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
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn files_are_read_in_encrypted_rooms_too() {
    let homeserver = homeserver();
    let server = ModelServer::start().await;
    let home = MatrixProgram::new(&homeserver, &server).await;
    let bot = home.start();
    let ann = MatrixPerson::new(&homeserver, "ann").await;
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

/// Waits until each of these is answered.
async fn all_answered(room: &MatrixChat, questions: &[String]) {
    let looked = async {
        loop {
            let answers = room.answers().await;
            if questions.iter().all(|question| answers.contains(question)) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    let in_time = tokio::time::timeout(TIMEOUT, looked).await;
    assert!(in_time.is_ok(), "{questions:?}: {:?}", room.said());
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn killed_at_any_moment_it_answers_each_question_once() {
    let homeserver = homeserver();
    let server = ModelServer::start().await;
    let gate = Gate::closed();
    let of_batch = |request: &ModelServerRequest| request.last_user().contains("And number");
    server
        .expects(of_batch)
        .always_replies(Reply::chunks(["No", ", or yes."]).paused(&gate));
    server.expects(|_| true).always_replies(Reply::text("Yes."));
    let ann = MatrixPerson::new(&homeserver, "ann").await;
    let home = MatrixProgram::new(&homeserver, &server).await;
    let mut bot = home.start();
    let room = ann.room(&home.account.user, RoomKind::ENCRYPTED).await;
    let mut asked = vec![room.ask("Is it there?").await.to_string()];
    all_answered(&room, &asked).await;
    // One question, and a kill some time after it: the test varies the moment.
    for moment in [0, 40, 120, 250, 400, 600] {
        let question = room.ask(&format!("Is it there after {moment}?")).await;
        asked.push(question.to_string());
        tokio::time::sleep(Duration::from_millis(moment)).await;
        kill(bot).await;
        bot = home.start();
        all_answered(&room, &asked).await;
    }
    // A pending batch, and a kill while it is accepted.
    kill(bot).await;
    for number in 0..12 {
        let question = room.ask(&format!("And number {number}?")).await;
        asked.push(question.to_string());
    }
    for taken_in in [1, 4] {
        let before = server.chats().len();
        let bot = home.start();
        server.arrived(before + taken_in).await;
        kill(bot).await;
    }
    gate.open();
    let bot = home.start();
    all_answered(&room, &asked).await;
    end(bot).await;
    let mut answers = room.answers().await;
    answers.sort();
    asked.sort();
    assert_eq!(answers, asked);
    server.finish();
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn who_catches_up_is_told_in_a_direct_room() {
    let homeserver = homeserver();
    let server = ModelServer::start().await;
    let home = MatrixProgram::new(&homeserver, &server).await;
    let bot = home.start();
    let ann = MatrixPerson::new(&homeserver, "ann").await;
    let direct = ann.room(&home.account.user, RoomKind::DIRECT).await;
    let room = ann.room(&home.account.user, RoomKind::PLAIN).await;
    let sealed = ann.room(&home.account.user, RoomKind::ENCRYPTED).await;

    for (place, told, what, at) in [
        (
            &room,
            "We order 14 white helmets.",
            "14 white helmets are ordered.",
            &direct,
        ),
        (
            &sealed,
            "The key is under the stone.",
            "The key is under the stone, they say.",
            // Messages of an encrypted room are not sent to an unencrypted one.
            &sealed,
        ),
    ] {
        server.expects(asks(told)).answers("Noted.");
        place.ask(told).await;
        place.hears("Noted.").await;
        let came_of_it = serde_json::json!({"decided": [{"what": what, "messages": [1]}], "answered": [], "open": []});
        server
            .expects(move |request| {
                prompt(request).contains(told) && prompt(request).contains("1. [")
            })
            .answers(&came_of_it.to_string());
        place.say("!muninn catch me up since yesterday").await;
        at.finds("what came of it", |said| said.text.contains(what))
            .await;
    }
    let leaked =
        |chat: &MatrixChat, what: &str| standing(chat).iter().any(|text| text.contains(what));
    assert!(!leaked(&room, "are ordered.") && !leaked(&direct, "under the stone"));

    end(bot).await;
    server.finish();
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn a_forgotten_person_stands_in_no_message_of_the_bot() {
    let homeserver = homeserver();
    let server = ModelServer::start().await;
    let mut home = MatrixProgram::new(&homeserver, &server).await;
    home.program.is_logged = true;
    let bot = home.start();
    let ann = MatrixPerson::new(&homeserver, "ann").await;
    let room = ann.room(&home.account.user, RoomKind::ENCRYPTED).await;
    let other = ann.room(&home.account.user, RoomKind::PLAIN).await;
    for room in [&room, &other] {
        server
            .expects(asks("animal is the quokka."))
            .answers("The quokka, noted.");
        room.ask("My spirit animal is the quokka.").await;
        room.hears("The quokka, noted.").await;
    }
    let direct = ann.room(&home.account.user, RoomKind::DIRECT).await;
    direct.ask("forget me yes").await;
    direct
        .finds("the receipt", |said| {
            said.text
                .contains("I forgot everything of yours: 2 questions")
        })
        .await;
    for room in [&room, &other] {
        room.sees("nothing of her", |view| {
            let mut answers = view.messages.iter().filter(|one| !one.is_redacted);
            let is_hers =
                |one: &RoomMessage| one.text.contains("quokka") && one.text.contains("noted");
            (!answers.any(is_hers)).then_some(())
        })
        .await;
    }
    end(bot).await;
    let files = files_with(home.program.folder.path(), "quokka");
    assert!(files.is_empty(), "{files:?}");
    server.finish();
}
