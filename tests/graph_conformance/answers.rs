//! Existing answers: delivered, replaced, rated, counted.

use chrono::{TimeDelta, Utc};
use muninn::graph::answers::{Spent, Votes, WhichResponse, WhichSessions};
use muninn::graph::trace::{ModelCall, ModelStep};
use muninn::graph::{AttachedText, Embedding, Forget, NewTurn, Outcome, ResponseId, Source, Turn};
use muninn_platform::{AudienceId, Delivered, EventId, Feedback, MessageId, Opinion};

use crate::lanes::{GraphBackend, StoreConversation, bare, ids};

on_every_store!(
    what_went_out_is_known,
    files_are_read_with_the_window_only,
    a_replaced_turn_keeps_its_place,
    what_is_not_there_is_not_replaced,
    what_quoted_a_replaced_turn_is_blotted_out,
    feedback_is_counted_and_taken_back,
    what_an_audience_spent_is_counted,
    sessions_of_an_audience_are_found,
    an_answer_is_found_by_its_message_and_counted,
    own_sessions_and_turns_are_found,
    of_two_revisions_the_newer_stays,
    what_became_of_answers_is_read_by_stretches,
);

async fn own_sessions_and_turns_are_found(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let other = talk.beside();
    let (audience, prefix) = (talk.audience.id.clone(), talk.session.as_str());
    let person = talk.turn("whose?").turn.author;
    let own = async |person: &str, prefix: &str, most| {
        talk.store.own_sessions(person, prefix, most).await.unwrap()
    };
    let last_to = |person| {
        talk.store
            .find_response(WhichResponse::LastTo(&audience, person))
    };
    assert_eq!(own(&person, prefix, 25).await, []);
    assert_eq!(last_to(&person).await.unwrap(), None);
    talk.say("first").await;
    let last = talk.say("second").await;
    let elsewhere = other.say("elsewhere").await;

    let found = own(&person, prefix, 25).await;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].conversation, talk.session);
    assert_eq!((found[0].title.as_str(), found[0].turns), ("first", 2));
    assert_eq!(
        found[0].last_at.timestamp_millis(),
        last.created_at.timestamp_millis()
    );
    let found = last_to(&person).await.unwrap();
    assert_eq!(found, Some((other.session.clone(), elsewhere.id)));
    // A deletion is about to remove it.
    let what = Forget::Turn(elsewhere.id);
    talk.store
        .mark_being_forgotten(&other.session, what)
        .await
        .unwrap();
    let found = last_to(&person).await.unwrap();
    assert_eq!(found, Some((talk.session.clone(), last.id)));
    assert_eq!(last_to("nobody").await.unwrap(), None);
    assert_eq!(own("nobody", prefix, 25).await, []);
    assert_eq!(own(&person, prefix, 0).await, []);
}

async fn turn_of(talk: &StoreConversation, turn: &Turn) -> Turn {
    let event = EventId::new(&turn.event);
    talk.store.turn_of_event(&event).await.unwrap().unwrap()
}

async fn replace(talk: &StoreConversation, turn: &NewTurn) -> bool {
    let guard = talk.sessions.lock(&talk.session).await;
    talk.store.replace(&guard, turn).await.unwrap()
}

async fn what_went_out_is_known(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let said = talk.say("hello").await;
    assert_eq!(turn_of(&talk, &said).await, bare(&said));
    let delivered = Delivered(vec![MessageId::new("$a"), MessageId::new("$b")]);
    talk.store.set_delivered(said.id, &delivered).await.unwrap();
    assert_eq!(
        turn_of(&talk, &said).await.delivered,
        Some(delivered.clone())
    );
    assert_eq!(
        talk.begin(&said.event, 5, 0)
            .await
            .duplicate
            .unwrap()
            .delivered,
        Some(delivered)
    );
    let nowhere = EventId::new("event/nowhere");
    assert_eq!(talk.store.turn_of_event(&nowhere).await.unwrap(), None);
    // A deleted one is no error.
    let (gone, nothing) = (ResponseId::fresh(), Delivered::default());
    talk.store.set_delivered(gone, &nothing).await.unwrap();
}

async fn files_are_read_with_the_window_only(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let mut new = talk.turn("look at this");
    new.turn.attached = vec![AttachedText {
        name: "notes \"1\".txt".to_owned(),
        text: "line\nline".to_owned(),
    }];
    let said = talk.append(&new).await;
    let read = talk.begin("other", 5, 0).await;
    assert_eq!(read.window[0].attached, new.turn.attached);
    assert_eq!(read.news.turns[0].attached, []);
    assert_eq!(turn_of(&talk, &said).await.attached, []);
}

