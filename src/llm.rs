//! The models behind the bot: one that writes and one that embeds.
//!
//! Knows nothing of sessions, prompts or the graph.

pub mod local;

use serde::{Deserialize, Serialize};

/// One message of a chat completion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ChatMessage {
    System(String),
    User(String),
    Assistant {
        text: String,
        tool_calls: Vec<ToolCall>,
    },
    /// What a tool returned.
    Tool {
        call_id: String,
        text: String,
    },
}

/// A tool a model may call.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// JSON schema of the arguments.
    pub parameters: serde_json::Value,
}

/// A call a model asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    pub id: String,
    pub name: String,
    /// JSON, as the model wrote it: it may be wrong.
    pub arguments: String,
}

/// Which of the two models does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Answers people.
    Answer,
    /// Small steps: summaries, rephrasing.
    Utility,
}

/// A request for a completion.
#[derive(Clone, Debug)]
pub struct ChatRequest {
    pub messages: Vec<ChatMessage>,
    pub tools: Vec<ToolSpec>,
    /// The answer's limit, in tokens.
    pub max_tokens: u32,
    pub purpose: Purpose,
    /// On whose behalf, for that person's share of the limits.
    pub person: String,
}

/// A completion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    pub text: String,
    pub tool_calls: Vec<ToolCall>,
    /// As the service names it.
    pub model: String,
    /// As the service counted; estimated where it does not count.
    pub usage: Usage,
    /// It ended at `max_tokens`.
    pub truncated: bool,
}

/// Tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub prompt: u32,
    pub completion: u32,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, more: Self) {
        self.prompt += more.prompt;
        self.completion += more.completion;
    }
}

/// Why a model did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    #[error("the model service at {url} cannot be reached")]
    Unreachable {
        url: String,
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    #[error("the model service did not answer in time")]
    TimedOut,
    #[error("the model service refused the key; check OPENAI_API_KEY")]
    Unauthorized,
    #[error(
        "the model service does not know the model {model:?}; check CHAT_MODEL, UTILITY_MODEL and EMBEDDING_MODEL"
    )]
    UnknownModel { model: String },
    #[error("the model service's quota is used up")]
    QuotaExhausted,
    #[error("the model service is over its rate limit")]
    RateLimited,
    #[error("the prompt is longer than the model reads")]
    ContextTooLong,
    /// Our own limits: see `limiter`.
    #[error("too many requests are waiting for the model")]
    Busy,
    #[error("the model service failed: {0}")]
    Failed(String),
    /// It answered what makes no sense.
    #[error("the model service answered nonsense: {0}")]
    BadAnswer(String),
}
