//! Forgetting as a whole: a person everywhere, what repeats them, retention, and legal holds, over
//! real graphs.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::time::Duration;

use chrono::{TimeDelta, Utc};
use muninn::conversation::audit::{Audit, AuditAction};
use muninn::conversation::retention::Retention;
use muninn::graph::{NewTurn, Turn, transfer};
use muninn::memory::journal::Journal;
use muninn_platform::testing::{Answer, MessageOutcome, Pending, TestConversation};
use muninn_platform::{
    Body, Channels, Command, Delivered, EventId, ForgetWhat, IncomingMessage, Withdrawn,
};
use serde_json::json;
use support::bot::{BotStorage, nothing_said};
use support::chat::{ScriptedChat, run, run_with, run_without_model};
use support::files::files_with;
use support::graph::TestGraph;
use support::model_server::{Gate, ModelServerRequest, Reply};
use support::program::{asks, prompt};
use support::proxy::Proxy;

support::bot::on_every_graph!(
    who_wants_to_be_forgotten_is_asked_first_and_then_nothing_is_left,
    what_others_said_stays_when_a_person_is_forgotten,
    an_answer_that_repeats_what_is_forgotten_says_nothing_any_more,
    an_answer_that_waits_for_the_graph_is_emptied_with_the_message_it_repeats,
    an_answer_that_was_emptied_before_anybody_saw_it_is_given_anew,
    a_person_who_is_forgotten_while_their_answer_grows_gets_none,
    what_only_the_summary_told_is_forgotten_while_it_is_answered_from,
    forgetting_a_person_that_is_told_late_leaves_what_they_asked_since,
    first_questions_that_are_being_answered_go_with_their_room,
    first_questions_that_are_being_answered_go_with_a_place_that_is_gone,
    forgetting_a_person_goes_on_after_a_kill,
    what_is_forgotten_after_a_kill_was_said_before_the_command,
    a_conversation_goes_although_its_last_message_was_deleted_meanwhile,
    what_is_kept_long_enough_is_deleted_by_the_day,
    under_a_legal_hold_what_is_forgotten_is_copied_for_the_operator_alone,
    what_was_said_before_the_bot_came_is_not_kept_and_follows_what_people_ask_for,
    forget_that_passes_over_what_was_said_around_it,
    what_somebody_just_said_to_others_is_their_last_message,
    a_reply_says_which_message_is_meant,
);

/// A word that nobody else says.
const SECRET: &str = "quokka";

/// Returns a person of this test alone: a shared graph has those of others.
fn person(chat: &ScriptedChat, name: &str) -> String {
    chat.event(name)
}

/// Makes overheard messages of a room be remembered.
async fn hear(chat: &ScriptedChat, room: &TestConversation) {
    room.connect().await;
    let room = room.clone().with_admin("mod");
    room.command("mod", "remember room").await;
    assert!(chat.heard.hears(&chat.audience()));
}

/// Returns where a text is in the graph and in the files of a folder.
async fn places_with(chat: &ScriptedChat, text: &str) -> Vec<String> {
    let mut found = if chat.store.is_shared() {
        let graph = TestGraph::of_environment();
        graph.texts_with(chat.place.name(), text).await
    } else {
        let mut exported = Vec::new();
        let mut quiet = |_| {};
        let exporting = transfer::export(&chat.store, &mut exported, &mut quiet);
        exporting.await.unwrap();
        let exported = String::from_utf8(exported).unwrap().to_lowercase();
        let lines = exported.lines().filter(|line| line.contains(text));
        lines.map(str::to_owned).collect()
    };
    let files = files_with(chat.place.path(), text);
    found.extend(files.iter().map(|path| path.display().to_string()));
    found
}

fn shown(rooms: &[&TestConversation]) -> String {
    let all = rooms.iter().flat_map(|room| room.shown());
    all.collect::<Vec<_>>().join("\n").to_lowercase()
}