async fn of_two_revisions_the_newer_stays(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let said = talk.say("first").await;
    let at = |seconds| Some(said.created_at + chrono::TimeDelta::seconds(seconds));
    let revised = |text: &str, revised_at| {
        let mut new = talk.turn(text);
        new.turn.id = said.id;
        new.turn.event.clone_from(&said.event);
        new.turn.created_at = said.created_at;
        new.turn.revised_at = revised_at;
        new
    };
    // Two processes may follow them at the same time.
    for (text, revised_at, stands) in [
        ("second", at(2), "second"),
        ("first again", at(1), "second"),
        ("unrevised", None, "second"),
        ("second, told twice", at(2), "second, told twice"),
        ("third", at(3), "third"),
    ] {
        let is_kept = replace(&talk, &revised(text, revised_at)).await;
        assert_eq!(is_kept, text == stands, "{text}");
        let kept = turn_of(&talk, &said).await;
        assert_eq!(kept.input, stands, "{text}");
    }
}

async fn a_replaced_turn_keeps_its_place(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let (first, second, third) = (
        talk.say("first").await,
        talk.say("second").await,
        talk.say("third").await,
    );
    let memory = talk.beside().say("a memory").await;
    let before = talk.begin("x", 5, 0).await;
    for (at, old, memories) in [
        (0, &first, vec![]),
        (1, &second, vec![(memory.id, 0.5)]),
        (1, &second, vec![(memory.id, 0.75)]),
    ] {
        let mut new = talk.turn("edited");
        new.turn.id = old.id;
        new.turn.event.clone_from(&old.event);
        new.turn.created_at = old.created_at;
        new.turn.output = "another answer".to_owned();
        new.turn.revised_at = Some("2026-03-02T09:00:00Z".parse().unwrap());
        new.turn.embedding = Some(Embedding {
            embedder: "test-4".to_owned(),
            vector: vec![0.0, 0.0, 0.0, 1.0],
        });
        new.recalled = memories.clone();
        assert!(replace(&talk, &new).await);

        let expected = Turn {
            position: old.position,
            ..new.turn.clone()
        };
        let chain = talk.chain().await;
        assert_eq!(ids(&chain), [first.id, second.id, third.id]);
        assert_eq!(chain[at], bare(&expected));
        let explained = talk.store.explain(&talk.session, Some(old.id)).await;
        let recalled = explained.unwrap().unwrap().recalled;
        let found: Vec<_> = recalled
            .iter()
            .map(|(score, turn)| (turn.id, *score))
            .collect();
        assert_eq!(found, memories);
        let news = talk.begin("x", 5, 0).await.news;
        let in_news = news.turns.iter().find(|turn| turn.id == old.id).unwrap();
        assert_eq!(in_news.embedding, new.turn.embedding);
        assert!(news.epoch > before.news.epoch, "indexes hear of it");
    }
    let sessions = talk.store.sessions().await.unwrap();
    let mine = sessions.iter().find(|one| one.id == talk.session.as_str());
    assert_eq!(mine.unwrap().title.as_deref(), Some("edited"));
}

async fn what_is_not_there_is_not_replaced(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let said = talk.say("hello").await;
    assert!(!replace(&talk, &talk.turn("never said")).await);
    let mut elsewhere = talk.turn("of another audience");
    elsewhere.turn.id = said.id;
    elsewhere.audience.id = AudienceId::new("test/channel/other");
    assert!(!replace(&talk, &elsewhere).await);
    assert_eq!(talk.chain().await, [bare(&said)]);
}

async fn what_quoted_a_replaced_turn_is_blotted_out(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let told = talk.say("the code is 4711").await;
    let quoting = talk.beside();
    let mut quote = quoting.turn("what is the code?");
    quote.turn.source = Source::Memory;
    quote.turn.output = "> the code is 4711".to_owned();
    quote.recalled = vec![(told.id, 0.9)];
    let quote = quoting.append(&quote).await;
    let mut new = talk.turn("the code is secret");
    new.turn.id = told.id;
    new.turn.event = told.event;
    assert!(replace(&talk, &new).await);
    let quote = turn_of(&quoting, &quote).await;
    assert!(!quote.output.contains("4711"), "{}", quote.output);
}

