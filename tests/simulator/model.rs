//! A model that answers each question with a unique word, records every prompt, and fails on
//! request.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use serde_json::{Value, json};

use crate::plan::{EmbedderFailure, ModelFailure};
use crate::support::model_server::{Embeddings, ModelServer, ModelServerRequest, Reply};
use crate::words::{Token, nonce, tokens};

/// The delay that [`crate::plan`] plans for slow answers.
const SLOW: Duration = Duration::from_millis(150);

#[derive(Debug, Default)]
struct State {
    answers: u64,
    failure: Option<ModelFailure>,
    prompts: Vec<String>,
    /// The answers to each message.
    nonces: HashMap<Token, Vec<String>>,
}

pub(crate) struct Model {
    server: ModelServer,
    state: Arc<Mutex<State>>,
}

impl Model {
    pub(crate) async fn start(run: String, quotes: bool) -> Self {
        let server = ModelServer::start().await;
        let state: Arc<Mutex<State>> = Arc::default();
        let its = Arc::clone(&state);
        server.replies_by(move |request| reply(&mut its.lock().unwrap(), request, &run, quotes));
        Self { server, state }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    pub(crate) fn base_url(&self) -> String {
        self.server.base_url()
    }

    pub(crate) fn fails(&self, failure: Option<ModelFailure>) {
        self.state().failure = failure;
    }

    pub(crate) fn embedder_fails(&self, failure: Option<EmbedderFailure>) {
        let refused = |status| Embeddings::Refused(status, "for the test".to_owned());
        let scripted = |body: fn(&[String]) -> Value| Embeddings::Scripted(Box::new(body));
        self.server.embeds(match failure {
            None => Embeddings::Words(64),
            Some(EmbedderFailure::Refuses) => refused(503),
            Some(EmbedderFailure::RateLimited) => refused(429),
            Some(EmbedderFailure::Malformed) => scripted(|_| json!({ "data": "none" })),
            Some(EmbedderFailure::OtherDimension) => scripted(|texts| {
                let data = texts.iter().enumerate();
                let data = data.map(|(index, _)| {
                    json!({ "object": "embedding", "index": index, "embedding": [1.0, 0.5, 0.25] })
                });
                json!({ "object": "list", "model": "embedding", "data": data.collect::<Vec<_>>() })
            }),
        });
    }

    /// Returns the number of prompts so far.
    pub(crate) fn prompts_so_far(&self) -> usize {
        self.state().prompts.len()
    }

    pub(crate) fn prompts(&self) -> Vec<String> {
        self.state().prompts.clone()
    }

    pub(crate) fn nonces(&self) -> HashMap<Token, Vec<String>> {
        self.state().nonces.clone()
    }

    /// Fails if a strict service would have refused a request.
    pub(crate) fn finish(self) {
        self.server.finish();
    }
}

fn reply(state: &mut State, request: &ModelServerRequest, run: &str, quotes: bool) -> Reply {
    let prompt = request.body["messages"].to_string();
    let text = said(state, request, &prompt, run, quotes);
    state.prompts.push(prompt);
    let reply = Reply::text(&text).usage(100, 10);
    match state.failure {
        None => reply,
        Some(ModelFailure::Refuses) => Reply::refusal(503, "server_error", "for the test"),
        Some(ModelFailure::RateLimited) => {
            Reply::refusal(429, "rate_limit_exceeded", "for the test").header("retry-after", "1")
        }
        Some(ModelFailure::Hangs) => Reply::hang(),
        Some(ModelFailure::BreaksOff) => reply.cut_after(2),
        Some(ModelFailure::Slow) => reply.late(SLOW).trickling(SLOW),
        Some(ModelFailure::Malformed) => Reply::events(["data: {\"choices\": [{\n\n"]),
        Some(ModelFailure::Empty) => Reply::deltas([], "stop"),
    }
}

fn said(
    state: &mut State,
    request: &ModelServerRequest,
    prompt: &str,
    run: &str,
    quotes: bool,
) -> String {
    let asked = request.last_user();
    if let Some(question) = request.to_rephrase() {
        return question;
    }
    let every = tokens(prompt);
    if asked.starts_with("You keep the running summary") {
        let words = every.iter().map(ToString::to_string);
        return format!("They spoke of {}.", words.collect::<Vec<_>>().join(", "));
    }
    if asked.starts_with("Judge whether") {
        return "{\"questions\": []}".to_owned();
    }
    let Some(token) = tokens(asked).pop() else {
        return "Nothing to say.".to_owned();
    };
    state.answers += 1;
    let nonce = nonce(run, state.answers);
    state
        .nonces
        .entry(token.clone())
        .or_default()
        .push(nonce.clone());
    let earlier = every.iter().rfind(|other| **other != token);
    match earlier.filter(|_| quotes) {
        Some(earlier) => format!("Answer {nonce} to {token}. Before that it was {earlier}."),
        None => format!("Answer {nonce} to {token}."),
    }
}
