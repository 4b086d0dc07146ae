//! Pending messages, of several processes that share a graph.

use std::time::Duration;

use muninn::graph::claims::Claimed;
use muninn_platform::{
    Audience, AudienceId, Author, Body, ConversationId, EventId, IncomingMessage,
};
use uuid::Uuid;

use crate::lanes::GraphBackend;

on_every_store![
    a_pending_message_is_taken_over_by_one_when_its_lease_is_over,
    what_is_finished_is_gone_and_its_claim_is_done,
    who_serves_the_same_is_known_until_it_ends,
    what_one_may_have_answered_alone_is_left_to_it_first,
    what_a_command_came_to_is_kept,
];

const LONG: Duration = Duration::from_mins(10);

/// Returns a message of a platform that no other test has.
fn message() -> IncomingMessage {
    let id = Uuid::new_v4();
    let audience = Audience {
        id: AudienceId::new(format!("test/{id}")),
        platform: format!("test-{id}"),
        workspace: String::new(),
        name: "general".to_owned(),
        private_to: None,
    };
    let author = Author {
        id: "ada".to_owned(),
        name: "Ada".to_owned(),
        is_admin: false,
        time_zone: None,
        language: None,
    };
    let event = EventId::new(format!("test/{id}"));
    let conversation = ConversationId::new(format!("test/{id}"));
    let body = Body::Text("Is anybody there?".to_owned());
    IncomingMessage::new(event, conversation, audience, author, body)
}

fn is_alone(lane: &GraphBackend) -> bool {
    matches!(lane, GraphBackend::Embedded(_))
}

async fn a_pending_message_is_taken_over_by_one_when_its_lease_is_over(lane: &GraphBackend) {
    let stores = lane.open_many(8).await;
    let message = message();
    let platforms = [message.audience.platform.clone()];
    let first = &stores[0];
    assert_eq!(first.is_shared(), !is_alone(lane));
    first.accept(&message, "first", LONG).await.unwrap();
    let take = |store: usize, own| {
        let (holder, platforms) = (format!("holder/{store}"), &platforms);
        let store = &stores[store];
        async move {
            store
                .take_over(&holder, platforms, own, 32, LONG)
                .await
                .unwrap()
        }
    };
    assert_eq!(take(1, true).await, []);
    if is_alone(lane) {
        return;
    }
    // Another process that receives the same without being responsible leaves it alone.
    let events = [message.event.clone()];
    let second = &stores[1];
    second.accept(&message, "holder/1", LONG).await.unwrap();
    second.finish_events(&events, "holder/1").await.unwrap();
    assert!(second.is_claimed(&message.event, "holder/1").await.unwrap());
    assert!(!first.is_claimed(&message.event, "first").await.unwrap());
    // After a restart it has its own at once, and nobody else has them.
    let own = first.take_over("first", &platforms, true, 32, LONG).await;
    assert_eq!(own.unwrap(), std::slice::from_ref(&message));
    assert_eq!(take(1, false).await, []);

    first
        .renew_pending(&events, "first", Duration::ZERO)
        .await
        .unwrap();
    tokio::time::sleep(Duration::from_millis(20)).await;
    let taken = futures::future::join_all((1..8).map(|store| take(store, false))).await;
    let taken: Vec<IncomingMessage> = taken.into_iter().flatten().collect();
    assert_eq!(taken, std::slice::from_ref(&message));
    // A renewal by a process that does not hold it any more changes nothing.
    first
        .renew_pending(&events, "first", Duration::ZERO)
        .await
        .unwrap();
    assert_eq!(take(7, false).await, []);
    // Only of its own platforms, and not forever.
    for (number, store) in stores.iter().enumerate().take(8).skip(1) {
        let holder = format!("holder/{number}");
        store.sign_out(&holder).await.unwrap();
    }
    let elsewhere = ["elsewhere".to_owned()];
    let others = first.take_over("first", &elsewhere, true, 32, LONG).await;
    assert_eq!(others.unwrap(), []);
    let mut times = 0;
    while !first
        .take_over("first", &platforms, true, 32, LONG)
        .await
        .unwrap()
        .is_empty()
    {
        times += 1;
    }
    assert_eq!(times, 3, "of five");
    first.erase_pending(&message.event).await.unwrap();
    assert!(!second.is_claimed(&message.event, "nobody").await.unwrap());
}

