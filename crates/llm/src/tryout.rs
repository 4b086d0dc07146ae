//! Tests what a model can do: a tool call, structured data, a streamed answer. For `muninn doctor`.

use std::sync::PoisonError;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::capabilities::{DataForm, ToolForm};
use super::check::{entries, listed_names};
use super::{
    AnswerShape, ChatMessage, ChatModel, ChatRequest, ModelError, Piece, Purpose, Sampling, Speed,
    ToolSpec, context, structured,
};

/// Maximum tokens of a test answer: room for a model that reasons.
const TRY_TOKENS: u32 = 800;
/// With a smaller context a turn has no room for earlier messages.
pub const LEAST_USEFUL_CONTEXT: u32 = 2_048;

/// The result of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TryoutResult {
    Works,
    /// It works in another way: tools or data through the prompt, or an answer as a whole.
    InWords,
    /// It answered, but not as requested.
    Misses,
}

/// The capabilities found for a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TryoutReport {
    pub model: String,
    pub tools: TryoutResult,
    pub data: TryoutResult,
    pub streams: TryoutResult,
    pub system_role: bool,
    /// Context size in tokens, if the service reports it.
    pub context: Option<u32>,
    /// The measured speed, if known.
    pub speed: Option<Speed>,
}

impl TryoutReport {
    /// Whether its context is large enough for a bot.
    pub fn reads_enough(&self) -> bool {
        self.context
            .is_none_or(|context| context >= LEAST_USEFUL_CONTEXT)
    }
}

impl ChatModel {
    /// Tests a model, and stores what was found.
    ///
    /// # Errors
    /// Fails when it does not answer at all.
    pub async fn try_out(&self, purpose: Purpose) -> Result<TryoutReport, ModelError> {
        let model = self.model(purpose).to_owned();
        let tools = self.try_tools(purpose).await?;
        let data = self.try_data(purpose).await?;
        let streams = self.try_stream(purpose).await?;
        // Only now, as Ollama reports it for running models only.
        self.learn_context(&model).await;
        self.learnt
            .update_capabilities(&model, |known| known.too_weak_for_tools = !tools);
        let can = self.learnt.of(&model);
        Ok(TryoutReport {
            tools: in_words(tools, can.tools != ToolForm::Native),
            data: in_words(data, can.data == DataForm::Words),
            streams,
            system_role: can.system_role,
            context: can.context,
            speed: self.learnt.speed(&model),
            model,
        })
    }

