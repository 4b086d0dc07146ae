//! Conversations in rooms: plain, direct, encrypted, in threads. Each rule is tested in both
//! directions.

use std::time::{Duration, Instant};

use crate::support::{MatrixInstallation, bot_and_ann, homeserver, run};
use muninn_matrix::Threads;
use muninn_matrix::testing::{LosingProxy, MatrixPerson, RoomKind};

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn it_answers_in_a_thread_when_it_is_mentioned_and_only_then() {
    run(RoomKind::PLAIN, async |chat| {
        chat.say("good morning").await;
        let (question, answer) = chat.echoes("hello").await;
        assert_eq!(answer.thread.as_deref(), Some(question.as_str()));
        assert_eq!((answer.kind.as_str(), answer.mentions), ("m.notice", false));
        assert_eq!(answer.html, "<p>echo: hello</p>");
        // In the thread it takes part in, no mention is needed…
        chat.say_in(&question, "and then?").await;
        let answer = chat.hears("echo: and then?").await;
        assert_eq!(answer.thread.as_deref(), Some(question.as_str()));
        // …in others it stays silent, as in the main timeline.
        let other = chat.say("lunch?").await;
        chat.say_in(&other, "at noon").await;
        chat.echoes("still there?").await;
        assert_eq!(chat.said().len(), 3, "{:?}", chat.said());
        let message = chat.bot.log().messages[0].clone();
        assert_eq!(
            message.audience.id.as_str(),
            format!("matrix/{}", chat.room.room_id())
        );
        assert_eq!(message.audience.name, "Ravens");
        assert_eq!(
            message.author.id,
            format!("matrix/{}", chat.ann.account.user)
        );
        assert!(
            message.author.is_admin,
            "who made the room may redact in it"
        );
        assert!(message.link.unwrap().starts_with("https://matrix.to/#/"));
    });
}

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn in_a_direct_room_everything_is_meant_for_it() {
    run(RoomKind::DIRECT, async |chat| {
        chat.say("hello").await;
        let answer = chat.hears("echo: hello").await;
        assert_eq!((answer.thread, answer.replies_to), (None, None));
        // Bots are not answered here either.
        chat.send(serde_json::json!({ "msgtype": "m.notice", "body": "I am a bot" }))
            .await;
        chat.say("again").await;
        chat.hears("echo: again").await;
        assert_eq!(chat.said().len(), 2);
        assert!(chat.bot.log().messages.iter().all(|it| it.is_direct()));
    });
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn what_is_said_before_it_has_joined_is_answered() {
    let (home, bot, ann) = bot_and_ann().await;
    let room = ann.invite(&home.account.user, RoomKind::DIRECT).await;
    room.say("are you coming?").await;
    room.hears("echo: are you coming?").await;
    drop(bot);
}

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn in_an_encrypted_room_it_answers_encrypted_and_is_trusted() {
    run(RoomKind::ENCRYPTED, async |chat| {
        let (question, answer) = chat.echoes("hello").await;
        assert!(answer.is_encrypted);
        assert!(!answer.is_shielded, "its device is signed by its account");
        assert_eq!(answer.thread.as_deref(), Some(question.as_str()));
    });
}

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn a_reply_to_its_answer_is_meant_for_it_and_belongs_to_its_thread() {
    run(RoomKind::PLAIN, async |chat| {
        let (question, answer) = chat.echoes("hello").await;
        chat.reply(question.as_str(), "a reply to a person").await;
        chat.reply(&answer.id, "a reply to it").await;
        let second = chat.hears("echo: a reply to it").await;
        assert_eq!(second.thread.as_deref(), Some(question.as_str()));
        assert_eq!(chat.said().len(), 2);
    });
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn threads_are_followed_or_left_alone_as_it_is_set() {
    let homeserver = homeserver();
    let ann = MatrixPerson::new(&homeserver, "ann").await;
    for threads in [Threads::Follow, Threads::Never] {
        let home = MatrixInstallation::new(&homeserver).await;
        let bot = home.start_with(|options| options.threads = threads).await;
        let room = ann.room(&home.account.user, RoomKind::PLAIN).await;
        let (question, answer) = room.echoes("hello").await;
        assert_eq!(answer.thread, None);
        assert_eq!(answer.replies_to.as_deref(), Some(question.as_str()));
        let mut content = room.mentioning("inside");
        content["m.relates_to"] =
            serde_json::json!({ "rel_type": "m.thread", "event_id": question });
        room.send(content).await;
        let inside = room.hears("echo: inside").await;
        let conversation = bot.log().messages[1].conversation.to_string();
        match threads {
            Threads::Follow => {
                assert_eq!(inside.thread.as_deref(), Some(question.as_str()));
                assert!(conversation.ends_with(question.as_str()));
            }
            Threads::Never | Threads::Always => {
                assert_eq!(inside.thread, None);
                assert!(conversation.ends_with("/main"));
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn two_rooms_are_two_audiences() {
    let (home, bot, ann) = bot_and_ann().await;
    let one = ann.room(&home.account.user, RoomKind::PLAIN).await;
    let two = ann.room(&home.account.user, RoomKind::PLAIN).await;
    let (in_one, in_two) = tokio::join!(one.ask("the same"), two.ask("the same"));
    let (first, second) = tokio::join!(one.hears("echo: the same"), two.hears("echo: the same"));
    assert_eq!(first.thread.as_deref(), Some(in_one.as_str()));
    assert_eq!(second.thread.as_deref(), Some(in_two.as_str()));
    let audiences: Vec<String> = bot
        .log()
        .messages
        .iter()
        .map(|m| m.audience.id.to_string())
        .collect();
    assert_eq!(audiences.len(), 2);
    assert_ne!(audiences[0], audiences[1]);
}

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn a_burst_is_answered_one_by_one() {
    run(RoomKind::PLAIN, async |chat| {
        for number in 0..20 {
            chat.ask(&format!("question {number}")).await;
        }
        for number in 0..20 {
            chat.hears(&format!("echo: question {number}")).await;
        }
        assert_eq!(chat.said().len(), 20);
        let asked: Vec<String> = chat
            .bot
            .log()
            .messages
            .iter()
            .map(|m| format!("{:?}", m.body))
            .collect();
        let in_order: Vec<String> = (0..20)
            .map(|number| format!("Text(\"question {number}\")"))
            .collect();
        assert_eq!(asked, in_order);
    });
}

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn a_reply_to_something_in_another_room_is_answered_here() {
    run(RoomKind::PLAIN, async |chat| {
        let other = chat.room_of(RoomKind::PLAIN).await;
        let (_, answer) = chat.echoes("there").await;
        // The bot's answer is not in this room, so a reply needs a mention…
        other.reply(&answer.id, "to nobody").await;
        // …and with a mention it is answered in a thread of its own.
        let mut content = other.mentioning("here");
        content["m.relates_to"] = serde_json::json!({ "m.in_reply_to": { "event_id": answer.id } });
        let question = other.send(content).await;
        let here = other.hears("echo: here").await;
        assert_eq!(here.thread.as_deref(), Some(question.as_str()));
        assert_eq!(other.said().len(), 1);
    });
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn where_the_homeserver_counts_no_members_the_bot_counts_them() {
    let proxy = LosingProxy::before(&homeserver()).await;
    proxy.hide_summaries();
    let home = MatrixInstallation::new(proxy.address()).await;
    let _bot = home.start().await;
    let ann = MatrixPerson::new(&homeserver(), "ann").await;
    let room = ann.room_for_two(&home.account.user).await;
    room.say("hello").await;
    room.hears("echo: hello").await;
    let room = ann.room(&home.account.user, RoomKind::PLAIN).await;
    room.say("good morning").await;
    room.echoes("when is the fair?").await;
    assert_eq!(room.said().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn members_that_the_homeserver_never_names_are_not_waited_for_with_each_message() {
    let proxy = LosingProxy::before(&homeserver()).await;
    proxy.hide_summaries();
    proxy.withhold_members();
    let home = MatrixInstallation::new(proxy.address()).await;
    let _bot = home.start().await;
    let ann = MatrixPerson::new(&homeserver(), "ann").await;
    let room = ann.room(&home.account.user, RoomKind::PLAIN).await;
    let began = Instant::now();
    for number in 1..=5 {
        room.say(&format!("good morning {number}")).await;
    }
    room.echoes("when is the fair?").await;
    // With each of them it would be half a minute.
    let took = began.elapsed();
    assert!(took < Duration::from_secs(20), "{took:?}");
}

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn in_a_direct_room_of_three_it_has_to_be_mentioned() {
    run(RoomKind::DIRECT, async |chat| {
        chat.say("hello").await;
        chat.hears("echo: hello").await;
        let bob = MatrixPerson::new(&chat.home.homeserver, "bob").await;
        chat.ann.bring(chat, &bob).await;
        chat.say("hello bob").await;
        chat.echoes("and you?").await;
        assert_eq!(chat.said().len(), 2, "{:?}", chat.said());
    });
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn an_upgraded_room_keeps_its_memory_if_the_homeserver_fails_at_first() {
    let proxy = LosingProxy::before(&homeserver()).await;
    let home = MatrixInstallation::new(proxy.address()).await;
    let bot = home.start().await;
    let ann = MatrixPerson::new(&homeserver(), "ann").await;
    let room = ann.room(&home.account.user, RoomKind::PLAIN).await;
    ann.opens(&room).await;
    room.echoes("before").await;
    let before = bot.log().messages.pop().unwrap();
    // More requests fail than the SDK repeats.
    proxy.hide_members(6);
    let room = ann.upgrade(&room).await;
    ann.wait_for_member(&room, &home.account.user).await;
    room.echoes("after").await;
    let after = bot.log().messages.pop().unwrap();
    assert_eq!(after.audience.id, before.audience.id);
    assert!(proxy.hid_members());
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn no_room_waits_long_for_the_members_of_an_upgraded_one_which_has_one_memory_for_good() {
    let proxy = LosingProxy::before(&homeserver()).await;
    let home = MatrixInstallation::new(proxy.address()).await;
    let bot = home.start().await;
    let ann = MatrixPerson::new(&homeserver(), "ann").await;
    let other = ann.room(&home.account.user, RoomKind::PLAIN).await;
    let room = ann.room(&home.account.user, RoomKind::PLAIN).await;
    ann.opens(&room).await;
    room.echoes("before").await;
    proxy.hide_members(usize::MAX);
    let room = ann.upgrade(&room).await;
    ann.wait_for_member(&room, &home.account.user).await;
    room.ask("one").await;
    other.echoes("elsewhere").await;
    room.hears("echo: one").await;
    proxy.hide_members(0);
    room.echoes("two").await;
    let here = format!("matrix/{}", room.room.room_id());
    let log = bot.log();
    let audiences = log.messages.iter().map(|message| &message.audience.id);
    let here = audiences.filter(|audience| audience.as_str() == here);
    assert_eq!(here.count(), 2);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn a_room_that_is_upgraded_is_followed_with_its_memory() {
    let (home, mut bot, ann) = bot_and_ann().await;
    let bob = MatrixPerson::new(&home.homeserver, "bob").await;
    for has_newcomers in [false, true] {
        let room = ann.room(&home.account.user, RoomKind::PLAIN).await;
        // It cannot join an invite-only room before it is invited.
        ann.opens(&room).await;
        room.echoes("before").await;
        let before = bot.log().messages.last().cloned().unwrap();
        let room = if has_newcomers {
            bot.stop().await;
            let room = ann.upgrade(&room).await;
            room.room
                .invite_user_by_id(&bob.account.user)
                .await
                .unwrap();
            bot = home.start().await;
            room.finds("that the memory stays", |said| {
                said.text.contains("without what I remember")
            })
            .await;
            room
        } else {
            ann.upgrade(&room).await
        };
        ann.wait_for_member(&room, &home.account.user).await;
        room.echoes("after").await;
        let after = bot.log().messages.last().cloned().unwrap();
        assert_eq!(after.audience.id == before.audience.id, !has_newcomers);
        assert_ne!(after.conversation, before.conversation);
        assert_eq!(room.said().len(), 1 + usize::from(has_newcomers));
    }
}
