//! The models behind the bot: one that writes and one that embeds.
//!
//! [`ChatModel`] writes, over any OpenAI-compatible service, and [`ModelChain`] by the first of several that does; [`Embedder`] embeds, locally or over the same kind of
//! service. Both pass one [`Limiter`]. Knows nothing of sessions, prompts or the graph.

mod assemble;
mod breaker;
mod capabilities;
mod chain;
mod chat;
mod check;
mod config;
mod context;
mod embed;
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
pub mod tokens;
mod tryout;
mod visible;

pub use breaker::{Admission, Breaker};
pub use capabilities::{Capabilities, DataForm, ToolForm};
pub use chain::ModelChain;
pub use chat::ChatModel;
pub use check::{Checked, Finding, Role};
pub use config::{Limits, ModelConfig, Retries, Timeouts};
pub use context::Numbers;
pub use embed::{Embedder, RemoteEmbedder};
pub use limiter::{Limiter, Permit};
pub use measured::millis;
pub use prices::{Money, Prices, PricesError};
pub use sampling::Sampling;
pub use speed::Speed;
pub use structured::AnswerShape;
pub use tryout::{LEAST_USEFUL_CONTEXT, Tried, TriedOut};
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

/// An image for a model that sees.
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
    /// What comes with the last message of the user; for a model that sees.
    pub images: Vec<Image>,
    pub tools: Vec<ToolSpec>,
    /// The shape of an answer that is data.
    pub shape: Option<AnswerShape>,
    /// What it leaves unset is as [`ModelConfig::sampling`] says.
    pub sampling: Sampling,
    /// The answer's limit, in tokens.
    pub max_tokens: u32,
    pub purpose: Purpose,
    /// The model that answers; none for the configured one. Small steps are always the latter's.
    pub model: Option<String>,
    /// On whose behalf, for that person's share of the limits; empty for the bot's own work.
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
    /// The service's content filter ended it.
    pub withheld: bool,
}

/// Tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub prompt: u32,
    pub completion: u32,
    /// Of those of the prompt: the service had read them before.
    pub cached: u32,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, more: Self) {
        self.prompt += more.prompt;
        self.completion += more.completion;
        self.cached += more.cached;
    }
}

/// What is known of a prompt that was too long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TooLong {
    /// What the service said.
    pub numbers: Numbers,
    /// Tokens of a prompt, by our estimate, that may fit: fewer than were sent. Only a completion's.
    pub room: Option<u32>,
}

/// What was waited for in vain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Late {
    /// The service sent nothing for so long.
    Silent(Duration),
    /// The call was not done after so long.
    Unfinished(Duration),
    /// The service, or a proxy before it, gave up by itself.
    GaveUp,
    /// A wait that is not set anywhere.
    Fixed(Duration),
}

impl std::fmt::Display for Late {
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

/// Why a model did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    #[error("the model service at {url} cannot be reached")]
    Unreachable {
        url: String,
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    #[error("{0}")]
    TimedOut(Late),
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
    /// All that it wrote was reasoning, up to the limit of an answer.
    #[error(
        "the model wrote nothing but its reasoning; raise ANSWER_TOKENS, or choose a model that reasons less"
    )]
    OnlyReasoned,
    /// Our own limits: see `limiter`.
    #[error("too many requests are waiting for the model")]
    Busy,
    /// What may be spent in a month was spent.
    #[error("{whose} for this month is used up; raise {setting}")]
    OverBudget {
        whose: &'static str,
        setting: &'static str,
    },
    /// It does not take a request like this: the same again will fail again.
    #[error("the model service refused the request: {0}")]
    Refused(String),
    /// Its own fault (HTTP 5xx).
    #[error("the model service failed: {0}")]
    Failed(String),
    /// Part of an answer came, then no more.
    #[error("the model's answer broke off")]
    CutOff,
    /// It answered what makes no sense.
    #[error("the model service answered nonsense: {0}")]
    BadAnswer(String),
}

impl ModelError {
    /// Whether the same request may well succeed later, with nobody changing anything.
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
            | Self::OnlyReasoned
            | Self::Refused(_) => false,
        }
    }
}
