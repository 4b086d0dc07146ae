//! Growing and finished answers.

use std::time::Duration;

use matrix_sdk::ruma::api::client::media::create_content::v3::Request as Upload;
use muninn_matrix::testing::{LosingProxy, MatrixPerson, OwnHomeserver, RoomKind, homeserver};
use serde_json::json;

use crate::support::{MatrixInstallation, run, run_badly};

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn it_types_while_it_works_and_says_that_it_has_read() {
    run(RoomKind::PLAIN, async |chat| {
        let question = chat.ask("wait a moment").await;
        let at_work = (
            chat.room.room_id().to_string(),
            chat.home.account.user.to_string(),
        );
        chat.sees("typing", |view| {
            view.typing.contains(&at_work).then_some(())
        })
        .await;
        let read = (at_work.0.clone(), at_work.1.clone(), question.to_string());
        chat.sees("the receipt", |view| {
            view.read.contains(&read).then_some(())
        })
        .await;
        chat.bot.go_on();
        chat.hears("echo: a moment").await;
        chat.sees("no typing any more", |view| {
            (!view.typing.contains(&at_work)).then_some(())
        })
        .await;
    });
}

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn an_answer_grows_by_edits_no_faster_than_the_homeserver_likes() {
    run(RoomKind::PLAIN, async |chat| {
        let asked = tokio::time::Instant::now();
        chat.ask("stream it").await;
        let answer = chat.hears("echo: it").await;
        assert_eq!(answer.texts, ["step 1", "step 2", "step 3", "echo: it"]);
        assert!(asked.elapsed() >= Duration::from_secs(15));
        assert_eq!(chat.said().len(), 1);
    });
}

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn an_answer_that_is_given_up_is_taken_away() {
    run(RoomKind::PLAIN, async |chat| {
        chat.ask("drop it").await;
        chat.hears("to be dropped").await;
        chat.bot.go_on();
        chat.finds("it redacted", |said| said.is_redacted).await;
        let at_work = (
            chat.room.room_id().to_string(),
            chat.home.account.user.to_string(),
        );
        chat.sees("no typing any more", |view| {
            (!view.typing.contains(&at_work)).then_some(())
        })
        .await;
    });
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn first_words_whose_confirmation_is_lost_are_completed_or_taken_away() {
    let proxy = LosingProxy::before(&homeserver()).await;
    let home = MatrixInstallation::new(proxy.address()).await;
    let bot = home.start().await;
    let ann = MatrixPerson::new(&homeserver(), "ann").await;
    for kind in [RoomKind::PLAIN, RoomKind::ENCRYPTED, RoomKind::DIRECT] {
        let room = ann.room(&home.account.user, kind).await;
        proxy.lose_next_answer();
        room.ask("grow on").await;
        proxy.loses_it().await;
        let shown = room.hears("so far").await;
        bot.go_on();
        let answer = room.hears("echo: on").await;
        assert_eq!((&answer.id, room.said().len()), (&shown.id, 1), "{kind:?}");
        proxy.lose_next_answer();
        room.ask("drop it").await;
        proxy.loses_it().await;
        room.hears("to be dropped").await;
        bot.go_on();
        room.finds("it redacted", |said| said.is_redacted).await;
        assert_eq!(room.said().len(), 2, "{kind:?}");
    }
    assert_eq!(bot.log().errors, Vec::<String>::new());
}

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn a_long_answer_is_split_and_complete() {
    for kind in [RoomKind::PLAIN, RoomKind::ENCRYPTED] {
        run(kind, async |chat| {
            let question = chat.ask("long 4000").await;
            chat.finds("the last line", |part| part.text.contains("3999 *x*"))
                .await;
            let parts = chat.said();
            let whole: String = parts
                .iter()
                .map(|part| format!("{}\n", part.text))
                .collect();
            let lines: Vec<&str> = whole.lines().filter(|line| !line.is_empty()).collect();
            assert!(whole.len() > 65_536 && parts.len() > 5);
            assert_eq!(lines.len(), 4000);
            for (number, line) in lines.iter().enumerate() {
                assert!(line.starts_with(&format!("{number} ")), "{line}");
            }
            for part in parts {
                assert_eq!(part.thread.as_deref(), Some(question.as_str()));
                assert!(part.html.contains("<em>x</em>"), "its form is kept");
            }
        });
    }
}

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn tables_and_code_are_shown_as_such() {
    run(RoomKind::PLAIN, async |chat| {
        chat.ask("table please").await;
        let answer = chat
            .finds("the table", |said| said.html.contains("<table>"))
            .await;
        assert!(answer.html.contains("<td><strong>2</strong></td>"));
        assert!(answer.html.contains("<pre><code class=\"language-rust\">"));
        assert!(answer.text.starts_with("| a | b |"));
    });
}

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn commands_need_no_mention() {
    run(RoomKind::PLAIN, async |chat| {
        let (question, _) = chat.echoes("hello").await;
        chat.say_in(&question, "!muninn why").await;
        let why = chat.hears("command: Why").await;
        assert_eq!(why.thread.as_deref(), Some(question.as_str()));
        let asked = chat.say("!muninn usage").await;
        let usage = chat.hears("command: Usage").await;
        assert_eq!(
            (usage.thread, usage.replies_to.as_deref()),
            (None, Some(asked.as_str()))
        );
        chat.say("!other why").await;
        chat.say("!muninn forget room").await;
        chat.hears("command: Forget(Audience)").await;
        let conversations: Vec<String> = chat
            .bot
            .log()
            .messages
            .iter()
            .map(|m| m.conversation.to_string())
            .collect();
        assert_eq!(conversations[0], conversations[1]);
        assert!(conversations[2].ends_with("/main"));
    });
}

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn files_are_read_as_far_as_wanted() {
    for encrypted in [false, true] {
        let kind = RoomKind {
            encrypted,
            direct: true,
        };
        run(kind, async |chat| {
            chat.send_file("notes.txt", "text/plain", b"ten o'clock", "when?")
                .await;
            chat.hears("file: when?\nnotes.txt (text/plain): 11 bytes, ten o'clock")
                .await;
            chat.send_file("big.txt", "text/plain", &[b'x'; 1001], "")
                .await;
            chat.hears("file: \nbig.txt (text/plain): it has more than 1000 bytes")
                .await;
        });
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn a_file_is_read_from_a_homeserver_that_gives_it_at_the_older_address_only() {
    let proxy = LosingProxy::before(&homeserver()).await;
    proxy.does_not_know("/_matrix/client/v1/media/");
    let home = MatrixInstallation::new(proxy.address()).await;
    let _bot = home.start().await;
    let ann = MatrixPerson::new(&homeserver(), "ann").await;
    let room = ann.room(&home.account.user, RoomKind::DIRECT).await;
    room.send_file("notes.txt", "text/plain", b"ten o'clock", "when?")
        .await;
    room.hears("file: when?\nnotes.txt (text/plain): 11 bytes, ten o'clock")
        .await;
}

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn a_file_that_lies_about_its_size_is_cut_off() {
    run(RoomKind::DIRECT, async |chat| {
        let uploaded = chat
            .ann
            .client
            .send(Upload::new(vec![b'x'; 100_000]))
            .await
            .unwrap();
        let file = json!({ "msgtype": "m.file", "body": "a.txt", "url": uploaded.content_uri,
            "info": { "size": 3, "mimetype": "text/plain" } });
        chat.send(file).await;
        chat.hears("file: \na.txt (text/plain): it has more than 1000 bytes")
            .await;
        // A file that is redacted before it is read is not read.
        let broken =
            json!({ "msgtype": "m.file", "body": "b.txt", "url": "mxc://localhost/nothing" });
        chat.send(broken).await;
        chat.finds("a refusal", |said| {
            said.text.contains("the platform does not give it")
        })
        .await;
    });
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn at_the_homeservers_own_limits_everything_is_answered() {
    let server = OwnHomeserver::start(&["--limits", "default"]);
    let home = MatrixInstallation::new(&server.url).await;
    let bot = home.start().await;
    let ann = MatrixPerson::new(&server.url, "ann").await;
    let room = ann.room(&home.account.user, RoomKind::PLAIN).await;
    for number in 0..13 {
        room.ask(&format!("question {number}")).await;
    }
    for number in 0..13 {
        room.hears(&format!("echo: question {number}")).await;
    }
    assert_eq!(room.said().len(), 13);
    assert_eq!(bot.log().errors, Vec::<String>::new());
}

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn a_room_it_may_not_write_to_is_told_of_and_others_go_on() {
    run_badly(RoomKind::PLAIN, async |chat| {
        let mut levels = chat.room.power_levels().await.unwrap();
        levels.events_default = 50.into();
        let levels: matrix_sdk::ruma::events::room::power_levels::RoomPowerLevelsEventContent =
            levels.try_into().unwrap();
        chat.room.send_state_event(levels).await.unwrap();
        chat.ask("hello").await;
        let error = chat
            .bot
            .gets("an error", |log| log.errors.first().cloned())
            .await;
        assert!(error.contains("may not write in !"), "{error}");
        let other = chat.room_of(RoomKind::PLAIN).await;
        other.echoes("hello").await;
    });
}
