//! Data stored by earlier versions: every later version opens it and loses nothing.
//!
//! Each folder of `tests/data/formats` was written by the version it is named after (`.ci/freeze-formats`), and is never edited.

use std::path::{Path, PathBuf};

use chrono::Utc;
use serde_json::{Value, json};

use crate::admin::serving;
use crate::home::{Exported, Home, eventually};

/// Returns the folders of all frozen versions.
fn versions() -> Vec<PathBuf> {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/formats");
    let folders = std::fs::read_dir(all).unwrap();
    let mut folders: Vec<PathBuf> = folders.map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    assert!(!folders.is_empty(), "no version was frozen");
    folders
}

/// Creates a home whose data folder is a copy of a frozen one.
fn home(frozen: &Path) -> Home {
    let home = Home::new();
    copy(frozen, &home.path("muninn-data"));
    home
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Sets the time of a folder's pending messages to now: those older than a day are not answered.
fn sent_now(folder: &Path) {
    let file = folder.join("accepted-0.jsonl");
    let kept = std::fs::read_to_string(&file).unwrap();
    let messages = kept.lines().map(|line| {
        let mut message: Value = serde_json::from_str(line).unwrap();
        message["Accepted"]["sent_at"] = json!(Utc::now());
        message.to_string() + "\n"
    });
    std::fs::write(file, messages.collect::<String>()).unwrap();
}

/// Removes the exact values of vectors, which the embedded graph stores with less precision than
/// Neo4j.
fn roughly(mut exported: Exported) -> Exported {
    for node in exported.nodes.values_mut() {
        if let Some(vector) = node.get_mut("embedding") {
            *vector = vector.as_array().map(Vec::len).into();
        }
    }
    exported
}

/// Returns the questions that were kept.
fn questions(exported: &Exported) -> Vec<&str> {
    let nodes = exported.nodes.values();
    nodes.filter_map(|node| node["input"].as_str()).collect()
}

async fn recalls(home: &Home, question: &str, answer: &str) {
    let asked = home.chat(&["--session", "later"], &[question]).await;
    assert!(asked.succeeds().contains(answer), "{asked:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_embedded_graph_of_every_version_is_opened_whole() {
    for version in versions() {
        let home = home(&version.join("embedded"));
        let kept = Exported::read(&version.join("embedded.jsonl"));
        assert_eq!(home.export().await, kept, "{version:?}");
        let forgotten = "The wifi password is kingfisher.";
        assert!(!questions(&kept).contains(&forgotten), "{version:?}");

        let sessions = home.run(&["sessions", "--json"], "").await;
        let frozen = std::fs::read_to_string(version.join("sessions.json")).unwrap();
        assert_eq!(sessions.succeeds(), frozen, "{version:?}");
        recalls(&home, "What is the code of the coffee machine?", "4711").await;
        let found = home.run(&["search", "Where is the xylophone?"], "").await;
        assert!(found.succeeds().contains("room 7"), "{found:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_of_every_version_is_imported_whole() {
    let of_graphs = [
        (
            "embedded.jsonl",
            "Which hotel do we have in Turin?",
            "Albergo Milano",
        ),
        ("neo4j.jsonl", "Where is the spare key?", "third pot"),
    ];
    for version in versions() {
        for (file, question, answer) in of_graphs {
            let home = Home::new();
            let file = version.join(file);
            home.run(&["import", file.to_str().unwrap()], "")
                .await
                .succeeds();
            let (kept, frozen) = (home.export().await, Exported::read(&file));
            assert_eq!(roughly(kept), roughly(frozen), "{file:?}");
            recalls(&home, question, answer).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_waited_in_every_version_is_answered() {
    for version in versions() {
        let home = home(&version.join("embedded"))
            .with("WEBHOOK_ADDR", "127.0.0.1:0")
            .with("WEBHOOK_SECRET", "a-secret-for-what-is-frozen-only")
            .with("WEBHOOK_ANSWER_URL", "http://127.0.0.1:9/");
        sent_now(&home.path("muninn-data"));
        let serving = serving(&home).await;
        eventually("the answer", async || {
            let kept = home.export().await;
            let asked = questions(&kept);
            let is_kept = asked.contains(&"Which port does the printer use?");
            is_kept.then_some(())
        })
        .await;
        serving.signal("TERM").await;
        serving.end().await.succeeds();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_waited_for_the_graph_in_every_version_is_kept() {
    for version in versions() {
        let home = home(&version.join("offline"));
        let waiting = home.run(&["offline-turns", "list"], "").await;
        let said = "The plumber comes on Thursday.";
        let one = "Waiting for the graph: 1 turn\n";
        assert!(waiting.succeeds().contains(one), "{waiting:?}");
        let home = home.with("TERMINAL_SOCKET", "socket");
        let serving = serving(&home).await;
        eventually("the turn", async || {
            let kept = home.export().await;
            questions(&kept).contains(&said).then_some(())
        })
        .await;
        serving.signal("TERM").await;
        serving.end().await.succeeds();
        let waiting = home.run(&["offline-turns", "list"], "").await;
        let none = "Waiting for the graph: 0 turns";
        assert!(waiting.succeeds().contains(none), "{waiting:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_of_a_newer_version_is_refused_and_stays_as_it_is() {
    let home = Home::new();
    home.chat(&[], &["The code is 4711."]).await.succeeds();
    let format = home.path("muninn-data/format");
    assert_eq!(std::fs::read_to_string(&format).unwrap(), "1\n");
    std::fs::write(&format, "2\n").unwrap();
    let refused = "was written by a newer muninn (format 2; this one knows 1); update muninn";
    for arguments in [["chat"].as_slice(), &["sessions"], &["serve"], &["health"]] {
        home.run(arguments, "Hello?\n").await.fails(1, &[refused]);
    }
    let doctor = home.run(&["doctor"], "").await;
    let problem = doctor.out.lines().find(|line| line.contains(refused));
    assert!(
        problem.is_some_and(|line| line.starts_with("PROBLEM")),
        "{doctor:?}"
    );

    std::fs::write(&format, "1\n").unwrap();
    assert_eq!(questions(&home.export().await), ["The code is 4711."]);
}