async fn who_wants_to_be_forgotten_is_asked_first_and_then_nothing_is_left(place: BotStorage) {
    run(place, async |chat| {
        let (ada, bob) = (person(chat, "ada"), person(chat, "bob"));
        let (room, other, direct) = (
            chat.room("a"),
            chat.room_of("b", "elsewhere"),
            chat.room_of("c", "direct"),
        );
        hear(chat, &room).await;
        chat.expects(asks("spirit animal is the quokka."))
            .answers("A quokka, then: noted.");
        room.say(&ada, "My spirit animal is the quokka.").await;
        room.tell(&chat.event("1"), &ada, "I saw a quokka in the zoo.")
            .await;
        other
            .say(&ada, "remember that the quokka is called Momo")
            .await;
        let secret = other.clone().with_file(
            "diary.txt",
            "text/plain",
            b"Dear diary: quokkas everywhere.",
        );
        chat.expects(|request: &_| prompt(request).contains("What does my diary say?"))
            .answers("You like animals.");
        secret.say(&ada, "What does my diary say?").await;
        chat.expects(asks("lunch, quokka?")).answers("Soup.");
        direct.say(&ada, "What is for lunch, quokka?").await;
        // Bob's answer contains it from recall.
        chat.expects(asks("my colleague like?"))
            .answers("The quokka, she said.");
        let asked = room.thread(&chat.event("d"));
        asked
            .say(&bob, "Which animal does my colleague like?")
            .await;
        // Each room of a test has its own messages, except for its threads.
        let rooms = [&room, &asked];
        assert!(shown(&rooms).contains(SECRET));
        assert!(!places_with(chat, SECRET).await.is_empty());

        let asks_first = room.say(&ada, "forget me").await.text();
        assert!(
        asks_first.contains(
            "3 questions with what I answered, 1 message to others and 1 note, in 3 conversations"
        ),
        "{asks_first}"
    );
        assert!(asks_first.contains("say `forget me yes`"), "{asks_first}");
        assert!(shown(&rooms).contains(SECRET));
        let receipt = room.say(&ada, "forget me yes").await.text();
        assert!(
            receipt.starts_with("I forgot everything of yours: 3 questions"),
            "{receipt}"
        );
        assert!(receipt.contains("I emptied 1 other answer"), "{receipt}");
        assert!(receipt.contains("backups"), "{receipt}");
        assert_eq!(places_with(chat, SECRET).await, [""; 0]);
        assert!(!shown(&rooms).contains(SECRET), "{}", shown(&rooms));
        for room in [&room, &asked] {
            let id = room
                .message("any", "any", Body::Text(String::new()))
                .conversation;
            let shape = chat.store.chain_shape(&id).await.unwrap();
            assert!(shape.turns == 0 || shape.is_whole(), "{shape:?}");
        }
        // The audit names the person, but contains none of their words.
        let entries = Audit::new(chat.place.path()).since(Utc::now() - TimeDelta::hours(1));
        let entries = entries.unwrap();
        let last = entries.last().unwrap();
        assert_eq!((last.action, &last.who), (AuditAction::ForgotPerson, &ada));
        // Old messages are not read again, but new ones are remembered.
        assert!(
            room.tell(&chat.event("1"), &ada, "I saw a quokka in the zoo.")
                .await
        );
        assert_eq!(places_with(chat, SECRET).await, [""; 0]);
        chat.expects(asks("I like turtles.")).answers("So be it.");
        room.say(&ada, "From now on I like turtles.").await;
        let list = room.say(&ada, "memory").await.text();
        assert!(list.contains("turtles"), "{list}");
    })
    .await;
}

async fn what_others_said_stays_when_a_person_is_forgotten(place: BotStorage) {
    run_without_model(place, &[], async |chat| {
        let (ada, bob) = (person(chat, "ada"), person(chat, "bob"));
        let room = chat.room("a");
        room.say(&bob, "The gate opens at seven in the morning.")
            .await;
        room.say(&ada, "The kettle is descaled on Tuesdays.").await;
        room.say(&bob, "The projector needs the grey adapter.")
            .await;
        room.say(&ada, "forget me yes").await;
        let history = room.command(&bob, "history").await.text();
        assert!(
            history.contains("seven") && history.contains("grey"),
            "{history}"
        );
        assert!(!history.contains("kettle"), "{history}");
        let answer = chat
            .room("b")
            .say(&bob, "When does the gate open?")
            .await
            .text();
        assert!(answer.contains("at seven"), "{answer}");
        let nothing = room.say(&ada, "forget me").await.text();
        assert!(nothing.contains("0 questions"), "{nothing}");
    })
    .await;
}

async fn an_answer_that_repeats_what_is_forgotten_says_nothing_any_more(place: BotStorage) {
    run(place, async |chat| {
        let (ada, bob) = (person(chat, "ada"), person(chat, "bob"));
        let room = chat.room("a");
        let said = async |author: &str, text: &'static str, answer: &str| -> Answer {
            chat.expects(asks(text)).answers(answer);
            room.say(author, text).await
        };
        said(
            &bob,
            "The cactus in front of my locker is called Otto.",
            "A fine name.",
        )
        .await;
        said(&ada, "My locker has the code ZX-4711.", "Noted.").await;
        said(&bob, "And what did she say?", "Her locker opens with 4711.").await;
        said(
            &bob,
            "What is the plant called?",
            "The cactus is called Otto.",
        )
        .await;
        said(
            &bob,
            "What is nice for lunch?",
            "Soup, or a locker of bread.",
        )
        .await;
        chat.expects(asks("And again?"))
            .answers("I said 4711 already.");
        room.say(&bob, "And again?").await;
        let forgotten = room.command(&ada, "forget last").await.text();
        assert!(
            forgotten.contains("and 2 later answers that quoted it"),
            "{forgotten}"
        );
        // Ids of people may have these digits.
        let history = room.command(&bob, "history").await.text();
        assert!(!history.contains(" 4711"), "{history}");
        // What does not come from her stays, even if it shares common words with hers.
        assert!(
            history.contains("called Otto") && history.contains("a locker of bread"),
            "{history}"
        );
        assert!(!shown(&[&room]).contains(" 4711"), "{:?}", room.shown());
        // A listing of answers that were emptied before stays.
        room.command(&bob, "help").await;
        assert!(room.shown().contains(&history), "{:?}", room.shown());
    })
    .await;
}

