//! The server's replies.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Semaphore;

/// Holds a stream before each chunk but the first, until the test lets it continue.
#[derive(Clone, Debug)]
pub struct Gate(Arc<Semaphore>);

impl Gate {
    pub fn closed() -> Self {
        Self(Arc::new(Semaphore::new(0)))
    }

    /// Lets the next chunk pass.
    pub fn pass_one(&self) {
        self.0.add_permits(1);
    }

    /// Lets everything pass from now on.
    pub fn open(&self) {
        self.0.add_permits(Semaphore::MAX_PERMITS / 2);
    }

    pub(super) async fn pass(&self) {
        self.0.acquire().await.unwrap().forget();
    }
}

#[derive(Clone, Debug)]
pub(super) enum ReplyKind {
    /// Deltas, and how it finishes.
    Stream {
        deltas: Vec<Value>,
        finish: String,
    },
    /// Lines as they are.
    Events(Vec<String>),
    Refusal {
        status: u16,
        body: String,
    },
    /// No response, until the client disconnects.
    Hang,
}

/// A reply; create it with one of the constructors, then modify it.
#[derive(Clone, Debug)]
pub struct Reply {
    pub(super) kind: ReplyKind,
    pub(super) headers: Vec<(String, String)>,
    pub(super) gate: Option<Gate>,
    pub(super) first_after: Duration,
    pub(super) each_after: Duration,
    pub(super) cut_after: Option<usize>,
    usage: Option<(u32, u32)>,
    cached: u32,
}

impl Reply {
    /// Replies with a text, streamed in words.
    pub fn text(text: &str) -> Self {
        Self::chunks(text.split_inclusive(' '))
    }

