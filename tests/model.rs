//! The real clients against a model service on loopback.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::{Duration, Instant};

use muninn::llm::{
    ChatMessage, ChatModel, ChatRequest, Completion, Embedder, Finding, Limiter, Limits,
    ModelConfig, ModelError, Purpose, RemoteEmbedder, Role, ToolCall, ToolSpec, Usage,
};
use secrecy::SecretString;
use serde_json::{Value, json};
use support::model_server::{Embeddings, Gate, ModelServer, Reply, Request};

async fn start() -> ModelServer {
    let _ = rustls::crypto::ring::default_provider().install_default();
    ModelServer::start().await
}

fn model(config: &ModelConfig) -> ChatModel {
    ChatModel::new(config, Arc::new(Limiter::new(&config.limits))).unwrap()
}

fn ask(text: &str) -> ChatRequest {
    ChatRequest {
        messages: vec![
            ChatMessage::System("Be brief.".to_owned()),
            ChatMessage::User(text.to_owned()),
        ],
        tools: Vec::new(),
        max_tokens: 50,
        purpose: Purpose::Answer,
        person: "alice".to_owned(),
    }
}

fn search() -> ToolSpec {
    ToolSpec {
        name: "search".to_owned(),
        description: "Searches.".to_owned(),
        parameters: json!({ "type": "object", "properties": { "q": { "type": "string" } } }),
    }
}

async fn complete(model: &ChatModel, request: &ChatRequest) -> Result<Completion, ModelError> {
    model.complete(request, &mut |_| {}).await
}

/// What becomes of one reply, without retries.
async fn outcome(reply: Reply) -> Result<Completion, ModelError> {
    let server = start().await;
    server.expects(|_| true).replies(reply);
    let mut config = server.config();
    config.retries.max = 0;
    let outcome = complete(&model(&config), &ask("Hello")).await;
    server.finish();
    outcome
}

fn anything(_: &Request) -> bool {
    true
}

#[tokio::test]
async fn streams_in_pieces_with_usage() {
    let server = start().await;
    server
        .expects(|request| request.last_user() == "Hello" && request.model() == "chat")
        .answers("Hi there, friend");
    let mut pieces = Vec::new();
    let answer = model(&server.config())
        .complete(&ask("Hello"), &mut |text| pieces.push(text.to_owned()))
        .await
        .unwrap();
    assert_eq!(pieces, ["Hi ", "there, ", "friend"]);
    let expected = Completion {
        text: "Hi there, friend".to_owned(),
        tool_calls: Vec::new(),
        model: "chat".to_owned(),
        usage: Usage {
            prompt: 100,
            completion: 10,
        },
        truncated: false,
    };
    assert_eq!(answer, expected);
    server.finish();
}

#[tokio::test]
async fn text_is_handed_on_before_the_stream_ends() {
    let server = start().await;
    let gate = Gate::closed();
    server
        .expects(anything)
        .replies(Reply::text("one two").paused(&gate));
    let mut pieces = 0;
    let answer = model(&server.config())
        .complete(&ask("Count"), &mut |_| {
            pieces += 1;
            // Without this piece the gate would stay closed for good.
            gate.pass_one();
            if pieces == 2 {
                gate.open();
            }
        })
        .await;
    assert_eq!(answer.unwrap().text, "one two");
    server.finish();
}

#[tokio::test]
async fn the_utility_model_is_asked_by_its_name() {
    let server = start().await;
    server
        .expects(|request| request.model() == "utility")
        .answers("short");
    let request = ChatRequest {
        purpose: Purpose::Utility,
        ..ask("Summarise")
    };
    complete(&model(&server.config()), &request).await.unwrap();
    server.finish();
}

