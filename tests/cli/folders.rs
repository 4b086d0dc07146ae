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
