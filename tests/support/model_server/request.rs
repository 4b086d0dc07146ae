//! A request as the server received it, with its validation.

use std::collections::HashSet;

use serde_json::Value;

/// A chat or embedding request.
#[derive(Clone, Debug)]
pub struct ModelServerRequest {
    pub path: String,
    pub authorization: Option<String>,
    pub body: Value,
}

impl ModelServerRequest {
    pub fn model(&self) -> &str {
        self.body["model"].as_str().unwrap_or_default()
    }

    pub fn messages(&self) -> &[Value] {
        self.body["messages"].as_array().map_or(&[], Vec::as_slice)
    }

    /// The texts of all messages with this role, in order.
    pub fn texts(&self, role: &str) -> Vec<&str> {
        let of_role = |message: &&Value| message["role"] == role;
        let messages = self.messages().iter().filter(of_role);
        messages
            .filter_map(|message| message["content"].as_str())
            .collect()
    }

    /// Returns the last message of the user.
    pub fn last_user(&self) -> &str {
        self.texts("user").pop().unwrap_or_default()
    }

    /// Returns the question of a rephrasing request (`prompts/rephrase.md`); `None` for other
    /// requests.
    pub fn to_rephrase(&self) -> Option<String> {
        let asked = self.last_user();
        if !asked.starts_with("Make the last question") {
            return None;
        }
        let (_, question) = asked.rsplit_once("\nThe question:\n")?;
        let lines = question.lines().filter_map(|line| line.strip_prefix("> "));
        Some(lines.collect::<Vec<_>>().join("\n"))
    }

    /// Returns the results of tools, in order.
    pub fn tool_results(&self) -> Vec<&str> {
        self.texts("tool")
    }

    /// Names of the tools offered.
    pub fn tools(&self) -> Vec<&str> {
        let tools = self.body["tools"].as_array().into_iter().flatten();
        tools
            .filter_map(|tool| tool["function"]["name"].as_str())
            .collect()
    }

    /// Texts to embed.
    pub fn inputs(&self) -> Vec<String> {
        let inputs = self.body["input"].as_array().into_iter().flatten();
        inputs
            .filter_map(|input| Some(input.as_str()?.to_owned()))
            .collect()
    }

    /// Returns why a strict service would refuse it.
    pub(super) fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut must = |holds: bool, what: &str| {
            if !holds {
                faults.push(format!("{}: {what}", self.path));
            }
        };
        must(!self.model().is_empty(), "a model must be named");
        if self.path.ends_with("/embeddings") {
            let inputs = self.inputs();
            let all = self.body["input"].as_array().map_or(0, Vec::len);
            must(
                all > 0 && inputs.len() == all,
                "input must be a list of texts",
            );
            must(
                inputs.iter().all(|text| !text.is_empty()),
                "a text must not be empty",
            );
            return faults;
        }
        must(self.body["stream"] == true, "it must be streamed");
        let limits = ["max_tokens", "max_completion_tokens"].map(|key| self.body[key].as_u64());
        must(
            limits.iter().flatten().count() == 1,
            "exactly one limit of tokens",
        );
        must(
            limits.iter().flatten().all(|limit| *limit > 0),
            "a limit above 0",
        );
        must(!self.messages().is_empty(), "messages must not be empty");
        if let Some(tools) = self.body.get("tools") {
            must(
                tools.as_array().is_some_and(|tools| !tools.is_empty()),
                "no empty tools",
            );
        }
        for tool in self.body["tools"].as_array().into_iter().flatten() {
            must(tool["type"] == "function", "a tool is a function");
            must(tool["function"]["name"].is_string(), "a tool has a name");
            must(
                tool["function"]["parameters"].is_object(),
                "a tool has a schema",
            );
        }
        faults.extend(order_faults(self.messages()));
        faults
    }
}

/// Checks roles, contents, and that tool messages directly follow their calls.
fn order_faults(messages: &[Value]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut open: HashSet<String> = HashSet::new();
    for (at, message) in messages.iter().enumerate() {
        let mut fault = |what: &str| faults.push(format!("message {at}: {what}"));
        let role = message["role"].as_str().unwrap_or_default();
        let calls = message["tool_calls"].as_array();
        if role != "tool" && !open.is_empty() {
            fault("tool calls before it have no result");
            open.clear();
        }
        match role {
            "system" | "user" => {}
            "assistant" => {
                for call in calls.into_iter().flatten() {
                    let id = call["id"].as_str().unwrap_or_default();
                    if id.is_empty() || !open.insert(id.to_owned()) {
                        fault("a call needs an id of its own");
                    }
                    let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
                    if serde_json::from_str::<Value>(arguments).is_err() {
                        fault("arguments are JSON in a string");
                    }
                    if call["type"] != "function" || !call["function"]["name"].is_string() {
                        fault("a call is of a named function");
                    }
                }
            }
            "tool" => {
                let id = message["tool_call_id"].as_str().unwrap_or_default();
                if !open.remove(id) {
                    fault("a result without a call before it");
                }
            }
            other => fault(&format!("unknown role {other:?}")),
        }
        let only_calls = role == "assistant" && calls.is_some() && message["content"].is_null();
        let parts = message["content"].as_array().filter(|_| role == "user");
        for part in parts.into_iter().flatten() {
            if !is_part(part) {
                fault("a part is text or an image that comes along");
            }
        }
        if !message["content"].is_string() && parts.is_none() && !only_calls {
            fault("content must be text");
        }
    }
    if !open.is_empty() {
        faults.push("tool calls at the end have no result".to_owned());
    }
    faults
}

/// Whether a part of a user message is valid in the chat API.
fn is_part(part: &Value) -> bool {
    let url = part["image_url"]["url"].as_str().unwrap_or_default();
    match part["type"].as_str() {
        Some("text") => part["text"].is_string(),
        Some("image_url") => url.starts_with("data:image/") && url.contains(";base64,"),
        Some(_) | None => false,
    }
}
