//! Tool calls written as text, and the description of tools in the prompt for services without tool support. Pure.
//!
//! Forms: Hermes and Qwen (`<tool_call>{…}</tool_call>`, also `<function=f><parameter=p>…`), Llama (`<|python_tag|>{…}`,
//! JSON bare or in a fence, `<function=f>{…}</function>`), Mistral (`[TOOL_CALLS][{…}]`, `[TOOL_CALLS]f[ARGS]{…}`),
//! `DeepSeek` (`<｜tool▁call▁begin｜>function<｜tool▁sep｜>f` and JSON in a fence, later `<｜DSML｜invoke name="f">`), GLM
//! (`<tool_call>f<arg_key>p</arg_key><arg_value>…`), Kimi (`<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{…}`),
//! Anthropic (`<invoke name="f"><parameter name="p">…`).

use serde_json::{Map, Value, json};

use super::visible::{CALLS, begins_as_objects};
use super::{ToolCall, ToolSpec};

/// Maximum number of calls read from one text.
const MAX_CALLS: usize = 16;

/// The text before the calls, and the calls. `marked` is the position of the first call mark, if there is one. `names`
/// are those of the tools: bare JSON is a call only if it has one. `None` if the text contains no call.
pub(super) fn calls_in(
    text: &str,
    marked: Option<usize>,
    names: &[&str],
) -> Option<(String, Vec<ToolCall>)> {
    if let Some((before, calls)) = marked.and_then(|at| text.split_at_checked(at)) {
        let marked = calls;
        let calls = numbered(marked_calls(marked, names));
        if calls.is_empty() && is_mention(before, marked) {
            return None;
        }
        return Some((before.trim_end().to_owned(), calls));
    }
    let bare = super::structured::code_in(text);
    if begins_as_objects(bare) != Some(true) {
        return None;
    }
    let mut calls = Vec::new();
    for value in json_values(bare) {
        collect(&value, &mut calls);
    }
    let are_named =
        !calls.is_empty() && calls.iter().all(|(name, _)| names.contains(&name.as_str()));
    are_named.then(|| (String::new(), numbered(calls)))
}

/// Whether a text that was cut off is the beginning of a call in bare JSON: it names a tool, or was about to.
pub(super) fn is_cut_call(text: &str, names: &[&str]) -> bool {
    let bare = super::structured::code_in(text);
    if begins_as_objects(bare) != Some(true) {
        return false;
    }
    let named = bare.match_indices(':').find_map(|(at, _)| {
        let (_, key) = bare[..at].trim_end().strip_suffix('"')?.rsplit_once('"')?;
        let is_name = key == "function" || NAME_KEYS.contains(&key);
        let value = bare[at + 1..].trim_start().strip_prefix('"');
        value.filter(|_| is_name)
    });
    named.is_some_and(|name| match name.split_once('"') {
        Some((name, _)) => names.contains(&name),
        None => !name.is_empty() && names.iter().any(|it| it.starts_with(name)),
    })
}

/// The keys under which calls in JSON have the name of the tool.
const NAME_KEYS: [&str; 3] = ["name", "tool", "tool_name"];

type Call = (String, Value);

fn numbered(calls: Vec<Call>) -> Vec<ToolCall> {
    let calls = calls.into_iter().take(MAX_CALLS).enumerate();
    calls
        .map(|(number, (name, arguments))| ToolCall {
            id: format!("call_{number}"),
            name,
            arguments: match arguments {
                // Whoever reads the arguments reports that they are not JSON.
                Value::String(text) => text,
                other => other.to_string(),
            },
        })
        .collect()
}

/// Whether a text only speaks of a call mark: a sentence goes on behind it. What looks like a call that cannot be read is
/// none.
fn is_mention(before: &str, marked: &str) -> bool {
    let lower = marked.to_ascii_lowercase();
    let behind = CALLS.iter().find_map(|mark| lower.strip_prefix(mark));
    let behind = behind.unwrap_or_default().trim_start();
    let goes_on =
        |sign: char| sign.is_alphanumeric() || ".,;:!?)'\u{2019}\u{201d}\"".contains(sign);
    !before.trim().is_empty() && behind.starts_with(goes_on) && behind.contains(char::is_whitespace)
}

