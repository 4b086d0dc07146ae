//! What one needs to know to reach a model service.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;

use super::Sampling;

/// An OpenAI-compatible service and the models asked there.
#[derive(Clone, Debug)]
pub struct ModelConfig {
    /// With the version, as in `https://api.openai.com/v1` or `http://127.0.0.1:11434/v1`.
    pub base_url: String,
    /// Local services need none; without one no `Authorization` header is sent.
    pub api_key: Option<SecretString>,
    pub chat_model: String,
    pub utility_model: String,
    /// How the models choose their words, where a request does not say.
    pub sampling: Sampling,
    /// Where it is kept what the models can do; none for nowhere.
    pub capabilities_file: Option<PathBuf>,
    pub timeouts: Timeouts,
    pub retries: Retries,
    pub limits: Limits,
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
            limits: Limits::default(),
        }
    }
}

/// How long to wait for a service.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// For a connection, TLS included.
    pub connect: Duration,
    /// For the next bytes: the first ones (a local model may have to be loaded) and those between two chunks.
    pub read: Duration,
    /// For the whole call: its waits, retries and stream.
    pub total: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            read: Duration::from_secs(60),
            total: Duration::from_secs(300),
        }
    }
}

/// When to ask again.
#[derive(Clone, Copy, Debug)]
pub struct Retries {
    /// Attempts after the first.
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

/// What the bot allows itself. `None` is without limit.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Attempts of the whole bot.
    pub requests_per_minute: Option<NonZeroU32>,
    /// Prompt (estimated) and the answer's limit, of the whole bot.
    pub tokens_per_minute: Option<NonZeroU32>,
    /// Attempts on behalf of one person.
    pub person_requests_per_minute: Option<NonZeroU32>,
    /// Calls in flight, until their streams end.
    pub in_flight: usize,
    /// Whoever would wait longer for a permit is told so at once.
    pub longest_wait: Duration,
}

impl Default for Limits {
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
