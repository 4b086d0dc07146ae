//! Claims of events and digests, by several processes that share a graph.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, TimeZone as _, Utc};
use muninn::graph::claims::{Claimed, Renewed};
use muninn_platform::{ConversationId, EventId};
use uuid::Uuid;

use crate::lanes::{GraphBackend, StoreConversation};

on_every_store![
    an_event_is_answered_by_one,
    a_claim_without_a_sign_of_life_is_anybodys,
    a_turn_is_stopped_from_elsewhere,
    a_digest_tells_since_the_last_one_that_was_told,
    a_digest_that_was_claimed_in_the_future_holds_none_back,
    the_clock_of_a_server_is_known,
];

const LONG: Duration = Duration::from_mins(10);

/// Returns a new event and its conversation.
fn event() -> (EventId, ConversationId) {
    let id = Uuid::new_v4();
    (
        EventId::new(format!("test/{id}")),
        ConversationId::new(format!("test/{id}")),
    )
}

/// Whether only one process at a time can open it, so that everything is its own.
fn is_alone(lane: &GraphBackend) -> bool {
    matches!(lane, GraphBackend::Embedded(_))
}

async fn an_event_is_answered_by_one(lane: &GraphBackend) {
    let stores = lane.open_many(8).await;
    let (event, session) = event();
    let claims = stores.iter().enumerate().map(|(number, store)| {
        let (event, session) = (event.clone(), session.clone());
        async move {
            let holder = format!("holder/{number}");
            store.claim(&event, &session, &holder, LONG).await.unwrap()
        }
    });
    let claims = futures::future::join_all(claims).await;
    let ours = |claims: &[Claimed]| claims.iter().filter(|it| **it == Claimed::Ours).count();
    if is_alone(lane) {
        assert_eq!(ours(&claims), 8);
        assert!(!stores[0].is_claimed(&event, "nobody").await.unwrap());
        return;
    }
    assert_eq!(ours(&claims), 1, "{claims:?}");
    assert!(stores[0].is_claimed(&event, "nobody").await.unwrap());
    let winner = claims.iter().position(|it| *it == Claimed::Ours).unwrap();
    let holder = format!("holder/{winner}");
    let (one, other) = (&stores[winner], &stores[(winner + 1) % 8]);

    // The process that held it before a restart continues.
    let again = one.claim(&event, &session, &holder, LONG).await.unwrap();
    assert_eq!(again, Claimed::Inherited);
    // Nobody else can finish or renew it.
    other
        .finish_events(std::slice::from_ref(&event), "another")
        .await
        .unwrap();
    let renewed = other.renew_claim(&event, "another", LONG).await.unwrap();
    assert_eq!(renewed, Renewed::Lost);
    assert!(other.is_claimed(&event, "nobody").await.unwrap());

    one.finish_events(std::slice::from_ref(&event), &holder)
        .await
        .unwrap();
    assert!(!other.is_claimed(&event, "nobody").await.unwrap());
    for holder in [holder.as_str(), "another"] {
        let claimed = other.claim(&event, &session, holder, LONG).await.unwrap();
        assert_eq!(claimed, Claimed::Done);
    }
    // The sweep removes old claims, but not today's.
    other.sweep_claims(LONG).await.unwrap();
    let claimed = other.claim(&event, &session, "another", LONG).await;
    assert_eq!(claimed.unwrap(), Claimed::Done);

    // Several processes may open it again; one of them gets it.
    for store in [one, other] {
        store.reopen_claim(&event).await.unwrap();
    }
    let claimed = other.claim(&event, &session, "another", LONG).await;
    assert_eq!(claimed.unwrap(), Claimed::Ours);
    one.reopen_claim(&event).await.unwrap();
    let claimed = one.claim(&event, &session, &holder, LONG).await;
    assert_eq!(claimed.unwrap(), Claimed::Held);
}