async fn what_is_finished_is_gone_and_its_claim_is_done(lane: &GraphBackend) {
    let store = lane.open().await;
    let message = message();
    let platforms = [message.audience.platform.clone()];
    store.accept(&message, "one", LONG).await.unwrap();
    let claim = |holder| store.claim(&message.event, &message.conversation, holder, LONG);
    assert_eq!(claim("one").await.unwrap(), Claimed::Ours);
    let events = [message.event.clone(), EventId::new("test/never heard of")];
    store.finish_events(&events, "one").await.unwrap();
    let left = store.take_over("one", &platforms, true, 32, LONG).await;
    assert_eq!(left.unwrap(), []);
    if !is_alone(lane) {
        assert_eq!(claim("other").await.unwrap(), Claimed::Done);
    }
    // Too old to be answered.
    store.accept(&message, "one", LONG).await.unwrap();
    store.sweep_pending(LONG).await.unwrap();
    let left = store.take_over("one", &platforms, true, 32, LONG).await;
    assert_eq!(left.unwrap().len(), usize::from(!is_alone(lane)));
    store.finish_events(&events, "one").await.unwrap();
}

async fn who_serves_the_same_is_known_until_it_ends(lane: &GraphBackend) {
    let store = lane.open().await;
    let platform = format!("test-{}", Uuid::new_v4());
    let platforms = [platform.clone(), "terminal".to_owned()];
    let (one, other) = (format!("{platform}/1"), format!("{platform}/2"));
    let seen = |others: Vec<String>| others.contains(&platform);
    let sign_in = |holder, lasts| store.sign_in(holder, &platforms, &[], lasts);
    assert!(!seen(sign_in(&one, LONG).await.unwrap()));
    assert_eq!(seen(sign_in(&other, LONG).await.unwrap()), !is_alone(lane));
    assert_eq!(seen(sign_in(&one, LONG).await.unwrap()), !is_alone(lane));
    let served = async || seen(store.served_platforms().await.unwrap());
    assert_eq!(served().await, !is_alone(lane));
    store.sign_out(&other).await.unwrap();
    assert!(!seen(sign_in(&one, LONG).await.unwrap()));
    store.sign_out(&one).await.unwrap();
    assert!(!served().await);
}

async fn what_one_may_have_answered_alone_is_left_to_it_first(lane: &GraphBackend) {
    let store = lane.open().await;
    let message = message();
    let platform = message.audience.platform.clone();
    let platforms = [platform.clone()];
    let (dead, other) = (format!("{platform}/dead"), format!("{platform}/other"));
    let taken = || store.take_over(&other, &platforms, false, 32, LONG);
    let over = Duration::ZERO;
    // Its lease has expired, but its sign of life has not: it was alone, so its journal may have
    // the answer.
    store.sign_in(&dead, &platforms, &[], LONG).await.unwrap();
    store.accept(&message, &dead, over).await.unwrap();
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert_eq!(taken().await.unwrap(), []);
    if is_alone(lane) {
        return;
    }
    // It returns and learns of the other; until it confirms that, it may have answered.
    store.sign_in(&other, &platforms, &[], LONG).await.unwrap();
    let unheard = store.sign_in(&dead, &platforms, &platforms, LONG);
    assert!(unheard.await.unwrap().contains(&platform));
    assert_eq!(taken().await.unwrap(), []);
    // It would have waited for the graph, so anybody may take its messages.
    store.sign_in(&dead, &platforms, &[], LONG).await.unwrap();
    assert_eq!(taken().await.unwrap(), std::slice::from_ref(&message));
    // The same holds if it was silent for long.
    let events = [message.event.clone()];
    store.sign_out(&other).await.unwrap();
    store.sign_in(&dead, &platforms, &[], over).await.unwrap();
    store.finish_events(&events, &other).await.unwrap();
    store.accept(&message, &dead, over).await.unwrap();
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert_eq!(taken().await.unwrap(), std::slice::from_ref(&message));
    store.erase_pending(&message.event).await.unwrap();
    store.sign_out(&dead).await.unwrap();
}

async fn what_a_command_came_to_is_kept(lane: &GraphBackend) {
    let store = lane.open().await;
    let event = message().event;
    assert_eq!(store.outcome(&event).await.unwrap(), None);
    for outcome in ["began", "done"] {
        store.set_outcome(&event, outcome).await.unwrap();
        let kept = store.outcome(&event).await.unwrap();
        assert_eq!(kept.as_deref(), Some(outcome));
    }
    store.sweep_claims(LONG).await.unwrap();
    let kept = store.outcome(&event).await.unwrap();
    assert_eq!(kept.as_deref(), Some("done"));
}
