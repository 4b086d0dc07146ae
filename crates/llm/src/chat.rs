//! Completions, streamed, from any OpenAI-compatible service.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use async_openai::types::stream::StreamResponse;
use futures::StreamExt;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::assemble::Assembler;
use super::capabilities::{Capabilities, CapabilityStore, DataForm, ToolForm, Uses};
use super::context;
use super::measured::Measured;
use super::messages::messages;
use super::service::{Call, Service, Waits};
use super::visible::Piece;
use super::{
    ChatRequest, Completion, Late, Limiter, ModelConfig, ModelError, Purpose, Sampling, Speed,
    Timeouts, TooLong, ToolSpec, tokens,
};

/// How often one request is put otherwise at most: each time the service refuses another part of it.
const REWORDINGS: usize = 12;
/// The answer may be so many times as long where the model spent all of it on reasoning.
const MORE_FOR_REASONING: u32 = 4;
/// The shortest limit of an answer that the context is said to leave, in tokens.
const SHORTEST_ANSWER: u32 = 16;

/// The models that write.
#[derive(Debug)]
pub struct ChatModel {
    pub(super) service: Service,
    pub(super) chat_model: String,
    pub(super) utility_model: String,
    pub(super) timeouts: Timeouts,
    sampling: Sampling,
    pub(super) learnt: CapabilityStore,
    /// The service's list of models, as it was read last.
    pub(super) listed: Mutex<Option<Value>>,
    /// What each model has done: a refusal without a word is not about that.
    done: Mutex<HashSet<(String, Uses)>>,
}

