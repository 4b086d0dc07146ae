//! Appending many turns in one transaction, and offline turns.

use std::sync::Arc;
use std::time::Instant;

use chrono::{TimeDelta, Utc};
use muninn::graph::answers::{DeliveredAnswer, WhichResponse};
use muninn::graph::marks::{Covered, CoveringMarks};
use muninn::graph::{NewTurn, Source, StoreError, Turn};
use muninn::memory::journal::{Journal, SetAside};
use muninn::memory::{Archive, QueueWithdrawals};
use muninn_platform::{Delivered, EventId, MessageId};
use secrecy::SecretString;

use crate::lanes::{GraphBackend, StoreConversation, bare, ids};
use crate::messages::said;
use crate::proxy::Proxy;

on_every_store!(
    many_turns_are_saved_as_one_by_one,
    what_is_there_already_is_left_out,
    one_bad_turn_leaves_nothing_of_its_transaction,
    a_bad_turn_of_the_journal_is_set_aside_and_the_others_are_saved,
    what_was_forgotten_elsewhere_leaves_the_journal,
    what_is_forgotten_here_is_said_again_by_nothing_that_waits,
    what_waits_of_a_session_that_is_worked_on_waits_on,
    what_happened_to_a_turn_since_it_was_saved_unnoticed_is_recorded,
    the_graph_is_told_later_what_went_out,
);

async fn append_all(talks: &[&StoreConversation], turns: &[NewTurn]) -> Result<(), StoreError> {
    let mut guards = Vec::new();
    for talk in talks {
        guards.push(talks[0].sessions.lock(&talk.session).await);
    }
    let turns: Vec<Arc<NewTurn>> = turns.iter().cloned().map(Arc::new).collect();
    let appending = talks[0].store.append_all(&guards, &turns);
    appending.await.map(drop)
}

async fn many_turns_are_saved_as_one_by_one(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let other = talk.beside();
    let before = talk.say("before").await;
    let mut turns = Vec::new();
    for n in 0..6 {
        let mut turn = [&talk, &other][n % 2].turn(&format!("turn {n}"));
        turn.recalled = vec![(before.id, 0.5)];
        turn.turn.rephrased_question = (n == 1).then(|| "What?".to_owned());
        turns.push(turn);
    }
    append_all(&[&talk, &other], &turns).await.unwrap();
    let chain = talk.chain().await;
    let mine: Vec<_> = turns.iter().step_by(2).map(|it| it.turn.id).collect();
    assert_eq!(ids(&chain)[1..], mine);
    let positions: Vec<i64> = chain.iter().map(|turn| turn.position).collect();
    assert_eq!(positions, [1, 2, 4, 6]);
    let theirs = other.chain().await;
    let expected: Vec<_> = [3, 5, 7]
        .iter()
        .zip(turns.iter().skip(1).step_by(2))
        .map(|(position, new)| {
            let mut turn = bare(&new.turn);
            turn.position = *position;
            turn
        })
        .collect();
    assert_eq!(theirs, expected);
    // With its vector, as recall reads it.
    let audience = &talk.audience.id;
    let news = talk.store.turns_since(audience, 1, 10).await.unwrap();
    assert_eq!(news.turns.len(), 6);
    assert!(news.turns.iter().all(|turn| turn.embedding.is_some()));
    let why = talk.store.explain(&talk.session, None).await.unwrap();
    assert_eq!(why.unwrap().recalled[0].1.id, before.id);
    // The chain continues, with a title from the first question.
    let after = talk.say("after").await;
    assert_eq!(after.position, 8);
    let sessions = talk.store.sessions().await.unwrap();
    let title = |talk: &StoreConversation| {
        let session = talk.session.as_str();
        let found = sessions.iter().find(|it| it.id == session);
        found.and_then(|it| it.title.clone())
    };
    assert_eq!(title(&talk).as_deref(), Some("before"));
    assert_eq!(title(&other).as_deref(), Some("turn 1"));
}