async fn an_answer_that_waits_for_the_graph_is_emptied_with_the_message_it_repeats(
    place: BotStorage,
) {
    run(place, async |chat| {
        let (ada, bob) = (person(chat, "ada"), person(chat, "bob"));
        let (room, event) = (chat.room("a"), chat.event("told"));
        chat.expects(asks("code ZX-4711.")).answers("Noted.");
        room.say_as_event(&event, &ada, "My locker has the code ZX-4711.")
            .await;
        let asked = Body::Text("What did she say?".to_owned());
        let asked = room.message(&chat.event("asked"), &bob, asked);
        // The graph was away when it was answered.
        let answer = Turn {
            delivered: Some(Delivered::default()),
            ..Turn::of(
                asked.conversation.as_str(),
                &bob,
                "What did she say?",
                "Her locker opens with ZX-4711.",
            )
        };
        chat.end().await;
        let journal = Journal::open(chat.place.path()).unwrap();
        let answer = NewTurn::of(asked.audience, answer);
        journal.keep(answer).await.unwrap();
        drop(journal);
        chat.restart().await;
        let room = chat.room("a");
        nothing_said(room.delete(&event, &ada).await).await;
        chat.saved_all().await;
        assert_eq!(places_with(chat, "zx-4711").await, [""; 0]);
        let history = room.command(&bob, "history").await.text();
        assert!(history.contains("What did she say?"), "{history}");
    })
    .await;
}

async fn an_answer_that_was_emptied_before_anybody_saw_it_is_given_anew(place: BotStorage) {
    run(place, async |chat| {
        let (ada, bob) = (person(chat, "ada"), person(chat, "bob"));
        let (room, event) = (chat.room("a"), chat.event("asked"));
        chat.expects(asks("My locker has the code ZX-4711."))
            .answers("Noted.");
        room.say(&ada, "My locker has the code ZX-4711.").await;
        chat.expects(asks("And what did she say?"))
            .answers("Her locker opens with 4711.");
        room.lose_next_delivery();
        let lost = room
            .send_as_event(&event, &bob, "And what did she say?")
            .await;
        let _ = lost.outcome().await;
        room.command(&ada, "forget last").await;
        chat.expects(|request: &_| !prompt(request).contains("4711"))
            .answers("I do not know.");
        let again = room.say_as_event(&event, &bob, "And what did she say?");
        assert_eq!(again.await.text(), "I do not know.");
        let history = room.command(&bob, "history").await.text();
        assert!(history.contains("I do not know."), "{history}");
        assert_eq!(history.matches("And what did she").count(), 1, "{history}");
    })
    .await;
}

async fn a_person_who_is_forgotten_while_their_answer_grows_gets_none(place: BotStorage) {
    run(place, async |chat| {
        let ada = person(chat, "ada");
        let gate = Gate::closed();
        chat.expects(asks("What is a quokka?"))
            .replies(Reply::chunks(["A ", "quokka."]).paused(&gate));
        let asked = chat.room("a").send(&ada, "What is a quokka?").await;
        chat.model.arrived(1).await;
        let receipt = chat.room("b").say(&ada, "forget me yes").await.text();
        assert!(receipt.starts_with("I forgot everything"), "{receipt}");
        gate.open();
        // Dropping a reply removes what it showed.
        let outcome = asked.outcome().await;
        assert!(matches!(outcome, MessageOutcome::GivenUp(_)), "{outcome:?}");
        assert_eq!(places_with(chat, SECRET).await, [""; 0]);
    })
    .await;
}

async fn what_only_the_summary_told_is_forgotten_while_it_is_answered_from(place: BotStorage) {
    run_with(place, &["--window-turns=2"], async |chat| {
        let (room, bob) = (chat.room("a"), person(chat, "bob"));
        let summarises = |request: &ModelServerRequest| request.model() == "utility";
        chat.expects(move |request| summarises(request) && prompt(request).contains("quokka"))
            .always_replies(Reply::text("They keep a quokka."));
        let is_chat = |request: &ModelServerRequest| request.model() == "chat";
        chat.expects(is_chat).answers("Noted.");
        room.say(&bob, "We keep a quokka.").await;
        for n in 1..8 {
            chat.expects(is_chat).answers("Noted.");
            room.say("ada", &format!("fact {n}")).await;
        }
        let summarised = async {
            loop {
                chat.expects(is_chat).answers("Noted.");
                room.say("ada", "So?").await;
                if prompt(chat.model.chats().last().unwrap()).contains("> They keep a quokka.") {
                    break;
                }
            }
        };
        let in_time = tokio::time::timeout(Duration::from_secs(20), summarised).await;
        in_time.expect("a summary is in the prompt");
        let gate = Gate::closed();
        chat.expects(asks("And?"))
            .replies(Reply::chunks(["A ", "quokka."]).paused(&gate));
        let mut asked = room.send("ada", "And?").await;
        asked.first_update().await;
        let receipt = chat.room("b").say(&bob, "forget me yes").await.text();
        assert!(receipt.starts_with("I forgot everything"), "{receipt}");
        chat.expects(asks("And?")).answers("I do not know.");
        // Nothing is summarised any more, so it is begun anew.
        chat.expects(move |request| summarises(request) && !prompt(request).contains("quokka"))
            .always_replies(Reply::text("They tell facts."));
        let before = chat.model.chats().len();
        gate.open();
        assert_eq!(asked.answer().await.text(), "I do not know.");
        // The question again, and the new summary.
        chat.model.arrived(before + 2).await;
        assert_eq!(places_with(chat, SECRET).await, [""; 0]);
    })
    .await;
}

