//! Saving: one chain, one pointer, each event once, even with concurrent writers.

use std::collections::BTreeSet;
use std::sync::Arc;

use muninn::graph::{Appended, ResponseId, Source, Summary, Trust, Turn};

use crate::lanes::{GraphBackend, StoreConversation, bare, ids};

on_every_store!(
    a_turn_comes_back_as_it_was_saved,
    turns_form_one_chain,
    an_event_makes_one_turn,
    one_event_at_the_same_time_makes_one_turn,
    eight_writers_on_one_session_make_one_chain,
    eight_writers_on_eight_sessions_share_one_counter,
    odd_text_comes_back_unchanged,
    a_dropped_call_breaks_nothing,
    a_summary_is_replaced_by_who_knows_the_last_one,
);

async fn a_turn_comes_back_as_it_was_saved(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let mut new = talk.turn("Who are Odin's ravens?");
    new.turn.rephrased_question = Some("What are the names of Odin's ravens?".to_owned());
    new.turn.cypher = Some("MATCH (r:Raven) RETURN r".to_owned());
    new.turn.volatile = true;
    new.turn.source = Source::Memory;
    let saved = talk.append(&new).await;
    assert_eq!(saved.position, 1);
    let context = talk.begin("another", 5, 0).await;
    assert_eq!(context.window, [bare(&saved)]);
    assert_eq!(context.news.turns, [saved]);

    let mut sparse = talk.turn("");
    sparse.turn.embedding = None;
    sparse.turn.model = None;
    sparse.turn.output = String::new();
    let saved = talk.append(&sparse).await;
    assert_eq!(talk.begin("another", 1, 1).await.news.turns, [saved]);
}

async fn turns_form_one_chain(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    assert!(talk.chain().await.is_empty());
    let mut said = Vec::new();
    for n in 0..6 {
        said.push(bare(&talk.say(&format!("question {n}")).await));
    }
    assert_eq!(talk.chain().await, said);
    let last = talk
        .store
        .explain(&talk.session, None)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(last.turn, said[5]);
}

async fn an_event_makes_one_turn(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let first = talk.turn("once");
    let saved = talk.append(&first).await;
    let mut again = talk.turn("twice");
    again.turn.event.clone_from(&first.turn.event);
    let Appended::Duplicate(found) = talk.try_append(&again).await.unwrap() else {
        panic!("it was saved twice");
    };
    assert_eq!(*found, bare(&saved));
    assert_eq!(talk.chain().await, [bare(&saved)]);
    let context = talk.begin(&first.turn.event, 5, 1).await;
    assert_eq!(context.duplicate, Some(bare(&saved)));
    // The same event in another conversation does not make a second turn either.
    let beside = talk.beside();
    let elsewhere = beside.try_append(&again).await.unwrap();
    assert!(matches!(elsewhere, Appended::Duplicate(_)));
    assert!(beside.chain().await.is_empty());
    let sessions = talk.store.sessions().await.unwrap();
    assert!(!sessions.iter().any(|one| one.id == beside.session.as_str()));
}

async fn one_event_at_the_same_time_makes_one_turn(lane: &GraphBackend) {
    let stores = lane.open_many(2).await;
    for _ in 0..10 {
        let one = StoreConversation::on(&stores[0]);
        let two = one.elsewhere(&stores[1]);
        let first = one.turn("a");
        let mut second = one.turn("b");
        second.turn.event.clone_from(&first.turn.event);
        let (a, b) = tokio::join!(one.try_append(&first), two.try_append(&second));
        let saved = [a.unwrap(), b.unwrap()]
            .iter()
            .filter(|outcome| matches!(outcome, Appended::Saved { .. }))
            .count();
        assert_eq!(saved, 1);
        assert_eq!(one.chain().await.len(), 1);
    }
}

/// Starts one writer for each talk and returns what each of them saved, in order.
async fn write_at_once(talks: Vec<StoreConversation>, turns: usize) -> Vec<Vec<Turn>> {
    let writers = talks.into_iter().enumerate().map(|(writer, talk)| {
        tokio::spawn(async move {
            let mut saved = Vec::new();
            for n in 0..turns {
                saved.push(talk.say(&format!("writer {writer} turn {n}")).await);
            }
            saved
        })
    });
    let mut all = Vec::new();
    for writer in writers.collect::<Vec<_>>() {
        all.push(writer.await.unwrap());
    }
    all
}

