//! What can be typed or exported, and how each value is read.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser as _};
use muninn_platform::{Language, TimeZone};
use secrecy::SecretString;

use super::TraceOptions;
use crate::llm::Money;
use crate::memory::{DEFAULT_RECALL_TOKENS, RecallMode};

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
    /// Time-out for requests to a Neo4j, in seconds. A statement of the embedded graph may take at least a minute, and is
    /// waited for up to ten minutes longer
    #[arg(long, env, global = true, default_value_t = 5)]
    pub graph_timeout: u64,
    /// Folder for the embedded graph, pending messages, offline turns, sessions and terminal history; unset for ./muninn-data if it is there, otherwise the system's folder for data
    #[arg(long, env, global = true, value_parser = OsStringValueParser::new().try_map(folder))]
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
    /// Tokens per minute to the model service, for the whole bot; at least 1000
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

    /// TOML file with prices of models, which replace the built-in ones model by model
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
    /// Latest turns of the conversation that are always in the prompt: 1 to 50
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
    /// Minimum probability (or cosine) for an earlier exchange to be recalled; unset for the best ones, about 500 tokens, and in the mode cosine for 0.45, which fits the built-in embedder alone
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

/// Systems set this variable too, to their users' language, so an unsupported one is not an error.
fn language(names: &str) -> Result<Language, std::convert::Infallible> {
    Ok(Language::of_locales(names).unwrap_or_default())
}

/// A folder. `~` is expanded by shells only, and no shell reads the settings file.
fn folder(path: OsString) -> Result<PathBuf, &'static str> {
    let path = PathBuf::from(path);
    match path.starts_with("~") {
        true => Err("begins with ~, which only shells know; write the whole path"),
        false => Ok(path),
    }
}

fn time_zone(name: &str) -> Result<TimeZone, String> {
    let unknown = |_| "there is no such time zone; write one like Europe/Lisbon or UTC".to_owned();
    name.parse().map_err(unknown)
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
