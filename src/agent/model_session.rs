//! Calls the models for one turn, and records the cost.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use muninn_platform::TimeZone;
use serde_json::{Value, json};
use tracing::{Instrument as _, Span};

use crate::agent::budget::Purse;
use crate::agent::prompts::dated;
use crate::agent::sampling::SamplingByKind;
use crate::agent::telemetry;
use crate::graph::trace::{ModelCall, ModelStep};
use crate::llm::tokens::{estimate, estimate_request};
use crate::llm::{
    AnswerShape, CallProgress, Capabilities, ChatMessage, ChatRequest, Completion, Image,
    ModelChain, ModelError, Money, Piece, Purpose, TooLong, ToolSpec, Usage, millis,
};

/// Calls the models for one turn.
#[derive(Debug)]
pub struct ModelSession<'a> {
    model: &'a ModelChain,
    person: String,
    /// Maximum tokens of an answer; small steps have their own limit.
    answer_tokens: u32,
    /// Images that came with the message.
    images: &'a [Image],
    /// The model for answers here; `None` means the configured one.
    answering: Option<&'a str>,
    sampling: SamplingByKind,
    /// The person's time zone.
    time_zone: TimeZone,
    /// The purse that pays for calls; `None` if nobody counts.
    purse: Option<&'a Purse<'a>>,
    calls: Mutex<Vec<ModelCall>>,
    /// The request that was too long for the model: the same one would be refused again.
    refused: Mutex<Option<ChatRequest>>,
}

/// Maximum tokens of a small step: a statement, or a list of questions.
const STEP_TOKENS: u32 = 800;
/// Maximum tokens of a rephrased question: a small model that rambles keeps everybody waiting. One that reasons
/// gets more (see [`ChatModel::complete`](crate::llm::ChatModel::complete)).
const REPHRASE_TOKENS: u32 = 200;

/// One request to a model.
#[derive(Debug, Default)]
pub struct ModelRequest {
    pub messages: Vec<ChatMessage>,
    pub tools: Vec<ToolSpec>,
    /// The names of the turn's tools, if none are offered: a call of one that the model writes as text is no answer.
    pub known_tools: Vec<String>,
    pub shape: Option<(&'static str, Value)>,
}

impl<'a> ModelSession<'a> {
    pub fn new(model: &'a ModelChain, person: String, answer_tokens: u32) -> Self {
        Self {
            model,
            person,
            answer_tokens,
            images: &[],
            answering: None,
            sampling: SamplingByKind::of(None),
            time_zone: TimeZone::UTC,
            purse: None,
            calls: Mutex::default(),
            refused: Mutex::default(),
        }
    }

    /// Whether images came with the message.
    pub fn has_images(&self) -> bool {
        !self.images.is_empty()
    }

    /// Adds the images that came with the message.
    #[must_use]
    pub fn with_images(self, images: &'a [Image]) -> Self {
        Self { images, ..self }
    }

    /// Uses another model than the configured one for answers, if given.
    #[must_use]
    pub fn with_answer_model(self, answering: Option<&'a str>) -> Self {
        Self { answering, ..self }
    }

    /// Sets the sampling.
    #[must_use]
    pub fn sampling(self, sampling: SamplingByKind) -> Self {
        Self { sampling, ..self }
    }

    /// Sets the time zone.
    #[must_use]
    pub fn with_time_zone(self, time_zone: TimeZone) -> Self {
        Self { time_zone, ..self }
    }

    /// Sets the purse that pays for the calls.
    #[must_use]
    pub fn with_purse(self, purse: &'a Purse<'a>) -> Self {
        Self {
            purse: Some(purse),
            ..self
        }
    }

    /// The capabilities of the model that answers, as far as they are known.
    pub fn capabilities(&self) -> Capabilities {
        self.model.capabilities(self.answering)
    }

    /// The measured time of a small step: that of the slower of the two models.
    pub fn step_time(&self) -> Option<Duration> {
        let purposes = [Purpose::Answer, Purpose::Utility];
        let speed = |purpose| self.model.speed(purpose, self.answering);
        let speeds = purposes.into_iter().filter_map(speed);
        speeds.map(|speed| speed.small_step()).max()
    }

    /// The time limit of a turn: the configured one, or a longer one if the model is known to need it for an
    /// answer.
    pub fn turn_limit(&self, set: Duration) -> Duration {
        let speed = self.model.speed(Purpose::Answer, self.answering);
        speed.map_or(set, |speed| speed.turn_limit(set, self.answer_tokens))
    }