/// The calls of a text that begins with a mark.
fn marked_calls(text: &str, names: &[&str]) -> Vec<Call> {
    let text = &text.replace("｜DSML｜", "");
    let mut calls = Vec::new();
    if text.contains("<invoke name=") {
        let parts = text.split("<invoke name=").skip(1);
        return parts.filter_map(invoked).collect();
    }
    if text.contains("<|tool_call_argument_begin|>") {
        let parts = text.split("<|tool_call_begin|>").skip(1);
        return parts.filter_map(section_call).collect();
    }
    if text.contains("<function=") {
        for part in text.split("<function=").skip(1) {
            calls.extend(function_call(part));
        }
        return calls;
    }
    if text.contains("<｜tool▁sep｜>") {
        for part in text.split("<｜tool▁sep｜>").skip(1) {
            let (name, rest) = part.split_once('\n').unwrap_or((part, ""));
            let arguments = json_values(rest).into_iter().next();
            calls.push((name.trim().to_owned(), arguments.unwrap_or(json!({}))));
        }
        return calls;
    }
    for value in json_values(text) {
        collect(&value, &mut calls);
    }
    if calls.is_empty() {
        calls.extend(named_before(text));
    }
    if calls.is_empty() || text.contains("<arg_key>") {
        let parts = text.split("<tool_call>").skip(1);
        let keyed: Vec<Call> = parts.filter_map(|part| keyed_call(part, names)).collect();
        if !keyed.is_empty() {
            return keyed;
        }
    }
    calls
}

/// `"f"><parameter name="a">1</parameter></invoke>`.
fn invoked(part: &str) -> Option<Call> {
    let (name, rest) = quoted_name(part)?;
    let body = rest.split("</invoke>").next().unwrap_or_default();
    let mut arguments = Map::new();
    for parameter in body.split("<parameter name=").skip(1) {
        if let Some((key, value)) = quoted_name(parameter) {
            let value = value.split("</parameter>").next().unwrap_or_default();
            arguments.insert(key, written_value(value));
        }
    }
    Some((name, Value::Object(arguments)))
}

/// The name in quotes at the beginning of a tag, and what follows the tag.
fn quoted_name(tag: &str) -> Option<(String, &str)> {
    let (name, rest) = tag.strip_prefix('"')?.split_once('"')?;
    let (_, rest) = rest.split_once('>')?;
    Some((name.to_owned(), rest))
}

/// `functions.f:0<|tool_call_argument_begin|>{"a": 1}<|tool_call_end|>`.
fn section_call(part: &str) -> Option<Call> {
    let (name, arguments) = part.split_once("<|tool_call_argument_begin|>")?;
    let name = name.trim();
    let name = name.strip_prefix("functions.").unwrap_or(name);
    let name = name.rsplit_once(':').map_or(name, |(name, _)| name);
    let arguments = json_values(arguments).into_iter().next()?;
    Some((name.to_owned(), arguments))
}

/// `f\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>`, or only the name of a tool.
fn keyed_call(part: &str, names: &[&str]) -> Option<Call> {
    let body = part.split("</tool_call>").next().unwrap_or_default();
    let (name, pairs) = body.split_once("<arg_key>").unwrap_or((body, ""));
    let name = name.trim();
    let is_name = !name.is_empty() && !name.contains(char::is_whitespace);
    if !is_name || (pairs.is_empty() && !names.contains(&name)) {
        return None;
    }
    let mut arguments = Map::new();
    for pair in pairs.split("<arg_key>") {
        let Some((key, value)) = pair.split_once("</arg_key>") else {
            continue;
        };
        let (_, value) = value.split_once("<arg_value>").unwrap_or(("", value));
        let value = value.split("</arg_value>").next().unwrap_or_default();
        arguments.insert(key.trim().to_owned(), written_value(value));
    }
    Some((name.to_owned(), Value::Object(arguments)))
}

/// A value that stands between tags: JSON, or else text.
fn written_value(text: &str) -> Value {
    let text = text.trim();
    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
}

/// `f>{"a": 1}</function>`, or `f><parameter=a>1</parameter></function>`.
fn function_call(part: &str) -> Option<Call> {
    let (name, rest) = part.split_once('>')?;
    let name = name.trim().trim_matches('"').to_owned();
    let body = rest.split("</function>").next().unwrap_or_default();
    let mut arguments = Map::new();
    for parameter in body.split("<parameter=").skip(1) {
        let Some((key, value)) = parameter.split_once('>') else {
            continue;
        };
        let value = value.split("</parameter>").next().unwrap_or_default();
        arguments.insert(key.trim().to_owned(), written_value(value));
    }
    if arguments.is_empty() {
        let object = json_values(body).into_iter().find(Value::is_object);
        return Some((name, object.unwrap_or(json!({}))));
    }
    Some((name, Value::Object(arguments)))
}

