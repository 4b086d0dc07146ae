//! Approved tool calls: makes the call, reports the result and keeps it as a turn.

use std::sync::Arc;
use std::time::Instant;

use chrono::Utc;
use muninn_platform::{
    AudienceId, IncomingMessage, LinkHosts, Reply, ShownItem, excerpt, one_line,
};
use muninn_texts::{Language, text};

use super::TurnRunner;
use crate::agent::tools::{OutsideResponse, OutsideTool, ProposedCall};
use crate::graph::session::SessionGuard;
use crate::graph::trace::{ToolUse, Trace};
use crate::graph::{NewTurn, ResponseId, Source, Trust, Turn};
use crate::llm::millis;
use crate::memory::TurnSaveOutcome;

/// Maximum number of lines and characters of a call's result that are shown.
const LINES: usize = 30;
const CHARACTERS: usize = 2_000;

/// Shows the buttons with which the reader of an answer approves or declines its proposed call.
pub(super) fn offer(reply: &mut dyn Reply, answer: ResponseId, call: Option<&ProposedCall>) {
    if let Some(call) = call {
        reply.offer_items(&[ShownItem {
            number: 0,
            id: answer.0.to_string(),
            version: call.version(),
        }]);
    }
}

impl TurnRunner {
    /// The outside tools that are available in a channel.
    pub(super) async fn outside_tools(&self, channel: &AudienceId) -> Vec<Arc<dyn OutsideTool>> {
        let mut outside = self.toolbox.outside(channel);
        outside.extend(self.mcp.offered_in(channel).await);
        outside
    }

    /// Makes an approved call, and returns its result in words.
    pub async fn make_agreed(
        &self,
        channel: &AudienceId,
        call: &ProposedCall,
        language: Language,
    ) -> (String, ToolUse) {
        let began = Instant::now();
        let answered = self.call_agreed(channel, call, language).await;
        let used = ToolUse {
            name: call.tool.clone(),
            arguments: call.arguments.clone(),
            found: answered.error.is_none().then_some(answered.lines.len()),
            error: answered.error.clone(),
            ms: millis(began.elapsed()),
            ..ToolUse::default()
        };
        // The text comes from somebody else, so its links are shown as plain text.
        (
            LinkHosts::default().limit(&told(&call.tool, &answered, language)),
            used,
        )
    }

    async fn call_agreed(
        &self,
        channel: &AudienceId,
        call: &ProposedCall,
        language: Language,
    ) -> OutsideResponse {
        let outside = self.outside_tools(channel).await;
        let is_allowed = self.kind(channel).await.allows(&call.tool);
        let tool = outside.iter().find(|tool| tool.spec().name == call.tool);
        let Some(tool) = tool.filter(|_| is_allowed) else {
            return OutsideResponse::failed(text!("call-not-offered").in_language(language));
        };
        match tool.checked(&call.arguments) {
            Ok(arguments) => tool.call(&arguments).await,
            Err(why) => OutsideResponse::failed(why),
        }
    }

    /// Keeps the result as a turn of the conversation, so that the next answer knows of it.
    pub async fn keep_agreed(
        &self,
        guard: &SessionGuard,
        message: &IncomingMessage,
        id: ResponseId,
        (said, used): (&str, ToolUse),
    ) -> TurnSaveOutcome {
        let input = format!("Yes: {} {}", used.name, excerpt(&used.arguments));
        let session = message.conversation.as_str();
        let turn = Turn {
            id,
            created_at: Utc::now(),
            source: Source::Model,
            output: said.to_owned(),
            event: message.event.as_str().to_owned(),
            author_name: message.author.name.clone(),
            // With the trust, this tells it from what a model wrote ([`Turn::is_call_result`]).
            model: None,
            volatile: true,
            embedding: self.recaller.embed_exchange(said).await,
            duration_ms: used.ms,
            trust: Trust::Tool,
            ..Turn::note(session, &message.author.id, &input)
        };
        let turn = NewTurn {
            recalls_also: Vec::new(),
            audience: message.audience.clone(),
            turn,
            context: Vec::new(),
            recalled: Vec::new(),
            trace: Trace {
                tools: vec![used],
                ..Trace::default()
            },
            asked_at: Some(message.sent_at),
        };
        self.archive.keep(guard, &turn).await
    }
}

/// The result of a call, quoted.
fn told(tool: &str, answered: &OutsideResponse, language: Language) -> String {
    let OutsideResponse { lines, error } = answered;
    let heading = match error {
        None => text!("call-done", tool),
        Some(why) => text!("call-failed", tool, error = one_line(why)),
    };
    let mut text = heading.in_language(language);
    let mut characters = 0;
    for (number, line) in lines.iter().enumerate() {
        let line = one_line(line);
        characters += line.chars().count();
        if number == LINES || characters > CHARACTERS {
            let more = text!("call-more", count = lines.len() - number);
            text.push_str("\n> ");
            text.push_str(&more.in_language(language));
            break;
        }
        text.push_str("\n> ");
        text.push_str(&line);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_of_a_call_is_quoted_and_bounded() {
        let answered = OutsideResponse {
            lines: vec!["number: 7".to_owned(), "a\n\nb".to_owned()],
            error: None,
        };
        assert_eq!(
            told("add", &answered, Language::English),
            "Done: `add`.\n> number: 7\n> a b"
        );
        let failed = OutsideResponse::failed("no answer within 5 s");
        assert_eq!(
            told("add", &failed, Language::English),
            "I tried `add`, and it failed: no answer within 5 s."
        );
        let long = OutsideResponse {
            lines: vec!["x".to_owned(); 100],
            error: None,
        };
        assert!(told("add", &long, Language::English).ends_with("\n> … and 70 more"));
    }
}
