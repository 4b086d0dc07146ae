//! Export and import in both directions, and invalid files.

use std::io::{BufReader, Read};
use std::sync::Arc;

use chrono::Utc;
use muninn::graph::transfer::{
    GraphNode, GraphRelationship, Progress, TransferError, check, export, import,
};
use muninn::graph::{
    AttachedText, GraphStore, ReplacementKind, ResponseId, Source, open, open_unfinished,
};
use serde_json::{Map, Value, json};

use crate::lanes::{GraphBackend, StoreConversation, ids};
use crate::messages::said;

on_every_store!(a_turn_of_no_conversation_can_be_forgotten);

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => panic!("{other} is no map"),
    }
}

fn node(labels: &[&str], properties: Value) -> GraphNode {
    GraphNode {
        id: String::new(),
        labels: labels.iter().map(|label| (*label).to_owned()).collect(),
        properties: object(properties),
    }
}

/// Fills the store with knowledge of every kind, and conversations about it.
async fn fill(store: &Arc<GraphStore>) -> StoreConversation {
    let knowledge = vec![
        node(
            &["Raven", "God's bird"],
            json!({
                "id": "r1", "title": "T", "type": "x", "name": "Huginn", "whole": 1, "float": 1.0,
                "tenth": 0.1, "tiny": 5e-324, "yes": true, "nan": {"$float": "NaN"},
                "day": {"$date": "2026-01-02"}, "at": {"$datetime": "2026-01-02T03:04:05.000000001+01:00"},
                "local": {"$localdatetime": "2026-01-02T03:04:05"}, "time": {"$time": "10:00:00+01:00"},
                "clock": {"$localtime": "10:00:00.500"}, "span": {"$duration": [1, 2, 3, 4]},
                "place": {"$point": {"srid": 4326, "at": [10.75, 59.91]}},
                "numbers": [1, 2, 3], "floats": [1.0, 2.5], "words": ["a", "☃"], "none": []
            }),
        ),
        node(&["Raven"], json!({"name": "Muninn"})),
        node(&["Raven"], json!({"name": "same", "title": "same"})),
        node(&["Raven"], json!({"id": 7})),
        node(&["Raven"], json!({"text": "'\"`\\ \u{0} 🐦 $x"})),
        node(&[], json!({"about": "nothing"})),
        node(&["Empty"], json!({})),
    ];
    let names = store.create_nodes(knowledge).await.unwrap();
    let one = |kind: &str, from: usize, to: usize, properties: Value| GraphRelationship {
        kind: kind.to_owned(),
        from: names[from].clone(),
        to: names[to].clone(),
        properties: object(properties),
    };
    store
        .create_relationships(vec![
            one(
                "SIBLING OF",
                0,
                1,
                json!({"since": {"$date": "0900-01-01"}, "weight": 1.0}),
            ),
            one("SIBLING OF", 0, 1, json!({"weight": 2})),
            one("SELF", 5, 5, json!({})),
        ])
        .await
        .unwrap();
    let talk = StoreConversation::on(store);
    let first = talk.say("a").await;
    let mut second = talk.turn("b");
    second.turn.source = Source::Memory;
    second.turn.embedding = None;
    second.context = vec![names[0].clone(), names[5].clone()];
    second.recalled = vec![(first.id, 0.123_456_789)];
    let second = talk.append(&second).await;
    let mut heard = said(&talk, "Tom", "heard");
    heard.turn.reply_to = Some("event/other".to_owned());
    talk.append(&heard).await;
    talk.beside().say("c").await;
    store
        .supersede(
            &talk.audience.id,
            second.id,
            &[(first.id, ReplacementKind::Value)],
        )
        .await
        .unwrap();
    talk
}

async fn exported(store: &Arc<GraphStore>) -> Vec<u8> {
    let mut file = Vec::new();
    let mut last = None;
    let mut progress = |state: Progress| last = Some(state);
    export(store, &mut file, &mut progress).await.unwrap();
    if let Some(state) = last {
        assert_eq!(state.done, state.total);
    }
    file
}

async fn imported(
    store: &Arc<GraphStore>,
    file: &[u8],
    replace: bool,
) -> Result<(), TransferError> {
    let checked = check(&mut &file[..])?;
    import(store, &mut &file[..], &checked, &mut |_| (), replace).await
}

/// Imports a file that cannot be read beyond this many bytes.
async fn interrupted(store: &Arc<GraphStore>, file: &[u8], readable: usize) {
    let checked = check(&mut &file[..]).unwrap();
    let mut reader = BufReader::new((&file[..readable]).chain(Unreadable));
    let error = import(store, &mut reader, &checked, &mut |_| (), true)
        .await
        .unwrap_err();
    assert!(matches!(error, TransferError::File(_)), "{error}");
}

