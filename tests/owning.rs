//! A person's own items: noting, listing, correcting and forgetting them, over real graphs.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use chrono::{TimeDelta, Utc};
use muninn::conversation::audit::{Audit, AuditAction};
use muninn_platform::testing::{MessageOutcome, TestConversation};
use muninn_platform::{Body, Command, ForgetWhat, ItemDeed};
use serde_json::{Value, json};
use support::bot::{BotStorage, nothing_said};
use support::chat::{ScriptedChat, run, run_without_model};
use support::model_server::{Gate, Reply};
use support::program::{asks, prompt};

support::bot::on_every_graph!(
    a_note_is_recalled_where_it_bears_on_the_question_and_nowhere_else,
    a_list_shows_ones_own_in_pages_and_its_numbers_forget_and_correct,
    what_is_corrected_is_never_given_as_current,
    a_number_never_means_something_that_was_not_shown,
    two_who_correct_the_same_are_told_of_each_other,
    what_why_recalled_is_forgotten_by_who_said_it_or_a_moderator,
    what_why_recalled_is_forgotten_and_corrected_by_its_buttons,
    all_that_is_kept_of_somebody_is_given_to_them_alone,
    a_note_is_followed_when_it_is_edited,
    a_command_about_one_thing_takes_effect_once,
    a_favourite_is_kept_once_its_person_says_yes,
    a_favourite_stays_when_the_yes_is_edited_to_another_yes,
    what_an_answer_lists_of_a_note_goes_with_the_note,
);

const TEA: &str = "Remember that the kettle in the annex is descaled on Tuesdays";

/// Adds small talk and trifles, so that recall has to choose.
async fn talk(room: &TestConversation) {
    for text in [
        "The printer on the second floor jams on thick paper.",
        "Bob takes over the newsletter from May on.",
        "The lift is inspected in the last week of March.",
        "Parking permits are at the reception.",
        "The projector needs the grey adapter.",
        "Carla orders the fruit baskets.",
        "The new badge photos are on the intranet.",
        "Our landlord is called Huber.",
        "The fire drill was short this time.",
        "Somebody left an umbrella in the lobby.",
    ] {
        room.say("bob", text).await;
    }
}

async fn a_note_is_recalled_where_it_bears_on_the_question_and_nowhere_else(place: BotStorage) {
    run_without_model(place, &[], async |chat| {
        let room = chat.room("a");
        talk(&room).await;
        let said = room.say("ada", TEA).await.text();
        assert!(
            said.starts_with("Noted: I recall it in this room"),
            "{said}"
        );
        talk(&chat.room("b")).await;

        chat.restart().await;
        let ask = async |text: &str| chat.room("c").say("eve", text).await.text();
        let answer = ask("When is the kettle descaled?").await;
        assert!(answer.contains("descaled on Tuesdays"), "{answer}");
        assert!(answer.contains("ada"), "{answer}");
        for beside in [
            "thanks!",
            "Who orders the fruit?",
            "What is our landlord called?",
        ] {
            let answer = ask(beside).await;
            assert!(!answer.contains("Tuesdays"), "{beside}: {answer}");
        }
        // Not in another audience.
        let elsewhere = chat.room_of("a", "elsewhere");
        let answer = elsewhere.say("ada", "When is the kettle descaled?").await;
        assert!(!answer.text().contains("Tuesdays"));
        // It is not an answer of the bot, and not a question that others could repeat.
        let history = chat.room("a").command("ada", "history").await.text();
        assert!(!history.contains("kettle"), "{history}");
    })
    .await;
}

