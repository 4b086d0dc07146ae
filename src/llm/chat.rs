//! Completions, streamed, from any OpenAI-compatible service.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_openai::types::stream::StreamResponse;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::StreamExt;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use super::assemble::Assembler;
use super::service::{Call, Service};
use super::{
    ChatMessage, ChatRequest, Completion, Image, Limiter, ModelConfig, ModelError, Purpose,
    Timeouts, ToolCall, ToolSpec, tokens,
};

/// The models that write.
#[derive(Debug)]
pub struct ChatModel {
    pub(super) service: Service,
    pub(super) chat_model: String,
    pub(super) utility_model: String,
    pub(super) timeouts: Timeouts,
    temperature: Option<f64>,
    chat_dialect: Dialect,
    utility_dialect: Dialect,
}

/// What a service was found not to take. Learnt from its refusals, once per process.
#[derive(Debug, Default)]
struct Dialect {
    no_stream_options: AtomicBool,
    /// OpenAI's reasoning models refuse `max_tokens`; many other services know nothing else.
    max_completion_tokens: AtomicBool,
    no_shapes: AtomicBool,
    /// Reasoning models take no other temperature than their own.
    no_temperature: AtomicBool,
}

/// How one request is put.
#[derive(Clone, Copy, Debug)]
struct Wording {
    stream_options: bool,
    max_tokens: bool,
    shape: bool,
    temperature: bool,
}

impl ChatModel {
    /// Connects to nothing yet. Fails on an address that is none and on a key that cannot be sent.
    ///
    /// # Panics
    /// When no crypto provider of rustls is installed; `main` does that first.
    pub fn new(config: &ModelConfig, limiter: Arc<Limiter>) -> Result<Self, ModelError> {
        Ok(Self {
            service: Service::new(config, limiter)?,
            chat_model: config.chat_model.clone(),
            utility_model: config.utility_model.clone(),
            timeouts: config.timeouts,
            temperature: config.temperature,
            chat_dialect: Dialect::default(),
            utility_dialect: Dialect::default(),
        })
    }

    /// The configured name of the model that does it.
    pub fn model(&self, purpose: Purpose) -> &str {
        match purpose {
            Purpose::Answer => &self.chat_model,
            Purpose::Utility => &self.utility_model,
        }
    }

    /// Completes; `on_text` gets the text as it comes, in pieces that together are [`Completion::text`].
    ///
    /// After an error `on_text` may have been given part of an answer. Nothing is retried then. Dropping the future
    /// ends the request.
    pub async fn complete(
        &self,
        request: &ChatRequest,
        on_text: &mut (dyn FnMut(&str) + Send),
    ) -> Result<Completion, ModelError> {
        let dialect = match request.purpose {
            Purpose::Answer => &self.chat_dialect,
            Purpose::Utility => &self.utility_dialect,
        };
        let completion = async {
            // Ends: each round but the last was refused for a wording that the next one does without.
            loop {
                let wording = dialect.wording();
                let mut spoke = false;
                let mut on_text = |text: &str| {
                    spoke = true;
                    on_text(text);
                };
                let outcome = self.complete_once(request, wording, &mut on_text).await;
                match outcome {
                    Err(ModelError::Refused(why)) if !spoke && dialect.learn(wording, &why) => {}
                    outcome => return outcome,
                }
            }
        };
        timeout(self.timeouts.total, completion)
            .await
            .unwrap_or(Err(ModelError::TimedOut))
    }

    async fn complete_once(
        &self,
        request: &ChatRequest,
        wording: Wording,
        on_text: &mut (dyn FnMut(&str) + Send),
    ) -> Result<Completion, ModelError> {
        let model = match (request.purpose, &request.model) {
            (Purpose::Answer, Some(model)) => model,
            (Purpose::Answer | Purpose::Utility, _) => self.model(request.purpose),
        };
        let prompt = tokens::estimate_request(request);
        let budget = prompt.saturating_add(request.max_tokens);
        let call = self.service.call(model, &request.person, budget);
        let mut body = body(request, model, wording);
        if let Some(temperature) = self.temperature.filter(|_| wording.temperature) {
            body["temperature"] = temperature.into();
        }
        let stream = call.client().chat().create_stream_byot(body).await;
        let stream = stream.map_err(|error| call.error(error))?;
        let answer = read(&call, stream, self.timeouts.read, on_text).await?;
        answer.finish(model, prompt)
    }
}

/// Reads to the end, or to an error before the service said that it is done.
async fn read(
    call: &Call,
    mut stream: StreamResponse<Value>,
    read_timeout: Duration,
    on_text: &mut (dyn FnMut(&str) + Send),
) -> Result<Assembler, ModelError> {
    let mut answer = Assembler::default();
    let mut last = Instant::now();
    while let Some(chunk) = stream.next().await {
        match chunk {
            Ok(chunk) => {
                let text = answer.take(&chunk)?;
                if !text.is_empty() {
                    on_text(&text);
                }
            }
            // Only the counts were still to come.
            Err(_) if answer.is_finished() => break,
            // The crate keeps of an error in a stream its words alone, and a time-out's are those of any other: a
            // silence that long was one. Half, because the reader's clock started before this one.
            Err(_) if last.elapsed() >= read_timeout / 2 => return Err(ModelError::TimedOut),
            Err(error) => return Err(call.error(error)),
        }
        last = Instant::now();
    }
    Ok(answer)
}

