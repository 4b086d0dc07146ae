//! What people say to one another, on the chains of their threads.

use std::sync::Arc;

use chrono::{TimeZone as _, Utc};
use muninn::graph::answers::WhichResponse;
use muninn::graph::{Forget, NewTurn, Source, Turn};
use muninn::memory::Archive;
use muninn::memory::journal::Journal;

use crate::lanes::{Lane, Talk, ids};

on_every_store!(
    messages_of_many_threads_are_kept_once,
    what_is_about_answers_does_not_see_messages,
    what_was_only_heard_can_still_be_answered,
    messages_wait_behind_what_waits_of_their_thread,
);

/// Something said by somebody to others in a talk.
pub(crate) fn said(talk: &Talk, author: &str, text: &str) -> NewTurn {
    let message = Turn::message(talk.session.as_str(), author, text);
    let heard = talk.turn(text);
    NewTurn {
        turn: Turn {
            event: format!("event/{}", message.id),
            embedding: heard.turn.embedding,
            link: Some("https://chat.test/2".to_owned()),
            ..message
        },
        ..heard
    }
}

pub(crate) fn archive(talk: &Talk, folder: &std::path::Path) -> Archive {
    Archive::new(
        Arc::clone(&talk.store),
        Journal::open(folder).unwrap(),
        Arc::clone(&talk.sessions),
        8,
    )
}

async fn messages_of_many_threads_are_kept_once(lane: &Lane) {
    let talk = Talk::on(&lane.open().await);
    let (beside, elsewhere) = (talk.beside(), Talk::on(&talk.store));
    let folder = tempfile::tempdir().unwrap();
    let archive = archive(&talk, folder.path());
    let asked = talk.say("Who is on call?").await;
    let mut messages: Vec<NewTurn> = (0..900)
        .map(|n| {
            let place = [&talk, &beside, &elsewhere][n % 3];
            said(place, "Priya", &format!("message {n}"))
        })
        .collect();
    messages[3].turn.reply_to = Some(messages[0].turn.event.clone());
    archive.keep_messages(messages.clone()).await.unwrap();
    // Again, with one more, and one of them twice.
    messages.extend([said(&talk, "Tom", "the last"), messages[0].clone()]);
    archive.keep_messages(messages.clone()).await.unwrap();
    assert_eq!(archive.waiting(), 0);
    for place in [&talk, &beside, &elsewhere] {
        let shape = talk.store.chain_shape(&place.session).await.unwrap();
        assert!(shape.is_whole(), "{shape:?}");
    }
    let chain = talk.chain().await;
    assert_eq!(chain.len(), 302);
    assert_eq!(chain[0].id, asked.id);
    assert_eq!(chain[1].input, "message 0");
    assert_eq!(chain[1].source, Source::Message);
    assert_eq!(chain[1].output, "");
    assert_eq!(chain[1].link.as_deref(), Some("https://chat.test/2"));
    assert_eq!(chain[2].reply_to.as_ref(), Some(&messages[0].turn.event));
    assert_eq!(chain[301].input, "the last");
    let news = talk.store.turns_since(&talk.audience.id, 0, 2_000).await;
    let news = news.unwrap();
    assert_eq!(news.turns.len(), 602);
    assert!(news.turns.iter().all(|turn| turn.embedding.is_some()));
    let theirs = talk
        .store
        .turns_since(&elsewhere.audience.id, 0, 2_000)
        .await;
    assert_eq!(theirs.unwrap().turns.len(), 300);
    // And on it goes.
    assert_eq!(talk.say("Thanks").await.position, 603);
}