async fn a_list_shows_ones_own_in_pages_and_its_numbers_forget_and_correct(place: BotStorage) {
    run_without_model(place, &[], async |chat| {
        let room = chat.room("a");
        let nothing = room.say("ada", "memory").await.text();
        assert_eq!(nothing, "I keep nothing of what you said here.");
        for n in 1..=12 {
            let text = format!("remember that shelf {n} holds box {n}");
            room.say("ada", &text).await;
        }
        room.say("bob", "remember that the code is 4711").await;
        chat.room_of("a", "elsewhere")
            .say("ada", "remember that I am elsewhere")
            .await;
        let list = room
            .say("ada", "What do you remember about me?")
            .await
            .text();
        let lines: Vec<&str> = list.lines().collect();
        assert_eq!(lines.len(), 11, "{list}");
        assert!(
            lines[0].starts_with("1. [") && lines[0].ends_with("you noted: shelf 12 holds box 12")
        );
        assert!(lines[9].ends_with("shelf 3 holds box 3"), "{list}");
        assert!(lines[10].contains("`memory more`"), "{list}");
        assert!(
            !list.contains("4711") && !list.contains("elsewhere"),
            "{list}"
        );
        let more = room.command("ada", "memory more").await.text();
        assert!(
            more.starts_with("11. [") && more.contains("shelf 1 holds"),
            "{more}"
        );
        assert!(!more.contains("memory more"), "{more}");
        let end = room.command("ada", "memory more").await.text();
        assert!(end.starts_with("A list ends after 12."), "{end}");

        // Numbers refer to the last listing, whichever page it was on.
        let said = room.say("ada", "forget 12").await.text();
        assert!(said.starts_with("Forgotten: what was number 12"), "{said}");
        let found = room.say("ada", "memory search SHELF 1").await.text();
        assert!(
            found.contains("shelf 12 holds") && !found.contains("shelf 1 holds"),
            "{found}"
        );
        let none = room.say("ada", "memory search unicorn").await.text();
        assert!(
            none.starts_with("Nothing that I keep of what you said"),
            "{none}"
        );
        let said = room
            .say("ada", "correct 1: shelf 12 holds nothing")
            .await
            .text();
        assert!(said.starts_with("Corrected. From now on"), "{said}");
        let list = room.say("ada", "memory").await.text();
        let lines: Vec<&str> = list.lines().collect();
        assert!(
            lines[0].ends_with("you noted: shelf 12 holds nothing"),
            "{list}"
        );
        assert!(lines[1].contains("box 12 (corrected on "), "{list}");
        // Together with what it corrected.
        let said = room.say("ada", "forget 1").await.text();
        assert!(
            said.contains("with 1 version that it had corrected"),
            "{said}"
        );
        let list = room.say("ada", "memory").await.text();
        assert!(!list.contains("shelf 12"), "{list}");
        let shape = chat.store.chain_shape(&conversation(&room)).await.unwrap();
        assert!(shape.is_whole() && shape.turns == 11, "{shape:?}");
    })
    .await;
}

fn conversation(room: &TestConversation) -> muninn_platform::ConversationId {
    room.message("any", "any", Body::Text(String::new()))
        .conversation
}

async fn what_is_corrected_is_never_given_as_current(place: BotStorage) {
    run_without_model(place, &[], async |chat| {
        let room = chat.room("a");
        talk(&room).await;
        room.say("ada", "The audit of the warehouse is on Thursday.")
            .await;
        let asked = room.say("ada", "When is the audit of the warehouse?").await;
        assert!(asked.text().contains("Thursday"), "{}", asked.text());
        // The question comes first; its answer shows what is wrong, and is no item of its own.
        let list = room.say("ada", "memory").await.text();
        let first = list.lines().next().unwrap();
        assert!(
            first.ends_with("When is the audit of the warehouse?"),
            "{list}"
        );
        let said = room.say("ada", "correct 1: it is on Friday at nine").await;
        assert!(
            said.text().starts_with("Number 1 is a question"),
            "{}",
            said.text()
        );
        let said = room.say("ada", "correct 2: it is on Friday at nine").await;
        assert!(said.text().starts_with("Corrected"), "{}", said.text());
        let ask = async |chat: &ScriptedChat, name: &str| {
            let asked = chat.room(name);
            let answer = asked.say("bob", "When is the audit of the warehouse?");
            answer.await.text()
        };
        let answer = ask(chat, "b").await;
        assert!(answer.contains("it is on Friday at nine"), "{answer}");
        assert!(!answer.contains("Thursday"), "{answer}");
        // As it is read from the graph.
        chat.restart().await;
        let answer = ask(chat, "c").await;
        assert!(answer.contains("it is on Friday at nine"), "{answer}");
        assert!(!answer.contains("Thursday"), "{answer}");
    })
    .await;
}

