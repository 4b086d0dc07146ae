//! What programs ask for a person, by the Model Context Protocol: searching memory and knowledge, asking, noting.
//!
//! A program is let in by a [token](crate::conversation::tokens) of a person, or is one of the terminal's. It reads the places
//! that its token names, as far as that person may read them [at this moment](crate::conversation::readable); what it asks and
//! notes goes [the way of a message](crate::conversation::to_bot) and is kept where the person alone reads it. The protocol
//! itself is the `server`'s, over whatever a program comes by.

mod asking;
mod caller;
mod finding;
mod http;
mod places;
mod server;
mod tools;

use std::num::NonZeroU32;
use std::sync::Arc;

use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use muninn_platform::{Channels, Inbox};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::HashMap;

pub use self::caller::Caller;
pub use self::http::{PATH, serve};
pub use self::server::{CallsTools, ProgramServer};
pub use self::tools::TOOLS;
use crate::conversation::audit::Audit;
use crate::conversation::readable::{NotReadable, ReadablePlaces};
use crate::conversation::to_bot::{ToBot, Unheard};
use crate::conversation::tokens::Tokens;
use crate::graph::{GraphStore, StoreError};
use crate::knowledge::search::Searcher;
use crate::memory::{Archive, Recaller};

/// What a message came through that a program asks, and who has what is left over of these.
pub const NAME: &str = "mcp";

/// Requests of one token in a minute, and at once.
const A_MINUTE: NonZeroU32 = NonZeroU32::new(60).expect("60 is not 0");
const AT_ONCE: NonZeroU32 = NonZeroU32::new(30).expect("30 is not 0");
/// Calls of one token that are under way together.
const MOST_CALLS: usize = 4;

/// A tool that is called, with its arguments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    pub tool: String,
    pub arguments: Map<String, Value>,
    /// The trace that it is part of, as W3C Trace Context writes it.
    #[serde(default)]
    pub traceparent: Option<String>,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolOutcome {
    /// For a model to read.
    pub text: String,
    /// The same, for a program; none where it is an error.
    pub structured: Option<Value>,
}

impl ToolOutcome {
    fn of(text: String, structured: Value) -> Self {
        Self {
            text,
            structured: Some(structured),
        }
    }

    pub fn is_error(&self) -> bool {
        self.structured.is_none()
    }
}

/// Why a call gave nothing, in a sentence for whoever called.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    #[error("{0}")]
    Because(String),
    #[error(
        "this token is not valid: it was revoked, is too old, or never was one. Make a new one with `mcp token` in a chat with the bot"
    )]
    NoToken,
    #[error(
        "too many calls: at most {A_MINUTE} in a minute and {MOST_CALLS} together. Try again in a while"
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

/// What programs ask of.
#[derive(Debug)]
pub struct McpData {
    pub store: Arc<GraphStore>,
    pub recaller: Arc<Recaller>,
    pub searcher: Arc<Searcher>,
    pub archive: Arc<Archive>,
    /// What is set for channels holds here too.
    pub channels: Arc<Channels>,
    pub audit: Audit,
    pub readable: ReadablePlaces,
    pub to_bot: Arc<ToBot>,
}

/// Answers programs.
#[derive(Debug)]
pub struct Mcp {
    data: McpData,
    tokens: Tokens,
    requests: DefaultKeyedRateLimiter<String>,
    /// Calls under way, by caller.
    calls: Mutex<HashMap<String, usize>>,
}

impl Mcp {
    pub fn new(data: McpData) -> Self {
        Self {
            tokens: Tokens::new(Arc::clone(&data.store), data.audit.clone()),
            data,
            requests: RateLimiter::keyed(Quota::per_minute(A_MINUTE).allow_burst(AT_ONCE)),
            calls: Mutex::default(),
        }
    }

    /// Whoever has this token.
    ///
    /// # Errors
    /// When it lets nobody in, or the graph cannot be asked.
    pub async fn caller(&self, token: &str) -> Result<Caller, Refused> {
        let kept = self.tokens.check(token).await?;
        kept.map(Caller::of_token).ok_or(Refused::NoToken)
    }

    /// Counts a request; says whether it is one too many.
    pub fn is_too_much(&self, caller: &Caller) -> bool {
        let is_too_much = self.requests.check_key(&caller.key).is_err();
        // Those that were quiet since are dropped.
        self.requests.retain_recent();
        is_too_much
    }

    /// Calls a tool for somebody. Dropping it stops what is answered.
    pub async fn call(&self, caller: &Caller, call: ToolCall) -> ToolOutcome {
        let Some(_under_way) = UnderWay::begin(&self.calls, &caller.key) else {
            return refused(&Refused::TooMany);
        };
        let name = call.tool.clone();
        let outcome = tools::run(self, caller, call).await;
        let result = if outcome.is_ok() { "done" } else { "refused" };
        metrics::counter!("muninn_mcp_calls_total", "tool" => tool_label(&name), "outcome" => result)
            .increment(1);
        outcome.unwrap_or_else(|why| refused(&why))
    }

    /// Has answered, and kept, what programs asked of a process that was killed: whoever asks the same again gets it.
    pub async fn answer_unheard(inbox: &Inbox) {
        if inbox.deliver_left_over(NAME, &Unheard).await.is_ok() {
            inbox.follow_left_over(NAME, &Unheard).await;
        }
    }

    /// From now on nothing is asked of the bot any more: it ends when nobody has a way to it.
    pub fn close(&self) {
        self.data.to_bot.close();
    }
}

/// What is counted: what a program makes up is no name.
fn tool_label(name: &str) -> &'static str {
    let known = TOOLS.iter().find(|it| **it == name);
    known.copied().unwrap_or("unknown")
}

/// What a program is told instead of what it wanted.
pub fn refused(why: &Refused) -> ToolOutcome {
    match why {
        Refused::Away(error) => {
            let error = error as &dyn std::error::Error;
            tracing::warn!(error, "a program's call failed");
        }
        Refused::NotTold(error) => {
            let error = error as &dyn std::error::Error;
            tracing::warn!(error, "a program's call failed");
        }
        Refused::Because(_) | Refused::NoToken | Refused::TooMany | Refused::Ending => {}
    }
    ToolOutcome {
        text: why.to_string(),
        structured: None,
    }
}

/// A call under way.
struct UnderWay<'a> {
    calls: &'a Mutex<HashMap<String, usize>>,
    key: &'a str,
}

impl<'a> UnderWay<'a> {
    /// None where there are too many.
    fn begin(calls: &'a Mutex<HashMap<String, usize>>, key: &'a str) -> Option<Self> {
        let mut all = calls.lock();
        let count = all.entry(key.to_owned()).or_default();
        if *count >= MOST_CALLS {
            return None;
        }
        *count += 1;
        drop(all);
        Some(Self { calls, key })
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let mut all = self.calls.lock();
        if let Some(count) = all.get_mut(self.key) {
            *count -= 1;
            if *count == 0 {
                all.remove(self.key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_caller_has_a_few_calls_under_way_and_no_other_waits_for_them() {
        let calls = Mutex::default();
        let mut held: Vec<UnderWay<'_>> = Vec::new();
        for _ in 0..MOST_CALLS {
            held.extend(UnderWay::begin(&calls, "ann"));
        }
        assert_eq!(held.len(), MOST_CALLS);
        assert!(UnderWay::begin(&calls, "ann").is_none());
        assert!(UnderWay::begin(&calls, "bob").is_some());
        held.pop();
        assert!(UnderWay::begin(&calls, "ann").is_some());
        held.clear();
        assert!(calls.lock().is_empty());
    }
}
