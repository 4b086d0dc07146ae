//! Edits, redactions, reactions, and stops.

use std::time::Duration;

use matrix_sdk::room::MessagesOptions;
use matrix_sdk::ruma::{OwnedEventId, uint};
use muninn_matrix::testing::{
    LosingProxy, MatrixChat, MatrixPerson, RoomKind, RoomMessage, TIMEOUT, homeserver,
};
use muninn_platform::{Body, Feedback, Opinion};
use serde_json::{Value, json};

use crate::support::{MatrixBot, MatrixInstallation, run};

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn an_edited_question_gets_its_answer_edited() {
    for kind in [RoomKind::PLAIN, RoomKind::ENCRYPTED] {
        run(kind, async |chat| {
            let (question, answer) = chat.echoes("one").await;
            chat.edit(&question, "two").await;
            let edited = chat.hears("echo: two").await;
            assert_eq!((edited.id, edited.edits), (answer.id, 1));
            assert_eq!(chat.said().len(), 1);
        });
    }
}

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn an_edit_that_leaves_a_command_leaves_nothing_of_the_question_and_one_of_a_note_leaves_the_note()
{
    run(RoomKind::PLAIN, async |chat| {
        let note = "remember that tea is at five";
        for (number, (command, left)) in [("help", ""), (note, note)].into_iter().enumerate() {
            let (question, _) = chat.echoes(&format!("secret {number}")).await;
            chat.edit(&question, &format!("!muninn {command}")).await;
            let edit = chat.bot.hears_number(2 * number + 2).await;
            let Body::Edit { text, .. } = &edit.body else {
                panic!("{:?}", edit.body);
            };
            assert_eq!(text, left, "{command}");
        }
    });
}

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn an_edit_that_adds_the_mention_is_answered_once() {
    for kind in [RoomKind::PLAIN, RoomKind::ENCRYPTED] {
        run(kind, async |chat| {
            let said = chat.say("one").await;
            // Also in a thread without the bot.
            let threaded = chat.say_in(&said, "here").await;
            for (said, text) in [(&said, "one"), (&threaded, "here")] {
                chat.edit_to_ask(said, text, true).await;
                let answer = chat.hears(&format!("echo: {text}")).await;
                // Further edits edit the question, whatever a client says about the mention.
                for (is_new, text) in [
                    (false, format!("{text}, now")),
                    (true, format!("{text}, then")),
                ] {
                    chat.edit_to_ask(said, &text, is_new).await;
                    let again = chat.hears(&format!("echo: {text}")).await;
                    assert_eq!(again.id, answer.id);
                }
            }
            let question = chat.say("two").await;
            chat.edit_to_ask(&question, "two", false).await;
            chat.echoes("three").await;
            assert_eq!(chat.said().len(), 3, "{:#?}", chat.said());
            // Redacting it redacts its answer, as for any question.
            chat.redact(&said).await;
            chat.finds("the answer redacted", |answer| answer.is_redacted)
                .await;
        });
    }
}

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn what_a_reply_quotes_is_not_repeated() {
    run(RoomKind::PLAIN, async |chat| {
        let (secret, _) = chat.echoes("secret").await;
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
            let mut reply = chat.mentioning(text);
            let said = reply["body"].as_str().unwrap();
            reply["body"] = json!(format!("> <{}> secret\n\n{said}", chat.ann.account.user));
            reply["m.relates_to"] = relation;
            chat.send(reply).await;
            chat.hears(&format!("echo: {text}")).await;
        }
        chat.redact(&secret).await;
        chat.finds("its answer redacted", |answer| answer.is_redacted)
            .await;
        for said in readable(chat).await {
            assert!(!said.to_string().contains("secret"), "{said:#}");
        }
    });
}

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn an_edit_by_somebody_else_changes_nothing() {
    run(RoomKind::PLAIN, async |chat| {
        let bob = MatrixPerson::new(&chat.home.homeserver, "bob").await;
        chat.ann.bring(chat, &bob).await;
        let (question, _) = chat.echoes("one").await;
        let as_bob = bob.seen_by(chat);
        as_bob.edit(&question, "two").await;
        as_bob.ask("three").await;
        chat.hears("echo: three").await;
        assert_eq!(chat.bot.log().messages.len(), 2);
        assert_eq!(chat.said()[0].text, "echo: one");
    });
}

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn a_longer_answer_grows_by_messages_and_a_shorter_one_loses_them() {
    run(RoomKind::DIRECT, async |chat| {
        let question = chat.say("one").await;
        let first = chat.hears("echo: one").await;
        chat.edit(&question, &format!("two {}", "x".repeat(15_000)))
            .await;
        chat.finds("a second part", |part| {
            part.id != first.id && part.text.ends_with('x')
        })
        .await;
        chat.edit(&question, "three").await;
        chat.hears("echo: three").await;
        chat.finds("the second part redacted", |part| {
            part.id != first.id && part.is_redacted
        })
        .await;
    });
}

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn a_redacted_question_takes_its_answer_with_it() {
    for kind in [RoomKind::PLAIN, RoomKind::ENCRYPTED] {
        run(kind, async |chat| {
            let (question, answer) = chat.echoes("secret").await;
            let (other, _) = chat.echoes("other").await;
            chat.redact(&question).await;
            chat.finds("the answer redacted", |said| {
                said.id == answer.id && said.is_redacted
            })
            .await;
            // Only that one of the two.
            assert!(!chat.said()[1].is_redacted, "{other}");
            assert!(
                chat.bot
                    .log()
                    .messages
                    .iter()
                    .any(|message| format!("{:?}", message.body).contains(question.as_str()))
            );
        });
    }
}

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn reactions_are_feedback_and_can_be_taken_back() {
    run(RoomKind::PLAIN, async |chat| {
        let (_, answer) = chat.echoes("hello").await;
        chat.react(&answer.id, "🎉").await;
        let reaction = chat.react(&answer.id, "👍🏽").await;
        let given = chat
            .bot
            .gets("the opinion", |log| {
                log.feedback.first().map(|(_, feedback)| feedback.clone())
            })
            .await;
        let id = format!("matrix/{}/{reaction}", chat.room.room_id());
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
                assert_eq!(person, format!("matrix/{}", chat.ann.account.user));
            }
            Feedback::Withdrawn { .. } => panic!("withdrawn before it was given"),
        }
        chat.redact(&reaction).await;
        let withdrawn = chat
            .bot
            .gets("the withdrawal", |log| {
                log.feedback.get(1).map(|(_, feedback)| feedback.clone())
            })
            .await;
        assert!(matches!(withdrawn, Feedback::Withdrawn { event } if event.as_str() == id));
    });
}

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn a_stop_sign_stops_the_turn_it_is_put_on() {
    run(RoomKind::PLAIN, async |chat| {
        // On the growing answer…
        let first = chat.ask("grow one").await;
        let growing = chat.hears("so far").await;
        chat.react(&growing.id, "🛑").await;
        let stopped = chat
            .bot
            .gets("the stop", |log| log.stops.first().cloned())
            .await;
        assert!(stopped.as_str().ends_with(first.as_str()));
        chat.hears("echo: one").await;
        // …on the question, while there is nothing else…
        let question = chat.ask("wait two").await;
        chat.bot.hears_number(2).await;
        chat.react(question.as_str(), "🛑").await;
        chat.bot
            .gets("the stop", |log| log.stops.get(1).cloned())
            .await;
        chat.hears("echo: two").await;
        // …but not on a finished one.
        chat.react(first.as_str(), "🛑").await;
        chat.echoes("three").await;
        assert_eq!(chat.bot.log().stops.len(), 2);
    });
}