async fn a_number_never_means_something_that_was_not_shown(place: BotStorage) {
    run_without_model(place, &[], async |chat| {
        let room = chat.room("a");
        let again = "I do not know any more what the numbers stand for.";
        for command in ["forget 1", "correct 1: tea", "memory more"] {
            let said = room.say("ada", command).await.text();
            assert!(said.starts_with(again), "{command}: {said}");
        }
        let (first, second) = (chat.event("1"), chat.event("2"));
        room.say_as_event(&first, "ada", "remember that tea is at four")
            .await;
        room.say_as_event(&second, "ada", "remember that cake is at five")
            .await;
        room.say("ada", "memory").await;
        room.say("ada", "remember that milk is in the fridge").await;

        // The numbers survive a restart, and new items do not change them.
        chat.restart().await;
        let room = chat.room("a");
        for (command, expected) in [
            ("forget 0", "There is no number 0 in the last list"),
            (
                "forget 3",
                "There is no number 3 in the last list that you saw here, which has 2.",
            ),
            ("correct 2:", "Say what is right:"),
            ("forget 1", "Forgotten: what was number 1"),
            ("forget 1", "What was number 1 is forgotten already."),
            ("correct 1: no", "What was number 1 is forgotten already."),
        ] {
            let said = room.say("ada", command).await.text();
            assert!(said.starts_with(expected), "{command}: {said}");
        }
        let left = room.say("ada", "memory").await.text();
        assert!(
            left.contains("milk") && left.contains("tea") && !left.contains("cake"),
            "{left}"
        );
        // It has another text by now.
        let edited = room
            .edit(&first, "ada", "remember that tea is at six")
            .await;
        assert!(matches!(edited.outcome().await, MessageOutcome::GivenUp(_)));
        let said = room.say("ada", "forget 2").await.text();
        assert!(
            said.starts_with("Number 2 has changed since you saw it"),
            "{said}"
        );
        // Numbers are per person and place.
        let said = room.say("bob", "forget 1").await.text();
        assert!(said.starts_with(again), "{said}");
        let elsewhere = chat.room_of("a", "elsewhere");
        let said = elsewhere.say("ada", "forget 1").await.text();
        assert!(said.starts_with(again), "{said}");
    })
    .await;
}

async fn two_who_correct_the_same_are_told_of_each_other(place: BotStorage) {
    run_without_model(place, &[], async |chat| {
        let room = chat.room("a").with_admin("mod");
        room.say("ada", "The gate opens at seven in the morning.")
            .await;
        // One of them sees it in her own list, the other as a source of an answer.
        room.say("ada", "memory").await;
        room.say("mod", "When does the gate open in the morning?")
            .await;
        room.command("mod", "why").await;
        let beside = chat.room("b");
        let (one, other) = tokio::join!(
            beside.say("ada", "correct 1: it opens at eight"),
            room.say("mod", "correct 1: it opens at nine"),
        );
        let said = [one.text(), other.text()];
        let late: Vec<&String> = said
            .iter()
            .filter(|it| it.contains("corrected that on"))
            .collect();
        let done: Vec<&String> = said
            .iter()
            .filter(|it| it.starts_with("Corrected"))
            .collect();
        assert_eq!((late.len(), done.len()), (1, 1), "{said:?}");
        let answer = chat
            .room("c")
            .say("bob", "When does the gate open?")
            .await
            .text();
        let holds = ["at eight", "at nine"]
            .iter()
            .filter(|it| answer.contains(**it))
            .count();
        assert_eq!(holds, 1, "{answer}");
        assert!(!answer.contains("at seven"), "{answer}");
    })
    .await;
}

