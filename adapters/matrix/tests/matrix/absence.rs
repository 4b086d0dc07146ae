//! Restarts, crashes, absences, and a homeserver that is away: every message is answered once.

use std::time::Duration;

use matrix_sdk::room::MessagesOptions;
use matrix_sdk::ruma::uint;
use muninn_matrix::testing::{Chat, OwnHomeserver, PATIENCE, Person, RoomKind};

use crate::support::{Home, bot_and_ann, homeserver};

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn what_was_said_while_it_was_away_is_answered_once() {
    for kind in [RoomKind::PLAIN, RoomKind::ENCRYPTED] {
        let (home, bot, ann) = bot_and_ann().await;
        let room = ann.room(&home.account.user, kind).await;
        room.ask("before").await;
        room.hears("echo: before").await;
        bot.stop().await;
        room.say("not for it").await;
        room.ask("meanwhile").await;
        let bot = home.start().await;
        room.hears("echo: meanwhile").await;
        room.ask("after").await;
        room.hears("echo: after").await;
        assert_eq!(room.said().len(), 3);
        assert!(
            !bot.log()
                .messages
                .iter()
                .any(|message| format!("{:?}", message.body).contains("before"))
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn after_a_long_absence_what_a_sync_left_out_is_fetched() {
    let (home, bot, ann) = bot_and_ann().await;
    let room = ann.room(&home.account.user, RoomKind::PLAIN).await;
    let first = room.ask("first").await;
    let answer = room.hears("echo: first").await;
    bot.stop().await;
    room.ask("early").await;
    room.redact(&first).await;
    for number in 0..250 {
        room.say(&format!("chatter {number}")).await;
    }
    room.ask("late").await;
    let _bot = home.start().await;
    room.hears("echo: late").await;
    room.hears("echo: early").await;
    room.finds("the first answer redacted", |said| {
        said.id == answer.id && said.is_redacted
    })
    .await;
    assert_eq!(room.said().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn what_is_too_old_is_not_answered_but_redactions_are_followed() {
    let (home, bot, ann) = bot_and_ann().await;
    let room = ann.room(&home.account.user, RoomKind::PLAIN).await;
    let first = room.ask("first").await;
    let answer = room.hears("echo: first").await;
    bot.stop().await;
    room.ask("too old").await;
    room.redact(&first).await;
    // It is the time that matters here.
    tokio::time::sleep(Duration::from_secs(6)).await;
    let bot = home
        .start_with(|options| options.catch_up = Duration::from_secs(5))
        .await;
    room.finds("the first answer redacted", |said| {
        said.id == answer.id && said.is_redacted
    })
    .await;
    room.ask("new").await;
    room.hears("echo: new").await;
    assert_eq!(room.said().len(), 2);
    assert_eq!(bot.log().messages.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn the_backlog_before_its_very_first_start_is_not_answered() {
    let homeserver = homeserver();
    let home = Home::new(&homeserver).await;
    let ann = Person::new(&homeserver, "ann").await;
    let bot = home.start().await;
    let room = ann.room(&home.account.user, RoomKind::PLAIN).await;
    bot.stop().await;
    room.ask("long ago").await;
    std::fs::remove_file(home.path("place.json")).unwrap();
    let _bot = home.start().await;
    room.ask("now").await;
    room.hears("echo: now").await;
    assert_eq!(room.said().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn killed_while_it_answers_it_goes_on_with_the_same_message() {
    for kind in [RoomKind::PLAIN, RoomKind::ENCRYPTED] {
        let (home, bot, ann) = bot_and_ann().await;
        let room = ann.room(&home.account.user, kind).await;
        let question = room.ask("grow on").await;
        let growing = room.hears("so far").await;
        bot.crash();
        let bot = home.start().await;
        bot.gets("the question again", |log| log.messages.first().cloned())
            .await;
        bot.go_on();
        // It asks to be told again until it is.
        let answer = loop {
            bot.go_on();
            let found = room.said().into_iter().find(|said| said.text == "echo: on");
            if let Some(found) = found {
                break found;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        };
        assert_eq!(answer.id, growing.id, "no second message");
        assert_eq!(answer.thread.as_deref(), Some(question.as_str()));
        assert_eq!(room.said().len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn an_answer_delivered_again_is_the_same_message() {
    let (home, bot, ann) = bot_and_ann().await;
    let room = ann.room(&home.account.user, RoomKind::PLAIN).await;
    room.ask("hello").await;
    room.hears("echo: hello").await;
    bot.crash();
    // As if it had been killed between sending and noting that it was sent.
    let forgotten = Home {
        memory: Default::default(),
        ..home
    };
    let position = forgotten.path("place.json");
    let before = std::fs::read_to_string(&position).unwrap();
    let bot = forgotten.start().await;
    room.ask("again").await;
    room.hears("echo: again").await;
    bot.crash();
    std::fs::write(&position, before).unwrap();
    let forgotten = Home {
        memory: Default::default(),
        ..forgotten
    };
    let bot = forgotten.start().await;
    bot.gets("the question again", |log| log.messages.first().cloned())
        .await;
    room.ask("at last").await;
    room.hears("echo: at last").await;
    let said = room.said();
    assert_eq!(said.len(), 3, "{said:?}");
    assert!(said.iter().all(|said| said.edits == 0 && !said.is_redacted));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn a_homeserver_that_was_away_is_caught_up_with() {
    let server = OwnHomeserver::start(&[]);
    let home = Home::new(&server.url).await;
    let bot = home.start().await;
    let ann = Person::new(&server.url, "ann").await;
    let room = ann.room(&home.account.user, RoomKind::PLAIN).await;
    room.ask("wait for it").await;
    bot.gets("the question", |log| log.messages.first().cloned())
        .await;
    server.down();
    bot.go_on();
    server.up();
    room.hears("echo: for it").await;
    room.ask("and now?").await;
    room.hears("echo: and now?").await;
    assert_eq!(room.said().len(), 2);
    assert_eq!(bot.log().errors, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn ended_while_it_takes_in_a_sync_it_loses_nothing() {
    // What it has taken in when it ends.
    for (kind, taken_in) in [
        (RoomKind::PLAIN, 0),
        (RoomKind::PLAIN, 3),
        (RoomKind::ENCRYPTED, 12),
    ] {
        let (home, bot, ann) = bot_and_ann().await;
        let room = ann.room(&home.account.user, kind).await;
        let first = room.ask("first").await;
        room.hears("echo: first").await;
        bot.stop().await;
        for number in 0..40 {
            room.ask(&format!("question {number}")).await;
        }
        room.redact(&first).await;
        let before = std::fs::read(home.path("place.json")).unwrap();
        let bot = home.begin();
        bot.gets("the first of them", |log| {
            (log.messages.len() > taken_in).then_some(())
        })
        .await;
        bot.crash();
        // It was not quick enough to keep how far it had read, whatever the machine does.
        std::fs::write(home.path("place.json"), before).unwrap();
        let _bot = home.start().await;
        let mut expected: Vec<String> = (0..40)
            .map(|number| format!("echo: question {number}"))
            .collect();
        expected.sort();
        // The first answer goes with its question.
        let answered = async {
            while answers(&room).await != expected {
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        };
        let in_time = tokio::time::timeout(PATIENCE, answered).await;
        assert!(in_time.is_ok(), "{kind:?}: {:?}", answers(&room).await);
    }
}

/// What the bot says in a room, in alphabetical order, asked of the homeserver: of many messages at
/// once it tells a client only the last ones by itself.
async fn answers(room: &Chat) -> Vec<String> {
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
