//! Completions, streamed, from any OpenAI-compatible service.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_openai::error::OpenAIError;
use async_openai::types::stream::StreamResponse;
use futures::StreamExt;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout, timeout_at};

use super::assemble::{Assembler, Recognised};
use super::capabilities::{Capabilities, DataForm, ToolForm, Uses};
use super::capability_store::CapabilityStore;
use super::context;
use super::measured::Measured;
use super::messages::messages;
use super::refusal::is_about_a_wrong_call;
use super::service::{ByteTimeouts, Service, ServiceCall};
use super::visible::Piece;
use super::{
    ChatRequest, Completion, Limiter, ModelConfig, ModelError, Purpose, Sampling, Speed,
    TimedOutWait, TooLong, ToolSpec, Usage, tokens,
};
use crate::timeouts::Timeouts;

/// Maximum number of times that one request is changed: each time the service refuses another feature of it.
const REWORDINGS: usize = 12;
/// Factor by which an answer's limit is raised if the model spent all of it on reasoning.
const MORE_FOR_REASONING: u32 = 4;
/// How long a stream is read behind the reason for its end. Only the token counts can be missing, and some services leave
/// the connection open.
const AFTER_END: Duration = Duration::from_secs(3);
/// Data of events that only keep the connection open.
const KEEP_ALIVE: [&str; 5] = ["ping", "[ping]", "keepalive", "keep-alive", "heartbeat"];
/// Minimum limit of an answer within the remaining context, in tokens.
const SHORTEST_ANSWER: u32 = 16;

/// The chat models of a service.
#[derive(Debug)]
pub struct ChatModel {
    pub(super) service: Service,
    pub(super) chat_model: String,
    pub(super) utility_model: String,
    pub(super) timeouts: Timeouts,
    sampling: Sampling,
    pub(super) learnt: CapabilityStore,
    /// The service's list of models, when it was last read.
    pub(super) listed: Mutex<Option<Value>>,
    /// Models that have answered without marking the end of a reasoning that the prompt opened.
    answers_at_once: Mutex<HashSet<String>>,
}

/// The changes that one request is tried with.
#[derive(Debug)]
struct Trial {
    /// What was known before.
    before: Capabilities,
    can: Capabilities,
    /// What is kept if the request succeeds: as `can`, but for what is left out this once.
    kept: Capabilities,
    /// It was refused without a reason, and is tried in plain.
    is_plain: bool,
}

impl Trial {
    fn new(before: &Capabilities) -> Self {
        Self {
            before: before.clone(),
            can: before.clone(),
            kept: before.clone(),
            is_plain: false,
        }
    }

    fn leaves_out_this_once(&self) -> bool {
        self.can != self.kept
    }
}

impl ChatModel {
    /// Creates the models without connecting. Fails on an invalid address and on a key that cannot be sent.
    ///
    /// # Panics
    /// Panics when no crypto provider of rustls is installed; `main` does that first.
    pub fn new(config: &ModelConfig, limiter: Arc<Limiter>) -> Result<Self, ModelError> {
        let service = Service::new(config, limiter)?;
        Ok(Self {
            learnt: CapabilityStore::open(service.address(), config.capabilities_file.clone()),
            service,
            chat_model: config.chat_model.clone(),
            utility_model: config.utility_model.clone(),
            timeouts: config.timeouts,
            sampling: config.sampling.clone(),
            listed: Mutex::default(),
            answers_at_once: Mutex::default(),
        })
    }

    /// The configured name of the model for a purpose.
    pub fn model(&self, purpose: Purpose) -> &str {
        match purpose {
            Purpose::Answer => &self.chat_model,
            Purpose::Utility => &self.utility_model,
        }
    }

    /// The name of the model for a purpose; `chosen` replaces the configured one for answers.
    pub(super) fn named<'a>(&'a self, purpose: Purpose, chosen: Option<&'a str>) -> &'a str {
        let chosen = chosen.filter(|_| purpose == Purpose::Answer);
        chosen.unwrap_or_else(|| self.model(purpose))
    }

    /// The known capabilities of a model.
    pub fn capabilities(&self, model: &str) -> Capabilities {
        self.learnt.of(model)
    }

    /// The measured speed of a model.
    pub fn speed(&self, model: &str) -> Option<Speed> {
        self.learnt.speed(model)
    }

