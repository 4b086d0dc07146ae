//! Slow models: the bot waits for their measured time, and asks less of them.

use std::time::Duration;

use muninn_platform::testing::TestConversation;
use serde_json::json;

use crate::start;
use crate::support::bot::{BotStorage, TestBot};
use crate::support::model_server::{Gate, ModelServer, Reply};
use crate::support::program::asks;

/// Returns the measurements of a model: milliseconds until its first token, per token, and in
/// total.
fn measured(first_ms: u32, per_token_ms: u32) -> serde_json::Value {
    let written = 10;
    let call = json!({
        "prompt": 1_000, "first_ms": first_ms, "written": written, "ms": first_ms + written * per_token_ms,
    });
    let today = chrono::Utc::now().date_naive().to_string();
    json!({"since": today, "timings": {"calls": [call], "on": today}})
}

/// Starts a bot that had measured both models before a restart.
async fn bot_that_knows(
    place: &BotStorage,
    server: &ModelServer,
    options: &[&str],
    speed: &serde_json::Value,
) -> TestBot {
    let mut config = place.config(Some(server), options);
    let file = place.path().join("models.json");
    let known = json!({ server.base_url(): {"chat": speed, "utility": speed} });
    std::fs::write(&file, known.to_string()).unwrap();
    let model = config.model.as_mut().unwrap();
    model.capabilities_file = Some(file);
    model.timeouts.total = config.turn.timeout;
    place.bot(&config).await
}

#[tokio::test(flavor = "multi_thread")]
async fn who_was_waited_for_in_vain_is_waited_for_longer_the_next_time() {
    let (place, server) = (BotStorage::embedded(), start().await);
    let mut config = place.config(Some(&server), &[]);
    config.model.as_mut().unwrap().timeouts.read = Duration::from_secs(2);
    let bot = place.bot(&config).await;
    let room = bot.room("a");
    server.expects(asks("Hello?")).replies(Reply::hang());
    let answer = room.say("ada", "Hello?").await.text();
    assert!(
        answer.starts_with(
            "I could not ask the model (it did not answer in time; whoever runs me can raise MODEL_TIMEOUT)"
        ),
        "{answer}"
    );
    server
        .expects(asks("Still there?"))
        .replies(Reply::text("Here I am.").late(Duration::from_secs(3)));
    let answer = room.say("ada", "Still there?").await.text();
    assert_eq!(answer, "Here I am.");
    bot.end().await;
    server.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_answer_may_take_longer_than_a_turn_and_is_seen_to_go_on() {
    let (place, server) = (BotStorage::embedded(), start().await);
    // One token per second, with two seconds in total.
    let slow = measured(100, 1_000);
    let options = ["--turn-timeout=2"];
    let bot = bot_that_knows(&place, &server, &options, &slow).await;
    let trickle = Reply::text("One two three.").trickling(Duration::from_millis(1_100));
    server.expects(asks("Count.")).replies(trickle);
    let mut pending = bot.room("a").send("ada", "Count.").await;
    pending.shows("One").await;
    assert_eq!(pending.answer().await.text(), "One two three.");
    bot.end().await;
    server.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_pauses_is_seen_to_go_on() {
    let (place, server) = (BotStorage::embedded(), start().await);
    let bot = place.bot(&place.config(Some(&server), &[])).await;
    let gate = Gate::closed();
    server
        .expects(asks("Count."))
        .replies(Reply::text("One two.").paused(&gate));
    let mut pending = bot.room("a").send("ada", "Count.").await;
    pending.shows("One").await;
    pending.works_on().await;
    pending.works_on().await;
    gate.open();
    assert_eq!(pending.answer().await.text(), "One two.");
    bot.end().await;
    server.finish();
}

/// Asks something for which a tool is called.
async fn espresso(room: &TestConversation, server: &ModelServer) -> String {
    let call = [("search_memory", json!({"query": "coffee machine code"}))];
    server
        .expects(|request| request.tools() == ["search_memory", "save_note", "list_notes"])
        .calls(&call);
    server
        .expects(|request| request.model() == "chat" && request.tools().is_empty())
        .answers("4711");
    room.say("ada", "I want an espresso!").await.text()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_model_is_not_asked_what_is_still_open() {
    let (place, server) = (BotStorage::embedded(), start().await);
    let slow = measured(25_000, 0);
    let bot = bot_that_knows(&place, &server, &[], &slow).await;
    assert_eq!(espresso(&bot.room("a"), &server).await, "4711");
    assert_eq!(server.chats().len(), 2);
    bot.end().await;
    server.finish();

    let (place, server) = (BotStorage::embedded(), start().await);
    let fast = measured(250, 10);
    let bot = bot_that_knows(&place, &server, &[], &fast).await;
    server
        .expects(|request| request.model() == "utility")
        .answers(r#"{"questions": []}"#);
    assert_eq!(espresso(&bot.room("a"), &server).await, "4711");
    assert_eq!(server.chats().len(), 3);
    bot.end().await;
    server.finish();
}
