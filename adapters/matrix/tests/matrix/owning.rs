//! Files of a person's own data, for them alone.

use matrix_sdk::ruma::events::room::history_visibility::HistoryVisibility;
use matrix_sdk::{Room, RoomMemberships};
use muninn_matrix::testing::{MatrixChat, MatrixPerson, RoomKind, RoomMessage, View};
use muninn_platform::testing::EchoLog;
use muninn_platform::{Body, Command, MessageId};

use crate::support::{bot_and_ann, run};

/// Returns the files that the bot sent.
fn files(view: &View, bot: &str) -> Vec<RoomMessage> {
    let all = view.messages.iter();
    let files = all.filter(|it| it.kind == "m.file" && it.sender == bot);
    files.cloned().collect()
}

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn where_somebody_is_alone_with_it_files_stand_there_encrypted_as_the_room_is() {
    let (encrypted, direct) = (true, true);
    run(RoomKind { encrypted, direct }, async |chat| {
        chat.ask("hand over all of mine").await;
        chat.hears("handed over: Here").await;
        let bot = chat.home.account.user.to_string();
        let both = |view: &View| Some(files(view, &bot)).filter(|it| it.len() == 2);
        let given = chat.sees("both files", both).await;
        let names: Vec<&str> = given.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(names, ["mine.json", "mine.md"]);
        assert!(given.iter().all(|it| it.is_encrypted));
    });
}

/// Returns what somebody decided below a message of the bot.
fn decided(log: &EchoLog) -> Option<(MessageId, bool)> {
    log.messages.iter().find_map(|message| match &message.body {
        Body::Command(Command::Decide { asked, is_yes }) => Some((asked.clone(), *is_yes)),
        Body::Command(_) | Body::Text(_) | Body::Edit { .. } | Body::Deletion { .. } => None,
    })
}

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn what_it_asks_about_has_a_yes_and_a_no_to_press() {
    for kind in [RoomKind::PLAIN, RoomKind::ENCRYPTED] {
        run(kind, async |chat| {
            chat.ask("propose something").await;
            let asked = chat.hears("Shall I do this?").await;
            let bot = chat.home.account.user.to_string();
            let below = |view: &View| {
                let all = view.reactions.iter();
                let own = all.filter(|(of, who, _)| *of == asked.id && *who == bot);
                let keys: Vec<String> = own.map(|(.., key)| key.clone()).collect();
                (keys.len() == 2).then_some(keys)
            };
            assert_eq!(chat.sees("a yes and a no", below).await, ["✅", "❌"]);
            // Below somebody else's message it means nothing.
            let others = chat.say("we could").await;
            chat.react(others.as_str(), "✅").await;
            chat.react(&asked.id, "❌").await;
            let pressed = chat.bot.gets("the no", decided).await;
            assert_eq!(pressed, (MessageId::new(&asked.id), false));
        });
    }
}