impl ChatModel {
    /// Connects to nothing yet. Fails on an address that is none and on a key that cannot be sent.
    ///
    /// # Panics
    /// When no crypto provider of rustls is installed; `main` does that first.
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
            done: Mutex::default(),
        })
    }

    /// The configured name of the model that does it.
    pub fn model(&self, purpose: Purpose) -> &str {
        match purpose {
            Purpose::Answer => &self.chat_model,
            Purpose::Utility => &self.utility_model,
        }
    }

    /// What a model can do, as far as it was found out.
    pub fn capabilities(&self, model: &str) -> Capabilities {
        self.learnt.of(model)
    }

    /// How fast a model is, as far as that was measured.
    pub fn speed(&self, model: &str) -> Option<Speed> {
        self.learnt.speed(model)
    }

    /// Completes; `on_piece` gets what there is to see as it comes, which together is [`Completion::text`] or begins it.
    ///
    /// What the service refuses for the way in which it is put is put otherwise, and it is remembered. After another
    /// error `on_piece` may have been given part of an answer. Nothing is retried then. Dropping the future ends the
    /// request.
    ///
    /// # Errors
    /// What the service or the limits said.
    pub async fn complete(
        &self,
        request: &ChatRequest,
        on_piece: &mut (dyn FnMut(Piece) + Send),
    ) -> Result<Completion, ModelError> {
        let model = match (request.purpose, &request.model) {
            (Purpose::Answer, Some(model)) => model,
            (Purpose::Answer | Purpose::Utility, _) => self.model(request.purpose),
        };
        let prompt = tokens::estimate_request(request);
        let whole = self
            .learnt
            .patience(model, &self.timeouts, prompt, request.max_tokens)
            .whole;
        timeout(whole, self.complete_by(model, request, on_piece))
            .await
            .unwrap_or(Err(ModelError::TimedOut(Late::Unfinished(whole))))
    }

    async fn complete_by(
        &self,
        model: &str,
        request: &ChatRequest,
        on_piece: &mut (dyn FnMut(Piece) + Send),
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
        // What is tried although nobody said that it is needed.
        let mut trial: Option<Capabilities> = None;
        for _rewording in 0..REWORDINGS {
            let can = trial.clone().unwrap_or_else(|| self.learnt.of(model));
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
                Err(ModelError::OnlyReasoned) if answer_tokens == request.max_tokens => {
                    answer_tokens = answer_tokens.saturating_mul(MORE_FOR_REASONING);
                }
                Err(ModelError::ContextTooLong(too_long)) => {
                    return Err(self.too_long(model, request, too_long, limit));
                }
                Err(ModelError::Refused(why) | ModelError::Failed(why))
                    if !spoke && self.rewords(model, &can, &why, uses, &mut trial) => {}
                Ok(completion) => {
                    if let Some(found) = trial {
                        self.learnt.learn(model, |known| *known = found);
                    }
                    self.done().insert((model.to_owned(), uses));
                    return Ok(completion);
                }
                Err(error) => return Err(error),
            }
        }
        Err(ModelError::Refused(
            "the model service refused every way to ask".to_owned(),
        ))
    }

    fn done(&self) -> std::sync::MutexGuard<'_, HashSet<(String, Uses)>> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the request is to be put otherwise after a refusal.
    fn rewords(
        &self,
        model: &str,
        can: &Capabilities,
        why: &str,
        uses: Uses,
        trial: &mut Option<Capabilities>,
    ) -> bool {
        if let Some(next) = can.without(why, uses) {
            tracing::warn!(
                model,
                why,
                "the model service does not do this; it is asked without"
            );
            match trial {
                Some(trial) => *trial = next,
                // Another call may have learnt the same in the meantime.
                None => self.learnt.learn(model, |known| {
                    if known == can {
                        *known = next;
                    }
                }),
            }
            return true;
        }
        let has_done_it = self.done().contains(&(model.to_owned(), uses));
        // A service that fails may do it later.
        let is_refused = ["HTTP 400", "HTTP 422"]
            .iter()
            .any(|it| why.starts_with(it));
        if trial.is_some() || has_done_it || !is_refused {
            return false;
        }
        *trial = can.plain(uses);
        if trial.is_some() {
            tracing::warn!(
                model,
                why,
                "the model service refused without saying what; it is asked in plain"
            );
        }
        trial.is_some()
    }

    /// Remembers what a refusal says of the context, and says what fits.
    fn too_long(
        &self,
        model: &str,
        request: &ChatRequest,
        too_long: TooLong,
        limit: u32,
    ) -> ModelError {
        let estimate = tokens::estimate_request(request);
        let room = context::room(too_long.numbers, estimate, limit);
        let context = too_long.numbers.limit.unwrap_or(room.saturating_add(limit));
        self.learnt
            .learn(model, |known| *known = known.with_context(context));
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
        let waits = Waits {
            first: patience.first,
            between: patience.between,
        };
        let call = self
            .service
            .call_within(waits, model, &request.person, budget);
        let mut measured = Measured::new(&self.learnt, model, &call, prompt, self.timeouts.read);
        let mut body = body(request, model, can, limit);
        request.sampling.or(&self.sampling).put_into(&mut body, can);
        let offered = request.tools.iter().map(|tool| tool.name.clone());
        let mut answer = Assembler::new(offered.collect(), can.reasons_at_once);
        if body["stream"] == true {
            let stream = call.client().chat().create_stream_byot(body).await;
            let stream = stream.map_err(|error| call.error(error))?;
            read(&call, stream, &mut measured, &mut answer, on_piece).await?;
        } else {
            let whole: Result<Value, _> = call.client().chat().create_byot(body).await;
            let whole = whole.map_err(|error| call.error(error))?;
            measured.came();
            on_piece(answer.take(&whole)?);
            answer.came_whole();
        }
        if answer.reasoned_at_once() && !can.reasons_at_once {
            self.learnt
                .learn(model, |known| known.reasons_at_once = true);
        }
        let completion = answer.finish(model, prompt)?;
        measured.counted(completion.usage);
        Ok(completion)
    }
}

/// The limit of an answer in tokens: what was asked for, as far as the model has room for it.
fn answer_limit(request: &ChatRequest, can: &Capabilities, wanted: u32) -> u32 {
    let longest = can.longest_answer.unwrap_or(u32::MAX);
    let room = can.context.map_or(u32::MAX, |context| {
        let left = context.saturating_sub(tokens::estimate_request(request));
        // Our estimate is on the high side.
        left.max(context / 8).max(SHORTEST_ANSWER)
    });
    wanted.min(longest).min(room)
}

/// Reads to the end, or to an error before the service said that it is done.
async fn read(
    call: &Call,
    mut stream: StreamResponse<Value>,
    measured: &mut Measured<'_>,
    answer: &mut Assembler,
    on_piece: &mut (dyn FnMut(Piece) + Send),
) -> Result<(), ModelError> {
    while let Some(chunk) = stream.next().await {
        match chunk {
            Ok(chunk) => {
                measured.came();
                let piece = answer.take(&chunk)?;
                if !piece.is_empty() {
                    on_piece(piece);
                }
            }
            // Only the counts were still to come.
            Err(_) if answer.is_finished() => break,
            Err(error) => return Err(call.error(error)),
        }
    }
    Ok(())
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
    // An empty list is refused by some.
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
