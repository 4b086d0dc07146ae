//! The cost of models, and budgets per month.

use chrono::{TimeDelta, Utc};
use muninn::config::Config;
use muninn::graph::trace::Trace;
use muninn::graph::{NewTurn, Turn};
use muninn_platform::Body;
use muninn_platform::testing::TestConversation;
use serde_json::json;

use crate::start;
use crate::support::bot::{BotStorage, TestBot};
use crate::support::model_server::{Gate, ModelServer, Reply};
use crate::support::program::asks;

/// Returns the configuration of models with a price.
fn config(place: &BotStorage, server: &ModelServer, options: &[&str]) -> Config {
    let mut config = place.config(Some(server), options);
    let model = config.model.as_mut().unwrap();
    model.chat_model = "gpt-4o-mini".to_owned();
    model.utility_model = "gpt-4o-mini".to_owned();
    config
}

/// Asks this model first, once, and then that of another server.
fn falls_back(config: &mut Config, first_model: &str, second: &ModelServer, second_model: &str) {
    let model = config.model.as_mut().unwrap();
    model.chat_model = first_model.to_owned();
    model.utility_model = first_model.to_owned();
    model.retries.max = 0;
    let mut spare = second.config();
    spare.chat_model = second_model.to_owned();
    config.fallbacks = vec![spare];
}

async fn bot(place: &BotStorage, server: &ModelServer, options: &[&str]) -> TestBot {
    place.bot(&config(place, server, options)).await
}

/// A reply with 1,000 tokens read and 100 written: 210 millionths of a dollar.
fn reply(text: &str) -> Reply {
    Reply::text(text).usage(1_000, 100)
}

async fn greets(room: &TestConversation, server: &ModelServer, person: &str) -> String {
    server.expects(asks("Hello")).replies(reply("Hi!"));
    room.say(person, "Hello").await.text()
}

/// The beginning of an answer after the budget is used up.
const NO_MORE: &str = "I could not ask the model (your budget for this month is used up)";

crate::support::bot::on_every_graph!(a_person_is_warned_once_and_then_answered_without_a_model);

