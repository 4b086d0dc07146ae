//! What becomes of answers when the documents they were made from are ingested anew.

use std::collections::BTreeMap;

use crate::desk::{Desk, RAVENS};
use crate::lanes::{Lane, Talk};

on_every_store![an_answer_keeps_what_it_was_made_from];

async fn an_answer_keeps_what_it_was_made_from(lane: &Lane) {
    let desk = Desk::on(lane).await;
    desk.put("ravens.md", RAVENS);
    desk.put("gone.md", "# Gone\nIt will be gone.\n");
    desk.ingest().await;
    let talk = Talk::on(&desk.store);
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

    // A section is new, one says something else, one file is gone; the rest says what it said.
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
