//! Checks calls against their method's documentation. Pure, over the tables of [`crate::methods`].

#[cfg(test)]
mod tests;

use serde_json::{Map, Value, json};

use crate::api::{Arguments, MethodError};
use crate::blocks;
use crate::ids::{is_id, is_ts};
use crate::methods::{Argument, ArgumentKind, EDITED_TEXT, Method, Need};

/// How the arguments were sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Encoding {
    Json,
    /// A form or a query: every value is text; lists and objects are JSON in it.
    Form,
}

/// The result of checking a call.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) arguments: Arguments,
    /// Rules that it breaks.
    pub(crate) violations: Vec<String>,
    /// Slack's refusal; Slack ignores some violations.
    pub(crate) refusal: Option<MethodError>,
}

/// Checks the arguments of a call.
pub(crate) fn check(method: &Method, sent: &Map<String, Value>, encoding: Encoding) -> Checked {
    let mut checked = Checked {
        arguments: Arguments::default(),
        violations: Vec::new(),
        refusal: None,
    };
    if encoding == Encoding::Json && !method.takes_json && !sent.is_empty() {
        checked.say(method, "takes no JSON body", None);
        return checked;
    }
    for name in sent.keys().filter(|name| *name != "token") {
        if !method
            .arguments
            .iter()
            .any(|argument| argument.name == name)
        {
            // Slack ignores unknown arguments.
            checked.say(method, &format!("no such argument: {name}"), None);
        }
    }
    for argument in method.arguments {
        match sent.get(argument.name).filter(|value| !value.is_null()) {
            Some(value) => checked.take(method, argument, value, encoding),
            None if argument.need == Need::Required => {
                checked.say(
                    method,
                    &format!("{} is missing", argument.name),
                    Some("invalid_arguments"),
                );
            }
            None => {}
        }
    }
    checked.one_of_them(method);
    checked.conflicts(method);
    checked
}

impl Checked {
    fn say(&mut self, method: &Method, what: &str, error: Option<&'static str>) {
        let what = format!("{}: {what}", method.name);
        if let (Some(error), None) = (error, &self.refusal) {
            let messages = json!({ "messages": [format!("[ERROR] {what}")] });
            self.refusal = Some(MethodError::new(error).with("response_metadata", messages));
        }
        self.violations.push(what);
    }

    fn take(&mut self, method: &Method, argument: &Argument, sent: &Value, encoding: Encoding) {
        let value = match encoding {
            Encoding::Json => sent.clone(),
            Encoding::Form => from_form(argument.kind, sent),
        };
        let is_empty = value.as_array().is_some_and(Vec::is_empty) || value == "";
        if is_empty && argument.need == Need::OneOfThem {
            return;
        }
        for wrong in wrong_with(argument, &value) {
            self.say(method, &wrong, Some(error_of(argument.kind)));
        }
        self.arguments.0.insert(argument.name.to_owned(), value);
    }

    fn one_of_them(&mut self, method: &Method) {
        let wanted = method
            .arguments
            .iter()
            .filter(|argument| argument.need == Need::OneOfThem);
        let names: Vec<&str> = wanted.map(|argument| argument.name).collect();
        let has_one = names
            .iter()
            .any(|name| self.arguments.0.contains_key(*name));
        if names.is_empty() || has_one {
            return;
        }
        let error = if names.contains(&"text") {
            "no_text"
        } else {
            "invalid_arguments"
        };
        self.say(
            method,
            &format!("needs one of {}", names.join(", ")),
            Some(error),
        );
    }

    /// "This argument should not be used in conjunction with `blocks` or `text`."
    fn conflicts(&mut self, method: &Method) {
        let has = |name: &str| self.arguments.0.contains_key(name);
        let is_message = method
            .arguments
            .iter()
            .any(|argument| argument.name == "text");
        if is_message && has("markdown_text") && (has("text") || has("blocks")) {
            self.say(
                method,
                "markdown_text beside text or blocks",
                Some("markdown_text_conflict"),
            );
        }
    }
}

/// Returns Slack's error for an argument of this kind that is invalid.
fn error_of(kind: ArgumentKind) -> &'static str {
    match kind {
        ArgumentKind::Text(4_000 | 12_000 | 40_000) | ArgumentKind::Filled(12_000) => {
            "msg_too_long"
        }
        ArgumentKind::Blocks => "invalid_blocks",
        ArgumentKind::Attachments => "invalid_attachments",
        ArgumentKind::Chunks => "invalid_chunks",
        ArgumentKind::Metadata => "invalid_metadata_format",
        ArgumentKind::Id("CGD" | "CGDU") => "channel_not_found",
        ArgumentKind::Id(_)
        | ArgumentKind::Text(_)
        | ArgumentKind::Filled(_)
        | ArgumentKind::Ts
        | ArgumentKind::Flag
        | ArgumentKind::Number(_, _)
        | ArgumentKind::Word(_)
        | ArgumentKind::Home
        | ArgumentKind::Modal
        | ArgumentKind::Uploads
        | ArgumentKind::Prompts
        | ArgumentKind::Texts(_) => "invalid_arguments",
    }
}