async fn feedback_is_counted_and_taken_back(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let said = talk.say("hello").await;
    let id = |part: &str| format!("${part}/{}", said.id);
    let delivered = Delivered(vec![MessageId::new(id("1")), MessageId::new(id("2"))]);
    talk.store.set_delivered(said.id, &delivered).await.unwrap();
    let given = |event: &str, answer: &str, person: &str, opinion| Feedback::Given {
        event: EventId::new(id(event)),
        answer: MessageId::new(id(answer)),
        person: person.to_owned(),
        opinion,
    };
    let withdrawn = |event: &str| Feedback::Withdrawn {
        event: EventId::new(id(event)),
    };
    for (feedback, known, good, bad) in [
        (given("e1", "1", "ada", Opinion::Good), true, 1, 0),
        (given("e2", "2", "bob", Opinion::Bad), true, 1, 1),
        (given("e3", "3", "eve", Opinion::Bad), false, 1, 1),
        (withdrawn("e3"), false, 1, 1),
        (withdrawn("e2"), true, 1, 0),
    ] {
        let kept = talk.store.keep_feedback(&talk.audience.id, &feedback);
        assert_eq!(
            kept.await.unwrap(),
            known.then_some(said.id),
            "{feedback:?}"
        );
        let explained = talk.store.explain(&talk.session, None).await.unwrap();
        assert_eq!(explained.unwrap().votes, Votes { good, bad });
    }
    let elsewhere = AudienceId::new("test/channel/other");
    let feedback = given("e4", "1", "ada", Opinion::Bad);
    let kept = talk.store.keep_feedback(&elsewhere, &feedback).await;
    assert_eq!(kept.unwrap(), None);
}

async fn what_an_audience_spent_is_counted(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let person = format!("U/{}", talk.session);
    let call = |cached, cost_micros| ModelCall {
        step: ModelStep::Answer,
        prompt: 12,
        completion: 34,
        cached,
        cost_micros,
        ms: 1,
    };
    let calls = [call(3, 20), call(4, 30)];
    for (author, age) in [(person.as_str(), 1), ("U2", 1), (person.as_str(), 50)] {
        let mut new = talk.turn("hello");
        new.turn.author = author.to_owned();
        new.turn.created_at = Utc::now() - TimeDelta::hours(age);
        new.trace.calls = calls.to_vec();
        talk.append(&new).await;
    }
    let elsewhere = StoreConversation::on(&talk.store);
    let mut new = elsewhere.turn("hello");
    new.turn.author.clone_from(&person);
    new.trace.calls = calls.to_vec();
    elsewhere.append(&new).await;
    // A private question in the channel, and one in a channel whose ID begins with this one's.
    for id in ["/private/U3", "0"] {
        let mut near = StoreConversation::on(&talk.store);
        near.audience.id = AudienceId::new(format!("{}{id}", talk.audience.id));
        let mut new = near.turn("hello");
        new.turn.author = "U3".to_owned();
        new.turn.created_at = Utc::now() - TimeDelta::hours(1);
        new.trace.calls = calls.to_vec();
        near.append(&new).await;
    }
    let since = |hours| Utc::now() - TimeDelta::hours(hours);
    let spent = |turns| Spent {
        turns,
        prompt_tokens: 12 * turns,
        completion_tokens: 34 * turns,
        cached_tokens: 7 * turns,
        cost_micros: 50 * turns,
    };
    for (hours, mine, here) in [(24, 2, 3), (24 * 30, 3, 4), (0, 0, 0)] {
        let usage = talk.store.usage(
            std::slice::from_ref(&person),
            &talk.audience.id,
            since(hours),
        );
        let usage = usage.await.unwrap();
        assert_eq!((usage.person, usage.audience), (spent(mine), spent(here)));
        // Others may talk in the same graph.
        assert!(usage.everyone.cost_micros >= usage.person.cost_micros);
    }
}

async fn sessions_of_an_audience_are_found(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let last = async || {
        let here = WhichResponse::LastIn(&talk.session);
        talk.store.find_response(here).await.unwrap()
    };
    assert_eq!(last().await, None);
    talk.say("hello").await;
    let second = talk.say("again").await;
    assert_eq!(last().await, Some((talk.session.clone(), second.id)));
    let beside = talk.beside();
    beside.say("hello").await;
    let other = StoreConversation::on(&talk.store);
    other.say("hello").await;
    let found = async |which| {
        let mut found = talk.store.find_sessions(which).await.unwrap();
        found.sort();
        found
    };
    let audience = &talk.audience.id;
    let of = |talk: &StoreConversation| (talk.session.clone(), talk.audience.id.clone());
    let mut expected = vec![of(&talk), of(&beside)];
    expected.sort();
    assert_eq!(found(WhichSessions::Of(audience)).await, expected);
    assert_eq!(
        found(WhichSessions::Under(audience.as_str())).await,
        expected
    );
    let place = other.session.as_str();
    assert_eq!(found(WhichSessions::Under(place)).await, [of(&other)]);
    let newest = |prefix, most| found(WhichSessions::Newest { prefix, most });
    assert_eq!(newest(talk.session.as_str(), 5).await, [of(&talk)]);
    assert_eq!(newest("nowhere/", 5).await, []);
    talk.say("and again").await;
    let said_last = newest("test/", 1).await;
    assert_eq!(said_last.len(), 1, "{said_last:?}");
}