#[tokio::test]
async fn calls_tools_in_two_rounds() {
    let server = start().await;
    let first = [
        ("search", json!({"q": "a"})),
        ("search", json!({"q": "\u{1f426} \"b\""})),
    ];
    server
        .expects(|request| request.tools() == ["search"] && request.tool_results().is_empty())
        .calls(&first);
    server
        .expects(|request| request.tool_results() == ["one", "two"])
        .calls(&[("search", json!({"q": "c"}))]);
    server
        .expects(|request| request.tool_results() == ["one", "two", "three"])
        .answers("All three.");
    let model = model(&server.config());
    let mut request = ask("Look it up");
    request.tools = vec![search()];
    for results in [&["one", "two"][..], &["three"]] {
        let answer = complete(&model, &request).await.unwrap();
        assert_eq!(answer.tool_calls.len(), results.len());
        let results = results.iter().zip(&answer.tool_calls).map(|(text, call)| {
            assert!(serde_json::from_str::<Value>(&call.arguments).unwrap()["q"].is_string());
            ChatMessage::Tool {
                call_id: call.id.clone(),
                text: (*text).to_owned(),
            }
        });
        let results: Vec<_> = results.collect();
        request.messages.push(ChatMessage::Assistant {
            text: answer.text,
            tool_calls: answer.tool_calls,
        });
        request.messages.extend(results);
    }
    assert_eq!(complete(&model, &request).await.unwrap().text, "All three.");
    server.finish();
}

#[tokio::test]
async fn takes_what_lenient_services_send() {
    let lines = [
        ": a comment that keeps the connection\n\n",
        "data: {\"choices\":[]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"reasoning_content\":\"hm\"}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"content\":null,\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"search\",\"arguments\":{\"q\":1}}}]}}],\"new\":{}}\n\n",
        "data: {\"choices\":[{\"delta\":{\"content\":\"Looking\"},\"finish_reason\":\"quite_done\"}]}\n\n",
        "data: [DONE]\n\n",
    ];
    let answer = outcome(Reply::events(lines)).await.unwrap();
    assert_eq!(answer.text, "Looking");
    let call = ToolCall {
        id: "call_0_".to_owned(),
        name: "search".to_owned(),
        arguments: "{\"q\":1}".to_owned(),
    };
    assert_eq!(answer.tool_calls, [call]);
    assert!(
        answer.usage.prompt > 0 && answer.usage.completion > 0,
        "estimated"
    );
    assert_eq!(answer.model, "chat");
}

#[tokio::test]
async fn odd_text_goes_both_ways_unchanged() {
    let odd = "quote \" back\\slash \u{1f9d1}\u{200d}\u{1f4bb} \u{5e9}\u{5dc} \0 \u{202e}x\r\n\ndata: [DONE]";
    let server = start().await;
    server
        .expects(move |request| request.last_user() == odd)
        .replies(Reply::chunks([odd, odd]));
    let answer = complete(&model(&server.config()), &ask(odd)).await.unwrap();
    assert_eq!(answer.text, [odd, odd].concat());
    server.finish();
}

#[tokio::test]
async fn the_limit_of_tokens_makes_a_truncated_answer() {
    let answer = outcome(Reply::text("and then").finish("length"))
        .await
        .unwrap();
    assert!(answer.truncated);
    let silent = outcome(Reply::chunks([]).finish("length")).await.unwrap();
    assert!(silent.truncated && silent.text.is_empty());
}

#[tokio::test]
async fn half_an_answer_is_an_error() {
    let cut = outcome(Reply::text("one two three").cut_after(2)).await;
    assert!(matches!(cut, Err(ModelError::CutOff)), "{cut:?}");
    let line = "data: {\"choices\":[{\"delta\":{\"content\":\"Half\"}}]}\n\n";
    let unfinished = outcome(Reply::events([line])).await;
    assert!(
        matches!(unfinished, Err(ModelError::CutOff)),
        "{unfinished:?}"
    );
    // Cut between the last word and the counts: nothing of the answer is missing.
    let whole = outcome(Reply::text("one two").usage(1, 1).cut_after(3)).await;
    assert_eq!(whole.unwrap().text, "one two");
}

#[tokio::test]
async fn an_error_within_the_stream_is_an_error() {
    let lines = [
        "data: {\"choices\":[{\"delta\":{\"content\":\"Half\"}}]}\n\n",
        "data: {\"error\":{\"message\":\"overloaded\",\"code\":502}}\n\n",
    ];
    let outcome = outcome(Reply::events(lines)).await;
    assert!(matches!(outcome, Err(ModelError::Failed(_))), "{outcome:?}");
}

#[tokio::test]
async fn nonsense_is_an_error_without_its_words() {
    let broken = outcome(Reply::events(["data: {\"secret\n\n"]))
        .await
        .unwrap_err();
    assert!(matches!(broken, ModelError::BadAnswer(_)), "{broken:?}");
    assert!(!broken.to_string().contains("secret"));
    let empty = outcome(Reply::chunks([])).await;
    assert!(matches!(empty, Err(ModelError::BadAnswer(_))), "{empty:?}");
}

