//! Room keys that arrive after their messages.

use muninn_matrix::testing::{KeyHolder, MatrixPerson, RoomKind};

use crate::support::{MatrixInstallation, homeserver};

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn a_key_that_comes_late_is_waited_for_and_its_message_answered() {
    let homeserver = homeserver();
    let home = MatrixInstallation::new(&homeserver).await;
    let bot = home.start().await;
    let keys = KeyHolder::before(&homeserver).await;
    let ann = MatrixPerson::new(keys.address(), "ann").await;
    let kind = RoomKind {
        encrypted: true,
        direct: true,
    };
    let room = ann.room(&home.account.user, kind).await;
    keys.hold();
    let question = room.ask("hello").await;
    let second = room.ask("are you there?").await;
    // Only one complaint, although two messages cannot be read.
    let complaint = room
        .finds("a complaint", |said| {
            said.text.starts_with("I cannot read this message")
        })
        .await;
    assert_eq!(complaint.replies_to.as_deref(), Some(question.as_str()));
    assert!(bot.log().messages.is_empty());
    // A process that was started in between also knows what is pending.
    bot.stop().await;
    let _bot = home.start().await;
    keys.release().await;
    room.hears("echo: hello").await;
    room.hears("echo: are you there?").await;
    assert_eq!(room.said().len(), 3, "{second}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn of_a_missing_key_it_speaks_only_where_it_would_have_answered() {
    let homeserver = homeserver();
    let home = MatrixInstallation::new(&homeserver).await;
    let _bot = home.start().await;
    let keys = KeyHolder::before(&homeserver).await;
    let ann = MatrixPerson::new(keys.address(), "ann").await;
    let room = ann.room(&home.account.user, RoomKind::ENCRYPTED).await;
    let other = ann.room(&home.account.user, RoomKind::ENCRYPTED).await;
    let (question, _) = room.echoes("hello").await;
    room.room.discard_room_key().await.unwrap();
    keys.hold();
    // Not meant for the bot, as far as can be seen…
    other.say("between people").await;
    room.say("between people").await;
    let elsewhere = room.say("another thread").await;
    room.say_in(&elsewhere, "between people").await;
    // …and in a thread it takes part in.
    room.say_in(&question, "and now?").await;
    let complaint = room
        .finds("a complaint", |said| {
            said.text.starts_with("I cannot read this message")
        })
        .await;
    assert_eq!(complaint.thread.as_deref(), Some(question.as_str()));
    keys.release().await;
    let answer = room.hears("echo: and now?").await;
    assert_eq!(answer.thread.as_deref(), Some(question.as_str()));
    assert_eq!((room.said().len(), other.said().len()), (3, 0));
}