async fn a_claim_without_a_sign_of_life_is_anybodys(lane: &GraphBackend) {
    let stores = lane.open_many(2).await;
    let (event, session) = event();
    let (one, other) = (&stores[0], &stores[1]);
    let claim = |holder, lasts| one.claim(&event, &session, holder, lasts);
    assert_eq!(claim("one", LONG).await.unwrap(), Claimed::Ours);
    if is_alone(lane) {
        return;
    }
    assert_eq!(claim("other", LONG).await.unwrap(), Claimed::Held);
    // Its last renewal expired at once.
    let renewed = one.renew_claim(&event, "one", Duration::ZERO).await;
    assert_eq!(renewed.unwrap(), Renewed::Kept);
    while claim("other", LONG).await.unwrap() == Claimed::Held {
        tokio::task::yield_now().await;
    }
    assert_eq!(claim("one", LONG).await.unwrap(), Claimed::Held);
    let renewed = one.renew_claim(&event, "one", LONG).await.unwrap();
    assert_eq!(renewed, Renewed::Lost);
    let renewed = other.renew_claim(&event, "other", LONG).await.unwrap();
    assert_eq!(renewed, Renewed::Kept);
}

async fn a_turn_is_stopped_from_elsewhere(lane: &GraphBackend) {
    let store = lane.open().await;
    let (event, session) = event();
    store.claim(&event, &session, "one", LONG).await.unwrap();
    let elsewhere = ConversationId::new(format!("{session}/other"));
    store.stop_claims(&elsewhere).await.unwrap();
    let renew = || store.renew_claim(&event, "one", LONG);
    assert_eq!(renew().await.unwrap(), Renewed::Kept);
    store.stop_claims(&session).await.unwrap();
    if !is_alone(lane) {
        assert_eq!(renew().await.unwrap(), Renewed::Stopped);
    }
    // It is reported once.
    assert_eq!(renew().await.unwrap(), Renewed::Kept);
}

async fn a_digest_tells_since_the_last_one_that_was_told(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    talk.say("Which ropes are due?").await;
    let (store, audience) = (&talk.store, &talk.audience.id);
    let monday = Utc.with_ymd_and_hms(2026, 4, 6, 9, 0, 0).unwrap();
    let week = |n: i64| monday + TimeDelta::weeks(n);
    let claim = async |n: i64| {
        let claimed = store.claim_digest(audience, week(n - 1), week(n)).await;
        claimed.unwrap().map(|it| (it.before, it.told_until))
    };

    // The first one cannot be posted, and is given back.
    assert_eq!(claim(1).await, Some((0, week(0))));
    store.release_digest(audience, week(1), 0).await.unwrap();
    // One process posts the second one, and is killed before it does.
    assert_eq!(claim(2).await, Some((0, week(0))));
    assert_eq!(claim(2).await, None);
    let second = week(2).timestamp_millis();
    assert_eq!(claim(3).await, Some((second, week(0))));
    store.record_told_digest(audience, week(3)).await.unwrap();
    let third = week(3).timestamp_millis();
    assert_eq!(claim(4).await, Some((third, week(3))));
    // A slow process that was told of nothing later changes nothing.
    store.record_told_digest(audience, week(2)).await.unwrap();
    let fourth = week(4).timestamp_millis();
    assert_eq!(claim(5).await, Some((fourth, week(3))));
}

async fn the_clock_of_a_server_is_known(lane: &GraphBackend) {
    let time = lane.open().await.server_time().await.unwrap();
    assert_eq!(time.is_none(), is_alone(lane));
    let difference = time.map(|time| (Utc::now() - time).abs());
    assert!(difference.is_none_or(|it| it < TimeDelta::minutes(1)));
}

async fn a_digest_that_was_claimed_in_the_future_holds_none_back(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    talk.say("Which ropes are due?").await;
    let (store, audience) = (&talk.store, &talk.audience.id);
    // Whole milliseconds, as they are kept.
    let now = DateTime::from_timestamp_millis(Utc::now().timestamp_millis()).unwrap();
    let claim = async |days: i64| {
        let at = now + TimeDelta::days(days);
        let claimed = store.claim_digest(audience, at - TimeDelta::days(1), at);
        claimed.await.unwrap().map(|it| it.told_until)
    };
    // While a clock was a year ahead.
    let ahead = TimeDelta::days(365);
    assert_eq!(claim(365).await, Some(now + ahead - TimeDelta::days(1)));
    let told = store.record_told_digest(audience, now + ahead).await;
    told.unwrap();
    assert_eq!(claim(0).await, Some(now - TimeDelta::days(1)));
    assert_eq!(claim(0).await, None);
}