    async fn try_tools(&self, purpose: Purpose) -> Result<bool, ModelError> {
        let tool = ToolSpec {
            name: "population".to_owned(),
            description: "Says how many people live in a city.".to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {"city": {"type": "string"}},
                "required": ["city"],
                "additionalProperties": false,
            }),
        };
        let request = ChatRequest {
            tools: vec![tool],
            ..request(
                purpose,
                "Use the tool to find out how many people live in Oslo.",
            )
        };
        let completion = self.completed(&request, &mut |_| {}).await?;
        let names_it = |call: &super::ToolCall| {
            call.name == "population" && call.arguments.to_lowercase().contains("oslo")
        };
        Ok(completion.is_some_and(|it| it.tool_calls.iter().any(names_it)))
    }

    async fn try_data(&self, purpose: Purpose) -> Result<bool, ModelError> {
        #[derive(Deserialize)]
        struct Capital {
            city: String,
        }
        let shape = AnswerShape {
            name: "capital",
            schema: json!({
                "type": "object",
                "properties": {"city": {"type": "string"}},
                "required": ["city"],
                "additionalProperties": false,
            }),
        };
        let request = ChatRequest {
            shape: Some(shape),
            ..request(
                purpose,
                "Name the capital of Norway, as JSON: {\"city\": \"…\"}. Write nothing else.",
            )
        };
        let completion = self.completed(&request, &mut |_| {}).await?;
        let capital = completion.and_then(|it| structured::json_in::<Capital>(&it.text));
        Ok(capital.is_some_and(|capital| !capital.city.is_empty()))
    }

    async fn try_stream(&self, purpose: Purpose) -> Result<TryoutResult, ModelError> {
        let mut pieces = 0;
        let mut count = |piece: Piece| pieces += usize::from(!piece.is_empty());
        let request = request(purpose, "Count from one to ten, in words.");
        let completion = self.completed(&request, &mut count).await?;
        Ok(match completion {
            Some(_) if pieces > 1 => TryoutResult::Works,
            Some(_) => TryoutResult::InWords,
            None => TryoutResult::Misses,
        })
    }

    /// A completion; `None` if the model's answer is invalid.
    async fn completed(
        &self,
        request: &ChatRequest,
        on_piece: &mut (dyn FnMut(Piece) + Send),
    ) -> Result<Option<super::Completion>, ModelError> {
        match self.complete(request, on_piece).await {
            Ok(completion) => Ok(Some(completion)),
            Err(ModelError::BadAnswer(_) | ModelError::OnlyReasoned(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Asks the service for the model's context size, in the ways of several servers. Failures are ignored.
    pub(super) async fn learn_context(&self, model: &str) {
        let Some(listed) = self.listed_model(model).await else {
            return;
        };
        let told = match context::of_listed(&listed) {
            Some(told) => Some(told),
            None => match listed["owned_by"].as_str() {
                Some("llamacpp") => {
                    let props = self.get_json("/props").await;
                    props.as_ref().and_then(context::of_props)
                }
                Some("library") => {
                    let running = self.get_json("/api/ps").await.unwrap_or_default();
                    let asked = json!({"model": model});
                    let show = self.service.post_outside_api("/api/show", &asked);
                    let shown = timeout(self.timeouts.connect, show).await;
                    let shown = shown.ok().and_then(Result::ok);
                    let shown = shown.and_then(|body| serde_json::from_slice(&body).ok());
                    context::of_ollama(&running, &shown.unwrap_or_default(), model)
                }
                Some(_) | None => None,
            },
        };
        if let Some(told) = told {
            self.learnt
                .update_capabilities(model, |known| *known = known.with_context(told));
        }
    }

    /// The entry of a model in the service's list, which is read once.
    async fn listed_model(&self, model: &str) -> Option<Value> {
        let listed = || self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        let known = listed().clone();
        let body = match known {
            Some(body) => body,
            None => {
                let body = timeout(self.timeouts.connect, self.service.get("/models")).await;
                let body: Value = serde_json::from_slice(&body.ok()?.ok()?).ok()?;
                *listed() = Some(body.clone());
                body
            }
        };
        let names = listed_names(model);
        let entries = entries(&body)?;
        let of_name = |name: &String| entries.iter().find(|one| one["id"] == name.as_str());
        names.iter().find_map(of_name).cloned()
    }

    async fn get_json(&self, path: &str) -> Option<Value> {
        let body = timeout(self.timeouts.connect, self.service.get_outside_api(path)).await;
        serde_json::from_slice(&body.ok()?.ok()?).ok()
    }
}

fn in_words(is_done: bool, needs_words: bool) -> TryoutResult {
    match (is_done, needs_words) {
        (false, _) => TryoutResult::Misses,
        (true, true) => TryoutResult::InWords,
        (true, false) => TryoutResult::Works,
    }
}

fn request(purpose: Purpose, question: &str) -> ChatRequest {
    ChatRequest {
        messages: vec![
            ChatMessage::System(
                "You are being tried out. Do what you are asked, briefly.".to_owned(),
            ),
            ChatMessage::User(question.to_owned()),
        ],
        images: Vec::new(),
        tools: Vec::new(),
        known_tools: Vec::new(),
        shape: None,
        sampling: Sampling::default(),
        max_tokens: TRY_TOKENS,
        purpose,
        model: None,
        person: String::new(),
    }
}
