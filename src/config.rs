//! The configuration of the bot.
//!
//! [`Options`] are the values from the command line and the environment; [`Config`] is the validated
//! result. Each platform's adapter has its own options, and the program combines them. `.env.example`
//! lists every variable, and a test compares it with the options.

mod checking;
pub mod data_dir;
mod models;
mod names;
mod options;
mod public_address;
#[cfg(test)]
mod tests;
mod traces;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use muninn_platform::{Channels, SettingsError, TimeZone};

pub use self::data_dir::{DataDirError, DataDirReason};
pub use self::names::{UnknownName, VariableSource, unknown};
pub use self::options::{LogFormat, ModelTools, Options};
pub use self::public_address::{AddressError, PublicAddress, PublicOrigin};
pub use self::traces::TraceOptions;
use crate::agent::budget::BudgetConfig;
use crate::agent::mcp::McpFile;
use crate::graph::GraphConfig;
use crate::knowledge::origins::SourcesFile;
use crate::llm::ModelConfig;
use crate::memory::{Calibration, RecallMode, RecallSettings};

/// Validated options.
#[derive(Clone, Debug)]
pub struct Config {
    pub graph: GraphConfig,
    /// Whether `GRAPH_URL` names the graph; otherwise it is in the data folder.
    pub has_graph_url: bool,
    pub data_dir: PathBuf,
    pub data_dir_reason: DataDirReason,
    /// Time limit for shutting down.
    pub shutdown_timeout: Duration,
    /// Maximum age of messages that are answered although nobody listened when they were sent.
    pub missed_age: Duration,
    /// Without a model, answers come from memory alone.
    pub model: Option<ModelConfig>,
    /// The models that answer if that one fails, in order.
    pub fallbacks: Vec<ModelConfig>,
    /// The embedding service; `None` means that of the model.
    pub embedding_service: Option<ModelConfig>,
    pub embedding_model: Option<String>,
    /// Prices that replace the built-in ones.
    pub model_prices: Option<PathBuf>,
    pub budget: BudgetConfig,
    pub prompts_dir: Option<PathBuf>,
    /// The file of sources that are refreshed.
    pub sources_file: SourcesFile,
    /// The file of MCP servers.
    pub mcp_file: McpFile,
    pub turn: TurnConfig,
    /// For people and channels without one.
    pub time_zone: TimeZone,
    pub recall: RecallConfig,
    pub admission: AdmissionConfig,
    pub attachments: AttachmentConfig,
    /// How long the audit log is kept.
    pub audit_days: u32,
    pub channels: Arc<Channels>,
    /// The file from which they are read.
    pub channels_file: Option<PathBuf>,
    pub terminal_socket: Option<PathBuf>,
    pub http_addr: Option<SocketAddr>,
    /// The address of the pages.
    pub web: Option<PublicAddress>,
    /// The address at which people reach the pages, also if none is set here and `muninn web` uses one.
    pub web_url: Option<String>,
    /// The address for programs.
    pub mcp: Option<PublicAddress>,
    pub traces: TraceOptions,
}

/// Which attached files are read.
#[derive(Clone, Copy, Debug)]
pub struct AttachmentConfig {
    /// Maximum size of a file.
    pub bytes: usize,
    /// Whether the chat model accepts images.
    pub vision: bool,
}

/// The settings of turns.
#[derive(Clone, Debug)]
pub struct TurnConfig {
    pub bot_name: String,
    pub window_turns: usize,
    pub context_tokens: u32,
    pub answer_tokens: u32,
    /// Number of rounds of the critic's follow-up questions.
    pub agent_max_rounds: u32,
    /// Whether a model reranks what was recalled.
    pub recall_rerank: bool,
    /// Whether knowledge is searched for every question before the model answers, because it calls no
    /// tools.
    pub calls_no_tools: bool,
    /// The folder of custom prompts and tools.
    pub prompts_dir: Option<PathBuf>,
    pub timeout: Duration,
}

/// The settings of recall.
#[derive(Clone, Copy, Debug)]
pub struct RecallConfig {
    pub mode: RecallMode,
    /// `None` means the default of the mode.
    pub threshold: Option<f64>,
    pub tokens: usize,
}

/// The cosine from which two texts are about the same subject, for the built-in embedder. Cosines of other
/// embedders differ, and then `RECALL_THRESHOLD` has to be set.
const COSINE_THRESHOLD: f64 = 0.45;

impl RecallConfig {
    /// The settings, with the measured threshold if none is set.
    pub fn settings(&self, calibration: &Calibration) -> RecallSettings {
        let by = RecallSettings::by(calibration);
        let measured = match self.mode {
            RecallMode::Probability => by.threshold,
            RecallMode::Cosine => COSINE_THRESHOLD,
        };
        RecallSettings {
            mode: self.mode,
            threshold: self.threshold.unwrap_or(measured),
            tokens: self.tokens,
            ..by
        }
    }
}

/// The limits on incoming messages.
#[derive(Clone, Debug)]
pub struct AdmissionConfig {
    pub messages_per_minute: u32,
    pub message_chars: usize,
    pub inbox_size: usize,
    pub turns_in_flight: usize,
}

/// Why the options are invalid.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    #[error("{0}")]
    Channels(String),
    #[error("MODELS {0}")]
    Models(String),
    #[error("MODEL_KEYS {0}")]
    ModelKeys(String),
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error("{name} is {value}, but must be at least {least}")]
    TooSmall {
        name: &'static str,
        value: usize,
        least: usize,
    },
    #[error("{name} is {value}, but must be at most {most}")]
    TooLarge {
        name: &'static str,
        value: usize,
        most: usize,
    },
    #[error(
        "EMBEDDING_MODEL is set, but neither OPENAI_API_KEY nor OPENAI_BASE_URL is; set one of them, or leave EMBEDDING_MODEL empty for the built-in embedder"
    )]
    EmbeddingWithoutService,
    #[error(
        "CONTEXT_TOKENS ({context}) leaves no room for a prompt beside ANSWER_TOKENS ({answer}); it must be at least {least}"
    )]
    NoRoomForPrompt {
        context: u32,
        answer: u32,
        least: u32,
    },
}