impl Dialect {
    fn wording(&self) -> Wording {
        Wording {
            stream_options: !self.no_stream_options.load(Ordering::Relaxed),
            max_tokens: !self.max_completion_tokens.load(Ordering::Relaxed),
            shape: !self.no_shapes.load(Ordering::Relaxed),
            temperature: !self.no_temperature.load(Ordering::Relaxed),
        }
    }

    /// Whether the refusal is of something in the wording that can be put otherwise.
    ///
    /// Asks the wording and not the dialect: another call may have learnt the same in the meantime.
    fn learn(&self, wording: Wording, refusal: &str) -> bool {
        if wording.stream_options
            && ["stream_options", "include_usage"]
                .iter()
                .any(|it| refusal.contains(it))
        {
            self.no_stream_options.store(true, Ordering::Relaxed);
            return true;
        }
        if wording.max_tokens && refusal.contains("max_completion_tokens") {
            self.max_completion_tokens.store(true, Ordering::Relaxed);
            return true;
        }
        if wording.shape
            && ["response_format", "json_schema"]
                .iter()
                .any(|it| refusal.contains(it))
        {
            self.no_shapes.store(true, Ordering::Relaxed);
            return true;
        }
        if wording.temperature && refusal.contains("temperature") {
            self.no_temperature.store(true, Ordering::Relaxed);
            return true;
        }
        false
    }
}

fn body(request: &ChatRequest, model: &str, wording: Wording) -> Value {
    let mut body = json!({
        "model": model,
        "messages": request.messages.iter().map(message).collect::<Vec<_>>(),
        "stream": true,
    });
    add_images(&mut body["messages"], &request.images);
    let limit = if wording.max_tokens {
        "max_tokens"
    } else {
        "max_completion_tokens"
    };
    body[limit] = request.max_tokens.into();
    if wording.stream_options {
        body["stream_options"] = json!({ "include_usage": true });
    }
    // An empty list is refused by some.
    if !request.tools.is_empty() {
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    if let Some(shape) = request.shape.as_ref().filter(|_| wording.shape) {
        body["response_format"] = json!({
            "type": "json_schema",
            "json_schema": { "name": shape.name, "schema": shape.schema, "strict": true },
        });
    }
    body
}

/// Makes the user's last message one of parts, text and images.
fn add_images(messages: &mut Value, images: &[Image]) {
    if images.is_empty() {
        return;
    }
    let messages = messages.as_array_mut().into_iter().flatten();
    let Some(last) = messages.rev().find(|message| message["role"] == "user") else {
        return;
    };
    let mut parts = vec![json!({ "type": "text", "text": last["content"] })];
    parts.extend(images.iter().map(|image| {
        let data = STANDARD.encode(&image.bytes);
        let url = format!("data:{};base64,{data}", image.media_type);
        json!({ "type": "image_url", "image_url": { "url": url } })
    }));
    last["content"] = parts.into();
}

fn message(message: &ChatMessage) -> Value {
    match message {
        ChatMessage::System(text) => json!({ "role": "system", "content": text }),
        ChatMessage::User(text) => json!({ "role": "user", "content": text }),
        ChatMessage::Assistant { text, tool_calls } if tool_calls.is_empty() => {
            json!({ "role": "assistant", "content": text })
        }
        ChatMessage::Assistant { text, tool_calls } => json!({
            "role": "assistant",
            "content": if text.is_empty() { Value::Null } else { text.as_str().into() },
            "tool_calls": tool_calls.iter().map(tool_call).collect::<Vec<_>>(),
        }),
        ChatMessage::Tool { call_id, text } => {
            json!({ "role": "tool", "tool_call_id": call_id, "content": text })
        }
    }
}

fn tool_call(call: &ToolCall) -> Value {
    // Services that parse the arguments fail the whole request over a model's bad JSON.
    let valid = serde_json::from_str::<serde::de::IgnoredAny>(&call.arguments).is_ok();
    json!({
        "id": call.id,
        "type": "function",
        "function": { "name": call.name, "arguments": if valid { &call.arguments } else { "{}" } },
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_at_the_same_time_learn_the_same() {
        let dialect = Dialect::default();
        let (first, second) = (dialect.wording(), dialect.wording());
        assert!(dialect.learn(first, "unknown field `stream_options`"));
        assert!(dialect.learn(second, "unknown field `stream_options`"));
        let now = dialect.wording();
        assert!(!now.stream_options && now.max_tokens);
        assert!(!dialect.learn(now, "unknown field `stream_options`"));
        assert!(!dialect.learn(now, "unknown field `tools`"));
    }
}
