//! `demo` and `schema`.

use serde_json::Value;

use crate::home::Home;

const NONE: &str = "`muninn demo movies`";

#[tokio::test(flavor = "multi_thread")]
async fn the_demo_is_loaded_once_and_shown() {
    let home = Home::new();
    assert!(home.run(&["schema"], "").await.succeeds().contains(NONE));
    let empty = home.run(&["doctor"], "").await;
    assert!(empty.succeeds().contains(NONE), "{empty:?}");
    let empty = home.run(&["schema", "--json"], "").await;
    let empty: Value = serde_json::from_str(empty.succeeds()).unwrap();
    assert_eq!(empty["nodes"], serde_json::json!({}));

    let loaded = home.run(&["demo", "movies"], "").await;
    assert!(
        loaded
            .succeeds()
            .contains("179 movies and people, with 259"),
        "{loaded:?}"
    );
    assert!(loaded.succeeds().contains("The Matrix"), "{loaded:?}");
    let again = home.run(&["demo", "movies"], "").await;
    assert!(
        again.succeeds().contains("in the graph already"),
        "{again:?}"
    );

    home.chat(&[], &["Nobody asks for this."]).await.succeeds();
    let shown = home.run(&["schema"], "").await;
    for line in [
        "(:Person {name: STRING, born: INTEGER}) 139",
        "(:Person)-[:ACTED_IN {roles: LIST}]->(:Movie) 176",
    ] {
        assert!(shown.succeeds().contains(line), "{shown:?}");
    }
    assert!(!shown.succeeds().contains("Response"), "{shown:?}");
    let json = home.run(&["schema", "--json"], "").await;
    let json: Value = serde_json::from_str(json.succeeds()).unwrap();
    assert_eq!(
        json["nodes"]["Person"][0],
        serde_json::json!(["name", "STRING"])
    );
    let doctor = home.run(&["doctor"], "").await;
    assert!(
        doctor
            .succeeds()
            .contains("139 Person, 40 Movie; 6 relationship types"),
        "{doctor:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_demo_of_a_table_makes_several_nodes_of_a_row() {
    let home = Home::new();
    let loaded = home.run(&["demo", "contracts"], "").await;
    assert!(loaded.succeeds().contains("16 new"), "{loaded:?}");
    let again = home.run(&["demo", "contracts"], "").await;
    assert!(
        again
            .succeeds()
            .contains("stays at version 1: 0 new, 0 changed, 16 unchanged"),
        "{again:?}"
    );
    let shown = home.run(&["schema"], "").await;
    for line in [
        "(:Contract)-[:SUPPLIED_BY]->(:Supplier) 8",
        "(:Contract)-[:MADE_THROUGH]->(:Vendor) 8",
    ] {
        assert!(shown.succeeds().contains(line), "{shown:?}");
    }
    let found = home
        .run(&["search", "Who delivers ice for the fish market?"], "")
        .await;
    assert!(found.succeeds().contains("Nordlys Ice"), "{found:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_demo_that_is_not_there_names_those_that_are() {
    let refused = Home::new().run(&["demo", "ravens"], "").await;
    refused.fails(2, &["movies", "contracts"]);
}
