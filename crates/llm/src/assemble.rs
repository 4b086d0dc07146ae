//! Assembles a completion from the chunks of a stream. Pure.
//!
//! It reads chunks as JSON, not as the client crate's types: services omit IDs and indexes, send whole tool calls at
//! once, repeat names, invent finish reasons and add fields.

use serde_json::Value;

use super::refusal::ServiceErrorResponse;
use super::text_calls::{calls_in, is_cut_call};
use super::visible::{Piece, Visible};
use super::{ChatRequest, Completion, ModelError, ToolCall, Usage, tokens};

/// Maximum bytes of text and arguments in an answer; far above any token limit in use.
const MOST_BYTES: usize = 4 * 1024 * 1024;
/// Maximum number of tool calls in an answer.
const MOST_CALLS: usize = 64;

/// An answer so far.
#[derive(Debug, Default)]
pub(super) struct Assembler {
    text: Visible,
    tools: Recognised,
    /// The model reasoned in a separate field.
    reasoned: bool,
    /// Everything visible so far turned out to be reasoning.
    reasoned_at_once: bool,
    calls: Vec<PartialCall>,
    bytes: usize,
    /// Bytes of text, reasoning and calls.
    arrived: usize,
    /// The answer comes in pieces.
    has_deltas: bool,
    model: String,
    usage: Option<Usage>,
    finish: Option<String>,
}

#[derive(Debug)]
struct PartialCall {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

/// The tools whose calls are recognised in a text.
#[derive(Debug, Default)]
pub(super) struct Recognised {
    names: Vec<String>,
    /// They were offered to the model. A call of any others is only left out.
    are_offered: bool,
}

impl Recognised {
    pub(super) fn of(request: &ChatRequest) -> Self {
        let offered = request.tools.iter().map(|tool| tool.name.clone());
        let offered: Vec<String> = offered.collect();
        match offered.is_empty() {
            true => Self {
                names: request.known_tools.clone(),
                are_offered: false,
            },
            false => Self {
                names: offered,
                are_offered: true,
            },
        }
    }
}

/// How an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Whole,
    /// At the limit of the answer or of the context.
    Truncated,
    Withheld,
    /// The service gave up.
    Failed,
}

impl Ending {
    /// Services invent reasons, so an unknown one is a good end.
    fn of(finish: &str) -> Self {
        let finish = finish.to_ascii_lowercase();
        // Google puts its own reason behind the general one, or sends it alone.
        let finish = finish.split(':').next().unwrap_or_default();
        match finish {
            // Mistral, Google, Zhipu
            "length" | "model_length" | "max_tokens" | "model_context_window_exceeded" => {
                Self::Truncated
            }
            // The first is OpenAI's, the others are Google's.
            "content_filter" | "safety" | "recitation" | "blocklist" | "prohibited_content"
            | "spii" | "language" => Self::Withheld,
            // OpenRouter, vLLM and SGLang, DeepSeek, Zhipu
            "error" | "abort" | "insufficient_system_resource" | "network_error" => Self::Failed,
            // Google, whose models wrote a call that it could not read
            "function_call_filter" | "malformed_function_call" | "unexpected_tool_call" => {
                Self::Failed
            }
            _ => Self::Whole,
        }
    }
}

impl Assembler {
    pub(super) fn new(tools: Recognised, reasons_at_once: bool) -> Self {
        Self {
            text: Visible::new(!tools.names.is_empty(), reasons_at_once),
            tools,
            ..Self::default()
        }
    }