async fn a_person_is_warned_once_and_then_answered_without_a_model(place: BotStorage) {
    let server = start().await;
    let options = ["--budget-person=0.0005"];
    let tallied = bot(&place, &server, &options).await;
    let room = tallied.room("a");
    let ada = format!("ada-{}", tallied.event(""));
    let bob = format!("bob-{}", tallied.event(""));
    assert_eq!(greets(&room, &server, &ada).await, "Hi!");
    let warned = greets(&room, &server, &ada).await;
    assert!(
        warned.starts_with(
            "Hi!\n\n(80 % of your budget for this month is used: $0.000420 of $0.000500."
        ),
        "{warned}"
    );
    assert_eq!(greets(&room, &server, &ada).await, "Hi!");
    let asked = server.chats().len();
    let refused = room.say(&ada, "Hello").await.text();
    assert!(refused.starts_with(NO_MORE), "{refused}");
    assert_eq!(server.chats().len(), asked);
    // Somebody else has their own budget.
    assert_eq!(greets(&room, &server, &bob).await, "Hi!");
    let usage = room.command(&ada, "usage").await.text();
    assert!(
        usage.contains("- you: 4 answers, 3000 tokens read and 300 written, for $0.000630"),
        "{usage}"
    );
    assert!(
        usage.contains("Of your budget for this month: $0.000630 of $0.000500"),
        "{usage}"
    );
    tallied.end().await;

    // The next process reads the spending from the graph.
    let next = bot(&place, &server, &options).await;
    let refused = next.room("a").say(&ada, "Hello").await.text();
    assert!(refused.starts_with(NO_MORE), "{refused}");
    next.end().await;
    server.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_stops_within_one_call() {
    for option in ["--budget-channel=0.0002", "--budget-total=0.0002"] {
        let (place, server) = (BotStorage::embedded(), start().await);
        let bot = bot(&place, &server, &[option]).await;
        let call = [("search_memory", json!({"query": "espresso"}))];
        server
            .expects(asks("I want an espresso!"))
            .replies(Reply::calls(&call).usage(1_000, 100));
        let answer = bot.room("a").say("ada", "I want an espresso!").await.text();
        assert!(
            answer.contains("budget for this month is used up"),
            "{answer}"
        );
        assert_eq!(server.chats().len(), 1);
        bot.end().await;
        server.finish();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_was_stopped_is_paid_for() {
    let (place, server) = (BotStorage::embedded(), start().await);
    let bot = bot(&place, &server, &["--budget-person=0.000001"]).await;
    let room = bot.room("a");
    server
        .expects(asks("Tell me a long story."))
        .replies(Reply::chunks(["Once upon ", "a time "]).paused(&Gate::closed()));
    let mut story = room.send("ada", "Tell me a long story.").await;
    story.shows("Once upon").await;
    room.stop().await;
    story.answer().await;
    let refused = room.say("ada", "Hello").await.text();
    assert!(refused.starts_with(NO_MORE), "{refused}");
    assert_eq!(server.chats().len(), 1);
    bot.end().await;
    server.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_ends_with_an_error_is_paid_for() {
    let (place, server) = (BotStorage::embedded(), start().await);
    let bot = bot(&place, &server, &["--budget-person=0.000001"]).await;
    let room = bot.room("a");
    let lines = [
        "data: {\"choices\":[{\"delta\":{\"content\":\"Once upon a time\"}}]}\n\n",
        "data: {\"error\":{\"message\":\"overloaded\",\"code\":502}}\n\n",
    ];
    server
        .expects(asks("Tell me a long story."))
        .replies(Reply::events(lines));
    room.say("ada", "Tell me a long story.").await;
    let refused = room.say("ada", "Hello").await.text();
    assert!(refused.starts_with(NO_MORE), "{refused}");
    assert_eq!(server.chats().len(), 1);
    bot.end().await;
    server.finish();
}

/// A reply of nothing but reasoning, for 3,651 millionths of a dollar.
fn only_reasons() -> Reply {
    Reply::text("<think>and then and then")
        .finish("length")
        .usage(5_000, 4_835)
}

#[tokio::test(flavor = "multi_thread")]
async fn reasoning_without_an_answer_is_paid_for() {
    let (place, server) = (BotStorage::embedded(), start().await);
    let bot = bot(&place, &server, &["--budget-person=0.01"]).await;
    let room = bot.room("a");
    server.expects(asks("Hello")).replies(only_reasons());
    server.expects(asks("Hello")).replies(reply("Hi!"));
    assert_eq!(room.say("ada", "Hello").await.text(), "Hi!");
    let usage = room.command("ada", "usage").await.text();
    let all = "6000 tokens read and 4935 written, for $0.003861";
    assert!(usage.contains(all), "{usage}");

    for _both in 0..2 {
        server.expects(asks("Well?")).replies(only_reasons());
    }
    room.say("ada", "Well?").await;
    let usage = room.command("ada", "usage").await.text();
    assert!(usage.contains("$0.0111 of $0.0100"), "{usage}");
    bot.end().await;
    server.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_broke_off_is_paid_for_beside_the_one_that_answered() {
    let (place, first) = (BotStorage::embedded(), start().await);
    let second = start().await;
    let mut config = config(&place, &first, &[]);
    let mut spare = second.config();
    spare.chat_model = "gpt-4o-mini".to_owned();
    config.fallbacks = vec![spare];
    let bot = place.bot(&config).await;
    let room = bot.room("a");
    first
        .expects(asks("Hello"))
        .replies(Reply::text("Hello to everybody").cut_after(2));
    second.expects(asks("Hello")).replies(reply("Hi!"));
    assert_eq!(room.say("ada", "Hello").await.text(), "Hi!");
    let usage = room.command("ada", "usage").await.text();
    // "Hello to " beside the 100 tokens that were counted.
    assert!(usage.contains(" and 103 written"), "{usage}");
    bot.end().await;
    first.finish();
    second.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_model_that_answers_has_its_own_price() {
    // The services report a name that has no price.
    let lines = [
        "data: {\"model\":\"deployment-7\",\"choices\":[{\"delta\":{\"content\":\"Hi!\"},\"finish_reason\":\"stop\"}]}\n\n",
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1000,\"completion_tokens\":100}}\n\n",
    ];
    for (first_model, second_model, costs) in [
        ("gpt-4o-mini", "llama-at-home", false),
        ("llama-at-home", "gpt-4o-mini", true),
    ] {
        let (place, first) = (BotStorage::embedded(), start().await);
        let second = start().await;
        let mut config = config(&place, &first, &[]);
        falls_back(&mut config, first_model, &second, second_model);
        let bot = place.bot(&config).await;
        let room = bot.room("a");
        first
            .expects(asks("Hello"))
            .replies(Reply::refusal(503, "server_error", "down"));
        second.expects(asks("Hello")).replies(Reply::events(lines));
        assert_eq!(room.say("ada", "Hello").await.text(), "Hi!");
        let usage = room.command("ada", "usage").await.text();
        assert!(
            usage.contains("1000 tokens read and 100 written"),
            "{usage}"
        );
        assert_eq!(usage.contains("$0.000210"), costs, "{usage}");
        bot.end().await;
        first.finish();
        second.finish();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_was_stopped_has_the_price_of_the_model_that_wrote_it() {
    for (first_model, second_model, costs) in [
        ("gpt-4o-mini", "llama-at-home", false),
        ("llama-at-home", "gpt-4o-mini", true),
    ] {
        let (place, first) = (BotStorage::embedded(), start().await);
        let second = start().await;
        let mut config = config(&place, &first, &["--budget-person=1"]);
        falls_back(&mut config, first_model, &second, second_model);
        let bot = place.bot(&config).await;
        let room = bot.room("a");
        first
            .expects(asks("Tell me a long story."))
            .replies(Reply::refusal(503, "server_error", "down"));
        second
            .expects(asks("Tell me a long story."))
            .replies(Reply::chunks(["Once upon ", "a time "]).paused(&Gate::closed()));
        let mut story = room.send("ada", "Tell me a long story.").await;
        story.shows("Once upon").await;
        room.stop().await;
        story.answer().await;
        let usage = room.command("ada", "usage").await.text();
        assert_eq!(usage.contains("this month: $0 of $1.00"), !costs, "{usage}");
        bot.end().await;
        first.finish();
        second.finish();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_service_had_read_before_costs_less_and_why_says_so() {
    let (place, server) = (BotStorage::embedded(), start().await);
    let bot = bot(&place, &server, &[]).await;
    let room = bot.room("a");
    server
        .expects(asks("Hello"))
        .replies(reply("Hi!").cached(800));
    assert_eq!(room.say("ada", "Hello").await.text(), "Hi!");
    let why = room.command("ada", "why").await.text();
    assert!(
        why.contains("from 1000 tokens read (800 of them cached) and 100 written, for $0.000150"),
        "{why}"
    );
    let usage = room.command("ada", "usage").await.text();
    assert!(!usage.contains("budget"), "{usage}");
    bot.end().await;
    server.finish();
}

/// One digest costs more than a person may spend.
#[tokio::test(flavor = "multi_thread")]
async fn digests_are_paid_by_their_channels() {
    let (place, server) = (BotStorage::embedded(), start().await);
    let open = ["--budget-person=0.0002"];
    let first = bot(&place, &server, &open).await;
    let time = (Utc::now() - TimeDelta::minutes(1)).format("%H:%M");
    let mut settings = String::new();
    for channel in ["one", "two"] {
        let room = first.room_of("a", channel);
        let message = room.message("any", "ada", Body::Text(String::new()));
        settings += &format!(
            "[\"{}\"]\ndigest = \"daily {time} UTC\"\n",
            message.audience.id
        );
        let said = Turn {
            created_at: Utc::now() - TimeDelta::hours(1),
            ..Turn::message(message.conversation.as_str(), "ada", "Who climbs the mast?")
        };
        let heard = NewTurn {
            recalls_also: Vec::new(),
            audience: message.audience,
            turn: said,
            context: Vec::new(),
            recalled: Vec::new(),
            trace: Trace::default(),
            asked_at: None,
        };
        first.archive.keep_messages(vec![heard]).await.unwrap();
    }
    first.end().await;

    let file = place.path().join("channels.toml");
    std::fs::write(&file, settings).unwrap();
    let file = format!("--channel-settings={}", file.display());
    let next = bot(&place, &server, &[open[0], &file]).await;
    for found in ["White helmets are ordered.", "The mast is up."] {
        let said = json!({"decided": [{"what": found, "messages": [1]}]}).to_string();
        server
            .expects(|request| request.last_user().contains("talked to one another"))
            .replies(reply(&said));
    }
    let room = next.room_of("a", "one");
    room.connect().await;
    room.shows("White helmets are ordered.").await;
    room.shows("The mast is up.").await;
    next.end().await;
    server.finish();
}