    /// Replies with a text, streamed in these pieces.
    pub fn chunks<'a>(chunks: impl IntoIterator<Item = &'a str>) -> Self {
        let chunks = chunks.into_iter();
        Self::deltas(chunks.map(|text| json!({ "content": text })), "stop")
    }

    /// Replies with tool calls, each in several deltas, as OpenAI sends them.
    pub fn calls(calls: &[(&str, Value)]) -> Self {
        let mut deltas = Vec::new();
        for (index, (name, arguments)) in calls.iter().enumerate() {
            let id = format!("call_{index}_{name}");
            let begin = json!({ "index": index, "id": id, "type": "function",
                "function": { "name": name, "arguments": "" } });
            deltas.push(json!({ "tool_calls": [begin] }));
            let arguments: Vec<char> = arguments.to_string().chars().collect();
            for part in arguments.chunks(7) {
                let part: String = part.iter().collect();
                let part = json!({ "index": index, "function": { "arguments": part } });
                deltas.push(json!({ "tool_calls": [part] }));
            }
        }
        Self::deltas(deltas, "tool_calls")
    }

    /// Replies with these deltas, for what a service should not send but does.
    pub fn deltas(deltas: impl IntoIterator<Item = Value>, finish: &str) -> Self {
        Self::of(ReplyKind::Stream {
            deltas: deltas.into_iter().collect(),
            finish: finish.to_owned(),
        })
    }

    /// Replies with these lines of a stream, including `data: `.
    pub fn events<'a>(lines: impl IntoIterator<Item = &'a str>) -> Self {
        Self::of(ReplyKind::Events(
            lines.into_iter().map(str::to_owned).collect(),
        ))
    }

    /// A refusal as OpenAI words it.
    pub fn refusal(status: u16, code: &str, message: &str) -> Self {
        let error = json!({ "message": message, "type": code, "param": null, "code": code });
        Self::body(status, &json!({ "error": error }).to_string())
    }

    /// A refusal with any body.
    pub fn body(status: u16, body: &str) -> Self {
        Self::of(ReplyKind::Refusal {
            status,
            body: body.to_owned(),
        })
    }

    /// Sends nothing, until the client disconnects.
    pub fn hang() -> Self {
        Self::of(ReplyKind::Hang)
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Counts tokens in a last chunk, when the request asks for it. Without it, none are counted.
    pub fn usage(mut self, prompt: u32, completion: u32) -> Self {
        self.usage = Some((prompt, completion));
        self
    }

    /// Counts so many prompt tokens as cached.
    pub fn cached(mut self, cached: u32) -> Self {
        self.cached = cached;
        self
    }

    /// Another reason to finish: `length`, `content_filter`…
    pub fn finish(mut self, reason: &str) -> Self {
        if let ReplyKind::Stream { finish, .. } = &mut self.kind {
            reason.clone_into(finish);
        }
        self
    }

    /// Waits at the gate before each chunk but the first.
    pub fn paused(mut self, gate: &Gate) -> Self {
        self.gate = Some(gate.clone());
        self
    }

    /// Sends the first chunk after so long, as a model that reads its prompt slowly.
    pub fn late(mut self, first_after: Duration) -> Self {
        self.first_after = first_after;
        self
    }

    /// Sends each chunk but the first so long after the one before it, as a model that writes slowly.
    pub fn trickling(mut self, each_after: Duration) -> Self {
        self.each_after = each_after;
        self
    }

    /// Closes the connection after this many chunks.
    pub fn cut_after(mut self, chunks: usize) -> Self {
        self.cut_after = Some(chunks);
        self
    }

    fn of(kind: ReplyKind) -> Self {
        Self {
            kind,
            headers: Vec::new(),
            gate: None,
            first_after: Duration::ZERO,
            each_after: Duration::ZERO,
            cut_after: None,
            usage: None,
            cached: 0,
        }
    }

    /// Returns the complete response, for a request without streaming.
    pub(super) fn whole(&self, request: &Value) -> Value {
        let (deltas, finish) = match &self.kind {
            ReplyKind::Stream { deltas, finish } => (deltas.as_slice(), finish.as_str()),
            ReplyKind::Events(_) | ReplyKind::Refusal { .. } | ReplyKind::Hang => (&[][..], "stop"),
        };
        let texts = deltas.iter().filter_map(|delta| delta["content"].as_str());
        let calls = deltas
            .iter()
            .filter_map(|delta| delta["tool_calls"].as_array());
        let calls: Vec<&Value> = calls.flatten().collect();
        let mut message = json!({ "role": "assistant", "content": texts.collect::<String>() });
        if !calls.is_empty() {
            message["tool_calls"] = json!(calls);
        }
        json!({ "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": request["model"],
            "choices": [{ "index": 0, "message": message, "finish_reason": finish }],
            "usage": { "prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2 } })
    }

    /// The lines of the stream.
    pub(super) fn lines(&self, request: &Value) -> Vec<String> {
        let (deltas, finish) = match &self.kind {
            ReplyKind::Stream { deltas, finish } => (deltas, finish),
            ReplyKind::Events(lines) => return lines.clone(),
            ReplyKind::Refusal { .. } | ReplyKind::Hang => return Vec::new(),
        };
        let chunk = |choices: Value, usage: Value| {
            let chunk = json!({ "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1,
                "model": request["model"], "choices": choices, "usage": usage });
            format!("data: {chunk}\n\n")
        };
        let choice = |delta: &Value, finish: Value| json!([{ "index": 0, "delta": delta, "finish_reason": finish }]);
        let mut lines: Vec<String> = deltas
            .iter()
            .map(|delta| chunk(choice(delta, Value::Null), Value::Null))
            .collect();
        lines.push(chunk(
            choice(&json!({}), finish.as_str().into()),
            Value::Null,
        ));
        if let Some((prompt, completion)) = self.usage
            && request["stream_options"]["include_usage"] == true
        {
            let usage = json!({ "prompt_tokens": prompt, "completion_tokens": completion,
                "total_tokens": prompt + completion,
                "prompt_tokens_details": { "cached_tokens": self.cached } });
            lines.push(chunk(json!([]), usage));
        }
        lines.push("data: [DONE]\n\n".to_owned());
        lines
    }
}
