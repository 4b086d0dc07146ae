//! The whole bot: a chat on one side, a real graph and a model server on the other.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::sync::Arc;
use std::time::Duration;

use muninn::conversation::ledger::Ledger;
use muninn_platform::testing::{MessageOutcome, TestConversation};
use muninn_platform::{Body, Command, EventId, ForgetWhat, IncomingMessage};
use serde_json::json;
use support::bot::{BotStorage, nothing_said};
use support::chat::{ScriptedChat, run, run_with, run_without_model};
use support::model_server::{Embeddings, Gate, ModelServerRequest, Quirk, Reply};
use support::program::{asks, prompt};
use support::proxy::Proxy;
use tokio_util::sync::CancellationToken;

support::bot::on_every_graph!(
    an_answer_streams_and_the_next_turn_sees_it,
    it_remembers_after_a_restart_in_another_thread_but_tells_no_other_audience,
    one_event_is_one_turn_even_when_its_delivery_was_lost,
    without_a_model_it_quotes_what_it_was_told_and_never_its_own_quotes,
    the_newer_of_two_values_is_told_from_the_older_after_a_restart_too,
    what_falls_out_of_the_window_is_summarised_after_the_reply,
    what_is_forgotten_is_gone,
    a_command_that_is_delivered_again_takes_effect_once,
    an_answer_that_nobody_waited_for_is_written_when_a_program_asks_again,
);

async fn an_answer_streams_and_the_next_turn_sees_it(place: BotStorage) {
    run(place, async |chat| {
        let room = chat.room("a");

        chat.expects(asks("My cat is called Miso."))
            .answers("What a nice name!");
        let answer = room.say("ada", "My cat is called Miso.").await;
        assert_eq!(answer.text(), "What a nice name!");

        chat.expects(|request| prompt(request).contains("What a nice name!"))
            .answers("Miso.");
        assert_eq!(
            room.say("ada", "What is my cat called?").await.text(),
            "Miso."
        );
    })
    .await;
}

async fn it_remembers_after_a_restart_in_another_thread_but_tells_no_other_audience(
    place: BotStorage,
) {
    run(place, async |chat| {
        chat.expects(asks("is 4711.")).answers("Noted.");
        chat.room("a")
            .say("ada", "The code of the coffee machine is 4711.")
            .await;

        chat.restart().await;
        chat.expects(|request| {
            let asked = request.last_user();
            asked.contains("> The code of the coffee machine is 4711.") && asked.contains(", ada]")
        })
        .answers("4711");
        chat.room("b")
            .say("bob", "What is the code of the coffee machine?")
            .await;

        chat.expects(|request| !prompt(request).contains("4711"))
            .answers("I do not know.");
        chat.room_of("a", "elsewhere")
            .say("eve", "What is the code of the coffee machine?")
            .await;
    })
    .await;
}

