//! A call of a program, and what comes of it.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use governor::DefaultKeyedRateLimiter;
use muninn_platform::Channels;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::conversation::audit::Audit;
use crate::conversation::bot_connection::BotConnection;
use crate::conversation::readable::{NotReadable, ReadablePlaces};
use crate::conversation::tokens::Tokens;
use crate::graph::{GraphStore, StoreError};
use crate::knowledge::search::Searcher;
use crate::memory::{Archive, Recaller};

/// A call of a tool with its arguments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    pub tool: String,
    pub arguments: Map<String, Value>,
    /// Its trace, in the format of W3C Trace Context.
    #[serde(default)]
    pub traceparent: Option<String>,
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolOutcome {
    /// For a model to read.
    pub text: String,
    /// The same for a program; `None` for an error.
    pub structured: Option<Value>,
}

/// Why a call returned nothing, as a sentence for the caller.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    #[error("{0}")]
    Because(String),
    #[error(
        "this token is not valid: it was revoked, is too old, or never was one. Make a new one with `mcp token` in a chat with the bot"
    )]
    NoToken,
    #[error(
        "too many calls: at most {MAX_REQUESTS_PER_MINUTE} in a minute and {MOST_CALLS} together. Try again in a while"
    )]
    TooMany,
    #[error("the bot's memory cannot be reached right now. Try again later")]
    Away(#[source] StoreError),
    #[error(
        "the platform does not tell right now what you may read, so nothing is shown. Try again later"
    )]
    NotTold(#[source] NotReadable),
    #[error("the bot is ending. Try again when it is back")]
    Ending,
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Self {
        Self::Away(error)
    }
}

impl From<NotReadable> for Refused {
    fn from(error: NotReadable) -> Self {
        match error {
            NotReadable::Store(error) => Self::Away(error),
            NotReadable::NotTold(_) | NotReadable::NoMembership(_) => Self::NotTold(error),
        }
    }
}

/// The data that programs can query.
#[derive(Debug)]
pub struct McpData {
    pub store: Arc<GraphStore>,
    pub recaller: Arc<Recaller>,
    pub searcher: Arc<Searcher>,
    pub archive: Arc<Archive>,
    /// The settings of channels, which apply here too.
    pub channels: Arc<Channels>,
    pub audit: Audit,
    pub readable: ReadablePlaces,
    pub bot_connection: Arc<BotConnection>,
}

/// Handles the calls of programs.
#[derive(Debug)]
pub struct Mcp {
    pub(super) data: McpData,
    pub(super) tokens: Tokens,
    pub(super) requests: DefaultKeyedRateLimiter<String>,
    /// Number of running calls, by caller.
    pub(super) calls: Mutex<HashMap<String, usize>>,
}

/// Maximum requests per token: per minute, and in a burst.
pub(super) const MAX_REQUESTS_PER_MINUTE: NonZeroU32 = NonZeroU32::new(60).expect("60 is not 0");

pub(super) const MAX_REQUEST_BURST: NonZeroU32 = NonZeroU32::new(30).expect("30 is not 0");

/// Maximum concurrent calls per token.
pub(super) const MOST_CALLS: usize = 4;