    /// Completes a request. `on_piece` receives the visible text as it arrives; together it is [`Completion::text`] or
    /// its beginning.
    ///
    /// If the service refuses a feature of the request, the request is changed, and this is remembered. After any other
    /// error nothing is retried, and `on_piece` may have received part of an answer. Dropping the future ends the
    /// request.
    ///
    /// # Errors
    /// Returns the error of the service or of the limits.
    pub async fn complete(
        &self,
        request: &ChatRequest,
        on_piece: &mut (dyn FnMut(Piece) + Send),
    ) -> Result<Completion, ModelError> {
        self.complete_billed(request, on_piece, &mut Usage::default())
            .await
    }

    /// Like [`Self::complete`]. If it fails, `spent` has what its earlier attempts are billed for, unless the error has it.
    pub(super) async fn complete_billed(
        &self,
        request: &ChatRequest,
        on_piece: &mut (dyn FnMut(Piece) + Send),
        spent: &mut Usage,
    ) -> Result<Completion, ModelError> {
        let model = self.named(request.purpose, request.model.as_deref());
        let prompt = tokens::estimate_request(request);
        let whole = self
            .learnt
            .patience(model, &self.timeouts, prompt, request.max_tokens)
            .whole;
        timeout(whole, self.complete_by(model, request, on_piece, spent))
            .await
            .unwrap_or(Err(ModelError::TimedOut(TimedOutWait::Unfinished(whole))))
    }

    async fn complete_by(
        &self,
        model: &str,
        request: &ChatRequest,
        on_piece: &mut (dyn FnMut(Piece) + Send),
        spent: &mut Usage,
    ) -> Result<Completion, ModelError> {
        let sampling = request.sampling.or(&self.sampling);
        let uses = Uses {
            tools: !request.tools.is_empty(),
            data: request.shape.is_some(),
            temperature: sampling.temperature.is_some(),
            top_p: sampling.top_p.is_some(),
            seed: sampling.seed.is_some(),
            stop: sampling.stops().is_some(),
        };
        let mut answer_tokens = request.max_tokens;
        let mut trial: Option<Trial> = None;
        for _rewording in 0..REWORDINGS {
            let can = trial.as_ref().map(|trial| trial.can.clone());
            let can = can.unwrap_or_else(|| self.learnt.of(model));
            let mut spoke = false;
            let mut on_piece = |piece: Piece| {
                spoke |= !piece.is_empty();
                on_piece(piece);
            };
            let limit = answer_limit(request, &can, answer_tokens);
            let outcome = self
                .complete_once(model, request, &can, limit, &mut on_piece)
                .await;
            match outcome {
                Err(ModelError::OnlyReasoned(usage)) => {
                    *spent += usage;
                    let more = answer_tokens.saturating_mul(MORE_FOR_REASONING);
                    // Without more room the same request would be paid for twice.
                    let has_more = answer_limit(request, &can, more) > limit;
                    if answer_tokens > request.max_tokens || !has_more {
                        return Err(ModelError::OnlyReasoned(std::mem::take(spent)));
                    }
                    answer_tokens = more;
                }
                Err(ModelError::ContextTooLong(too_long)) => {
                    return Err(self.too_long(model, request, too_long, limit));
                }
                Err(ModelError::Refused(why) | ModelError::Failed(why))
                    if !spoke && self.adapt_to_refusal(model, &can, &why, uses, &mut trial) => {}
                Ok(mut completion) => {
                    self.keep_success(model, uses, trial);
                    completion.usage += std::mem::take(spent);
                    return Ok(completion);
                }
                Err(error) => return Err(error),
            }
        }
        Err(ModelError::Refused(
            "the model service refused every way to ask".to_owned(),
        ))
    }

    fn keep_success(&self, model: &str, uses: Uses, trial: Option<Trial>) {
        if let Some(trial) = trial {
            // Another call may have learnt something else meanwhile.
            self.learnt.update_capabilities(model, |known| {
                *known = known.with_changes(&trial.before, &trial.kept);
            });
            // The model has not succeeded with what was left out.
            if trial.leaves_out_this_once() {
                return;
            }
        }
        self.learnt.mark_done(model, uses);
    }

