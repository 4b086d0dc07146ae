//! Several models: where one fails, the next one answers, and the first is tried again later.

use std::sync::Arc;
use std::time::Duration;

use muninn::llm::{
    CallProgress, ChatRequest, Completion, Limiter, ModelChain, ModelConfig, ModelError, Piece,
};
use secrecy::SecretString;

use crate::support::bot::BotStorage;
use crate::support::model_server::{Gate, ModelServer, Quirk, Reply};
use crate::support::program::asks;
use crate::{anything, ask, start};

/// Returns a model that nobody serves, with a key of another service.
fn dead() -> ModelConfig {
    let mut config = ModelConfig::new("http://127.0.0.1:1/v1", "dead");
    config.api_key = Some(SecretString::from("sk-dead"));
    config
}

/// Returns the model `spare` at a server.
fn spare(server: &ModelServer) -> ModelConfig {
    let mut config = server.config();
    config.chat_model = "spare".to_owned();
    config.utility_model = "spare".to_owned();
    config
}

fn chain(first: &ModelConfig, others: &[ModelConfig]) -> ModelChain {
    let limiter = Arc::new(Limiter::new(&first.limits));
    ModelChain::new(first, others, &limiter).unwrap()
}

/// Returns the answer, and what a person finally saw of it.
async fn complete(
    chain: &ModelChain,
    request: &ChatRequest,
) -> (Result<Completion, ModelError>, String) {
    let mut seen = String::new();
    let outcome = chain
        .complete(request, &mut |piece| piece.add_to(&mut seen))
        .await;
    (outcome, seen)
}

#[tokio::test(flavor = "multi_thread")]
async fn where_the_first_is_dead_the_next_answers_and_the_answer_says_who_wrote_it() {
    let (place, server) = (BotStorage::embedded(), start().await);
    let mut config = place.config(None, &[]);
    config.model = Some(dead());
    config.fallbacks = vec![spare(&server)];
    let bot = place.bot(&config).await;
    let room = bot.room("a");
    for question in ["Anybody there?", "Still?", "And now?"] {
        server
            .expects(move |request| request.model() == "spare" && asks(question)(request))
            .answers("I am.");
        assert_eq!(room.say("ada", question).await.text(), "I am.");
    }
    let why = room.command("ada", "why").await.text();
    assert!(why.contains("Written by spare"), "{why}");
    bot.end().await;
    server.finish();
}

#[tokio::test]
async fn a_service_that_failed_is_left_alone_and_comes_back() {
    let (first, second) = (start().await, start().await);
    let chain = chain(&first.config(), &[spare(&second)]);
    first.set_down(true);
    second
        .expects(|request| request.model() == "spare")
        .always_replies(Reply::text("Second."));
    for _twice in 0..2 {
        let (answer, _) = complete(&chain, &ask("Hello")).await;
        assert_eq!(answer.unwrap().text, "Second.");
    }
    // It was asked twice each time, and is not asked any more now.
    assert_eq!(first.chats().len(), 4);
    let (answer, _) = complete(&chain, &ask("Hello")).await;
    assert_eq!(answer.unwrap().model, "spare");
    assert_eq!(first.chats().len(), 4);

    first.set_down(false);
    first.expects(anything).answers("First.");
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(6)).await;
    tokio::time::resume();
    let (answer, _) = complete(&chain, &ask("Hello")).await;
    assert_eq!(answer.unwrap().text, "First.");
    assert_eq!(second.chats().len(), 3);
    first.finish();
    second.finish();
}

#[tokio::test]
async fn a_service_that_refuses_the_request_that_tries_it_is_asked_again() {
    let (first, second) = (start().await, start().await);
    let chain = chain(&first.config(), &[spare(&second)]);
    first.set_down(true);
    second
        .expects(anything)
        .always_replies(Reply::text("Second."));
    for _twice in 0..2 {
        complete(&chain, &ask("Hello")).await.0.unwrap();
    }
    first.set_down(false);
    first
        .expects(anything)
        .replies(Reply::refusal(400, "content_filter", "its policy"));
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(6)).await;
    tokio::time::resume();
    let (answer, _) = complete(&chain, &ask("Hello")).await;
    assert_eq!(answer.unwrap().text, "Second.");
    first.expects(anything).answers("First.");
    let (answer, _) = complete(&chain, &ask("Hello")).await;
    assert_eq!(answer.unwrap().text, "First.");
    first.finish();
    second.finish();
}