async fn one_event_is_one_turn_even_when_its_delivery_was_lost(place: BotStorage) {
    run(place, async |chat| {
        let (room, event) = (chat.room("a"), chat.event("1"));
        chat.expects(asks("Hello")).answers("Hi!");
        room.lose_next_delivery();
        let lost = room.send_as_event(&event, "ada", "Hello").await;
        let _ = lost.outcome().await;
        assert_eq!(
            room.say_as_event(&event, "ada", "Hello").await.text(),
            "Hi!"
        );

        // Delivered answers are not repeated.
        chat.restart().await;
        let room = chat.room("a");
        let again = room.send_as_event(&event, "ada", "Hello").await;
        assert!(matches!(again.outcome().await, MessageOutcome::GivenUp(_)));
        let history = room.command("ada", "history").await.text();
        assert_eq!(history.matches("Hello").count(), 1, "{history}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_its_platform_did_not_take_is_delivered_later_and_once() {
    let folder = tempfile::tempdir().unwrap();
    run(BotStorage::embedded(), async |chat| {
        chat.restart_on(Ledger::open(folder.path()).unwrap()).await;
        let (room, event) = (chat.room("a"), chat.event("1"));
        // The model is asked once.
        chat.expects(asks("Hello")).answers("Hi!");
        room.lose_next_delivery();
        let lost = room.send_as_event(&event, "ada", "Hello").await;
        let _ = lost.outcome().await;

        let (left_over, done) = (chat.inbox.left_over(), CancellationToken::new());
        let keeping = tokio::spawn({
            let (bot, done) = (Arc::clone(&chat.bot), done.clone());
            async move {
                bot.keep_leases(&["test".to_owned()], &left_over, done)
                    .await;
            }
        });
        // The platform is away for two more tries.
        for is_away in [true, true, false] {
            let again = chat.inbox.next_left_over("test");
            let again = tokio::time::timeout(Duration::from_secs(60), again).await;
            let [again]: [IncomingMessage; 1] = again.unwrap().try_into().unwrap();
            assert_eq!(again.event.as_str(), event);
            if is_away {
                room.lose_next_delivery();
                let _ = room.redeliver(again).await.outcome().await;
            } else {
                let answer = room.redeliver(again).await.answer().await;
                assert_eq!(answer.text(), "Hi!");
            }
        }
        done.cancel();
        keeping.await.unwrap();
        chat.end().await;
        assert_eq!(room.shown(), ["Hi!"]);
        assert_eq!(Ledger::open(folder.path()).unwrap().take_left_over(), []);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undelivered_answer_that_was_emptied_is_given_anew_later() {
    let folder = tempfile::tempdir().unwrap();
    run(BotStorage::embedded(), async |chat| {
        chat.restart_on(Ledger::open(folder.path()).unwrap()).await;
        let (room, event) = (chat.room("a"), chat.event("asked"));
        chat.expects(asks("My locker has the code ZX-4711."))
            .answers("Noted.");
        room.say("ada", "My locker has the code ZX-4711.").await;
        chat.expects(asks("And what did she say?"))
            .answers("Her locker opens with 4711.");
        room.lose_next_delivery();
        let lost = room
            .send_as_event(&event, "bob", "And what did she say?")
            .await;
        let _ = lost.outcome().await;
        room.command("ada", "forget last").await;
        // Asked once, and the new answer is not taken at first either.
        chat.expects(|request| !prompt(request).contains("4711"))
            .answers("I do not know.");

        let (left_over, done) = (chat.inbox.left_over(), CancellationToken::new());
        let keeping = tokio::spawn({
            let (bot, done) = (Arc::clone(&chat.bot), done.clone());
            async move {
                bot.keep_leases(&["test".to_owned()], &left_over, done)
                    .await;
            }
        });
        for is_away in [true, false] {
            let again = chat.inbox.next_left_over("test");
            let again = tokio::time::timeout(Duration::from_secs(60), again).await;
            let [again]: [IncomingMessage; 1] = again.unwrap().try_into().unwrap();
            assert_eq!(again.event.as_str(), event);
            if is_away {
                room.lose_next_delivery();
                let _ = room.redeliver(again).await.outcome().await;
            } else {
                let answer = room.redeliver(again).await.answer().await;
                assert_eq!(answer.text(), "I do not know.");
            }
        }
        done.cancel();
        keeping.await.unwrap();
        chat.end().await;
        assert_eq!(Ledger::open(folder.path()).unwrap().take_left_over(), []);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_its_platform_did_not_take_is_delivered_after_a_restart_and_once() {
    let folder = tempfile::tempdir().unwrap();
    run(BotStorage::embedded(), async |chat| {
        chat.restart_on(Ledger::open(folder.path()).unwrap()).await;
        let (room, event) = (chat.room("a"), chat.event("1"));
        // The model is asked once.
        chat.expects(asks("Hello")).answers("Hi!");
        room.lose_next_delivery();
        let lost = room.send_as_event(&event, "ada", "Hello").await;
        let _ = lost.outcome().await;
        chat.end().await;
        assert_eq!(room.shown(), [""; 0]);

        let mut ledger = Ledger::open(folder.path()).unwrap();
        let [left]: [IncomingMessage; 1] = ledger.take_left_over().try_into().unwrap();
        assert_eq!(left.event.as_str(), event);
        chat.restart_on(ledger).await;
        let room = chat.room("a");
        let answer = room.redeliver(left.clone()).await.answer().await;
        assert_eq!(answer.text(), "Hi!");
        // Told once more, it is not answered again.
        nothing_said(room.redeliver(left).await).await;
        chat.end().await;
        assert_eq!(room.shown(), ["Hi!"]);
        assert_eq!(Ledger::open(folder.path()).unwrap().take_left_over(), []);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undelivered_answer_goes_with_its_question() {
    let folder = tempfile::tempdir().unwrap();
    run(BotStorage::embedded(), async |chat| {
        chat.restart_on(Ledger::open(folder.path()).unwrap()).await;
        let (room, event) = (chat.room("a"), chat.event("1"));
        chat.expects(asks("Hello")).answers("Hi!");
        room.lose_next_delivery();
        let lost = room.send_as_event(&event, "ada", "Hello").await;
        let _ = lost.outcome().await;
        let of = EventId::new(&event);
        let deletion = room.message(&chat.event("2"), "ada", Body::Deletion { of });
        nothing_said(room.redeliver(deletion).await).await;
        chat.end().await;
        assert_eq!(room.shown(), [""; 0]);
        assert_eq!(Ledger::open(folder.path()).unwrap().take_left_over(), []);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_of_a_session_are_answered_in_their_order_and_sessions_do_not_wait_for_each_other()
{
    run(BotStorage::embedded(), async |chat| {
        let gate = Gate::closed();
        chat.expects(asks("first"))
            .replies(Reply::chunks(["o", "ne"]).paused(&gate));
        chat.expects(asks("second")).answers("two");
        chat.expects(asks("aside")).answers("three");

        let room = chat.room("a");
        let first = room.send("ada", "first").await;
        let second = room.send("ada", "second").await;
        assert_eq!(chat.room("b").say("bob", "aside").await.text(), "three");
        chat.model.arrived(2).await;
        gate.open();
        assert_eq!(first.answer().await.text(), "one");
        assert_eq!(second.answer().await.text(), "two");
        assert!(
            prompt(&chat.model.chats()[2]).contains("one"),
            "the second saw the first"
        );
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_told_twice_and_is_stopped_is_not_answered() {
    run(BotStorage::embedded(), async |chat| {
        let room = chat.room("a");
        let event = chat.event("1");
        chat.expects(asks("Wait.")).replies(Reply::hang());
        let first = room.send_as_event(&event, "ada", "Wait.").await;
        chat.model.arrived(1).await;
        let again = room.send_as_event(&event, "ada", "Wait.").await;
        room.stop().await;
        assert_eq!(first.answer().await.text(), "(stopped)");
        let again = again.outcome().await;
        assert!(matches!(again, MessageOutcome::GivenUp(_)), "{again:?}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_answer_keeps_what_was_shown() {
    run(BotStorage::embedded(), async |chat| {
        let room = chat.room("a");

        chat.expects(asks("Count."))
            .replies(Reply::chunks(["One, two, ", "three, "]).paused(&Gate::closed()));
        let mut counting = room.send("ada", "Count.").await;
        counting.shows("One, two,").await;
        room.stop().await;
        assert_eq!(counting.answer().await.text(), "One, two, …\n\n(stopped)");
        chat.model.abandoned(1).await;

        chat.expects(asks("Wait.")).replies(Reply::hang());
        let waiting = room.send("ada", "Wait.").await;
        chat.model.arrived(2).await;
        room.stop().await;
        assert_eq!(waiting.answer().await.text(), "(stopped)");

        let history = room.command("ada", "history").await.text();
        assert!(
            history.contains("One, two, …") && !history.contains("Wait."),
            "{history}"
        );
    })
    .await;
}

async fn an_answer_that_nobody_waited_for_is_written_when_a_program_asks_again(place: BotStorage) {
    run(place, async |chat| {
        let (room, event) = (chat.room("a"), chat.event("1"));
        let question = || IncomingMessage {
            through: Some("mcp".to_owned()),
            ..room.message(&event, "ada", Body::Text("Count.".to_owned()))
        };
        chat.expects(asks("Count."))
            .replies(Reply::chunks(["One, two, ", "three."]).paused(&Gate::closed()));
        let mut counting = room.redeliver(question()).await;
        counting.shows("One, two,").await;
        room.give_up(&event).await;
        drop(counting.outcome().await);
        chat.model.abandoned(1).await;

        chat.expects(asks("Count.")).answers("One, two, three.");
        let again = room.redeliver(question()).await.answer().await;
        assert_eq!(again.text(), "One, two, three.");
        let kept = chat.archive.turn_of_event(&EventId::new(&event)).await;
        assert_eq!(kept.unwrap().unwrap().output, "One, two, three.");
        // What the first call cost is kept with what it wrote.
        let history = room.command("ada", "history").await.text();
        assert!(history.contains("One, two, …"), "{history}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_given_up_alone_whether_it_is_being_answered_or_waits() {
    run(BotStorage::embedded(), async |chat| {
        let room = chat.room("a");
        for (number, gives_up_first) in [("1", false), ("2", true)] {
            let events = ["first", "second"].map(|name| chat.event(&format!("{name}/{number}")));
            let gate = Gate::closed();
            chat.expects(asks("Count."))
                .replies(Reply::chunks(["One, ", "two."]).paused(&gate));
            let mut first = room.send_as_event(&events[0], "ada", "Count.").await;
            first.shows("One,").await;
            let second = room.send_as_event(&events[1], "ada", "Hello?").await;
            if gives_up_first {
                chat.expects(asks("Hello?")).answers("Hi!");
                room.give_up(&events[0]).await;
                assert_eq!(first.answer().await.text(), "One, …\n\n(stopped)");
                assert_eq!(second.answer().await.text(), "Hi!");
            } else {
                room.give_up(&events[1]).await;
                gate.open();
                assert_eq!(first.answer().await.text(), "One, two.");
                nothing_said(second).await;
            }
        }
    })
    .await;
}

async fn without_a_model_it_quotes_what_it_was_told_and_never_its_own_quotes(place: BotStorage) {
    run_without_model(place, &[], async |chat| {
        let room = chat.room("a");
        let noted = room
            .say("ada", "The code of the coffee machine is 4711.")
            .await
            .text();
        assert!(noted.contains("I will remember"), "{noted}");
        let mut answers = Vec::new();
        for _ in 0..3 {
            answers.push(
                room.say("ada", "What is the code of the coffee machine?")
                    .await
                    .text(),
            );
        }
        for answer in &answers {
            assert_eq!(answer.matches("4711").count(), 1, "{answer}");
            let today = chrono::Utc::now().format("%Y-").to_string();
            assert!(
                answer.contains(&today) && answer.contains("ada"),
                "{answer}"
            );
        }
        let why = room.command("ada", "why").await.text();
        assert!(
            why.contains("No model wrote it") && why.contains("4711"),
            "{why}"
        );
        // Who wants it forgotten is told how, and is not quoted.
        let wish = "Please forget the code of the coffee machine";
        let told = room.say("ada", wish).await.text();
        assert!(told.starts_with("I have forgotten nothing"), "{told}");
        let question = "What is the code of the coffee machine?";
        let answer = chat.room("b").say("ada", question).await.text();
        assert!(!answer.contains(wish), "{answer}");
    })
    .await;
}

async fn the_newer_of_two_values_is_told_from_the_older_after_a_restart_too(place: BotStorage) {
    run_without_model(place, &[], async |chat| {
        let room = chat.room("a");
        for text in [
            "The rent of the studio is 900 euros a month.",
            "The rent of the studio goes up to 950 euros.",
        ] {
            room.say("ada", text).await;
        }
        let answer = room.say("ada", "How much is the rent of the studio?").await;
        assert!(
            answer.text().contains(", ada (replaced on "),
            "{}",
            answer.text()
        );
        assert!(
            answer
                .text()
                .contains(", ada (newer):\n> The rent of the studio goes up")
        );

        // The link that was made when it was kept is still there.
        chat.restart().await;
        let links = chat.store.superseded(&chat.audience()).await.unwrap();
        let links: Vec<_> = links.iter().map(|it| (it.later, it.earlier)).collect();
        assert_eq!(links.len(), 1);
        let answer = chat
            .room("b")
            .say("bob", "How much is the rent of the studio?")
            .await;
        assert!(
            answer
                .text()
                .contains(", ada (newer):\n> The rent of the studio goes up")
        );
        // The question asks about the past.
        let question = "How much was the rent of the studio originally?";
        let answer = chat.room("b").say("bob", question).await;
        assert!(!answer.text().contains("replaced on"), "{}", answer.text());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_is_down_leaves_memory() {
    run(BotStorage::embedded(), async |chat| {
        let room = chat.room("a");
        chat.expects(asks("is 4711.")).answers("Noted.");
        room.say("ada", "The code of the coffee machine is 4711.")
            .await;

        chat.expects(|_| true)
            .replies(Reply::refusal(401, "invalid_api_key", "no"));
        let answer = chat
            .room("b")
            .say("ada", "What is the code of the coffee machine?")
            .await
            .text();
        assert!(
            answer.starts_with("I could not ask the model (it refused my key)"),
            "{answer}"
        );
        assert!(
            answer.contains("> The code of the coffee machine is 4711."),
            "{answer}"
        );

        // The window is not read then, so its turns are recalled too.
        chat.expects(|_| true)
            .replies(Reply::refusal(401, "invalid_api_key", "no"));
        let answer = room
            .say("ada", "What is the code of the coffee machine?")
            .await
            .text();
        assert!(answer.contains("is 4711."), "{answer}");

        chat.expects(asks("Better now?")).answers("Yes.");
        assert_eq!(room.say("ada", "Better now?").await.text(), "Yes.");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn embeddings_that_are_down_leave_words() {
    let options = ["--embedding-model=embedding"];
    run_with(BotStorage::embedded(), &options, async |chat| {
        for fact in [
            "The code of the coffee machine is 4711.",
            "We moved the standup to ten.",
            "The printer is out of toner.",
            "Bob is on holiday until Friday.",
        ] {
            chat.expects(|_| true).answers("Noted.");
            chat.room("a").say("ada", fact).await;
        }

        chat.model.embeds(Embeddings::Refused(400, "no".to_owned()));
        chat.expects(|request| {
            request
                .last_user()
                .contains("> The code of the coffee machine is 4711.")
        })
        .answers("4711");
        let answer = chat
            .room("b")
            .say("ada", "What is the code of the coffee machine?")
            .await
            .text();
        let told =
            "(The embedding service does not answer, so I searched my memory by words only.)";
        assert_eq!(answer, format!("4711\n\n{told}"));
    })
    .await;
}

/// A Neo4j behind a proxy that a test can cut.
async fn behind_a_wire() -> (BotStorage, Proxy) {
    let proxy = Proxy::to(BotStorage::neo4j_address()).await;
    (BotStorage::neo4j(Some(&proxy.bolt_url())), proxy)
}

async fn told_of_the_cat(chat: &ScriptedChat, room: &TestConversation) {
    chat.expects(asks("called Miso.")).answers("Noted.");
    room.say("ada", "My cat is called Miso.").await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Neo4j (NEO4J_TEST_URI)"]
async fn while_the_graph_is_away_turns_go_on_and_are_saved_once_when_it_is_back() {
    let (place, proxy) = behind_a_wire().await;
    run_with(place, &["--graph-timeout=20"], async |chat| {
        let room = chat.room("a");
        told_of_the_cat(chat, &room).await;

        proxy.cut();
        let event = chat.event("away");
        chat.expects(asks("called?")).answers("Miso.");
        let away = room
            .say_as_event(&event, "ada", "What is my cat called?")
            .await
            .text();
        // Delivered again, it is known to be answered.
        let again = room.send_as_event(&event, "ada", "What is my cat called?");
        assert!(matches!(
            again.await.outcome().await,
            MessageOutcome::GivenUp(_)
        ));
        assert!(
            away.starts_with(
                "Miso.\n\n(My memory cannot be reached right now: I answered from the last turn."
            ),
            "{away}"
        );
        chat.expects(|request| prompt(request).contains("What is my cat called?"))
            .answers("Grey.");
        room.say("ada", "And its colour?").await;
        let asked = chat.model.chats().last().map(prompt).unwrap();
        assert!(asked.contains("called Miso."), "{asked}");
        let history = room.command("ada", "history").await.text();
        assert!(history.contains("try again later"), "{history}");
        assert_eq!(chat.archive.waiting(), 2);

        proxy.mend();
        chat.saved_all().await;
        let history = room.command("ada", "history").await.text();
        let places: Vec<Option<usize>> =
            ["called Miso.", "What is my cat called?", "And its colour?"]
                .iter()
                .map(|said| history.find(said))
                .collect();
        assert!(
            places.iter().all(Option::is_some) && places.is_sorted(),
            "{history}"
        );
        assert_eq!(history.matches("And its colour?").count(), 1, "{history}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Neo4j (NEO4J_TEST_URI)"]
async fn forget_last_means_the_newest_turn_also_where_it_waits_for_the_graph() {
    let (place, proxy) = behind_a_wire().await;
    run_with(place, &["--graph-timeout=20"], async |chat| {
        let room = chat.room("a");
        told_of_the_cat(chat, &room).await;

        proxy.cut();
        let coco = chat.event("coco");
        for (event, said) in [
            (chat.event("rex"), "My dog is called Rex."),
            (coco.clone(), "My bird is called Coco."),
        ] {
            chat.expects(asks(said)).answers("Noted.");
            room.say_as_event(&event, "ada", said).await;
        }
        let forgotten = room.command("ada", "forget last").await.text();
        assert!(
            forgotten.starts_with("Forgotten: your last turn, which still waited"),
            "{forgotten}"
        );
        let journal = std::fs::read_to_string(chat.place.journal()).unwrap();
        assert!(
            journal.contains("Rex") && !journal.contains("Coco"),
            "{journal}"
        );

        proxy.mend();
        chat.saved_all().await;
        let history = room.command("ada", "history").await.text();
        assert!(
            history.contains("Miso") && history.contains("Rex"),
            "{history}"
        );
        assert!(!history.contains("Coco"), "{history}");
        // What never reached the graph is not read again from the platform either.
        let read_again =
            chat.room("a")
                .with_background_of(Some(&coco), "ada", "My bird is called Coco.");
        let without = |request: &ModelServerRequest| !prompt(request).contains("Coco");
        for question in ["Which pets have I?", "And how many?"] {
            chat.expects(move |request| {
                request.last_user().ends_with(question) && without(request)
            })
            .answers("A cat and a dog.");
            read_again.say("ada", question).await;
            // The second time the graph knows it.
            chat.archive.replay().await.unwrap();
        }
        let session = room.message(&coco, "ada", Body::Text(String::new()));
        let marks = chat.archive.store().marks(&session.conversation).await;
        assert!(marks.unwrap().events.contains(&coco));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Neo4j (NEO4J_TEST_URI)"]
async fn an_answer_begun_while_the_graph_was_away_is_not_made_from_what_was_forgotten_since() {
    let (place, proxy) = behind_a_wire().await;
    run_with(place, &["--graph-timeout=20"], async |chat| {
        let (told, thread) = (chat.room("a"), chat.room("b"));
        chat.expects(asks("is 4711.")).answers("Good to know.");
        told.say("ada", "The code of the gate is 4711.").await;
        told.say("ada", "memory").await;
        // From here on, the place is known in memory.
        chat.expects(asks("Is it dry?")).answers("It is.");
        thread.say("bob", "Is it dry?").await;

        proxy.cut();
        let gate = Gate::closed();
        chat.expects(|request| prompt(request).contains("> The code of the gate is 4711."))
            .replies(Reply::chunks(["It ", "is 4711."]).paused(&gate));
        let mut asked = thread.send("bob", "What is the code of the gate?").await;
        asked.first_update().await;
        assert!(chat.archive.is_away());
        proxy.mend();
        // The pool notices its dead connections, each at its next use.
        while chat.store.probe().await.is_err() {}
        chat.saved_all().await;
        let said = told.say("ada", "forget 1").await.text();
        assert!(said.starts_with("Forgotten"), "{said}");
        chat.expects(|request| !prompt(request).contains("4711"))
            .answers("I do not know.");
        gate.open();
        assert_eq!(asked.answer().await.text(), "I do not know.");
    })
    .await;
}

async fn what_falls_out_of_the_window_is_summarised_after_the_reply(place: BotStorage) {
    run_with(place, &["--window-turns=2"], async |chat| {
        let room = chat.room("a");
        let summarises = |request: &ModelServerRequest| {
            request.model() == "utility" && request.last_user().contains("> fact 0")
        };
        // One that was cut off takes nothing's place.
        chat.expects(summarises)
            .replies(Reply::text("They").finish("length"));
        for n in 0..8 {
            chat.expects(|request| request.model() == "chat")
                .answers("Noted.");
            room.say("ada", &format!("fact {n}")).await;
        }
        // Eight turns, two of them in the window: six fell out, which is a batch.
        chat.model.arrived(9).await;
        chat.expects(summarises).answers("They collect facts.");
        let summarised = async {
            loop {
                chat.expects(|request| request.model() == "chat")
                    .answers("Noted.");
                room.say("ada", "And?").await;
                if prompt(chat.model.chats().last().unwrap()).contains("> They collect facts.") {
                    break;
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(20), summarised)
            .await
            .unwrap();
        let last = prompt(chat.model.chats().last().unwrap());
        assert!(
            last.contains("fact 7") && !last.contains("\nfact 0"),
            "{last}"
        );
        let all = chat.model.chats();
        assert!(!all.iter().any(|asked| prompt(asked).contains("> They\n")));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_whose_summaries_are_cut_off_is_not_asked_for_one_after_every_turn() {
    run_with(
        BotStorage::embedded(),
        &["--window-turns=2"],
        async |chat| {
            let room = chat.room("a");
            for _both in 0..2 {
                chat.expects(|request| request.model() == "utility")
                    .replies(Reply::text("They").finish("length"));
            }
            // The eighth turn is the first after which a summary is due.
            for n in 0..13 {
                chat.expects(|request| request.model() == "chat")
                    .answers("Noted.");
                room.say("ada", &format!("fact {n}")).await;
            }
            chat.model.arrived(15).await;
        },
    )
    .await;
}

async fn what_is_forgotten_is_gone(place: BotStorage) {
    run(place, async |chat| {
        let other = match chat.store.is_shared() {
            true => Some(chat.another_bot().await),
            false => None,
        };
        let room = chat.room("a");
        chat.expects(asks("is 4711.")).answers("Noted.");
        room.say("ada", "The code of the coffee machine is 4711.")
            .await;
        if let Some(other) = &other {
            chat.expects(|request| request.last_user().contains("4711"))
                .answers("4711");
            other
                .room("b")
                .say("bob", "What is the code of the coffee machine?")
                .await;
            assert!(
                other
                    .room("b")
                    .command("bob", "forget last")
                    .await
                    .text()
                    .starts_with("Forgotten")
            );
        }
        let refused = room.command("bob", "forget last").await.text();
        assert_eq!(refused, "There is nothing of yours to forget here.");
        let refused = room.command("bob", "forget session").await.text();
        assert!(
            refused.starts_with("Others said things here too"),
            "{refused}"
        );
        let forgotten = room.command("ada", "forget last").await.text();
        assert!(forgotten.starts_with("Forgotten"), "{forgotten}");

        for bot in std::iter::once(&**chat).chain(&other) {
            chat.expects(|request| !prompt(request).contains("4711"))
                .answers("I do not know.");
            bot.room("c")
                .say("eve", "What is the code of the coffee machine?")
                .await;
        }
        // Outside of conversations it shows what was said last in the place.
        let history = room.command("ada", "history").await.text();
        assert!(
            history.contains("eve: What is") && !history.contains("4711"),
            "{history}"
        );
        if let Some(other) = other {
            other.end().await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_model_can_search_memory_itself() {
    // By default it recalls nothing as unlikely as this.
    let only_sure = ["--recall-threshold=0.1"];
    run_with(BotStorage::embedded(), &only_sure, async |chat| {
        chat.expects(asks("is 4711.")).answers("Noted.");
        chat.room("a")
            .say("ada", "The code of the coffee machine is 4711.")
            .await;

        chat.expects(|request| {
            request.tools() == ["search_memory", "save_note", "list_notes"]
                && request.tool_results().is_empty()
        })
        .calls(&[
            ("search_memory", json!({"query": "coffee machine code"})),
            ("fly", json!({})),
        ]);
        chat.expects(|request| {
            let results = request.tool_results();
            results[0].contains("4711") && results[1].contains("there is no such tool")
        })
        .answers("4711");
        let room = chat.room("b");
        assert_eq!(room.say("ada", "I want an espresso!").await.text(), "4711");
        let why = room.command("ada", "why").await.text();
        assert!(
            why.contains("4711") && why.contains("200 tokens read and 20 written"),
            "{why}"
        );
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_it_found_in_memory_is_answered_once_the_critic_is_content() {
    // By default it recalls nothing as unlikely as this.
    let only_sure = ["--recall-threshold=0.1"];
    run_with(BotStorage::embedded(), &only_sure, async |chat| {
        chat.expects(asks("is 4711.")).answers("Noted.");
        chat.room("a")
            .say("ada", "The code of the coffee machine is 4711.")
            .await;

        chat.expects(|request| request.tools() == ["search_memory", "save_note", "list_notes"])
            .calls(&[("search_memory", json!({"query": "coffee machine code"}))]);
        chat.expects(|request| {
            request.model() == "utility" && request.last_user().contains("4711")
        })
        .answers(r#"{"questions": []}"#);
        chat.expects(|request| {
            let asked = request.last_user();
            request.tools().is_empty() && asked.contains("  > The code of the coffee machine")
        })
        .answers("4711");
        let room = chat.room("b");
        assert_eq!(room.say("ada", "I want an espresso!").await.text(), "4711");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_too_long_for_the_model_is_made_shorter() {
    for tells in [true, false] {
        run(BotStorage::embedded(), async |chat| {
            chat.model.has(Quirk::Context {
                tokens: 2_048,
                tells,
            });
            let room = chat.room("a");
            chat.expects(|_| true).always_replies(Reply::text("Hi!"));
            let long = format!("Hello {}", "word ".repeat(600));
            assert_eq!(room.say("ada", &long).await.text(), "Hi!");
            let mut sent: Vec<String> = Vec::new();
            for request in chat.model.chats() {
                let body = request.body.to_string();
                assert!(!sent.contains(&body), "the same prompt twice");
                sent.push(body);
            }
            // The limit is known now.
            let before = sent.len();
            assert_eq!(room.say("ada", &long).await.text(), "Hi!");
            let small_steps = usize::from(tells) + 3;
            assert!(chat.model.chats().len() <= before + small_steps);
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_small_model_that_can_do_little_is_a_good_bot_all_the_same() {
    run(BotStorage::embedded(), async |chat| {
        chat.model
            .has(Quirk::NoTools(500, "tools param requires --jinja flag"));
        chat.model
            .has(Quirk::NoSystemRole(400, "System role not supported"));
        chat.model.has(Quirk::Alternates(
            400,
            "Conversation roles must alternate user/assistant/user/assistant/...",
        ));
        chat.model.has(Quirk::Context {
            tokens: 2_048,
            tells: true,
        });
        let thinks =
            |answer: &str| Reply::text(&format!("<think>\nThe user says…\n</think>\n\n{answer}"));
        chat.expects(asks("is 4711.")).replies(thinks("Noted."));
        let (here, there) = (chat.room("a"), chat.room("b"));
        let told = here
            .say("ada", "The code of the coffee machine is 4711.")
            .await;
        assert_eq!(told.text(), "Noted.");
        // From another thread: it is in the prompt, without system role and tools.
        chat.expects(|request| {
            let asked = request.last_user();
            request.tools().is_empty()
                && request.texts("system").is_empty()
                && asked.contains("> The code of the coffee machine is 4711.")
                && asked.contains("What is the code of the coffee machine?")
        })
        .replies(thinks("4711."));
        let asked = there
            .say("ada", "What is the code of the coffee machine?")
            .await;
        assert_eq!(asked.text(), "4711.");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_refused_is_told_why() {
    let options = ["--message-chars=100", "--messages-per-minute=2"];
    run_without_model(BotStorage::embedded(), &options, async |chat| {
        let room = chat.room("a");
        let long = room.say("ada", &"x".repeat(101)).await.text();
        assert!(
            long.contains("101 characters; I read at most 100"),
            "{long}"
        );
        let unknown = room.command("ada", "dance").await.text();
        assert!(unknown.contains("\"dance\""), "{unknown}");
        let help = room.command("ada", "help").await.text();
        assert!(help.contains("forget session"), "{help}");
        let fast = room.command("ada", "help").await.text();
        assert!(fast.contains("more than 2 messages per minute"), "{fast}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_who_asks_too_much_is_told_once_and_keeps_nobody_waiting() {
    let options = ["--messages-per-minute=2"];
    run_without_model(BotStorage::embedded(), &options, async |chat| {
        let room = chat.room("a");
        let mut asked = Vec::new();
        for _ in 0..50 {
            asked.push(room.send_command("ada", "help").await);
        }
        let help = room.command("bob", "help").await.text();
        assert!(help.contains("forget session"), "{help}");
        let mut refusals = 0;
        for asked in asked {
            if let MessageOutcome::Answered(answer) = asked.outcome().await {
                refusals += usize::from(answer.text().contains("messages per minute"));
            }
        }
        assert_eq!(refusals, 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_for_a_place_sees_that_they_are_heard() {
    run_with(
        BotStorage::embedded(),
        &["--turns-in-flight=1"],
        async |chat| {
            let gate = Gate::closed();
            chat.expects(asks("first"))
                .replies(Reply::chunks(["o", "ne"]).paused(&gate));
            chat.expects(asks("second")).answers("two");

            let mut first = chat.room("a").send("ada", "first").await;
            first.shows("o").await;
            let mut second = chat.room("b").send("bob", "second").await;
            second.works().await;
            gate.open();
            assert_eq!(first.answer().await.text(), "one");
            assert_eq!(second.answer().await.text(), "two");
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_forgets_something_takes_no_place_from_who_has_the_conversation() {
    run_with(
        BotStorage::embedded(),
        &["--turns-in-flight=1"],
        async |chat| {
            let gate = Gate::closed();
            chat.expects(asks("earlier")).answers("fine");
            chat.expects(asks("first"))
                .replies(Reply::chunks(["o", "ne"]).paused(&gate));
            chat.expects(asks("second")).answers("two");

            let (room, beside) = (chat.room("a"), chat.room("b"));
            room.say("ada", "earlier").await;
            let mut first = beside.send("bob", "first").await;
            first.shows("o").await;
            // In order: the question claims the conversation while there is no free slot.
            let (forgotten, second, ()) = tokio::join!(
                room.command("ada", "forget last"),
                room.say("ada", "second"),
                async { gate.open() },
            );
            let forgotten = forgotten.text();
            assert!(forgotten.starts_with("Forgotten"), "{forgotten}");
            assert_eq!(second.text(), "two");
            assert_eq!(first.answer().await.text(), "one");
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_burst_that_fits_into_the_inbox_waits_its_turn() {
    let options = ["--inbox-size=2", "--turns-in-flight=1"];
    run_without_model(BotStorage::embedded(), &options, async |chat| {
        let mut asked = Vec::new();
        for number in 0..20 {
            let room = chat.room(&number.to_string());
            asked.push(tokio::spawn(async move {
                room.say("ada", "Hello").await.text()
            }));
        }
        for asked in asked {
            let answer = asked.await.unwrap();
            assert!(!answer.contains("waiting"), "{answer}");
        }
    })
    .await;
}

async fn a_command_that_is_delivered_again_takes_effect_once(place: BotStorage) {
    run_without_model(place, &[], async |chat| {
        let room = chat.room("a");
        for said in ["The first.", "The second.", "The third."] {
            room.say("ada", said).await;
        }
        let last = Body::Command(Command::Forget(ForgetWhat::Last));
        let last = room.message(&chat.event("last"), "ada", last);
        let said = room.redeliver(last.clone()).await.answer().await.text();
        assert!(said.starts_with("Forgotten: your message of "), "{said}");
        if let MessageOutcome::Answered(again) = room.redeliver(last).await.outcome().await {
            assert_eq!(again.text(), said);
        }
        let history = room.command("ada", "history").await.text();
        assert!(history.contains("The second."), "{history}");
        assert!(!history.contains("The third."), "{history}");

        let session = Body::Command(Command::Forget(ForgetWhat::Session));
        let session = room.message(&chat.event("session"), "ada", session);
        let said = room.redeliver(session.clone()).await.answer().await.text();
        assert_eq!(said, "Forgotten: all 2 turns of this conversation.");
        room.say("ada", "The fourth.").await;
        if let MessageOutcome::Answered(again) = room.redeliver(session).await.outcome().await {
            assert_eq!(again.text(), said);
        }
        let history = room.command("ada", "history").await.text();
        assert!(history.contains("The fourth."), "{history}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_is_read_again_hours_later_takes_effect_once() {
    run_without_model(BotStorage::embedded(), &[], async |chat| {
        let room = chat.room("a");
        for said in ["The first.", "The second."] {
            room.say("ada", said).await;
        }
        let last = Body::Command(Command::Forget(ForgetWhat::Last));
        let last = room.message(&chat.event("last"), "ada", last);
        let said = room.redeliver(last.clone()).await.answer().await.text();
        assert!(said.starts_with("Forgotten: your message of "), "{said}");
        room.say("ada", "The third.").await;
        // As when it is older than claims are kept.
        chat.store.sweep_claims(Duration::ZERO).await.unwrap();
        if let MessageOutcome::Answered(again) = room.redeliver(last).await.outcome().await {
            assert_eq!(again.text(), said);
        }
        let history = room.command("ada", "history").await.text();
        assert!(history.contains("The third."), "{history}");
        assert!(!history.contains("The second."), "{history}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_under_way_is_finished_at_the_end() {
    run(BotStorage::embedded(), async |chat| {
        let gate = Gate::closed();
        chat.expects(asks("Hello"))
            .replies(Reply::chunks(["Hi ", "there!"]).paused(&gate));
        let answer = chat.room("a").send("ada", "Hello").await;
        chat.model.arrived(1).await;
        chat.shut_down();
        gate.open();
        assert_eq!(answer.answer().await.text(), "Hi there!");

        chat.restart().await;
        let history = chat.room("a").command("ada", "history").await.text();
        assert!(history.contains("Hi there!"), "{history}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_cannot_end_is_stopped_by_the_clock() {
    run_with(
        BotStorage::embedded(),
        &["--turn-timeout=3"],
        async |chat| {
            chat.expects(asks("Hello"))
                .replies(Reply::chunks(["Well, ", "…"]).paused(&Gate::closed()));
            let answer = chat.room("a").say("ada", "Hello").await.text();
            assert_eq!(
                answer,
                "Well, …\n\n(I stopped after 3 seconds; whoever runs me can raise TURN_TIMEOUT.)"
            );
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_ends_before_its_end_says_so() {
    run(BotStorage::embedded(), async |chat| {
        let room = chat.room("a");
        for (reason, written, said) in [
            ("length", 1_500, "ANSWER_TOKENS"),
            ("length", 300, "could not write more"),
            ("content_filter", 300, "content filter"),
        ] {
            let all = Reply::text("It all began").finish(reason);
            chat.expects(asks("Tell me all."))
                .replies(all.usage(100, written));
            let answer = room.say("ada", "Tell me all.").await.text();
            assert!(
                answer.starts_with("It all began\n\n(This answer is"),
                "{answer}"
            );
            assert!(answer.contains(said), "{answer}");
        }
        // The model's own text is kept.
        chat.expects(|request| {
            let read = prompt(request);
            read.contains("It all began") && !read.contains("This answer is")
        })
        .answers("Gladly.");
        assert_eq!(room.say("ada", "Go on.").await.text(), "Gladly.");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_is_taken_out_and_the_answer_says_so() {
    run(BotStorage::embedded(), async |chat| {
        let room = chat.room("a");
        chat.expects(|request| {
            let read = prompt(request);
            read.contains("DB_PASSWORD=[secret removed]") && !read.contains("hunter2")
        })
        .answers("Noted.");
        let answer = room.say("ada", "We set DB_PASSWORD=hunter2 there.").await;
        assert!(
            answer.text().starts_with("Noted.\n\n(I removed a secret"),
            "{}",
            answer.text()
        );
        chat.expects(|request| !prompt(request).contains("I removed a secret"))
            .answers("Yes.");
        assert_eq!(room.say("ada", "Did you note it?").await.text(), "Yes.");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_for_which_every_call_failed_says_so() {
    run(BotStorage::embedded(), async |chat| {
        let room = chat.room("a");
        let failing = "(Every look-up for this answer failed, so nothing in it was looked up.)";
        for _corrected in 0..3 {
            chat.expects(|request| !request.tools().is_empty())
                .calls(&[("weather", json!({"city": "Oslo"}))]);
        }
        chat.expects(|request| request.model() == "utility")
            .answers(r#"{"questions": []}"#);
        chat.expects(|request| request.model() == "chat" && request.tools().is_empty())
            .answers("It rains.");
        let answer = room.say("ada", "What is the weather in Oslo?").await;
        assert_eq!(answer.text(), format!("It rains.\n\n{failing}"));

        // A corrected call does not count as failed.
        chat.expects(|request| !request.tools().is_empty())
            .calls(&[("weather", json!({"city": "Oslo"}))]);
        chat.expects(|request| !request.tools().is_empty())
            .calls(&[("search_memory", json!({"query": "weather in Oslo"}))]);
        chat.expects(|request| request.model() == "utility")
            .answers(r#"{"questions": []}"#);
        chat.expects(|request| request.model() == "chat" && request.tools().is_empty())
            .answers("It rained.");
        let answer = room.say("ada", "And yesterday?").await;
        assert_eq!(answer.text(), "It rained.");
    })
    .await;
}
