//! Looking through the conversations.

use chrono::{DateTime, TimeDelta, Utc};
use muninn::graph::browsing::{ConversationFilter, ListedConversation, Readable};

use crate::lanes::{Lane, Talk};

on_every_store!(
    conversations_are_listed_page_by_page,
    conversations_are_found_by_what_was_said,
    a_turn_knows_what_stands_beside_it,
);

fn day(number: i64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::days(20_000 + number)
}

/// Nothing but what is in the audience of this talk.
fn of(talk: &Talk) -> ConversationFilter {
    ConversationFilter {
        audience: talk.audience.id.as_str().to_owned(),
        ..ConversationFilter::default()
    }
}

fn ids(listed: &[ListedConversation]) -> Vec<&str> {
    listed.iter().map(|it| it.id.as_str()).collect()
}

/// Says something in a conversation of its own, on a day.
async fn says(talk: &Talk, text: &str, on: DateTime<Utc>) -> Talk {
    let beside = talk.beside();
    let mut new = beside.turn(text);
    new.turn.created_at = on;
    beside.append(&new).await;
    beside
}

async fn conversations_are_listed_page_by_page(lane: &Lane) {
    let talk = Talk::on(&lane.open().await);
    let store = &talk.store;
    // Of the same moment, too.
    let mut expected = Vec::new();
    for number in 0..7 {
        let said = says(&talk, &format!("number {number}"), day(number / 2)).await;
        expected.push((
            std::cmp::Reverse(day(number / 2)),
            said.session.as_str().to_owned(),
        ));
    }
    expected.sort();
    let expected: Vec<&str> = expected.iter().map(|(_, id)| id.as_str()).collect();
    let mut wanted = of(&talk);
    let mut found = Vec::new();
    loop {
        let page = store.conversations(&wanted, 3).await.unwrap();
        let Some(last) = page.last() else { break };
        wanted.behind = Some(last.position());
        found.extend(page);
    }
    assert_eq!(ids(&found), expected);
    assert_eq!((found[0].title.as_str(), found[0].turns), ("number 6", 1));
    let one = store.conversation(&found[0].id).await.unwrap();
    assert_eq!(one.as_ref(), Some(&found[0]));

    let of_days = ConversationFilter {
        since: Some(day(1)),
        until: Some(day(2)),
        ..of(&talk)
    };
    let found = store.conversations(&of_days, 10).await.unwrap();
    assert_eq!(ids(&found), expected[3..5]);
    let places = store.listed_channels(&Readable::Everything).await.unwrap();
    assert!(places.iter().any(|it| it.id == talk.audience.id.as_str()));
}

async fn conversations_are_found_by_what_was_said(lane: &Lane) {
    let talk = Talk::on(&lane.open().await);
    let store = &talk.store;
    let ferry = says(&talk, "The Ferry leaves at nine", day(1)).await;
    let dues = says(&talk, "Dues are paid on Monday", day(2)).await;
    let name = ferry.turn("").turn.author_name;
    for (words, person, expected) in [
        ("ferry", "", vec![&ferry]),
        ("NINE ferry", "", vec![&ferry]),
        ("ferry dues", "", vec![]),
        ("", &*name.to_uppercase(), vec![&dues, &ferry]),
        ("", "nobody of that name", vec![]),
    ] {
        let wanted = ConversationFilter {
            words: words.to_owned(),
            person: person.to_owned(),
            ..of(&talk)
        };
        let found = store.conversations(&wanted, 10).await.unwrap();
        let expected: Vec<&str> = expected.iter().map(|it| it.session.as_str()).collect();
        assert_eq!(ids(&found), expected, "{words} {person}");
    }
    let elsewhere = ConversationFilter {
        platform: "elsewhere".to_owned(),
        ..of(&talk)
    };
    assert!(
        store
            .conversations(&elsewhere, 10)
            .await
            .unwrap()
            .is_empty()
    );
    let none = talk.beside();
    assert_eq!(store.conversation(&none.session).await.unwrap(), None);
}

async fn a_turn_knows_what_stands_beside_it(lane: &Lane) {
    let talk = Talk::on(&lane.open().await);
    let store = &talk.store;
    let mut said = Vec::new();
    for text in ["one", "two", "three"] {
        said.push(talk.say(text).await.id);
    }
    let beside = async |at: usize| {
        let found = store.neighbours(said[at]).await.unwrap();
        (found.before, found.after)
    };
    assert_eq!(beside(0).await, (None, Some(said[1])));
    assert_eq!(beside(1).await, (Some(said[0]), Some(said[2])));
    assert_eq!(beside(2).await, (Some(said[1]), None));
    let worth = store.worth_of(&said).await.unwrap();
    assert_eq!(worth.len(), 3);
    assert!(
        worth
            .iter()
            .all(|it| (it.votes.good, it.votes.bad) == (0, 0))
    );
}
