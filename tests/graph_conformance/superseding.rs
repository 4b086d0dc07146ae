//! Which turn supersedes which earlier one.

use std::sync::Arc;

use chrono::{TimeDelta, Utc};
use muninn::graph::items::{OwnItems, ReadTurn};
use muninn::graph::own_copy::OwnRecord;
use muninn::graph::{AttachedText, Forget, NewTurn, ReplacementKind, ResponseId, Turn};
use muninn_platform::{AudienceId, Delivered, EventId, Feedback, MessageId, Opinion};
use muninn_texts::Language;
use tokio::sync::mpsc;

use crate::lanes::{GraphBackend, StoreConversation};

on_every_store!(
    a_turn_is_linked_to_what_it_replaces,
    only_earlier_turns_of_the_audience_are_linked,
    what_is_forgotten_or_said_anew_takes_its_links_along,
    the_first_of_two_corrections_holds_and_outlives_an_edit,
    what_a_person_said_is_listed_and_sought_in_some_audiences,
    what_is_kept_of_a_person_is_handed_over_in_pages,
);

async fn link(talk: &StoreConversation, later: ResponseId, earlier: &[ResponseId]) -> usize {
    let earlier: Vec<(ResponseId, ReplacementKind)> = earlier
        .iter()
        .map(|id| (*id, ReplacementKind::Value))
        .collect();
    let linked = talk.store.supersede(&talk.audience.id, later, &earlier);
    linked.await.unwrap()
}

/// Returns the links: later and earlier.
async fn links(talk: &StoreConversation) -> Vec<(ResponseId, ResponseId)> {
    let links = talk.store.superseded(&talk.audience.id).await.unwrap();
    let mut links: Vec<_> = links.iter().map(|it| (it.later, it.earlier)).collect();
    links.sort();
    links
}

async fn a_turn_is_linked_to_what_it_replaces(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let first = talk.say("the rent is 900").await;
    let second = talk.beside().say("the rent is 950").await;
    let third = talk.say("the rent is 1000").await;
    assert_eq!(links(&talk).await, []);
    assert_eq!(link(&talk, second.id, &[first.id]).await, 1);
    assert_eq!(link(&talk, third.id, &[first.id, second.id]).await, 2);
    // Repeating it changes nothing.
    assert_eq!(link(&talk, second.id, &[first.id]).await, 1);
    let mut expected = [
        (second.id, first.id),
        (third.id, first.id),
        (third.id, second.id),
    ];
    expected.sort();
    assert_eq!(links(&talk).await, expected);
    assert_eq!(links(&StoreConversation::on(&talk.store)).await, []);
}

async fn only_earlier_turns_of_the_audience_are_linked(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let elsewhere = StoreConversation::on(&talk.store)
        .say("the rent is 800")
        .await;
    let first = talk.say("the rent is 900").await;
    let second = talk.say("the rent is 950").await;
    let others = [elsewhere.id, second.id, ResponseId::fresh()];
    assert_eq!(link(&talk, first.id, &others).await, 0);
    assert_eq!(link(&talk, elsewhere.id, &[first.id]).await, 0);
    assert_eq!(links(&talk).await, []);
}