/// Waits until somebody is invited to a room, and joins it for them.
async fn accepted_invitation(person: &MatrixPerson) -> Room {
    let invited = async {
        loop {
            if let Some(invited) = person.client.invited_rooms().into_iter().next() {
                return invited;
            }
            // Polled: an invitation changes nothing in the view.
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    };
    let invited = tokio::time::timeout(crate::support::TIMEOUT, invited).await;
    let room = invited.expect("an invitation");
    room.join().await.unwrap();
    room
}

/// Waits until the bot says something to a person, and returns in which room.
async fn place_of(said: &str, chat: &MatrixChat) -> String {
    let found = |view: &View| {
        let mut all = view.messages.iter();
        let is_it = |it: &&RoomMessage| it.sender == *chat.bot && it.text == said;
        all.find(is_it).map(|it| it.room.clone())
    };
    chat.sees(said, found).await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn among_others_files_go_to_a_room_that_is_made_for_two() {
    let (home, _bot, ann) = bot_and_ann().await;
    let room = ann.room(&home.account.user, RoomKind::ENCRYPTED).await;
    room.ask("hand over all of mine").await;
    room.hears("handed over: Directly").await;
    let direct = accepted_invitation(&ann).await;
    let bot = home.account.user.to_string();
    let both = |view: &View| Some(files(view, &bot)).filter(|it| it.len() == 2);
    let given = room.sees("both files", both).await;
    assert!(
        given
            .iter()
            .all(|it| it.room == *direct.room_id() && it.is_encrypted)
    );
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn what_is_asked_for_in_an_encrypted_room_is_not_put_into_one_that_is_not() {
    let (home, _bot, ann) = bot_and_ann().await;
    let direct = ann.room(&home.account.user, RoomKind::DIRECT).await;
    let room = ann.room(&home.account.user, RoomKind::ENCRYPTED).await;
    room.ask("hand over all of mine").await;
    let refused = |it: &RoomMessage| it.text.starts_with("not handed over: ");
    let why = room.finds("why", refused).await;
    assert!(
        why.text.contains("not encrypted as this one is"),
        "{}",
        why.text
    );
    direct.ask("hand over all of mine").await;
    direct.hears("handed over: Here").await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn what_is_for_one_alone_is_in_no_room_with_others_nor_in_one_that_is_not_encrypted() {
    let (home, _bot, ann) = bot_and_ann().await;
    let direct = ann.room(&home.account.user, RoomKind::DIRECT).await;
    let room = ann.room(&home.account.user, RoomKind::ENCRYPTED).await;
    room.ask("confide my list").await;
    room.finds("why not", |it| {
        it.text.contains("not encrypted as this one is")
    })
    .await;
    direct.ask("confide my list").await;
    direct.hears("echo: confide my list").await;
    let bot = home.account.user.to_string();
    let told = |view: &View| {
        let mut all = view.messages.iter();
        let is_told = |it: &&RoomMessage| it.sender == bot && it.text.contains("my list");
        Some(all.any(|it| is_told(&it) && it.room == *room.room.room_id()))
    };
    assert!(!room.sees("what the bot said", told).await);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn a_direct_room_that_its_person_has_left_is_theirs_no_more() {
    for others_stay in [true, false] {
        let (home, _bot, ann) = bot_and_ann().await;
        let left = ann.room(&home.account.user, RoomKind::DIRECT).await;
        left.ask("confide my first list").await;
        left.hears("echo: confide my first list").await;
        let room = ann.room(&home.account.user, RoomKind::PLAIN).await;
        if others_stay {
            let bob = MatrixPerson::new(&home.homeserver, "bob").await;
            ann.bring(&left, &bob).await;
        }
        ann.leaves(&left).await;
        room.ask("confide my second list").await;
        let direct = accepted_invitation(&ann).await;
        let place = place_of("echo: confide my second list", &room).await;
        assert_eq!(place, *direct.room_id());
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn where_others_may_come_and_read_nothing_is_said_to_one_alone() {
    let (home, bot, ann) = bot_and_ann().await;
    let room = ann.room(&home.account.user, RoomKind::PLAIN).await;
    let not_yet_there = room.room.members(RoomMemberships::INVITE).await.unwrap();
    for invited in not_yet_there {
        let kicked = room.room.kick_user(invited.user_id(), None);
        kicked.await.unwrap();
    }
    room.ask("confide my first list").await;
    let direct = accepted_invitation(&ann).await;
    let place = place_of("echo: confide my first list", &room).await;
    assert_eq!(place, *direct.room_id());
    let is_alone = || bot.log().messages.pop().unwrap().is_direct();
    assert!(!is_alone());
    // Where newcomers read nothing from before, it stays in the room.
    let settings = room.room.privacy_settings();
    let hidden = settings.update_room_history_visibility(HistoryVisibility::Joined);
    hidden.await.unwrap();
    room.ask("confide my second list").await;
    room.hears("echo: confide my second list").await;
    assert!(is_alone());
}