/// `[TOOL_CALLS]f[ARGS]{"a": 1}`, also without `[ARGS]`.
fn named_before(text: &str) -> Vec<Call> {
    let upper = "[TOOL_CALLS]";
    let parts = text.split(upper).skip(1);
    parts
        .filter_map(|part| {
            let at = part.find('{')?;
            let name = part[..at].trim().trim_end_matches("[ARGS]").trim();
            let arguments = json_values(&part[at..]).into_iter().next()?;
            let is_name = !name.is_empty() && !name.contains(char::is_whitespace);
            is_name.then(|| (name.to_owned(), arguments))
        })
        .collect()
}

/// The calls in a JSON value, in any of the forms that models use.
fn collect(value: &Value, calls: &mut Vec<Call>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| collect(value, calls)),
        Value::Object(object) => {
            if let Some(several) = object.get("tool_calls") {
                return collect(several, calls);
            }
            match object.get("function") {
                Some(function @ Value::Object(_)) => return collect(function, calls),
                Some(Value::String(name)) => return calls.push((name.clone(), given(object))),
                Some(_) | None => {}
            }
            let name = NAME_KEYS.iter().find_map(|key| object.get(*key)?.as_str());
            if let Some(name) = name {
                calls.push((name.to_owned(), given(object)));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn given(object: &Map<String, Value>) -> Value {
    let given = ["arguments", "parameters", "args", "input"]
        .iter()
        .find_map(|key| object.get(*key));
    match given {
        None | Some(Value::Null) => json!({}),
        Some(given) => given.clone(),
    }
}

/// The top-level JSON objects and lists in a text.
fn json_values(text: &str) -> Vec<Value> {
    let mut values = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '[']) {
        rest = &rest[at..];
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        match stream.next() {
            Some(Ok(value)) => {
                let end = stream.byte_offset();
                values.push(value);
                rest = &rest[end..];
            }
            Some(Err(_)) | None => rest = &rest[1..],
        }
        if values.len() == MAX_CALLS {
            break;
        }
    }
    values
}

/// The description of tools for a service without tool support, in the format of Hermes, which most open models have
/// seen.
pub(super) fn described(tools: &[ToolSpec]) -> String {
    let tools: Vec<String> = tools
        .iter()
        .map(|tool| {
            json!({"name": tool.name, "description": tool.description, "parameters": tool.parameters})
                .to_string()
        })
        .collect();
    format!(
        "You can call these tools, each described in JSON:\n<tools>\n{}\n</tools>\n\
         To call a tool, write nothing but this, once for each call:\n\
         <tool_call>{{\"name\": \"the tool's name\", \"arguments\": {{…}}}}</tool_call>\n\
         What it returns comes in <tool_response>. If you need no tool, answer without one.",
        tools.join("\n")
    )
}

/// A call as such a model writes it.
pub(super) fn format_call(call: &ToolCall) -> String {
    let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!({}));
    let call = json!({"name": call.name, "arguments": arguments});
    format!("<tool_call>{call}</tool_call>")
}