#[tokio::test]
async fn refusals_have_their_names() {
    let table = [
        (
            Reply::refusal(401, "invalid_api_key", "Incorrect API key"),
            "Unauthorized",
        ),
        (Reply::body(403, "<html>no</html>"), "Unauthorized"),
        (
            Reply::refusal(404, "model_not_found", "The model `x` does not exist"),
            "UnknownModel",
        ),
        (
            Reply::body(
                404,
                r#"{"error":"model 'x' not found, try pulling it first"}"#,
            ),
            "UnknownModel",
        ),
        (Reply::body(404, "404 page not found"), "Refused"),
        (
            Reply::refusal(429, "insufficient_quota", "You exceeded your current quota"),
            "QuotaExhausted",
        ),
        (
            Reply::refusal(429, "rate_limit_exceeded", "Limit: tokens per min"),
            "RateLimited",
        ),
        (Reply::body(429, "Too Many Requests"), "RateLimited"),
        (
            Reply::refusal(400, "context_length_exceeded", "too long"),
            "ContextTooLong",
        ),
        (
            Reply::body(
                400,
                r#"{"object":"error","message":"This model's maximum context length is 4096 tokens.","code":400}"#,
            ),
            "ContextTooLong",
        ),
        (
            Reply::body(
                500,
                r#"{"error":{"message":"input length exceeds the context length"}}"#,
            ),
            "ContextTooLong",
        ),
        (
            Reply::refusal(400, "invalid_request_error", "bad"),
            "Refused",
        ),
        (Reply::body(503, "upstream\nis down"), "Failed"),
    ];
    for (reply, name) in table {
        let error = outcome(reply.clone()).await.unwrap_err();
        assert!(
            format!("{error:?}").starts_with(name),
            "{reply:?} gave {error:?}"
        );
    }
}

#[tokio::test]
async fn retries_what_may_pass() {
    let server = start().await;
    server
        .expects(anything)
        .replies(Reply::refusal(503, "server_error", "boom"));
    server
        .expects(anything)
        .replies(Reply::body(429, "not JSON").header("retry-after", "0"));
    server.expects(anything).answers("At last");
    let mut pieces = String::new();
    let answer = model(&server.config())
        .complete(&ask("Hello"), &mut |text| pieces.push_str(text))
        .await
        .unwrap();
    assert_eq!(
        (answer.text, pieces.as_str()),
        ("At last".to_owned(), "At last")
    );
    server.finish();
}

#[tokio::test]
async fn retries_are_bounded() {
    let server = start().await;
    for _ in 0..3 {
        server
            .expects(anything)
            .replies(Reply::refusal(500, "server_error", "boom"));
    }
    let error = complete(&model(&server.config()), &ask("Hello"))
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the model service failed: HTTP 500: boom"
    );
    assert!(error.is_transient());
    server.finish();
}

#[tokio::test]
async fn nothing_is_retried_once_text_has_come() {
    let server = start().await;
    server
        .expects(anything)
        .replies(Reply::text("one two").cut_after(1));
    let outcome = complete(&model(&server.config()), &ask("Hello")).await;
    assert!(matches!(outcome, Err(ModelError::CutOff)), "{outcome:?}");
    assert_eq!(server.chats().len(), 1);
    server.finish();
}

#[tokio::test]
async fn waits_as_long_as_it_is_told() {
    let server = start().await;
    server
        .expects(anything)
        .replies(Reply::refusal(429, "rate", "slow").header("retry-after", "1"));
    // A date has whole seconds, so this one is between one and two seconds away.
    let date =
        (chrono::Utc::now() + chrono::Duration::seconds(3)).format("%a, %d %b %Y %H:%M:%S GMT");
    server
        .expects(anything)
        .replies(Reply::body(503, "").header("retry-after", &date.to_string()));
    server.expects(anything).answers("Now");
    let start = Instant::now();
    complete(&model(&server.config()), &ask("Hello"))
        .await
        .unwrap();
    assert!(
        start.elapsed() >= Duration::from_secs(2),
        "{:?}",
        start.elapsed()
    );
    server.finish();
}

