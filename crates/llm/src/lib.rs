//! The models of the bot: a chat model and an embedder.
//!
//! [`ChatModel`] writes text with any OpenAI-compatible service, and [`ModelChain`] with the first of several that works.
//! [`Embedder`] embeds texts with such a service, or locally with the feature `local-embedder`. All share one [`Limiter`]. The crate knows nothing of sessions,
//! prompts or the graph.

mod assemble;
mod breaker;
mod capabilities;
mod capability_store;
mod chain;
mod chat;
mod check;
mod config;
mod context;
mod embed;
mod harmony;
mod limiter;
mod measured;
mod messages;
mod prices;
mod refusal;
mod sampling;
mod service;
mod speed;
pub mod structured;
mod text_calls;
mod timeouts;
pub mod tokens;
mod tryout;
mod visible;
mod whole;

pub use breaker::{Admission, Breaker};
pub use capabilities::{Capabilities, DataForm, ToolForm};
pub use chain::ModelChain;
pub use chat::ChatModel;
pub use check::{ModelAvailability, ModelCheck, Role};
pub use config::{ModelConfig, RateLimits, Retries};
pub use context::Numbers;
pub use embed::{Embedder, RemoteEmbedder};
pub use limiter::{Limiter, Permit};
pub use measured::millis;
pub use prices::{Money, Prices, PricesError};
pub use sampling::Sampling;
pub use speed::Speed;
pub use structured::AnswerShape;
pub use timeouts::Timeouts;
pub use tryout::{LEAST_USEFUL_CONTEXT, TryoutReport, TryoutResult};
pub use visible::Piece;

use std::sync::Arc;
use std::time::Duration;

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
    /// The result of a tool.
    Tool {
        call_id: String,
        text: String,
    },
}

/// A tool that a model may call.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// JSON schema of the arguments.
    pub parameters: serde_json::Value,
}

/// A call that a model requested.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    pub id: String,
    pub name: String,
    /// JSON as the model wrote it; it may be invalid.
    pub arguments: String,
}

/// Which of the two models to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Answers people.
    Answer,
    /// Small steps: summaries, rephrasing.
    Utility,
}

/// An image for a model with vision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Such as `image/png`.
    pub media_type: &'static str,
    pub bytes: Arc<[u8]>,
}

/// A request for a completion.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatRequest {
    pub messages: Vec<ChatMessage>,
    /// Images for the last user message, for a model with vision.
    pub images: Vec<Image>,
    pub tools: Vec<ToolSpec>,
    /// Names of tools that the model may know of. If no tools are offered, a call of one of these that it writes as text is
    /// left out: it is no answer.
    pub known_tools: Vec<String>,
    /// The shape of structured data.
    pub shape: Option<AnswerShape>,
    /// Unset values are taken from [`ModelConfig::sampling`].
    pub sampling: Sampling,
    /// Maximum tokens of the answer.
    pub max_tokens: u32,
    pub purpose: Purpose,
    /// The model for answers; `None` means the configured one. Small steps always use the configured one.
    pub model: Option<String>,
    /// The person whose share of the limits is used; empty for the bot's own work.
    pub person: String,
}

/// A completion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    pub text: String,
    pub tool_calls: Vec<ToolCall>,
    /// As the service names it.
    pub model: String,
    /// The configured name of the model that answered.
    pub configured: String,
    /// As counted by the service; estimated if it does not count. With the attempts before it in which the model only
    /// reasoned.
    pub usage: Usage,
    /// Calls of other models that were billed before this one answered.
    pub failed: Vec<BilledCall>,
    /// It ended at `max_tokens`.
    pub truncated: bool,
    /// The service's content filter ended it.
    pub withheld: bool,
}

/// A call that was billed and brought no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BilledCall {
    /// The configured name.
    pub model: String,
    pub usage: Usage,
}

/// How far a call of a chain is. Its caller holds it, as a call that is cancelled is billed, too, and returns nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallProgress {
    /// The configured name of the model that is called now, or was called last.
    pub model: String,
    /// Calls of models that were billed and brought no answer.
    pub failed: Vec<BilledCall>,
}

/// Tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub prompt: u32,
    pub completion: u32,
    /// How many of the prompt's tokens the service had cached.
    pub cached: u32,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, more: Self) {
        self.prompt = self.prompt.saturating_add(more.prompt);
        self.completion = self.completion.saturating_add(more.completion);
        self.cached = self.cached.saturating_add(more.cached);
    }
}

/// What is known about a prompt that was too long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TooLong {
    /// The numbers that the service reported.
    pub numbers: Numbers,
    /// Estimated tokens of a prompt that may fit: fewer than were sent. Only for completions.
    pub room: Option<u32>,
}

/// The wait that timed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimedOutWait {
    /// The service sent nothing for this time.
    Silent(Duration),
    /// The call was not finished after this time.
    Unfinished(Duration),
    /// The service, or a proxy before it, gave up.
    GaveUp,
    /// A wait that is not configurable.
    Fixed(Duration),
}

impl std::fmt::Display for TimedOutWait {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let seconds = |wait: &Duration| format!("{} s", wait.as_secs_f64().ceil());
        match self {
            Self::Silent(wait) => write!(
                f,
                "the model service sent nothing for {}; raise MODEL_TIMEOUT if the model is only slow",
                seconds(wait)
            ),
            Self::Unfinished(wait) => write!(
                f,
                "the model was not done after {}; raise TURN_TIMEOUT, or lower ANSWER_TOKENS",
                seconds(wait)
            ),
            Self::GaveUp => f.write_str(
                "the model service, or a proxy before it, gave up waiting for the model (HTTP 408 or 504); raise its own time-out",
            ),
            Self::Fixed(wait) => write!(f, "the model service did not answer within {}", seconds(wait)),
        }
    }
}

/// Why a model call failed.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    #[error("the model service at {url} cannot be reached")]
    Unreachable {
        url: String,
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    #[error("{0}")]
    TimedOut(TimedOutWait),
    #[error("the model service refused the key; check OPENAI_API_KEY, or MODEL_KEYS")]
    Unauthorized,
    #[error(
        "the model service does not know the model {model:?}; check CHAT_MODEL, MODELS, UTILITY_MODEL and EMBEDDING_MODEL"
    )]
    UnknownModel { model: String },
    #[error("the model service's quota is used up")]
    QuotaExhausted,
    #[error("the model service is over its rate limit")]
    RateLimited,
    #[error("the prompt is longer than the model reads")]
    ContextTooLong(TooLong),
    /// Everything that it wrote was reasoning, up to the limit of an answer. That was billed.
    #[error(
        "the model wrote nothing but its reasoning; raise ANSWER_TOKENS, or choose a model that reasons less"
    )]
    OnlyReasoned(Usage),
    /// Our own limits: see `limiter`.
    #[error("too many requests are waiting for the model")]
    Busy,
    /// The monthly budget is used up.
    #[error("{whose} for this month is used up; raise {setting}")]
    OverBudget {
        whose: &'static str,
        setting: &'static str,
    },
    /// It refuses this kind of request: the same request will fail again.
    #[error("the model service refused the request: {0}")]
    Refused(String),
    /// Its own fault (HTTP 5xx).
    #[error("the model service failed: {0}")]
    Failed(String),
    /// Only part of an answer arrived.
    #[error("the model's answer broke off")]
    CutOff,
    /// Its answer is invalid.
    #[error("the model service answered nonsense: {0}")]
    BadAnswer(String),
}

impl ModelError {
    /// Whether the same request may succeed later without any change.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable { .. }
            | Self::TimedOut(_)
            | Self::RateLimited
            | Self::Busy
            | Self::Failed(_)
            | Self::CutOff
            | Self::BadAnswer(_) => true,
            Self::Unauthorized
            | Self::UnknownModel { .. }
            | Self::QuotaExhausted
            | Self::OverBudget { .. }
            | Self::ContextTooLong(_)
            | Self::OnlyReasoned(_)
            | Self::Refused(_) => false,
        }
    }
}