async fn what_is_there_already_is_left_out(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let turns = [talk.turn("a"), talk.turn("b"), talk.turn("c")];
    talk.append(&turns[0]).await;
    for _ in 0..2 {
        append_all(&[&talk], &turns).await.unwrap();
    }
    let all: Vec<_> = turns.iter().map(|it| it.turn.id).collect();
    assert_eq!(ids(&talk.chain().await), all);
    // Not even a session is created for a turn that another one has already.
    let aside = talk.beside();
    let mut same = aside.turn("a");
    same.turn.event.clone_from(&turns[0].turn.event);
    append_all(&[&aside], &[same]).await.unwrap();
    let last = WhichResponse::LastIn(&aside.session);
    assert_eq!(talk.store.find_response(last).await.unwrap(), None);
    let sessions = talk.store.sessions().await.unwrap();
    assert!(sessions.iter().all(|it| it.id != aside.session.as_str()));
}

async fn one_bad_turn_leaves_nothing_of_its_transaction(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let good = talk.say("good").await;
    let mut bad = talk.turn("bad");
    bad.turn.id = good.id;
    let refused = append_all(&[&talk], &[talk.turn("a"), bad, talk.turn("b")]).await;
    assert!(
        matches!(refused, Err(StoreError::Invalid(_))),
        "{refused:?}"
    );
    assert_eq!(ids(&talk.chain().await), [good.id]);
    assert_eq!(talk.say("next").await.position, 2);
}

pub(crate) async fn archive(
    talk: &StoreConversation,
    folder: &std::path::Path,
    turns: &[NewTurn],
) -> Archive {
    let journal = Journal::open(folder).unwrap();
    for turn in turns {
        journal.keep(turn.clone()).await.unwrap();
    }
    Archive::new(
        Arc::clone(&talk.store),
        journal,
        Arc::clone(&talk.sessions),
        8,
    )
}

async fn a_bad_turn_of_the_journal_is_set_aside_and_the_others_are_saved(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let good = talk.say("good").await;
    let mut turns: Vec<NewTurn> = (0..9).map(|n| talk.turn(&n.to_string())).collect();
    turns[4].turn.id = good.id;
    let folder = tempfile::tempdir().unwrap();
    let archive = archive(&talk, folder.path(), &turns).await;
    assert_eq!(archive.replay().await.unwrap(), 9);
    assert_eq!(archive.waiting(), 0);
    let said: Vec<String> = talk.chain().await.into_iter().map(|it| it.input).collect();
    assert_eq!(said, ["good", "0", "1", "2", "3", "5", "6", "7", "8"]);
    let refused = SetAside::of(folder.path()).all().unwrap();
    assert_eq!(refused.len(), 1);
    assert_eq!(refused[0].turn.turn.input, "4");
    assert!(
        refused[0].reason.contains("refused"),
        "{}",
        refused[0].reason
    );
    // Forgetting applies there too.
    archive.forget(&talk.session, |_| true).await.unwrap();
    assert!(SetAside::of(folder.path()).all().unwrap().is_empty());
}

/// Records which messages were withdrawn.
#[derive(Debug, Default)]
pub(crate) struct TakenAway(pub(crate) parking_lot::Mutex<Vec<DeliveredAnswer>>);

#[async_trait::async_trait]
impl QueueWithdrawals for TakenAway {
    async fn queue_withdrawals(&self, shown: Vec<DeliveredAnswer>) {
        self.0.lock().extend(shown);
    }
}

