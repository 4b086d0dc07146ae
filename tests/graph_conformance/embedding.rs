//! Vectors: their embedders, stale ones, and replacing them.

use muninn::graph::{EmbedderFilter, Embedding, Forget, Source, Turn};

use crate::lanes::{GraphBackend, StoreConversation, bare, ids};

on_every_store!(
    stale_vectors_are_found_by_audience,
    vectors_are_replaced_and_end_the_epoch,
    what_was_forgotten_meanwhile_gets_no_vector,
    a_text_that_was_edited_meanwhile_gets_no_vector_of_the_old_one,
    stale_vectors_come_in_stretches,
);

/// The embedder of [`StoreConversation::turn`].
const OLD: &str = "test-4";
const NEW: &str = "test-3";

async fn stale(talk: &StoreConversation) -> Vec<Turn> {
    let stale = talk
        .store
        .stale_embeddings(Some(NEW), &talk.audience.id, 0, 1_000);
    let found = stale.await.unwrap();
    assert!(!found.more);
    found.turns
}

/// Returns the embedders of this audience, with their numbers of turns.
async fn embedders(
    talk: &StoreConversation,
    filter: EmbedderFilter<'_>,
) -> Vec<(Option<String>, usize)> {
    let all = talk.store.embedders(filter).await.unwrap();
    let mine = all.into_iter().filter(|by| by.audience == talk.audience.id);
    let mut mine: Vec<_> = mine.map(|by| (by.embedder, by.turns)).collect();
    mine.sort();
    mine
}

async fn set(talk: &StoreConversation, vectors: &[(&Turn, Option<Vec<f32>>)]) -> usize {
    let set = talk.store.set_embeddings(NEW, &talk.audience.id, vectors);
    set.await.unwrap()
}

async fn stale_vectors_are_found_by_audience(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    StoreConversation::on(&talk.store)
        .say("another audience")
        .await;
    let old = talk.say("old").await;
    let mut new = talk.turn("new");
    new.turn.embedding = Some(Embedding {
        embedder: NEW.to_owned(),
        vector: vec![1.0, 0.0, 0.0],
    });
    talk.append(&new).await;
    let beside = talk.beside();
    let mut missing = beside.turn("without");
    missing.turn.embedding = None;
    let missing = beside.append(&missing).await;
    let none = talk
        .store
        .stale_embeddings(None, &talk.audience.id, 0, 1_000);
    assert_eq!(ids(&none.await.unwrap().turns), [missing.id]);
    let mut volatile = talk.turn("volatile");
    volatile.turn.volatile = true;
    talk.append(&volatile).await;
    for question in ["asked? \n", "asked?\u{2003}", "問い？", "سؤال؟"] {
        let mut asked = talk.turn(question);
        asked.turn.source = Source::Memory;
        talk.append(&asked).await;
    }
    let mut told = talk.turn("told");
    told.turn.source = Source::Memory;
    let told = talk.append(&told).await;
    let expected = [bare(&old), bare(&missing), bare(&told)];
    assert_eq!(stale(&talk).await, expected);
    let counts = [
        (None, 1),
        (Some(NEW.to_owned()), 1),
        (Some(OLD.to_owned()), 2),
    ];
    assert_eq!(embedders(&talk, EmbedderFilter::All).await, counts);
    let [missing, new, old] = counts.map(|count| vec![count]);
    for (filter, expected) in [
        (EmbedderFilter::Missing, missing),
        (EmbedderFilter::Named(NEW), new),
        (EmbedderFilter::Named(OLD), old),
        (EmbedderFilter::Named("test"), Vec::new()),
    ] {
        assert_eq!(embedders(&talk, filter).await, expected, "{filter:?}");
    }
    let names = talk.store.embedder_names().await.unwrap();
    assert!(
        names.is_sorted()
            && [NEW, OLD]
                .iter()
                .all(|name| names.contains(&(*name).to_owned())),
        "{names:?}"
    );
}

async fn vectors_are_replaced_and_end_the_epoch(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let (one, empty) = (talk.say("one").await, talk.say("🎉").await);
    let other = talk.say("other").await;
    let epoch = talk.begin("event", 5, 0).await.news.epoch;
    let vectors = [(&one, Some(vec![0.5, 0.5, -0.5])), (&empty, None)];
    assert_eq!(set(&talk, &vectors).await, 2);
    let news = talk.begin("event", 5, 0).await.news;
    assert!(news.epoch > epoch, "{} {epoch}", news.epoch);
    let replaced = Embedding {
        embedder: NEW.to_owned(),
        vector: vec![0.5, 0.5, -0.5],
    };
    assert_eq!(news.turns[0].embedding, Some(replaced));
    assert_eq!(news.turns[1].embedding, None);
    assert_eq!(news.turns[2], other);
    assert_eq!(ids(&stale(&talk).await), [other.id]);
    assert_eq!(bare(&news.turns[0]), bare(&one));
    assert_eq!(talk.chain().await.len(), 3);
}

async fn what_was_forgotten_meanwhile_gets_no_vector(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let stranger = StoreConversation::on(&talk.store)
        .say("another audience")
        .await;
    let (gone, left) = (talk.say("gone").await, talk.say("left").await);
    talk.forget(Forget::Turn(gone.id)).await;
    let vector = || Some(vec![1.0, 0.0, 0.0]);
    let vectors = [(&gone, vector()), (&left, vector()), (&stranger, vector())];
    assert_eq!(set(&talk, &vectors).await, 1);
    assert_eq!(talk.begin("event", 5, 0).await.news.turns.len(), 1);
    assert_eq!(stale(&talk).await, []);
}

async fn a_text_that_was_edited_meanwhile_gets_no_vector_of_the_old_one(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let edited = talk.say("edited").await;
    let before = Turn {
        input: "as it was".to_owned(),
        ..edited.clone()
    };
    assert_eq!(set(&talk, &[(&before, Some(vec![1.0, 0.0, 0.0]))]).await, 0);
    assert_eq!(ids(&stale(&talk).await), [edited.id]);
}

async fn stale_vectors_come_in_stretches(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let mut said = Vec::new();
    for n in 0..7 {
        said.push(talk.say(&format!("{n}")).await);
    }
    let third = [(&said[2], None)];
    assert_eq!(set(&talk, &third).await, 1);
    let (mut seen, mut stretches) = (0, Vec::new());
    loop {
        let stale = talk
            .store
            .stale_embeddings(Some(NEW), &talk.audience.id, seen, 3);
        let found = stale.await.unwrap();
        stretches.push(ids(&found.turns));
        seen = found.through;
        if !found.more {
            break;
        }
    }
    let all = ids(&said);
    assert_eq!(stretches, [&all[..2], &all[3..6], &all[6..]]);
}
