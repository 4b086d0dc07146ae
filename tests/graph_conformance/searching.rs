//! What a store provides for searching: the served versions, their links, their texts.

use std::sync::Arc;

use muninn::graph::ingest::searching::{Passage, ServedLink, SourceVersion};
use serde_json::json;
use tokio::sync::mpsc;

use crate::desk::{IngestFixture, RAVENS};
use crate::lanes::GraphBackend;

on_every_store!(
    a_source_is_served_from_its_first_version_on,
    links_between_records_are_told_and_the_tree_is_not,
    what_chunks_say_is_told_to_those_who_may_see_it,
);

const PEOPLE: &str = r#"
[[record]]
label = "Author"
id = "/id"
title = "/name"
text = ["/name"]
[[record.relation]]
type = "KNOWS"
ids = "/knows"
"#;

async fn version(desk: &IngestFixture) -> Option<SourceVersion> {
    let versions = desk.store.source_versions().await.unwrap();
    versions.into_iter().find(|source| source.name == desk.name)
}

async fn links(desk: &IngestFixture) -> Vec<ServedLink> {
    let (sender, mut told) = mpsc::channel(1);
    let (store, source) = (Arc::clone(&desk.store), desk.name.clone());
    let reading = tokio::spawn(async move { store.served_links(&source, sender).await });
    let mut links = Vec::new();
    while let Some(link) = told.recv().await {
        assert!(link.from.starts_with(&desk.name), "{link:?}");
        links.push(link);
    }
    reading.await.unwrap().unwrap();
    links.sort_by(|a, b| (&a.from, &a.to).cmp(&(&b.from, &b.to)));
    links
}

async fn passages(desk: &IngestFixture, chunks: &[&str], private: bool) -> Vec<Passage> {
    let chunks: Vec<String> = chunks
        .iter()
        .map(|at| format!("{}/{at}", desk.name))
        .collect();
    let told = desk.store.passages(&chunks, private).await;
    let mut told = told.unwrap();
    told.sort_by(|a, b| a.chunk.cmp(&b.chunk));
    told
}

async fn a_source_is_served_from_its_first_version_on(lane: &GraphBackend) {
    let desk = IngestFixture::on(lane).await;
    assert_eq!(version(&desk).await, None);
    // Claimed, but incomplete.
    let lease = desk.claim("1").await;
    assert_eq!(version(&desk).await, None);
    desk.store.release_source(&lease).await.unwrap();

    desk.put("ravens.md", RAVENS);
    desk.ingest_with(None, &["C1", "C2"]).await;
    let first = version(&desk).await.unwrap();
    assert_eq!(
        (first.version, first.channels.join(",")),
        (1, "C1,C2".to_owned())
    );
    assert!(first.since.is_some());
    desk.put("ravens.md", "# Ravens\nThree of them.\n");
    desk.ingest_with(None, &["C1", "C2"]).await;
    let second = version(&desk).await.unwrap();
    assert_eq!(second.version, 2);
    assert!(second.since >= first.since);
}

async fn links_between_records_are_told_and_the_tree_is_not(lane: &GraphBackend) {
    let desk = IngestFixture::on(lane).await;
    desk.put("ravens.md", RAVENS);
    desk.ingest().await;
    assert_eq!(links(&desk).await, []);

    let desk = desk.beside();
    desk.put(
        "people.jsonl",
        r#"{"id": "ann", "name": "Ann", "knows": ["bob"]}
{"id": "bob", "name": "Bob", "knows": []}
"#,
    );
    desk.ingest_with(Some(PEOPLE), &[]).await;
    let told = links(&desk).await;
    let expected = ServedLink {
        from: format!("{}/ann#0", desk.name),
        kind: "KNOWS".to_owned(),
        to: format!("{}/bob#0", desk.name),
    };
    assert_eq!(told, [expected]);
}

async fn what_chunks_say_is_told_to_those_who_may_see_it(lane: &GraphBackend) {
    let desk = IngestFixture::on(lane).await;
    desk.put("ravens.md", RAVENS);
    desk.ingest().await;
    let asked = ["ravens.md#1", "ravens.md#3", "ravens.md#99"];
    let told = passages(&desk, &asked, false).await;
    let said: Vec<&str> = told.iter().map(|passage| passage.text.as_str()).collect();
    assert_eq!(said, ["Thought.", "Memory."]);
    assert_eq!(told[0].properties["heading"], json!("Huginn"));
    for hidden in ["embedding", "contentHash", "embedder"] {
        assert!(!told[0].properties.contains_key(hidden), "{hidden}");
    }
    assert!(told.iter().all(|passage| !passage.element.is_empty()));
    assert_eq!(passages(&desk, &[], false).await, []);
    assert_eq!(passages(&desk, &asked, true).await, []);

    let desk = desk.beside();
    desk.put("secret.md", "The xenolith moves in May.");
    desk.ingest_with(None, &["C1"]).await;
    assert_eq!(passages(&desk, &["secret.md#0"], false).await, []);
    let told = passages(&desk, &["secret.md#0"], true).await;
    assert_eq!(told[0].text, "The xenolith moves in May.");
}
