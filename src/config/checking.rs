//! Validates the options as a whole and makes a configuration of them.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use muninn_platform::{
    Channels, SettingsError, TimeZone, in_one_line, non_empty, non_empty_secret, one_line,
};
use secrecy::SecretString;

use super::{
    AdmissionConfig, AttachmentConfig, Config, ConfigError, ModelTools, Options, PublicAddress,
    RecallConfig, TurnConfig, data_dir, models,
};
use crate::agent::budget::BudgetConfig;
use crate::agent::mcp::McpFile;
use crate::graph::{GraphConfig, ReaderCredentials};
use crate::knowledge::origins::SourcesFile;
use crate::llm::{ModelConfig, RateLimits, Retries, Sampling, Timeouts};

/// The longest window: what the graph reads of a chain at once, minus the turns that wait for the
/// summary.
const LONGEST_WINDOW: usize = 50;
/// The shortest prompt that still has room for the instructions, a question and a little memory, in
/// tokens.
const LEAST_PROMPT_TOKENS: u32 = 1_000;

impl Options {
    /// Checks the options as a whole.
    ///
    /// # Errors
    /// Fails when the options are invalid; the error names the variable to change.
    pub fn into_config(self) -> Result<Config, ConfigError> {
        self.check_numbers()?;
        let (data_dir, data_dir_reason) = data_dir::data_dir(self.data_dir.clone());
        let service = self.model(&data_dir);
        let embedding_model = non_empty(&self.embedding_model);
        if embedding_model.is_some() && service.is_none() {
            return Err(ConfigError::EmbeddingWithoutService);
        }
        let chain = models::chain(&self, service, &data_dir)?;
        let graph = self.graph(&data_dir)?;
        let channels = self.channels()?;
        Ok(Config {
            turn: self.turn(),
            admission: self.admission(),
            graph,
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
            time_zone: self.time_zone.unwrap_or_else(of_the_machine),
            recall: RecallConfig {
                mode: self.recall_mode,
                threshold: self.recall_threshold,
                tokens: self.recall_tokens,
            },
            attachments: AttachmentConfig {
                bytes: self.attachment_bytes,
                vision: self.model_vision,
            },
            audit_days: self.audit_days,
            channels,
            channels_file: self.channel_settings,
            sources_file: SourcesFile::new(self.sources_file, &data_dir),
            mcp_file: McpFile::new(self.mcp_file, &data_dir),
            data_dir,
            has_graph_url: non_empty(&self.graph_url).is_some(),
            data_dir_reason,
            shutdown_timeout: Duration::from_secs(self.shutdown_timeout),
            missed_age: Duration::from_secs(self.missed_messages_age),
            prompts_dir: self.prompts_dir,
            terminal_socket: self.terminal_socket,
            http_addr: self.http_addr,
            traces: self.traces,
            web_url: non_empty(self.web_url.as_deref().unwrap_or_default()),
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

    /// As [`Options::into_config`], for whoever looks for what is wrong: channel settings that cannot be used are
    /// left out, and what is wrong with them is given back.
    ///
    /// # Errors
    /// Names the variable that has to change, of everything else.
    pub fn into_config_to_check(mut self) -> Result<(Config, Option<ConfigError>), ConfigError> {
        let wrong = self.channels().err();
        if wrong.is_some() {
            self.channel_settings = None;
        }
        Ok((self.into_config()?, wrong))
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

    fn turn(&self) -> TurnConfig {
        TurnConfig {
            bot_name: self.bot_name.clone(),
            window_turns: self.window_turns,
            context_tokens: self.context_tokens,
            answer_tokens: self.answer_tokens,
            agent_max_rounds: self.agent_max_rounds,
            recall_rerank: self.recall_rerank,
            prompts_dir: self.prompts_dir.clone(),
            calls_no_tools: self.model_tools == ModelTools::None,
            timeout: Duration::from_secs(self.turn_timeout),
        }
    }

    fn admission(&self) -> AdmissionConfig {
        AdmissionConfig {
            messages_per_minute: self.messages_per_minute,
            message_chars: self.message_chars,
            inbox_size: self.inbox_size,
            turns_in_flight: self.turns_in_flight,
        }
    }

    fn channels(&self) -> Result<Arc<Channels>, ConfigError> {
        let channels = match &self.channel_settings {
            Some(path) => {
                // The reader of TOML shows the place in several lines.
                let wrong = |error| ConfigError::Channels(one_line(&in_one_line(&error)));
                Channels::load(path).map_err(wrong)?
            }
            None => Channels::default(),
        };
        Ok(Arc::new(channels.with_default_language(self.language)))
    }

    fn graph(&self, data_dir: &Path) -> Result<GraphConfig, ConfigError> {
        let user = non_empty(&self.graph_user);
        let password = non_empty_secret(&self.graph_password);
        match (&user, &password) {
            (Some(_), None) => half_set("GRAPH_USER", "GRAPH_PASSWORD"),
            (None, Some(_)) => half_set("GRAPH_PASSWORD", "GRAPH_USER"),
            (Some(_), Some(_)) | (None, None) => Ok(GraphConfig {
                reader: self.graph_reader()?,
                user: user.unwrap_or_default(),
                password: password.unwrap_or_default(),
                database: non_empty(&self.graph_database),
                timeout: Duration::from_secs(self.graph_timeout),
                ..GraphConfig::at(
                    non_empty(&self.graph_url)
                        .unwrap_or_else(|| format!("embedded:{}", data_dir.display())),
                )
            }),
        }
    }

    fn graph_reader(&self) -> Result<Option<ReaderCredentials>, ConfigError> {
        let user = non_empty(&self.graph_reader_user);
        let password = non_empty_secret(&self.graph_reader_password);
        match (user, password) {
            (Some(user), Some(password)) => Ok(Some(ReaderCredentials { user, password })),
            (None, None) => Ok(None),
            (Some(_), None) => half_set("GRAPH_READER_USER", "GRAPH_READER_PASSWORD"),
            (None, Some(_)) => half_set("GRAPH_READER_PASSWORD", "GRAPH_READER_USER"),
        }
    }

    fn model(&self, data_dir: &Path) -> Option<ModelConfig> {
        let api_key = non_empty_secret(&self.openai_api_key);
        let base_url = non_empty(&self.openai_base_url);
        if api_key.is_none() && base_url.is_none() {
            return None;
        }
        let base_url = base_url.unwrap_or_else(|| "https://api.openai.com/v1".to_owned());
        let utility_model = non_empty(&self.utility_model);
        Some(self.model_at(data_dir, base_url, api_key, &self.chat_model, utility_model))
    }

    pub(super) fn model_at(
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
            limits: RateLimits {
                requests_per_minute: NonZeroU32::new(self.model_requests_per_minute),
                tokens_per_minute: NonZeroU32::new(self.model_tokens_per_minute),
                person_requests_per_minute: NonZeroU32::new(self.model_requests_per_person),
                in_flight: self.model_in_flight,
                longest_wait: Duration::from_secs(self.model_wait),
            },
        }
    }
}

/// The machine's time zone, or UTC if it is unknown.
fn of_the_machine() -> TimeZone {
    let name = iana_time_zone::get_timezone().ok();
    name.and_then(|name| name.parse().ok())
        .unwrap_or(TimeZone::UTC)
}

fn half_set<T>(set: &'static str, missing: &'static str) -> Result<T, ConfigError> {
    Err(SettingsError::HalfSet { set, missing }.into())
}

fn seconds(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

/// `None` if no address is set.
fn public(
    address: Option<SocketAddr>,
    url: Option<&str>,
    settings: (&'static str, &'static str),
) -> Option<PublicAddress> {
    let url = non_empty(url.unwrap_or_default());
    address.map(|address| PublicAddress {
        address,
        url: url.map(|url| url.trim_end_matches('/').to_owned()),
        settings,
    })
}
