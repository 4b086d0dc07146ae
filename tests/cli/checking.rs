//! `muninn cypher check`: the statement that would run, or why it is refused.

use serde_json::{Value, json};

use crate::home::Home;

const SCHEMA: &str = r#"{
    "nodes": {"Movie": [["title", "STRING"]]},
    "relationships": {"SEQUEL": []},
    "patterns": [["Movie", "SEQUEL", "Movie"]]
}"#;

fn home() -> (Home, String) {
    let home = Home::new();
    let schema = home.path("schema.json");
    std::fs::write(&schema, SCHEMA).unwrap();
    (home, schema.display().to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_is_printed_as_it_would_run() {
    let (home, schema) = home();
    let arguments = ["cypher", "check", "--schema", &schema, "MATCH (n) RETURN n"];
    let done = home.run(&arguments, "").await;
    assert_eq!(done.succeeds(), "MATCH (n:Movie) RETURN n LIMIT 100\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_is_printed_and_told_by_the_exit_code() {
    let (home, schema) = home();
    let query = "MATCH (n:Session) RETURN n";
    let done = home
        .run(&["cypher", "check", "--schema", &schema, query], "")
        .await;
    done.fails(1, &[]);
    assert!(
        done.out
            .starts_with("line 1, column 10: Session is no part"),
        "{done:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_of_stdin_is_a_statement_or_a_json_string() {
    let (home, schema) = home();
    let lines = "MATCH (n) RETURN n.title\n\"MATCH (n)\\nRETURN n.titel\"\n\n\"MATCH\n";
    let arguments = ["cypher", "check", "--schema", &schema, "-"];
    let done = home.run(&arguments, lines).await;
    done.fails(1, &[]);
    let answers = answers(&done.out);
    assert_eq!(
        answers[0],
        json!({"ok": true, "cypher": "MATCH (n:Movie) RETURN n.title LIMIT 100"})
    );
    assert_eq!(
        answers[1],
        json!({"ok": false, "error": "line 2, column 10: Movie has no property titel; perhaps title"})
    );
    assert_eq!(answers[2]["ok"], false);
    assert_eq!(answers.len(), 3);
}

fn answers(out: &str) -> Vec<Value> {
    let lines = out.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_that_is_not_utf_8_is_named_and_the_others_are_checked() {
    let (home, schema) = home();
    let arguments = ["cypher", "check", "--schema", &schema, "-"];
    let refused = "MATCH (n:Session) RETURN n\n";
    let lines = [
        b"RETURN 1 AS x\nRETURN '\xFF' AS x\n".as_slice(),
        refused.as_bytes(),
        b"RETURN 2 AS x",
    ];
    let done = home.run(&arguments, lines.concat()).await;
    done.fails(1, &[]);
    let answers = answers(&done.out);
    assert_eq!(
        answers[0],
        json!({"ok": true, "cypher": "RETURN 1 AS x LIMIT 100"})
    );
    assert_eq!(
        answers[1],
        json!({"ok": false, "error": "line 2: is not UTF-8 from its byte 9 on; write it as UTF-8"})
    );
    assert_eq!(answers[2]["ok"], false);
    assert_eq!(
        answers[3],
        json!({"ok": true, "cypher": "RETURN 2 AS x LIMIT 100"})
    );
    assert_eq!(answers.len(), 4);
    // A refusal is a successful result.
    home.run(&arguments, refused).await.succeeds();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_schema_that_is_none_is_named() {
    let (home, schema) = home();
    std::fs::write(&schema, "{\"nodes\": 1}").unwrap();
    let arguments = ["cypher", "check", "--schema", &schema, "RETURN 1"];
    let done = home.run(&arguments, "").await;
    done.fails(1, &["schema.json is no schema"]);
}

#[tokio::test]
async fn completions_and_manual_pages_know_every_command() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = home.run(&["completions", shell], "").await;
        let script = script.succeeds();
        for word in ["ingest", "graph-url", "offline-turns"] {
            assert!(script.contains(word), "no {word} for {shell}");
        }
    }
    let page = home.run(&["man"], "").await;
    let page = page.succeeds();
    assert!(
        page.starts_with(".ie") && page.contains(".TH muninn 1"),
        "{page}"
    );
    for words in ["Latest turns of the conversation", "GRAPH_URL"] {
        assert!(page.contains(words), "no {words} in {page}");
    }

    home.run(&["man", "--out", "pages"], "").await.succeeds();
    let ingest = std::fs::read_to_string(home.path("pages/muninn-ingest.1")).unwrap();
    assert!(ingest.contains("\\-\\-mapping"), "{ingest}");
}