#[tokio::test]
async fn gives_up_at_once_when_told_to_wait_for_long() {
    for pause in ["3600", "Fri, 31 Dec 2999 23:59:59 GMT"] {
        let server = start().await;
        server
            .expects(anything)
            .replies(Reply::refusal(429, "rate", "slow").header("retry-after", pause));
        let outcome = complete(&model(&server.config()), &ask("Hello")).await;
        assert!(
            matches!(outcome, Err(ModelError::RateLimited)),
            "{outcome:?}"
        );
        server.finish();
    }
}

#[tokio::test]
async fn every_attempt_takes_a_permit() {
    let server = start().await;
    server
        .expects(anything)
        .replies(Reply::refusal(500, "server_error", "boom"));
    server
        .expects(anything)
        .replies(Reply::refusal(500, "server_error", "boom"));
    let mut config = server.config();
    config.retries.max = 5;
    config.limits.requests_per_minute = NonZeroU32::new(2);
    config.limits.longest_wait = Duration::ZERO;
    let outcome = complete(&model(&config), &ask("Hello")).await;
    assert!(matches!(outcome, Err(ModelError::Busy)), "{outcome:?}");
    assert_eq!(server.chats().len(), 2);
    server.finish();
}

#[tokio::test]
async fn a_slot_is_held_until_the_stream_ends() {
    let server = start().await;
    let gate = Gate::closed();
    server
        .expects(|request| request.last_user() == "slow")
        .replies(Reply::text("a b").paused(&gate));
    server
        .expects(|request| request.last_user() == "next")
        .answers("c");
    let mut config = server.config();
    config.limits.in_flight = 1;
    config.limits.longest_wait = Duration::from_millis(50);
    let model = Arc::new(model(&config));
    let slow = tokio::spawn({
        let model = Arc::clone(&model);
        async move { complete(&model, &ask("slow")).await }
    });
    server.arrived(1).await;
    let refused = complete(&model, &ask("next")).await;
    assert!(matches!(refused, Err(ModelError::Busy)), "{refused:?}");
    gate.open();
    slow.await.unwrap().unwrap();
    complete(&model, &ask("next")).await.unwrap();
    server.finish();
}

#[tokio::test]
async fn one_person_does_not_use_up_anothers_share() {
    let server = start().await;
    let mut config = server.config();
    config.limits.person_requests_per_minute = NonZeroU32::new(1);
    config.limits.longest_wait = Duration::ZERO;
    let model = model(&config);
    for person in ["alice", "bob", ""] {
        server.expects(anything).answers("yes");
        let request = ChatRequest {
            person: person.to_owned(),
            ..ask("May I?")
        };
        complete(&model, &request).await.unwrap();
    }
    let again = complete(&model, &ask("May I?")).await;
    assert!(matches!(again, Err(ModelError::Busy)), "{again:?}");
    server.finish();
}

#[tokio::test]
async fn time_outs_end_a_call_that_hangs() {
    let silent = || Reply::text("one two").paused(&Gate::closed());
    for (reply, total) in [
        (Reply::hang(), false),
        (silent(), false),
        (Reply::hang(), true),
    ] {
        let server = start().await;
        server.expects(anything).replies(reply);
        let mut config = server.config();
        let timeout = if total {
            &mut config.timeouts.total
        } else {
            &mut config.timeouts.read
        };
        *timeout = Duration::from_millis(100);
        let outcome = complete(&model(&config), &ask("Hello")).await;
        assert!(matches!(outcome, Err(ModelError::TimedOut)), "{outcome:?}");
        server.abandoned(1).await;
        server.finish();
    }
}

#[tokio::test]
async fn dropping_the_call_ends_the_request() {
    for reply in [
        Reply::hang(),
        Reply::text("one two").paused(&Gate::closed()),
    ] {
        let server = start().await;
        server.expects(anything).replies(reply);
        let model = model(&server.config());
        let request = ask("Hello");
        let mut nothing = |_: &str| {};
        tokio::select! {
            outcome = model.complete(&request, &mut nothing) => panic!("{outcome:?}"),
            () = server.arrived(1) => {}
        }
        server.abandoned(1).await;
        server.finish();
    }
}