    /// Adds a chunk, and returns its visible part.
    pub(super) fn add_chunk(&mut self, chunk: &Value) -> Result<Piece, ModelError> {
        if let Some(error) = error_in(chunk) {
            // A stream begins with status 200; later errors are the service's.
            let status = status_in(error).unwrap_or(500);
            let refusal = ServiceErrorResponse::from_json(status, chunk);
            return Err(refusal.into_error(&self.model));
        }
        if let Some(model) = chunk["model"].as_str()
            && self.model.is_empty()
        {
            model.clone_into(&mut self.model);
        }
        let choice = &chunk["choices"][0];
        // The fields of OpenAI, Moonshot and Groq.
        let usage = [&chunk["usage"], &choice["usage"], &chunk["x_groq"]["usage"]];
        self.usage = usage.into_iter().find_map(read_usage).or(self.usage);
        // Some services send an empty one, or the word "null", with every chunk before the last.
        let finish = choice["finish_reason"].as_str();
        if let Some(finish) = finish.filter(|finish| !matches!(*finish, "" | "null")) {
            self.finish = Some(finish.to_owned());
        }
        let delta = choice.get("delta").filter(|delta| !delta.is_null());
        let delta = match delta {
            Some(delta) => delta,
            // MiniMax ends a stream with all that its deltas brought.
            None if self.has_deltas => &Value::Null,
            // Some services send the whole message instead of a delta.
            None => &choice["message"],
        };
        self.has_deltas |= choice["delta"].is_object();
        let (mut text, reasoned) = read_content(&delta["content"]);
        text.push_str(delta["refusal"].as_str().unwrap_or_default());
        self.reasoned |= reasoned;
        self.arrived += usize::from(reasoned);
        self.grow(text.len())?;
        let piece = self.text.filter_piece(&text);
        self.reasoned_at_once |= matches!(piece, Piece::Instead(_));
        let reasoning = [&delta["reasoning_content"], &delta["reasoning"]];
        // Gateways to Bedrock send an object with the text.
        let length = |it: &Value| it.as_str().or_else(|| it["text"].as_str()).map(str::len);
        let reasoning = reasoning.into_iter().filter_map(length);
        let reasoning = reasoning.sum::<usize>();
        self.reasoned |= reasoning > 0;
        self.arrived += reasoning;
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            self.take_call(call)?;
        }
        Ok(piece)
    }

    /// Marks an answer that arrived as a whole as finished, although the service does not say so.
    pub(super) fn mark_finished(&mut self) {
        self.finish.get_or_insert_with(|| "stop".to_owned());
    }

    pub(super) fn reasoned_at_once(&self) -> bool {
        self.reasoned_at_once
    }

    /// Whether the service reported the end.
    pub(super) fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    /// How much the model has written, visible or not.
    pub(super) fn arrived(&self) -> usize {
        self.arrived
    }

    /// The complete answer. `prompt` is the estimate to use if the service does not count tokens.
    pub(super) fn finish(self, model: &str, prompt: u32) -> Result<Completion, ModelError> {
        let Some(finish) = self.finish else {
            return Err(ModelError::CutOff);
        };
        let ending = Ending::of(&finish);
        if ending == Ending::Failed {
            return Err(ModelError::CutOff);
        }
        let truncated = ending == Ending::Truncated;
        let has_called = !self.calls.is_empty();
        let mut tool_calls = whole_calls(self.calls, truncated);
        let whole = self.text.finish();
        let reasoned = self.reasoned || whole.reasoned;
        let wrote_nothing = whole.text.trim().is_empty() && !has_called;
        let (mut text, calls_at) = if truncated && whole.is_open {
            (String::new(), None)
        } else {
            (whole.text, whole.calls_at)
        };
        let names: Vec<&str> = self.tools.names.iter().map(String::as_str).collect();
        if tool_calls.is_empty()
            && let Some((before, written)) = calls_in(&text, calls_at, &names)
        {
            text = before;
            if self.tools.are_offered {
                tool_calls = written;
            }
        } else if truncated && is_cut_call(&text, &names) {
            text.clear();
        }
        let withheld = ending == Ending::Withheld;
        if withheld && text.is_empty() {
            return Err(ModelError::Refused("its content filter".to_owned()));
        }
        let usage = self.usage.unwrap_or_else(|| Usage {
            prompt,
            cached: 0,
            completion: tool_calls
                .iter()
                .fold(tokens::estimate(&text), |sum, call| {
                    sum + tokens::estimate(&call.name) + tokens::estimate(&call.arguments)
                }),
        });
        if text.trim().is_empty() && tool_calls.is_empty() {
            // OpenAI's and Google's models do not show their reasoning, which counts for the limit, too.
            if reasoned || whole.is_open || (truncated && wrote_nothing) {
                return Err(ModelError::OnlyReasoned(usage));
            }
            if !truncated {
                return Err(ModelError::BadAnswer("an empty answer".to_owned()));
            }
        }
        Ok(Completion {
            text,
            tool_calls,
            model: if self.model.is_empty() {
                model.to_owned()
            } else {
                self.model
            },
            usage,
            configured: model.to_owned(),
            failed: Vec::new(),
            truncated,
            withheld,
        })
    }

    fn take_call(&mut self, delta: &Value) -> Result<(), ModelError> {
        let index = delta["index"].as_u64();
        let id = delta["id"].as_str().unwrap_or_default();
        let function = &delta["function"];
        let name = function["name"].as_str().unwrap_or_default();
        let arguments = match &function["arguments"] {
            Value::String(arguments) => arguments.clone(),
            Value::Null => String::new(),
            // Some services send the object itself.
            object => object.to_string(),
        };
        self.grow(id.len() + name.len() + arguments.len())?;
        let call = match self.continued(index, id, name) {
            Some(at) => &mut self.calls[at],
            None => self.begin(index)?,
        };
        if call.id.is_empty() {
            id.clone_into(&mut call.id);
        }
        if call.name != name {
            call.name.push_str(name);
        }
        call.arguments.push_str(&arguments);
        Ok(())
    }

    /// The call that a delta continues. Ollama gives several calls the same index, and other services none.
    fn continued(&self, index: Option<u64>, id: &str, name: &str) -> Option<usize> {
        let at = match index {
            Some(_) => self.calls.iter().rposition(|call| call.index == index),
            None if !id.is_empty() => self.calls.iter().rposition(|call| call.id == id),
            None => self.calls.len().checked_sub(1),
        }?;
        let call = &self.calls[at];
        // Some services make up an ID for each delta, but every call begins with a name.
        let other_id = !name.is_empty() && !id.is_empty() && !call.id.is_empty() && call.id != id;
        let whole_already = id.is_empty()
            && !name.is_empty()
            && serde_json::from_str::<Value>(&call.arguments).is_ok_and(|value| value.is_object());
        (!other_id && !whole_already).then_some(at)
    }

    fn begin(&mut self, index: Option<u64>) -> Result<&mut PartialCall, ModelError> {
        if self.calls.len() == MOST_CALLS {
            return Err(ModelError::BadAnswer(format!(
                "over {MOST_CALLS} tool calls"
            )));
        }
        self.calls.push(PartialCall {
            index,
            id: String::new(),
            name: String::new(),
            arguments: String::new(),
        });
        let last = self.calls.len() - 1;
        Ok(&mut self.calls[last])
    }

    fn grow(&mut self, by: usize) -> Result<(), ModelError> {
        self.bytes += by;
        self.arrived += by;
        if self.bytes > MOST_BYTES {
            return Err(ModelError::BadAnswer(format!("over {MOST_BYTES} bytes")));
        }
        Ok(())
    }
}

