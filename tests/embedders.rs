//! Changing the embedder: detected, re-embedded, and calibrated.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use muninn::config::Config;
use muninn::conversation::ledger::Ledger;
use muninn::memory::calibrate::{CalibrateError, Calibrated, PromptContext, calibrate};
use muninn::memory::reembed::{ReembedError, Reembedded, Stale, reembed, stale};
use muninn::memory::{Calibration, calibration_file};
use muninn::wiring::{self, Models, WiringError, models};
use support::bot::BotStorage;
use support::chat::{ScriptedChat, run, run_with};
use support::model_server::Embeddings;

const REMOTE: &str = "--embedding-model=embedding";
/// So long a window that nothing leaves it.
const WITHOUT_SUMMARY: &str = "--window-turns=50";
const BESIDE: PromptContext = PromptContext {
    window: 1,
    tokens: 1_000,
    limit: 20,
};

/// Sends a message, which is answered.
async fn say(chat: &ScriptedChat, text: &str) {
    chat.expects(|_| true).answers("Noted.");
    chat.room("a").say("ada", text).await;
}

/// Returns the memory that the model is given with a message in another conversation.
async fn recalled(chat: &ScriptedChat, text: &str) -> String {
    chat.expects(|_| true).answers("I see.");
    chat.room("b").say("bob", text).await;
    chat.model.chats().last().unwrap().last_user().to_owned()
}

async fn embed_again(chat: &ScriptedChat, config: &Config) -> Result<Reembedded, ReembedError> {
    let Models { chat: _, embedder } = models(config).unwrap();
    reembed(&chat.store, &embedder, &mut |_| {}).await
}

async fn counted(chat: &ScriptedChat, config: &Config) -> Stale {
    let Models { chat: _, embedder } = models(config).unwrap();
    stale(&chat.store, &embedder).await.unwrap()
}

/// Every text has the same vector, so that even texts without shared words are found.
fn all_alike() -> Embeddings {
    Embeddings::Scripted(Box::new(|texts| {
        let one = |(index, _)| serde_json::json!({"index": index, "embedding": [0.6, 0.8]});
        let data: Vec<_> = texts.iter().enumerate().map(one).collect();
        serde_json::json!({ "data": data })
    }))
}

support::bot::on_every_graph!(
    old_turns_are_found_by_words_until_they_are_embedded_again,
    the_first_question_after_a_start_compares_vectors,
);

async fn old_turns_are_found_by_words_until_they_are_embedded_again(place: BotStorage) {
    run(place, async |chat| {
        say(chat, "The espresso code is 4711.").await;
        say(chat, "Our ferry leaves at noon.").await;

        chat.model.embeds(all_alike());
        let config = chat.config(&[REMOTE]);
        chat.restart_with(&[REMOTE]).await;
        assert!(counted(chat, &config).await.foreign >= 2);
        let found = recalled(chat, "What is the espresso code?").await;
        assert!(found.contains("> The espresso code is 4711."), "{found}");
        let cosine = ["--recall-mode=cosine", "--recall-threshold=0.9", REMOTE];
        chat.restart_with(&cosine).await;
        let found = recalled(chat, "Quid novi?").await;
        assert!(!found.contains("> Our ferry leaves"), "{found}");

        // The bot keeps running, and notices that its index is of an ended epoch.
        let done = embed_again(chat, &config).await.unwrap();
        assert!(done.turns >= 2 && done.turns == done.total, "{done:?}");
        let again = embed_again(chat, &config).await.unwrap();
        assert_eq!(again, Reembedded::default());
        assert_eq!(counted(chat, &config).await, Stale::default());
        let found = recalled(chat, "Quid novi?").await;
        assert!(found.contains("> Our ferry leaves"), "{found}");
    })
    .await;
}

