//! What answers look like on their way and in the end.

use std::time::Duration;

use matrix_sdk::ruma::api::client::media::create_content::v3::Request as Upload;
use muninn_matrix::testing::{OwnHomeserver, Person, RoomKind};
use serde_json::json;

use crate::support::{Home, bot_and_ann};

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn it_types_while_it_works_and_says_that_it_has_read() {
    let (home, bot, ann) = bot_and_ann().await;
    let room = ann.room(&home.account.user, RoomKind::PLAIN).await;
    let question = room.ask("wait a moment").await;
    let at_work = (
        room.room.room_id().to_string(),
        home.account.user.to_string(),
    );
    room.sees("typing", |view| {
        view.typing.contains(&at_work).then_some(())
    })
    .await;
    let read = (at_work.0.clone(), at_work.1.clone(), question.to_string());
    room.sees("the receipt", |view| {
        view.read.contains(&read).then_some(())
    })
    .await;
    bot.go_on();
    room.hears("echo: a moment").await;
    room.sees("no typing any more", |view| {
        (!view.typing.contains(&at_work)).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn an_answer_grows_by_edits_no_faster_than_the_homeserver_likes() {
    let (home, _bot, ann) = bot_and_ann().await;
    let room = ann.room(&home.account.user, RoomKind::PLAIN).await;
    let asked = tokio::time::Instant::now();
    room.ask("stream it").await;
    let answer = room.hears("echo: it").await;
    assert_eq!(answer.texts, ["step 1", "step 2", "step 3", "echo: it"]);
    assert!(asked.elapsed() >= Duration::from_secs(15));
    assert_eq!(room.said().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn an_answer_that_is_given_up_is_taken_away() {
    let (home, bot, ann) = bot_and_ann().await;
    let room = ann.room(&home.account.user, RoomKind::PLAIN).await;
    room.ask("drop it").await;
    room.hears("to be dropped").await;
    bot.go_on();
    room.finds("it redacted", |said| said.is_redacted).await;
    let at_work = (
        room.room.room_id().to_string(),
        home.account.user.to_string(),
    );
    room.sees("no typing any more", |view| {
        (!view.typing.contains(&at_work)).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn a_long_answer_is_split_and_complete() {
    for kind in [RoomKind::PLAIN, RoomKind::ENCRYPTED] {
        let (home, _bot, ann) = bot_and_ann().await;
        let room = ann.room(&home.account.user, kind).await;
        let question = room.ask("long 4000").await;
        room.finds("the last line", |part| part.text.contains("3999 *x*"))
            .await;
        let parts = room.said();
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
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn tables_and_code_are_shown_as_such() {
    let (home, _bot, ann) = bot_and_ann().await;
    let room = ann.room(&home.account.user, RoomKind::PLAIN).await;
    room.ask("table please").await;
    let answer = room
        .finds("the table", |said| said.html.contains("<table>"))
        .await;
    assert!(answer.html.contains("<td><strong>2</strong></td>"));
    assert!(answer.html.contains("<pre><code class=\"language-rust\">"));
    assert!(answer.text.starts_with("| a | b |"));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn commands_need_no_mention() {
    let (home, bot, ann) = bot_and_ann().await;
    let room = ann.room(&home.account.user, RoomKind::PLAIN).await;
    let question = room.ask("hello").await;
    room.hears("echo: hello").await;
    room.say_in(&question, "!muninn why").await;
    let why = room.hears("command: Why").await;
    assert_eq!(why.thread.as_deref(), Some(question.as_str()));
    let asked = room.say("!muninn usage").await;
    let usage = room.hears("command: Usage").await;
    assert_eq!(
        (usage.thread, usage.replies_to.as_deref()),
        (None, Some(asked.as_str()))
    );
    room.say("!other why").await;
    room.say("!muninn forget room").await;
    room.hears("command: Forget(Audience)").await;
    let conversations: Vec<String> = bot
        .log()
        .messages
        .iter()
        .map(|m| m.conversation.to_string())
        .collect();
    assert_eq!(conversations[0], conversations[1]);
    assert!(conversations[2].ends_with("/main"));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn files_are_read_as_far_as_wanted() {
    for encrypted in [false, true] {
        let (home, _bot, ann) = bot_and_ann().await;
        let room = ann
            .room(
                &home.account.user,
                RoomKind {
                    encrypted,
                    direct: true,
                },
            )
            .await;
        room.send_file("notes.txt", "text/plain", b"ten o'clock", "when?")
            .await;
        room.hears("file: when?\nnotes.txt (text/plain): 11 bytes, ten o'clock")
            .await;
        room.send_file("big.txt", "text/plain", &[b'x'; 1001], "")
            .await;
        room.hears("file: \nbig.txt (text/plain): it has more than 1000 bytes")
            .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn a_file_that_lies_about_its_size_is_cut_off() {
    let (home, bot, ann) = bot_and_ann().await;
    let room = ann.room(&home.account.user, RoomKind::DIRECT).await;
    let uploaded = ann
        .client
        .send(Upload::new(vec![b'x'; 100_000]))
        .await
        .unwrap();
    let file = json!({ "msgtype": "m.file", "body": "a.txt", "url": uploaded.content_uri,
        "info": { "size": 3, "mimetype": "text/plain" } });
    room.send(file).await;
    room.hears("file: \na.txt (text/plain): it has more than 1000 bytes")
        .await;
    // And one that is taken back before it is read is not read.
    let broken = json!({ "msgtype": "m.file", "body": "b.txt", "url": "mxc://localhost/nothing" });
    room.send(broken).await;
    room.finds("a refusal", |said| {
        said.text.contains("the platform does not give it")
    })
    .await;
    assert_eq!(bot.log().errors, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn at_the_homeservers_own_limits_everything_is_answered() {
    let server = OwnHomeserver::start(&["--limits", "default"]);
    let home = Home::new(&server.url).await;
    let bot = home.start().await;
    let ann = Person::new(&server.url, "ann").await;
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

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn a_room_it_may_not_write_to_is_told_of_and_others_go_on() {
    let (home, bot, ann) = bot_and_ann().await;
    let room = ann.room(&home.account.user, RoomKind::PLAIN).await;
    let mut levels = room.room.power_levels().await.unwrap();
    levels.events_default = 50.into();
    let levels: matrix_sdk::ruma::events::room::power_levels::RoomPowerLevelsEventContent =
        levels.try_into().unwrap();
    room.room.send_state_event(levels).await.unwrap();
    room.ask("hello").await;
    let error = bot
        .gets("an error", |log| log.errors.first().cloned())
        .await;
    assert!(error.contains("may not write in !"), "{error}");
    let other = ann.room(&home.account.user, RoomKind::PLAIN).await;
    other.ask("hello").await;
    other.hears("echo: hello").await;
}
