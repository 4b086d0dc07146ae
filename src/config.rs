//! What the person who runs the bot can set.
//!
//! [`Options`] is what was typed or exported; [`Config`] is what the bot can work with, checked as
//! a whole. Each platform's adapter owns its options; the program puts them together. `.env.example` lists
//! every variable, and a test holds it equal to the options.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser as _};
use muninn_platform::{
    Channels, Language, SettingsError, TimeZone, filled, filled_secret, in_one_line,
};
use secrecy::SecretString;

pub use self::data_dir::{DataDirError, DataDirReason};
pub use self::names::{Place, UnknownName, unknown};
pub use self::public_address::{AddressError, PublicAddress, PublicOrigin};
pub use self::traces::TraceOptions;
use crate::agent::budget::BudgetConfig;
use crate::agent::mcp::McpFile;
use crate::graph::{GraphConfig, Reader};
use crate::knowledge::origins::SourcesFile;
use crate::llm::{Limits, ModelConfig, Money, Retries, Sampling, Timeouts};
use crate::memory::{Calibration, DEFAULT_RECALL_TOKENS, RecallMode, RecallSettings};

/// Every option, from the command line or the environment (also from `.env`).
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Address of the graph: empty for one in the data folder, embedded:PATH, or the bolt://, bolt+s://, neo4j:// or neo4j+s:// address of a Neo4j server
    #[arg(long, env, global = true, default_value = "")]
    pub graph_url: String,
    /// Neo4j user name
    #[arg(long, env, global = true, default_value = "")]
    pub graph_user: String,
    /// Neo4j password
    #[arg(long, env, global = true, default_value = "", hide_env_values = true)]
    pub graph_password: SecretString,
    /// Neo4j user that runs generated Cypher and cannot read the bot's memory
    #[arg(long, env, global = true, default_value = "")]
    pub graph_reader_user: String,
    /// Password of that user
    #[arg(long, env, global = true, default_value = "", hide_env_values = true)]
    pub graph_reader_password: SecretString,
    /// Neo4j database name; empty for the server's default
    #[arg(long, env, global = true, default_value = "")]
    pub graph_database: String,
    /// Time-out for requests to the graph, in seconds
    #[arg(long, env, global = true, default_value_t = 5)]
    pub graph_timeout: u64,
    /// Folder for the embedded graph, pending messages, offline turns, sessions and terminal history; unset for ./muninn-data if it is there, otherwise the system's folder for data
    #[arg(long, env, global = true, value_parser = OsStringValueParser::new().map(PathBuf::from))]
    pub data_dir: Option<PathBuf>,

    /// API key of the model service; with neither a key nor a base URL the bot runs without a model
    #[arg(long, env, global = true, default_value = "", hide_env_values = true)]
    pub openai_api_key: SecretString,
    /// Base URL of an OpenAI-compatible service, such as Ollama
    #[arg(long, env, global = true, default_value = "")]
    pub openai_base_url: String,
    /// Model that writes the answers
    #[arg(long, env, global = true, default_value = "gpt-4o-mini")]
    pub chat_model: String,
    /// Models tried in order, in place of the chat model, separated by commas: MODEL, or MODEL@ADDRESS of another service
    #[arg(long, env, global = true, default_value = "")]
    pub models: String,
    /// API keys of the services in MODELS: HOST=KEY, separated by commas
    #[arg(long, env, global = true, default_value = "", hide_env_values = true)]
    pub model_keys: SecretString,
    /// Whether the chat model accepts images
    #[arg(long, env, global = true, value_parser = clap::value_parser!(bool), action = clap::ArgAction::Set, default_value_t = false)]
    pub model_vision: bool,
    /// Model for short internal steps, such as rephrasing; empty to use the chat model
    #[arg(long, env, global = true, default_value = "")]
    pub utility_model: String,
    /// Embedding model of the service; empty to use the built-in embedder
    #[arg(long, env, global = true, default_value = "")]
    pub embedding_model: String,
    /// Sampling temperature, from 0 to 2; unset for the service's default
    #[arg(long, env, global = true, value_parser = temperature)]
    pub model_temperature: Option<f64>,
    /// Time-out when the model service sends nothing, in seconds
    #[arg(long, env, global = true, default_value_t = 60)]
    pub model_timeout: u64,
    /// Requests per minute to the model service, for the whole bot
    #[arg(long, env, global = true, default_value_t = 120)]
    pub model_requests_per_minute: u32,
    /// Tokens per minute to the model service, for the whole bot
    #[arg(long, env, global = true, default_value_t = 500_000)]
    pub model_tokens_per_minute: u32,
    /// Requests per minute to the model service on behalf of one person
    #[arg(long, env, global = true, default_value_t = 60)]
    pub model_requests_per_person: u32,
    /// Concurrent requests to the model service
    #[arg(long, env, global = true, default_value_t = 8)]
    pub model_in_flight: usize,
    /// How long a request waits for these limits before it fails, in seconds
    #[arg(long, env, global = true, default_value_t = 20)]
    pub model_wait: u64,

    /// TOML file with prices of models, in place of the built-in ones
    #[arg(long, env, global = true)]
    pub model_prices: Option<PathBuf>,
    /// What models may cost per person and calendar month, in US dollars; unset for no limit
    #[arg(long, env, global = true, value_parser = dollars)]
    pub budget_person: Option<Money>,
    /// The same per channel
    #[arg(long, env, global = true, value_parser = dollars)]
    pub budget_channel: Option<Money>,
    /// The same for the whole bot
    #[arg(long, env, global = true, value_parser = dollars)]
    pub budget_total: Option<Money>,

    /// The bot's name
    #[arg(long, env, global = true, default_value = "Muninn")]
    pub bot_name: String,
    /// Time zone whose days "today" and "yesterday" are, such as Europe/Lisbon, where neither the person's profile nor the
    /// channel's settings say; unset for the machine's
    #[arg(long, env, global = true, value_parser = time_zone)]
    pub time_zone: Option<TimeZone>,
    /// Language of what the bot itself says, where neither a channel's settings nor a platform names one: en, de, fr, es,
    /// pt or ja. Of a list such as de:en the first of these counts; without one it is English
    #[arg(long, env, global = true, value_parser = language, default_value = "en")]
    pub language: Language,
    /// TOML file with folders, git repositories and websites that are ingested again when they change; unset for sources.toml in the data folder
    #[arg(long, env, global = true)]
    pub sources_file: Option<PathBuf>,
    /// TOML file with MCP servers whose tools the model may call; unset for mcp.toml in the data folder
    #[arg(long, env, global = true)]
    pub mcp_file: Option<PathBuf>,
    /// Folder with your own prompts, tools, examples and terminology; see prompts/ for the built-in ones
    #[arg(long, env, global = true)]
    pub prompts_dir: Option<PathBuf>,
    /// Latest turns of the conversation that are always in the prompt
    #[arg(long, env, global = true, default_value_t = 12)]
    pub window_turns: usize,
    /// Maximum number of tokens per request, prompt and answer together
    #[arg(long, env, global = true, default_value_t = 16_000)]
    pub context_tokens: u32,
    /// Maximum number of tokens per answer
    #[arg(long, env, global = true, default_value_t = 1_500)]
    pub answer_tokens: u32,
    /// Maximum number of follow-up rounds per turn; 0 turns the critic off
    #[arg(long, env, global = true, default_value_t = 2)]
    pub agent_max_rounds: u32,
    /// Whether the model calls tools: as it can, or not at all, so that knowledge is searched for every question
    #[arg(long, env, global = true, value_enum, default_value_t = ModelTools::Auto)]
    pub model_tools: ModelTools,
    /// What recall compares with its threshold: probability or cosine
    #[arg(long, env, global = true, value_enum, default_value_t = RecallMode::Probability)]
    pub recall_mode: RecallMode,
    /// Minimum probability (or cosine) for an earlier exchange to be recalled; unset for the best ones, about 500 tokens
    #[arg(long, env, global = true, value_parser = threshold)]
    pub recall_threshold: Option<f64>,
    /// Maximum number of tokens for recalled turns in the prompt
    #[arg(long, env, global = true, default_value_t = DEFAULT_RECALL_TOKENS)]
    pub recall_tokens: usize,
    /// Whether the utility model picks which recalled turns are in the prompt: true or false
    #[arg(long, env, global = true, value_parser = clap::value_parser!(bool), action = clap::ArgAction::Set, default_value_t = false)]
    pub recall_rerank: bool,

    /// How long the audit is kept (who forgot, corrected, exported or changed what), in days
    #[arg(long, env, global = true, default_value_t = 365)]
    pub audit_days: u32,
    /// TOML file with settings for single channels (docs/operating.md, "Channel settings")
    #[arg(long, env, global = true)]
    pub channel_settings: Option<PathBuf>,
    /// Messages per minute that one person may send
    #[arg(long, env, global = true, default_value_t = 20)]
    pub messages_per_minute: u32,
    /// Maximum message length in characters
    #[arg(long, env, global = true, default_value_t = 20_000)]
    pub message_chars: usize,
    /// Maximum attachment size in bytes
    #[arg(long, env, global = true, default_value_t = 10_000_000)]
    pub attachment_bytes: usize,
    /// Maximum number of messages in the inbox
    #[arg(long, env, global = true, default_value_t = 256)]
    pub inbox_size: usize,
    /// Concurrent turns
    #[arg(long, env, global = true, default_value_t = 32)]
    pub turns_in_flight: usize,
    /// Time limit per turn, in seconds
    #[arg(long, env, global = true, default_value_t = 120)]
    pub turn_timeout: u64,
    /// Time limit for shutting down, in seconds; messages left unanswered are answered after the next start
    #[arg(long, env, global = true, default_value_t = 10)]
    pub shutdown_timeout: u64,

    /// On Slack and Discord, messages that were missed while the bot was down are answered up to this age, in seconds; 0: none
    #[arg(long, env, global = true, default_value_t = 86_400)]
    pub missed_messages_age: u64,

    /// Unix socket on which `muninn serve` accepts terminal clients; unset for none
    #[arg(long, env, global = true)]
    pub terminal_socket: Option<PathBuf>,
    /// Listen address for /healthz and /metrics, such as 127.0.0.1:9100; unset for none
    #[arg(long, env, global = true)]
    pub http_addr: Option<SocketAddr>,
    /// Listen address of the pages to look at, such as 127.0.0.1:8088; unset for none
    #[arg(long, env, global = true)]
    pub web_addr: Option<SocketAddr>,
    /// Address that people open them at, if a proxy stands before `WEB_ADDR`, such as `https://muninn.example.org`
    #[arg(long, env, global = true)]
    pub web_url: Option<String>,
    /// Listen address for programs that ask by the Model Context Protocol, such as 127.0.0.1:8089; unset for none
    #[arg(long, env, global = true)]
    pub mcp_addr: Option<SocketAddr>,
    /// Address that they ask at, if a proxy stands before `MCP_ADDR`, such as `https://mcp.example.org`
    #[arg(long, env, global = true)]
    pub mcp_url: Option<String>,
    #[command(flatten)]
    pub traces: TraceOptions,
    /// Log filter in the syntax of tracing's EnvFilter; unset for a default that fits the command
    #[arg(long, env, global = true)]
    pub log: Option<String>,
    /// Log format: text or json
    #[arg(long, env, global = true, value_enum, default_value_t = LogFormat::Text)]
    pub log_format: LogFormat,
}