async fn what_why_recalled_is_forgotten_by_who_said_it_or_a_moderator(place: BotStorage) {
    run_without_model(place, &[], async |chat| {
        let room = chat.room("a").with_admin("mod");
        room.say("ada", "The gate opens at seven in the morning.")
            .await;
        let asked = chat.room("b").with_admin("mod");
        for (person, expected) in [
            (
                "bob",
                "Somebody else said number 1, so only they or an administrator",
            ),
            ("mod", "Forgotten: what was number 1"),
        ] {
            let answer = asked.say(person, "When does the gate open?").await.text();
            assert!(answer.contains("at seven"), "{answer}");
            let why = asked.command(person, "why").await.text();
            assert!(why.contains("\n1. ") && why.contains("`forget 1`"), "{why}");
            let said = asked.say(person, "forget 1").await.text();
            assert!(said.starts_with(expected), "{said}");
        }
        let answer = chat
            .room("c")
            .say("bob", "When does the gate open?")
            .await
            .text();
        assert!(!answer.contains("at seven"), "{answer}");
    })
    .await;
}

async fn what_why_recalled_is_forgotten_and_corrected_by_its_buttons(place: BotStorage) {
    run_without_model(place, &[], async |chat| {
        let gate = "The gate opens at seven in the morning.";
        chat.room("a").say("ada", gate).await;
        let room = chat.room("b").with_admin("mod");
        let answer = room.say("bob", "When does the gate open?").await.text();
        assert!(answer.contains("at seven"), "{answer}");
        let why = room.command("bob", "why").await;
        let item = why.offered[0].clone();
        assert_eq!(item.number, 1);
        let right = || ItemDeed::Correct("The gate opens at eight.".to_owned());
        let elsewhere = chat.room_of("a", "elsewhere");
        // Anybody can press a button; the bot checks whether they may.
        for (room, person, deed, expected) in [
            (
                &room,
                "bob",
                ItemDeed::Forget,
                "Somebody else said number 1",
            ),
            (&room, "bob", right(), "Somebody else said number 1"),
            (
                &elsewhere,
                "ada",
                ItemDeed::Forget,
                "I do not know any more what the numbers",
            ),
            (
                &room,
                "ada",
                right(),
                "Corrected. From now on I use the new text",
            ),
            (&room, "mod", right(), "ada corrected that on "),
            (
                &room,
                "mod",
                ItemDeed::Forget,
                "Forgotten: what was number 1",
            ),
            (
                &room,
                "ada",
                ItemDeed::Forget,
                "What was number 1 is forgotten already",
            ),
            (
                &room,
                "ada",
                right(),
                "What was number 1 is forgotten already",
            ),
        ] {
            let said = room.press(person, &item, deed).await.text();
            assert!(said.starts_with(expected), "{person}: {said}");
        }
        let answer = chat.room("c").say("bob", "When does the gate open?").await;
        let answer = answer.text();
        assert!(
            answer.contains("at eight") && !answer.contains("at seven"),
            "{answer}"
        );
    })
    .await;
}