async fn what_is_forgotten_or_said_anew_takes_its_links_along(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
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

/// Returns a note of a talk.
fn note(talk: &StoreConversation, author: &str, text: &str) -> NewTurn {
    let said = talk.turn(text);
    NewTurn {
        turn: Turn {
            embedding: said.turn.embedding,
            ..Turn::note(talk.session.as_str(), author, text)
        },
        ..said
    }
}

async fn the_first_of_two_corrections_holds_and_outlives_an_edit(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let store = &talk.store;
    let said = talk.say("the rent is 900").await;
    let elsewhere = StoreConversation::on(store).say("the rent is 800").await;
    let (first, second) = (
        Arc::new(note(&talk, "Ada", "it is 950")),
        Arc::new(note(&talk, "Bob", "it is 1000")),
    );
    let before = talk.store.turns_since(&talk.audience.id, 0, 10).await;
    for correction in [&first, &second, &first] {
        store.correct(correction, said.id).await.unwrap();
    }
    let after = talk.store.turns_since(&talk.audience.id, 0, 10).await;
    // Every index is notified.
    assert_eq!(after.unwrap().epoch, before.unwrap().epoch + 1);
    let item = store.item(said.id).await.unwrap().unwrap();
    assert_eq!(item.audience, talk.audience);
    assert_eq!(item.corrected.unwrap().event, first.turn.event);
    let kept = store.item(second.turn.id).await.unwrap().unwrap();
    assert!(kept.turn.is_note() && kept.corrected.is_none());
    assert_eq!(
        store.corrects(first.turn.id).await.unwrap(),
        [(talk.session.clone(), said.id)]
    );
    assert_eq!(store.corrects(second.turn.id).await.unwrap(), []);
    // Never across audiences.
    let third = Arc::new(note(&talk, "Eve", "it is nothing"));
    store.correct(&third, elsewhere.id).await.unwrap();
    assert_eq!(
        store.item(elsewhere.id).await.unwrap().unwrap().corrected,
        None
    );
    // The correction and the corrected item are edited.
    for (id, event) in [(first.turn.id, &first.turn.event), (said.id, &said.event)] {
        let mut anew = note(&talk, "Ada", "it is 960");
        anew.turn.id = id;
        anew.turn.event.clone_from(event);
        assert!(store.edit_message(&anew).await.unwrap());
    }
    let links = store.superseded(&talk.audience.id).await.unwrap();
    assert_eq!(links.len(), 1);
    assert_eq!((links[0].later, links[0].earlier), (first.turn.id, said.id));
    assert!(links[0].corrected_at.is_some());
    let read = [ReadTurn::from(&first.turn), ReadTurn::from(&said)];
    assert_eq!(store.find_changed_turns(&read).await.unwrap().forgotten, []);
    talk.forget(Forget::Turn(first.turn.id)).await;
    let gone = store.find_changed_turns(&read).await.unwrap();
    assert_eq!(gone.forgotten, [first.turn.id]);
    assert_eq!(store.item(said.id).await.unwrap().unwrap().corrected, None);
    let shape = store.chain_shape(&talk.session).await.unwrap();
    assert!(shape.is_whole(), "{shape:?}");
}

async fn what_a_person_said_is_listed_and_sought_in_some_audiences(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let (elsewhere, hidden) = (
        StoreConversation::on(&talk.store),
        StoreConversation::on(&talk.store),
    );
    let store = &talk.store;
    for (place, author, text) in [
        (&talk, "Ada", "Ärger mit dem Ofen"),
        (&elsewhere, "Ada", "the oven is warm"),
        (&hidden, "Ada", "the oven is secret"),
        (&talk, "Bob", "the oven is mine"),
        (&talk, "Ada", "bread"),
    ] {
        let note = Arc::new(note(place, author, text));
        store.append_all(&[], &[note]).await.unwrap();
    }
    let list = async |words: &[&str], audiences: &[&AudienceId], listed: &[ResponseId], most| {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        let own = OwnItems {
            accounts: &["Ada".to_owned()],
            audiences,
            words: &words,
            until: None,
            listed,
            only_notes: false,
            most,
        };
        let found = store.own_items(&own).await.unwrap();
        found.into_iter().map(|it| it.turn).collect::<Vec<Turn>>()
    };
    let both = [&talk.audience.id, &elsewhere.audience.id];
    let texts = |turns: &[Turn]| turns.iter().map(|it| it.input.clone()).collect::<Vec<_>>();
    let all = list(&[], &both, &[], 9).await;
    assert_eq!(
        texts(&all),
        ["bread", "the oven is warm", "Ärger mit dem Ofen"]
    );
    let first = list(&[], &both, &[], 1).await;
    let rest = list(&[], &both, &[first[0].id], 9).await;
    assert_eq!(texts(&rest), ["the oven is warm", "Ärger mit dem Ofen"]);
    assert_eq!(
        texts(&list(&["oven", "warm"], &both, &[], 9).await),
        ["the oven is warm"]
    );
    assert_eq!(
        texts(&list(&["ärger"], &both, &[], 9).await),
        ["Ärger mit dem Ofen"]
    );
    assert!(
        list(&["oven"], &[&talk.audience.id], &[], 9)
            .await
            .is_empty()
    );
    assert!(list(&["unicorn"], &both, &[], 9).await.is_empty());

    // A question is not a note. What a clock said that was far ahead is listed, too.
    let mut noted = note(&talk, "U1", "tea at four");
    noted.turn.created_at = Utc::now() + TimeDelta::days(180);
    store.append_all(&[], &[Arc::new(noted)]).await.unwrap();
    talk.say("Is there tea?").await;
    for (only_notes, expected) in [
        (false, &["tea at four", "Is there tea?"][..]),
        (true, &["tea at four"]),
    ] {
        let own = OwnItems {
            accounts: &["U1".to_owned()],
            audiences: &[&talk.audience.id],
            words: &[],
            until: None,
            listed: &[],
            only_notes,
            most: 9,
        };
        let found = store.own_items(&own).await.unwrap();
        let found: Vec<Turn> = found.into_iter().map(|it| it.turn).collect();
        assert_eq!(texts(&found), expected);
    }
}

async fn what_is_kept_of_a_person_is_handed_over_in_pages(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let elsewhere = StoreConversation::on(&talk.store);
    let store = &talk.store;
    let person = format!("U/{}", talk.session);
    let mut notes: Vec<Arc<NewTurn>> = Vec::new();
    for n in 0..1_200 {
        let place = [&talk, &elsewhere][n % 2];
        let (author, text) = match n % 10 {
            9 => ("Bob", format!("not theirs {n}")),
            _ => (&*person, format!("thing {n}")),
        };
        let mut note = note(place, author, &text);
        if n % 3 == 0 {
            note.turn.source = Turn::message("s", author, "").source;
        }
        notes.push(Arc::new(note));
    }
    for some in notes.chunks(400) {
        store.append_all(&[], some).await.unwrap();
    }
    let mut asked = talk.turn("What is in the file?");
    asked.turn.author.clone_from(&person);
    asked.turn.attached = vec![AttachedText {
        name: "a.txt".to_owned(),
        text: "soup".to_owned(),
    }];
    talk.append(&asked).await;
    let liked = talk.say("somebody else's").await;
    let message = MessageId::new(format!("{}/m", talk.session));
    store
        .set_delivered(liked.id, &Delivered(vec![message.clone()]))
        .await
        .unwrap();
    for (by, opinion) in [(&person, Opinion::Good), (&"bob".to_owned(), Opinion::Bad)] {
        let feedback = Feedback::Given {
            event: EventId::new(format!("{}/{by}", talk.session)),
            answer: message.clone(),
            person: by.clone(),
            opinion,
        };
        let audience = &talk.audience.id;
        store.keep_feedback(audience, &feedback).await.unwrap();
    }
    let (sender, mut receiver) = mpsc::channel(7);
    let take = async {
        let mut all = Vec::new();
        while let Some(record) = receiver.recv().await {
            all.push(record);
        }
        all
    };
    let (read, all) = tokio::join!(store.own_records(&person, sender), take);
    read.unwrap();
    assert_eq!(all.len(), 1_080 + 2);
    let OwnRecord::Asked {
        said,
        answer,
        files,
    } = &all[0]
    else {
        panic!("{:?}", all[0]);
    };
    assert_eq!(
        (&*said.text, &*said.place),
        ("What is in the file?", &*talk.audience.name)
    );
    assert!(answer.starts_with("answer to") && files[0].text == "soup");
    assert!(all[0].to_markdown(Language::English).contains("> soup\n"));
    let said = all
        .iter()
        .filter(|it| matches!(it, OwnRecord::Said(_)))
        .count();
    assert_eq!(said, 360);
    assert!(!format!("{all:?}").contains("not theirs"));
    let OwnRecord::Feedback {
        opinion, answer, ..
    } = &all[1_081]
    else {
        panic!("{:?}", all[1_081]);
    };
    assert_eq!((opinion, answer), (&Opinion::Good, &liked.id.to_string()));
    // A receiver that is dropped is no error.
    let (sender, receiver) = mpsc::channel(1);
    drop(receiver);
    store.own_records(&person, sender).await.unwrap();
}