/// Whether the model calls tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ModelTools {
    /// In the request where the service takes them, otherwise in words.
    Auto,
    /// It is too weak for that.
    None,
}

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    Text,
    Json,
}

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

/// Systems set this variable, too, to whatever their people speak: what the bot does not is no mistake.
fn language(names: &str) -> Result<Language, std::convert::Infallible> {
    Ok(Language::of_locales(names).unwrap_or_default())
}

fn time_zone(name: &str) -> Result<TimeZone, String> {
    let unknown = |_| "there is no such time zone; write one like Europe/Lisbon or UTC".to_owned();
    name.parse().map_err(unknown)
}

/// UTC where the machine does not say.
fn of_the_machine() -> TimeZone {
    let name = iana_time_zone::get_timezone().ok();
    name.and_then(|name| name.parse().ok())
        .unwrap_or(TimeZone::UTC)
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

/// What the graph reads back of a chain at once, less what waits for the summary.
const LONGEST_WINDOW: usize = 50;
/// The least prompt that still holds the instructions, a question and a little memory, in tokens.
const LEAST_PROMPT_TOKENS: u32 = 1_000;

impl Options {
    /// Checks the options as a whole.
    ///
    /// # Errors
    /// Names the variable that has to change.
    pub fn into_config(self) -> Result<Config, ConfigError> {
        self.check_numbers()?;
        let (data_dir, data_dir_reason) = data_dir::data_dir(self.data_dir.clone());
        let service = self.model(&data_dir);
        let embedding_model = filled(&self.embedding_model);
        if embedding_model.is_some() && service.is_none() {
            return Err(ConfigError::EmbeddingWithoutService);
        }
        let chain = models::chain(&self, service, &data_dir)?;
        Ok(Config {
            graph: self.graph(&data_dir)?,
            model: chain.first,
            fallbacks: chain.fallbacks,
            embedding_service: chain.embedding_service,
            embedding_model,
            model_prices: self.model_prices,
            budget: BudgetConfig {
                person: self.budget_person,
                channel: self.budget_channel,
                everyone: self.budget_total,
            },
            turn: TurnConfig {
                bot_name: self.bot_name,
                window_turns: self.window_turns,
                context_tokens: self.context_tokens,
                answer_tokens: self.answer_tokens,
                agent_max_rounds: self.agent_max_rounds,
                recall_rerank: self.recall_rerank,
                prompts_dir: self.prompts_dir.clone(),
                calls_no_tools: self.model_tools == ModelTools::None,
                timeout: Duration::from_secs(self.turn_timeout),
            },
            time_zone: self.time_zone.unwrap_or_else(of_the_machine),
            recall: RecallConfig {
                mode: self.recall_mode,
                threshold: self.recall_threshold,
                tokens: self.recall_tokens,
            },
            admission: AdmissionConfig {
                messages_per_minute: self.messages_per_minute,
                message_chars: self.message_chars,
                inbox_size: self.inbox_size,
                turns_in_flight: self.turns_in_flight,
            },
            attachments: AttachmentConfig {
                bytes: self.attachment_bytes,
                vision: self.model_vision,
            },
            audit_days: self.audit_days,
            channels: {
                let channels = match &self.channel_settings {
                    Some(path) => Channels::load(path)
                        .map_err(|error| ConfigError::Channels(in_one_line(&error)))?,
                    None => Channels::default(),
                };
                Arc::new(channels.speaking(self.language))
            },
            channels_file: self.channel_settings,
            sources_file: SourcesFile::new(self.sources_file, &data_dir),
            mcp_file: McpFile::new(self.mcp_file, &data_dir),
            data_dir,
            data_dir_reason,
            shutdown_timeout: Duration::from_secs(self.shutdown_timeout),
            missed_age: Duration::from_secs(self.missed_messages_age),
            prompts_dir: self.prompts_dir,
            terminal_socket: self.terminal_socket,
            http_addr: self.http_addr,
            traces: self.traces,
            web_url: filled(self.web_url.as_deref().unwrap_or_default()),
            web: public(
                self.web_addr,
                self.web_url.as_deref(),
                ("WEB_ADDR", "WEB_URL"),
            ),
            mcp: public(
                self.mcp_addr,
                self.mcp_url.as_deref(),
                ("MCP_ADDR", "MCP_URL"),
            ),
        })
    }

    fn check_numbers(&self) -> Result<(), ConfigError> {
        let least = [
            ("WINDOW_TURNS", self.window_turns, 1),
            ("ANSWER_TOKENS", self.answer_tokens as usize, 16),
            ("MESSAGES_PER_MINUTE", self.messages_per_minute as usize, 1),
            ("MESSAGE_CHARS", self.message_chars, 100),
            ("INBOX_SIZE", self.inbox_size, 1),
            ("TURNS_IN_FLIGHT", self.turns_in_flight, 1),
            ("MODEL_IN_FLIGHT", self.model_in_flight, 1),
            (
                "MODEL_REQUESTS_PER_MINUTE",
                self.model_requests_per_minute as usize,
                1,
            ),
            (
                "MODEL_REQUESTS_PER_PERSON",
                self.model_requests_per_person as usize,
                1,
            ),
            (
                "MODEL_TOKENS_PER_MINUTE",
                self.model_tokens_per_minute as usize,
                LEAST_PROMPT_TOKENS as usize,
            ),
            ("GRAPH_TIMEOUT", seconds(self.graph_timeout), 1),
            ("MODEL_TIMEOUT", seconds(self.model_timeout), 1),
            ("MODEL_WAIT", seconds(self.model_wait), 1),
            ("TURN_TIMEOUT", seconds(self.turn_timeout), 1),
            ("SHUTDOWN_TIMEOUT", seconds(self.shutdown_timeout), 1),
        ];
        for (name, value, least) in least {
            if value < least {
                return Err(ConfigError::TooSmall { name, value, least });
            }
        }
        if self.window_turns > LONGEST_WINDOW {
            return Err(ConfigError::TooLarge {
                name: "WINDOW_TURNS",
                value: self.window_turns,
                most: LONGEST_WINDOW,
            });
        }
        let least = self.answer_tokens.saturating_add(LEAST_PROMPT_TOKENS);
        if self.context_tokens < least {
            return Err(ConfigError::NoRoomForPrompt {
                context: self.context_tokens,
                answer: self.answer_tokens,
                least,
            });
        }
        Ok(())
    }

    fn graph(&self, data_dir: &Path) -> Result<GraphConfig, ConfigError> {
        let user = filled(&self.graph_user);
        let password = filled_secret(&self.graph_password);
        match (&user, &password) {
            (Some(_), None) => half_set("GRAPH_USER", "GRAPH_PASSWORD"),
            (None, Some(_)) => half_set("GRAPH_PASSWORD", "GRAPH_USER"),
            (Some(_), Some(_)) | (None, None) => Ok(GraphConfig {
                reader: self.graph_reader()?,
                user: user.unwrap_or_default(),
                password: password.unwrap_or_default(),
                database: filled(&self.graph_database),
                timeout: Duration::from_secs(self.graph_timeout),
                ..GraphConfig::at(
                    filled(&self.graph_url).unwrap_or_else(|| data_dir::graph_url(data_dir)),
                )
            }),
        }
    }

    fn graph_reader(&self) -> Result<Option<Reader>, ConfigError> {
        let user = filled(&self.graph_reader_user);
        let password = filled_secret(&self.graph_reader_password);
        match (user, password) {
            (Some(user), Some(password)) => Ok(Some(Reader { user, password })),
            (None, None) => Ok(None),
            (Some(_), None) => half_set("GRAPH_READER_USER", "GRAPH_READER_PASSWORD"),
            (None, Some(_)) => half_set("GRAPH_READER_PASSWORD", "GRAPH_READER_USER"),
        }
    }

    fn model(&self, data_dir: &Path) -> Option<ModelConfig> {
        let api_key = filled_secret(&self.openai_api_key);
        let base_url = filled(&self.openai_base_url);
        if api_key.is_none() && base_url.is_none() {
            return None;
        }
        let base_url = base_url.unwrap_or_else(|| "https://api.openai.com/v1".to_owned());
        let utility_model = filled(&self.utility_model);
        Some(self.model_at(data_dir, base_url, api_key, &self.chat_model, utility_model))
    }

    fn model_at(
        &self,
        data_dir: &Path,
        base_url: String,
        api_key: Option<SecretString>,
        model: &str,
        utility_model: Option<String>,
    ) -> ModelConfig {
        ModelConfig {
            base_url,
            api_key,
            chat_model: model.to_owned(),
            utility_model: utility_model.unwrap_or_else(|| model.to_owned()),
            sampling: Sampling {
                temperature: self.model_temperature,
                ..Sampling::default()
            },
            capabilities_file: Some(data_dir.join("models.json")),
            timeouts: Timeouts {
                read: Duration::from_secs(self.model_timeout),
                total: Duration::from_secs(self.turn_timeout),
                ..Timeouts::default()
            },
            retries: Retries::default(),
            limits: Limits {
                requests_per_minute: NonZeroU32::new(self.model_requests_per_minute),
                tokens_per_minute: NonZeroU32::new(self.model_tokens_per_minute),
                person_requests_per_minute: NonZeroU32::new(self.model_requests_per_person),
                in_flight: self.model_in_flight,
                longest_wait: Duration::from_secs(self.model_wait),
            },
        }
    }
}

fn half_set<T>(set: &'static str, missing: &'static str) -> Result<T, ConfigError> {
    Err(SettingsError::HalfSet { set, missing }.into())
}

fn seconds(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

fn temperature(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if (0.0..=2.0).contains(&value) => Ok(value),
        Ok(_) | Err(_) => Err("must be a number between 0 and 2".to_owned()),
    }
}

fn dollars(text: &str) -> Result<Money, String> {
    let amount = text.parse().ok().and_then(Money::of_dollars);
    amount.ok_or_else(|| "must be an amount of dollars, such as 20 or 2.50".to_owned())
}

fn threshold(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
        Ok(_) | Err(_) => Err("must be a number between 0 and 1".to_owned()),
    }
}

/// None where no address is set.
fn public(
    address: Option<SocketAddr>,
    url: Option<&str>,
    settings: (&'static str, &'static str),
) -> Option<PublicAddress> {
    let url = filled(url.unwrap_or_default());
    address.map(|address| PublicAddress {
        address,
        url: url.map(|url| url.trim_end_matches('/').to_owned()),
        settings,
    })
}

pub mod data_dir;
mod models;
mod names;
mod public_address;
#[cfg(test)]
mod tests;
mod traces;