    /// Sends a request. `on_piece` receives the visible text as it arrives.
    ///
    /// # Errors
    /// Fails when the model failed.
    pub async fn ask(
        &self,
        step: ModelStep,
        request: ModelRequest,
        on_piece: &mut (dyn FnMut(Piece) + Send),
    ) -> Result<Completion, ModelError> {
        let request = self.chat_request(step, request);
        let purpose = request.purpose;
        if self.refused().as_ref() == Some(&request) {
            return Err(ModelError::ContextTooLong(TooLong {
                room: Some(0),
                ..TooLong::default()
            }));
        }
        self.purse.map_or(Ok(()), Purse::admit)?;
        let name = self.model.name(purpose, self.answering);
        let mut call = OpenCall {
            session: self,
            step,
            progress: CallProgress {
                model: name.to_owned(),
                ..CallProgress::default()
            },
            prompt: estimate_request(&request),
            seen: String::new(),
            began: Instant::now(),
            is_open: true,
        };
        let mut see = |piece: Piece| {
            piece.add_to(&mut call.seen);
            on_piece(piece);
        };
        let span = telemetry::model(step, name, request.max_tokens);
        telemetry::content(&span, "gen_ai.input.messages", || input_messages(&request));
        // Boxed because it is large, and awaited below many other futures.
        let progress = &mut call.progress;
        let completing = Box::pin(self.model.complete_observed(&request, &mut see, progress));
        let completed = completing.instrument(span.clone()).await;
        tell(&span, &completed);
        if let Err(ModelError::ContextTooLong(_)) = completed {
            *self.refused() = Some(request);
        }
        metrics::histogram!("muninn_model_seconds", "step" => step.name())
            .record(call.began.elapsed().as_secs_f64());
        match &completed {
            Ok(completion) => {
                for failed in &completion.failed {
                    call.pays(&failed.model, &failed.model, failed.usage, 0);
                }
                call.ended(&completion.configured, &completion.model, completion.usage);
            }
            Err(_) if !call.progress.failed.is_empty() => call.ended_without_answer(),
            Err(error) if costs_nothing(error) && call.seen.is_empty() => call.is_open = false,
            // What was read until then is estimated. The error is the first model's.
            Err(_) => name.clone_into(&mut call.progress.model),
        }
        completed
    }

    /// The request of a step, and its model.
    fn chat_request(&self, step: ModelStep, request: ModelRequest) -> ChatRequest {
        let (purpose, max_tokens) = match step {
            ModelStep::Rephrase => (Purpose::Utility, REPHRASE_TOKENS),
            ModelStep::Critique | ModelStep::Rerank => (Purpose::Utility, STEP_TOKENS),
            ModelStep::Cypher => (Purpose::Answer, STEP_TOKENS),
            ModelStep::Route | ModelStep::Answer => (Purpose::Answer, self.answer_tokens),
        };
        let images = match step {
            ModelStep::Route | ModelStep::Answer => self.images.to_vec(),
            // These steps need only text.
            ModelStep::Rephrase | ModelStep::Rerank | ModelStep::Critique | ModelStep::Cypher => {
                Vec::new()
            }
        };
        let mut messages = request.messages;
        if !matches!(messages.first(), Some(ChatMessage::System(_))) {
            messages.insert(0, ChatMessage::System(dated(self.time_zone)));
        }
        ChatRequest {
            messages,
            images,
            model: self.answering.map(str::to_owned),
            tools: request.tools,
            known_tools: request.known_tools,
            shape: request
                .shape
                .map(|(name, schema)| AnswerShape { name, schema }),
            sampling: self.sampling.of_step(step).clone(),
            max_tokens,
            purpose,
            person: self.person.clone(),
        }
    }

