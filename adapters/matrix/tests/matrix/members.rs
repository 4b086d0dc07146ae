//! Invitations, and the allow list.

use matrix_sdk::ruma::events::room::member::MembershipState;
use muninn_matrix::testing::{MatrixChat, MatrixPerson, RoomKind, TIMEOUT};

use crate::support::{MatrixInstallation, bot_and_ann, homeserver, run};

async fn membership(room: &MatrixChat, wanted: &MembershipState) {
    let reached = async {
        loop {
            room.room.sync_members().await.unwrap();
            let member = room.room.get_member(&room.bot).await.unwrap();
            if member.is_some_and(|member| member.membership() == wanted) {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
    };
    let in_time = tokio::time::timeout(TIMEOUT, reached).await;
    assert!(in_time.is_ok(), "the bot's membership is not {wanted}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn it_joins_nobody_whom_it_was_not_set_up_for() {
    let homeserver = homeserver();
    let home = MatrixInstallation::new(&homeserver).await;
    let ann = MatrixPerson::new(&homeserver, "ann").await;
    for allow in ["", "@somebody:localhost", "example.org"] {
        let bot = home
            .start_with(|options| options.allow = allow.parse().unwrap())
            .await;
        let room = ann.invite(&home.account.user, RoomKind::DIRECT).await;
        membership(&room, &MembershipState::Leave).await;
        let event = room
            .room
            .get_member(&home.account.user)
            .await
            .unwrap()
            .unwrap();
        let reason = event.event().reason().map(str::to_owned);
        assert!(reason.unwrap().contains("ask those who run me"));
        bot.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn it_joins_people_servers_and_rooms_that_are_named() {
    let homeserver = homeserver();
    let ann = MatrixPerson::new(&homeserver, "ann").await;
    for allow in [ann.account.user.as_str(), "localhost", "*"] {
        let home = MatrixInstallation::new(&homeserver).await;
        let _bot = home
            .start_with(|options| options.allow = allow.parse().unwrap())
            .await;
        let room = ann.room(&home.account.user, RoomKind::PLAIN).await;
        room.echoes("hello").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn in_a_room_it_answers_those_who_are_let_in_and_in_a_named_room_everybody() {
    let homeserver = homeserver();
    let home = MatrixInstallation::new(&homeserver).await;
    let (ann, bob) = (
        MatrixPerson::new(&homeserver, "ann").await,
        MatrixPerson::new(&homeserver, "bob").await,
    );
    let only_ann = ann.account.user.to_string();
    let bot = home
        .start_with(|options| options.allow = only_ann.parse().unwrap())
        .await;
    let room = ann.room(&home.account.user, RoomKind::PLAIN).await;
    ann.bring(&room, &bob).await;
    let as_bob = bob.seen_by(&room);
    as_bob.ask("and me?").await;
    room.echoes("hello").await;
    assert_eq!(bot.log().messages.len(), 1);
    bot.stop().await;
    let this_room = room.room.room_id().to_string();
    let _bot = home
        .start_with(|options| options.allow = this_room.parse().unwrap())
        .await;
    as_bob.echoes("and now?").await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
async fn an_invitation_sent_while_it_was_away_is_answered() {
    let (home, bot, ann) = bot_and_ann().await;
    bot.stop().await;
    let room = ann.invite(&home.account.user, RoomKind::PLAIN).await;
    let _bot = home.start().await;
    ann.wait_for_member(&room, &home.account.user).await;
    room.echoes("hello").await;
}

#[test]
#[ignore = "needs a Synapse (SYNAPSE_TEST_URL)"]
fn kicked_it_leaves_and_invited_again_it_comes_back() {
    run(RoomKind::PLAIN, async |chat| {
        chat.echoes("one").await;
        chat.room
            .kick_user(&chat.home.account.user, None)
            .await
            .unwrap();
        membership(chat, &MembershipState::Leave).await;
        chat.ask("two").await;
        chat.room
            .invite_user_by_id(&chat.home.account.user)
            .await
            .unwrap();
        membership(chat, &MembershipState::Join).await;
        chat.echoes("three").await;
        // Messages from before it joined are not answered.
        assert_eq!(chat.said().len(), 2);
    });
}