async fn eight_writers_on_one_session_make_one_chain(lane: &GraphBackend) {
    let stores = lane.open_many(8).await;
    let talk = StoreConversation::on(&stores[0]);
    let talks = stores.iter().map(|store| talk.elsewhere(store)).collect();
    let written = write_at_once(talks, 100).await;
    let chain = talk.chain().await;
    assert_eq!(chain.len(), 800);
    let positions: Vec<i64> = chain.iter().map(|turn| turn.position).collect();
    assert_eq!(positions, (1..=800).collect::<Vec<_>>());
    let all: BTreeSet<ResponseId> = written.iter().flat_map(|turns| ids(turns)).collect();
    assert_eq!(ids(&chain).into_iter().collect::<BTreeSet<_>>(), all);
}

async fn eight_writers_on_eight_sessions_share_one_counter(lane: &GraphBackend) {
    let stores = lane.open_many(8).await;
    let first = StoreConversation::on(&stores[0]);
    let talks: Vec<StoreConversation> = stores
        .iter()
        .map(|store| StoreConversation {
            store: Arc::clone(store),
            ..first.beside()
        })
        .collect();
    let chains: Vec<StoreConversation> = talks
        .iter()
        .map(|talk| talk.elsewhere(&talk.store))
        .collect();
    write_at_once(talks, 25).await;
    for talk in chains {
        assert_eq!(talk.chain().await.len(), 25);
    }
    let news = first
        .store
        .turns_since(&first.audience.id, 0, 1_000)
        .await
        .unwrap();
    let positions: Vec<i64> = news.turns.iter().map(|turn| turn.position).collect();
    assert_eq!(positions, (1..=200).collect::<Vec<_>>());
}

async fn odd_text_comes_back_unchanged(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let megabyte = "raven ".repeat(175_000);
    for text in [
        "'\"`\\ \\' \\u0027 \\u0060",
        "🐦‍⬛ ravens 🪶 e\u{301}",
        "before\u{0}after",
        "مرحبا \u{202e}abc\u{202c} שלום",
        "'}) DETACH DELETE n //",
        "$input {name: 1} \r\n\t\u{2028} MATCH (n) DETACH DELETE n",
        "{\"$date\": \"2026-01-02\"}",
        &megabyte,
    ] {
        let mut new = talk.turn(text);
        new.turn.output = text.to_owned();
        new.turn.author_name = text.chars().take(50).collect();
        new.turn.cypher = Some(text.chars().take(500).collect());
        let saved = talk.append(&new).await;
        let context = talk.begin("another", 1, saved.position - 1).await;
        assert_eq!(context.news.turns, [saved]);
    }
    assert_eq!(talk.chain().await.len(), 8);
}

async fn a_dropped_call_breaks_nothing(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    for n in 0..60_u64 {
        let new = talk.turn(&format!("{n}"));
        let patience = std::time::Duration::from_micros(n * 50);
        let _ = tokio::time::timeout(patience, talk.try_append(&new)).await;
    }
    let last = talk.say("the last").await;
    let chain = talk.chain().await;
    assert_eq!(chain.last().map(|turn| turn.id), Some(last.id));
}

async fn a_summary_is_replaced_by_who_knows_the_last_one(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let first = talk.say("a").await;
    let second = talk.say("b").await;
    let epoch = talk.begin("x", 1, 0).await.news.epoch;
    let guard = talk.sessions.lock(&talk.session).await;
    let summary = |turn: &Turn| Summary {
        text: format!("up to {}", turn.input),
        through: turn.id,
        trust: Trust::Documents,
    };
    let save = async |turn: &Turn, previous: Option<&Turn>, epoch| {
        let previous = previous.map(|turn| turn.id);
        let store = &talk.store;
        store
            .save_summary(&guard, &summary(turn), previous, epoch)
            .await
            .unwrap()
    };
    assert!(!save(&first, None, epoch + 1).await);
    assert!(save(&first, None, epoch).await);
    assert!(!save(&second, None, epoch).await);
    assert_eq!(talk.begin("x", 1, 0).await.summary, Some(summary(&first)));
    assert!(save(&second, Some(&first), epoch).await);
    assert_eq!(talk.begin("x", 1, 0).await.summary, Some(summary(&second)));
    let mut gone = first.clone();
    gone.id = ResponseId::fresh();
    assert!(!save(&gone, Some(&second), epoch).await);
}
