//! The real clients against an independent model service (npm `@copilotkit/aimock`).
//!
//! Start it with `tests/servers/aimock/aimock-up PORT` and set `MUNINN_AIMOCK_URL=http://127.0.0.1:PORT`.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::env;
use std::sync::Arc;
use std::time::Duration;

use muninn::llm::{
    ChatMessage, ChatModel, ChatRequest, Completion, Limiter, ModelConfig, ModelError, Purpose,
    RemoteEmbedder, Sampling, ToolSpec,
};
use serde_json::{Value, json};

/// Returns the configuration for aimock.
fn aimock() -> ModelConfig {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let url = env::var("MUNINN_AIMOCK_URL")
        .expect("MUNINN_AIMOCK_URL is set; tests/servers/aimock/aimock-up PORT starts one");
    let mut config = ModelConfig::new(format!("{}/v1", url.trim_end_matches('/')), "gpt-4o-mini");
    config.api_key = Some("mock".into());
    config.retries.max = 1;
    config
}

fn model(config: &ModelConfig) -> ChatModel {
    ChatModel::new(config, Arc::new(Limiter::new(&config.limits))).unwrap()
}

fn ask(text: &str) -> ChatRequest {
    ChatRequest {
        messages: vec![ChatMessage::User(text.to_owned())],
        images: Vec::new(),
        model: None,
        known_tools: Vec::new(),
        tools: vec![ToolSpec {
            name: "search".to_owned(),
            description: "Searches.".to_owned(),
            parameters: json!({ "type": "object", "properties": { "q": { "type": "string" } } }),
        }],
        shape: None,
        sampling: Sampling::default(),
        max_tokens: 50,
        purpose: Purpose::Answer,
        person: "alice".to_owned(),
    }
}

async fn complete(config: &ModelConfig, request: &ChatRequest) -> Result<Completion, ModelError> {
    model(config).complete(request, &mut |_| {}).await
}

#[tokio::test]
#[ignore = "needs aimock (MUNINN_AIMOCK_URL)"]
async fn streams() {
    let config = aimock();
    let mut pieces = Vec::new();
    let answer = model(&config)
        .complete(&ask("stream please"), &mut |piece| {
            let mut text = String::new();
            piece.add_to(&mut text);
            pieces.push(text);
        })
        .await
        .unwrap();
    assert_eq!(
        answer.text,
        "This is a streamed answer in several chunks of text."
    );
    assert!(pieces.len() > 1, "{pieces:?}");
    assert_eq!(pieces.concat(), answer.text);
    assert!(
        !answer.truncated && answer.usage.completion > 0,
        "{answer:?}"
    );
}

#[tokio::test]
#[ignore = "needs aimock (MUNINN_AIMOCK_URL)"]
async fn calls_two_tools_and_then_answers() {
    let config = aimock();
    let mut request = ask("search the docs");
    let first = complete(&config, &request).await.unwrap();
    let arguments: Vec<Value> = first
        .tool_calls
        .iter()
        .map(|call| serde_json::from_str(&call.arguments).unwrap())
        .collect();
    assert_eq!(arguments, [json!({ "q": "docs" }), json!({ "q": "blog" })]);
    let results = first.tool_calls.iter().map(|call| ChatMessage::Tool {
        call_id: call.id.clone(),
        text: "A page.".to_owned(),
    });
    let results: Vec<_> = results.collect();
    request.messages.push(ChatMessage::Assistant {
        text: first.text,
        tool_calls: first.tool_calls,
    });
    request.messages.extend(results);
    let second = complete(&config, &request).await.unwrap();
    assert_eq!(second.text, "Here is what I found.");
}

#[tokio::test]
#[ignore = "needs aimock (MUNINN_AIMOCK_URL)"]
async fn errors_have_their_names() {
    let config = aimock();
    let table = [
        ("rate limit me", "RateLimited"),
        ("quota gone", "QuotaExhausted"),
        ("server error", "Failed"),
        ("too long", "ContextTooLong"),
        ("wrong key", "Unauthorized"),
    ];
    for (text, name) in table {
        let error = complete(&config, &ask(text)).await.unwrap_err();
        assert!(format!("{error:?}").starts_with(name), "{text}: {error:?}");
    }
}

#[tokio::test]
#[ignore = "needs aimock (MUNINN_AIMOCK_URL)"]
async fn a_stream_too_slow_times_out() {
    let mut config = aimock();
    config.timeouts.read = Duration::from_millis(300);
    let outcome = complete(&config, &ask("slow start")).await;
    assert!(
        matches!(outcome, Err(ModelError::TimedOut(_))),
        "{outcome:?}"
    );
}

#[tokio::test]
#[ignore = "needs aimock (MUNINN_AIMOCK_URL)"]
async fn embeds() {
    let config = aimock();
    let limiter = Arc::new(Limiter::new(&config.limits));
    let embedder = RemoteEmbedder::new(&config, "text-embedding-3-small", limiter).unwrap();
    let vectors = embedder.embed(&["hello world".to_owned()]).await.unwrap();
    assert_eq!(vectors, [Some(vec![0.6, 0.0, 0.8])]);
    assert_eq!(embedder.name(), Some("openai/text-embedding-3-small/3"));
}