/// A failing disk.
struct Unreadable;

impl Read for Unreadable {
    fn read(&mut self, _into: &mut [u8]) -> std::io::Result<usize> {
        Err(std::io::Error::other("the disk is gone"))
    }
}

/// Returns the graph of a file without the file's node numbers, in a fixed order.
fn canonical(file: &[u8]) -> Vec<String> {
    let lines: Vec<Value> = file
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    let mut names = Map::new();
    let mut all = Vec::new();
    for line in &lines {
        if let Some(node) = line.get("node") {
            let mut node = node.clone();
            let id = node["id"].take();
            if let Some(labels) = node["labels"].as_array_mut() {
                labels.sort_by_key(Value::to_string);
            }
            // One store keeps half-precision floats.
            if let Some(vector) = node["properties"].get_mut("embedding") {
                for x in vector.as_array_mut().unwrap() {
                    *x = json!((x.as_f64().unwrap() * 1_000.0).round());
                }
            }
            // The channel's name and the session's time are unchanged, like everything.
            names.insert(id.as_str().unwrap().to_owned(), json!(node.to_string()));
            all.push(node.to_string());
        }
    }
    for line in &lines {
        if let Some(one) = line.get("relationship") {
            let mut one = one.clone();
            one["from"] = names[one["from"].as_str().unwrap()].clone();
            one["to"] = names[one["to"].as_str().unwrap()].clone();
            all.push(one.to_string());
        }
    }
    all.sort();
    all
}

#[track_caller]
fn assert_same(left: &[u8], right: &[u8]) {
    for (left, right) in canonical(left).iter().zip(&canonical(right)) {
        assert_eq!(left, right);
    }
    assert_eq!(canonical(left).len(), canonical(right).len());
}

