//! Accounts on several platforms that belong to one person.

use chrono::{TimeDelta, Utc};
use muninn::graph::accounts::{Account, CodeEntryResult};
use muninn::graph::{GraphStore, NewTurn};
use muninn_platform::AudienceId;
use uuid::Uuid;

use crate::lanes::{GraphBackend, StoreConversation};

on_every_store!(
    accounts_are_one_persons_once_a_code_went_from_one_to_the_other,
    two_people_who_link_any_of_their_accounts_are_one,
    a_code_that_two_enter_at_once_holds_for_one,
    a_code_holds_for_a_while,
    a_person_has_so_many_accounts_and_no_more,
    what_is_to_be_told_is_told_once,
    a_place_is_private_as_long_as_its_newest_message_says_so,
    what_an_answer_was_given_from_elsewhere_is_linked_where_it_may_be,
    a_forgotten_person_has_no_accounts,
);

/// Returns an account that no other test has.
pub(crate) fn account(platform: &str) -> Account {
    Account {
        id: format!("{platform}/{}", Uuid::new_v4()),
        platform: platform.to_owned(),
        name: "Ada".to_owned(),
    }
}

fn home(account: &Account) -> AudienceId {
    AudienceId::new(format!("{}/direct", account.id))
}

async fn offer(store: &GraphStore, account: &Account) -> String {
    let code = Uuid::new_v4().simple().to_string();
    let until = Utc::now() + TimeDelta::minutes(10);
    let home = home(account);
    let offered = store.offer_link(account, &home, &code, until);
    offered.await.unwrap();
    code
}

async fn enter(store: &GraphStore, account: &Account, code: &str) -> CodeEntryResult {
    let home = home(account);
    store.enter_code(account, &home, code).await.unwrap()
}

pub(crate) async fn link(store: &GraphStore, one: &Account, other: &Account) {
    let code = offer(store, one).await;
    let entered = enter(store, other, &code).await;
    assert!(matches!(entered, CodeEntryResult::Linked(_)), "{entered:?}");
}

async fn ids(store: &GraphStore, account: &Account) -> Vec<String> {
    let accounts = store.accounts_of(&account.id).await.unwrap();
    accounts.into_iter().map(|it| it.account.id).collect()
}

fn sorted(accounts: &[&Account]) -> Vec<String> {
    let mut ids: Vec<String> = accounts.iter().map(|it| it.id.clone()).collect();
    ids.sort();
    ids
}

async fn accounts_are_one_persons_once_a_code_went_from_one_to_the_other(lane: &GraphBackend) {
    let store = lane.open().await;
    let (slack, discord) = (account("slack"), account("discord"));
    assert_eq!(ids(&store, &slack).await, [""; 0]);
    let code = offer(&store, &slack).await;
    assert_eq!(enter(&store, &slack, &code).await, CodeEntryResult::Own);
    match enter(&store, &discord, &code).await {
        CodeEntryResult::Linked(accounts) => assert_eq!(accounts, [slack.clone(), discord.clone()]),
        other => panic!("{other:?}"),
    }
    let both = sorted(&[&slack, &discord]);
    assert_eq!(ids(&store, &slack).await, both);
    assert_eq!(ids(&store, &discord).await, both);
    let all = store.all_accounts().await.unwrap();
    assert_eq!(all[&slack.id], both);
    assert_eq!(enter(&store, &discord, &code).await, CodeEntryResult::Wrong);
    let left = store.unlink(&discord.id).await.unwrap();
    assert_eq!(left, std::slice::from_ref(&slack));
    for account in [&slack, &discord] {
        assert_eq!(ids(&store, account).await, [""; 0]);
    }
    assert_eq!(store.unlink(&discord.id).await.unwrap(), []);
}

async fn two_people_who_link_any_of_their_accounts_are_one(lane: &GraphBackend) {
    let store = lane.open().await;
    let all = ["slack", "discord", "matrix", "slack"].map(account);
    link(&store, &all[0], &all[1]).await;
    link(&store, &all[2], &all[3]).await;
    link(&store, &all[1], &all[3]).await;
    let wanted = sorted(&all.each_ref());
    for account in &all {
        assert_eq!(ids(&store, account).await, wanted);
    }
    let left = store.unlink(&all[0].id).await.unwrap();
    assert_eq!(left.len(), 3);
    assert_eq!(ids(&store, &all[0]).await, [""; 0]);
    assert_eq!(ids(&store, &all[3]).await.len(), 3);
}

async fn a_code_that_two_enter_at_once_holds_for_one(lane: &GraphBackend) {
    let store = lane.open().await;
    for _ in 0..5 {
        let (owner, one, other) = (account("slack"), account("discord"), account("matrix"));
        let code = offer(&store, &owner).await;
        let (first, second) =
            tokio::join!(enter(&store, &one, &code), enter(&store, &other, &code));
        let won = [&first, &second].map(|it| matches!(it, CodeEntryResult::Linked(_)));
        assert_ne!(won[0], won[1], "{first:?} {second:?}");
        assert_eq!(ids(&store, &owner).await.len(), 2);
    }
}