async fn what_was_forgotten_elsewhere_leaves_the_journal(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let posted = |message: &str| Some(Delivered(vec![MessageId::new(message)]));
    let ada = format!("ada of {}", talk.session.as_str());
    let mut locker = talk.turn("my locker is zebra 4711");
    locker.turn.author.clone_from(&ada);
    locker.turn.delivered = posted("noted");
    let mut desk = talk.turn("my desk is by the window");
    desk.turn.author.clone_from(&ada);
    talk.append(&desk).await;
    // Others were told where she sits, and something else.
    let mut bob = talk.turn("where does Ada sit?");
    bob.turn.delivered = posted("by the window");
    bob.recalled = vec![(desk.turn.id, 0.9)];
    let mut again = talk.turn("say that again");
    again.recalled = vec![(bob.turn.id, 0.9)];
    again.turn.delivered = posted("by the window, as I said");
    let mut told = talk.turn("which locker was that?");
    told.turn.output = "Zebra 4711.".to_owned();
    told.turn.delivered = posted("the second locker");
    let after = talk.turn("what is for lunch?");
    let unposted = NewTurn {
        turn: Turn {
            author: ada.clone(),
            ..talk.turn("and my bike is red").turn
        },
        ..talk.turn("")
    };
    let folder = tempfile::tempdir().unwrap();
    let all = [
        locker.clone(),
        bob.clone(),
        again.clone(),
        told.clone(),
        after.clone(),
        unposted.clone(),
    ];
    let taken = Arc::new(TakenAway::default());
    let archive = archive(&talk, folder.path(), &all).await;
    let archive = archive.with_withdrawals(Arc::clone(&taken) as Arc<dyn QueueWithdrawals>);

    // Another process does not touch this one's journal.
    let now = Utc::now();
    let forgotten = talk.store.forget_person(&[ada], now, now).await.unwrap();
    assert_eq!(forgotten.turns, 1);
    assert_eq!(archive.replay().await.unwrap(), 6);

    let chain = talk.chain().await;
    let said = chain
        .iter()
        .map(|it| (it.input.as_str(), it.output.as_str()));
    let blot = "What this answer quoted was forgotten.";
    assert_eq!(
        said.collect::<Vec<_>>(),
        [
            ("where does Ada sit?", blot),
            ("say that again", blot),
            ("which locker was that?", blot),
            ("what is for lunch?", after.turn.output.as_str()),
        ]
    );
    let spoken = |turn: &NewTurn| DeliveredAnswer::of(&turn.turn).unwrap();
    assert_eq!(
        spoken(&unposted).unseen,
        Some(EventId::new(&unposted.turn.event))
    );
    assert_eq!(
        *taken.0.lock(),
        [
            spoken(&locker),
            spoken(&unposted),
            spoken(&told),
            spoken(&bob),
            spoken(&again)
        ]
    );
    let left = std::fs::read_to_string(folder.path().join("journal-0.jsonl")).unwrap();
    assert!(!left.contains("zebra") && !left.contains("bike"), "{left}");
}

async fn what_is_forgotten_here_is_said_again_by_nothing_that_waits(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let locker = talk.turn("my locker is zebra 4711");
    let mut told = talk.turn("which locker was that?");
    told.turn.output = "Zebra 4711.".to_owned();
    let lunch = talk.turn("what is for lunch?");
    let folder = tempfile::tempdir().unwrap();
    let all = [locker.clone(), told.clone(), lunch.clone()];
    let archive = archive(&talk, folder.path(), &all).await;

    let forgotten = archive.forget(&talk.session, |turn| turn.id == locker.turn.id);
    assert_eq!(forgotten.await.unwrap(), 1);

    let said = async |turn: &NewTurn| {
        let event = EventId::new(&turn.turn.event);
        let found = archive.turn_of_event(&event).await.unwrap();
        found.map(|turn| turn.output)
    };
    assert_eq!(said(&locker).await, None);
    let blot = "What this answer quoted was forgotten.";
    assert_eq!(said(&told).await.as_deref(), Some(blot));
    assert_eq!(said(&lunch).await, Some(lunch.turn.output));
}

async fn what_waits_of_a_session_that_is_worked_on_waits_on(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let other = talk.beside();
    let turns = [talk.turn("a"), other.turn("b"), talk.turn("c")];
    let folder = tempfile::tempdir().unwrap();
    let archive = archive(&talk, folder.path(), &turns).await;
    let held = talk.sessions.lock(&talk.session).await;
    assert_eq!(archive.replay().await.unwrap(), 1);
    assert_eq!(ids(&other.chain().await), [turns[1].turn.id]);
    drop(held);
    assert_eq!(archive.replay().await.unwrap(), 2);
    assert_eq!(
        ids(&talk.chain().await),
        [turns[0].turn.id, turns[2].turn.id]
    );
}

