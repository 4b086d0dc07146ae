//! Reading: windows, news, the sources of an answer, the list of sessions.

use std::collections::BTreeMap;

use muninn::graph::transfer::GraphNode;
use serde_json::json;
use uuid::Uuid;

use crate::lanes::{GraphBackend, StoreConversation, bare, ids};

on_every_store!(
    nothing_is_there_before_the_first_turn,
    a_window_is_the_last_turns_in_order,
    news_are_what_was_not_seen_yet,
    news_come_in_portions,
    a_chain_can_be_read_from_anywhere,
    an_answer_can_be_explained,
    sessions_are_listed_by_their_last_turn,
    health_tells_of_constraints_and_numbers,
);

async fn nothing_is_there_before_the_first_turn(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let context = talk.begin("event", 5, 0).await;
    assert!(context.window.is_empty() && context.news.turns.is_empty());
    assert!(context.duplicate.is_none() && context.summary.is_none());
    assert_eq!((context.news.epoch, context.news.through), (0, 0));
    assert!(
        talk.store
            .explain(&talk.session, None)
            .await
            .unwrap()
            .is_none()
    );
    assert!(
        talk.store
            .chain(&talk.session, None, 10)
            .await
            .unwrap()
            .is_empty()
    );
}

async fn a_window_is_the_last_turns_in_order(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let mut said = Vec::new();
    for n in 0..70 {
        let mut new = talk.turn(&format!("{n}"));
        // Clocks may be wrong; the chain's order is not.
        new.turn.created_at -= chrono::Duration::hours(n);
        said.push(bare(&talk.append(&new).await));
    }
    for window in [0, 1, 5, 64] {
        let context = talk.begin("event", window, 70).await;
        assert_eq!(context.window, said[70 - window..], "{window}");
    }
    assert_eq!(talk.begin("event", 1_000, 70).await.window, said[6..]);
}

async fn news_are_what_was_not_seen_yet(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let beside = talk.beside();
    let stranger = StoreConversation::on(&talk.store);
    let one = talk.say("one").await;
    let two = beside.say("two").await;
    stranger.say("not for this audience").await;
    let news = talk.begin("event", 5, 0).await.news;
    assert_eq!(ids(&news.turns), [one.id, two.id]);
    assert_eq!((news.through, news.more), (2, false));
    assert_eq!(ids(&talk.begin("event", 5, 1).await.news.turns), [two.id]);
    let nothing = talk.begin("event", 5, 2).await.news;
    assert!(nothing.turns.is_empty());
    assert_eq!(nothing.through, 2);
}

async fn news_come_in_portions(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let mut said = Vec::new();
    for n in 0..25 {
        said.push(talk.say(&format!("{n}")).await);
    }
    for turn in &said[3..20] {
        talk.forget(muninn::graph::Forget::Turn(turn.id)).await;
    }
    let mut seen = 0;
    let mut found = Vec::new();
    loop {
        let news = talk
            .store
            .turns_since(&talk.audience.id, seen, 2)
            .await
            .unwrap();
        assert!(news.turns.len() <= 2);
        seen = news.through;
        found.extend(ids(&news.turns));
        if !news.more {
            break;
        }
    }
    let left: Vec<_> = said[..3]
        .iter()
        .chain(&said[20..])
        .map(|turn| turn.id)
        .collect();
    assert_eq!(found, left);
}

async fn a_chain_can_be_read_from_anywhere(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let mut said = Vec::new();
    for n in 0..140 {
        said.push(bare(&talk.say(&format!("{n}")).await));
    }
    let store = &talk.store;
    let all = store.chain(&talk.session, None, 1_000).await.unwrap();
    assert_eq!(all, said);
    assert_eq!(
        store.chain(&talk.session, None, 3).await.unwrap(),
        said[..3]
    );
    let after = Some(said[2].id);
    assert_eq!(
        store.chain(&talk.session, after, 130).await.unwrap(),
        said[3..133]
    );
    assert!(
        store
            .chain(&talk.session, Some(said[139].id), 5)
            .await
            .unwrap()
            .is_empty()
    );
}

async fn an_answer_can_be_explained(lane: &GraphBackend) {
    let store = lane.open().await;
    let talk = StoreConversation::on(&store);
    let tag = Uuid::new_v4().to_string();
    let node = |name: &str| GraphNode {
        id: String::new(),
        labels: vec!["Raven".to_owned()],
        properties: [
            ("name", json!(name)),
            ("tag", json!(tag)),
            ("age", json!(2.0)),
        ]
        .map(|(key, value)| (key.to_owned(), value))
        .into_iter()
        .collect(),
    };
    let sources = store
        .create_nodes(vec![node("Huginn"), node("Muninn")])
        .await
        .unwrap();
    let older = talk.say("Who flies?").await;
    let oldest = talk.beside().say("Who sees?").await;
    let stranger = StoreConversation::on(&store).say("another audience").await;
    let mut new = talk.turn("Who are they?");
    new.context = sources.clone();
    new.context.push(sources[0].clone());
    new.recalled = vec![(oldest.id, 0.25), (older.id, 0.75), (stranger.id, 0.9)];
    let saved = talk.append(&new).await;
    for response in [None, Some(saved.id)] {
        let found = store
            .explain(&talk.session, response)
            .await
            .unwrap()
            .unwrap();
        assert_eq!(found.turn, bare(&saved));
        assert_eq!(
            found.recalled,
            [(0.75, bare(&older)), (0.25, bare(&oldest))]
        );
        let nodes: BTreeMap<String, _> = found
            .context
            .into_iter()
            .map(|node| (node.properties["name"].to_string(), node))
            .collect();
        assert_eq!(nodes.len(), 2);
        let huginn = &nodes["\"Huginn\""];
        assert_eq!(huginn.labels, ["Raven"]);
        assert_eq!(
            serde_json::Value::Object(huginn.properties.clone()),
            json!({"name": "Huginn", "tag": tag, "age": 2.0})
        );
    }
    // Only recalled turns, and no knowledge.
    let mut new = talk.turn("again");
    new.recalled = vec![(saved.id, 0.5)];
    talk.append(&new).await;
    let found = store.explain(&talk.session, None).await.unwrap().unwrap();
    assert_eq!(found.recalled.len(), 1);
    assert!(found.context.is_empty());
}

async fn sessions_are_listed_by_their_last_turn(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let later = talk.beside();
    let first = talk
        .say("  What\n do ravens   eat, and when, and how much of it in winter or summer? ")
        .await;
    later.say("b").await;
    let last = later.say("c").await;
    let all = talk.store.sessions().await.unwrap();
    let mine: Vec<_> = all
        .iter()
        .filter(|one| one.audience == talk.audience.id.as_str())
        .collect();
    assert_eq!(mine.len(), 2);
    assert_eq!(mine[0].id, later.session.as_str());
    assert_eq!((mine[0].turns, mine[0].last_at), (2, Some(last.created_at)));
    assert_eq!(mine[1].created_at, first.created_at);
    assert_eq!(
        mine[1].title.as_deref(),
        Some("What do ravens eat, and when, and how much of it in winter o")
    );
}

async fn health_tells_of_constraints_and_numbers(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    talk.say("a").await;
    let health = talk.store.health().await.unwrap();
    assert_eq!(health.missing, [""; 0]);
    assert_eq!(health.schema_version, 2);
    assert!(health.turns >= 1 && health.sessions >= 1);
    assert!(health.engine.contains('.'), "{}", health.engine);
    assert_eq!(health.warnings, [""; 0]);
}
