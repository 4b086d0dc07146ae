//! What the person who runs the bot can set.
//!
//! [`Options`] is what was typed or exported; [`Config`] is what the bot can work with, checked as
//! a whole. Each platform's adapter owns its options; the program puts them together. `.env.example` lists
//! every variable, and a test holds it equal to the options.

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
pub use self::names::{Place, UnknownName, unknown};
pub use self::options::{LogFormat, ModelTools, Options};
pub use self::public_address::{AddressError, PublicAddress, PublicOrigin};
pub use self::traces::TraceOptions;
use crate::agent::budget::BudgetConfig;
use crate::agent::mcp::McpFile;
use crate::graph::GraphConfig;
use crate::knowledge::origins::SourcesFile;
use crate::llm::ModelConfig;
use crate::memory::{Calibration, RecallMode, RecallSettings};

/// Options that were checked and belong together.
#[derive(Clone, Debug)]
pub struct Config {
    pub graph: GraphConfig,
    pub data_dir: PathBuf,
    pub data_dir_reason: DataDirReason,
    /// The longest time for ending.
    pub shutdown_timeout: Duration,
    /// What was said while nobody listened is answered up to this age.
    pub missed_age: Duration,
    /// None: answers come from memory alone.
    pub model: Option<ModelConfig>,
    /// Those that answer where that one fails, in their order.
    pub fallbacks: Vec<ModelConfig>,
    /// The service that embeds; none for that of the model.
    pub embedding_service: Option<ModelConfig>,
    pub embedding_model: Option<String>,
    /// Prices in place of the built-in ones.
    pub model_prices: Option<PathBuf>,
    pub budget: BudgetConfig,
    pub prompts_dir: Option<PathBuf>,
    /// Where sources come from that are read again.
    pub sources_file: SourcesFile,
    /// Servers whose tools are called.
    pub mcp_file: McpFile,
    pub turn: TurnConfig,
    /// Of people and channels that have none of their own.
    pub time_zone: TimeZone,
    pub recall: RecallConfig,
    pub admission: AdmissionConfig,
    pub attachments: AttachmentConfig,
    /// How long the audit is kept.
    pub audit_days: u32,
    pub channels: Arc<Channels>,
    /// Where they are read from.
    pub channels_file: Option<PathBuf>,
    pub terminal_socket: Option<PathBuf>,
    pub http_addr: Option<SocketAddr>,
    /// Where the pages are.
    pub web: Option<PublicAddress>,
    /// How people reach the pages, also where no address is set and `muninn web` takes one.
    pub web_url: Option<String>,
    /// Where programs ask.
    pub mcp: Option<PublicAddress>,
    pub traces: TraceOptions,
}

/// Which files that come with messages are read.
#[derive(Clone, Copy, Debug)]
pub struct AttachmentConfig {
    /// Larger ones are not.
    pub bytes: usize,
    /// Whether the chat model sees images.
    pub vision: bool,
}

/// What shapes a turn.
#[derive(Clone, Debug)]
pub struct TurnConfig {
    pub bot_name: String,
    pub window_turns: usize,
    pub context_tokens: u32,
    pub answer_tokens: u32,
    /// How often the critic's follow-up questions are asked.
    pub agent_max_rounds: u32,
    /// A model looks again at what was recalled.
    pub recall_rerank: bool,
    /// The model calls no tools: knowledge is searched for every question before it answers.
    pub calls_no_tools: bool,
    /// Prompts and tools of one's own.
    pub prompts_dir: Option<PathBuf>,
    pub timeout: Duration,
}

/// What is recalled.
#[derive(Clone, Copy, Debug)]
pub struct RecallConfig {
    pub mode: RecallMode,
    /// None: that of the mode.
    pub threshold: Option<f64>,
    pub tokens: usize,
}

/// A cosine from which two texts are about the same, for the shipped embedder. Cosines of another
/// lie elsewhere, and then `RECALL_THRESHOLD` has to be set.
const COSINE_THRESHOLD: f64 = 0.45;

impl RecallConfig {
    /// The settings, with the measured threshold where none was set.
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

/// What is let in.
#[derive(Clone, Debug)]
pub struct AdmissionConfig {
    pub messages_per_minute: u32,
    pub message_chars: usize,
    pub inbox_size: usize,
    pub turns_in_flight: usize,
}

/// Why the options make no configuration.
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