/// The error in a chunk. Older versions of vLLM, and what is made like them, send it without a name.
fn error_in(chunk: &Value) -> Option<&Value> {
    let named = chunk.get("error").filter(|error| !error.is_null());
    named.or_else(|| (chunk["object"] == "error").then_some(chunk))
}

/// The HTTP status that an error names: a number, or as `LiteLLM` sends it, a number as text.
fn status_in(error: &Value) -> Option<u16> {
    let status = |told: &Value| {
        let number = told.as_u64().and_then(|number| u16::try_from(number).ok());
        let status = number.or_else(|| told.as_str()?.parse().ok())?;
        (400..600).contains(&status).then_some(status)
    };
    // The second one is Groq's.
    [&error["code"], &error["status_code"]]
        .into_iter()
        .find_map(status)
}

/// The visible text of a content, and whether it has reasoning, too. Mistral's reasoning models send a list of parts, and
/// Cloudflare sends a number for a text that is one.
fn read_content(content: &Value) -> (String, bool) {
    let mut text = match content {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Array(_) | Value::Object(_) | Value::Bool(_) | Value::Null => String::new(),
    };
    let mut reasoned = false;
    for part in content.as_array().into_iter().flatten() {
        match part["type"].as_str() {
            Some("text") => text.push_str(part["text"].as_str().unwrap_or_default()),
            Some("thinking" | "reasoning") => reasoned = true,
            Some(_) | None => {}
        }
    }
    (text, reasoned)
}

