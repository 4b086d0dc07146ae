//! Earlier messages: all of an old thread, a room's history, and messages from a long downtime.

use std::time::Duration;

use chrono::{TimeDelta, Utc};
use muninn_matrix::testing::{LosingProxy, MatrixPerson, RoomKind, homeserver};
use muninn_platform::AudienceId;
use muninn_platform::testing::read_history;

use crate::support::{MatrixFixture, MatrixInstallation, run};

impl MatrixFixture {
    /// Makes overheard messages be remembered there.
    fn is_heard(&self) -> AudienceId {
        let audience = AudienceId::new(format!("matrix/{}", self.room.room_id()));
        self.home.memory.remembers_talk_of(&audience);
        audience
    }
}

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn coming_to_an_old_thread_it_reads_all_of_it() {
    for kind in [RoomKind::PLAIN, RoomKind::ENCRYPTED] {
        run(kind, async |chat| {
            let root = chat.say("The standup moves.").await;
            for number in 1..=130 {
                chat.say_in(&root, &format!("reply {number}")).await;
            }
            let last = chat.say_in(&root, "to ten").await;
            chat.edit(&last, "to eleven").await;
            let asked = chat.mentioning("background counted");
            chat.send_in(&root, asked).await;
            chat.finds("all of it", |said| {
                let text = &said.text;
                text.contains("The standup moves.")
                    && text.contains("130 between")
                    && text.contains("to eleven")
            })
            .await;
        });
    }
}

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn a_rooms_history_is_read_from_a_day_on_also_after_a_kill() {
    for kind in [RoomKind::PLAIN, RoomKind::ENCRYPTED] {
        run(kind, async |chat| {
            let root = chat.say("The mast is down.").await;
            chat.say_in(&root, "Since noon.").await;
            for number in 1..=120 {
                chat.say(&format!("chatter {number}")).await;
            }
            let mistaken = chat.say("It stands on Ridge Farm.").await;
            chat.edit(&mistaken, "It stands on Summit Rock.").await;
            let regretted = chat.say("never mind").await;
            chat.redact(&regretted).await;
            chat.echoes("a question").await;
            let audience = chat.is_heard();

            let since = Utc::now() - TimeDelta::hours(1);
            let histories = chat.home.options.histories.clone();
            let at = read_history(&histories, &audience, None, 2).await;
            let mut all = chat.bot.log().overheard_texts();
            chat.bot.dies();
            chat.starts_again().await;
            assert_eq!(read_history(&histories, &audience, at, 20).await, None);
            all.extend(chat.bot.log().overheard_texts());
            let mut expected = vec!["The mast is down.".to_owned(), "Since noon.".to_owned()];
            expected.extend((1..=120).map(|n| format!("chatter {n}")));
            expected.push("It stands on Summit Rock.".to_owned());
            assert_eq!(all, expected);
            let elsewhere = AudienceId::new("matrix/!nowhere:example.org");
            let history = chat.home.options.histories.of(&audience).unwrap();
            let refused = history.read_page(&elsewhere, since, None).await;
            assert!(refused.unwrap_err().to_string().contains("!nowhere"));
            let future = Utc::now() + TimeDelta::hours(1);
            let page = history.read_page(&audience, future, None).await.unwrap();
            assert_eq!((page.messages, page.next), (0, None));
        });
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn a_homeserver_that_finds_no_event_by_its_time_is_read_backwards_at_first() {
    let proxy = LosingProxy::before(&homeserver()).await;
    proxy.does_not_know("/timestamp_to_event");
    let home = MatrixInstallation::new(proxy.address()).await;
    let bot = home.start().await;
    let ann = MatrixPerson::new(&homeserver(), "ann").await;
    let room = ann.room(&home.account.user, RoomKind::PLAIN).await;
    let mut expected = Vec::new();
    for number in 1..=130 {
        let said = format!("chatter {number}");
        room.say(&said).await;
        expected.push(said);
    }
    room.echoes("a question").await;
    let audience = AudienceId::new(format!("matrix/{}", room.room.room_id()));
    home.memory.remembers_talk_of(&audience);
    let histories = home.options.histories.clone();
    assert_eq!(read_history(&histories, &audience, None, 20).await, None);
    assert_eq!(bot.log().overheard_texts(), expected);
}

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn what_somebody_said_who_left_is_read() {
    run(RoomKind::PLAIN, async |chat| {
        let bob = MatrixPerson::new(&chat.home.homeserver, "bob").await;
        chat.ann.bring(chat, &bob).await;
        bob.seen_by(chat).say("The mast is up.").await;
        bob.seen_by(chat).room.leave().await.unwrap();
        chat.echoes("a question").await;
        let audience = chat.is_heard();
        let histories = chat.home.options.histories.clone();
        assert_eq!(read_history(&histories, &audience, None, 5).await, None);
        let log = chat.bot.log();
        assert_eq!(log.overheard_texts(), ["The mast is up."]);
        assert!(log.overheard[0].author.name.starts_with("bob"), "{log:#?}");
    });
}

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn what_is_too_old_to_be_answered_is_still_heard() {
    run(RoomKind::PLAIN, async |chat| {
        chat.is_heard();
        chat.echoes("first").await;
        chat.bot.ends().await;
        chat.ask("too old").await;
        chat.say("The mast is up.").await;
        // The test needs real time to pass.
        tokio::time::sleep(Duration::from_secs(6)).await;
        let catch_up = Duration::from_secs(5);
        chat.bot = chat
            .home
            .start_with(|options| options.catch_up = catch_up)
            .await;
        chat.echoes("new").await;
        let log = chat.bot.log();
        assert_eq!(log.overheard_texts(), ["The mast is up."]);
        assert_eq!(log.messages.len(), 1);
    });
}
