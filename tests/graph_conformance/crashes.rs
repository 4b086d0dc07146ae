//! Kills of a process that writes to the embedded store.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use muninn::graph::{GraphConfig, open};
use muninn_platform::ConversationId;
use uuid::Uuid;

use crate::lanes::{GraphBackend, StoreConversation, ids};

/// Set for the process to be killed.
const VICTIM: &str = "MUNINN_TEST_VICTIM_FOLDER";

const KILLS: usize = 50;

/// Concurrent writers in one process, so that turns share a flush of the log.
const WRITERS: usize = 4;

fn talk_of(writer: usize, store: &std::sync::Arc<muninn::graph::GraphStore>) -> StoreConversation {
    StoreConversation {
        session: ConversationId::new(format!("test/victim/{writer}")),
        ..StoreConversation::on(store)
    }
}

/// The process to be killed: does nothing unless the variable is set.
#[tokio::test(flavor = "multi_thread")]
async fn a_victim_writes_until_it_is_killed() {
    let Ok(url) = std::env::var(VICTIM) else {
        return;
    };
    let store = open(&GraphConfig::at(url)).await.unwrap();
    let writers = (0..WRITERS).map(|writer| {
        let talk = talk_of(writer, &store);
        tokio::spawn(async move {
            loop {
                let saved = talk.say("to be remembered").await;
                // Printed only now: whatever is printed must be permanent.
                let line = format!("\nsaved {writer} {}\n", saved.id);
                std::io::stdout().write_all(line.as_bytes()).unwrap();
            }
        })
    });
    futures::future::join_all(writers.collect::<Vec<_>>()).await;
}

fn victim(url: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "crashes::a_victim_writes_until_it_is_killed",
            "--nocapture",
        ])
        .env(VICTIM, url)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Kills a process at a random moment after its first turn; returns what it had acknowledged.
fn kill_one(url: &str) -> Vec<(usize, String)> {
    let mut child = victim(url);
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let (sender, said) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            let mut words = line.split(' ');
            if words.next() == Some("saved")
                && let (Some(writer), Some(id)) = (words.next(), words.next())
                // The last line may be truncated.
                && id.len() == 36
            {
                sender
                    .send((writer.parse().unwrap(), id.to_owned()))
                    .unwrap();
            }
        }
    });
    let mut saved = vec![said.recv_timeout(Duration::from_secs(60)).unwrap()];
    let (_, random) = Uuid::new_v4().as_u64_pair();
    std::thread::sleep(Duration::from_micros(random % 200_000));
    child.kill().unwrap();
    child.wait().unwrap();
    reader.join().unwrap();
    saved.extend(said.try_iter());
    saved
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_acknowledged_survives_fifty_kills() {
    let lane = GraphBackend::embedded();
    let url = lane.config().url;
    let mut acknowledged: Vec<BTreeSet<String>> = vec![BTreeSet::new(); WRITERS];
    for kill in 1..=KILLS {
        let here = url.clone();
        let saved = tokio::task::spawn_blocking(move || kill_one(&here))
            .await
            .unwrap();
        for (writer, id) in saved {
            acknowledged[writer].insert(id);
        }
        if kill % 10 != 0 {
            continue;
        }
        let store = lane.open().await;
        for (writer, expected) in acknowledged.iter().enumerate() {
            let chain = talk_of(writer, &store).chain().await;
            let found: BTreeSet<String> = ids(&chain).iter().map(ToString::to_string).collect();
            let lost: Vec<_> = expected.difference(&found).collect();
            assert!(
                lost.is_empty(),
                "after {kill} kills, of writer {writer}: {lost:?}"
            );
        }
        store.close().await.unwrap();
    }
    let all: usize = acknowledged.iter().map(BTreeSet::len).sum();
    assert!(all > KILLS, "{all}");
    // Shown with --nocapture.
    let line = format!("{all} turns were acknowledged before {KILLS} kills; none was lost\n");
    std::io::stdout().write_all(line.as_bytes()).unwrap();
}