async fn an_answer_is_found_by_its_message_and_counted(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let here = &talk.audience.id;
    let nothing = talk.store.memory_stats(here).await.unwrap();
    assert_eq!(
        (nothing.sessions, nothing.turns, nothing.since),
        (0, 0, None)
    );
    let first = talk.say("hello").await;
    let beside = talk.beside();
    let second = beside.say("hello").await;
    let message = MessageId::new(format!("$m/{}", second.id));
    let delivered = Delivered(vec![MessageId::new("$other"), message.clone()]);
    talk.store
        .set_delivered(second.id, &delivered)
        .await
        .unwrap();
    let found = talk
        .store
        .find_response(WhichResponse::SentAs(here, &message))
        .await;
    assert_eq!(found.unwrap(), Some((beside.session.clone(), second.id)));
    let part = MessageId::new(format!("m/{}", second.id));
    let elsewhere = AudienceId::new("test/channel/other");
    for (audience, message) in [(here, &part), (&elsewhere, &message)] {
        let found = talk
            .store
            .find_response(WhichResponse::SentAs(audience, message))
            .await;
        assert_eq!(found.unwrap(), None);
    }
    let last = talk
        .store
        .find_response(WhichResponse::LastOf(here))
        .await
        .unwrap();
    assert_eq!(last, Some((beside.session.clone(), second.id)));
    let nothing = talk
        .store
        .find_response(WhichResponse::LastOf(&elsewhere))
        .await
        .unwrap();
    assert_eq!(nothing, None);
    let memory_stats = talk.store.memory_stats(here).await.unwrap();
    assert_eq!((memory_stats.sessions, memory_stats.turns), (2, 2));
    let apart = memory_stats.since.unwrap() - first.created_at;
    assert!(apart.num_milliseconds().abs() < 2, "{apart}");
}

async fn what_became_of_answers_is_read_by_stretches(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let first = talk.say("first").await;
    let heard = Turn::message(talk.session.as_str(), "Ada", "heard");
    let heard = NewTurn::of(talk.audience.clone(), heard);
    talk.append(&heard).await;
    let given = NewTurn {
        recalled: vec![(first.id, 0.5)],
        ..talk.turn("last")
    };
    let last = talk.append(&given).await;
    let delivered = Delivered(vec![MessageId::new(format!("m/{}", last.id))]);
    talk.store.set_delivered(last.id, &delivered).await.unwrap();
    let feedback = Feedback::Given {
        event: EventId::new(format!("e/{}", last.id)),
        answer: delivered.0[0].clone(),
        person: "ada".to_owned(),
        opinion: Opinion::Bad,
    };
    let kept = talk.store.keep_feedback(&talk.audience.id, &feedback);
    assert_eq!(kept.await.unwrap(), Some(last.id));

    let outcome = |turn: &Turn, bad, recalled: &[ResponseId]| Outcome {
        id: turn.id,
        votes: Votes { good: 0, bad },
        recalled: recalled.to_vec(),
        knowledge: 0,
        changed: 0,
    };
    let of = async |behind, through| {
        let outcomes = talk.store.outcomes(&talk.audience.id, behind, through);
        let mut outcomes = outcomes.await.unwrap();
        outcomes.sort_by_key(|it| it.id);
        outcomes
    };
    let (first, last) = (outcome(&first, 0, &[]), outcome(&last, 1, &[first.id]));
    assert_eq!(of(0, 9).await, [first.clone(), last.clone()]);
    assert_eq!(of(0, 2).await, [first]);
    assert_eq!(of(1, 3).await, [last]);
    assert_eq!(of(3, 9).await, []);
    let turns = talk.store.turns_by_audience().await.unwrap();
    assert_eq!(turns[talk.audience.id.as_str()], 3, "what was heard counts");
}