async fn forgetting_a_person_that_is_told_late_leaves_what_they_asked_since(place: BotStorage) {
    run(place, async |chat| {
        let ada = person(chat, "ada");
        let body =
            Body::Command(muninn_platform::Command::parse_sentence("forget me yes").unwrap());
        // Received before the question, like a message left over from a crash.
        let told_late = chat.room("b").message(&chat.event("forget"), &ada, body);
        let gate = Gate::closed();
        chat.expects(asks("What is a quokka?"))
            .replies(Reply::chunks(["A ", "marsupial."]).paused(&gate));
        let asked = chat.room("a").send(&ada, "What is a quokka?").await;
        chat.model.arrived(1).await;
        let forgotten = chat.room("b").redeliver(told_late).await.outcome().await;
        assert!(
            matches!(forgotten, MessageOutcome::Answered(_)),
            "{forgotten:?}"
        );
        gate.open();
        assert_eq!(asked.answer().await.text(), "A marsupial.");
    })
    .await;
}

async fn first_questions_that_are_being_answered_go_with_their_room(place: BotStorage) {
    run(place, async |chat| {
        for text in ["one", "two"] {
            chat.expects(asks(text)).answers("Noted.");
            chat.room("a").say("ada", text).await;
        }
        let (asked, elsewhere, gate) = ask_in_two_places(chat, 2).await;
        let room = chat.room("a").with_admin("mod");
        let said = room.command("mod", "forget room").await.text();
        assert_eq!(
            said,
            "Forgotten: all 2 turns of this room, in all its conversations."
        );
        let outcome = asked.outcome().await;
        assert!(matches!(outcome, MessageOutcome::GivenUp(_)), "{outcome:?}");
        gate.open();
        assert_eq!(elsewhere.answer().await.text(), "Rather cold.");
        assert_eq!(places_with(chat, SECRET).await, [""; 0]);
        chat.expects(asks("three")).answers("Noted.");
        assert_eq!(chat.room("a").say("ada", "three").await.text(), "Noted.");
    })
    .await;
}

async fn first_questions_that_are_being_answered_go_with_a_place_that_is_gone(place: BotStorage) {
    run(place, async |chat| {
        let (asked, elsewhere, gate) = ask_in_two_places(chat, 0).await;
        nothing_said(chat.room("a").is_gone().await).await;
        let outcome = asked.outcome().await;
        assert!(matches!(outcome, MessageOutcome::GivenUp(_)), "{outcome:?}");
        gate.open();
        assert_eq!(elsewhere.answer().await.text(), "Rather cold.");
        assert_eq!(places_with(chat, SECRET).await, [""; 0]);
    })
    .await;
}

