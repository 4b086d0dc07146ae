//! Overheard messages that are remembered: the whole bot over real graphs.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use muninn::conversation::backfill::Backfills;
use muninn::conversation::ledger::Ledger;
use muninn::graph::Turn;
use muninn_platform::testing::TestConversation;
use muninn_platform::{
    Addressees, AudienceId, Body, EventId, Histories, History, HistoryError, HistoryPage,
    IncomingMessage,
};
use serde_json::json;
use support::bot::{BotStorage, nothing_said};
use support::chat::{ScriptedChat, run, run_with, run_without_model};
use support::model_server::{Gate, Reply};
use support::program::asks;
use support::proxy::Proxy;

/// The beginning of the notice that everybody in a channel sees.
const NOTICE: &str = "From now on I remember what people say to one another in this room";

support::bot::on_every_graph!(
    a_channel_is_heard_once_somebody_who_manages_it_says_so,
    who_does_not_want_to_be_remembered_is_not,
    what_an_answer_repeats_of_who_does_not_want_to_be_remembered_is_no_longer_seen,
    what_is_off_the_record_is_not_kept,
    what_was_off_the_record_is_not_kept_later_either,
    edits_and_deletions_of_what_was_heard_are_followed,
    what_was_heard_and_is_edited_to_ask_is_answered_and_kept_once,
    an_edit_that_asks_where_the_bot_does_not_answer_is_followed,
    what_is_not_for_the_bot_in_its_thread_is_heard,
    what_is_edited_before_the_model_stays_silent_is_kept_as_edited,
    a_mention_that_is_added_meanwhile_is_answered,
    a_mention_that_is_added_after_the_model_stayed_silent_is_answered,
    a_flood_of_talk_takes_no_place_of_a_question,
    who_manages_a_channel_has_its_history_read,
);

/// Returns the kept turns of a conversation.
async fn kept(chat: &ScriptedChat, room: &TestConversation) -> Vec<Turn> {
    let conversation = room
        .message("any", "any", Body::Text(String::new()))
        .conversation;
    chat.store.chain(&conversation, None, 20_000).await.unwrap()
}

async fn texts(chat: &ScriptedChat, room: &TestConversation) -> Vec<String> {
    let kept = kept(chat, room).await.into_iter();
    kept.map(|turn| turn.input).collect()
}