#[tokio::test]
async fn nobody_there() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://user:password@{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut config = ModelConfig::new(url, "chat");
    config.retries.max = 1;
    let error = complete(&model(&config), &ask("Hello")).await.unwrap_err();
    assert!(matches!(error, ModelError::Unreachable { .. }), "{error:?}");
    assert!(!format!("{error} {error:?}").contains("password"));
}

#[tokio::test]
async fn learns_what_a_service_does_not_take() {
    let server = start().await;
    let without_options = |request: &Request| request.body.get("stream_options").is_none();
    server
        .expects(|request| request.body.get("stream_options").is_some())
        .replies(Reply::body(
            422,
            r#"{"detail":[{"loc":["body","stream_options"],"msg":"extra"}]}"#,
        ));
    server.expects(without_options).replies(Reply::refusal(
        400,
        "unsupported_parameter",
        "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    ));
    let completion_tokens = |request: &Request| request.body["max_completion_tokens"] == 50;
    server.expects(completion_tokens).answers("Fine");
    server
        .expects(move |request| completion_tokens(request) && without_options(request))
        .answers("Fine");
    let model = model(&server.config());
    for _ in 0..2 {
        complete(&model, &ask("Hello")).await.unwrap();
    }
    server.finish();
}

#[tokio::test]
async fn without_a_key_none_is_sent() {
    let server = start().await;
    server
        .expects(|request| request.authorization.is_none())
        .answers("Hi");
    let mut config = server.config();
    config.api_key = None;
    complete(&model(&config), &ask("Hello")).await.unwrap();
    let faults = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| server.finish()));
    assert!(faults.is_err(), "the server insists on a key");
}

#[tokio::test]
async fn configuration_that_cannot_work_is_refused() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let limiter = || Arc::new(Limiter::new(&Limits::default()));
    for url in ["", "localhost:11434", "ftp://x/"] {
        let config = ModelConfig::new(url, "chat");
        assert!(ChatModel::new(&config, limiter()).is_err(), "{url}");
    }
    let mut config = ModelConfig::new("http://127.0.0.1:1/v1", "chat");
    config.api_key = Some(SecretString::from("two\nlines"));
    assert!(matches!(
        ChatModel::new(&config, limiter()),
        Err(ModelError::Unauthorized)
    ));
}

