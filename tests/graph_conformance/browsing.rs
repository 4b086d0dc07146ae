//! Browsing the conversations.

use chrono::{DateTime, TimeDelta, Utc};
use muninn::graph::browsing::{ConversationFilter, ListedConversation, Readable};
use muninn_platform::{AudienceId, Delivered, EventId, Feedback, MessageId, Opinion};

use crate::lanes::{GraphBackend, StoreConversation};

on_every_store!(
    conversations_are_listed_page_by_page,
    conversations_are_found_by_what_was_said,
    a_turn_knows_what_stands_beside_it,
    what_may_be_read_is_listed_and_nothing_else,
    conversations_are_found_by_what_people_think_of_them,
    what_answers_took_is_told_by_day,
);

fn day(number: i64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::days(20_000 + number)
}

/// Returns a filter for this talk's audience.
fn of(talk: &StoreConversation) -> ConversationFilter {
    ConversationFilter {
        audience: talk.audience.id.as_str().to_owned(),
        ..ConversationFilter::default()
    }
}

fn ids(listed: &[ListedConversation]) -> Vec<&str> {
    listed.iter().map(|it| it.id.as_str()).collect()
}

/// Appends a message in a conversation of its own, on a day.
async fn says(talk: &StoreConversation, text: &str, on: DateTime<Utc>) -> StoreConversation {
    let beside = talk.beside();
    let mut new = beside.turn(text);
    new.turn.created_at = on;
    beside.append(&new).await;
    beside
}

async fn conversations_are_listed_page_by_page(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let store = &talk.store;
    // Also with equal times.
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

async fn conversations_are_found_by_what_was_said(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
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

async fn a_turn_knows_what_stands_beside_it(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
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
    let worth = store.answer_costs(&said).await.unwrap();
    assert_eq!(worth.len(), 3);
    assert!(
        worth
            .iter()
            .all(|it| (it.votes.good, it.votes.bad) == (0, 0))
    );
}

async fn what_may_be_read_is_listed_and_nothing_else(lane: &GraphBackend) {
    let mut talk = StoreConversation::on(&lane.open().await);
    let shared = talk.say("for all").await;
    let other = StoreConversation::on(&talk.store);
    let elsewhere = other.say("for others").await;
    let owner = format!("{}/ann", talk.session);
    talk.audience.id = AudienceId::new(format!("{}/private/ann", talk.audience.id));
    talk.audience.private_to = Some(owner.clone());
    talk.session = talk.beside().session;
    let private = talk.say("for Ann").await;

    let store = &talk.store;
    let audiences = store
        .audiences_of(&[shared.id, elsewhere.id, private.id])
        .await
        .unwrap();
    let perhaps = async |account: &str, is_shared| {
        let platform = &talk.audience.platform;
        store
            .perhaps_readable(platform, account, is_shared)
            .await
            .unwrap()
    };
    let (hers, others) = (perhaps(&owner, true).await, perhaps("bob", true).await);
    assert!(hers.contains(&audiences[&private.id]) && hers.contains(&audiences[&shared.id]));
    assert!(!others.contains(&audiences[&private.id]) && others.contains(&audiences[&shared.id]));
    assert_eq!(perhaps(&owner, false).await, [talk.audience.id.clone()]);

    let wanted = ConversationFilter {
        readable: Readable::Audiences(vec![audiences[&private.id].clone()]),
        ..ConversationFilter::default()
    };
    let found = store.conversations(&wanted, 10).await.unwrap();
    assert_eq!(ids(&found), [talk.session.as_str()]);
    assert_eq!(found[0].private_to.as_ref(), Some(&owner));
    let places = store.listed_channels(&wanted.readable).await.unwrap();
    assert_eq!(places.len(), 1);
    let nothing = ConversationFilter {
        readable: Readable::Audiences(Vec::new()),
        ..ConversationFilter::default()
    };
    assert!(store.conversations(&nothing, 10).await.unwrap().is_empty());
    // A correction there stays there.
    let item = store.item(private.id).await.unwrap().unwrap();
    assert_eq!(item.audience.private_to, Some(owner));
}

async fn conversations_are_found_by_what_people_think_of_them(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let (liked, other) = (talk.beside(), talk.beside());
    let answer = liked.say("How nice").await;
    other.say("How dull").await;
    let message = MessageId::new(answer.id.to_string());
    let store = &talk.store;
    let sent = Delivered(vec![message.clone()]);
    store.set_delivered(answer.id, &sent).await.unwrap();
    let event = EventId::new(format!("vote/{}", answer.id));
    let given = Feedback::Given {
        event: event.clone(),
        answer: message,
        person: "ann".to_owned(),
        opinion: Opinion::Good,
    };
    store
        .keep_feedback(&talk.audience.id, &given)
        .await
        .unwrap();
    let found = async |opinion| {
        let wanted = ConversationFilter {
            opinion: Some(opinion),
            ..of(&talk)
        };
        let found = store.conversations(&wanted, 10).await.unwrap();
        found.into_iter().map(|it| it.id).collect::<Vec<_>>()
    };
    assert_eq!(
        found(Opinion::Good).await,
        std::slice::from_ref(&liked.session)
    );
    assert!(found(Opinion::Bad).await.is_empty());
    let withdrawn = Feedback::Withdrawn { event };
    store
        .keep_feedback(&talk.audience.id, &withdrawn)
        .await
        .unwrap();
    assert!(found(Opinion::Good).await.is_empty());
}

async fn what_answers_took_is_told_by_day(lane: &GraphBackend) {
    let mut talk = StoreConversation::on(&lane.open().await);
    talk.audience.name = talk.session.as_str().to_owned();
    let store = &talk.store;
    let mut first = talk.turn("one");
    first.turn.created_at = day(1);
    let first = talk.append(&first).await;
    says(&talk, "two", day(1)).await;
    let beside = talk.beside();
    let mut third = beside.turn("three");
    third.turn.created_at = day(3);
    third.recalled = vec![(first.id, 0.9)];
    beside.append(&third).await;
    let days = store.days_of_answers(day(0)).await.unwrap();
    let here = days.iter().filter(|it| it.place == talk.audience.name);
    let mut here: Vec<(&str, u64)> = here.map(|it| (it.day.as_str(), it.answers)).collect();
    here.sort_unstable();
    let name = |number| day(number).format("%Y-%m-%d").to_string();
    assert_eq!(here, [(name(1).as_str(), 2), (name(3).as_str(), 1)]);
    let recalled = store.days_of_recall(day(2)).await.unwrap();
    assert!(recalled.get(&name(3)).is_some_and(|answers| *answers >= 1));
    assert!(!recalled.contains_key(&name(1)));
}
