//! Servers that are unavailable, slow or refuse us; files that are in use, torn or too new.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use chrono::{TimeDelta, Utc};
use kglite::api::durable::DurabilityLevel;
use kglite::api::session::{ExecuteOptions, OpenSpec, open_path};
use muninn::graph::answers::DeliveredAnswer;
use muninn::graph::{Forget, GraphConfig, Source, StoreError, open};
use muninn_platform::testing::free_address;
use muninn_platform::{ConversationId, Delivered, EventId, Feedback, MessageId, Opinion};
use secrecy::SecretString;
use serde_json::json;
use tokio::net::TcpListener;
use uuid::Uuid;

use crate::accounts::{account, link};
use crate::lanes::{GraphBackend, StoreConversation, ids, server};
use crate::messages::{archive, said};
use crate::proxy::Proxy;
use crate::tokens::token;

/// More than a busy machine takes for any of this.
const QUICK: Duration = Duration::from_secs(20);

async fn refusal(config: &GraphConfig) -> StoreError {
    let started = Instant::now();
    let error = open(config).await.unwrap_err();
    assert!(
        started.elapsed() < QUICK,
        "{error} after {:?}",
        started.elapsed()
    );
    error
}

#[tokio::test]
async fn an_address_that_means_nothing_says_what_is_allowed() {
    let error = refusal(&GraphConfig::at("postgres://h")).await;
    assert!(matches!(error, StoreError::Misconfigured(_)), "{error}");
    assert!(error.to_string().contains("embedded:FOLDER"));
}

#[tokio::test]
async fn a_server_that_is_not_there_is_an_error_soon() {
    let mut config = GraphConfig::at(format!("bolt://{}", free_address()));
    config.timeout = Duration::from_secs(5);
    let error = refusal(&config).await;
    assert!(matches!(error, StoreError::Unreachable { .. }), "{error}");
    assert!(error.is_transient());
}

#[tokio::test]
async fn a_server_that_says_nothing_is_an_error_in_time() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut config = GraphConfig::at(format!("bolt://{}", silent.local_addr().unwrap()));
    config.timeout = Duration::from_secs(1);
    let error = refusal(&config).await;
    assert!(matches!(error, StoreError::Unreachable { .. }), "{error}");
}

