//! `ingest` of folders: names of sources, tables as other programs write them, and files that are gone.

use serde_json::{Value, json};

use crate::admin::serving;
use crate::home::Home;

fn put(home: &Home, name: &str, text: &str) {
    let path = home.path(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn files_whose_paths_make_one_name_are_two_sources() {
    let home = Home::new();
    put(&home, "rec/a/b.csv", "id,about\n1,The crane is red\n");
    put(&home, "rec/a.b.csv", "id,about\n1,The barge is blue\n");
    home.run(&["ingest", "rec"], "").await.succeeds();
    for (question, answer) in [
        ("Which crane is red?", "The crane is red"),
        ("Which barge is blue?", "The barge is blue"),
    ] {
        let found = home.run(&["search", question], "").await;
        assert!(found.succeeds().contains(answer), "{found:?}");
    }
    let again = home.run(&["ingest", "rec"], "").await;
    let same = again
        .succeeds()
        .matches("stays at version 1: 0 new")
        .count();
    assert_eq!(same, 2, "{again:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_may_have_semicolons() {
    let home = Home::new();
    let rows =
        "id;name;about\n1;Ann;Runs the harbour, every day\n2;Bea;Paints boats\n3;Cy;Sells nets\n";
    put(&home, "people.csv", rows);
    let done = home.run(&["ingest", "people.csv"], "").await;
    assert!(done.succeeds().contains("3 new"), "{done:?}");
    let exported = home.export().await;
    let people = exported.nodes.values();
    let people: Vec<[&str; 3]> = people
        .filter(|node| node["source"] == "people" && node["about"].is_string())
        .map(|node| ["id_", "name", "about"].map(|name| node[name].as_str().unwrap()))
        .collect();
    let expected = ["Runs the harbour, every day", "Paints boats", "Sells nets"];
    assert_eq!(people.len(), expected.len(), "{people:?}");
    for about in expected {
        assert!(people.iter().any(|person| person[2] == about), "{people:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_left_is_taken_in_although_nobody_can_say_what_to_do_with_the_rest() {
    let home = Home::new().with("TERMINAL_SOCKET", "socket");
    put(&home, "wiki/a.md", "# Ferries\nThe ferry leaves at six.\n");
    put(&home, "wiki/p.csv", "id,name\n1,Lisbon harbour\n");
    home.run(&["ingest", "wiki"], "").await.succeeds();
    put(&home, "wiki/a.md", "# Ferries\nThe ferry leaves at noon.\n");
    std::fs::remove_file(home.path("wiki/p.csv")).unwrap();

    let running = serving(&home).await;
    let done = home.run(&["ingest", "wiki"], "").await;
    let said = done.succeeds();
    assert!(said.contains("1 changed"), "{said}");
    assert!(said.contains("wiki.p.csv stays as it is"), "{said}");
    assert!(said.contains("add --yes to remove it"), "{said}");
    let found = home
        .run(&["search", "When does the ferry leave?"], "")
        .await;
    assert!(found.succeeds().contains("leaves at noon"), "{found:?}");

    let json = home.run(&["ingest", "wiki", "--json"], "").await;
    let json: Value = serde_json::from_str(json.succeeds()).unwrap();
    assert_eq!(json["gone"], json!(["wiki.p.csv"]));
    let done = home.run(&["ingest", "wiki", "--yes"], "").await;
    let removed = "wiki.p.csv was removed, with 1 chunk.";
    assert!(done.succeeds().contains(removed), "{done:?}");

    // If nothing at all is left, that is more likely a mistake.
    std::fs::remove_file(home.path("wiki/a.md")).unwrap();
    let nothing = home.run(&["ingest", "wiki"], "").await;
    nothing.fails(
        1,
        &["Nothing is left to ingest of the source wiki", "--yes"],
    );
    running.signal("TERM").await;
    running.end().await.succeeds();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_call_made_of_a_folder_within_is_not_gone() {
    let home = Home::new();
    put(&home, "docs/b.md", "# Ferries\nThe ferry leaves at six.\n");
    put(
        &home,
        "docs/api/a.md",
        "# Calls\nThe call is made by post.\n",
    );
    put(&home, "docs/p.csv", "id,name\n1,Lisbon harbour\n");
    for call in [
        &["ingest", "docs/api", "--as", "docs.api", "--channels", "C1"][..],
        &["ingest", "docs/p.csv", "--as", "docs.ports"],
        &["ingest", "docs"],
        &["ingest", "docs", "--yes"],
        &["ingest", "docs", "--exclude", "api/", "--yes"],
    ] {
        let done = home.run(call, "").await;
        let said = done.succeeds();
        assert!(!said.contains("nothing is left"), "{said}");
        assert!(!said.contains("was removed"), "{said}");
    }
    let listed = home.run(&["source", "list"], "").await;
    for name in [
        "docs.api  version 1",
        "docs.ports  version 1",
        "docs.p.csv  version 1",
    ] {
        assert!(listed.succeeds().contains(name), "{listed:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_id_that_comes_again_late_in_a_file_is_none() {
    const RECORDS: usize = 3_000;
    let home = Home::new();
    let line = |number: usize| {
        let late = if number == RECORDS {
            ", \"berth\": 7"
        } else {
            ""
        };
        format!(
            "{{\"number\": {}, \"name\": \"Harbour {number}\"{late}}}\n",
            number % RECORDS
        )
    };
    put(
        &home,
        "ports.jsonl",
        &(0..=RECORDS).map(line).collect::<String>(),
    );
    let done = home.run(&["ingest", "ports.jsonl"], "").await;
    let said = done.succeeds();
    assert!(
        said.contains("3001 new") && said.contains("0 refused"),
        "{said}"
    );
    let exported = home.export().await;
    let berths = exported.nodes.values().filter(|node| node["berth"] == 7);
    assert_eq!(berths.count(), 1, "a field of the last record only");
}