/// Returns the bot's messages and edits that can still be read in the room.
async fn readable(room: &MatrixChat) -> Vec<Value> {
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

async fn nothing_is_readable(room: &MatrixChat) {
    let emptied = async {
        while !readable(room).await.is_empty() {
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
    };
    let in_time = tokio::time::timeout(TIMEOUT, emptied).await;
    assert!(in_time.is_ok(), "{:#?}", readable(room).await);
}

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn a_redacted_question_takes_every_text_of_its_answer_with_it() {
    for kind in [RoomKind::PLAIN, RoomKind::ENCRYPTED] {
        run(kind, async |chat| {
            let question = chat.ask("stream it").await;
            let shown = chat.hears("step 1").await;
            chat.finds("the whole answer", |said| {
                said.id == shown.id && said.edits >= 2 && !said.text.starts_with("step")
            })
            .await;
            // After a restart, the bot asks the homeserver.
            chat.bot.ends().await;
            chat.starts_again().await;
            chat.redact(&question).await;
            nothing_is_readable(chat).await;
        });
    }
}

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn an_answer_that_a_moderator_redacted_is_forgotten_with_every_text_of_it() {
    for restarts in [false, true] {
        run(RoomKind::PLAIN, async |chat| {
            chat.ask("stream it").await;
            let shown = chat.hears("step 1").await;
            chat.finds("the whole answer", |said| {
                said.id == shown.id && said.edits >= 2 && !said.text.starts_with("step")
            })
            .await;
            if restarts {
                chat.bot.ends().await;
                chat.starts_again().await;
            }
            chat.redact(shown.id.as_str().try_into().unwrap()).await;
            chat.bot.gets("the deletion", |log| {
                let mut messages = log.messages.iter();
                messages
                    .find(|message| matches!(&message.body, Body::Deletion { of } if of.as_str().ends_with(&shown.id)))
                    .map(drop)
            })
            .await;
            nothing_is_readable(chat).await;
        });
    }
}

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn an_edit_that_is_taken_back_is_as_if_it_was_never_made() {
    for (kind, restarts) in [(RoomKind::PLAIN, true), (RoomKind::ENCRYPTED, false)] {
        run(kind, async |chat| {
            let (question, answer) = chat.echoes("one").await;
            chat.edit(&question, "two").await;
            chat.hears("echo: two").await;
            let secret = chat.edit(&question, "secret").await;
            chat.hears("echo: secret").await;
            if restarts {
                chat.bot.ends().await;
                chat.starts_again().await;
            }
            chat.redact(&secret).await;
            let again = chat.hears("echo: two").await;
            assert_eq!(again.id, answer.id);
            assert_eq!(chat.said().len(), 1);
        });
    }
}

/// A question whose edit the bot followed, and that it knows no more.
struct EditedQuestion {
    proxy: LosingProxy,
    home: MatrixInstallation,
    bot: MatrixBot,
    _ann: MatrixPerson,
    room: MatrixChat,
    question: OwnedEventId,
    answer: RoomMessage,
    secret: OwnedEventId,
}

impl EditedQuestion {
    /// After a restart the bot has to ask whose message that was.
    async fn of_a_process_before() -> Self {
        let proxy = LosingProxy::before(&homeserver()).await;
        let home = MatrixInstallation::new(proxy.address()).await;
        let mut bot = home.start().await;
        let ann = MatrixPerson::new(&homeserver(), "ann").await;
        let room = ann.room(&home.account.user, RoomKind::PLAIN).await;
        let (question, answer) = room.echoes("one").await;
        let secret = room.edit(&question, "secret").await;
        room.hears("echo: secret").await;
        bot.ends().await;
        bot = home.start().await;
        Self {
            proxy,
            home,
            bot,
            _ann: ann,
            room,
            question,
            answer,
            secret,
        }
    }
}

fn tells_no_deletion(bot: &MatrixBot) {
    let log = bot.log();
    let mut told = log.messages.iter();
    assert!(!told.any(|message| matches!(message.body, Body::Deletion { .. })));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn an_edit_that_is_taken_back_is_no_deletion_if_the_homeserver_fails_at_first() {
    let chat = EditedQuestion::of_a_process_before().await;
    // More requests fail than the SDK repeats.
    chat.proxy.hide_events(6);
    chat.room.redact(&chat.secret).await;
    let again = chat.room.hears("echo: one").await;
    assert_eq!((again.id, chat.room.said().len()), (chat.answer.id, 1));
    assert!(chat.proxy.hid_events());
    tells_no_deletion(&chat.bot);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn an_edit_that_is_taken_back_waits_for_its_message_and_nothing_else_does() {
    let mut chat = EditedQuestion::of_a_process_before().await;
    chat.proxy.refuse_session_for_events(1);
    chat.room.redact(&chat.secret).await;
    chat.room.echoes("two").await;
    assert!(chat.proxy.hid_events());
    // The next process goes on with it.
    chat.bot.ends().await;
    chat.bot = chat.home.start().await;
    let again = chat.room.hears("echo: one").await;
    assert_eq!((again.id, chat.room.said().len()), (chat.answer.id, 2));
    tells_no_deletion(&chat.bot);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn an_edit_waits_for_its_message_and_nothing_else_does() {
    let chat = EditedQuestion::of_a_process_before().await;
    chat.proxy.refuse_session_for_events(1);
    chat.room.edit(&chat.question, "without it").await;
    chat.room.echoes("two").await;
    assert!(chat.proxy.hid_events());
    let again = chat.room.hears("echo: without it").await;
    assert_eq!((again.id, chat.room.said().len()), (chat.answer.id, 2));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn an_edit_that_mentions_the_bot_is_answered_although_its_message_is_not_given_at_first() {
    let proxy = LosingProxy::before(&homeserver()).await;
    let home = MatrixInstallation::new(proxy.address()).await;
    let mut bot = home.start().await;
    let ann = MatrixPerson::new(&homeserver(), "ann").await;
    let room = ann.room(&home.account.user, RoomKind::PLAIN).await;
    let said = room.say("when is the fair?").await;
    room.echoes("one").await;
    bot.ends().await;
    // What was said in a downtime is not answered; this edit is made while the bot listens.
    bot = home
        .start_with(|options| options.catch_up = Duration::ZERO)
        .await;
    proxy.refuse_session_for_events(1);
    room.edit_to_ask(&said, "when is the fair?", true).await;
    let answer = room.hears("echo: when is the fair?").await;
    assert_eq!(answer.thread.as_deref(), Some(said.as_str()));
    assert!(proxy.hid_events());
    bot.stop().await;
}