async fn a_code_holds_for_a_while(lane: &GraphBackend) {
    let store = lane.open().await;
    let (slack, discord) = (account("slack"), account("discord"));
    let code = Uuid::new_v4().to_string();
    let home = home(&slack);
    let offered = store.offer_link(&slack, &home, &code, Utc::now());
    offered.await.unwrap();
    assert_eq!(enter(&store, &discord, &code).await, CodeEntryResult::Wrong);
    for _ in 0..4 {
        assert_eq!(
            enter(&store, &discord, "guess").await,
            CodeEntryResult::Wrong
        );
    }
    let code = offer(&store, &slack).await;
    assert_eq!(
        enter(&store, &discord, &code).await,
        CodeEntryResult::TooOften
    );
}

async fn a_person_has_so_many_accounts_and_no_more(lane: &GraphBackend) {
    let store = lane.open().await;
    let first = account("slack");
    for _ in 0..7 {
        link(&store, &first, &account("matrix")).await;
    }
    let code = offer(&store, &first).await;
    let ninth = account("discord");
    assert_eq!(
        enter(&store, &ninth, &code).await,
        CodeEntryResult::TooMany(8)
    );
    assert_eq!(ids(&store, &first).await.len(), 8);
    assert_eq!(ids(&store, &ninth).await, [""; 0]);
}

async fn what_is_to_be_told_is_told_once(lane: &GraphBackend) {
    let store = lane.open().await;
    let (slack, discord) = (account("slack"), account("discord"));
    link(&store, &slack, &discord).await;
    for text in ["one", "two"] {
        let told = store.queue_notification(std::slice::from_ref(&slack), text);
        told.await.unwrap();
    }
    let untold = async || {
        let all = store.pending_notifications().await.unwrap();
        all.into_iter().find(|it| it.account.id == slack.id)
    };
    let first = untold().await.unwrap();
    assert_eq!(
        (&first.home, first.text.as_str()),
        (&home(&slack), "one\n\ntwo")
    );
    let told = store.queue_notification(std::slice::from_ref(&slack), "three");
    told.await.unwrap();
    // More arrived in between: repeating it is better than losing it.
    store.remove_notification(&first).await.unwrap();
    let second = untold().await.unwrap();
    assert!(second.text.ends_with("three"), "{second:?}");
    store.remove_notification(&second).await.unwrap();
    assert_eq!(untold().await, None);
}

async fn a_place_is_private_as_long_as_its_newest_message_says_so(lane: &GraphBackend) {
    let store = lane.open().await;
    let owner = account("matrix").id;
    let mut talk = StoreConversation::on(&store);
    let places = async || {
        let accounts = std::slice::from_ref(&owner);
        store.private_places(accounts).await.unwrap()
    };
    talk.say("others are here").await;
    assert_eq!(places().await, []);
    talk.audience.private_to = Some(owner.clone());
    talk.say("we are alone").await;
    assert_eq!(places().await, std::slice::from_ref(&talk.audience.id));
    talk.audience.private_to = None;
    let heard = crate::messages::said(&talk, "U2", "I came in");
    store.append_all(&[], &[heard.into()]).await.unwrap();
    assert_eq!(places().await, []);
}

async fn what_an_answer_was_given_from_elsewhere_is_linked_where_it_may_be(lane: &GraphBackend) {
    let store = lane.open().await;
    let (here, there, elsewhere) = (
        StoreConversation::on(&store),
        StoreConversation::on(&store),
        StoreConversation::on(&store),
    );
    let (may, must_not) = (there.say("a").await, elsewhere.say("b").await);
    let given = NewTurn {
        recalls_also: vec![there.audience.id.clone()],
        recalled: vec![(may.id, 0.9), (must_not.id, 0.9)],
        ..here.turn("c")
    };
    here.append(&given).await;
    let explained = store.explain(&here.session, None).await.unwrap().unwrap();
    let linked: Vec<_> = explained.recalled.iter().map(|(_, it)| it.id).collect();
    assert_eq!(linked, [may.id]);
}

async fn a_forgotten_person_has_no_accounts(lane: &GraphBackend) {
    let store = lane.open().await;
    let (slack, discord) = (account("slack"), account("discord"));
    link(&store, &slack, &discord).await;
    let both = sorted(&[&slack, &discord]);
    let now = Utc::now();
    store.forget_person(&both, now, now).await.unwrap();
    for account in [&slack, &discord] {
        assert_eq!(ids(&store, account).await, [""; 0]);
        assert!(
            !store
                .all_accounts()
                .await
                .unwrap()
                .contains_key(&account.id)
        );
    }
}