async fn all_that_is_kept_of_somebody_is_given_to_them_alone(place: BotStorage) {
    run_without_model(place, &[], async |chat| {
        let room = chat.room("a");
        let (ada, bob) = (chat.event("ada"), chat.event("bob"));
        let nothing = room.say(&ada, "export mine").await;
        assert_eq!(nothing.text(), "I keep nothing of yours.");
        assert!(nothing.files.is_empty());
        room.say(&ada, "remember that tea is at four").await;
        room.say(&bob, "remember that the code is 4711").await;
        let elsewhere = chat.room_of("a", "elsewhere");
        elsewhere.say(&ada, "The ladder is in the cellar.").await;

        let given = room.say(&ada, "Export my data!").await;
        assert_eq!(given.text(), "I sent it to you in a direct message.");
        let [(json, all), (markdown, readable)] = given.files.as_slice() else {
            panic!("{:?}", given.files);
        };
        assert!(json.ends_with(".json") && markdown.ends_with(".md"));
        let all: Vec<serde_json::Value> = serde_json::from_slice(all).unwrap();
        let texts: Vec<&str> = all.iter().map(|it| it["text"].as_str().unwrap()).collect();
        assert_eq!(texts, ["The ladder is in the cellar.", "tea is at four"]);
        let readable = String::from_utf8(readable.clone()).unwrap();
        assert!(
            readable.contains("I had noted:\n\n> tea is at four"),
            "{readable}"
        );
        assert!(!readable.contains("4711"), "{readable}");

        // A platform with a small limit gets more files, each complete.
        let small = room.clone().with_largest_file(Ok(200));
        let given = small.command(&ada, "export mine").await.files;
        assert_eq!(given.len(), 4, "{given:?}");
        for (_, content) in given.iter().filter(|(name, _)| name.ends_with(".json")) {
            let all: Vec<serde_json::Value> = serde_json::from_slice(content).unwrap();
            assert_eq!(all.len(), 1);
        }
        // A platform without files explains what to do.
        let none = room
            .clone()
            .with_largest_file(Err("there are no files here"));
        let said = none.command(&ada, "export mine").await.text();
        let what_to_do = format!("`muninn export mine.json --person {ada}`");
        assert!(said.contains("because there are no files here."), "{said}");
        assert!(said.contains(&what_to_do), "{said}");

        let audit = Audit::new(chat.place.path());
        let exported = audit.since(Utc::now() - TimeDelta::days(1)).unwrap();
        let exported = exported
            .iter()
            .filter(|it| it.action == AuditAction::Exported);
        let counts: Vec<_> = exported.map(|it| (it.who.clone(), it.count)).collect();
        assert_eq!(counts, [(ada.clone(), Some(2)), (ada, Some(2))]);
        let left = std::fs::read_dir(chat.place.path()).unwrap();
        let mut left = left.map(|entry| entry.unwrap().file_name());
        assert!(!left.any(|name| name.to_string_lossy().starts_with('.')));
    })
    .await;
}

async fn a_note_is_followed_when_it_is_edited(place: BotStorage) {
    run_without_model(place, &[], async |chat| {
        let room = chat.room("a");
        let event = chat.event("1");
        room.say_as_event(&event, "ada", "remember that tea is at four")
            .await;
        let edited = room
            .edit(&event, "ada", "Remember that tea is at six")
            .await;
        assert!(matches!(edited.outcome().await, MessageOutcome::GivenUp(_)));
        let list = room.say("ada", "memory").await.text();
        assert!(
            list.contains("you noted: tea is at six") && !list.contains("four"),
            "{list}"
        );
        // Others cannot.
        let edited = room.edit(&event, "eve", "remember that tea is off").await;
        assert!(matches!(edited.outcome().await, MessageOutcome::GivenUp(_)));
        assert!(
            room.say("ada", "memory")
                .await
                .text()
                .contains("tea is at six")
        );
        let edited = room.edit(&event, "ada", "never mind").await;
        assert!(matches!(edited.outcome().await, MessageOutcome::GivenUp(_)));
        let list = room.say("ada", "memory").await.text();
        assert_eq!(list, "I keep nothing of what you said here.");
    })
    .await;
}