/// Asks the first question of a conversation of `general`, and one elsewhere. Both answers grow until the gate opens.
async fn ask_in_two_places(chat: &ScriptedChat, earlier: usize) -> (Pending, Pending, Gate) {
    let gate = Gate::closed();
    chat.expects(asks("What is a quokka?"))
        .replies(Reply::chunks(["A ", "quokka."]).paused(&gate));
    chat.expects(asks("Is it cold?"))
        .replies(Reply::chunks(["Rather ", "cold."]).paused(&gate));
    let here = chat.room("first").send("ada", "What is a quokka?").await;
    let elsewhere = chat.room_of("b", "elsewhere");
    let there = elsewhere.send("ada", "Is it cold?").await;
    chat.model.arrived(earlier + 2).await;
    (here, there, gate)
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Neo4j (NEO4J_TEST_URI)"]
async fn what_another_process_is_answering_is_forgotten_too() {
    run(BotStorage::neo4j(None), async |chat| {
        let ada = person(chat, "ada");
        let other = chat.another_bot().await;
        for (number, (conversation, who, command, reply)) in [
            ("a", &*ada, "forget me yes", "I forgot everything"),
            ("a", "mod", "forget room", "Nothing was said here yet."),
            ("first", &*ada, "forget session", "There is nothing"),
        ]
        .into_iter()
        .enumerate()
        {
            let gate = Gate::closed();
            chat.expects(asks("What is a quokka?"))
                .replies(Reply::chunks(["A ", "quokka."]).paused(&gate));
            let room = other.room("first");
            let asked = room.send(&ada, "What is a quokka?").await;
            chat.model.arrived(number + 1).await;
            let here = chat.room(conversation).with_admin("mod");
            let said = here.command(who, command).await.text();
            assert!(said.starts_with(reply), "{command}: {said}");
            gate.open();
            let outcome = asked.outcome().await;
            assert!(
                matches!(outcome, MessageOutcome::GivenUp(_)),
                "{command}: {outcome:?}"
            );
            assert_eq!(places_with(chat, SECRET).await, [""; 0], "{command}");
            assert_eq!(room.shown(), [""; 0], "{command}");
        }
        other.end().await;
    })
    .await;
}

async fn forgetting_a_person_goes_on_after_a_kill(place: BotStorage) {
    run_without_model(place, &[], async |chat| {
        let ada = person(chat, "ada");
        let event = chat.event("forget");
        let room = chat.room("a");
        for n in 0..30 {
            room.say(&ada, &format!("The quokka number {n} is fed."))
                .await;
        }
        let body =
            Body::Command(muninn_platform::Command::parse_sentence("forget me yes").unwrap());
        let message = room.message(&event, &ada, body);
        let pending = room.redeliver(message.clone()).await;
        chat.bot.halt();
        drop(pending);

        chat.restart().await;
        let room = chat.room("a");
        // Its platform delivers it again; if it was done already, the answer is the same.
        let again = room.redeliver(message).await.outcome().await;
        assert!(!matches!(again, MessageOutcome::Lost(_)), "{again:?}");
        assert_eq!(places_with(chat, SECRET).await, [""; 0]);
    })
    .await;
}

/// A process stored what a command is about, and was killed. More was said before the event was delivered again, and later
/// once more, as the reply was lost too.
async fn what_is_forgotten_after_a_kill_was_said_before_the_command(place: BotStorage) {
    run_without_model(place, &[], async |chat| {
        let ada = person(chat, "ada");
        for (name, what) in [
            ("session", ForgetWhat::Session),
            ("room", ForgetWhat::Audience),
            ("me", ForgetWhat::Me { is_confirmed: true }),
        ] {
            let room = chat.room(name).with_admin(&ada);
            room.say(&ada, "The quokka is fed at four.").await;
            let message = room.message(
                &chat.event(name),
                &ada,
                Body::Command(Command::Forget(what)),
            );
            let session = &message.conversation;
            let last = chat.store.ends_of(std::slice::from_ref(session)).await;
            let last = last.unwrap()[session];
            let kept = json!({"asked": 1, "said": 0, "noted": 0, "conversations": 1, "held": 0});
            let stored = match what {
                ForgetWhat::Session => json!({"Session": last}),
                ForgetWhat::Audience => json!({"Sessions": [[session, last]]}),
                ForgetWhat::Me { .. } => {
                    json!({"Person": {"accounts": [ada], "kept": kept, "until": Utc::now()}})
                }
                ForgetWhat::Last | ForgetWhat::Item(_) => unreachable!(),
            };
            for said in ["The numbat sleeps.", "The wombat digs."] {
                let event = EventId::new(chat.event(&format!("{name} {said}")));
                let stored = stored.to_string();
                chat.store.set_outcome(&event, &stored).await.unwrap();
                room.say(&ada, said).await;
                let again = IncomingMessage {
                    event,
                    traceparent: None,
                    ..message.clone()
                };
                room.redeliver(again).await.answer().await;
                let history = room.command(&ada, "history").await.text();
                assert!(history.contains(said), "{name}: {history}");
                assert!(!history.contains(SECRET), "{name}: {history}");
            }
            let history = room.command(&ada, "history").await.text();
            assert!(history.contains("numbat"), "{name}: {history}");
            let shape = chat.store.chain_shape(session).await.unwrap();
            assert!(shape.turns == 2 && shape.is_whole(), "{name}: {shape:?}");
        }
        assert_eq!(places_with(chat, SECRET).await, [""; 0]);
    })
    .await;
}

async fn a_conversation_goes_although_its_last_message_was_deleted_meanwhile(place: BotStorage) {
    run_without_model(place, &[], async |chat| {
        let ada = person(chat, "ada");
        for (name, what) in [
            ("session", ForgetWhat::Session),
            ("room", ForgetWhat::Audience),
        ] {
            let room = chat.room(name).with_admin(&ada);
            room.say(&ada, "The quokka is fed at four.").await;
            let last = chat.event(&format!("{name} last"));
            room.say_as_event(&last, &ada, "The ibex climbs.").await;
            let message = room.message(
                &chat.event(name),
                &ada,
                Body::Command(Command::Forget(what)),
            );
            let session = &message.conversation;
            let ends = chat.store.ends_of(std::slice::from_ref(session)).await;
            let end = ends.unwrap()[session];
            let stored = match name {
                "session" => json!({"Session": end}),
                _ => json!({"Sessions": [[session, end]]}),
            };
            let stored = stored.to_string();
            chat.store
                .set_outcome(&message.event, &stored)
                .await
                .unwrap();
            nothing_said(room.delete(&last, &ada).await).await;
            room.say(&ada, "The numbat sleeps.").await;
            room.redeliver(message.clone()).await.answer().await;
            let history = room.command(&ada, "history").await.text();
            assert!(history.contains("numbat"), "{name}: {history}");
            assert!(!history.contains(SECRET), "{name}: {history}");
        }
        assert_eq!(places_with(chat, SECRET).await, [""; 0]);
    })
    .await;
}

/// Sets the settings of the audience `general`.
fn settings(place: &BotStorage, general: &str) -> String {
    let path = place.path().join("channels.toml");
    let table = format!("['{}/general']\n{general}\n", place.prefix());
    std::fs::write(&path, table).unwrap();
    format!("--channel-settings={}", path.display())
}

async fn what_is_kept_long_enough_is_deleted_by_the_day(place: BotStorage) {
    let set = settings(&place, "retain_days = 30");
    run_without_model(place, &[&set], async |chat| {
        let (ada, bob) = (person(chat, "ada"), person(chat, "bob"));
        let room = chat.room("a");
        hear(chat, &room).await;
        room.say(&ada, "The quokka is fed on Tuesdays.").await;
        room.tell(&chat.event("1"), &bob, "I fed the quokka.").await;
        chat.room_of("a", "elsewhere")
            .say(&ada, "Elsewhere, the numbat is fed on Fridays.")
            .await;
        let channels = Channels::load(&chat.place.path().join("channels.toml")).unwrap();
        let audit = Audit::new(chat.place.path());
        let archive = std::sync::Arc::clone(&chat.archive);
        let retention = Retention::new(archive, channels.into(), audit.clone(), 365);
        let now = Utc::now();
        for (days, deleted) in [(0, 0), (29, 0), (31, 2), (31, 0)] {
            let applied = retention.apply(now + TimeDelta::days(days)).await;
            assert_eq!(applied.unwrap(), deleted, "after {days} days");
        }
        assert_eq!(places_with(chat, SECRET).await, [""; 0]);
        assert!(!places_with(chat, "numbat").await.is_empty());
        let history = room.command(&ada, "history").await.text();
        assert!(!history.contains("quokka"), "{history}");
        let entries = audit.since(now - TimeDelta::hours(1)).unwrap();
        let applied = entries
            .iter()
            .find(|it| it.action == AuditAction::RetentionApplied);
        assert_eq!(applied.unwrap().count, Some(2));
        // Older messages are not kept again, however they are read.
        let message = room.message(
            &chat.event("2"),
            &bob,
            Body::Text("An old quokka.".to_owned()),
        );
        let old = muninn_platform::IncomingMessage {
            sent_at: now - TimeDelta::days(31),
            traceparent: None,
            ..message
        };
        assert!(room.overhear(old).await);
        room.tell(&chat.event("3"), &bob, "The wombat is new.")
            .await;
        assert_eq!(places_with(chat, SECRET).await, [""; 0]);
        assert!(!places_with(chat, "wombat").await.is_empty());
    })
    .await;
}

async fn under_a_legal_hold_what_is_forgotten_is_copied_for_the_operator_alone(place: BotStorage) {
    let set = settings(&place, "retain_days = 30\nlegal_hold = true");
    run_without_model(place, &[&set], async |chat| {
        let ada = person(chat, "ada");
        let room = chat.room("a");
        let event = chat.event("1");
        room.say_as_event(&event, &ada, "The quokka is fed on Tuesdays.")
            .await;
        let edited = room
            .edit(&event, &ada, "The quokka is fed on Fridays.")
            .await;
        edited.outcome().await;
        chat.room("b").say(&ada, "The numbat sleeps.").await;
        // Nothing of it is deleted automatically.
        let channels = std::sync::Arc::new(Channels::default());
        let audit = Audit::new(chat.place.path());
        let archive = std::sync::Arc::clone(&chat.archive);
        let retention = Retention::new(archive, std::sync::Arc::clone(&channels), audit, 365);
        // A hold that is set while the bot runs is in force at once.
        channels.replace(Channels::load(&chat.place.path().join("channels.toml")).unwrap());
        let later = Utc::now() + TimeDelta::days(99);
        assert_eq!(retention.apply(later).await.unwrap(), 0);

        nothing_said(room.delete(&event, &ada).await).await;
        let receipt = room.say(&ada, "forget me yes").await.text();
        assert!(
            receipt.contains("One place is under a legal hold"),
            "{receipt}"
        );
        let answer = chat
            .room("c")
            .say(&ada, "When is the quokka fed?")
            .await
            .text();
        assert!(
            !answer.contains("Tuesdays") && !answer.contains("Fridays"),
            "{answer}"
        );
        let history = room.command(&ada, "history").await.text();
        assert!(!history.contains("fed on"), "{history}");
        let audience = chat.audience();
        let held = chat.store.held_copy_counts().await.unwrap();
        let copies = held.iter().find(|(place, _)| *place == audience);
        assert_eq!(
            copies.unwrap().1,
            3,
            "the wordings of the one, and the other"
        );
        let kept = places_with(chat, "numbat").await;
        assert!(kept.iter().any(|it| it.contains("muninnheld")), "{kept:?}");
        // The hold ends.
        channels.replace(Channels::default());
        assert_eq!(chat.store.release_held(&audience).await.unwrap(), 3);
        assert_eq!(places_with(chat, "numbat").await, [""; 0]);
    })
    .await;
}

/// If the graph becomes unavailable at any moment, each command says so, and succeeds when
/// repeated.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Neo4j (NEO4J_TEST_URI)"]
async fn what_cannot_be_done_without_the_graph_says_so_and_changes_nothing() {
    let proxy = Proxy::to(BotStorage::neo4j_address()).await;
    let place = BotStorage::neo4j(Some(&proxy.bolt_url()));
    run_without_model(place, &["--graph-timeout=20"], async |chat| {
        let ada = person(chat, "ada");
        let room = chat.room("a");
        room.say(&ada, "remember that the quokka is fed at four")
            .await;
        room.say(&ada, "remember that the numbat sleeps").await;
        room.say(&ada, "memory").await;
        for command in [
            "forget 1",
            "correct 2: the quokka is fed at five",
            "forget me",
            "forget me yes",
        ] {
            proxy.cut();
            let said = room.say(&ada, command).await.text();
            assert!(
                said.starts_with("My memory cannot be reached right now"),
                "{command}: {said}"
            );
            proxy.mend();
            chat.saved_all().await;
        }
        let list = room.say(&ada, "memory").await.text();
        assert!(
            list.contains("numbat") && list.contains("fed at four"),
            "{list}"
        );
        for (command, expected) in [
            ("correct 2: the quokka is fed at five", "Corrected"),
            ("forget 1", "Forgotten"),
            ("forget me yes", "I forgot everything of yours"),
        ] {
            let said = room.say(&ada, command).await.text();
            assert!(said.starts_with(expected), "{command}: {said}");
        }
        assert_eq!(places_with(chat, SECRET).await, [""; 0]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Neo4j (NEO4J_TEST_URI)"]
async fn what_repeated_something_forgotten_is_not_used_while_the_graph_is_away() {
    let proxy = Proxy::to(BotStorage::neo4j_address()).await;
    let place = BotStorage::neo4j(Some(&proxy.bolt_url()));
    run_with(place, &["--graph-timeout=20"], async |chat| {
        let (ada, bob) = (person(chat, "ada"), person(chat, "bob"));
        let (told, asked) = (chat.room("a"), chat.room("b"));
        chat.expects(asks("code ZX-4711.")).answers("Noted.");
        told.say(&ada, "My locker has the code ZX-4711.").await;
        chat.expects(|request: &_| prompt(request).contains("ZX-4711"))
            .answers("Her locker opens with ZX-4711.");
        asked.say(&bob, "Which code has her locker?").await;
        let forgotten = told.command(&ada, "forget last").await.text();
        assert!(forgotten.contains("that quoted it"), "{forgotten}");

        proxy.cut();
        chat.expects(|request: &_| !prompt(request).contains("4711"))
            .answers("I do not know.");
        let answer = asked.say(&bob, "And what was it?").await.text();
        assert!(answer.starts_with("I do not know."), "{answer}");
        proxy.mend();
        chat.saved_all().await;
        assert_eq!(places_with(chat, "4711").await, [""; 0]);
    })
    .await;
}

/// No platform reports it a second time.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Neo4j (NEO4J_TEST_URI)"]
async fn a_place_that_is_deleted_while_the_graph_is_away_is_forgotten_when_it_is_back() {
    let proxy = Proxy::to(BotStorage::neo4j_address()).await;
    let place = BotStorage::neo4j(Some(&proxy.bolt_url()));
    run_with(place, &["--graph-timeout=20"], async |chat| {
        let ada = person(chat, "ada");
        let (saved, waits) = (chat.room("a"), chat.room("b"));
        let elsewhere = chat.room_of("a", "elsewhere");
        chat.expects(asks("fed at four.")).answers("Noted.");
        saved.say(&ada, "The quokka is fed at four.").await;
        proxy.cut();
        chat.expects(asks("sleeps at nine.")).answers("Noted.");
        waits.say(&ada, "The quokka sleeps at nine.").await;
        assert_eq!(chat.archive.waiting(), 1);
        let gone = waits.is_gone().await;
        // Meanwhile the graph is asked for what was said there.
        chat.expects(asks("numbat sleeps.")).answers("Noted.");
        elsewhere.say(&ada, "The numbat sleeps.").await;
        proxy.mend();
        nothing_said(gone).await;
        chat.saved_all().await;
        assert_eq!(places_with(chat, SECRET).await, [""; 0]);
        assert!(!places_with(chat, "numbat").await.is_empty());
    })
    .await;
}

async fn what_was_said_before_the_bot_came_is_not_kept_and_follows_what_people_ask_for(
    place: BotStorage,
) {
    run(place, async |chat| {
        let [xaver, yana, wim, zoe] = ["x", "y", "w", "z"].map(|name| person(chat, name));
        let other = chat.room("a");
        other.say(&xaver, "Don't remember me here").await;
        let thread = chat
            .room("b")
            .with_background(&xaver, "The boiler is broken.")
            .with_background(&yana, "[off] he is ill")
            .with_background(&wim, "The quokka has escaped.");
        let prompt_has = |has_quokka: bool| {
            move |request: &_| {
                let prompt = prompt(request);
                let quokkas = prompt.matches("The quokka has escaped.").count();
                let is_private = prompt.contains("boiler") || prompt.contains("he is ill");
                quokkas == usize::from(has_quokka) && !is_private
            }
        };
        let event = chat.event("1");
        chat.expects(prompt_has(true)).answers("An animal.");
        thread
            .say_as_event(&event, &zoe, "What is this about?")
            .await;
        assert_eq!(places_with(chat, SECRET).await, [""; 0]);

        // Later questions and edits have it again, from the platform.
        chat.expects(prompt_has(true)).answers("It is away.");
        thread.say(&zoe, "And what follows?").await;
        chat.expects(prompt_has(true)).answers("A lost animal.");
        let edited = thread.edit(&event, &zoe, "What is it all about?").await;
        assert_eq!(edited.answer().await.text(), "A lost animal.");
        assert_eq!(places_with(chat, SECRET).await, [""; 0]);

        other.say(&wim, "forget me yes").await;
        for (question, answer) in [("Who is away?", "I do not know."), ("And now?", "Nobody.")] {
            chat.expects(prompt_has(false)).answers(answer);
            assert_eq!(thread.say(&zoe, question).await.text(), answer);
        }
        chat.expects(prompt_has(false)).answers("Nothing.");
        let edited = thread.edit(&event, &zoe, "What was this about?").await;
        assert_eq!(edited.answer().await.text(), "Nothing.");
        chat.saved_all().await;
        for text in [SECRET, "boiler", "he is ill"] {
            assert_eq!(places_with(chat, text).await, [""; 0], "{text}");
        }
    })
    .await;
}

async fn forget_that_passes_over_what_was_said_around_it(place: BotStorage) {
    run_without_model(place, &[], async |chat| {
        let (room, ada) = (chat.room("a"), person(chat, "ada"));
        room.say(&ada, "My locker PIN is 4711.").await;
        let nothing = room.say(&ada, "forget it").await.text();
        assert!(nothing.starts_with("I have forgotten nothing"), "{nothing}");
        let nothing = room.say(&ada, "forget that?").await.text();
        assert!(nothing.starts_with("I have forgotten nothing"), "{nothing}");
        room.say(&ada, "Thanks!").await;
        let forgotten = room.say(&ada, "forget that").await.text();
        assert!(
            forgotten.starts_with("Forgotten: your message of ")
                && forgotten.contains(", with its answer"),
            "{forgotten}"
        );
        assert_eq!(places_with(chat, "4711").await, [""; 0]);
        // Once nothing else is left, what was said around it is the last.
        let forgotten = room.say(&ada, "forget that").await.text();
        assert!(forgotten.starts_with("Forgotten: "), "{forgotten}");
        let history = room.command(&ada, "history").await.text();
        assert!(!history.contains("Thanks!"), "{history}");
    })
    .await;
}

async fn what_somebody_just_said_to_others_is_their_last_message(place: BotStorage) {
    run_without_model(place, &[], async |chat| {
        let room = chat.room("a");
        let (ada, bob) = (person(chat, "ada"), person(chat, "bob"));
        hear(chat, &room).await;
        room.say(&ada, "The ladder is in the attic.").await;
        assert!(room.tell(&chat.event("1"), &ada, SECRET).await);
        assert!(room.tell(&chat.event("2"), &bob, "Is it loose?").await);
        assert!(room.tell(&chat.event("3"), &ada, "Thanks.").await);
        let forgotten = room.say(&ada, "forget what I just said").await.text();
        assert!(
            forgotten.contains(", which you wrote to others"),
            "{forgotten}"
        );
        assert_eq!(places_with(chat, SECRET).await, [""; 0]);
        // Where each question begins a conversation of its own, the whole place is searched.
        assert!(room.tell(&chat.event("4"), &ada, SECRET).await);
        chat.room("beside").say(&ada, "forget that").await;
        assert_eq!(places_with(chat, SECRET).await, [""; 0]);
        let history = room.command(&ada, "history").await.text();
        assert!(history.contains("ladder"), "{history}");
    })
    .await;
}

async fn a_reply_says_which_message_is_meant(place: BotStorage) {
    run_without_model(place, &[], async |chat| {
        let room = chat.room("a");
        let (ada, bob) = (person(chat, "ada"), person(chat, "bob"));
        let (first, bobs) = (chat.event("first"), chat.event("bobs"));
        room.say_as_event(&first, &ada, "My cat is called Miso.")
            .await;
        room.say_as_event(&bobs, &bob, "My bird is called Coco.")
            .await;
        room.say(&ada, "My dog is called Rex.").await;
        let replying = room.clone().replying_to(&bobs);
        let refused = replying.say(&ada, "forget that").await.text();
        assert!(
            refused.starts_with("I keep nothing of yours under the message"),
            "{refused}"
        );
        let replying = room.clone().replying_to(&first);
        let forgotten = replying.say(&ada, "forget that").await.text();
        assert!(forgotten.starts_with("Forgotten: "), "{forgotten}");
        // What is no turn, such as the reply to a command, leaves the last one.
        let history = room.command(&ada, "history").await.text();
        assert!(
            history.contains("Coco") && history.contains("Rex") && !history.contains("Miso"),
            "{history}"
        );
        let replying = room.clone().replying_to(&chat.event("unknown"));
        replying.say(&ada, "forget that").await;
        let history = room.command(&ada, "history").await.text();
        assert!(!history.contains("Rex"), "{history}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_reply_to_an_answer_that_stays_forgets_nothing_else() {
    run_without_model(BotStorage::embedded(), &[], async |chat| {
        let (room, ada) = (chat.room("a"), person(chat, "ada"));
        room.say(&ada, "My dog is called Rex.").await;
        room.say(&ada, "My cat is called Miso.").await;
        let answer = format!("reply/{}", room.last_message());
        let replying = room.clone().replying_to(&answer);
        room.refuse_next_withdrawal(Withdrawn::stays("it is pinned"));
        let forgotten = replying.say(&ada, "forget that").await.text();
        assert!(forgotten.starts_with("Forgotten: "), "{forgotten}");
        let refused = replying.say(&ada, "forget that").await.text();
        assert!(
            refused.starts_with("I keep nothing of yours under the message"),
            "{refused}"
        );
        let history = room.command(&ada, "history").await.text();
        assert!(
            history.contains("Rex") && !history.contains("Miso"),
            "{history}"
        );
    })
    .await;
}
