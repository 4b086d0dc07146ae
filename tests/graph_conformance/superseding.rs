//! Which turn replaces which earlier one.

use muninn::graph::{Forget, How, ResponseId};

use crate::lanes::{Lane, Talk};

on_every_store!(
    a_turn_is_linked_to_what_it_replaces,
    only_earlier_turns_of_the_audience_are_linked,
    what_is_forgotten_or_said_anew_takes_its_links_along,
);

async fn link(talk: &Talk, later: ResponseId, earlier: &[ResponseId]) -> usize {
    let earlier: Vec<(ResponseId, How)> = earlier.iter().map(|id| (*id, How::Value)).collect();
    let linked = talk.store.supersede(&talk.audience.id, later, &earlier);
    linked.await.unwrap()
}

/// Later and earlier.
async fn links(talk: &Talk) -> Vec<(ResponseId, ResponseId)> {
    let mut links = talk.store.superseded(&talk.audience.id).await.unwrap();
    links.sort();
    links
}

async fn a_turn_is_linked_to_what_it_replaces(lane: &Lane) {
    let talk = Talk::on(&lane.open().await);
    let first = talk.say("the rent is 900").await;
    let second = talk.beside().say("the rent is 950").await;
    let third = talk.say("the rent is 1000").await;
    assert_eq!(links(&talk).await, []);
    assert_eq!(link(&talk, second.id, &[first.id]).await, 1);
    assert_eq!(link(&talk, third.id, &[first.id, second.id]).await, 2);
    // Once more changes nothing.
    assert_eq!(link(&talk, second.id, &[first.id]).await, 1);
    let mut expected = [
        (second.id, first.id),
        (third.id, first.id),
        (third.id, second.id),
    ];
    expected.sort();
    assert_eq!(links(&talk).await, expected);
    assert_eq!(links(&Talk::on(&talk.store)).await, []);
}

async fn only_earlier_turns_of_the_audience_are_linked(lane: &Lane) {
    let talk = Talk::on(&lane.open().await);
    let elsewhere = Talk::on(&talk.store).say("the rent is 800").await;
    let first = talk.say("the rent is 900").await;
    let second = talk.say("the rent is 950").await;
    let others = [elsewhere.id, second.id, ResponseId::fresh()];
    assert_eq!(link(&talk, first.id, &others).await, 0);
    assert_eq!(link(&talk, elsewhere.id, &[first.id]).await, 0);
    assert_eq!(links(&talk).await, []);
}

async fn what_is_forgotten_or_said_anew_takes_its_links_along(lane: &Lane) {
    let talk = Talk::on(&lane.open().await);
    let first = talk.say("the rent is 900").await;
    let second = talk.say("the rent is 950").await;
    let third = talk.say("the rent is 1000").await;
    link(&talk, second.id, &[first.id]).await;
    link(&talk, third.id, &[second.id]).await;
    talk.forget(Forget::Turn(third.id)).await;
    assert_eq!(links(&talk).await, [(second.id, first.id)]);
    let mut anew = talk.turn("the rent is not known");
    anew.turn.id = second.id;
    anew.turn.event = second.event;
    let guard = talk.sessions.lock(&talk.session).await;
    assert!(talk.store.replace(&guard, &anew).await.unwrap());
    drop(guard);
    assert_eq!(links(&talk).await, []);
}
