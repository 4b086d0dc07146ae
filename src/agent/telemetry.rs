//! Spans of a turn, for traces: their names and attributes are those of OpenTelemetry's conventions for generative AI
//! (`gen_ai.*`, 0.1.0).
//!
//! They are spans of the `tracing` crate with their own target, [`SPAN_TARGET`]. If nobody exports them they cost one check of a
//! flag, and no log shows them. No attribute contains text of people or models, unless [`capture_content`] was called.

use std::sync::atomic::{AtomicBool, Ordering};

use muninn_platform::IncomingMessage;
use tracing::field::Empty;
use tracing::{Span, info_span};

pub use crate::graph::SPAN_TARGET;
use crate::graph::trace::ModelStep;

static CAPTURES_CONTENT: AtomicBool = AtomicBool::new(false);

/// Includes prompts, answers and tool arguments in traces.
pub fn capture_content() {
    CAPTURES_CONTENT.store(true, Ordering::Relaxed);
}

/// The whole path of a message from the adapter on. It continues the trace of its sender.
pub fn message(message: &IncomingMessage) -> Span {
    let platform = message.audience.platform.as_str();
    let span = info_span!(
        target: SPAN_TARGET, parent: None, "message",
        otel.name = format!("message {platform}"),
        otel.kind = "consumer",
        muninn.platform = platform,
        muninn.event.id = message.event.as_str(),
        gen_ai.conversation.id = message.conversation.as_str(),
    );
    #[cfg(feature = "otel")]
    if let Some(parent) = &message.traceparent {
        use tracing_opentelemetry::OpenTelemetrySpanExt as _;
        // Only a span that nobody exports has no parent.
        let _ = span.set_parent(context::of(parent));
    }
    span
}

/// Waiting for the conversation's earlier messages, or for a permit.
pub fn waiting(of: &'static str) -> Span {
    info_span!(target: SPAN_TARGET, "queue", otel.name = format!("queue {of}"))
}

/// From the turn's beginning to its delivery.
pub fn turn(bot: &str, message: &IncomingMessage) -> Span {
    info_span!(
        target: SPAN_TARGET, "invoke_agent",
        otel.name = format!("invoke_agent {bot}"),
        gen_ai.operation.name = "invoke_agent",
        gen_ai.agent.name = bot,
        gen_ai.conversation.id = message.conversation.as_str(),
    )
}

/// Reading the state with which a turn begins.
pub fn reading() -> Span {
    info_span!(target: SPAN_TARGET, "read")
}

/// Searching an audience's memory.
pub fn recall(message: &IncomingMessage) -> Span {
    info_span!(
        target: SPAN_TARGET, "search_memory",
        gen_ai.operation.name = "search_memory",
        gen_ai.memory.store.id = message.audience.id.as_str(),
        gen_ai.memory.record.count = Empty,
    )
}

/// Records how many memories were found.
pub fn recalled(span: &Span, count: usize) {
    span.record("gen_ai.memory.record.count", count);
}

/// Keeping a turn.
pub fn keep(message: &IncomingMessage) -> Span {
    info_span!(
        target: SPAN_TARGET, "create_memory",
        gen_ai.operation.name = "create_memory",
        gen_ai.memory.store.id = message.audience.id.as_str(),
        gen_ai.memory.record.count = 1,
    )
}

/// Delivering an answer to the platform.
pub fn delivery() -> Span {
    info_span!(target: SPAN_TARGET, "deliver", otel.kind = "producer")
}

/// A call of a model.
pub fn model(step: ModelStep, model: &str, max_tokens: u32) -> Span {
    info_span!(
        target: SPAN_TARGET, "chat",
        otel.name = format!("chat {model}"),
        otel.kind = "client",
        otel.status_code = Empty,
        gen_ai.operation.name = "chat",
        // That of the protocol: the company behind the address is unknown.
        gen_ai.provider.name = "openai",
        gen_ai.request.model = model,
        gen_ai.request.max_tokens = max_tokens,
        gen_ai.response.model = Empty,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        gen_ai.usage.cache_read.input_tokens = Empty,
        error.type = Empty,
        muninn.step = step.name(),
    )
}

/// A call of an existing tool; other names are a model's text.
pub fn tool(name: Option<&str>) -> Span {
    let name = name.unwrap_or("_OTHER");
    info_span!(
        target: SPAN_TARGET, "execute_tool",
        otel.name = format!("execute_tool {name}"),
        otel.status_code = Empty,
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = name,
        gen_ai.tool.type = "function",
        error.type = Empty,
    )
}

/// Marks a span as failed. `kind` names the failure, and contains no text of people.
pub fn failed(span: &Span, kind: &'static str) {
    span.record("otel.status_code", "ERROR");
    span.record("error.type", kind);
}

/// Adds text to a span, if capturing it is enabled.
pub fn content(span: &Span, name: &'static str, words: impl FnOnce() -> String) {
    if !CAPTURES_CONTENT.load(Ordering::Relaxed) || span.is_disabled() {
        return;
    }
    #[cfg(feature = "otel")]
    {
        use tracing_opentelemetry::OpenTelemetrySpanExt as _;
        span.set_attribute(name, words());
    }
    #[cfg(not(feature = "otel"))]
    let _ = (name, words);
}

#[cfg(feature = "otel")]
mod context {
    use std::collections::HashMap;

    use opentelemetry::Context;
    use opentelemetry::propagation::TextMapPropagator as _;
    use opentelemetry_sdk::propagation::TraceContextPropagator;

    /// Parses a `traceparent`; empty if it is invalid.
    pub(super) fn of(parent: &str) -> Context {
        let headers = HashMap::from([("traceparent".to_owned(), parent.to_owned())]);
        TraceContextPropagator::new().extract(&headers)
    }
}

#[cfg(all(test, feature = "otel"))]
mod tests {
    use opentelemetry::trace::TraceContextExt as _;

    use super::context;

    #[test]
    fn a_trace_goes_on_and_what_is_none_begins_none() {
        let said = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let parent = context::of(said).span().span_context().clone();
        assert!(parent.is_remote() && parent.is_sampled());
        assert_eq!(
            parent.trace_id().to_string(),
            "4bf92f3577b34da6a3ce929d0e0e4736"
        );
        assert_eq!(parent.span_id().to_string(), "00f067aa0ba902b7");
        for nonsense in ["", "00-0-0-0", "ff-é", &said[..30]] {
            let none = context::of(nonsense);
            assert!(!none.span().span_context().is_valid(), "{nonsense}");
        }
    }
}
