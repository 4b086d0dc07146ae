//! Marks of whole people and places also cover the answers that are kept later.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Duration;

use chrono::{TimeDelta, Utc};
use muninn::graph::answers::{DeliveredAnswer, ForgottenEvent};
use muninn::graph::marks::Covered;
use muninn::graph::{Appended, Forget, NewTurn};
use muninn::memory::QueueWithdrawals;
use muninn_platform::{Delivered, MessageId};

use crate::appending::{TakenAway, archive};
use crate::lanes::{GraphBackend, StoreConversation};

on_every_store!(
    what_was_asked_before_it_was_forgotten_is_not_kept_afterwards,
    what_was_saved_while_its_question_was_forgotten_goes_when_it_is_delivered,
    an_offline_answer_goes_when_its_question_was_forgotten_before_it_was_given,
    the_mark_of_a_deleted_message_ends_and_that_of_a_forgotten_one_stays,
);

/// The question is a second older than the command, and its answer younger.
fn asked(talk: &StoreConversation, author: &str) -> NewTurn {
    let mut turn = talk.turn("my locker is zebra 4711");
    turn.turn.author = author.to_owned();
    turn.asked_at = Some(Utc::now() - TimeDelta::seconds(1));
    turn
}

async fn what_was_asked_before_it_was_forgotten_is_not_kept_afterwards(lane: &GraphBackend) {
    let store = lane.open().await;
    for (what, is_kept) in [
        ("person", false),
        ("another person", true),
        ("audience", false),
        ("place", false),
        ("place above", false),
        ("place beside", true),
        ("session", false),
    ] {
        let talk = StoreConversation::on(&store);
        let (ada, now) = (format!("ada of {}", talk.session), Utc::now());
        let audience = talk.audience.id.as_str();
        let longer = format!("{audience}5");
        let mut turn = asked(&talk, &ada);
        let covered = match what {
            "person" => Some(Covered::Person(&ada)),
            "another person" => Some(Covered::Person(&longer)),
            "audience" => Some(Covered::Audience(&talk.audience.id)),
            "place" => Some(Covered::Under(audience)),
            "place above" => {
                turn.audience.id =
                    muninn_platform::AudienceId::new(format!("{audience}/private/a"));
                Some(Covered::Under(audience))
            }
            "place beside" => Some(Covered::Under(&longer)),
            _ => None,
        };
        match covered {
            Some(covered) => store.mark_covered(covered, now).await.unwrap(),
            None => drop(talk.forget(Forget::Session { said_until: now }).await),
        }
        let appended = talk.try_append(&turn).await.unwrap();
        let is_saved = matches!(appended, Appended::Saved { .. });
        assert_eq!(is_saved, is_kept, "{what}: {appended:?}");
        assert_eq!(talk.chain().await.len(), usize::from(is_kept), "{what}");

        // What is asked afterwards is kept.
        let mut later = asked(&talk, &ada);
        later.audience = turn.audience.clone();
        later.asked_at = Some(now + TimeDelta::seconds(1));
        let appended = talk.try_append(&later).await.unwrap();
        assert!(matches!(appended, Appended::Saved { .. }), "{what}");
    }
}

async fn what_was_saved_while_its_question_was_forgotten_goes_when_it_is_delivered(
    lane: &GraphBackend,
) {
    let talk = StoreConversation::on(&lane.open().await);
    let ada = format!("ada of {}", talk.session);
    let turn = asked(&talk, &ada);
    talk.append(&turn).await;
    let delivered = Delivered(vec![MessageId::new("noted")]);
    let guard = talk.sessions.lock(&talk.session).await;
    let recording = talk.store.set_first_delivered(&guard, &turn, &delivered);
    assert!(recording.await.unwrap(), "nothing is forgotten yet");
    let person = Covered::Person(&ada);
    talk.store.mark_covered(person, Utc::now()).await.unwrap();
    // Whoever forgot it looked for it before it was there.
    let recording = talk.store.set_first_delivered(&guard, &turn, &delivered);
    assert!(!recording.await.unwrap());
    assert_eq!(talk.chain().await, []);
}

async fn an_offline_answer_goes_when_its_question_was_forgotten_before_it_was_given(
    lane: &GraphBackend,
) {
    let talk = StoreConversation::on(&lane.open().await);
    let ada = format!("ada of {}", talk.session);
    let person = Covered::Person(&ada);
    talk.store.mark_covered(person, Utc::now()).await.unwrap();
    let mut turn = asked(&talk, &ada);
    turn.turn.created_at = Utc::now() + TimeDelta::seconds(1);
    turn.turn.delivered = Some(Delivered(vec![MessageId::new("noted")]));
    let folder = tempfile::tempdir().unwrap();
    let taken = Arc::new(TakenAway::default());
    let archive = archive(&talk, folder.path(), &[turn.clone()]).await;
    let archive = archive.with_withdrawals(Arc::clone(&taken) as Arc<dyn QueueWithdrawals>);
    assert_eq!(archive.replay().await.unwrap(), 1);
    assert_eq!(talk.chain().await, []);
    let spoken = DeliveredAnswer::of(&turn.turn).unwrap();
    assert_eq!(*taken.0.lock(), [spoken]);
}

async fn the_mark_of_a_deleted_message_ends_and_that_of_a_forgotten_one_stays(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let store = &talk.store;
    let event = |name: &str| ForgottenEvent {
        session: talk.session.as_str().to_owned(),
        event: format!("{name} of {}", talk.session),
    };
    let turn = talk.say("The quokka is fed.").await;
    let of_turn = ForgottenEvent {
        event: turn.event.clone(),
        ..event("")
    };
    let forgotten = |name| BTreeSet::from([event(name)]);
    let [never_kept, before, since] = ["never kept", "before", "since"].map(event);
    store.mark_forgotten(&forgotten("before")).await.unwrap();
    for deleted in [&never_kept, &before, &since, &of_turn] {
        // A platform may tell it twice.
        store.mark_deleted(deleted).await.unwrap();
        store.mark_deleted(deleted).await.unwrap();
    }
    store.mark_forgotten(&forgotten("since")).await.unwrap();
    let marked = async || store.marks(&talk.session).await.unwrap().events;
    let of = |events: &[&ForgottenEvent]| -> HashSet<String> {
        events.iter().map(|it| it.event.clone()).collect()
    };
    let hour = Duration::from_hours(1);
    store.sweep_deletions(hour).await.unwrap();
    assert_eq!(
        marked().await,
        of(&[&never_kept, &before, &since, &of_turn])
    );
    // One whose turn is still there hides it.
    store.sweep_deletions(Duration::ZERO).await.unwrap();
    assert_eq!(marked().await, of(&[&before, &since, &of_turn]));
    talk.forget(Forget::Turn(turn.id)).await;
    store.sweep_deletions(Duration::ZERO).await.unwrap();
    assert_eq!(marked().await, of(&[&before, &since, &of_turn]));
}