/// Gives each call a unique ID. The last call of a truncated answer is dropped if it is incomplete.
fn whole_calls(calls: Vec<PartialCall>, truncated: bool) -> Vec<ToolCall> {
    let mut whole: Vec<ToolCall> = Vec::with_capacity(calls.len());
    for (n, call) in calls.into_iter().enumerate() {
        if call.name.is_empty()
            || (truncated && serde_json::from_str::<Value>(&call.arguments).is_err())
        {
            continue;
        }
        let taken = call.id.is_empty() || whole.iter().any(|other| other.id == call.id);
        whole.push(ToolCall {
            id: if taken {
                format!("call_{n}_{}", call.id)
            } else {
                call.id
            },
            name: call.name,
            arguments: if call.arguments.trim().is_empty() {
                "{}".to_owned()
            } else {
                call.arguments
            },
        });
    }
    whole
}

fn read_usage(usage: &Value) -> Option<Usage> {
    let count = |count: &Value| u32::try_from(count.as_u64()?).ok();
    let prompt = count(&usage["prompt_tokens"])?;
    // The fields of OpenAI, DeepSeek, Moonshot and Anthropic.
    let cached = [
        &usage["prompt_tokens_details"]["cached_tokens"],
        &usage["prompt_cache_hit_tokens"],
        &usage["cached_tokens"],
        &usage["cache_read_input_tokens"],
    ];
    let cached = cached.into_iter().find_map(count).unwrap_or(0);
    let completion = count(&usage["completion_tokens"]).unwrap_or(0);
    // Google and xAI count the reasoning in the total alone, and bill it as written.
    let beyond_prompt = count(&usage["total_tokens"]).map_or(0, |all| all.saturating_sub(prompt));
    Some(Usage {
        prompt,
        completion: completion.max(beyond_prompt),
        cached: cached.min(prompt),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// Names, arguments and ids of the calls that these deltas make.
    fn calls(deltas: &[Value]) -> Vec<(String, String, String)> {
        let mut assembler = Assembler::default();
        for delta in deltas {
            let chunk = json!({ "choices": [{ "delta": { "tool_calls": [delta] } }] });
            assembler.add_chunk(&chunk).unwrap();
        }
        assembler
            .add_chunk(&json!({ "choices": [{ "delta": {}, "finish_reason": "tool_calls" }] }))
            .unwrap();
        let calls = assembler.finish("m", 0).unwrap().tool_calls.into_iter();
        calls
            .map(|call| (call.name, call.arguments, call.id))
            .collect()
    }

    fn call(name: &str, arguments: &str, id: &str) -> (String, String, String) {
        (name.to_owned(), arguments.to_owned(), id.to_owned())
    }

    #[test]
    fn cached_tokens_are_counted_wherever_they_stand() {
        for (usage, cached) in [
            (json!({"prompt_tokens": 9, "completion_tokens": 1}), 0),
            (
                json!({"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 8}}),
                8,
            ),
            (
                json!({"prompt_tokens": 9, "prompt_tokens_details": null, "cached_tokens": 7}),
                7,
            ),
            (json!({"prompt_tokens": 9, "prompt_cache_hit_tokens": 6}), 6),
            (
                json!({"prompt_tokens": 9, "cache_read_input_tokens": 50}),
                9,
            ),
        ] {
            assert_eq!(read_usage(&usage).unwrap().cached, cached, "{usage}");
        }
    }

    #[test]
    fn tokens_are_counted_wherever_they_stand() {
        let usage = json!({"prompt_tokens": 19, "completion_tokens": 13});
        for chunk in [
            json!({"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": usage}),
            json!({"choices": [{"delta": {}, "finish_reason": "stop", "usage": usage}], "usage": null}),
            json!({"choices": [{"delta": {}, "finish_reason": "stop"}], "x_groq": {"id": "r", "usage": usage}}),
        ] {
            let mut assembler = Assembler::default();
            let text = json!({ "choices": [{ "delta": { "content": "Hello." } }] });
            assembler.add_chunk(&text).unwrap();
            assembler.add_chunk(&chunk).unwrap();
            let usage = assembler.finish("m", 0).unwrap().usage;
            assert_eq!((usage.prompt, usage.completion), (19, 13), "{chunk}");
        }
    }

    #[test]
    fn reasoning_is_known_as_text_and_as_an_object_with_text() {
        for delta in [
            json!({"reasoning_content": "Hm."}),
            json!({"reasoning": "Hm."}),
            json!({"reasoning_content": {"text": "Hm."}}),
        ] {
            let mut assembler = Assembler::default();
            let chunk = json!({ "choices": [{ "delta": delta, "finish_reason": "stop" }] });
            assembler.add_chunk(&chunk).unwrap();
            let answer = assembler.finish("m", 0);
            assert!(
                matches!(answer, Err(ModelError::OnlyReasoned(_))),
                "{chunk}: {answer:?}"
            );
        }
    }

    #[test]
    fn a_number_that_is_no_text_is_shown() {
        let mut assembler = Assembler::default();
        for content in [json!("See ["), json!(1), json!("], it costs $"), json!(0.5)] {
            let chunk = json!({ "choices": [{ "delta": { "content": content } }] });
            assembler.add_chunk(&chunk).unwrap();
        }
        assembler.mark_finished();
        let answer = assembler.finish("m", 0).unwrap();
        assert_eq!(answer.text, "See [1], it costs $0.5");
    }

    #[test]
    fn an_error_within_a_stream_has_the_status_that_it_names() {
        for (chunk, name) in [
            (
                json!({"object": "error", "message": "m", "type": "BadRequestError", "code": 400}),
                "Refused",
            ),
            (
                json!({"object": "error", "message": "maximum context length is 8 tokens", "code": 400}),
                "ContextTooLong",
            ),
            (
                json!({"error": {"message": "m", "code": "429"}}),
                "RateLimited",
            ),
            (
                json!({"error": {"message": "m", "code": 402}}),
                "QuotaExhausted",
            ),
            (
                json!({"error": {"message": "m", "code": "c", "status_code": 400}}),
                "Refused",
            ),
            (json!({"error": {"message": "m", "code": 40303}}), "Failed"),
            (json!({"error": "m", "error_type": "overloaded"}), "Failed"),
        ] {
            let error = Assembler::default().add_chunk(&chunk).unwrap_err();
            let error = format!("{error:?}");
            assert!(error.starts_with(name), "{chunk}: {error}");
        }
    }

    #[test]
    fn a_call_is_one_call_if_each_delta_has_an_id_of_its_own() {
        let deltas = [
            json!({"index": 0, "id": "a1", "function": {"name": "f", "arguments": ""}}),
            json!({"index": 0, "id": "a2", "function": {"name": null, "arguments": "{\"x\""}}),
            json!({"index": 0, "id": "a3", "function": {"arguments": ": 1}"}}),
            json!({"index": 1, "id": "b1", "function": {"name": "g", "arguments": "{}"}}),
        ];
        assert_eq!(
            calls(&deltas),
            [call("f", "{\"x\": 1}", "a1"), call("g", "{}", "b1")]
        );
    }

    #[test]
    fn reasoning_that_only_the_total_has_is_counted_as_written() {
        for (usage, completion) in [
            (
                json!({"prompt_tokens": 21, "completion_tokens": 0, "total_tokens": 81}),
                60,
            ),
            (
                json!({"prompt_tokens": 30, "completion_tokens": 10, "total_tokens": 340,
                    "completion_tokens_details": {"reasoning_tokens": 300}}),
                310,
            ),
            (
                json!({"prompt_tokens": 30, "completion_tokens": 310, "total_tokens": 340,
                    "completion_tokens_details": {"reasoning_tokens": 300}}),
                310,
            ),
            (
                json!({"prompt_tokens": 30, "completion_tokens": 10, "total_tokens": 30}),
                10,
            ),
            (json!({"prompt_tokens": 30, "completion_tokens": 10}), 10),
        ] {
            assert_eq!(
                read_usage(&usage).unwrap().completion,
                completion,
                "{usage}"
            );
        }
    }

    #[test]
    fn deltas_of_two_calls_may_alternate() {
        let got = calls(&[
            json!({ "index": 0, "id": "a", "function": { "name": "f", "arguments": "" } }),
            json!({ "index": 1, "id": "b", "function": { "name": "g", "arguments": "{\"y\"" } }),
            json!({ "index": 0, "function": { "arguments": "{\"x\":1}" } }),
            json!({ "index": 1, "function": { "arguments": ":2}" } }),
        ]);
        assert_eq!(
            got,
            [call("f", "{\"x\":1}", "a"), call("g", "{\"y\":2}", "b")]
        );
    }

    #[test]
    fn whole_calls_that_share_an_index_stay_apart() {
        let with_ids = ["a", "b"].map(
            |id| json!({ "index": 0, "id": id, "function": { "name": "f", "arguments": "{}" } }),
        );
        assert_eq!(
            calls(&with_ids),
            [call("f", "{}", "a"), call("f", "{}", "b")]
        );
        let without =
            [(); 2].map(|()| json!({ "index": 0, "function": { "name": "f", "arguments": {} } }));
        assert_eq!(
            calls(&without),
            [call("f", "{}", "call_0_"), call("f", "{}", "call_1_")]
        );
    }

    #[test]
    fn index_name_and_id_may_be_missing_or_repeated() {
        let no_index = [
            json!({ "id": "a", "function": { "name": "f", "arguments": "{\"x\"" } }),
            json!({ "function": { "arguments": ":1}" } }),
            json!({ "id": "b", "function": { "name": "g" } }),
        ];
        assert_eq!(
            calls(&no_index),
            [call("f", "{\"x\":1}", "a"), call("g", "{}", "b")]
        );
        let repeated = [
            json!({ "index": 0, "id": "a", "function": { "name": "f", "arguments": "{\"x\"" } }),
            json!({ "index": 0, "id": "a", "function": { "name": "f", "arguments": ":1}" } }),
        ];
        assert_eq!(calls(&repeated), [call("f", "{\"x\":1}", "a")]);
        let same_id = [0, 1].map(|index| json!({ "index": index, "id": "a", "function": { "name": "f", "arguments": "{}" } }));
        assert_eq!(
            calls(&same_id),
            [call("f", "{}", "a"), call("f", "{}", "call_1_a")]
        );
    }

    #[test]
    fn a_message_after_its_pieces_is_not_taken_twice() {
        let call = json!({ "index": 0, "id": "a", "function": { "name": "f", "arguments": "{}" } });
        let whole = json!({ "content": "At six.", "tool_calls": [call] });
        let last =
            json!({ "choices": [{ "finish_reason": "stop", "delta": null, "message": whole }] });
        let mut told = Assembler::default();
        for piece in [
            json!({ "content": "At " }),
            json!({ "content": "six." }),
            json!({ "tool_calls": [call] }),
        ] {
            told.add_chunk(&json!({ "choices": [{ "delta": piece }] }))
                .unwrap();
        }
        told.add_chunk(&last).unwrap();
        let mut at_once = Assembler::default();
        at_once.add_chunk(&last).unwrap();
        for assembler in [told, at_once] {
            let answer = assembler.finish("m", 1).unwrap();
            assert_eq!(answer.text, "At six.");
            let called = answer.tool_calls.iter();
            let called = called.map(|call| (call.name.as_str(), call.arguments.as_str()));
            assert_eq!(called.collect::<Vec<_>>(), [("f", "{}")]);
        }
    }

    #[test]
    fn an_empty_finish_reason_is_no_end() {
        for reason in [json!(""), json!("null"), json!(null)] {
            let chunk =
                json!({ "choices": [{ "finish_reason": reason, "delta": { "content": "a" } }] });
            let mut assembler = Assembler::default();
            assembler.add_chunk(&chunk).unwrap();
            assert!(!assembler.is_finished(), "{reason}");
            let last = json!({ "choices": [{ "finish_reason": "stop", "delta": {} }] });
            let mut whole = Assembler::default();
            for chunk in [&chunk, &last, &chunk] {
                whole.add_chunk(chunk).unwrap();
            }
            assert_eq!(whole.finish("m", 1).unwrap().text, "aa");
            let cut = assembler.finish("m", 1);
            assert!(matches!(cut, Err(ModelError::CutOff)), "{reason}: {cut:?}");
        }
    }

    #[test]
    fn reasons_for_an_end_have_their_kinds() {
        for (reason, ending) in [
            ("stop", Ending::Whole),
            ("tool_calls", Ending::Whole),
            ("eos_token", Ending::Whole),
            ("length", Ending::Truncated),
            ("model_length", Ending::Truncated),
            ("MAX_TOKENS", Ending::Truncated),
            ("content_filter", Ending::Withheld),
            ("content_filter: RECITATION", Ending::Withheld),
            ("RECITATION", Ending::Withheld),
            ("SAFETY", Ending::Withheld),
            ("PROHIBITED_CONTENT", Ending::Withheld),
            ("MALFORMED_FUNCTION_CALL", Ending::Failed),
            (
                "function_call_filter: MALFORMED_FUNCTION_CALL",
                Ending::Failed,
            ),
            ("error", Ending::Failed),
            ("abort", Ending::Failed),
            ("insufficient_system_resource", Ending::Failed),
        ] {
            let mut assembler = Assembler::default();
            let chunk =
                json!({ "choices": [{ "finish_reason": reason, "delta": { "content": "Half" } }] });
            assembler.add_chunk(&chunk).unwrap();
            let answer = assembler.finish("m", 1);
            let seen = match &answer {
                Ok(answer) if answer.truncated => Ending::Truncated,
                Ok(answer) if answer.withheld => Ending::Withheld,
                Ok(_) => Ending::Whole,
                Err(ModelError::CutOff) => Ending::Failed,
                Err(error) => panic!("{reason}: {error}"),
            };
            assert_eq!(seen, ending, "{reason}");
        }
    }

    #[test]
    fn an_answer_that_is_withheld_from_its_beginning_is_refused() {
        for reason in ["content_filter", "SAFETY"] {
            let mut assembler = Assembler::default();
            let chunk = json!({ "choices": [{ "finish_reason": reason, "delta": {} }] });
            assembler.add_chunk(&chunk).unwrap();
            let refused = assembler.finish("m", 1);
            assert!(
                matches!(refused, Err(ModelError::Refused(_))),
                "{reason}: {refused:?}"
            );
        }
    }

    #[test]
    fn a_call_that_was_truncated_is_left_out() {
        let mut assembler = Assembler::default();
        let chunk = json!({ "choices": [{ "finish_reason": "length", "delta": { "tool_calls": [
            { "index": 0, "id": "a", "function": { "name": "f", "arguments": "{\"x\"" } }] } }] });
        assembler.add_chunk(&chunk).unwrap();
        let answer = assembler.finish("m", 7).unwrap();
        assert!(answer.truncated && answer.tool_calls.is_empty());
        assert_eq!(answer.usage.prompt, 7);
    }

    #[test]
    fn a_call_in_json_that_was_truncated_is_no_text() {
        let cut = r#"{"name": "f", "arguments": {"x": "a lo"#;
        let people = r#"{"name": "Ada", "born": 18"#;
        for (text, reason, left) in [
            (cut, "length", ""),
            (people, "length", people),
            // A whole answer is as the model wants it.
            (cut, "stop", cut),
        ] {
            for are_offered in [true, false] {
                let names = vec!["f".to_owned()];
                let mut assembler = Assembler::new(Recognised { names, are_offered }, false);
                let chunk = json!({ "choices": [{ "finish_reason": reason, "delta": { "content": text } }] });
                let shown = assembler.add_chunk(&chunk).unwrap();
                assert!(shown.is_empty(), "{text}");
                let answer = assembler.finish("m", 0).unwrap();
                assert_eq!((answer.text.as_str(), answer.tool_calls.len()), (left, 0));
            }
        }
    }

    #[test]
    fn a_call_of_a_tool_that_is_not_offered_is_left_out_of_the_text() {
        let call = r#"{"name": "f", "parameters": {"x": 1}}"#;
        let other = r#"{"name": "g", "parameters": {"x": 1}}"#;
        let fenced = format!("```json\n{call}\n```");
        for (text, known, left) in [
            (call, &["f"][..], None),
            (&fenced, &["f"], None),
            (call, &[], Some(call)),
            (other, &["f"], Some(other)),
        ] {
            let tools = Recognised {
                names: known.iter().map(|&name| name.to_owned()).collect(),
                are_offered: false,
            };
            let mut assembler = Assembler::new(tools, false);
            let chunk = json!({ "choices": [{ "delta": { "content": text } }] });
            let shown = assembler.add_chunk(&chunk).unwrap();
            assert!(left.is_some() || shown.is_empty(), "{text}");
            assembler.mark_finished();
            let answer = assembler.finish("m", 0);
            match (left, &answer) {
                (Some(left), Ok(answer)) => assert_eq!(answer.text, left),
                (None, Err(ModelError::BadAnswer(_))) => {}
                (Some(_) | None, _) => panic!("{text}: {answer:?}"),
            }
        }
    }

    #[test]
    fn an_answer_without_bounds_is_refused() {
        let chunk = json!({ "choices": [{ "delta": { "content": "x".repeat(1 << 20) } }] });
        let mut assembler = Assembler::default();
        let taken: Vec<_> = (0..5)
            .map(|_| assembler.add_chunk(&chunk).is_ok())
            .collect();
        assert_eq!(taken, [true, true, true, true, false]);
        let mut many = Assembler::default();
        let taken = (0..=MOST_CALLS).map(|n| {
            many.add_chunk(&json!({ "choices": [{ "delta": { "tool_calls": [{ "index": n }] } }] }))
        });
        assert!(taken.last().unwrap().is_err());
    }

    fn json_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "\\PC{0,8}".prop_map(Value::from),
        ];
        let key = prop_oneof![
            Just("choices"),
            Just("delta"),
            Just("message"),
            Just("content"),
            Just("tool_calls"),
            Just("function"),
            Just("index"),
            Just("id"),
            Just("name"),
            Just("arguments"),
            Just("usage"),
            Just("error"),
            Just("finish_reason"),
            Just("prompt_tokens"),
        ];
        leaf.prop_recursive(6, 64, 6, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::hash_map(key.clone(), inner, 0..6).prop_map(|map| {
                    map.into_iter()
                        .map(|(key, value)| (key.to_owned(), value))
                        .collect()
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn no_chunk_makes_it_panic(chunks in prop::collection::vec(json_value(), 0..5)) {
            let mut assembler = Assembler::default();
            if chunks.iter().all(|chunk| assembler.add_chunk(chunk).is_ok()) {
                let _ = assembler.finish("m", 0);
            }
        }
    }
}
