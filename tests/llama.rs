//! A whole bot with a small real model: SmolLM2-135M-Instruct in llama.cpp's own server, with a
//! context of 2,048 tokens.
//!
//! Start it with `tests/servers/llama/llama-up PORT` and set `MUNINN_LLAMA_URL=http://127.0.0.1:PORT`.
//!
//! Such a model says little that makes sense, but its effect on a bot is real: it does not call
//! tools that it should, writes JSON where words are expected, talks until the limit, and refuses
//! long prompts.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::env;
use std::time::Duration;

use muninn::config::Config;
use muninn::llm::ModelConfig;
use support::bot::BotStorage;
use tokio::sync::Mutex;

/// On a loaded machine, reading a prompt takes a minute.
const READ_TIMEOUT: Duration = Duration::from_secs(240);

/// The server answers one request at a time.
static TURN: Mutex<()> = Mutex::const_new(());

/// Returns the options of a bot that uses llama.cpp.
fn llama(place: &BotStorage) -> Config {
    let url = env::var("MUNINN_LLAMA_URL")
        .expect("MUNINN_LLAMA_URL is set; tests/servers/llama/llama-up PORT starts one");
    let mut config = place.config(None, &["--answer-tokens=32", "--turn-timeout=240"]);
    let mut model = ModelConfig::new(format!("{}/v1", url.trim_end_matches('/')), "smollm2");
    model.capabilities_file = Some(place.path().join("models.json"));
    model.timeouts.read = READ_TIMEOUT;
    model.timeouts.total = READ_TIMEOUT;
    config.model = Some(model);
    config
}

/// Asserts that an answer contains neither junk nor an excuse.
fn is_an_answer(text: &str) {
    assert!(!text.trim().is_empty());
    for junk in [
        "I could not ask the model",
        "<think",
        "<tool_call",
        "[TOOL_CALLS]",
        "<|",
        "{\"name\"",
        "{\"tool_call",
    ] {
        assert!(!text.contains(junk), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs llama.cpp's server (MUNINN_LLAMA_URL)"]
async fn ten_turns_hold_and_what_was_said_is_recalled() {
    let _turn = TURN.lock().await;
    let place = BotStorage::embedded();
    let config = llama(&place);
    let bot = place.bot(&config).await;
    let [here, there] = ["a", "b"].map(|name| bot.room(name).with_patience(READ_TIMEOUT));
    let told = "The code of the coffee machine is 4711.";
    for message in [
        told,
        "Hello! How are you?",
        "Write one sentence about the sea.",
        "And one about the mountains?",
        "What did I ask you first?",
        "Name a colour.",
        "Thanks!",
        "Which day is it today?",
    ] {
        is_an_answer(&here.say("ada", message).await.text());
    }
    let question = "What is the code of the coffee machine?";
    is_an_answer(&there.say("ada", question).await.text());
    let why = there.command("ada", "why").await.text();
    assert!(why.contains(told), "{why}");
    // Longer than its context.
    let long = format!(
        "Sum this up: {}",
        "The ship sails along the coast. ".repeat(120)
    );
    is_an_answer(&there.say("ada", &long).await.text());
    bot.end().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs llama.cpp's server (MUNINN_LLAMA_URL)"]
async fn an_answer_grows_until_it_is_stopped() {
    let _turn = TURN.lock().await;
    let place = BotStorage::embedded();
    let mut config = llama(&place);
    config.turn.answer_tokens = 400;
    let bot = place.bot(&config).await;
    let room = bot.room("a").with_patience(READ_TIMEOUT);
    let mut telling = room.send("ada", "Tell me a long story about a ship.").await;
    telling.shows(" ").await;
    room.stop().await;
    let text = telling.answer().await.text();
    assert!(text.ends_with("(stopped)"), "{text}");
    bot.end().await;
}