async fn goes_over_and_back(from: &GraphBackend, over: &GraphBackend) {
    let (a, b) = (from.open().await, over.open().await);
    a.wipe().await.unwrap();
    let talk = fill(&a).await;
    let first = exported(&a).await;
    // It contains nothing that an engine added.
    let huginn = |line: &String| line.contains(r#""properties":{"id":7}"#);
    assert_eq!(
        canonical(&first).iter().filter(|line| huginn(line)).count(),
        1
    );
    imported(&b, &first, true).await.unwrap();
    let second = exported(&b).await;
    assert_same(&first, &second);
    imported(&a, &second, true).await.unwrap();
    assert_same(&first, &exported(&a).await);
    // And it works: the chain continues, and the index reads the vectors.
    let there = talk.elsewhere(&b);
    assert_eq!(ids(&there.chain().await), ids(&talk.chain().await));
    assert_eq!(there.say("d").await.position, 5);
    let news = there.begin("x", 5, 0).await.news.turns;
    assert_eq!(news[0].embedding, talk.turn("").turn.embedding);
    let chain = there.chain().await;
    assert_eq!(chain.len(), 4);
    assert!(chain[2].is_message());
    assert_eq!(chain[2].reply_to.as_deref(), Some("event/other"));
}

#[tokio::test(flavor = "multi_thread")]
async fn embedded_to_embedded() {
    goes_over_and_back(&GraphBackend::embedded(), &GraphBackend::embedded()).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Neo4j (NEO4J_TEST_URI)"]
async fn embedded_to_neo4j() {
    goes_over_and_back(
        &GraphBackend::embedded(),
        &GraphBackend::neo4j_alone().await,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Neo4j (NEO4J_TEST_URI)"]
async fn neo4j_to_embedded() {
    goes_over_and_back(
        &GraphBackend::neo4j_alone().await,
        &GraphBackend::embedded(),
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_graph_of_many_batches_is_carried() {
    let (from, over) = (GraphBackend::embedded(), GraphBackend::embedded());
    let (a, b) = (from.open().await, over.open().await);
    let talk = StoreConversation::on(&a);
    for n in 0..600 {
        talk.say(&format!("{n}")).await;
    }
    let file = exported(&a).await;
    imported(&b, &file, false).await.unwrap();
    assert_same(&file, &exported(&b).await);
    // The imported graph is on disk.
    b.close().await.unwrap();
    drop(b);
    assert_same(&file, &exported(&over.open().await).await);
}

/// An export of version 0.1, which kept what was said before the bot came.
async fn what_was_said_before_is_removed(lane: &GraphBackend) {
    let store = lane.open().await;
    let talk = StoreConversation::on(&store);
    let mut asked = talk.turn("What is this about?");
    asked.turn.attached = vec![
        AttachedText {
            name: "a.txt".to_owned(),
            text: "A \"lease\".".to_owned(),
        },
        AttachedText::of_prior_messages(),
    ];
    talk.append(&asked).await;
    let file = String::from_utf8(exported(&store).await).unwrap();
    let empty = r#"came\",\"text\":\"\""#;
    let old = file.replace(
        empty,
        r#"came\",\"text\":\"[2026-11-01] Xaver: \\\"ill\\\"\""#,
    );
    assert!(old.contains("Xaver"), "{file}");
    let older = old.replace(r#""schema":2"#, r#""schema":1"#);
    for file in [&older, &file] {
        imported(&store, file.as_bytes(), true).await.unwrap();
        let now = String::from_utf8(exported(&store).await).unwrap();
        assert!(!now.contains("Xaver"), "{now}");
        let window = talk.begin("x", 5, 0).await.window;
        assert_eq!(window[0].attached, asked.turn.attached);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_said_before_is_removed_embedded() {
    what_was_said_before_is_removed(&GraphBackend::embedded()).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Neo4j (NEO4J_TEST_URI)"]
async fn what_was_said_before_is_removed_on_neo4j() {
    what_was_said_before_is_removed(&GraphBackend::neo4j_alone().await).await;
}

/// A server has no snapshot: a turn may be forgotten after its node was read, and before its relationships are.
async fn a_turn_that_was_forgotten_during_the_export_is_not_imported(lane: &GraphBackend) {
    let store = lane.open().await;
    let talk = StoreConversation::on(&store);
    for said in [
        "The quokka is fed.",
        "The numbat sleeps.",
        "The wombat digs.",
    ] {
        talk.say(said).await;
    }
    let title = async || {
        let sessions = store.sessions().await.unwrap();
        let mine = sessions.iter().find(|one| one.id == talk.session.as_str());
        mine.and_then(|one| one.title.clone())
    };
    let file = String::from_utf8(exported(&store).await).unwrap();
    let cut = without_ties(&file, "The numbat sleeps.");
    imported(&store, cut.as_bytes(), true).await.unwrap();
    let now = String::from_utf8(exported(&store).await).unwrap();
    assert!(now.contains("quokka") && !now.contains("numbat"), "{now}");
    assert_eq!(title().await.as_deref(), Some("The quokka is fed."));
    // The first question was the title, too.
    let cut = without_ties(&file, "The quokka is fed.");
    imported(&store, cut.as_bytes(), true).await.unwrap();
    let now = String::from_utf8(exported(&store).await).unwrap();
    assert!(now.contains("numbat") && !now.contains("quokka"), "{now}");
    assert_eq!(title().await.as_deref(), Some("The numbat sleeps."));
}

/// An export in which a turn with this input has no relationships.
fn without_ties(file: &str, input: &str) -> String {
    let lines = file.lines().map(|line| serde_json::from_str(line).unwrap());
    let mut lines: Vec<Value> = lines.collect();
    let is_it = |line: &&Value| line["node"]["properties"]["input"] == input;
    let id = lines.iter().find(is_it).unwrap()["node"]["id"].clone();
    lines.retain(|line| {
        let one = &line["relationship"];
        one["from"] != id && one["to"] != id
    });
    let is_tie = |line: &&Value| line.get("relationship").is_some();
    let ties = lines.iter().filter(is_tie).count();
    lines.last_mut().unwrap()["end"]["relationships"] = json!(ties);
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_was_forgotten_during_the_export_is_not_imported_embedded() {
    let lane = GraphBackend::embedded();
    a_turn_that_was_forgotten_during_the_export_is_not_imported(&lane).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Neo4j (NEO4J_TEST_URI)"]
async fn a_turn_that_was_forgotten_during_the_export_is_not_imported_on_neo4j() {
    let lane = GraphBackend::emptied_neo4j().await;
    a_turn_that_was_forgotten_during_the_export_is_not_imported(&lane).await;
}

/// As an import of an earlier version left it.
async fn a_turn_of_no_conversation_can_be_forgotten(lane: &GraphBackend) {
    let talk = StoreConversation::on(&lane.open().await);
    let kept = talk.say("The quokka is fed.").await;
    let author = format!("author of {}", talk.session.as_str());
    let id = ResponseId::fresh();
    let properties = json!({
        "id": id.to_string(), "session": talk.session, "audience": talk.audience.id, "author": author,
        "eventId": format!("event of {id}"), "position": 1000, "source": "model",
        "createdAt": {"$datetime": "2026-01-02T03:04:05+00:00"},
        "input": "The numbat sleeps.", "output": "Noted.",
    });
    let orphan = node(&["Response"], properties);
    talk.store.create_nodes(vec![orphan]).await.unwrap();
    let now = Utc::now();
    let found = talk.store.turns_of_person(&author, now).await.unwrap();
    assert_eq!(found.len(), 1);
    let accounts = [author.clone()];
    let forgotten = talk.store.forget_person(&accounts, now, now).await;
    assert_eq!(forgotten.unwrap().turns, 1);
    let left = talk.store.turns_of_person(&author, now).await.unwrap();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(ids(&talk.chain().await), [kept.id]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_graph_that_is_not_empty_is_kept() {
    let lane = GraphBackend::embedded();
    let store = lane.open().await;
    let talk = fill(&store).await;
    let file = exported(&store).await;
    let refused = imported(&store, &file, false).await.unwrap_err();
    assert!(matches!(refused, TransferError::NotEmpty), "{refused}");
    assert_eq!(talk.chain().await.len(), 3);
    imported(&store, &file, true).await.unwrap();
    assert_same(&file, &exported(&store).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_line_is_named_before_anything_is_touched() {
    let source = GraphBackend::embedded();
    let store = source.open().await;
    fill(&store).await;
    let file = String::from_utf8(exported(&store).await).unwrap();
    let lines: Vec<&str> = file.lines().collect();
    let with = |place: usize, line: &str| {
        let mut lines = lines.clone();
        lines[place] = line;
        lines.join("\n")
    };
    let cases = [
        ("no export".to_owned(), 1),
        (with(3, "{\"node\": "), 4),
        (with(3, "{\"knot\": {}}"), 4),
        (with(2, lines[1]), 3),
        (
            with(
                lines.len() - 2,
                r#"{"relationship":{"type":"X","from":"0","to":"99","properties":{}}}"#,
            ),
            lines.len() - 1,
        ),
        (lines[..lines.len() - 1].join("\n"), lines.len()),
        (
            with(lines.len() - 1, r#"{"end":{"nodes":1,"relationships":1}}"#),
            lines.len(),
        ),
    ];
    let before = exported(&store).await;
    for (file, at) in cases {
        let error = imported(&store, file.as_bytes(), true).await.unwrap_err();
        let TransferError::Line { line, .. } = error else {
            panic!("{error}");
        };
        assert_eq!(line, at, "{file}");
        assert_same(&before, &exported(&store).await);
    }
}

/// Returns the file of a graph with more than one batch of relationships.
async fn many_turns() -> Vec<u8> {
    let store = GraphBackend::embedded();
    let from = store.open().await;
    let talk = StoreConversation::on(&from);
    for n in 0..600 {
        talk.say(&format!("{n}")).await;
    }
    exported(&from).await
}

async fn is_refused_until_it_is_whole(lane: &GraphBackend) -> (Arc<GraphStore>, Vec<u8>) {
    let file = many_turns().await;
    let store = lane.open().await;
    store.wipe().await.unwrap();
    interrupted(&store, &file, file.len() * 9 / 10).await;
    store.close().await.unwrap();
    drop(store);
    let refused = open(&lane.config()).await.unwrap_err().to_string();
    assert!(
        refused.contains("interrupted") && refused.contains("muninn import"),
        "{refused}"
    );
    let store = open_unfinished(&lane.config()).await.unwrap();
    let warnings = store.health().await.unwrap().warnings;
    assert!(
        warnings.iter().any(|one| one.contains("interrupted")),
        "{warnings:?}"
    );
    let other = exported(&GraphBackend::embedded().open().await).await;
    let refused = imported(&store, &other, false).await.unwrap_err();
    assert!(matches!(refused, TransferError::OtherImport), "{refused}");
    (store, file)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_of_an_import_is_refused_until_it_is_whole() {
    let lane = GraphBackend::embedded();
    let (store, file) = is_refused_until_it_is_whole(&lane).await;
    imported(&store, &file, true).await.unwrap();
    assert!(store.health().await.unwrap().warnings.is_empty());
    assert_same(&file, &exported(&store).await);
    store.close().await.unwrap();
    drop(store);
    lane.open().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a Neo4j (NEO4J_TEST_URI)"]
async fn an_interrupted_import_into_a_server_goes_on_where_it_was() {
    let lane = GraphBackend::neo4j_alone().await;
    let (store, file) = is_refused_until_it_is_whole(&lane).await;
    let checked = check(&mut &file[..]).unwrap();
    let mut first = None;
    let mut progress = |state: Progress| {
        first.get_or_insert(state);
    };
    import(&store, &mut &file[..], &checked, &mut progress, false)
        .await
        .unwrap();
    let first = first.unwrap();
    assert!(first.done > 600 && first.done < first.total, "{first:?}");
    assert!(store.health().await.unwrap().warnings.is_empty());
    // Nothing is duplicated, and nothing temporary of the import is left.
    assert_same(&file, &exported(&store).await);
    store.close().await.unwrap();
    drop(store);
    lane.open().await.wipe().await.unwrap();
}
