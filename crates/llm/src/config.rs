//! The settings for a model service.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;

use super::Sampling;
use crate::timeouts::Timeouts;

/// An OpenAI-compatible service and its configured models.
#[derive(Clone, Debug)]
pub struct ModelConfig {
    /// Includes the version, as in `https://api.openai.com/v1` or `http://127.0.0.1:11434/v1`.
    pub base_url: String,
    /// Optional for local services; without a key no `Authorization` header is sent.
    pub api_key: Option<SecretString>,
    pub chat_model: String,
    pub utility_model: String,
    /// The sampling, unless a request sets it.
    pub sampling: Sampling,
    /// The file for the models' capabilities; `None` if they are not stored.
    pub capabilities_file: Option<PathBuf>,
    pub timeouts: Timeouts,
    pub retries: Retries,
    pub limits: RateLimits,
}

impl ModelConfig {
    /// One model for everything, no key, and the default time-outs, retries and limits.
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        let model = model.into();
        Self {
            base_url: base_url.into(),
            api_key: None,
            chat_model: model.clone(),
            utility_model: model,
            sampling: Sampling::default(),
            capabilities_file: None,
            timeouts: Timeouts::default(),
            retries: Retries::default(),
            limits: RateLimits::default(),
        }
    }
}

/// When to retry.
#[derive(Clone, Copy, Debug)]
pub struct Retries {
    /// Maximum number of retries after the first attempt.
    pub max: usize,
    /// A service that asks for a longer pause (`Retry-After`) is given up at once.
    pub longest_wait: Duration,
}

impl Default for Retries {
    fn default() -> Self {
        Self {
            max: 2,
            longest_wait: Duration::from_secs(20),
        }
    }
}

/// The bot's own limits. `None` means no limit.
#[derive(Clone, Copy, Debug)]
pub struct RateLimits {
    /// Attempts of the whole bot.
    pub requests_per_minute: Option<NonZeroU32>,
    /// Tokens of the whole bot: the estimated prompt plus the answer's limit.
    pub tokens_per_minute: Option<NonZeroU32>,
    /// Attempts on behalf of one person.
    pub person_requests_per_minute: Option<NonZeroU32>,
    /// Concurrent calls, until their streams end.
    pub in_flight: usize,
    /// A caller that would wait longer for a permit gets an error at once.
    pub longest_wait: Duration,
}

impl Default for RateLimits {
    fn default() -> Self {
        Self {
            requests_per_minute: NonZeroU32::new(500),
            tokens_per_minute: NonZeroU32::new(500_000),
            person_requests_per_minute: NonZeroU32::new(30),
            in_flight: 16,
            longest_wait: Duration::from_secs(30),
        }
    }
}