fn posted(message: &str) -> Delivered {
    Delivered(vec![MessageId::new(message)])
}

/// The response to saving them was lost, so they wait although the graph has them.
async fn what_happened_to_a_turn_since_it_was_saved_unnoticed_is_recorded(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let mut answer = talk.turn("which locker was that?");
    let mut heard = said(&talk, "Tom", "lunch is at one");
    let edited_since = said(&talk, "Tom", "the bus is red");
    for turn in [&answer, &heard, &edited_since] {
        talk.append(turn).await;
    }
    let message = format!("the second locker of {}", talk.session);
    answer.turn.delivered = Some(posted(&message));
    let now = Utc::now();
    "lunch is at two".clone_into(&mut heard.turn.input);
    heard.turn.revised_at = Some(now);
    // Another process followed a newer edit.
    let edit = |text: &str, seconds: i64| {
        let mut edited = edited_since.clone();
        text.clone_into(&mut edited.turn.input);
        edited.turn.revised_at = Some(now + TimeDelta::seconds(seconds));
        edited
    };
    talk.store
        .edit_message(&edit("it is blue", 1))
        .await
        .unwrap();
    let waiting = [answer.clone(), heard, edit("it is green", 0)];
    let folder = tempfile::tempdir().unwrap();
    let archive = archive(&talk, folder.path(), &waiting).await;
    assert_eq!(archive.replay().await.unwrap(), 3);
    assert_eq!(archive.waiting(), 0);

    let chain = talk.chain().await;
    let said = chain.iter().map(|it| it.input.as_str());
    assert_eq!(
        said.collect::<Vec<_>>(),
        ["which locker was that?", "lunch is at two", "it is blue"]
    );
    assert_eq!(chain[0].delivered, answer.turn.delivered);
    let message = MessageId::new(&message);
    let sent = WhichResponse::SentAs(&talk.audience.id, &message);
    let found = talk.store.find_response(sent).await.unwrap();
    assert_eq!(found.map(|(_, id)| id), Some(answer.turn.id));
}

async fn the_graph_is_told_later_what_went_out(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let (answer, forgotten) = (talk.turn("which locker was that?"), talk.turn("and mine?"));
    talk.append(&answer).await;
    let message = format!("the second locker of {}", talk.session);
    let shown = DeliveredAnswer::new(talk.session.clone(), posted(&message));
    let gone = DeliveredAnswer::new(talk.session.clone(), posted("the third locker"));
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(folder.path()).unwrap();
    for (turn, shown) in [(&answer, shown), (&forgotten, gone.clone())] {
        let keeping = journal.keep_delivery(turn.turn.id, shown, None);
        keeping.await.unwrap();
    }
    // Its question was forgotten while it was saved, by somebody who did not find it.
    let mut covered = talk.turn("and hers?");
    covered.asked_at = Some(Utc::now());
    talk.append(&covered).await;
    let everything = Covered::Audience(&talk.audience.id);
    let marking = talk.store.mark_covered(everything, Utc::now());
    marking.await.unwrap();
    let fourth = DeliveredAnswer::new(talk.session.clone(), posted("the fourth locker"));
    let marks = Some(CoveringMarks::of(&covered));
    let keeping = journal.keep_delivery(covered.turn.id, fourth.clone(), marks);
    keeping.await.unwrap();
    drop(journal);

    // After a restart.
    let taken = Arc::new(TakenAway::default());
    let archive = archive(&talk, folder.path(), &[]).await;
    let archive = archive.with_withdrawals(Arc::clone(&taken) as Arc<dyn QueueWithdrawals>);
    assert_eq!(archive.replay().await.unwrap(), 0);
    let chain = talk.chain().await;
    assert_eq!(ids(&chain), [answer.turn.id]);
    assert_eq!(chain[0].delivered, Some(posted(&message)));
    assert_eq!(*taken.0.lock(), [gone, fourth]);
    drop(archive);
    let journal = Journal::open(folder.path()).unwrap();
    assert_eq!(journal.untold_deliveries(), []);
}

