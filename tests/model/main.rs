//! The real clients against a model service on loopback.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod answers;
mod chain;
mod chat;
mod embeddings;
mod failures;
mod money;
mod quirks;
mod server;
mod slow;
#[path = "../support/mod.rs"]
mod support;

use std::sync::Arc;

use muninn::llm::{
    ChatMessage, ChatModel, ChatRequest, Completion, Limiter, ModelConfig, ModelError, Purpose,
    Sampling,
};
use support::model_server::{ModelServer, ModelServerRequest, Reply};

async fn start() -> ModelServer {
    let _ = rustls::crypto::ring::default_provider().install_default();
    ModelServer::start().await
}

fn model(config: &ModelConfig) -> ChatModel {
    ChatModel::new(config, Arc::new(Limiter::new(&config.limits))).unwrap()
}

fn ask(text: &str) -> ChatRequest {
    ChatRequest {
        images: Vec::new(),
        model: None,
        messages: vec![
            ChatMessage::System("Be brief.".to_owned()),
            ChatMessage::User(text.to_owned()),
        ],
        tools: Vec::new(),
        known_tools: Vec::new(),
        shape: None,
        sampling: Sampling::default(),
        max_tokens: 50,
        purpose: Purpose::Answer,
        person: "alice".to_owned(),
    }
}

async fn complete(model: &ChatModel, request: &ChatRequest) -> Result<Completion, ModelError> {
    model.complete(request, &mut |_| {}).await
}

/// Returns the result of one reply, without retries.
async fn outcome(reply: Reply) -> Result<Completion, ModelError> {
    let server = start().await;
    server.expects(|_| true).replies(reply);
    let mut config = server.config();
    config.retries.max = 0;
    let outcome = complete(&model(&config), &ask("Hello")).await;
    server.finish();
    outcome
}

fn anything(_: &ModelServerRequest) -> bool {
    true
}
