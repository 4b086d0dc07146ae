//! The MCP server for people's programs: it searches memory and knowledge, asks questions and keeps notes by the Model Context
//! Protocol.
//!
//! A program needs a [token](crate::conversation::tokens) of a person, or runs at the terminal. It reads the places that its
//! token names, as far as that person may read them [at this moment](crate::conversation::readable). Its questions and notes
//! are handled [like messages](crate::conversation::bot_connection), and kept where the person alone reads them. The module `server`
//! implements the protocol, over any transport.

mod asking;
mod call;
mod caller;
mod finding;
mod http;
mod places;
mod server;
mod token_lookups;
mod tools;

use std::sync::Arc;

use governor::{Quota, RateLimiter};
use muninn_platform::Inbox;
use parking_lot::Mutex;
use serde_json::Value;
use std::collections::HashMap;

pub use self::call::{Mcp, McpData, Refused, ToolCall, ToolOutcome};
pub use self::caller::Caller;
pub use self::http::{PATH, serve};
pub use self::server::{ProgramServer, ToolCaller};
pub use self::tools::TOOLS;
use crate::conversation::bot_connection::DiscardingReply;
use crate::conversation::tokens::Tokens;
use call::{MAX_REQUEST_BURST, MAX_REQUESTS_PER_MINUTE, MOST_CALLS};

/// Marks messages of programs, and is the platform of their left-over messages.
pub const NAME: &str = "mcp";

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

impl Mcp {
    pub fn new(data: McpData) -> Self {
        Self {
            tokens: Tokens::new(Arc::clone(&data.store), data.audit.clone()),
            data,
            requests: RateLimiter::keyed(
                Quota::per_minute(MAX_REQUESTS_PER_MINUTE).allow_burst(MAX_REQUEST_BURST),
            ),
            calls: Mutex::default(),
        }
    }

    /// Returns the owner of this token.
    ///
    /// # Errors
    /// Fails when it is not valid, or the graph cannot be read.
    pub async fn caller(&self, token: &str) -> Result<Caller, Refused> {
        let kept = self.tokens.check(token).await?;
        kept.map(Caller::of_token).ok_or(Refused::NoToken)
    }

    /// Counts a request. Returns whether it exceeds the limit.
    pub fn is_too_much(&self, caller: &Caller) -> bool {
        self.is_too_much_of(&caller.key)
    }

    /// As [`Mcp::is_too_much`], for the caller with this key.
    fn is_too_much_of(&self, key: &str) -> bool {
        let is_too_much = self.requests.check_key(&key.to_owned()).is_err();
        // Drops callers that were inactive since.
        self.requests.retain_recent();
        is_too_much
    }

    /// Calls a tool for a caller. Dropping it stops a running answer.
    pub async fn call(&self, caller: &Caller, call: ToolCall) -> ToolOutcome {
        let Some(_under_way) = RunningCall::begin(&self.calls, &caller.key) else {
            return refused(&Refused::TooMany);
        };
        let name = call.tool.clone();
        let outcome = match tools::run(self, caller, call).await {
            // A call takes minutes, and who revokes a token wants nothing more to be read with it.
            Ok(_) if self.was_revoked(caller).await => Err(Refused::NoToken),
            outcome => outcome,
        };
        let result = if outcome.is_ok() { "done" } else { "refused" };
        metrics::counter!("muninn_mcp_calls_total", "tool" => tool_label(&name), "outcome" => result)
            .increment(1);
        outcome.unwrap_or_else(|why| refused(&why))
    }

    /// Whether the caller's token is no longer valid. While the graph is away nobody can revoke it.
    async fn was_revoked(&self, caller: &Caller) -> bool {
        match &caller.token {
            Some(hash) => matches!(self.tokens.is_valid(hash).await, Ok(false)),
            None => false,
        }
    }

    /// Answers and keeps the questions that programs asked a process which was killed. Whoever asks the same again gets the
    /// answer.
    pub async fn answer_unheard(inbox: &Inbox) {
        if inbox
            .deliver_left_over(NAME, &DiscardingReply)
            .await
            .is_ok()
        {
            inbox.follow_left_over(NAME, &DiscardingReply).await;
        }
    }

    /// Sends nothing to the bot any more, which ends when nobody can send to it.
    pub fn close(&self) {
        self.data.bot_connection.close();
    }
}

/// The label for metrics: a name that a program invents is not used.
fn tool_label(name: &str) -> &'static str {
    let known = TOOLS.iter().find(|it| **it == name);
    known.copied().unwrap_or("unknown")
}

/// The result that reports a refusal to a program.
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

/// A running call.
struct RunningCall<'a> {
    calls: &'a Mutex<HashMap<String, usize>>,
    key: &'a str,
}

impl<'a> RunningCall<'a> {
    /// `None` if there are too many.
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

impl Drop for RunningCall<'_> {
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
        let mut held: Vec<RunningCall<'_>> = Vec::new();
        for _ in 0..MOST_CALLS {
            held.extend(RunningCall::begin(&calls, "ann"));
        }
        assert_eq!(held.len(), MOST_CALLS);
        assert!(RunningCall::begin(&calls, "ann").is_none());
        assert!(RunningCall::begin(&calls, "bob").is_some());
        held.pop();
        assert!(RunningCall::begin(&calls, "ann").is_some());
        held.clear();
        assert!(calls.lock().is_empty());
    }
}