#[tokio::test]
async fn what_a_model_wrote_before_it_broke_off_is_taken_back_and_billed() {
    let (first, second) = (start().await, start().await);
    first
        .expects(anything)
        .replies(Reply::text("One and two.").cut_after(2));
    second.expects(anything).answers("Three.");
    let chain = chain(&first.config(), &[spare(&second)]);
    let (answer, seen) = complete(&chain, &ask("Count")).await;
    let answer = answer.unwrap();
    assert_eq!((&*answer.text, &*seen), ("Three.", "Three."));
    let [billed] = &answer.failed[..] else {
        panic!("{answer:?}");
    };
    assert_eq!(billed.model, "chat");
    assert!(billed.usage.prompt > 0 && billed.usage.completion > 0);
    first.finish();
    second.finish();
}

#[tokio::test]
async fn a_call_that_is_cancelled_has_told_which_model_it_asked_and_what_was_billed_before() {
    let (first, second) = (start().await, start().await);
    first
        .expects(anything)
        .replies(Reply::text("One and two.").cut_after(2));
    second
        .expects(anything)
        .replies(Reply::text("Three and four.").paused(&Gate::closed()));
    let chain = chain(&first.config(), &[spare(&second)]);
    let (request, mut progress) = (ask("Count"), CallProgress::default());
    let (mut seen, is_seen) = (String::new(), tokio::sync::Notify::new());
    let mut see = |piece: Piece| {
        piece.add_to(&mut seen);
        if seen.starts_with("Three") {
            is_seen.notify_one();
        }
    };
    tokio::select! {
        outcome = chain.complete_observed(&request, &mut see, &mut progress) => panic!("{outcome:?}"),
        () = is_seen.notified() => {}
    }
    assert_eq!(progress.model, "spare");
    let [billed] = &progress.failed[..] else {
        panic!("{progress:?}");
    };
    assert_eq!(billed.model, "chat");
    assert!(billed.usage.prompt > 0 && billed.usage.completion > 0);
    first.finish();
    second.finish();
}

#[tokio::test]
async fn each_kind_of_failure_is_worth_another_model() {
    for reply in [
        Reply::refusal(401, "invalid_api_key", "no"),
        Reply::refusal(404, "model_not_found", "no such model"),
        Reply::refusal(402, "insufficient_quota", "pay"),
        Reply::refusal(400, "content_filter", "its policy"),
        Reply::refusal(429, "rate_limit", "slow down").header("retry-after", "60"),
        Reply::text("").finish("stop"),
        Reply::hang(),
        Reply::text("One two").paused(&Gate::closed()),
    ] {
        let case = format!("{reply:?}");
        let (first, second) = (start().await, start().await);
        first.expects(anything).replies(reply);
        second.expects(anything).answers("Second.");
        let mut config = first.config();
        config.timeouts.read = Duration::from_millis(300);
        let chain = chain(&config, &[spare(&second)]);
        let (answer, seen) = complete(&chain, &ask("Hello")).await;
        assert_eq!(answer.unwrap().text, "Second.", "{case}");
        assert_eq!(seen, "Second.", "{case}");
        first.finish();
        second.finish();
    }
}

#[tokio::test]
async fn when_all_fail_the_first_ones_reason_is_told_and_all_are_asked_again() {
    let server = start().await;
    let chain = chain(&dead(), &[spare(&server)]);
    for _again in 0..4 {
        server
            .expects(anything)
            .replies(Reply::refusal(401, "invalid_api_key", "no"));
        let (outcome, _) = complete(&chain, &ask("Hello")).await;
        assert!(
            matches!(outcome, Err(ModelError::Unreachable { .. })),
            "{outcome:?}"
        );
    }
    server.expects(anything).answers("Here again.");
    let (answer, _) = complete(&chain, &ask("Hello")).await;
    assert_eq!(answer.unwrap().text, "Here again.");
    server.finish();
}

#[tokio::test]
async fn a_prompt_that_is_too_long_is_made_shorter_and_not_sent_to_the_next() {
    let (first, second) = (start().await, start().await);
    first.has(Quirk::Context {
        tokens: 2_048,
        tells: true,
    });
    let chain = chain(&first.config(), &[spare(&second)]);
    let (outcome, _) = complete(&chain, &ask(&"word ".repeat(3_000))).await;
    assert!(
        matches!(outcome, Err(ModelError::ContextTooLong(_))),
        "{outcome:?}"
    );
    assert!(second.chats().is_empty());
    first.finish();
    second.finish();
}
