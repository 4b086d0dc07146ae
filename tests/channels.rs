//! Kinds of channels: one bot that behaves differently by each channel's settings.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::sync::Arc;

use muninn::demo::load_movies;
use muninn::knowledge::ingest::{Ingest, ingest};
use muninn::knowledge::source::Source;
use muninn::llm::Embedder;
use muninn::retrieval::LocalEmbedder;
use serde_json::json;
use support::bot::BotStorage;
use support::chat::{ScriptedChat, run_with};
use support::model_server::ModelServerRequest;

/// Runs a test with the movies and the settings file `settings`, in which `PLACE` is replaced by
/// the name of the place, so that `PLACE/general` is the channel of `chat.room`.
async fn run_with_settings(
    place: BotStorage,
    settings: &str,
    test: impl AsyncFnOnce(&mut ScriptedChat),
) {
    let folder = place.path().join("prompts");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("nodes.toml"), "embed = \"none\"").unwrap();
    let path = place.path().join("channels.toml");
    std::fs::write(&path, settings.replace("PLACE", &place.prefix())).unwrap();
    let options = [
        format!("--channel-settings={}", path.display()),
        format!("--prompts-dir={}", folder.display()),
    ];
    let options = options.each_ref().map(String::as_str);
    run_with(place, &options, async |chat| {
        load_movies(&chat.store).await.unwrap();
        test(chat).await;
    })
    .await;
}

fn utility(begin: &'static str) -> impl Fn(&ModelServerRequest) -> bool {
    move |request| request.model() == "utility" && request.last_user().starts_with(begin)
}

/// Ingests a document as a source that everybody sees.
async fn put(chat: &ScriptedChat, source: &str, text: &str) {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("in");
    std::fs::create_dir(&input).unwrap();
    std::fs::write(input.join("text.md"), text).unwrap();
    let data = tempfile::tempdir().unwrap();
    let what = Ingest {
        source: Source::find(std::slice::from_ref(&input), Some(source), None).unwrap(),
        paths: vec!["in".to_owned()],
        channels: Vec::new(),
        data_dir: data.path(),
        is_dry: false,
    };
    let embedder = Arc::new(Embedder::Local(LocalEmbedder::shipped().unwrap()));
    ingest(&chat.store, &embedder, what, &mut |_far| {})
        .await
        .unwrap();
}

const HANDBOOK: &str =
    "# Handbook\n\n## Dues\n\nEvery ship pays dues of 40 crowns a day at the north quay.\n";
const LETTERS: &str =
    "# Letters\n\n## Dues\n\nThe dues of a ship were 90 crowns a day once, at the old quay.\n";

const KINDS: &str = "
    ['PLACE/open']
    tools = ['find_movies_by_actor']
    persona = 'You like to chat.'
    ['PLACE/archive']
    tools = ['search_knowledge']
    sources = ['handbook']
    prompts = 'own'
    instructions = ['archive.md']
    grounding = 'strict'
    style = 'brief'
";

/// Runs a test with the two channels, with documents and films.
async fn run_with_two_kinds(test: impl AsyncFnOnce(&mut ScriptedChat)) {
    let place = BotStorage::embedded();
    let own = place.path().join("own");
    std::fs::create_dir_all(&own).unwrap();
    std::fs::write(own.join("refusal.md"), "That is not in the archive.").unwrap();
    std::fs::write(
        place.path().join("archive.md"),
        "Call people by their first names.",
    )
    .unwrap();
    run_with_settings(place, KINDS, async |chat| {
        put(chat, "handbook", HANDBOOK).await;
        put(chat, "letters", LETTERS).await;
        chat.restart().await;
        test(chat).await;
    })
    .await;
}

const CONTENT: &str = r#"{"questions": []}"#;

