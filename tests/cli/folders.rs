//! `ingest` of folders: names of sources, tables as other programs write them, and files that are gone.

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
