//! What people do after they have said something: edit, take back, react, stop.

use matrix_sdk::room::MessagesOptions;
use matrix_sdk::ruma::uint;
use muninn_matrix::testing::{Chat, PATIENCE, Person, RoomKind};
use muninn_platform::{Body, Feedback, Opinion};
use serde_json::{Value, json};

use crate::support::bot_and_ann;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn an_edited_question_gets_its_answer_edited() {
    for kind in [RoomKind::PLAIN, RoomKind::ENCRYPTED] {
        let (home, _bot, ann) = bot_and_ann().await;
        let room = ann.room(&home.account.user, kind).await;
        let question = room.ask("one").await;
        let answer = room.hears("echo: one").await;
        room.edit(&question, "two").await;
        let edited = room.hears("echo: two").await;
        assert_eq!((edited.id, edited.edits), (answer.id, 1));
        assert_eq!(room.said().len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn an_edit_that_adds_the_mention_is_answered_once() {
    for kind in [RoomKind::PLAIN, RoomKind::ENCRYPTED] {
        let (home, bot, ann) = bot_and_ann().await;
        let room = ann.room(&home.account.user, kind).await;
        let said = room.say("one").await;
        // Also in a thread that the bot has no part in.
        let threaded = room.say_in(&said, "here").await;
        for (said, text) in [(&said, "one"), (&threaded, "here")] {
            room.edit_to_ask(said, text, true).await;
            let answer = room.hears(&format!("echo: {text}")).await;
            // Further edits are those of a question, whatever a client says of the mention.
            for (is_new, text) in [
                (false, format!("{text}, now")),
                (true, format!("{text}, then")),
            ] {
                room.edit_to_ask(said, &text, is_new).await;
                let again = room.hears(&format!("echo: {text}")).await;
                assert_eq!(again.id, answer.id);
            }
        }
        let question = room.say("two").await;
        room.edit_to_ask(&question, "two", false).await;
        room.ask("three").await;
        room.hears("echo: three").await;
        assert_eq!(room.said().len(), 3, "{:#?}", room.said());
        // As any question, it takes its answer with it.
        room.redact(&said).await;
        room.finds("the answer redacted", |answer| answer.is_redacted)
            .await;
        drop(bot);
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn what_a_reply_quotes_is_not_repeated() {
    let (home, _bot, ann) = bot_and_ann().await;
    let room = ann.room(&home.account.user, RoomKind::PLAIN).await;
    let secret = room.ask("secret").await;
    room.hears("echo: secret").await;
    for (text, relation) in [
        (
            "and that?",
            json!({ "m.in_reply_to": { "event_id": secret } }),
        ),
        (
            "and then?",
            json!({ "rel_type": "m.thread", "event_id": secret, "is_falling_back": true,
                "m.in_reply_to": { "event_id": secret } }),
        ),
    ] {
        let mut reply = room.mentioning(text);
        let said = reply["body"].as_str().unwrap();
        reply["body"] = json!(format!("> <{}> secret\n\n{said}", ann.account.user));
        reply["m.relates_to"] = relation;
        room.send(reply).await;
        room.hears(&format!("echo: {text}")).await;
    }
    room.redact(&secret).await;
    room.finds("its answer redacted", |answer| answer.is_redacted)
        .await;
    for said in readable(&room).await {
        assert!(!said.to_string().contains("secret"), "{said:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn an_edit_by_somebody_else_changes_nothing() {
    let (home, bot, ann) = bot_and_ann().await;
    let room = ann.room(&home.account.user, RoomKind::PLAIN).await;
    let bob = Person::new(&home.homeserver, "bob").await;
    ann.bring(&room, &bob).await;
    let question = room.ask("one").await;
    room.hears("echo: one").await;
    let as_bob = bob.seen_by(&room);
    as_bob.edit(&question, "two").await;
    as_bob.ask("three").await;
    room.hears("echo: three").await;
    assert_eq!(bot.log().messages.len(), 2);
    assert_eq!(room.said()[0].text, "echo: one");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn a_longer_answer_grows_by_messages_and_a_shorter_one_loses_them() {
    let (home, _bot, ann) = bot_and_ann().await;
    let room = ann.room(&home.account.user, RoomKind::DIRECT).await;
    let question = room.say("one").await;
    let first = room.hears("echo: one").await;
    room.edit(&question, &format!("two {}", "x".repeat(15_000)))
        .await;
    room.finds("a second part", |part| {
        part.id != first.id && part.text.ends_with('x')
    })
    .await;
    room.edit(&question, "three").await;
    room.hears("echo: three").await;
    room.finds("the second part redacted", |part| {
        part.id != first.id && part.is_redacted
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn a_redacted_question_takes_its_answer_with_it() {
    for kind in [RoomKind::PLAIN, RoomKind::ENCRYPTED] {
        let (home, bot, ann) = bot_and_ann().await;
        let room = ann.room(&home.account.user, kind).await;
        let question = room.ask("secret").await;
        let answer = room.hears("echo: secret").await;
        let other = room.ask("other").await;
        room.hears("echo: other").await;
        room.redact(&question).await;
        room.finds("the answer redacted", |said| {
            said.id == answer.id && said.is_redacted
        })
        .await;
        // Of the two only that one.
        assert!(!room.said()[1].is_redacted, "{other}");
        assert!(
            bot.log()
                .messages
                .iter()
                .any(|message| format!("{:?}", message.body).contains(question.as_str()))
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn reactions_are_feedback_and_can_be_taken_back() {
    let (home, bot, ann) = bot_and_ann().await;
    let room = ann.room(&home.account.user, RoomKind::PLAIN).await;
    room.ask("hello").await;
    let answer = room.hears("echo: hello").await;
    room.react(&answer.id, "🎉").await;
    let reaction = room.react(&answer.id, "👍🏽").await;
    let given = bot
        .gets("the opinion", |log| {
            log.feedback.first().map(|(_, feedback)| feedback.clone())
        })
        .await;
    let id = format!("matrix/{}/{reaction}", room.room.room_id());
    match given {
        Feedback::Given {
            event,
            answer: of,
            person,
            opinion,
        } => {
            assert_eq!(
                (event.as_str(), of.as_str(), opinion),
                (id.as_str(), answer.id.as_str(), Opinion::Good)
            );
            assert_eq!(person, format!("matrix/{}", ann.account.user));
        }
        Feedback::Withdrawn { .. } => panic!("withdrawn before it was given"),
    }
    room.redact(&reaction).await;
    let withdrawn = bot
        .gets("the withdrawal", |log| {
            log.feedback.get(1).map(|(_, feedback)| feedback.clone())
        })
        .await;
    assert!(matches!(withdrawn, Feedback::Withdrawn { event } if event.as_str() == id));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn a_stop_sign_stops_the_turn_it_is_put_on() {
    let (home, bot, ann) = bot_and_ann().await;
    let room = ann.room(&home.account.user, RoomKind::PLAIN).await;
    // On the growing answer…
    let first = room.ask("grow one").await;
    let growing = room.hears("so far").await;
    room.react(&growing.id, "🛑").await;
    let stopped = bot.gets("the stop", |log| log.stops.first().cloned()).await;
    assert!(stopped.as_str().ends_with(first.as_str()));
    room.hears("echo: one").await;
    // …on the question, while there is nothing else…
    let question = room.ask("wait two").await;
    bot.gets("the question", |log| log.messages.get(1).cloned())
        .await;
    room.react(question.as_str(), "🛑").await;
    bot.gets("the stop", |log| log.stops.get(1).cloned()).await;
    room.hears("echo: two").await;
    // …and not on what is over.
    room.react(first.as_str(), "🛑").await;
    room.ask("three").await;
    room.hears("echo: three").await;
    assert_eq!(bot.log().stops.len(), 2);
}

/// The bot's messages and edits that can still be read in the room.
async fn readable(room: &Chat) -> Vec<Value> {
    let mut options = MessagesOptions::backward();
    options.limit = uint!(100);
    let page = room.room.messages(options).await.unwrap();
    let events = page.chunk.iter();
    let events = events.map(|event| serde_json::from_str(event.raw().json().get()).unwrap());
    let said = |event: &Value| {
        let content = &event["content"];
        event["sender"] == room.bot.as_str()
            && (content.get("msgtype").is_some() || content.get("algorithm").is_some())
            && event["state_key"].is_null()
    };
    events.filter(said).collect()
}

async fn nothing_is_readable(room: &Chat) {
    let emptied = async {
        while !readable(room).await.is_empty() {
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
    };
    let in_time = tokio::time::timeout(PATIENCE, emptied).await;
    assert!(in_time.is_ok(), "{:#?}", readable(room).await);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn a_redacted_question_takes_every_text_of_its_answer_with_it() {
    for kind in [RoomKind::PLAIN, RoomKind::ENCRYPTED] {
        let (home, bot, ann) = bot_and_ann().await;
        let room = ann.room(&home.account.user, kind).await;
        let question = room.ask("stream it").await;
        let shown = room.hears("step 1").await;
        room.finds("the whole answer", |said| {
            said.id == shown.id && said.edits >= 2 && !said.text.starts_with("step")
        })
        .await;
        // Whoever remembers nothing of it asks the homeserver.
        bot.stop().await;
        let _bot = home.start().await;
        room.redact(&question).await;
        nothing_is_readable(&room).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn an_answer_that_a_moderator_redacted_is_forgotten_with_every_text_of_it() {
    for restarts in [false, true] {
        let (home, mut bot, ann) = bot_and_ann().await;
        let room = ann.room(&home.account.user, RoomKind::PLAIN).await;
        room.ask("stream it").await;
        let shown = room.hears("step 1").await;
        room.finds("the whole answer", |said| {
            said.id == shown.id && said.edits >= 2 && !said.text.starts_with("step")
        })
        .await;
        if restarts {
            bot.stop().await;
            bot = home.start().await;
        }
        room.redact(shown.id.as_str().try_into().unwrap()).await;
        bot.gets("the deletion", |log| {
            let mut messages = log.messages.iter();
            messages
                .find(|message| matches!(&message.body, Body::Deletion { of } if of.as_str().ends_with(&shown.id)))
                .map(drop)
        })
        .await;
        nothing_is_readable(&room).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn an_edit_that_is_taken_back_is_as_if_it_was_never_made() {
    for (kind, restarts) in [(RoomKind::PLAIN, true), (RoomKind::ENCRYPTED, false)] {
        let (home, mut bot, ann) = bot_and_ann().await;
        let room = ann.room(&home.account.user, kind).await;
        let question = room.ask("one").await;
        let answer = room.hears("echo: one").await;
        room.edit(&question, "two").await;
        room.hears("echo: two").await;
        let secret = room.edit(&question, "secret").await;
        room.hears("echo: secret").await;
        if restarts {
            bot.stop().await;
            bot = home.start().await;
        }
        room.redact(&secret).await;
        let again = room.hears("echo: two").await;
        assert_eq!(again.id, answer.id);
        assert_eq!(room.said().len(), 1);
        drop(bot);
    }
}