fn embedder(config: &ModelConfig) -> RemoteEmbedder {
    RemoteEmbedder::new(config, "embedding", Arc::new(Limiter::new(&config.limits))).unwrap()
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

#[tokio::test]
async fn embeds_in_order_and_in_batches() {
    let server = start().await;
    let embedder = Embedder::Remote(embedder(&server.config()));
    assert_eq!(embedder.name(), None);
    let mut texts: Vec<String> = (0..150).map(|n| format!("text number {n}")).collect();
    texts[3] = "  ".to_owned();
    texts[100] = "word ".repeat(20_000);
    let vectors = embedder.embed(&texts).await.unwrap();
    assert_eq!(embedder.name(), Some("openai/embedding/64"));
    assert_eq!(vectors.len(), 150);
    for (at, vector) in vectors.iter().enumerate() {
        let length = vector.iter().flatten().map(|x| x * x).sum::<f32>();
        assert!(if at == 3 {
            vector.is_none()
        } else {
            (length - 1.0).abs() < 1e-4
        });
    }
    let sizes: Vec<usize> = server
        .embedded()
        .iter()
        .map(|request| request.inputs().len())
        .collect();
    assert_eq!(sizes, [64, 64, 21]);
    let alone = embedder.embed(&texts[149..]).await.unwrap();
    assert_eq!(alone[0], vectors[149]);
    assert!(embedder.embed(&[]).await.unwrap().is_empty());
    server.finish();
}

#[tokio::test]
async fn vectors_are_put_in_the_order_of_their_indexes() {
    let server = start().await;
    let items = json!([
        { "index": 1, "embedding": [0.0, 5.0] },
        { "index": 0, "embedding": [3.0e38, 0.0] },
        { "index": 2, "embedding": [0.0, 0.0] },
    ]);
    server.embeds(Embeddings::Scripted(Box::new(
        move |_| json!({ "data": items }),
    )));
    let vectors = embedder(&server.config())
        .embed(&owned(&["a", "b", "c"]))
        .await
        .unwrap();
    assert_eq!(vectors, [Some(vec![1.0, 0.0]), Some(vec![0.0, 1.0]), None]);
    server.finish();
}

#[tokio::test]
async fn vectors_that_make_no_sense_are_refused() {
    let bad = [
        json!({ "data": [] }),
        json!({ "data": [{ "index": 0, "embedding": [1.0] }, { "index": 0, "embedding": [1.0] }] }),
        json!({ "data": [{ "index": 0, "embedding": [1.0] }, { "index": 2, "embedding": [1.0] }] }),
        json!({ "data": [{ "index": 0, "embedding": [1.0] }, { "index": 1, "embedding": [1.0, 0.0] }] }),
        json!({ "data": [{ "index": 0, "embedding": [] }, { "index": 1, "embedding": [] }] }),
        json!({ "data": [{ "index": 0, "embedding": [1e39] }, { "index": 1, "embedding": [1.0] }] }),
        json!({ "data": [{ "index": 0, "embedding": [null] }, { "index": 1, "embedding": [1.0] }] }),
        json!([]),
    ];
    for body in bad {
        let server = start().await;
        let shown = body.to_string();
        server.embeds(Embeddings::Scripted(Box::new(move |_| body.clone())));
        let outcome = embedder(&server.config()).embed(&owned(&["a", "b"])).await;
        assert!(
            matches!(outcome, Err(ModelError::BadAnswer(_))),
            "{shown}: {outcome:?}"
        );
        server.finish();
    }
}

#[tokio::test]
async fn embedding_errors_have_their_names() {
    let server = start().await;
    let embedder = embedder(&server.config());
    let missing = r#"{"error":{"message":"model \"x\" not found"}}"#;
    server.embeds(Embeddings::Refused(404, missing.to_owned()));
    let unknown = embedder.embed(&owned(&["a"])).await;
    assert!(
        matches!(unknown, Err(ModelError::UnknownModel { .. })),
        "{unknown:?}"
    );
    server.set_down(true);
    let down = embedder.embed(&owned(&["a"])).await;
    assert!(matches!(down, Err(ModelError::Failed(_))), "{down:?}");
    server.finish();
}

#[tokio::test]
async fn check_finds_the_names() {
    let server = start().await;
    server.lists(Some(&["chat:latest", "embedding"]));
    let config = server.config();
    let checked = model(&config)
        .check(Some(&embedder(&config)))
        .await
        .unwrap();
    let good: Vec<(Role, bool)> = checked
        .iter()
        .map(|one| (one.role, one.is_good()))
        .collect();
    assert_eq!(
        good,
        [
            (Role::Chat, true),
            (Role::Utility, false),
            (Role::Embedding, true)
        ]
    );
    server.finish();
}

#[tokio::test]
async fn check_asks_where_nothing_is_listed() {
    let server = start().await;
    server.lists(None);
    server
        .expects(|request| request.model() == "chat" && request.body["max_tokens"] == 1)
        .replies(Reply::chunks([]).finish("length"));
    server
        .expects(|request| request.model() == "utility")
        .replies(Reply::refusal(404, "model_not_found", "no such model"));
    let checked = model(&server.config()).check(None).await.unwrap();
    assert!(
        matches!(checked[0].finding, Finding::Answers),
        "{checked:?}"
    );
    let unknown = &checked[1].finding;
    assert!(
        matches!(unknown, Finding::Fails(ModelError::UnknownModel { .. })),
        "{checked:?}"
    );
    server.finish();
}

#[tokio::test]
#[should_panic(expected = "nobody asked for the reply at tests/model.rs")]
async fn an_unused_reply_fails_the_test() {
    let server = start().await;
    server.expects(anything).answers("never");
}

#[tokio::test]
#[should_panic(expected = "nobody expected")]
async fn an_unexpected_request_fails_the_test() {
    let server = start().await;
    let outcome = complete(&model(&server.config()), &ask("Hello")).await;
    assert!(outcome.is_err());
    server.finish();
}

#[tokio::test]
#[should_panic(expected = "a result without a call before it")]
async fn an_invalid_request_fails_the_test() {
    let server = start().await;
    server.expects(anything).answers("fine");
    let mut request = ask("Hello");
    request.messages.push(ChatMessage::Tool {
        call_id: "made_up".to_owned(),
        text: "result".to_owned(),
    });
    complete(&model(&server.config()), &request).await.unwrap();
    server.finish();
}