#[tokio::test]
#[ignore = "needs a Neo4j with a password (NEO4J_TEST_URI, NEO4J_TEST_PASSWORD)"]
async fn a_wrong_password_is_an_error_soon() {
    let mut config = server();
    let password = std::env::var("NEO4J_TEST_PASSWORD");
    assert!(
        password.is_ok_and(|it| !it.is_empty()),
        "NEO4J_TEST_PASSWORD is not set"
    );
    config.password = SecretString::from("not the password".to_owned());
    let error = refusal(&config).await;
    assert!(matches!(error, StoreError::Unauthorized { .. }), "{error}");
    assert!(!error.is_transient());
    assert!(!error.to_string().contains("not the password"));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Neo4j (NEO4J_TEST_URI)"]
async fn a_server_that_goes_and_comes_back_is_used_again() {
    let (config, _share) = GraphBackend::server_together().await;
    let target = config.url.split_once("://").unwrap().1.to_owned();
    let proxy = Proxy::to(target).await;
    let through = GraphConfig {
        url: proxy.bolt_url(),
        timeout: Duration::from_secs(10),
        ..config
    };
    let talk = StoreConversation::on(&open(&through).await.unwrap());
    let first = talk.say("before").await;
    proxy.cut();
    let lost = talk.turn("meanwhile");
    let started = Instant::now();
    let error = talk.try_append(&lost).await.unwrap_err();
    assert!(error.is_transient(), "{error}");
    assert!(started.elapsed() < QUICK);
    proxy.mend();
    // The pool notices its dead connections; the same turn is saved once.
    let mut saved = talk.try_append(&lost).await;
    for _ in 0..20 {
        if saved.is_ok() {
            break;
        }
        saved = talk.try_append(&lost).await;
    }
    saved.unwrap();
    assert_eq!(ids(&talk.chain().await), [first.id, lost.turn.id]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_in_use_names_who_uses_it() {
    let lane = GraphBackend::embedded();
    let _store = lane.open().await;
    let error = refusal(&lane.config()).await;
    let StoreError::Locked { holder, .. } = &error else {
        panic!("{error}");
    };
    assert!(holder.contains(&std::process::id().to_string()), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_cannot_be_made_is_misconfigured() {
    let error = refusal(&GraphConfig::at("embedded:/dev/null/graph")).await;
    assert!(matches!(error, StoreError::Misconfigured(_)), "{error}");
}

/// Creates a folder whose turns are only in the log, as after a crash, and its conversation.
async fn unfolded(lane: &GraphBackend, folder: &Path) -> (StoreConversation, usize) {
    let store = lane.open().await;
    let talk = StoreConversation::on(&store);
    for n in 0..30 {
        talk.say(&format!("{n}")).await;
    }
    // Closing folds the log; a copy made before still has it.
    let from = folder_of(lane);
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if !entry.file_name().to_string_lossy().contains("lock") {
            std::fs::copy(entry.path(), folder.join(entry.file_name())).unwrap();
        }
    }
    store.close().await.unwrap();
    (talk, 30)
}

fn folder_of(lane: &GraphBackend) -> PathBuf {
    PathBuf::from(lane.config().url.strip_prefix("embedded:").unwrap())
}

/// Returns the log: the largest file except the graph itself.
fn log_in(folder: &Path) -> PathBuf {
    std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.file_name()
                .is_some_and(|name| name.to_string_lossy().contains("wal"))
        })
        .max_by_key(|path| path.metadata().unwrap().len())
        .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_emptied_while_it_opened_is_known_to_have_gone_out() {
    let lane = GraphBackend::embedded();
    let store = lane.open().await;
    let talk = StoreConversation::on(&store);
    let secret = talk.say("my number is 1234").await;
    let mut quote = talk.turn("what was the number?");
    quote.turn.source = Source::Memory;
    quote.turn.output = "You said 1234".to_owned();
    quote.recalled = vec![(secret.id, 0.9)];
    let quote = talk.append(&quote).await;
    let went_out = Delivered(vec![MessageId::new("m")]);
    store.set_delivered(quote.id, &went_out).await.unwrap();
    store.close().await.unwrap();
    // As after a kill while forgetting.
    let wish = json!({"session": secret.session, "id": secret.id, "until": i64::MAX});
    let intent = folder_of(&lane).join("forgetting-0.json");
    std::fs::write(&intent, wish.to_string()).unwrap();
    let store = lane.open().await;
    let session = ConversationId::new(&quote.session);
    let spoken = DeliveredAnswer {
        emptied: Some(quote.id),
        ..DeliveredAnswer::new(session, went_out)
    };
    assert_eq!(store.take_emptied(), [spoken]);
    assert!(store.take_emptied().is_empty());
    assert_eq!(ids(&talk.elsewhere(&store).chain().await), [quote.id]);
    assert!(!intent.exists());
}

/// The files of intents in a graph's folder.
fn intents(lane: &GraphBackend) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder_of(lane)).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let is_intent = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with("forgetting-")
    };
    paths.filter(is_intent).collect()
}

/// Makes purges of the files fail: it looks like a part of the log that was set aside, and cannot be removed like one.
fn block_purges(lane: &GraphBackend) -> PathBuf {
    let block = folder_of(lane).join("graph.kgl-wal.quarantine-20260102T030405Z");
    std::fs::create_dir(&block).unwrap();
    block
}