async fn the_first_question_after_a_start_compares_vectors(place: BotStorage) {
    run(place, async |chat| {
        chat.model.embeds(all_alike());
        let cosine = ["--recall-mode=cosine", "--recall-threshold=0.9", REMOTE];
        chat.restart_with(&cosine).await;
        say(chat, "Our ferry leaves at noon.").await;

        chat.restart_with(&cosine).await;
        let found = recalled(chat, "Quid novi?").await;
        assert!(found.contains("> Our ferry leaves"), "{found}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_embedded_before_the_service_failed_stays() {
    run(BotStorage::embedded(), async |chat| {
        for (audience, text) in [("one", "first"), ("two", "second"), ("two", "🎉")] {
            chat.expects(|_| true).answers("Noted.");
            chat.room_of("a", audience).say("ada", text).await;
        }
        let config = chat.config(&[REMOTE]);
        let embeds = |at_most: usize| {
            let asked = std::sync::atomic::AtomicUsize::new(0);
            Embeddings::Scripted(Box::new(move |texts| {
                if asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) >= at_most {
                    return serde_json::json!({ "data": [] });
                }
                let one = |(index, _)| serde_json::json!({"index": index, "embedding": [0.6, 0.8]});
                let data: Vec<_> = texts.iter().enumerate().map(one).collect();
                serde_json::json!({ "data": data })
            }))
        };
        // One call for the name, one for the first audience.
        chat.model.embeds(embeds(2));
        let error = embed_again(chat, &config).await.unwrap_err().to_string();
        assert!(error.contains("failed after 1 turn;"), "{error}");
        assert_eq!(counted(chat, &config).await.foreign, 2);
        chat.model.embeds(embeds(9));
        let done = embed_again(chat, &config).await.unwrap();
        assert_eq!((done.turns, done.total), (2, 2));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_calibration_is_made_of_the_history_and_loaded_at_the_start() {
    let options = [REMOTE, WITHOUT_SUMMARY];
    run_with(BotStorage::embedded(), &options, async |chat| {
        let config = chat.config(&options);
        let Models { chat: _, embedder } = models(&config).unwrap();
        for n in 0..29 {
            say(chat, &format!("The parcel {n} is on shelf {}.", n % 7)).await;
        }
        let early = calibrate(&chat.store, &embedder, BESIDE).await.unwrap_err();
        assert!(matches!(early, CalibrateError::TooLittle { exchanges: 29 }));
        say(chat, "Where is parcel 3?").await;
        let made = calibrate(&chat.store, &embedder, BESIDE).await.unwrap();
        chat.end().await;

        let Calibrated {
            calibration,
            exchanges,
            curve,
        } = made;
        assert_eq!((exchanges, curve.questions()), (30, 28));
        assert_eq!(calibration.embedder, "openai/embedding/64");
        let shipped = Calibration::shipped().unwrap();
        assert!(calibration.prior.cosine.mean > shipped.prior.cosine.mean);
        assert_eq!(calibration.threshold, shipped.threshold);
        let points = curve.points();
        let falls =
            |pair: &[muninn::memory::curve::ThresholdPoint]| pair[0].exchanges >= pair[1].exchanges;
        assert!(points.windows(2).all(falls) && points[0].exchanges > 0.0);

        assert_eq!(wiring::calibration(&config, &embedder).unwrap(), shipped);
        let path = calibration_file::save(&config.data_dir, &calibration).unwrap();
        // Also for an embedder whose service has not responded yet.
        let Models { chat: _, embedder } = models(&config).unwrap();
        assert_eq!(
            wiring::calibration(&config, &embedder).unwrap(),
            calibration
        );
        std::fs::write(&path, "{").unwrap();
        let error = match wiring::wire(&config, Ledger::disabled()).await.unwrap_err() {
            WiringError::CalibrationFile(error) => error.to_string(),
            other => panic!("{other}"),
        };
        let says_what_to_do =
            error.contains("calibration/") && error.contains("`muninn calibrate`");
        assert!(says_what_to_do, "{error}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_vectors_of_the_embedder_nothing_is_calibrated() {
    run_with(BotStorage::embedded(), &[WITHOUT_SUMMARY], async |chat| {
        for n in 0..30 {
            say(chat, &format!("The parcel {n} is on shelf {}.", n % 7)).await;
        }
        let config = chat.config(&[REMOTE]);
        let Models { chat: _, embedder } = models(&config).unwrap();
        let error = calibrate(&chat.store, &embedder, BESIDE).await.unwrap_err();
        assert!(
            error.to_string().contains("run `muninn reembed` first"),
            "{error}"
        );
        chat.model.embeds(all_alike());
        let Models { chat: _, embedder } = models(&config).unwrap();
        reembed(&chat.store, &embedder, &mut |_| {}).await.unwrap();
        let error = calibrate(&chat.store, &embedder, BESIDE).await.unwrap_err();
        assert!(matches!(error, CalibrateError::AllAlike { .. }), "{error}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_changes_its_dimension_is_met_with_words() {
    let options = [REMOTE, WITHOUT_SUMMARY];
    run_with(BotStorage::embedded(), &options, async |chat| {
        say(chat, "The espresso code is 4711.").await;
        let question = "What is the espresso code?";
        chat.model.embeds(Embeddings::Words(32));
        chat.expects(|_| true).answers("It is 4711.");
        let answer = chat.room("b").say("bob", question).await;
        let found = chat.model.chats().last().unwrap().last_user().to_owned();
        assert!(found.contains("> The espresso code is 4711."), "{found}");
        let announced = answer.text();
        assert!(announced.contains("by words only"), "{announced}");

        // After a restart, its vectors are of another embedder.
        chat.restart().await;
        let found = recalled(chat, question).await;
        assert!(found.contains("> The espresso code is 4711."), "{found}");
        let config = chat.config(&options);
        let Models { chat: _, embedder } = models(&config).unwrap();
        embedder.resolve_name().await.unwrap();
        let stale = stale(&chat.store, &embedder).await.unwrap();
        assert_eq!((stale.foreign, stale.missing), (1, 1));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_recalled_by_vectors_that_make_no_sense() {
    let senseless = [
        serde_json::json!([1e39, 0.0]),
        serde_json::json!([0.0, 0.0]),
        serde_json::json!(["NaN", 1.0]),
        serde_json::json!([]),
    ];
    for vector in senseless {
        run(BotStorage::embedded(), async |chat| {
            let shown = vector.to_string();
            chat.model
                .embeds(Embeddings::Scripted(Box::new(move |texts| {
                    let data = texts.iter().enumerate();
                    let one = |(index, _)| serde_json::json!({"index": index, "embedding": vector});
                    serde_json::json!({ "data": data.map(one).collect::<Vec<_>>() })
                })));
            chat.restart_with(&[REMOTE]).await;
            say(chat, "The espresso code is 4711.").await;
            let found = recalled(chat, "What is the espresso code?").await;
            assert!(found.contains("> The espresso code"), "{shown}: {found}");
            let found = recalled(chat, "Quid novi?").await;
            assert!(!found.contains("> The espresso code"), "{shown}: {found}");
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn odd_messages_are_answered_kept_and_hurt_no_recall() {
    // Not on the server, where another test re-embeds the whole database.
    run_with(BotStorage::embedded(), &[WITHOUT_SUMMARY], async |chat| {
        for text in ["🎉🎉", " \u{2003} ", "อักษรไทย", "\u{1}"] {
            say(chat, text).await;
        }
        let million = "x y ".repeat(250_000);
        let refused = chat.room("a").say("ada", &million).await.text();
        assert!(
            refused.contains("has 1000000 characters; I read at most"),
            "{refused}"
        );
        say(chat, "The espresso code is 4711.").await;
        let found = recalled(chat, "What is the espresso code?").await;
        assert!(found.contains("> The espresso code is 4711."), "{found}");
        assert!(found.len() < 20_000, "{} characters", found.len());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_message_leans_on_counts_with_an_embedding_service_too() {
    run(BotStorage::embedded(), async |chat| {
        chat.model.embeds(Embeddings::Scripted(Box::new(|texts| {
            let one = |(index, text): (usize, &String)| {
                let is_of_boats = text.contains("boathouse") || text.contains("oars");
                let vector = if is_of_boats { [1.0, 0.0] } else { [0.0, 1.0] };
                serde_json::json!({"index": index, "embedding": vector})
            };
            let data: Vec<_> = texts.iter().enumerate().map(one).collect();
            serde_json::json!({ "data": data })
        })));
        let cosine = ["--recall-mode=cosine", "--recall-threshold=0.3", REMOTE];
        chat.restart_with(&cosine).await;
        say(chat, "Our boathouse has nine seats.").await;
        let found = recalled(chat, "And more?").await;
        assert!(!found.contains("> Our boathouse"), "{found}");

        let room = chat.room("c");
        chat.expects(|_| true).answers("Which ones?");
        room.say("bob", "Let us talk about oars.").await;
        chat.expects(|_| true).answers("There are nine.");
        room.say("bob", "And more?").await;
        let read = chat.model.chats().last().unwrap().last_user().to_owned();
        assert!(read.contains("> Our boathouse has nine seats."), "{read}");
        let asked = chat.model.embedded();
        let asked = asked.iter().flat_map(|request| request.inputs());
        let times = asked
            .filter(|text| text == "Let us talk about oars.")
            .count();
        assert_eq!(times, 1, "what was sought has its vector already");
    })
    .await;
}

/// A service that reads 300 words, and refuses one message for what it says.
fn choosy() -> Embeddings {
    Embeddings::Refusing(Box::new(|texts| {
        let is_long = texts.iter().any(|it| it.split_whitespace().count() > 300);
        let is_bad = texts.iter().any(|it| it.contains("unspeakable"));
        let message = match (is_long, is_bad) {
            (true, _) => "This model's maximum context length is 300 tokens.",
            (false, true) => "Your request was rejected by our policy.",
            (false, false) => return None,
        };
        let body = serde_json::json!({ "error": { "message": message } });
        Some((400, body.to_string()))
    }))
}

#[tokio::test(flavor = "multi_thread")]
async fn one_text_keeps_no_other_from_having_a_vector() {
    run_with(BotStorage::embedded(), &[WITHOUT_SUMMARY], async |chat| {
        say(chat, "The espresso code is 4711.").await;
        say(chat, &"words ".repeat(600)).await;
        say(chat, "Our boathouse has nine seats.").await;
        chat.model.embeds(choosy());
        let config = chat.config(&[WITHOUT_SUMMARY, REMOTE]);
        let done = embed_again(chat, &config).await.unwrap();
        assert_eq!((done.turns, done.empty), (3, 0));

        chat.restart_with(&[WITHOUT_SUMMARY, REMOTE]).await;
        for text in [&*"other ".repeat(600), "That is unspeakable."] {
            say(chat, text).await;
        }
        chat.expects(|_| true).answers("It is 4711.");
        let question = "What is the espresso code?";
        let answer = chat.room("b").say("bob", question).await.text();
        assert_eq!(answer, "It is 4711.", "the service is asked as before");
    })
    .await;
}