/// Converts a form's value to the type of its kind.
fn from_form(kind: ArgumentKind, sent: &Value) -> Value {
    let text = sent.as_str().unwrap_or_default();
    match kind {
        ArgumentKind::Flag => match text {
            "1" | "true" => json!(true),
            "0" | "false" => json!(false),
            _ => sent.clone(),
        },
        ArgumentKind::Number(_, _) => text
            .parse::<i64>()
            .map_or_else(|_| sent.clone(), |number| json!(number)),
        ArgumentKind::Blocks
        | ArgumentKind::Attachments
        | ArgumentKind::Metadata
        | ArgumentKind::Home
        | ArgumentKind::Modal
        | ArgumentKind::Uploads
        | ArgumentKind::Chunks
        | ArgumentKind::Prompts
        | ArgumentKind::Texts(_) => serde_json::from_str(text).unwrap_or_else(|_| sent.clone()),
        ArgumentKind::Text(_)
        | ArgumentKind::Filled(_)
        | ArgumentKind::Id(_)
        | ArgumentKind::Ts
        | ArgumentKind::Word(_) => sent.clone(),
    }
}

/// Returns what is wrong with an argument's value.
fn wrong_with(argument: &Argument, value: &Value) -> Vec<String> {
    let name = argument.name;
    let text = value.as_str();
    // The text of an edit is counted in bytes, after escaping.
    let is_edited = matches!(argument.kind, ArgumentKind::Text(EDITED_TEXT));
    let length = text.map(|text| {
        if is_edited {
            text.len()
        } else {
            text.chars().count()
        }
    });
    let is_right = match argument.kind {
        ArgumentKind::Text(most) => length.is_some_and(|length| length <= most),
        ArgumentKind::Filled(most) => length.is_some_and(|length| (1..=most).contains(&length)),
        ArgumentKind::Id(kinds) => text.is_some_and(|text| is_id(text, kinds)),
        ArgumentKind::Ts => text.is_some_and(is_ts),
        ArgumentKind::Flag => value.is_boolean(),
        ArgumentKind::Number(from, to) => value
            .as_i64()
            .is_some_and(|number| (from..=to).contains(&number)),
        ArgumentKind::Word(words) => text.is_some_and(|text| words.contains(&text)),
        ArgumentKind::Attachments => value.as_array().is_some_and(|list| list.len() <= 100),
        ArgumentKind::Texts(most) => value
            .as_array()
            .is_some_and(|list| list.len() <= most && list.iter().all(Value::is_string)),
        ArgumentKind::Metadata => is_metadata(value),
        ArgumentKind::Prompts => are_prompts(value),
        ArgumentKind::Chunks => are_chunks(value),
        ArgumentKind::Blocks => return of(name, blocks::of_message(value)),
        ArgumentKind::Uploads => value.as_array().is_some_and(|list| {
            let is_file = |file: &Value| file["id"].as_str().is_some_and(|id| is_id(id, "F"));
            !list.is_empty() && list.iter().all(is_file)
        }),
        ArgumentKind::Home => return of(name, blocks::of_home(value)),
        ArgumentKind::Modal => return of(name, blocks::of_modal(value)),
    };
    if is_right {
        return Vec::new();
    }
    let length = length.map_or(String::new(), |length| format!(" ({length} characters)"));
    vec![format!(
        "{name} is not {:?}{length}: {}",
        argument.kind,
        crate::state::brief(value)
    )]
}

fn of(name: &str, wrong: Vec<String>) -> Vec<String> {
    wrong
        .into_iter()
        .map(|wrong| format!("{name}: {wrong}"))
        .collect()
}

/// Whether it is valid "Metadata": an event type and an object.
fn is_metadata(value: &Value) -> bool {
    let names = value.as_object().into_iter().flat_map(Map::keys);
    let mut names =
        names.filter(|name| !["event_type", "event_payload", "entities"].contains(&name.as_str()));
    let kind = value["event_type"].as_str();
    names.next().is_none()
        && kind.is_some_and(|kind| !kind.is_empty())
        && value["event_payload"].is_object()
}

/// Whether it is a valid list of prompts: "Up to four suggested prompts", each with `title` and
/// `message`.
fn are_prompts(value: &Value) -> bool {
    let is_filled = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
    value.as_array().is_some_and(|list| {
        let is_prompt =
            |prompt: &Value| is_filled(&prompt["title"]) && is_filled(&prompt["message"]);
        (1..=4).contains(&list.len()) && list.iter().all(is_prompt)
    })
}

/// Whether it is a valid list of chunks of a stream ("text streaming"), each of them Markdown.
fn are_chunks(value: &Value) -> bool {
    value.as_array().is_some_and(|list| {
        let is_chunk = |chunk: &Value| {
            let length = chunk["text"].as_str().map(|text| text.chars().count());
            chunk["type"] == "markdown_text" && length.is_some_and(|length| length <= 12_000)
        };
        list.iter().all(is_chunk)
    })
}