    /// Whether to change the request after a refusal. The change is remembered when the request has succeeded with it.
    fn adapt_to_refusal(
        &self,
        model: &str,
        can: &Capabilities,
        why: &str,
        uses: Uses,
        trial: &mut Option<Trial>,
    ) -> bool {
        let has_done_it = self.learnt.has_done(model, uses);
        if let Some(next) = can.without_refused_feature(why, uses) {
            // One wrong call says nothing about the next ones, nor does a failure of what has worked, nor an outage.
            let is_once = is_about_a_wrong_call(why)
                || is_outage(why)
                || (has_done_it && !depends_on_content(can, &next));
            tracing::warn!(
                model,
                why,
                "the model service does not do this; it is asked without"
            );
            let trial = trial.get_or_insert_with(|| Trial::new(can));
            if !is_once {
                trial.kept = trial.kept.with_changes(can, &next);
            }
            trial.can = next;
            return true;
        }
        // A failing service may accept it later.
        let is_refused = ["HTTP 400", "HTTP 422"]
            .iter()
            .any(|it| why.starts_with(it));
        let is_tried = trial
            .as_ref()
            .is_some_and(|trial| trial.is_plain || trial.leaves_out_this_once());
        if is_tried || has_done_it || !is_refused {
            return false;
        }
        // It is tried without a specific reason.
        let Some(plain) = can.without_suspect_features(uses) else {
            return false;
        };
        tracing::warn!(
            model,
            why,
            "the model service refused without saying what; it is asked in plain"
        );
        let trial = trial.get_or_insert_with(|| Trial::new(can));
        trial.kept = plain.clone();
        trial.can = plain;
        trial.is_plain = true;
        true
    }

    /// Records the context size from a refusal, and returns what fits.
    fn too_long(
        &self,
        model: &str,
        request: &ChatRequest,
        too_long: TooLong,
        limit: u32,
    ) -> ModelError {
        let estimate = tokens::estimate_request(request);
        let room = context::next_prompt_size(too_long.numbers, estimate, limit);
        let context = too_long.numbers.limit.unwrap_or(room.saturating_add(limit));
        self.learnt
            .update_capabilities(model, |known| *known = known.with_context(context));
        tracing::warn!(
            model,
            context,
            estimate,
            room,
            "the prompt was too long for the model; the next one is shorter"
        );
        ModelError::ContextTooLong(TooLong {
            room: Some(room),
            ..too_long
        })
    }

    fn answers_at_once(&self) -> std::sync::MutexGuard<'_, HashSet<String>> {
        let models = self.answers_at_once.lock();
        models.unwrap_or_else(PoisonError::into_inner)
    }

    /// Learns from an answer without the mark that ends a reasoning. Whoever writes to a model can
    /// make it write that mark, so a mark is believed only until there is a whole answer without.
    fn learn_from_unmarked(&self, model: &str, can: &Capabilities, answer: &Completion) {
        let is_whole = !answer.truncated && !answer.withheld && !answer.text.trim().is_empty();
        if !is_whole {
            return;
        }
        if can.reasons_at_once {
            self.learnt
                .update_capabilities(model, |known| known.reasons_at_once = false);
        } else {
            self.answers_at_once().insert(model.to_owned());
        }
    }

    async fn complete_once(
        &self,
        model: &str,
        request: &ChatRequest,
        can: &Capabilities,
        limit: u32,
        on_piece: &mut (dyn FnMut(Piece) + Send),
    ) -> Result<Completion, ModelError> {
        let prompt = tokens::estimate_request(request);
        let budget = prompt.saturating_add(limit);
        let patience = self.learnt.patience(model, &self.timeouts, prompt, limit);
        let waits = ByteTimeouts {
            first: patience.first,
            between: patience.between,
        };
        let mut body = body(request, model, can, limit);
        let streams = body["stream"] == true;
        let call = self
            .service
            .call_within(waits, model, &request.person, budget, streams);
        let mut measured = Measured::new(&self.learnt, model, &call, prompt, self.timeouts.read);
        request.sampling.or(&self.sampling).put_into(&mut body, can);
        let mut answer = Assembler::new(Recognised::of(request), can.reasons_at_once);
        if streams {
            let stream = call.client().chat().create_stream_byot(body).await;
            let stream = stream.map_err(|error| call.error(error))?;
            read(&call, stream, &mut measured, &mut answer, on_piece).await?;
        } else {
            let whole: Result<Value, _> = call.client().chat().create_byot(body).await;
            let whole = whole.map_err(|error| call.error(error))?;
            measured.record_chunk();
            on_piece(answer.add_chunk(&whole)?);
            answer.mark_finished();
        }
        let is_marked = answer.reasoned_at_once();
        if is_marked && !can.reasons_at_once && !self.answers_at_once().contains(model) {
            self.learnt
                .update_capabilities(model, |known| known.reasons_at_once = true);
        }
        let completion = answer.finish(model, prompt)?;
        // A JSON schema leaves no room for reasoning.
        if !is_marked && request.shape.is_none() {
            self.learn_from_unmarked(model, can, &completion);
        }
        measured.record_usage(completion.usage);
        Ok(completion)
    }
}