/// Waits until the kept texts of a conversation are as wanted.
async fn until(chat: &ScriptedChat, room: &TestConversation, is_it: impl Fn(&[String]) -> bool) {
    let kept = async {
        while !is_it(&texts(chat, room).await) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let kept = tokio::time::timeout(Duration::from_secs(60), kept).await;
    kept.expect("it is kept in time");
}

fn notices(room: &TestConversation) -> usize {
    let shown = room.shown().into_iter();
    shown.filter(|said| said.starts_with(NOTICE)).count()
}

/// Returns a heard room, with its moderator `mod`.
async fn heard(chat: &ScriptedChat) -> TestConversation {
    let room = chat.room("a").with_admin("mod");
    room.connect().await;
    room.command("mod", "remember room").await;
    room
}

async fn a_channel_is_heard_once_somebody_who_manages_it_says_so(place: BotStorage) {
    run_without_model(place, &[], async |chat| {
        let room = chat.room("a").with_admin("mod");
        room.connect().await;
        assert!(!room.tell(&chat.event("0"), "ada", "Anybody here?").await);
        let refused = room.command("ada", "remember room").await.text();
        assert!(refused.contains("Only an administrator"), "{refused}");
        assert!(!room.tell(&chat.event("0"), "ada", "Anybody here?").await);
        let said = room.command("mod", "remember room").await.text();
        assert!(said.contains("told everybody in it"), "{said}");
        assert_eq!(notices(&room), 1);

        assert!(room.tell(&chat.event("1"), "ada", "Is the mast up?").await);
        let answer = room.clone().replying_to(&chat.event("1"));
        assert!(
            answer
                .tell(&chat.event("2"), "bob", "Yes, since noon.")
                .await
        );
        // The same again, as platforms deliver it.
        assert!(
            answer
                .tell(&chat.event("2"), "bob", "Yes, since noon.")
                .await
        );
        let mut beside = room.message(&chat.event("3"), "ada", Body::Text("Good.".to_owned()));
        beside.author.name = "Ada Lovelace".to_owned();
        beside.sent_at = Utc::now() + TimeDelta::days(3_000);
        assert!(room.overhear(beside).await);
        let kept_now = kept(chat, &room).await;
        let said: Vec<(&str, &str)> = kept_now
            .iter()
            .map(|it| (&*it.author_name, &*it.input))
            .collect();
        assert_eq!(
            said,
            [
                ("ada", "Is the mast up?"),
                ("bob", "Yes, since noon."),
                ("Ada Lovelace", "Good.")
            ]
        );
        assert!(kept_now.iter().all(Turn::is_message));
        assert_eq!(kept_now[1].reply_to, Some(chat.event("1")));
        let link = format!("https://chat.test/{}", chat.event("1"));
        assert_eq!(kept_now[0].link, Some(link));
        assert!(kept_now[2].created_at <= Utc::now());
        let elsewhere = chat.room_of("a", "elsewhere");
        assert!(!elsewhere.tell(&chat.event("4"), "ada", "And here?").await);

        // It stays so after a restart, and nobody is notified twice.
        chat.restart().await;
        let room = chat.room("a").with_admin("mod");
        room.connect().await;
        assert!(room.tell(&chat.event("5"), "ada", "Still there?").await);
        assert_eq!(texts(chat, &room).await.len(), 4);
        assert_eq!(notices(&room), 0);
        let said = room
            .command("mod", "remember only what is asked")
            .await
            .text();
        assert!(said.contains("only what I am asked"), "{said}");
        assert!(!room.tell(&chat.event("6"), "ada", "And now?").await);
    })
    .await;
}

async fn who_does_not_want_to_be_remembered_is_not(place: BotStorage) {
    run_without_model(place, &[], async |chat| {
        let room = heard(chat).await;
        let thread = chat.room("b");
        for (room, event, author, text) in [
            (&room, "1", "ada", "The code of the gate is on the board."),
            (&room, "2", "bob", "I wrote it there."),
            (&thread, "3", "ada", "Bob, take it away."),
            (&room, "4", "ada", "Thanks."),
        ] {
            assert!(room.tell(&chat.event(event), author, text).await);
        }
        let said = room.say("ada", "Don’t remember me here.").await.text();
        assert!(
            said.contains("forgot what I had kept of it: 3 messages"),
            "{said}"
        );
        assert_eq!(texts(chat, &room).await, ["I wrote it there."]);
        assert_eq!(texts(chat, &thread).await, [""; 0]);
        room.tell(&chat.event("5"), "ada", "Not this either.").await;
        room.tell(&chat.event("6"), "bob", "But this.").await;

        chat.restart().await;
        let room = chat.room("a");
        room.tell(&chat.event("7"), "ada", "Nor after a restart.")
            .await;
        assert_eq!(texts(chat, &room).await, ["I wrote it there.", "But this."]);
        let said = room.command("ada", "remember me here").await.text();
        assert!(said.contains("I remember what you say to others"), "{said}");
        room.tell(&chat.event("8"), "ada", "From now on.").await;
        assert_eq!(texts(chat, &room).await.len(), 3);
    })
    .await;
}

async fn what_an_answer_repeats_of_who_does_not_want_to_be_remembered_is_no_longer_seen(
    place: BotStorage,
) {
    run_without_model(place, &[], async |chat| {
        let room = heard(chat).await;
        let said = "The code of the museum's gate is ZEBRA-4711.";
        assert!(room.tell(&chat.event("1"), "ada", said).await);
        let thread = room.thread(&chat.event("b"));
        let answer = thread
            .say("bob", "What is the code of the museum's gate?")
            .await
            .text();
        assert!(answer.contains("ZEBRA-4711"), "{answer}");
        assert!(room.shown().contains(&answer));

        room.say("ada", "Don’t remember me here.").await;
        let shown = room.shown().join("\n");
        assert!(!shown.contains("ZEBRA"), "{shown}");
        let history = thread.command("bob", "history").await.text();
        assert!(!history.contains("ZEBRA"), "{history}");
    })
    .await;
}

async fn what_is_off_the_record_is_not_kept(place: BotStorage) {
    run_without_model(place, &[], async |chat| {
        let room = heard(chat).await;
        let other = chat.room("b");
        for (event, text) in [
            ("1", "[off] he is ill"),
            ("2", "offtherecord: he is ill"),
            ("3", "!roll 6"),
            ("4", "  "),
        ] {
            room.tell(&chat.event(event), "ada", text).await;
        }
        assert_eq!(texts(chat, &room).await, [""; 0]);
        let secret = "my token is glpat-abcdefghij0123456789 ok";
        room.tell(&chat.event("5"), "ada", secret).await;
        let long = "a word ".repeat(6_000);
        room.tell(&chat.event("6"), "ada", &long).await;
        let said = texts(chat, &room).await;
        assert_eq!(said[0], "my token is [secret removed] ok");
        assert!(
            said[1].ends_with("[…]") && said[1].len() < long.len(),
            "{}",
            said[1].len()
        );

        let said = room.command("bob", "off").await.text();
        assert!(said.contains("off the record"), "{said}");
        room.tell(&chat.event("7"), "ada", "Between us.").await;
        other.tell(&chat.event("8"), "ada", "Not between us.").await;

        chat.restart().await;
        let (room, other) = (chat.room("a"), chat.room("b"));
        room.connect().await;
        room.tell(&chat.event("9"), "ada", "Still between us.")
            .await;
        room.command("bob", "off room").await;
        other.tell(&chat.event("10"), "ada", "Nor here.").await;
        // If only Bob sees the answer, everybody is notified.
        let told = |room: &TestConversation, words: &str| {
            let begins = format!(
                "bob asked for this: What people say to one another in this room is {words}"
            );
            room.shown().iter().any(|it| it.starts_with(&begins))
        };
        assert!(!told(&room, "off the record"), "{:?}", room.shown());
        room.aside("bob").command("bob", "off room").await;
        assert!(told(&room, "off the record"), "{:?}", room.shown());
        room.aside("bob").command("bob", "on room").await;
        assert!(told(&room, "on the record again"), "{:?}", room.shown());
        room.command("bob", "on").await;
        room.tell(&chat.event("11"), "ada", "For all.").await;
        assert_eq!(texts(chat, &room).await[2..], ["For all."]);
        assert_eq!(texts(chat, &other).await, ["Not between us."]);
    })
    .await;
}

async fn what_was_off_the_record_is_not_kept_later_either(place: BotStorage) {
    run_without_model(place, &[], async |chat| {
        let room = heard(chat).await;
        let before = Utc::now();
        room.command("bob", "off").await;
        room.command("ada", "don't remember me here").await;
        let between = Utc::now();
        room.command("bob", "on").await;
        room.command("ada", "remember me here").await;

        chat.restart().await;
        let room = chat.room("a");
        room.connect().await;
        for (event, author, text, sent_at) in [
            ("1", "bob", "Before it.", before),
            ("2", "bob", "Between us.", between),
            ("3", "ada", "Before I opted out.", before),
            ("4", "ada", "For all.", Utc::now()),
        ] {
            let body = Body::Text(text.to_owned());
            let message = room.message(&chat.event(event), author, body);
            room.overhear(IncomingMessage { sent_at, ..message }).await;
        }
        assert_eq!(texts(chat, &room).await, ["Before it.", "For all."]);
    })
    .await;
}

async fn edits_and_deletions_of_what_was_heard_are_followed(place: BotStorage) {
    run_without_model(place, &[], async |chat| {
        let room = heard(chat).await;
        let events = ["1", "2", "3", "4", "5"].map(|name| chat.event(name));
        let said = ["at eight", "he is ill", "a slip", "4711", "4712"];
        for (event, text) in events.iter().zip(said) {
            assert!(room.tell(event, "ada", text).await);
        }
        let told = room.clone().unaddressed();
        nothing_said(told.edit(&events[0], "bob", "at ten").await).await;
        nothing_said(told.edit(&events[0], "ada", "at nine").await).await;
        nothing_said(told.edit(&events[1], "ada", "[off] he is ill").await).await;
        nothing_said(told.delete(&events[2], "mod").await).await;
        // An edit that leaves nothing, also where only a mention of the bot is left.
        nothing_said(told.edit(&events[3], "ada", "").await).await;
        nothing_said(room.edit(&events[4], "ada", "").await).await;
        assert_eq!(texts(chat, &room).await, ["at nine"]);
        let revised = kept(chat, &room).await;
        assert!(revised[0].revised_at.is_some() && revised[0].is_message());
        // The same as it arrives among missed messages.
        let of = EventId::new(&events[0]);
        for (event, body) in [
            (
                "6",
                Body::Edit {
                    of: of.clone(),
                    text: "at noon".to_owned(),
                },
            ),
            ("7", Body::Deletion { of }),
        ] {
            let expected = match &body {
                Body::Edit { text, .. } => vec![text.clone()],
                _ => Vec::new(),
            };
            assert!(
                room.overhear(room.message(&chat.event(event), "ada", body))
                    .await
            );
            until(chat, &room, |texts| texts == expected).await;
        }
    })
    .await;
}

async fn what_was_heard_and_is_edited_to_ask_is_answered_and_kept_once(place: BotStorage) {
    run(place, async |chat| {
        let room = heard(chat).await;
        let (first, second) = (chat.event("1"), chat.event("2"));
        assert!(room.tell(&first, "ada", "When is it?").await);
        assert!(room.tell(&second, "ada", "And where?").await);
        // By an adapter that knows what it delivered before, and by one that does not.
        chat.expects(asks("When is it?")).answers("At nine.");
        let said = room
            .say_as_event(&first, "ada", "Muninn, When is it?")
            .await;
        assert_eq!(said.text(), "At nine.");
        chat.expects(asks("And where?")).answers("In the yard.");
        let said = room
            .edit(&second, "ada", "Muninn, And where?")
            .await
            .answer()
            .await;
        assert_eq!(said.text(), "In the yard.");
        let kept = kept(chat, &room).await;
        let kept: Vec<(&str, bool)> = kept
            .iter()
            .map(|it| (&*it.output, it.is_message()))
            .collect();
        assert_eq!(kept, [("At nine.", false), ("In the yard.", false)]);
    })
    .await;
}

async fn an_edit_that_asks_where_the_bot_does_not_answer_is_followed(place: BotStorage) {
    run(place, async |chat| {
        let room = heard(chat).await;
        let toward = Addressees {
            omits_bot: true,
            ..Addressees::default()
        };
        let event = chat.event("1");
        assert!(room.tell(&event, "ada", "It is at nine.").await);
        room.command("mod", "only when mentioned").await;
        let among = room.clone().toward(toward);
        nothing_said(among.edit(&event, "ada", "It is at ten.").await).await;
        assert_eq!(texts(chat, &room).await, ["It is at ten."]);
        room.command("mod", "mute").await;
        nothing_said(room.edit(&event, "ada", "Muninn, is it at ten?").await).await;
        assert_eq!(texts(chat, &room).await, ["Muninn, is it at ten?"]);
    })
    .await;
}

/// The message may wait to be embedded while its edit arrives.
#[tokio::test(flavor = "multi_thread")]
async fn an_edit_that_asks_is_answered_also_if_it_comes_before_its_message_is_kept() {
    run(BotStorage::embedded(), async |chat| {
        let room = heard(chat).await;
        let event = chat.event("1");
        chat.expects(asks("When is it?")).answers("At nine.");
        let edit = room.edit(&event, "ada", "Muninn, When is it?").await;
        assert!(room.tell(&event, "ada", "When is it?").await);
        assert_eq!(edit.answer().await.text(), "At nine.");
        let kept = kept(chat, &room).await;
        let kept: Vec<&str> = kept.iter().map(|turn| &*turn.output).collect();
        assert_eq!(kept, ["At nine."]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Neo4j (NEO4J_TEST_URI)"]
async fn an_edit_in_a_muted_room_is_followed_once_the_graph_is_back() {
    let proxy = Proxy::to(BotStorage::neo4j_address()).await;
    let place = BotStorage::neo4j(Some(&proxy.bolt_url()));
    run_without_model(place, &["--graph-timeout=20"], async |chat| {
        let room = heard(chat).await;
        let told = room.clone().unaddressed();
        let events = ["1", "2"].map(|name| chat.event(name));
        for event in &events {
            assert!(room.tell(event, "ada", "The code is 4711.").await);
        }
        room.command("mod", "mute room").await;
        // From now on the bot knows without the graph that it is muted.
        nothing_said(told.edit(&events[0], "ada", "The code is gone.").await).await;
        proxy.cut();
        let edit = told.edit(&events[1], "ada", "It is gone.").await;
        assert!(room.tell(&chat.event("3"), "bob", "Good.").await);
        proxy.mend();
        chat.saved_all().await;
        nothing_said(edit).await;
        let said = ["The code is gone.", "It is gone.", "Good."];
        assert_eq!(texts(chat, &room).await, said);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Neo4j (NEO4J_TEST_URI)"]
async fn an_edit_that_asks_is_answered_once_the_graph_is_back() {
    let proxy = Proxy::to(BotStorage::neo4j_address()).await;
    let place = BotStorage::neo4j(Some(&proxy.bolt_url()));
    run_with(place, &["--graph-timeout=20"], async |chat| {
        let room = heard(chat).await;
        let event = chat.event("1");
        assert!(room.tell(&event, "ada", "When is it?").await);
        proxy.cut();
        chat.expects(asks("When is it?")).answers("At nine.");
        let edit = room.edit(&event, "ada", "Muninn, When is it?").await;
        assert!(chat.room("b").tell(&chat.event("2"), "bob", "Well?").await);
        proxy.mend();
        chat.saved_all().await;
        let answer = edit.answer().await.text();
        assert!(answer.starts_with("At nine."), "{answer}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undelivered_answer_to_an_edit_waits_with_its_message_only() {
    let folder = tempfile::tempdir().unwrap();
    run(BotStorage::embedded(), async |chat| {
        chat.restart_on(Ledger::open(folder.path()).unwrap()).await;
        let room = heard(chat).await;
        let event = chat.event("1");
        assert!(room.tell(&event, "ada", "And where?").await);
        // The model is asked once.
        chat.expects(asks("And where?")).answers("In the yard.");
        room.lose_next_delivery();
        let lost = room.edit(&event, "ada", "Muninn, And where?").await;
        let _ = lost.outcome().await;
        chat.end().await;

        let mut ledger = Ledger::open(folder.path()).unwrap();
        let [left]: [IncomingMessage; 1] = ledger.take_left_over().try_into().unwrap();
        assert_eq!(left.event.as_str(), event);
        chat.restart_on(ledger).await;
        let answer = chat.room("a").redeliver(left).await.answer().await;
        assert_eq!(answer.text(), "In the yard.");
        chat.end().await;
        assert_eq!(Ledger::open(folder.path()).unwrap().take_left_over(), []);
    })
    .await;
}

async fn what_is_not_for_the_bot_in_its_thread_is_heard(place: BotStorage) {
    run(place, async |chat| {
        let room = heard(chat).await;
        chat.expects(asks("When is it?")).answers("At nine.");
        room.say("ada", "When is it?").await;
        nothing_said(
            room.clone()
                .unaddressed()
                .send("bob", "nine is too early")
                .await,
        )
        .await;
        nothing_said(
            room.clone()
                .unaddressed()
                .send("ada", "bob, can you bring a lamp?")
                .await,
        )
        .await;
        assert_eq!(
            texts(chat, &room).await,
            [
                "When is it?",
                "nine is too early",
                "bob, can you bring a lamp?"
            ]
        );
        // Where nobody is heard, it does not apply.
        chat.expects(asks("When is it?")).answers("At ten.");
        let elsewhere = chat.room_of("a", "elsewhere");
        elsewhere.say("ada", "When is it?").await;
        nothing_said(
            elsewhere
                .clone()
                .unaddressed()
                .send("bob", "ten is too early")
                .await,
        )
        .await;
        assert_eq!(texts(chat, &elsewhere).await, ["When is it?"]);
    })
    .await;
}

/// Returns a thread of a heard room in which the bot answered last.
async fn answered_thread(
    chat: &ScriptedChat,
    room: &TestConversation,
    name: &str,
) -> TestConversation {
    let thread = room.thread(&chat.event(name));
    chat.expects(asks("When is it?")).answers("At nine.");
    thread.say("ada", "When is it?").await;
    thread
}

async fn what_is_edited_before_the_model_stays_silent_is_kept_as_edited(place: BotStorage) {
    run(place, async |chat| {
        let room = heard(chat).await;
        for (name, newer, is_kept) in [
            ("1", "and when is Bob on holiday?", true),
            ("2", "[off] and what does Bob earn?", false),
        ] {
            let thread = answered_thread(chat, &room, name).await.unaddressed();
            let (event, gate) = (chat.event(&format!("{name}/talk")), Gate::closed());
            chat.expects(asks("and why does Bob earn 50k?"))
                .replies(Reply::calls(&[("stay_silent", json!({}))]).paused(&gate));
            let requests = chat.model.chats().len() + 1;
            let said = thread
                .send_as_event(&event, "ada", "and why does Bob earn 50k?")
                .await;
            chat.model.arrived(requests).await;
            chat.expects(asks(newer))
                .calls(&[("stay_silent", json!({}))]);
            let edit = thread.edit(&event, "ada", newer).await;
            nothing_said(said).await;
            nothing_said(edit).await;
            gate.open();
            let mut expected = vec!["When is it?"];
            expected.extend(is_kept.then_some(newer));
            assert_eq!(texts(chat, &thread).await, expected);
            let last = kept(chat, &thread).await.pop().unwrap();
            assert_eq!(last.revised_at.is_some(), is_kept);
        }
    })
    .await;
}

async fn a_mention_that_is_added_meanwhile_is_answered(place: BotStorage) {
    run(place, async |chat| {
        let room = heard(chat).await;
        // While the model decides.
        let thread = answered_thread(chat, &room, "1").await;
        let (event, gate) = (chat.event("1/talk"), Gate::closed());
        chat.expects(asks("and when do we leave?"))
            .replies(Reply::calls(&[("stay_silent", json!({}))]).paused(&gate));
        let requests = chat.model.chats().len() + 1;
        let said = thread
            .clone()
            .unaddressed()
            .send_as_event(&event, "ada", "and when do we leave?")
            .await;
        chat.model.arrived(requests).await;
        chat.expects(|request| {
            asks("Muninn, when do we leave?")(request) && !request.tools().contains(&"stay_silent")
        })
        .answers("At ten.");
        let edit = thread
            .edit(&event, "ada", "Muninn, when do we leave?")
            .await;
        assert_eq!(said.answer().await.text(), "At ten.");
        nothing_said(edit).await;
        gate.open();

        // While the message waits.
        let thread = answered_thread(chat, &room, "2").await;
        let (event, gate) = (chat.event("2/talk"), Gate::closed());
        chat.expects(asks("Is it dry?"))
            .replies(Reply::chunks(["It", " is."]).paused(&gate));
        let mut bobs = thread.send("bob", "Is it dry?").await;
        bobs.first_update().await;
        let said = thread
            .clone()
            .unaddressed()
            .send_as_event(&event, "ada", "bob, nine is too early")
            .await;
        let body = Body::Edit {
            of: EventId::new(&event),
            text: "Muninn, is nine too early?".to_owned(),
        };
        let edit = thread.message(&chat.event("2/edit"), "ada", body);
        let first = thread.redeliver(edit.clone()).await;
        let second = thread.redeliver(edit).await;
        // The second replaced it, so the message that waits is edited.
        nothing_said(first).await;
        chat.expects(asks("Muninn, is nine too early?"))
            .answers("It is.");
        gate.open();
        nothing_said(said).await;
        assert_eq!(second.answer().await.text(), "It is.");
        let last = kept(chat, &thread).await.pop().unwrap();
        assert_eq!(last.input, "Muninn, is nine too early?");
    })
    .await;
}

async fn a_mention_that_is_added_after_the_model_stayed_silent_is_answered(place: BotStorage) {
    run(place, async |chat| {
        let room = heard(chat).await;
        // By an adapter that knows what it delivered before, and by one that does not.
        for (name, is_new_message) in [("1", true), ("2", false)] {
            let thread = answered_thread(chat, &room, name).await;
            let event = chat.event(&format!("{name}/talk"));
            chat.expects(asks("and when do we leave?"))
                .calls(&[("stay_silent", json!({}))]);
            let unaddressed = thread.clone().unaddressed();
            let said = unaddressed.send_as_event(&event, "bob", "and when do we leave?");
            nothing_said(said.await).await;
            // On a shared graph its claim is finished a little later.
            let finished = async {
                let event = EventId::new(&event);
                while chat.store.is_claimed(&event, "nobody").await.unwrap() {
                    tokio::task::yield_now().await;
                }
            };
            let finished = tokio::time::timeout(Duration::from_secs(60), finished).await;
            finished.expect("it is finished in time");

            let newer = "Muninn, when do we leave?";
            chat.expects(asks(newer)).answers("At ten.");
            let answer = if is_new_message {
                thread.say_as_event(&event, "bob", newer).await
            } else {
                thread.edit(&event, "bob", newer).await.answer().await
            };
            assert_eq!(answer.text(), "At ten.");
            let kept = kept(chat, &thread).await;
            let kept: Vec<&str> = kept.iter().map(|turn| &*turn.output).collect();
            assert_eq!(kept, ["At nine.", "At ten."]);
        }
    })
    .await;
}

async fn a_flood_of_talk_takes_no_place_of_a_question(place: BotStorage) {
    const MESSAGES: usize = 10_000;
    run(place, async |chat| {
        let room = heard(chat).await;
        let all: Vec<IncomingMessage> = (0..MESSAGES)
            .map(|n| {
                let text = format!("message {n} of the flood");
                room.message(&chat.event(&n.to_string()), "ada", Body::Text(text))
            })
            .collect();
        // As many at once as adapters hold.
        let flood = futures::StreamExt::buffer_unordered(
            futures::stream::iter(all.into_iter().map(|message| room.overhear(message))),
            1_024,
        );
        chat.expects(asks("Is anybody there?")).answers("I am.");
        let asked = async {
            until(chat, &room, |texts| !texts.is_empty()).await;
            chat.room("b").say("bob", "Is anybody there?").await.text()
        };
        let (told, answer) = tokio::join!(futures::StreamExt::count(flood), asked);
        assert_eq!((told, answer.as_str()), (MESSAGES, "I am."));
        // All of them were acknowledged, so all must be there.
        chat.saved_all().await;
        assert_eq!(texts(chat, &room).await.len(), MESSAGES);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_settings_turn_on_is_told_once_at_the_first_message() {
    let place = BotStorage::embedded();
    let path = place.path().join("channels.toml");
    let table = format!("[\"{}/general\"]\n", place.prefix());
    std::fs::write(
        &path,
        table + "memory = \"channel\"\noff_record = [\"psst\"]\n",
    )
    .unwrap();
    let settings = format!("--channel-settings={}", path.display());
    run_without_model(place, &[&settings], async |chat| {
        for turn in 0..2 {
            let room = chat.room("a");
            room.connect().await;
            for n in 0..3 {
                let event = chat.event(&format!("{turn}/{n}"));
                assert!(room.tell(&event, "ada", "Good morning.").await);
                let event = chat.event(&format!("{turn}/{n}/off"));
                room.tell(&event, "ada", "psst, not this").await;
            }
            // What was begun is finished.
            chat.end().await;
            assert_eq!(notices(&room), usize::from(turn == 0));
            chat.restart().await;
        }
        assert_eq!(texts(chat, &chat.room("a")).await, ["Good morning."; 6]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Neo4j (NEO4J_TEST_URI)"]
async fn what_is_said_while_the_graph_is_away_survives_the_process() {
    let proxy = Proxy::to(BotStorage::neo4j_address()).await;
    let place = BotStorage::neo4j(Some(&proxy.bolt_url()));
    run_without_model(place, &["--graph-timeout=20"], async |chat| {
        let room = heard(chat).await;
        assert!(
            room.tell(&chat.event("0"), "ada", "The graph is there.")
                .await
        );
        proxy.cut();
        // They were acknowledged, so they are in the journal's file.
        for n in 1..=20 {
            let event = chat.event(&n.to_string());
            assert!(room.tell(&event, "ada", &format!("message {n}")).await);
        }
        let journal = std::fs::read_to_string(chat.place.journal()).unwrap();
        assert!(journal.contains("message 1") && journal.contains("message 20"));
        chat.end().await;
        proxy.mend();
        chat.restart().await;
        chat.saved_all().await;
        let said = texts(chat, &chat.room("a")).await;
        assert_eq!((said.len(), &*said[20]), (21, "message 20"));
    })
    .await;
}

/// Three pages of a hundred messages.
struct PagedHistory;

#[async_trait]
impl History for PagedHistory {
    async fn read_page(
        &self,
        _: &AudienceId,
        since: DateTime<Utc>,
        at: Option<&str>,
    ) -> Result<HistoryPage, HistoryError> {
        let page: i32 = at.map_or(0, |at| at.parse().unwrap());
        Ok(HistoryPage {
            messages: 100,
            reached: Some(since + TimeDelta::days(page.into())),
            next: (page < 2).then(|| (page + 1).to_string()),
        })
    }
}

async fn who_manages_a_channel_has_its_history_read(place: BotStorage) {
    run_without_model(place, &[], async |chat| {
        let room = chat.room("a").with_admin("mod");
        let nothing = room.command("mod", "backfill since last week").await.text();
        assert_eq!(nothing, "There is no history that I could read here.");
        let (histories, pages): (Histories, Arc<dyn History>) =
            (Histories::default(), Arc::new(PagedHistory));
        histories.add("test", &pages);
        let folder = chat.place.path().join("backfills");
        let backfills = Backfills::new(&folder, chat.heard.clone(), histories);
        chat.bot.set_backfills(Arc::clone(&backfills));
        for (author, command, said) in [
            (
                "ada",
                "backfill since last week",
                "Only an administrator can have me read what was said in this room before.",
            ),
            (
                "mod",
                "backfill since last week",
                "say \"remember channel\" there",
            ),
            (
                "mod",
                "backfill since the flood",
                "I do not understand \"the flood\" as a day that has come.",
            ),
            (
                "ada",
                "backfill",
                "I am not reading what was said here before.",
            ),
        ] {
            let answer = room.command(author, command).await.text();
            assert!(answer.contains(said), "{command} by {author}: {answer}");
        }
        room.command("mod", "remember room").await;
        let answer = room
            .command("mod", "backfill since 2026-01-31")
            .await
            .text();
        assert!(
            answer.starts_with("Done: I read 300 messages.") || answer.starts_with("Reading: "),
            "{answer}"
        );
        let over = async {
            while backfills.under_way(&chat.audience()).is_some() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let over = tokio::time::timeout(Duration::from_secs(60), over).await;
        over.expect("it is over");
    })
    .await;
}