    /// All calls so far that were answered or cancelled.
    pub fn into_calls(self) -> Vec<ModelCall> {
        self.calls
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn refused(&self) -> std::sync::MutexGuard<'_, Option<ChatRequest>> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn calls(&self) -> std::sync::MutexGuard<'_, Vec<ModelCall>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A running call. A cancelled call is billed too, so its cost is estimated.
struct OpenCall<'c, 'a> {
    session: &'c ModelSession<'a>,
    step: ModelStep,
    /// Which model is called, and what the ones before it are billed for.
    progress: CallProgress,
    /// Estimated tokens of the prompt.
    prompt: u32,
    /// The part of the answer that arrived.
    seen: String,
    began: Instant,
    is_open: bool,
}

impl OpenCall<'_, '_> {
    /// `configured` is the configured name of the model, `answered_by` the one that its service reports.
    fn ended(&mut self, configured: &str, answered_by: &str, usage: Usage) {
        self.is_open = false;
        let ms = millis(self.began.elapsed());
        self.pays(configured, answered_by, usage, ms);
    }

    /// Of a call in which all models failed: each is billed, and the last one has the time.
    fn ended_without_answer(&mut self) {
        let last = self.progress.failed.pop();
        self.pay_failed();
        if let Some(last) = last {
            self.ended(&last.model, &last.model, last.usage);
        }
    }

    fn pay_failed(&mut self) {
        for failed in std::mem::take(&mut self.progress.failed) {
            self.pays(&failed.model, &failed.model, failed.usage, 0);
        }
    }

    fn pays(&self, configured: &str, answered_by: &str, usage: Usage, ms: u32) {
        let session = self.session;
        let pay = |purse: &Purse<'_>| purse.pay(configured, answered_by, usage);
        let cost = session.purse.map_or(Money::default(), pay);
        session.calls().push(ModelCall {
            step: self.step,
            prompt: usage.prompt,
            completion: usage.completion,
            cached: usage.cached,
            cost_micros: cost.0,
            ms,
        });
    }
}

impl Drop for OpenCall<'_, '_> {
    fn drop(&mut self) {
        if self.is_open {
            let usage = Usage {
                prompt: self.prompt,
                completion: estimate(&self.seen),
                ..Usage::default()
            };
            self.pay_failed();
            let model = std::mem::take(&mut self.progress.model);
            self.ended(&model, "", usage);
        }
    }
}

/// Records a call in its span.
fn tell(span: &Span, completed: &Result<Completion, ModelError>) {
    match completed {
        Ok(completion) => {
            let usage = completion.usage;
            span.record("gen_ai.response.model", completion.model.as_str());
            span.record("gen_ai.usage.input_tokens", usage.prompt);
            span.record("gen_ai.usage.output_tokens", usage.completion);
            span.record("gen_ai.usage.cache_read.input_tokens", usage.cached);
            telemetry::content(span, "gen_ai.output.messages", || {
                json!([{"role": "assistant", "parts": [{"type": "text", "content": completion.text}]}])
                    .to_string()
            });
        }
        Err(error) => telemetry::failed(span, kind(error)),
    }
}

/// The prompt in the format of the conventions.
fn input_messages(request: &ChatRequest) -> String {
    let messages = request.messages.iter().map(|message| {
        let (role, text) = match message {
            ChatMessage::System(text) => ("system", text),
            ChatMessage::User(text) => ("user", text),
            ChatMessage::Assistant { text, .. } => ("assistant", text),
            ChatMessage::Tool { text, .. } => ("tool", text),
        };
        json!({"role": role, "parts": [{"type": "text", "content": text}]})
    });
    Value::Array(messages.collect()).to_string()
}

/// The kind of a failure, in one word.
fn kind(error: &ModelError) -> &'static str {
    match error {
        ModelError::Unreachable { .. } => "unreachable",
        ModelError::Unauthorized => "unauthorized",
        ModelError::UnknownModel { .. } => "unknown_model",
        ModelError::QuotaExhausted => "quota_exhausted",
        ModelError::RateLimited => "rate_limited",
        ModelError::ContextTooLong(_) => "context_too_long",
        ModelError::Busy => "busy",
        ModelError::OverBudget { .. } => "over_budget",
        ModelError::Refused(_) => "refused",
        ModelError::Failed(_) => "failed",
        ModelError::TimedOut(_) => "timeout",
        ModelError::OnlyReasoned(_) => "only_reasoned",
        ModelError::CutOff => "cut_off",
        ModelError::BadAnswer(_) => "bad_answer",
    }
}

/// Whether a call failed before the service read or wrote anything, unless some text had arrived: an error may also stand
/// in the middle of a stream.
fn costs_nothing(error: &ModelError) -> bool {
    match error {
        ModelError::Unreachable { .. }
        | ModelError::Unauthorized
        | ModelError::UnknownModel { .. }
        | ModelError::QuotaExhausted
        | ModelError::RateLimited
        | ModelError::ContextTooLong(_)
        | ModelError::Busy
        | ModelError::OverBudget { .. }
        | ModelError::Refused(_)
        | ModelError::Failed(_) => true,
        ModelError::TimedOut(_)
        | ModelError::OnlyReasoned(_)
        | ModelError::CutOff
        | ModelError::BadAnswer(_) => false,
    }
}

/// Total usage of some calls.
pub fn usage(calls: &[ModelCall]) -> Usage {
    let mut usage = Usage::default();
    for call in calls {
        usage += Usage {
            prompt: call.prompt,
            completion: call.completion,
            cached: call.cached,
        };
    }
    usage
}