async fn a_command_about_one_thing_takes_effect_once(place: BotStorage) {
    run_without_model(place, &[], async |chat| {
        let room = chat.room("a");
        let again = async |event: &str, text: &str| {
            let first = room.say_as_event(event, "ada", text).await.text();
            // It may be listed again in between.
            room.say("ada", "memory").await;
            let body = Body::Command(Command::parse_sentence(text).unwrap());
            let message = room.message(event, "ada", body);
            match room.redeliver(message).await.outcome().await {
                MessageOutcome::Answered(said) => assert_eq!(said.text(), first),
                // On a shared graph, the process that did it first answers.
                MessageOutcome::GivenUp(_) => assert!(chat.store.is_shared()),
                lost @ MessageOutcome::Lost(_) => panic!("{lost:?}"),
            }
        };
        again(&chat.event("1"), "remember that tea is at four").await;
        room.say("ada", "remember that cake is at five").await;
        room.say("ada", "memory").await;
        again(&chat.event("2"), "correct 1: cake is at six").await;
        again(&chat.event("3"), "forget 1").await;
        let list = room.say("ada", "memory").await.text();
        assert!(
            list.starts_with("1. ") && list.contains("tea is at four"),
            "{list}"
        );
        assert!(!list.contains("cake"), "{list}");
        // The last one is a note.
        room.say("ada", "remember that the door sticks").await;
        room.command("ada", "forget last").await;
        let list = room.say("ada", "memory").await.text();
        assert!(list.contains("tea") && !list.contains("door"), "{list}");
        assert_eq!(
            Command::parse_sentence("forget 1"),
            Some(Command::Forget(ForgetWhat::Item(1)))
        );
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_made_anew_where_what_it_was_given_is_forgotten_while_it_grows() {
    run(BotStorage::embedded(), async |chat| {
        chat.expects(asks("is 4711.")).answers("Good to know.");
        chat.room("a")
            .say("ada", "The code of the gate is 4711.")
            .await;
        chat.room("a").say("ada", "memory").await;
        let gate = Gate::closed();
        chat.expects(|request| prompt(request).contains("> The code of the gate is 4711."))
            .replies(Reply::chunks(["It ", "is 4711."]).paused(&gate));
        chat.expects(|request| !prompt(request).contains("4711"))
            .answers("I do not know.");
        let asked = chat
            .room("b")
            .send("bob", "What is the code of the gate?")
            .await;
        chat.model.arrived(2).await;
        let said = chat.room("a").say("ada", "forget 1").await.text();
        assert!(said.starts_with("Forgotten"), "{said}");
        gate.open();
        assert_eq!(asked.answer().await.text(), "I do not know.");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_made_anew_where_what_it_was_given_is_edited_while_it_grows() {
    run(BotStorage::embedded(), async |chat| {
        let (room, event) = (chat.room("a"), chat.event("1"));
        chat.expects(asks("is 4711.")).answers("Noted: 4711.");
        room.say_as_event(&event, "ada", "The code of the gate is 4711.")
            .await;
        let gate = Gate::closed();
        chat.expects(|request| prompt(request).contains("> Noted: 4711."))
            .replies(Reply::chunks(["It ", "is 4711."]).paused(&gate));
        let asked = chat
            .room("b")
            .send("bob", "What is the code of the gate?")
            .await;
        chat.model.arrived(2).await;
        chat.expects(asks("is 8080.")).answers("Noted: 8080.");
        let edited = room
            .edit(&event, "ada", "The code of the gate is 8080.")
            .await;
        assert_eq!(edited.answer().await.text(), "Noted: 8080.");
        chat.expects(|request| {
            prompt(request).contains("8080") && !prompt(request).contains("4711")
        })
        .answers("It is 8080.");
        gate.open();
        assert_eq!(asked.answer().await.text(), "It is 8080.");
    })
    .await;
}

/// Has the model propose a note.
fn propose(chat: &ScriptedChat, note: &str) {
    propose_by(chat, json!({"text": note}));
}

/// Has the model propose a note by a call with these arguments.
fn propose_by(chat: &ScriptedChat, arguments: Value) {
    chat.expects(|request| request.tools().contains(&"save_note"))
        .calls(&[("save_note", arguments)]);
    chat.expects(|request| request.last_user().starts_with("Judge whether"))
        .answers(r#"{"questions": []}"#);
    chat.expects(|request| request.last_user().contains("not kept yet"))
        .answers("I can save that.");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_note_whose_argument_has_another_name_is_asked_about_and_kept() {
    run(BotStorage::embedded(), async |chat| {
        let favourite = "The talk on lichens is a favourite.";
        let room = chat.room("a");
        for (person, arguments) in [
            ("ada", json!({"note": favourite})),
            (
                "bob",
                json!({"text": favourite, "note": null}).to_string().into(),
            ),
        ] {
            propose_by(chat, arguments);
            let wish = "Save the talk on lichens as a favourite.";
            let answer = room.say(person, wish).await.text();
            assert!(answer.contains("Say `yes`"), "{answer}");
            let said = room.say(person, "yes").await.text();
            assert!(said.starts_with("Noted"), "{said}");
            let list = room.say(person, "memory").await.text();
            assert!(list.contains(&format!("you noted: {favourite}")), "{list}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_note_is_asked_about_at_a_time() {
    run(BotStorage::embedded(), async |chat| {
        let room = chat.room("a");
        chat.expects(|request| request.tools().contains(&"save_note"))
            .calls(&[
                ("save_note", json!({"text": "Tea is at four."})),
                ("save_note", json!({"text": "The key is under the mat."})),
            ]);
        chat.expects(|request| {
            let results = request.tool_results();
            results.len() == 2
                && results[0].contains("not kept yet")
                && results[1].contains("one thing can be asked about at a time")
        })
        .answers("First the tea, then the key.");
        let wish = "Save that tea is at four, and that the key is under the mat.";
        let answer = room.say("ada", wish).await.text();
        assert!(
            answer.starts_with("First the tea, then the key.")
                && answer.contains("Tea is at four.")
                && !answer.contains("mat"),
            "{answer}"
        );
        room.say("ada", "yes").await;
        let list = room.say("ada", "memory").await.text();
        assert!(list.contains("you noted: Tea is at four."), "{list}");
    })
    .await;
}

/// On a graph where a yes that comes again is not known to be done.
#[tokio::test(flavor = "multi_thread")]
async fn a_yes_that_comes_again_after_a_kill_is_told_that_the_note_is_kept() {
    run(BotStorage::embedded(), async |chat| {
        let (ada, yes) = (chat.event("ada"), chat.event("yes"));
        propose(chat, "The talk on lichens is a favourite.");
        let room = chat.room("a");
        room.say(&ada, "Save the talk on lichens as a favourite.")
            .await;
        room.say_as_event(&yes, &ada, "yes").await;
        chat.restart().await;
        let room = chat.room("a");
        let said = room.say_as_event(&yes, &ada, "yes").await.text();
        assert!(said.starts_with("Noted"), "{said}");
        let list = room.say(&ada, "memory").await.text();
        assert_eq!(list.matches("you noted").count(), 1, "{list}");
    })
    .await;
}

async fn a_favourite_is_kept_once_its_person_says_yes(place: BotStorage) {
    run(place, async |chat| {
        let room = chat.room("a");
        let (ada, bob) = (chat.event("ada"), chat.event("bob"));
        let favourite = "The talk on lichens is a favourite.";
        propose(chat, favourite);
        let answer = room
            .say(&ada, "Save the talk on lichens as a favourite.")
            .await;
        let text = answer.text();
        assert!(
            text.contains("I can save that.")
                && text.contains("Say `yes`")
                && text.contains(favourite),
            "{text}"
        );
        let kept = async |person: &str| room.say(person, "memory").await.text();
        assert!(!kept(&ada).await.contains("you noted"));

        // Somebody else's yes does not count, and another answer ends the question.
        chat.expects(asks("yes")).answers("Yes to what?");
        assert_eq!(room.say(&bob, "yes").await.text(), "Yes to what?");
        let said = room.say(&ada, "Yes, please!").await.text();
        assert!(said.starts_with("Noted"), "{said}");
        let list = kept(&ada).await;
        assert!(list.contains(&format!("you noted: {favourite}")), "{list}");
        assert!(!kept(&bob).await.contains("lichens"));

        // It is kept once.
        chat.expects(asks("Yes, please!")).answers("What, please?");
        room.say(&ada, "Yes, please!").await;
        assert_eq!(kept(&ada).await.matches("you noted").count(), 1);

        // The favourites are only shown to their owner.
        for (person, expected) in [(&ada, favourite), (&bob, "they have had nothing kept here")] {
            chat.expects(asks("What are my favourites?"))
                .calls(&[("list_notes", json!({}))]);
            chat.expects(|request| request.last_user().starts_with("Judge whether"))
                .answers(r#"{"questions": []}"#);
            chat.expects(move |request| request.last_user().contains(expected))
                .answers("These.");
            let elsewhere = chat.room("b");
            elsewhere.say(person, "What are my favourites?").await;
        }

        // A proposed note without agreement is not kept.
        propose(chat, favourite);
        room.say(&bob, "Save the talk on lichens as a favourite.")
            .await;
        chat.expects(asks("no, thanks")).answers("As you like.");
        room.say(&bob, "no, thanks").await;
        chat.expects(asks("yes")).answers("Yes?");
        room.say(&bob, "yes").await;
        assert!(!kept(&bob).await.contains("you noted"));
    })
    .await;
}

async fn a_favourite_stays_when_the_yes_is_edited_to_another_yes(place: BotStorage) {
    run(place, async |chat| {
        let room = chat.room("a");
        let (ada, yes, typed) = (chat.event("ada"), chat.event("yes"), chat.event("typed"));
        let favourite = "The talk on lichens is a favourite.";
        propose(chat, favourite);
        room.say(&ada, "Save the talk on lichens as a favourite.")
            .await;
        room.say_as_event(&yes, &ada, "yes").await;
        room.say_as_event(&typed, &ada, "remember that tea is at four")
            .await;
        let edit = async |event: &str, text: &str| {
            nothing_said(room.edit(event, &ada, text).await).await;
            room.say(&ada, "memory").await.text()
        };
        let list = edit(&yes, "Yes, please!").await;
        assert!(list.contains(favourite), "{list}");
        // What nobody proposed is taken back with its words.
        let list = edit(&typed, "ok").await;
        assert!(list.contains(favourite) && !list.contains("tea"), "{list}");
        let list = edit(&yes, "no").await;
        assert!(!list.contains("you noted"), "{list}");
    })
    .await;
}

async fn what_an_answer_lists_of_a_note_goes_with_the_note(place: BotStorage) {
    run(place, async |chat| {
        let ada = chat.event("ada");
        let room = chat.room("a");
        room.say(&ada, "remember that my favourite colour is blue")
            .await;
        chat.expects(asks("What are my notes?"))
            .calls(&[("list_notes", json!({}))]);
        chat.expects(|request| request.last_user().starts_with("Judge whether"))
            .answers(r#"{"questions": []}"#);
        chat.expects(|request| request.last_user().contains("my favourite colour is blue"))
            .answers("Your favourite colour is blue.");
        let thread = room.thread(&chat.event("b"));
        let listed = thread.say(&ada, "What are my notes?").await.text();
        assert!(room.shown().contains(&listed), "{:?}", room.shown());

        let listing = room.say(&ada, "memory").await.text();
        assert!(listing.contains("blue"), "{listing}");
        let note = listing.lines().find(|line| line.contains("you noted"));
        let number = note.and_then(|line| line.split('.').next()).unwrap();
        room.say(&ada, &format!("forget {number}")).await;
        assert!(!room.shown().contains(&listed), "{:?}", room.shown());
        let conversation = thread
            .message("any", "any", Body::Text(String::new()))
            .conversation;
        let kept = chat.store.chain(&conversation, None, 100).await.unwrap();
        assert_eq!(kept.len(), 1);
        let texts = [&kept[0].input, &kept[0].output];
        assert!(texts.iter().all(|it| !it.contains("blue")), "{texts:?}");
    })
    .await;
}

/// The note is forgotten after it was listed, and before the answer is kept.
#[tokio::test(flavor = "multi_thread")]
async fn a_note_that_is_forgotten_while_it_is_listed_is_not_in_the_answer() {
    run(BotStorage::embedded(), async |chat| {
        let room = chat.room("a");
        room.say("ada", "remember that the gate code is 4711").await;
        chat.expects(asks("What are my notes?"))
            .calls(&[("list_notes", json!({}))]);
        chat.expects(|request| request.last_user().starts_with("Judge whether"))
            .answers(r#"{"questions": []}"#);
        let gate = Gate::closed();
        chat.expects(|request| request.last_user().contains("the gate code is 4711"))
            .replies(Reply::chunks(["The gate code", " is 4711."]).paused(&gate));
        let thread = chat.room("b");
        let mut listing = thread.send("ada", "What are my notes?").await;
        listing.first_update().await;
        room.say("ada", "memory").await;
        room.say("ada", "forget 1").await;
        // It is answered anew.
        chat.expects(asks("What are my notes?")).answers("None.");
        gate.open();
        listing.answer().await;
        let shown = thread.shown().join("\n");
        assert!(!shown.contains("4711"), "{shown}");
    })
    .await;
}
