//! Tokens of programs that ask for somebody.

use chrono::{DateTime, TimeDelta, Utc};
use muninn::graph::GraphStore;
use muninn::graph::accounts::Account;
use muninn::graph::tokens::KeptToken;
use muninn_platform::{Audience, AudienceId};
use uuid::Uuid;

use crate::lanes::{GraphBackend, StoreConversation};

on_every_store!(
    a_token_is_found_by_its_hash_until_it_is_over_or_revoked,
    an_account_has_its_own_tokens_and_none_once_it_is_forgotten,
    a_token_made_since_outlasts_a_repeated_deletion,
    places_are_told_as_they_were_kept,
    a_place_was_last_used_when_something_was_last_said_in_it,
);

/// Returns a token that no other test has, of an account with this id.
pub(crate) fn token(account: &str, until: Option<DateTime<Utc>>) -> KeptToken {
    // To the millisecond, as it is stored.
    let now = DateTime::from_timestamp_millis(Utc::now().timestamp_millis()).unwrap();
    KeptToken {
        id: Uuid::now_v7().to_string(),
        hash: Uuid::new_v4().simple().to_string(),
        account: Account {
            id: account.to_owned(),
            platform: "test".to_owned(),
            name: "Ada".to_owned(),
        },
        places: Some(vec![
            AudienceId::new("test/one"),
            AudienceId::new("test/two"),
        ]),
        created_at: now,
        until,
        used_at: None,
    }
}

fn fresh_account() -> String {
    format!("test/{}", Uuid::new_v4())
}

async fn found(store: &GraphStore, token: &KeptToken) -> Option<KeptToken> {
    store.token(&token.hash, Utc::now()).await.unwrap()
}

async fn a_token_is_found_by_its_hash_until_it_is_over_or_revoked(lane: &GraphBackend) {
    let store = lane.open().await;
    let account = fresh_account();
    let soon = DateTime::from_timestamp_millis(Utc::now().timestamp_millis() + 3_600_000);
    let (one, other) = (token(&account, soon), token(&account, None));
    store.keep_token(&one).await.unwrap();
    let everywhere = KeptToken {
        places: None,
        ..other
    };
    store.keep_token(&everywhere).await.unwrap();
    assert_eq!(found(&store, &one).await, Some(one.clone()));
    assert_eq!(found(&store, &everywhere).await, Some(everywhere.clone()));
    let later = Utc::now() + TimeDelta::hours(2);
    assert_eq!(store.token(&one.hash, later).await.unwrap(), None);
    assert!(
        store
            .token(&everywhere.hash, later)
            .await
            .unwrap()
            .is_some()
    );

    let now = Utc::now();
    store.token_used(&one, now).await.unwrap();
    let used = found(&store, &one).await.unwrap();
    assert_eq!(used.used_at.map(|at| at.timestamp()), Some(now.timestamp()));
    store
        .revoke_tokens(std::slice::from_ref(&one.id))
        .await
        .unwrap();
    assert_eq!(found(&store, &one).await, None);
    assert!(found(&store, &everywhere).await.is_some());
}

async fn an_account_has_its_own_tokens_and_none_once_it_is_forgotten(lane: &GraphBackend) {
    let store = lane.open().await;
    let (ada, bob) = (fresh_account(), fresh_account());
    let tokens = [token(&ada, None), token(&ada, None), token(&bob, None)];
    for token in &tokens {
        store.keep_token(token).await.unwrap();
    }
    let of = async |account: &str| {
        let accounts = [account.to_owned()];
        store.tokens(Some(&accounts)).await.unwrap().len()
    };
    assert_eq!((of(&ada).await, of(&bob).await), (2, 1));
    assert!(store.tokens(None).await.unwrap().len() >= 3);
    store
        .forget_person(std::slice::from_ref(&ada), Utc::now(), Utc::now())
        .await
        .unwrap();
    assert_eq!((of(&ada).await, of(&bob).await), (0, 1));
}

async fn a_token_made_since_outlasts_a_repeated_deletion(lane: &GraphBackend) {
    let store = lane.open().await;
    let ada = fresh_account();
    let (accounts, made) = ([ada.clone()], token(&ada, None));
    store.keep_token(&made).await.unwrap();
    let before = Utc::now() - TimeDelta::seconds(60);
    let again = store.forget_person_again(&accounts, before, before);
    again.await.unwrap();
    assert_eq!(store.tokens(Some(&accounts)).await.unwrap().len(), 1);
    let first = store.forget_person(&accounts, before, before);
    first.await.unwrap();
    assert_eq!(store.tokens(Some(&accounts)).await.unwrap().len(), 0);
}

async fn places_are_told_as_they_were_kept(lane: &GraphBackend) {
    let store = lane.open().await;
    let mut talk = StoreConversation::on(&store);
    talk.audience.private_to = Some("test/ada".to_owned());
    talk.say("Tea is at four.").await;
    let unknown = AudienceId::new(format!("test/{}", Uuid::new_v4()));
    let wanted = [talk.audience.id.clone(), unknown];
    let places: Vec<Audience> = store.places(&wanted).await.unwrap();
    assert_eq!(places, [talk.audience.clone()]);
}

async fn a_place_was_last_used_when_something_was_last_said_in_it(lane: &GraphBackend) {
    let store = lane.open().await;
    let talk = StoreConversation::on(&store);
    let (one, other) = (talk.beside(), talk.beside());
    let (early, late) = (
        Utc::now() - TimeDelta::days(2),
        Utc::now() - TimeDelta::days(1),
    );
    for (talk, at) in [(&one, late), (&other, early)] {
        let mut turn = talk.turn("Tea is at four.");
        turn.turn.created_at = at;
        talk.append(&turn).await;
    }
    let place = &talk.audience.id;
    let unknown = AudienceId::new(format!("test/{}", Uuid::new_v4()));
    let used = store.last_used(&[place, &unknown]).await.unwrap();
    assert_eq!(used.len(), 1);
    assert_eq!(used[place].timestamp(), late.timestamp());
}
