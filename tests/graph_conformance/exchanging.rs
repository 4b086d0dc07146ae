//! Answers whose source documents are ingested anew.

use std::collections::BTreeMap;

use muninn::graph::ingest::ServedChunk;
use muninn::knowledge::changing;

use crate::desk::{IngestFixture, RAVENS};
use crate::lanes::{GraphBackend, StoreConversation};

on_every_store![
    an_answer_keeps_what_it_was_made_from,
    a_removed_source_leaves_its_name_with_its_answers,
    a_renamed_source_is_the_same_under_another_name,
];

async fn a_removed_source_leaves_its_name_with_its_answers(lane: &GraphBackend) {
    let desk = IngestFixture::on(lane).await;
    desk.put("ravens.md", RAVENS);
    for channels in [&[][..], &["C1"]] {
        desk.ingest_with(None, channels).await;
        let talk = StoreConversation::on(&desk.store);
        let mut new = talk.turn("Who thinks, and who remembers?");
        new.context = desk.elements().await;
        talk.append(&new).await;
        let data_dir = desk.folder.path();
        let removed = changing::remove(&desk.store, data_dir, &desk.name).await;
        assert_eq!(removed.unwrap(), 4);
        assert!(desk.served().await.is_empty());
        let explained = desk.store.explain(&talk.session, None).await.unwrap();
        let explained = explained.unwrap();
        assert!(explained.context.is_empty(), "{:?}", explained.context);
        let of_all = if channels.is_empty() { 1 } else { 0 };
        // The elements of restricted sources are not reported, so no answer is tied to them.
        assert_eq!(explained.removed_sources.len(), of_all);
        assert!(
            explained
                .removed_sources
                .iter()
                .all(|name| *name == desk.name)
        );
        let again = changing::remove(&desk.store, data_dir, &desk.name).await;
        let again = again.unwrap_err().to_string();
        assert!(again.contains("there is no source"), "{again}");
    }
    assert_eq!(desk.ingest().await.version, 1, "it begins anew");
}

async fn a_renamed_source_is_the_same_under_another_name(lane: &GraphBackend) {
    let mut desk = IngestFixture::on(lane).await;
    let other = desk.beside();
    other.put("other.md", "Other.");
    other.ingest().await;
    desk.put("ravens.md", RAVENS);
    desk.ingest().await;
    let talk = StoreConversation::on(&desk.store);
    let mut new = talk.turn("Who thinks, and who remembers?");
    new.context = desk.elements().await;
    talk.append(&new).await;
    let before = desk.served().await;

    let data_dir = desk.folder.path().to_owned();
    let rename = async |old: &str, new: &str| {
        let renamed = changing::rename(&desk.store, &data_dir, old, new).await;
        renamed.map_err(|error| error.to_string())
    };
    let taken = rename(&desk.name, &other.name).await.unwrap_err();
    assert!(taken.contains("already"), "{taken}");
    assert!(
        rename("nobody", "x")
            .await
            .unwrap_err()
            .contains(&desk.name)
    );
    assert!(
        rename(&desk.name, "a/b")
            .await
            .unwrap_err()
            .contains("cannot name")
    );
    let new = format!("{}-ü-2", desk.name);
    assert_eq!(rename(&desk.name, &new).await, Ok(4));
    assert!(desk.served().await.is_empty());
    desk.name = new;
    let after = desk.served().await;
    let told = |served: &BTreeMap<String, ServedChunk>| -> Vec<(String, String, i64)> {
        let told = served.iter();
        told.map(|(name, it)| (name.clone(), it.text.clone(), it.version))
            .collect()
    };
    assert_eq!(told(&after), told(&before));
    let explained = desk
        .store
        .explain(&talk.session, None)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (explained.context.len(), explained.removed_sources.len()),
        (4, 0)
    );
    // Unchanged content is not created again under the new name either.
    let again = desk.ingest().await;
    assert!(again.is_same && again.version == 1, "{again:?}");
    desk.put("ravens.md", "# Ravens\nThree.\n");
    assert_eq!(desk.ingest().await.counts.changed, 1);
    assert_eq!(desk.served().await.len(), 1);
    assert_eq!(other.served().await.len(), 1);
}

async fn an_answer_keeps_what_it_was_made_from(lane: &GraphBackend) {
    let desk = IngestFixture::on(lane).await;
    desk.put("ravens.md", RAVENS);
    desk.put("gone.md", "# Gone\nIt will be gone.\n");
    desk.ingest().await;
    let talk = StoreConversation::on(&desk.store);
    let mut new = talk.turn("Who thinks, and who remembers?");
    new.context = desk.elements().await;
    talk.append(&new).await;
    let made_from = async || {
        let explained = desk.store.explain(&talk.session, None).await.unwrap();
        let context = explained.unwrap().context.into_iter();
        let said = context.map(|node| {
            let said = node.properties["text"].as_str().unwrap().to_owned();
            (said, node.has_changed)
        });
        said.collect::<BTreeMap<String, bool>>()
    };
    let before = made_from().await;
    assert_eq!(before.len(), 5);
    assert!(before.values().all(|has_changed| !has_changed));

    // One section is new, one has changed, one file is gone; the rest is unchanged.
    desk.put(
        "ravens.md",
        &RAVENS
            .replace("## Huginn", "## Names\nThey have names.\n\n## Huginn")
            .replace("Memory.", "Memory, mostly."),
    );
    desk.take_away("gone.md");
    for _ in 0..2 {
        desk.ingest().await;
        let after = made_from().await;
        let expected = [
            ("Two of them.", false),
            ("Thought.", false),
            ("Small ones.", false),
            ("Memory, mostly.", true),
        ];
        assert_eq!(after.len(), expected.len(), "{after:?}");
        for (end, has_changed) in expected {
            let found = after.iter().find(|(said, _)| said.ends_with(end));
            assert_eq!(
                found.map(|(_, it)| *it),
                Some(has_changed),
                "{end} in {after:?}"
            );
        }
        // Another version in which all of that stays.
        desk.put("other.md", "# Other\nSomething else.\n");
    }
}