#[tokio::test(flavor = "multi_thread")]
async fn words_are_chosen_as_is_set_for_each_kind_of_call() {
    let settings = "
        ['*'.sampling]
        answer = { temperature = 0.8, seed = 7 }
        ['PLACE/general'.sampling]
        answer = { temperature = 0.1, stop = ['---'] }
        critique = { temperature = 0.5 }
    ";
    run_with_settings(BotStorage::embedded(), settings, async |chat| {
        let question = "How many films are there?";
        let call = json!({"question": question});
        // Statements and the critic's questions use the likeliest tokens unless something else is
        // set.
        let statement = "MATCH (m:Movie) RETURN count(m) AS films";
        let answering = |room: &'static str| {
            move |request: &ModelServerRequest| {
                let body = &request.body;
                let expected = match room {
                    "general" => (json!(0.1), json!(["---"])),
                    _ => (json!(0.8), json!(null)),
                };
                (body["temperature"].clone(), body["stop"].clone()) == expected && body["seed"] == 7
            }
        };
        for (room, critique) in [("general", 0.5), ("other", 0.0)] {
            chat.expects(move |request| answering(room)(request) && !request.tools().is_empty())
                .calls(&[("text2cypher", call.clone())]);
            chat.expects(|request| {
                request.texts("user")[0].contains("# Schema") && request.body["temperature"] == 0.0
            })
            .answers(statement);
            chat.expects(move |request| {
                utility("Judge whether")(request) && request.body["temperature"] == critique
            })
            .answers(CONTENT);
            chat.expects(move |request| answering(room)(request) && request.tools().is_empty())
                .answers("40.");
            let answer = chat.room_of("a", room).say("ada", question).await;
            assert_eq!(answer.text(), "40.");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_channel_has_its_own_tools_prompts_and_sources() {
    run_with_two_kinds(async |chat| {
        let system = |request: &ModelServerRequest| request.texts("system")[0].to_owned();

        // An open channel with one tool: any other tool does not exist there.
        let question = "Which films did Keanu make?";
        chat.expects(move |request| {
            let system = system(request);
            request.tools() == ["find_movies_by_actor"]
                && system.contains("You like to chat.")
                && system.contains("not common knowledge")
                && !system.contains("search_knowledge")
                && !system.contains("first names")
        })
        .calls(&[("search_knowledge", json!({"query": question}))]);
        chat.expects(|request| {
            let told = request.texts("tool");
            told.last()
                .is_some_and(|it| it.ends_with("no such tool; there are find_movies_by_actor"))
        })
        .answers("I cannot look that up.");
        let answer = chat.room_of("a", "open").say("ada", question).await;
        assert_eq!(
            answer.text(),
            "I cannot look that up.\n\n(Every look-up for this answer failed, so nothing in it was looked up.)"
        );

        // A channel for the archive: even what the model knows is looked up, and only in its
        // source.
        let room = chat.room_of("a", "archive");
        let question = "What are the dues of a ship?";
        chat.expects(move |request| {
            let system = system(request);
            request.tools() == ["search_knowledge", "respond"]
                && system.contains("Call people by their first names.")
                && system.contains("Use no knowledge of your own")
                && system.contains("one sentence, two at most")
                && system.contains("search_knowledge: handbook.")
                && !system.contains("find_movies")
        })
        .answers("As everybody knows, about 90 crowns.");
        chat.expects(utility("Judge whether")).answers(CONTENT);
        chat.expects(|request| {
            let asked = request.last_user();
            request.tools().is_empty()
                && asked.contains("  > | Every ship pays dues of 40 crowns")
                && !asked.contains("90 crowns")
                && asked.contains("say only: That is not in the archive.")
        })
        .answers("A ship pays 40 crowns a day [1].");
        let answer = room.say("ada", question).await.text();
        assert!(
            answer.starts_with("A ship pays 40 crowns a day [1]."),
            "{answer}"
        );
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn strictly_grounded_a_direct_answer_is_judged_and_small_talk_is_one_call() {
    run_with_two_kinds(async |chat| {
        let room = chat.room_of("a", "archive");
        chat.expects(|request| {
            let system = request.texts("system")[0];
            system.contains("a reminder of what you can be asked about here")
        })
        .answers("Good morning! Ask me about the handbook.");
        let answer = room.say("ada", "Good morning!").await.text();
        assert_eq!(answer, "Good morning! Ask me about the handbook.");

        // The model claims that it is in the conversation, but it is not: the critic's question is
        // looked up.
        let question = "What are the dues of a ship?";
        chat.model.scripts_rephrasing();
        chat.expects(utility("Make the last question"))
            .answers(question);
        chat.expects(move |request| request.last_user().ends_with(question))
            .calls(&[("respond", json!({"answer": "90 crowns, as I said."}))]);
        chat.expects(|request| {
            utility("Judge whether")(request)
                && request.last_user().contains("answered without a look-up")
                && request.last_user().contains("> 90 crowns, as I said.")
                && request.last_user().contains("> Good morning!")
        })
        .answers(r#"{"questions": ["What dues does a ship pay?"]}"#);
        chat.expects(|request| request.last_user().contains("What dues does a ship pay?"))
            .calls(&[("search_knowledge", json!({"query": "dues of a ship"}))]);
        chat.expects(utility("Judge whether")).answers(CONTENT);
        chat.expects(|request| request.last_user().contains("dues of 40 crowns a day"))
            .answers("A ship pays 40 crowns a day [1].");
        let answer = room.say("ada", question).await.text();
        assert!(
            answer.starts_with("A ship pays 40 crowns a day [1]."),
            "{answer}"
        );

        // What is in the conversation is not looked up again.
        let question = "And what was it, again?";
        chat.expects(utility("Make the last question"))
            .answers("What were the dues of a ship, again?");
        chat.expects(move |request| request.last_user().contains(question))
            .calls(&[("respond", json!({"answer": "40 crowns a day."}))]);
        chat.expects(utility("Judge whether")).answers(CONTENT);
        assert_eq!(room.say("ada", question).await.text(), "40 crowns a day.");
    })
    .await;
}