async fn what_is_about_answers_does_not_see_messages(lane: &Lane) {
    let talk = Talk::on(&lane.open().await);
    let store = &talk.store;
    let folder = tempfile::tempdir().unwrap();
    let archive = archive(&talk, folder.path());
    let last = || store.find_response(WhichResponse::LastIn(&talk.session));
    let before = said(&talk, "Snorri", "Anybody here?");
    archive.keep_messages(vec![before.clone()]).await.unwrap();
    assert_eq!(last().await.unwrap(), None);
    assert!(!archive.takes_part(&talk.session).await);
    assert!(store.explain(&talk.session, None).await.unwrap().is_none());
    let mut asked = talk.turn("Who is on call?");
    asked.recalled = vec![(before.turn.id, 0.7)];
    let asked = talk.append(&asked).await;
    let mut after: Vec<NewTurn> = (0..20).map(|n| said(&talk, "U1", &n.to_string())).collect();
    for message in &mut after {
        message.turn.author = "U1".to_owned();
    }
    archive.keep_messages(after).await.unwrap();
    let sought = Some((talk.session.clone(), asked.id));
    let audience = &talk.audience.id;
    for which in [
        WhichResponse::LastIn(&talk.session),
        WhichResponse::LastOf(audience),
        WhichResponse::LastTo(audience, "U1"),
    ] {
        assert_eq!(store.find_response(which).await.unwrap(), sought);
    }
    assert!(archive.takes_part(&talk.session).await);
    assert_eq!(
        ids(&store.last_turns(audience, 9).await.unwrap()),
        [asked.id]
    );
    assert_eq!(store.memory_stats(audience).await.unwrap().turns, 1);
    let since = Utc.with_ymd_and_hms(2020, 1, 1, 0, 0, 0).unwrap();
    let usage = store.usage("U1", audience, since).await.unwrap();
    assert_eq!((usage.person.turns.min(1), usage.audience.turns), (1, 1));
    let own = store.own_sessions("U1", talk.session.as_str(), 9).await;
    let own = own.unwrap();
    assert_eq!((own.len(), own[0].turns), (1, 1));
    assert_eq!(own[0].title, "Who is on call?");
    let overview = store.sessions().await.unwrap();
    let mine = overview.iter().find(|it| it.id == talk.session.as_str());
    let mine = mine.unwrap();
    assert_eq!(
        (mine.turns, mine.title.as_deref()),
        (1, Some("Who is on call?"))
    );
    let following = store.answers_after(&talk.session, None, 9).await.unwrap();
    assert_eq!(ids(&following), [asked.id]);
    let following = store.answers_after(&talk.session, Some(asked.id), 9);
    assert!(following.await.unwrap().is_empty());
    // What it was made from is a message, and is shown as one.
    let why = store.explain(&talk.session, None).await.unwrap().unwrap();
    assert_eq!(why.turn.id, asked.id);
    assert!(why.recalled[0].1.is_message());
    // The window has both, as far back as its answers.
    let window = talk.begin("another", 4, 0).await.window;
    assert_eq!(window.len(), 22);
    // The title is a question to the bot, also when the first is forgotten.
    let next = talk.say("And who after that?").await;
    talk.forget(Forget::Turn(asked.id)).await;
    let overview = store.sessions().await.unwrap();
    let mine = overview.iter().find(|it| it.id == talk.session.as_str());
    assert_eq!(mine.unwrap().title.as_deref(), Some("And who after that?"));
    talk.forget(Forget::Turn(next.id)).await;
    let overview = store.sessions().await.unwrap();
    let mine = overview.iter().find(|it| it.id == talk.session.as_str());
    assert_eq!(mine.unwrap().title, None);
    assert!(
        !self::archive(&talk, tempfile::tempdir().unwrap().path())
            .takes_part(&talk.session)
            .await
    );
}

async fn what_was_only_heard_can_still_be_answered(lane: &Lane) {
    let talk = Talk::on(&lane.open().await);
    let folder = tempfile::tempdir().unwrap();
    let archive = archive(&talk, folder.path());
    let mut messages: Vec<NewTurn> = ["one", "two", "three"]
        .map(|text| said(&talk, "Priya", text))
        .into();
    archive.keep_messages(messages.clone()).await.unwrap();
    let event = messages[1].turn.event.clone();
    assert_eq!(talk.begin(&event, 8, 0).await.duplicate, None);
    let mut asked = talk.turn("two, @muninn?");
    asked.turn.event.clone_from(&event);
    let asked = talk.append(&asked).await;
    let duplicate = talk.begin(&event, 8, 0).await.duplicate.unwrap();
    assert_eq!(duplicate.id, asked.id);
    let texts = |chain: Vec<Turn>| chain.into_iter().map(|it| it.input).collect::<Vec<_>>();
    assert_eq!(texts(talk.chain().await), ["one", "three", "two, @muninn?"]);
    let shape = talk.store.chain_shape(&talk.session).await.unwrap();
    assert!(shape.is_whole(), "{shape:?}");
    // Heard again, it stays what it is.
    archive.keep_messages(messages.clone()).await.unwrap();
    assert_eq!(texts(talk.chain().await), ["one", "three", "two, @muninn?"]);
    // The same of what waited in the journal.
    let mut late = talk.turn("three, @muninn?");
    late.turn
        .event
        .clone_from(&messages.pop().unwrap().turn.event);
    let guard = talk.sessions.lock(&talk.session).await;
    let late = [Arc::new(late)];
    talk.store.append_all(&[guard], &late).await.unwrap();
    assert_eq!(
        texts(talk.chain().await),
        ["one", "two, @muninn?", "three, @muninn?"]
    );
}

async fn messages_wait_behind_what_waits_of_their_thread(lane: &Lane) {
    let talk = Talk::on(&lane.open().await);
    let beside = talk.beside();
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(folder.path()).unwrap();
    let waiting = talk.turn("asked while the graph was away");
    journal.keep(waiting.clone()).await.unwrap();
    let archive = Archive::new(
        Arc::clone(&talk.store),
        journal,
        Arc::clone(&talk.sessions),
        8,
    );
    let messages = vec![
        said(&talk, "Priya", "said behind it"),
        said(&beside, "Tom", "said elsewhere"),
        said(&talk, "Tom", "and more"),
    ];
    archive.keep_messages(messages.clone()).await.unwrap();
    archive.keep_messages(messages).await.unwrap();
    assert_eq!(archive.waiting(), 3);
    assert_eq!(beside.chain().await.len(), 1);
    assert!(talk.chain().await.is_empty());
    assert_eq!(archive.replay().await.unwrap(), 3);
    let chain: Vec<String> = talk.chain().await.into_iter().map(|it| it.input).collect();
    assert_eq!(
        chain,
        [
            "asked while the graph was away",
            "said behind it",
            "and more"
        ]
    );
    assert_eq!(talk.chain().await[0].id, waiting.turn.id);
}