/// Neither a changed password nor a missing database is a reason to give up a turn.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Neo4j (NEO4J_TEST_URI)"]
async fn turns_wait_until_the_graph_lets_us_in_again() {
    let (config, _share) = GraphBackend::server_together().await;
    let user = std::env::var("NEO4J_TEST_USER").unwrap_or_default();
    let password = std::env::var("NEO4J_TEST_PASSWORD").unwrap_or_default();
    if password.is_empty() {
        return;
    }
    let root = neo4rs::Graph::new(config.url.clone(), user, password).unwrap();
    let set = |password: &str| {
        neo4rs::query(&format!(
            "CREATE OR REPLACE USER offline SET PASSWORD '{password}' CHANGE NOT REQUIRED"
        ))
    };
    root.run_on("system", set("first-password")).await.unwrap();
    let target = config.url.split_once("://").unwrap().1.to_owned();
    let proxy = Proxy::to(target).await;
    let through = muninn::graph::GraphConfig {
        url: proxy.bolt_url(),
        user: "offline".to_owned(),
        password: SecretString::from("first-password".to_owned()),
        ..config
    };
    let talk = StoreConversation::on(&muninn::graph::open(&through).await.unwrap());
    let turns = [talk.turn("a"), talk.turn("b")];
    let folder = tempfile::tempdir().unwrap();
    let archive = archive(&talk, folder.path(), &turns).await;
    root.run_on("system", set("second-password")).await.unwrap();
    // Existing connections continue; new ones are refused.
    proxy.cut();
    proxy.mend();
    for _ in 0..3 {
        archive.replay().await.unwrap_err();
    }
    assert_eq!(archive.waiting(), 2);
    assert!(archive.is_away());
    assert!(SetAside::of(folder.path()).all().unwrap().is_empty());
    root.run_on("system", set("first-password")).await.unwrap();
    let mut saved = archive.replay().await;
    for _ in 0..40 {
        if saved.is_ok() {
            break;
        }
        // After some failures the server refuses everybody for a few seconds.
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
        saved = archive.replay().await;
    }
    saved.unwrap();
    assert_eq!(ids(&talk.chain().await), turns.map(|it| it.turn.id));
    let _ = root
        .run_on("system", neo4rs::query("DROP USER offline IF EXISTS"))
        .await;
}

/// Prints how long replaying takes:
/// `cargo test --test graph_conformance -- --ignored figures_of_replaying`.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement"]
#[expect(clippy::print_stderr, reason = "it says what it measured")]
async fn figures_of_replaying() {
    let lane = match std::env::var("NEO4J_TEST_URI") {
        Ok(_) => GraphBackend::neo4j().await,
        Err(_) => GraphBackend::embedded(),
    };
    for number in [100, 1_000, 10_000] {
        let talk = StoreConversation::on(&lane.open().await);
        let talks: Vec<StoreConversation> = (0..20).map(|_| talk.beside()).collect();
        let turns: Vec<NewTurn> = (0..number)
            .map(|n| {
                let mut turn = talks[n % 20].turn(&format!("turn {n}"));
                turn.turn.source = Source::Model;
                if let Some(embedding) = &mut turn.turn.embedding {
                    embedding.vector = vec![0.05; 384];
                }
                turn
            })
            .collect();
        let folder = tempfile::tempdir().unwrap();
        let began = Instant::now();
        let archive = archive(&talk, folder.path(), &turns).await;
        let kept = began.elapsed();
        let began = Instant::now();
        assert_eq!(archive.replay().await.unwrap(), number);
        eprintln!(
            "{number} turns: kept in {kept:?}, replayed in {:?}",
            began.elapsed()
        );
        for talk in &talks {
            assert_eq!(talk.chain().await.len(), number / 20);
        }
    }
}
