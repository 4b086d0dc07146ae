//! Evaluates memories that were in use, and one that was broken on purpose.

use serde_json::{Value, json};

use crate::deployed::deploy;
use crate::home::{Home, TIMEOUT};
use crate::support::model_server::{Embeddings, ModelServer};

const TEAM: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/data/team/exchanges.jsonl"
);
const TALK: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/data/talk/exchanges.jsonl"
);
const LABELS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/team/queries.jsonl");

async fn home(files: &[&str]) -> Home {
    let home = Home::new();
    deploy(&home.path("muninn-data"), files).await;
    home
}

async fn measured(home: &Home, arguments: &[&str]) -> Value {
    let arguments = [&["eval", "--json"], arguments].concat();
    let done = home.run(&arguments, "").await;
    serde_json::from_str(&done.out).unwrap_or_else(|_| panic!("{done:?}"))
}

/// Returns what people said, if it is long enough to be distinctive.
fn said(file: &str) -> Vec<String> {
    let lines = std::fs::read_to_string(file).unwrap();
    let lines = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let inputs = lines.map(|line: Value| line["input"].as_str().unwrap().to_owned());
    inputs.filter(|it| it.len() > 30).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_memory_is_measured_saved_and_compared() {
    let home = home(&[TEAM, TALK]).await;
    let report = measured(&home, &["--save", "report.json"]).await;
    assert_eq!(report["is_well"], true, "{report:#}");
    assert_eq!(report["channels"].as_object().unwrap().len(), 26);
    let again = &report["asked_again"][0];
    let sense = again["embedder"]["sense_now"]["mean"].as_f64().unwrap();
    assert!(sense > 0.8, "{again:#}");
    let found = |kind: &str| again["kinds"][kind]["found"].as_f64().unwrap();
    let used = "a memory was used for its answer";
    let replied = "a colleague answered it";
    assert!(found(used) > 0.9 && found(replied) > 0.8, "{again:#}");

    let shown = home.run(&["eval"], "").await;
    let text = shown.succeeds();
    for words in [
        "What happened",
        "Asked again",
        "By channel",
        "v1/platform",
        "2026-W12",
    ] {
        assert!(text.contains(words), "{text}");
    }
    let saved = std::fs::read_to_string(home.path("report.json")).unwrap();
    for file in [TEAM, TALK] {
        for input in said(file) {
            let is_told = saved.contains(&input) || text.contains(&input);
            assert!(!is_told, "{input}");
        }
    }

    let same = home.run(&["eval", "--against", "report.json"], "").await;
    assert!(same.succeeds().contains("may be the same"), "{same:?}");
    let home = home.with("RECALL_THRESHOLD", "0.9");
    let worse = home.run(&["eval", "--against", "report.json"], "").await;
    worse.fails(1, &[]);
    let words = "REGRESSION  asked again: found: ";
    assert!(worse.out.contains(words), "{worse:?}");
    let shown = home.run(&["eval", "--show"], "").await;
    assert!(shown.succeeds().contains("should find: "), "{shown:?}");
    let shown = home.run(&["eval", "--show", "--json"], "").await;
    let shown: Value = serde_json::from_str(shown.succeeds()).unwrap();
    let not_found = shown["not_found"].as_array().unwrap();
    assert!(not_found[0]["should_find"].is_string(), "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_questions_no_table_has_a_head_alone() {
    let home = Home::new();
    let said = ["The gate is green."];
    home.chat(&[], &said).await.succeeds();
    let shown = home.run(&["eval"], "").await.out;
    assert!(shown.contains("no questions"), "{shown}");
    assert!(!shown.contains("only 0"), "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_settings_are_compared_in_one_run_and_labels_are_asked() {
    let home = home(&[TEAM]).await;
    let with = ["--with", "RECALL_THRESHOLD=0.5", "--labels", LABELS];
    let report = measured(&home, &with).await;
    assert_eq!(report["is_well"], true, "what is tried is no regression");
    let labelled = |run: usize, kind: &str| {
        let kind = format!("labelled: {kind}");
        report["asked_again"][run]["kinds"][kind]["found"]
            .as_f64()
            .unwrap()
    };
    assert!(labelled(0, "plain") > 0.95, "{report:#}");
    assert!(labelled(1, "plain") < labelled(0, "plain"));
    assert!(labelled(0, "nothing to be found") > 0.5);
    let difference = &report["with"][0];
    assert_eq!(difference["figure"], "asked again: found");
    assert_eq!(difference["verdict"], "worse", "{difference:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_measured_by_the_bot_that_runs() {
    let home = home(&[TALK]).await.with("TERMINAL_SOCKET", "socket");
    let alone = measured(&home, &[]).await;
    let serving = crate::admin::serving(&home).await;
    let running = measured(&home, &["--save", "report.json"]).await;
    for part in ["total", "channels", "asked_again"] {
        assert_eq!(alone[part], running[part], "{part}");
    }
    let same = home.run(&["eval", "--against", "report.json"], "").await;
    same.succeeds();
    serving.signal("TERM").await;
    serving.end().await.succeeds();
}

/// Builds an embedding service's response, from the words of each text.
fn answer(inputs: &[String], vector: impl Fn(usize, &str) -> Vec<f32>) -> Value {
    let data = inputs.iter().enumerate().map(|(index, text)| {
        json!({"object": "embedding", "index": index, "embedding": vector(index, text)})
    });
    json!({"object": "list", "model": "embedding", "data": data.collect::<Vec<Value>>(),
        "usage": {"prompt_tokens": 1, "total_tokens": 1}})
}

/// Returns a meaningless vector, the same for the same seed.
fn noise(seed: &str) -> Vec<f32> {
    let seed = seed
        .bytes()
        .fold(7_u64, |sum, byte| sum.wrapping_mul(31) + u64::from(byte));
    let step = |state: &u64| {
        let next = state ^ (state << 13);
        let next = next ^ (next >> 7);
        Some(next ^ (next << 17))
    };
    let states = std::iter::successors(Some(seed | 1), step).skip(8).take(64);
    states
        .map(|it| (it >> 40) as f32 / (1 << 24) as f32 - 0.5)
        .collect()
}

/// Returns the vectors of a good embedder, assigned to the wrong texts.
fn shuffled(inputs: &[String]) -> Value {
    let embedder = muninn::retrieval::LocalEmbedder::shipped().unwrap();
    let of = |text: &str| embedder.embed(text).unwrap_or_else(|| vec![0.0; 256]);
    answer(inputs, |index, _| {
        of(&inputs[inputs.len() - 1 - index])[..64].to_vec()
    })
}

fn broken() -> Vec<(&'static str, Embeddings, &'static str)> {
    let zero = |inputs: &[String]| answer(inputs, |_, _| vec![0.0; 64]);
    let constant = |inputs: &[String]| answer(inputs, |_, _| vec![0.5; 64]);
    let hashes = |inputs: &[String]| answer(inputs, |_, text| noise(text));
    vec![
        (
            "zero",
            Embeddings::Scripted(Box::new(zero)),
            "it gives no vector for",
        ),
        (
            "constant",
            Embeddings::Scripted(Box::new(constant)),
            "it gives every text the same vector",
        ),
        (
            "shuffled",
            Embeddings::Scripted(Box::new(shuffled)),
            "another vector each time",
        ),
        (
            "hashes",
            Embeddings::Scripted(Box::new(hashes)),
            "say no more than chance",
        ),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_embedder_is_found_and_a_good_one_is_not_reported() {
    let server = ModelServer::start().await;
    let mut home = home(&[TALK]).await.with_model(&server);
    home.set("EMBEDDING_MODEL", "embedding");
    home.run(&["reembed"], "").await.succeeds();
    let good = home
        .run(&["eval", "--embed", "--save", "good.json"], "")
        .await;
    assert!(!good.succeeds().contains("PROBLEM"), "{good:?}");
    // The service is only asked on request.
    let asked = server.embedded().len();
    let by_words = home.run(&["eval"], "").await;
    assert!(by_words.succeeds().contains("pass --embed to ask it"));
    assert_eq!(server.embedded().len(), asked);

    for (name, embeddings, words) in broken() {
        server.embeds(embeddings);
        let found = home.run(&["eval", "--embed"], "").await;
        found.fails(1, &[]);
        let sentence = "PROBLEM  the embedder openai/embedding/64 is broken: ";
        let told = found.out.contains(sentence) && found.out.contains(words);
        assert!(
            told || name == "zero" && found.out.contains(words),
            "{name}: {found:?}"
        );
    }
    // The result of a temporary embedder is removed with it.
    server.embeds(Embeddings::Words(64));
    home.run(&["eval", "--embed", "--against", "good.json"], "")
        .await
        .succeeds();
    assert!(server.chats().is_empty(), "no model is asked");
    server.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn vectors_that_a_broken_embedder_left_are_found_without_asking_it() {
    for (name, embeddings, words) in broken().into_iter().skip(1) {
        let server = ModelServer::start().await;
        let mut home = home(&[TALK]).await.with_model(&server);
        home.set("EMBEDDING_MODEL", "embedding");
        server.embeds(embeddings);
        home.run(&["reembed"], "").await.succeeds();
        let asked = server.embedded().len();
        let found = home.run(&["eval"], "").await;
        found.fails(1, &[]);
        let words = match name {
            "shuffled" => "say no more than chance",
            _ => words,
        };
        assert!(found.out.contains(words), "{name}: {found:?}");
        assert_eq!(server.embedded().len(), asked);
        server.finish();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_embedder_is_tried_beside_the_deployed_one() {
    let server = ModelServer::start().await;
    let home = home(&[TALK]).await.with_model(&server);
    let report = measured(&home, &["--with", "EMBEDDING_MODEL=embedding"]).await;
    assert_eq!(report["is_well"], true, "{report:#}");
    assert_eq!(
        report["asked_again"][1]["embedder"]["name"],
        "openai/embedding/64"
    );
    let meaning = &report["with"][2];
    assert_eq!(
        meaning["figure"],
        "asked again: nearer than others by meaning alone"
    );
    server.embeds(broken().remove(3).1);
    let broken = ["eval", "--with", "EMBEDDING_MODEL=embedding"];
    let broken = home.run(&broken, "").await;
    broken.fails(1, &[]);
    assert!(broken.out.contains("say no more than chance"), "{broken:?}");
    server.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_measured_is_said() {
    let home = Home::new();
    let empty = tokio::time::timeout(TIMEOUT, home.run(&["eval"], "")).await;
    empty
        .unwrap()
        .fails(1, &["nothing was said to the bot yet"]);
    home.chat(&[], &["The xylophone is in room 7."])
        .await
        .succeeds();
    let few = home.run(&["eval"], "").await;
    assert!(few.succeeds().contains("labelled ones do"), "{few:?}");
    std::fs::write(home.path("no.json"), "{}").unwrap();
    for (arguments, words) in [
        (&["--channel", "slack/1"][..], "there is no channel slack/1"),
        (
            &["--against", "no.json"],
            "is no report that `muninn eval --save` wrote",
        ),
        (&["--against", "gone.json"], "cannot read "),
        (&["--with", "RECALL"], "is no NAME=VALUE"),
        (&["--with", "BOT_NAME=Ann"], "--with cannot change BOT_NAME"),
        (
            &["--with", "RECALL_TOKENS=many"],
            "no value that RECALL_TOKENS can have",
        ),
        (
            &["--with", "WINDOW_TURNS=0"],
            "no value that WINDOW_TURNS can have",
        ),
        (
            &["--with", "EMBEDDING_MODEL=x"],
            "EMBEDDING_MODEL is set, but neither",
        ),
        (
            &["--labels", LABELS],
            "none of the 261 labelled questions is about a channel",
        ),
    ] {
        let arguments = [&["eval"], arguments].concat();
        home.run(&arguments, "").await.fails(1, &[words]);
    }
}