/// Whether a failure is of a service that is down or overloaded, whatever it says.
fn is_outage(why: &str) -> bool {
    let statuses = ["HTTP 502", "HTTP 503", "HTTP 504", "HTTP 529"];
    statuses.iter().any(|status| why.starts_with(status))
}

/// Whether what a refusal revealed depends on what a request contains, so that an earlier success does not contradict
/// it.
fn depends_on_content(before: &Capabilities, after: &Capabilities) -> bool {
    before.longest_answer != after.longest_answer
        || before.alternates != after.alternates
        || before.system_role != after.system_role
}

/// The limit of an answer in tokens: the requested one, as far as the context has room for it.
fn answer_limit(request: &ChatRequest, can: &Capabilities, wanted: u32) -> u32 {
    let longest = can.longest_answer.unwrap_or(u32::MAX);
    let room = can.context.map_or(u32::MAX, |context| {
        let left = context.saturating_sub(tokens::estimate_request(request));
        // Our estimate tends to be too high.
        left.max(context / 8).max(SHORTEST_ANSWER)
    });
    wanted.min(longest).min(room)
}

/// Reads to the end, or to an error before the service reported the end, and not much longer than until it reported it.
async fn read(
    call: &ServiceCall,
    mut stream: StreamResponse<Value>,
    measured: &mut Measured<'_>,
    answer: &mut Assembler,
    on_piece: &mut (dyn FnMut(Piece) + Send),
) -> Result<(), ModelError> {
    let mut until = None;
    // Some services give a reason for the end with each chunk.
    let mut goes_on = false;
    while let Some(chunk) = next_chunk(&mut stream, until).await {
        match chunk {
            Ok(chunk) => {
                let (was_finished, before) = (answer.is_finished(), answer.arrived());
                measured.record_chunk();
                let piece = answer.add_chunk(&chunk)?;
                // Reasoning, calls and text that is held back are not visible.
                goes_on |= was_finished && answer.arrived() > before;
                if !piece.is_empty() {
                    on_piece(piece);
                }
                if goes_on {
                    until = None;
                } else if answer.is_finished() {
                    measured.record_end();
                    // The first chunk of such a service comes before the model has written anything.
                    if answer.arrived() > 0 {
                        until.get_or_insert_with(|| Instant::now() + AFTER_END);
                    }
                }
            }
            Err(OpenAIError::JSONDeserialize(_, data)) if keeps_alive(&data) => {}
            // Only the token counts were missing.
            Err(_) if answer.is_finished() => break,
            Err(error) => return Err(call.error(error)),
        }
    }
    // Some services give no reason for the end.
    if call.is_whole() {
        answer.mark_finished();
    }
    Ok(())
}

/// The next chunk; `None` at the end, and after `until`.
async fn next_chunk(
    stream: &mut StreamResponse<Value>,
    until: Option<Instant>,
) -> Option<Result<Value, OpenAIError>> {
    match until {
        Some(until) => timeout_at(until, stream.next()).await.ok().flatten(),
        None => stream.next().await,
    }
}

/// Whether data that is not JSON only keeps the connection open: nothing, a comment, or a word.
fn keeps_alive(data: &str) -> bool {
    let data = data.trim();
    let is_word = KEEP_ALIVE
        .iter()
        .any(|word| data.eq_ignore_ascii_case(word));
    is_word || data.is_empty() || data.starts_with(':')
}

fn body(request: &ChatRequest, model: &str, can: &Capabilities, limit: u32) -> Value {
    let has_tools = !request.tools.is_empty() && can.tools == ToolForm::Native;
    let streams = can.streams && (can.streams_with_tools || !has_tools);
    let mut body = json!({
        "model": model,
        "messages": messages(request, can),
        "stream": streams,
    });
    let key = if can.max_tokens {
        "max_tokens"
    } else {
        "max_completion_tokens"
    };
    body[key] = limit.into();
    if can.stream_options && streams {
        body["stream_options"] = json!({ "include_usage": true });
    }
    // Some services refuse an empty list.
    if has_tools {
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    if let Some(shape) = &request.shape {
        match can.data {
            DataForm::Schema => {
                body["response_format"] = json!({
                    "type": "json_schema",
                    "json_schema": { "name": shape.name, "schema": shape.schema, "strict": true },
                });
            }
            DataForm::Object => body["response_format"] = json!({ "type": "json_object" }),
            DataForm::Words => {}
        }
    }
    body
}

fn tool(tool: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
        },
    })
}
