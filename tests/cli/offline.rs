//! `muninn offline-turns`: turns that wait for the graph, and turns that it refused.

use serde_json::{Value, json};

use crate::home::Home;

/// Creates a home in whose data folder an earlier version set a turn aside.
fn home() -> Home {
    let mut home = Home::new();
    let data = home.path("data");
    home.set("DATA_DIR", data.display().to_string());
    std::fs::create_dir_all(&data).unwrap();
    let turn = json!({
        "audience": {"id": "terminal", "platform": "terminal", "workspace": "", "name": "terminal"},
        "turn": {
            "id": "0192f5a0-0000-7000-8000-000000000001", "session": "terminal/main", "position": 0,
            "created_at": "2026-11-01T10:00:00Z", "source": "model", "input": "Where is Odin?",
            "rephrased_question": null, "output": "Out.", "cypher": null, "event": "e1",
            "author": "ada", "author_name": "Ada", "volatile": false, "embedding": null,
            "model": null, "prompt_tokens": 0, "completion_tokens": 0, "duration_ms": 0,
        },
        "context": [], "recalled": [],
    });
    std::fs::write(data.join("journal-0.refused.jsonl"), format!("{turn}\n")).unwrap();
    home
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_set_aside_is_told_of_and_can_be_tried_again() {
    let home = home();
    let told = home.run(&["doctor"], "").await;
    assert!(
        told.out
            .contains("PROBLEM  journal: refused by the graph and set aside: 1 turn in"),
        "{told:?}"
    );
    let listed = home.run(&["offline-turns", "list"], "").await;
    let listed = listed.succeeds();
    assert!(
        listed.contains("Waiting for the graph: 0 turns"),
        "{listed}"
    );
    assert!(
        listed.contains("Refused by the graph: 1 turn\n"),
        "{listed}"
    );
    assert!(listed.contains("Ada: Where is Odin?"), "{listed}");
    let listed = home.run(&["offline-turns", "list", "--json"], "").await;
    let listed: Value = serde_json::from_str(listed.succeeds()).unwrap();
    let refused = &listed["refused"][0];
    assert_eq!(refused["question"], "Where is Odin?");
    assert_eq!(refused["conversation"], "terminal/main");
    let retried = home.run(&["offline-turns", "retry"], "").await;
    assert_eq!(
        retried.succeeds(),
        "Tried again: 1 turn. Still refused: 0 turns. Waiting: 0 turns.\n"
    );
    let sessions = home.run(&["sessions"], "").await;
    assert!(sessions.succeeds().contains("Where is Odin?"));
    let told = home.run(&["doctor"], "").await;
    assert!(told.out.contains("journal: no turn waits"), "{told:?}");
    assert!(!told.out.contains("refused"), "{told:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_set_aside_can_be_discarded() {
    let home = home();
    let done = home.run(&["offline-turns", "discard"], "").await;
    assert_eq!(done.succeeds(), "Removed: 1 turn.\n");
    let listed = home.run(&["offline-turns", "list"], "").await;
    assert!(listed.succeeds().contains("Refused by the graph: 0 turns"));
}
