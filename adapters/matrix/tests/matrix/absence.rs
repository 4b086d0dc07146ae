//! Restarts, crashes, downtime of the bot and of the homeserver: every message is answered once.

use std::time::Duration;

use matrix_sdk::room::MessagesOptions;
use matrix_sdk::ruma::uint;
use muninn_matrix::testing::{
    LosingProxy, MatrixChat, MatrixPerson, OwnHomeserver, RoomKind, TIMEOUT,
};
use muninn_platform::testing::EchoMemory;

use crate::support::{MatrixInstallation, homeserver, run};

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn what_was_said_while_it_was_away_is_answered_once() {
    for kind in [RoomKind::PLAIN, RoomKind::ENCRYPTED] {
        run(kind, async |chat| {
            chat.echoes("before").await;
            chat.bot.ends().await;
            chat.say("not for it").await;
            chat.ask("meanwhile").await;
            chat.starts_again().await;
            chat.hears("echo: meanwhile").await;
            chat.echoes("after").await;
            assert_eq!(chat.said().len(), 3);
            assert!(
                !chat
                    .bot
                    .log()
                    .messages
                    .iter()
                    .any(|message| format!("{:?}", message.body).contains("before"))
            );
        });
    }
}

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn after_a_long_absence_what_a_sync_left_out_is_fetched() {
    run(RoomKind::PLAIN, async |chat| {
        let (first, answer) = chat.echoes("first").await;
        chat.bot.ends().await;
        chat.ask("early").await;
        chat.redact(&first).await;
        for number in 0..250 {
            chat.say(&format!("chatter {number}")).await;
        }
        chat.ask("late").await;
        chat.starts_again().await;
        chat.hears("echo: late").await;
        chat.hears("echo: early").await;
        chat.finds("the first answer redacted", |said| {
            said.id == answer.id && said.is_redacted
        })
        .await;
        assert_eq!(chat.said().len(), 3);
    });
}

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn what_is_too_old_is_not_answered_but_redactions_are_followed() {
    run(RoomKind::PLAIN, async |chat| {
        let (first, answer) = chat.echoes("first").await;
        chat.bot.ends().await;
        chat.ask("too old").await;
        chat.redact(&first).await;
        // The test needs real time to pass.
        tokio::time::sleep(Duration::from_secs(6)).await;
        let catch_up = Duration::from_secs(5);
        chat.bot = chat
            .home
            .start_with(|options| options.catch_up = catch_up)
            .await;
        chat.finds("the first answer redacted", |said| {
            said.id == answer.id && said.is_redacted
        })
        .await;
        chat.echoes("new").await;
        assert_eq!(chat.said().len(), 2);
        assert_eq!(chat.bot.log().messages.len(), 2);
    });
}

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn what_is_said_while_it_listens_is_never_too_old() {
    for kind in [RoomKind::PLAIN, RoomKind::ENCRYPTED] {
        run(kind, async |chat| {
            chat.echoes("before").await;
            chat.bot.ends().await;
            chat.ask("too old").await;
            chat.bot = chat
                .home
                .start_with(|options| options.catch_up = Duration::ZERO)
                .await;
            chat.echoes("new").await;
            assert_eq!(chat.said().len(), 2, "{:?}", chat.said());
        });
    }
}

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn an_edit_of_any_age_is_followed_but_answers_no_new_question() {
    run(RoomKind::PLAIN, async |chat| {
        let (first, answer) = chat.echoes("who is Dora Lindqvist?").await;
        let said = chat.say("not for it").await;
        chat.bot.ends().await;
        chat.edit_to_ask(&said, "for it, and too old", true).await;
        chat.edit(&first, "who is our client?").await;
        // Nothing that was said meanwhile is young enough.
        chat.bot = chat
            .home
            .start_with(|options| options.catch_up = Duration::ZERO)
            .await;
        let edited = chat.hears("echo: who is our client?").await;
        assert_eq!(edited.id, answer.id);
        assert_eq!((chat.said().len(), chat.bot.log().messages.len()), (1, 1));
    });
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn the_backlog_before_its_very_first_start_is_not_answered() {
    let homeserver = homeserver();
    let home = MatrixInstallation::new(&homeserver).await;
    let ann = MatrixPerson::new(&homeserver, "ann").await;
    let bot = home.start().await;
    let room = ann.room(&home.account.user, RoomKind::PLAIN).await;
    bot.stop().await;
    room.ask("long ago").await;
    std::fs::remove_file(home.path("place.json")).unwrap();
    let _bot = home.start().await;
    room.echoes("now").await;
    assert_eq!(room.said().len(), 1);
}

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn killed_while_it_answers_it_goes_on_with_the_same_message() {
    for kind in [RoomKind::PLAIN, RoomKind::ENCRYPTED] {
        run(kind, async |chat| {
            let question = chat.ask("grow on").await;
            let growing = chat.hears("so far").await;
            chat.bot.dies();
            chat.starts_again().await;
            chat.bot.hears().await;
            chat.bot.go_on();
            // The message is delivered again until the bot answers it.
            let answered = async {
                loop {
                    chat.bot.go_on();
                    let found = chat.said().into_iter().find(|said| said.text == "echo: on");
                    if let Some(found) = found {
                        return found;
                    }
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            };
            let answer = tokio::time::timeout(Duration::from_secs(60), answered)
                .await
                .unwrap();
            assert_eq!(answer.id, growing.id, "no second message");
            assert_eq!(answer.thread.as_deref(), Some(question.as_str()));
            assert_eq!(chat.said().len(), 1);
        });
    }
}

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn an_answer_delivered_again_is_the_same_message() {
    run(RoomKind::PLAIN, async |chat| {
        chat.echoes("hello").await;
        chat.bot.dies();
        // As if it had been killed between sending and recording that.
        chat.home.memory = EchoMemory::default();
        let position = chat.home.path("place.json");
        let before = std::fs::read_to_string(&position).unwrap();
        chat.starts_again().await;
        chat.echoes("again").await;
        chat.bot.dies();
        std::fs::write(&position, before).unwrap();
        chat.home.memory = EchoMemory::default();
        chat.starts_again().await;
        chat.bot.hears().await;
        chat.echoes("at last").await;
        let said = chat.said();
        assert_eq!(said.len(), 3, "{said:?}");
        assert!(said.iter().all(|said| said.edits == 0 && !said.is_redacted));
    });
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn an_answer_delivered_again_is_the_same_message_also_where_transactions_are_forgotten() {
    for kind in [RoomKind::PLAIN, RoomKind::ENCRYPTED, RoomKind::DIRECT] {
        let proxy = LosingProxy::before(&homeserver()).await;
        let mut home = MatrixInstallation::new(proxy.address()).await;
        let ann = MatrixPerson::new(&homeserver(), "ann").await;
        let mut bot = home.start().await;
        let room = ann.room(&home.account.user, kind).await;
        room.echoes("hello").await;
        bot.dies();
        let position = home.path("place.json");
        let before = std::fs::read_to_string(&position).unwrap();
        bot = home.start().await;
        room.echoes("again").await;
        bot.dies();
        // As if it had been killed between sending and recording that.
        std::fs::write(&position, before).unwrap();
        home.memory = EchoMemory::default();
        proxy.forget_transactions();
        bot = home.start().await;
        bot.gets("the question, and answers it", |log| {
            (log.answered > 0).then_some(())
        })
        .await;
        room.echoes("at last").await;
        let said = room.said();
        assert_eq!(said.len(), 3, "{kind:?}: {said:?}");
        assert_eq!(bot.log().errors, Vec::<String>::new(), "{kind:?}");
        bot.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn a_message_of_a_homeserver_whose_clock_is_slow_is_answered_once() {
    for kind in [RoomKind::PLAIN, RoomKind::ENCRYPTED] {
        let proxy = LosingProxy::before(&homeserver()).await;
        let home = MatrixInstallation::new(proxy.address()).await;
        let bot = home.start().await;
        let ann = MatrixPerson::new(&homeserver(), "ann").await;
        let room = ann.room(&home.account.user, kind).await;
        room.echoes("hello").await;
        proxy.slow_clocks();
        room.echoes("again").await;
        room.echoes("and now?").await;
        assert_eq!(room.said().len(), 3, "{kind:?}: {:?}", room.said());
        assert_eq!(bot.log().errors, Vec::<String>::new(), "{kind:?}");
        bot.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn a_homeserver_that_was_away_is_caught_up_with() {
    let server = OwnHomeserver::start(&[]);
    let home = MatrixInstallation::new(&server.url).await;
    let bot = home.start().await;
    let ann = MatrixPerson::new(&server.url, "ann").await;
    let room = ann.room(&home.account.user, RoomKind::PLAIN).await;
    room.ask("wait for it").await;
    bot.gets("the question", |log| log.messages.first().cloned())
        .await;
    server.down();
    bot.go_on();
    server.up();
    room.hears("echo: for it").await;
    room.echoes("and now?").await;
    assert_eq!(room.said().len(), 2);
    assert_eq!(bot.log().errors, Vec::<String>::new());
}

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn ended_while_it_takes_in_a_sync_it_loses_nothing() {
    // How many it has accepted when it ends.
    for (kind, taken_in) in [
        (RoomKind::PLAIN, 0),
        (RoomKind::PLAIN, 3),
        (RoomKind::ENCRYPTED, 12),
    ] {
        run(kind, async |chat| {
            let (first, _) = chat.echoes("first").await;
            chat.bot.ends().await;
            for number in 0..40 {
                chat.ask(&format!("question {number}")).await;
            }
            chat.redact(&first).await;
            let before = std::fs::read(chat.home.path("place.json")).unwrap();
            chat.bot = chat.home.begin();
            chat.bot
                .gets("the first of them", |log| {
                    (log.messages.len() > taken_in).then_some(())
                })
                .await;
            chat.bot.dies();
            // Restores the old position, as if the new one had not been saved in time, however fast
            // the machine is.
            std::fs::write(chat.home.path("place.json"), before).unwrap();
            chat.starts_again().await;
            let mut expected: Vec<String> = (0..40)
                .map(|number| format!("echo: question {number}"))
                .collect();
            expected.sort();
            // The first answer was removed with its question.
            let answered = async {
                while answers(chat).await != expected {
                    tokio::time::sleep(Duration::from_millis(200)).await;
                }
            };
            let in_time = tokio::time::timeout(TIMEOUT, answered).await;
            assert!(in_time.is_ok(), "{kind:?}: {:?}", answers(chat).await);
        });
    }
}

/// Returns what the bot says in a room, in alphabetical order. It asks the homeserver, which by
/// itself sends a client only the last of many simultaneous messages.
async fn answers(room: &MatrixChat) -> Vec<String> {
    let mut options = MessagesOptions::backward();
    options.limit = uint!(300);
    let page = room.room.messages(options).await.unwrap();
    let events = page.chunk.iter();
    let events = events.map(|event| serde_json::from_str(event.raw().json().get()).unwrap());
    let said = events.filter(|event: &serde_json::Value| {
        event["sender"] == room.bot.as_str()
            && event["content"]["m.relates_to"]["rel_type"] != "m.replace"
    });
    let mut said: Vec<String> = said
        .filter_map(|event| Some(event["content"]["body"].as_str()?.to_owned()))
        .collect();
    said.sort();
    said
}