fn whole_session() -> Forget {
    let said_until = Utc::now();
    Forget::Session { said_until }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_said_after_a_forgetting_survives_an_intent_that_stayed() {
    let lane = GraphBackend::embedded();
    let store = lane.open().await;
    let talk = StoreConversation::on(&store);
    talk.say("my number is 1234").await;
    let block = block_purges(&lane);
    assert!(talk.forget(whole_session()).await.is_in_file);
    assert_eq!(intents(&lane).len(), 1);
    let later = talk.say("Who is on call?").await;
    store.close().await.unwrap();
    drop(store);
    std::fs::remove_dir(block).unwrap();
    let store = lane.open().await;
    assert_eq!(ids(&talk.elsewhere(&store).chain().await), [later.id]);
    assert!(intents(&lane).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_heard_after_an_opt_out_survives_an_intent_that_stayed() {
    let lane = GraphBackend::embedded();
    let store = lane.open().await;
    let talk = StoreConversation::on(&store);
    let folder = tempfile::tempdir().unwrap();
    let kept = archive(&talk, folder.path());
    kept.keep_messages(vec![said(&talk, "Priya", "it is 950")])
        .await
        .unwrap();
    let block = block_purges(&lane);
    let gone = store.forget_heard_messages(&talk.audience.id, "Priya");
    assert!(gone.await.unwrap().is_in_file);
    let later = said(&talk, "Priya", "I am back");
    kept.keep_messages(vec![later.clone()]).await.unwrap();
    drop(kept);
    store.close().await.unwrap();
    std::fs::remove_dir(block).unwrap();
    let store = lane.open().await;
    let chain = talk.elsewhere(&store).chain().await;
    assert_eq!(ids(&chain), [later.turn.id]);
    assert!(intents(&lane).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_try_that_succeeds_ends_the_intents_of_earlier_tries() {
    let lane = GraphBackend::embedded();
    let store = lane.open().await;
    let talk = StoreConversation::on(&store);
    talk.say("my number is 1234").await;
    let guard = talk.sessions.lock(&talk.session).await;
    let mut given_up = Box::pin(store.forget(&guard, whole_session()));
    while intents(&lane).is_empty() {
        assert!(futures::poll!(&mut given_up).is_pending());
        tokio::task::yield_now().await;
    }
    drop(given_up);
    drop(guard);
    talk.forget(whole_session()).await;
    assert!(intents(&lane).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_intent_deletes_what_was_there_when_it_was_recorded() {
    // Earlier versions named no turns; the name of the file has the moment.
    for names_turns in [true, false] {
        let lane = GraphBackend::embedded();
        let store = lane.open().await;
        let talk = StoreConversation::on(&store);
        let before = talk.say("my number is 1234").await;
        let name = format!("forgetting-{}.json", Uuid::now_v7());
        let mut wish = json!({"session": talk.session, "id": null, "until": 0});
        if names_turns {
            wish["turns"] = json!([before.id]);
        }
        let mut later = talk.turn("Who is on call?");
        later.turn.created_at += TimeDelta::seconds(5);
        let later = talk.append(&later).await;
        store.close().await.unwrap();
        drop(store);
        std::fs::write(folder_of(&lane).join(name), wish.to_string()).unwrap();
        let store = lane.open().await;
        let chain = talk.elsewhere(&store).chain().await;
        assert_eq!(ids(&chain), [later.id], "{names_turns}");
        assert!(intents(&lane).is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_intent_to_forget_a_person_leaves_what_came_later() {
    for (seconds, came_later) in [(-60, true), (60, false)] {
        let lane = GraphBackend::embedded();
        let store = lane.open().await;
        let (ada, linked) = (account("slack"), account("discord"));
        link(&store, &ada, &linked).await;
        let token = token(&ada.id, None);
        store.keep_token(&token).await.unwrap();
        let list = EventId::new(format!("list/{}/here", ada.id));
        store.set_outcome(&list, "1").await.unwrap();
        let talk = StoreConversation::on(&store);
        let answer = talk.say("hello").await;
        let delivered = Delivered(vec![MessageId::new("m")]);
        store.set_delivered(answer.id, &delivered).await.unwrap();
        let vote = Feedback::Given {
            event: EventId::new("e"),
            answer: MessageId::new("m"),
            person: ada.id.clone(),
            opinion: Opinion::Good,
        };
        let kept = store.keep_feedback(&talk.audience.id, &vote).await;
        assert_eq!(kept.unwrap(), Some(answer.id));
        store.close().await.unwrap();
        drop(talk);
        drop(store);

        let until = Utc::now() + TimeDelta::seconds(seconds);
        let wish = json!({
            "people": [ada.id, linked.id], "until": until.to_rfc3339(), "saidUntil": until.timestamp_millis(),
        });
        let name = format!("forgetting-{}.json", Uuid::now_v7());
        std::fs::write(folder_of(&lane).join(name), wish.to_string()).unwrap();
        let store = lane.open().await;
        let tokens = store.token(&token.hash, Utc::now()).await.unwrap();
        assert_eq!(tokens.is_some(), came_later);
        let accounts = store.accounts_of(&ada.id).await.unwrap();
        assert_eq!(accounts.len(), if came_later { 2 } else { 0 });
        assert_eq!(store.outcome(&list).await.unwrap().is_some(), came_later);
        let session = ConversationId::new(answer.session);
        let explained = store.explain(&session, None).await.unwrap().unwrap();
        assert_eq!(explained.votes.good, usize::from(came_later));
        assert!(intents(&lane).is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_torn_log_loses_nothing_but_its_end() {
    let (lane, copy) = (GraphBackend::embedded(), GraphBackend::embedded());
    let (talk, turns) = unfolded(&lane, &folder_of(&copy)).await;
    let log = log_in(&folder_of(&copy));
    let bytes = std::fs::read(&log).unwrap();
    std::fs::write(&log, &bytes[..bytes.len() - 100]).unwrap();
    let store = copy.open().await;
    let chain = talk.elsewhere(&store).chain().await;
    assert_eq!(chain.len(), turns - 1);
    let warnings = store.health().await.unwrap().warnings;
    assert!(!warnings.is_empty());
    talk.elsewhere(&store).say("it goes on").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flipped_byte_is_reported_and_what_came_before_is_there() {
    let (lane, copy) = (GraphBackend::embedded(), GraphBackend::embedded());
    let (talk, turns) = unfolded(&lane, &folder_of(&copy)).await;
    let log = log_in(&folder_of(&copy));
    let mut bytes = std::fs::read(&log).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x40;
    std::fs::write(&log, &bytes).unwrap();
    let store = copy.open().await;
    let there = talk.elsewhere(&store);
    let left = there.chain().await.len();
    assert!(left > 0 && left < turns, "{left}");
    let warnings = store.health().await.unwrap().warnings.join(" ");
    assert!(!warnings.is_empty());
    there.say("it goes on").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_graph_file_is_refused() {
    let lane = GraphBackend::embedded();
    let store = lane.open().await;
    StoreConversation::on(&store).say("a").await;
    store.close().await.unwrap();
    drop(store);
    let file = folder_of(&lane).join("graph.kgl");
    let bytes = std::fs::read(&file).unwrap();
    for damaged in [
        b"this is no graph".to_vec(),
        bytes[..bytes.len() / 2].to_vec(),
    ] {
        std::fs::write(&file, &damaged).unwrap();
        let error = refusal(&lane.config()).await;
        assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
        assert_eq!(std::fs::read(&file).unwrap(), damaged);
    }
    std::fs::write(&file, &bytes).unwrap();
    assert_eq!(lane.open().await.health().await.unwrap().turns, 1);
}

const NEWER: &str = "MERGE (m:MuninnSchema {id: 'schema'}) SET m.version = 99";

#[tokio::test(flavor = "multi_thread")]
async fn a_newer_embedded_graph_is_refused() {
    let lane = GraphBackend::embedded();
    let path = folder_of(&lane).join("graph.kgl");
    let raw = std::thread::Builder::new()
        .stack_size(8 << 20)
        .spawn(move || {
            let spec = OpenSpec {
                durability: DurabilityLevel::Normal,
                ..OpenSpec::writer()
            };
            let opened = open_path(&path, &spec).unwrap();
            let none = std::collections::HashMap::new();
            opened
                .session
                .execute_auto_commit(NEWER, &ExecuteOptions::eager(&none), 1)
                .unwrap();
            opened.session.sync().unwrap();
        });
    raw.unwrap().join().unwrap();
    let error = refusal(&lane.config()).await;
    assert!(
        matches!(
            error,
            StoreError::NewerSchema {
                found: 99,
                known: 2
            }
        ),
        "{error}"
    );
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Neo4j (NEO4J_TEST_URI)"]
async fn a_newer_graph_on_a_server_is_refused() {
    let (config, _share) = GraphBackend::server_alone().await;
    let user = std::env::var("NEO4J_TEST_USER").unwrap_or_default();
    let password = std::env::var("NEO4J_TEST_PASSWORD").unwrap_or_default();
    let raw = neo4rs::Graph::new(config.url.clone(), user, password).unwrap();
    raw.run(NEWER).await.unwrap();
    let error = refusal(&config).await;
    raw.run("MATCH (m:MuninnSchema {id: 'schema'}) SET m.version = 2")
        .await
        .unwrap();
    assert!(
        matches!(
            error,
            StoreError::NewerSchema {
                found: 99,
                known: 2
            }
        ),
        "{error}"
    );
    open(&config).await.unwrap();
}