/// A tool's result as such a model reads it.
pub(super) fn format_result(text: &str) -> String {
    format!("<tool_response>\n{text}\n</tool_response>")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::visible::{CALLS, Visible};

    /// Parses a model's whole answer.
    fn calls_of(text: &str, offered: &[&str]) -> Option<(String, Vec<ToolCall>)> {
        let mut visible = Visible::new(!offered.is_empty(), false);
        visible.filter_piece(text);
        let whole = visible.finish();
        calls_in(&whole.text, whole.calls_at, offered)
    }

    fn read(text: &str) -> Option<Vec<(String, Value)>> {
        let (_, calls) = calls_of(text, &["search", "count"])?;
        let call = |call: ToolCall| (call.name, serde_json::from_str(&call.arguments).unwrap());
        Some(calls.into_iter().map(call).collect())
    }

    #[test]
    fn every_models_way_is_read() {
        let one = Some(vec![("search".to_owned(), json!({"q": "cats"}))]);
        for text in [
            r#"<tool_call>{"name": "search", "arguments": {"q": "cats"}}</tool_call>"#,
            "I look it up.\n<tool_call>\n{\"name\": \"search\", \"arguments\": {\"q\": \"cats\"}}",
            "<tool_call>\n<function=search>\n<parameter=q>\ncats\n</parameter>\n</function>\n</tool_call>",
            r#"<|python_tag|>{"name": "search", "parameters": {"q": "cats"}}"#,
            r#"<function=search>{"q": "cats"}</function>"#,
            r#"{"name": "search", "parameters": {"q": "cats"}}"#,
            r#"{"type": "function", "function": {"name": "search", "arguments": {"q": "cats"}}}"#,
            r#"{"tool_calls": [{"function": {"name": "search", "arguments": {"q": "cats"}}}]}"#,
            "```json\n{\"name\": \"search\", \"arguments\": {\"q\": \"cats\"}}\n```",
            r#"[{"name": "search", "arguments": {"q": "cats"}}]"#,
            r#"[TOOL_CALLS][{"name": "search", "arguments": {"q": "cats"}}]"#,
            r#"[TOOL_CALLS]search[ARGS]{"q": "cats"}"#,
            r#"[TOOL_CALLS] search {"q": "cats"}"#,
            r#"<tool_call>{"name": "search", "arguments": "{\"q\": \"cats\"}"}</tool_call>"#,
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>search\n```json\n{\"q\": \"cats\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
            "<tool_call>search\n<arg_key>q</arg_key>\n<arg_value>cats</arg_value>\n</tool_call>",
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.search:0<|tool_call_argument_begin|>{\"q\": \"cats\"}<|tool_call_end|><|tool_calls_section_end|>",
            "<function_calls>\n<invoke name=\"search\">\n<parameter name=\"q\">cats</parameter>\n</invoke>\n</function_calls>",
            "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"search\">\n<｜DSML｜parameter name=\"q\" string=\"true\">cats</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
            "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary to=functions.search <|constrain|>json<|message|>{\"q\":\"cats\"}<|call|>",
        ] {
            assert_eq!(read(text), one, "{text}");
        }
        let two = r#"<tool_call>{"name": "search", "arguments": {}}</tool_call>
            <tool_call>{"name": "count"}</tool_call>"#;
        assert_eq!(read(two).map(|calls| calls.len()), Some(2));
    }

    #[test]
    fn what_is_no_call_is_text() {
        for text in [
            "Plain words.",
            "{\"name\": \"Ada\", \"born\": 1815}",
            "[1, 2]",
            "[A call looks so] {\"name\": \"search\", \"arguments\": {}}",
            "```json\n{\"name\": \"other\", \"arguments\": {}}\n```",
            "Models write `<tool_call>` before a call.",
            "```\n<tool_call>{}</tool_call>\n```",
            "Hermes writes <tool_call> before the JSON, and </tool_call> after it.",
            "Mistral writes [TOOL_CALLS], and then a list.",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
        let bare = read("<tool_call>count\n</tool_call>");
        assert_eq!(bare, Some(vec![("count".to_owned(), json!({}))]));
        // What looks like a call is never shown, whether it can be read or not.
        let broken = calls_of("So: <tool_call>{\"name\": \"sea", &["search"]);
        assert_eq!(broken, Some(("So:".to_owned(), Vec::new())));
    }

    #[test]
    fn the_beginning_of_a_call_is_told_from_an_answer_in_json() {
        for (text, is_call) in [
            (r#"{"name": "search", "arguments": {"q": "ca"#, true),
            (r#"{"name": "search", "arguments": {"name": "Ada"}, "#, true),
            (
                r#"[{"type": "function", "function": {"name": "search""#,
                true,
            ),
            (
                r#"{"tool_calls": [{"id": "1", "function": {"name": "cou"#,
                true,
            ),
            (r#"{"function": "count""#, true),
            ("```json\n{\"tool\" : \"search\", \"args\"", true),
            (r#"{"name": "Ada", "tools": [{"name": "search"}, "#, false),
            (r#"{"name": "searches", "years": [1815, "#, false),
            (r#"{"people": [{"name": ""#, false),
            (r#"{"question": "name: search"#, false),
            ("The call is {\"name\": \"search\"", false),
            ("{x | x > 0", false),
        ] {
            assert_eq!(is_cut_call(text, &["search", "count"]), is_call, "{text}");
        }
        assert!(!is_cut_call(r#"{"name": "search""#, &[]));
    }

    #[test]
    fn what_is_written_is_read_back() {
        let call = ToolCall {
            id: "call_0".to_owned(),
            name: "search".to_owned(),
            arguments: json!({"q": "\"</tool_call>\""}).to_string(),
        };
        let (_, calls) = calls_of(&format_call(&call), &["search"]).unwrap();
        assert_eq!(calls, [call]);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in r#"[\[\]{}",:`a\n<>=_/|]{0,60}"#, mark in 0..CALLS.len()) {
            let _ = calls_of(&format!("{}{text}", CALLS[mark]), &["a"]);
            let _ = calls_of(&text, &["a"]);
            let _ = is_cut_call(&text, &["a"]);
        }
    }
}
