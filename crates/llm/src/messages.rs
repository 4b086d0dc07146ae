//! Converts the messages of a request to the form that the service accepts. Pure.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::capabilities::{Capabilities, ToolForm};
use super::text_calls::{described, format_call, format_result};
use super::{ChatMessage, ChatRequest, Image, ToolCall};

/// The messages of a request, for a service with these capabilities.
pub(super) fn messages(request: &ChatRequest, can: &Capabilities) -> Value {
    let mut messages = request.messages.clone();
    if can.tools == ToolForm::Text {
        messages = with_tools_in_text(messages, request);
    }
    if !can.system_role {
        messages = without_system(messages);
    }
    if can.alternates {
        messages = alternating(messages);
    }
    let mut messages: Vec<Value> = messages.iter().map(message).collect();
    add_images(&mut messages, &request.images);
    messages.into()
}

/// Puts calls and results into text, with a description of the tools at the beginning, because the end of the system
/// prompt changes.
fn with_tools_in_text(messages: Vec<ChatMessage>, request: &ChatRequest) -> Vec<ChatMessage> {
    let mut put: Vec<ChatMessage> = messages.into_iter().map(as_text).collect();
    if request.tools.is_empty() {
        return put;
    }
    let tools = described(&request.tools);
    match put.first_mut() {
        Some(ChatMessage::System(system)) => *system = format!("{tools}\n\n{system}"),
        Some(ChatMessage::User(_) | ChatMessage::Assistant { .. } | ChatMessage::Tool { .. })
        | None => put.insert(0, ChatMessage::System(tools)),
    }
    put
}

fn as_text(message: ChatMessage) -> ChatMessage {
    match message {
        ChatMessage::Assistant { text, tool_calls } if !tool_calls.is_empty() => {
            let calls = tool_calls.iter().map(format_call);
            let lines: Vec<String> = std::iter::once(text).chain(calls).collect();
            ChatMessage::Assistant {
                text: lines.join("\n").trim().to_owned(),
                tool_calls: Vec::new(),
            }
        }
        ChatMessage::Tool { call_id: _, text } => ChatMessage::User(format_result(&text)),
        other @ (ChatMessage::System(_) | ChatMessage::User(_) | ChatMessage::Assistant { .. }) => {
            other
        }
    }
}

/// Puts the system prompt before the first user message.
fn without_system(messages: Vec<ChatMessage>) -> Vec<ChatMessage> {
    let mut system = Vec::new();
    let mut others = Vec::new();
    for message in messages {
        match message {
            ChatMessage::System(text) => system.push(text),
            other @ (ChatMessage::User(_)
            | ChatMessage::Assistant { .. }
            | ChatMessage::Tool { .. }) => others.push(other),
        }
    }
    if system.is_empty() {
        return others;
    }
    let system = system.join("\n\n");
    match others.first_mut() {
        Some(ChatMessage::User(text)) => *text = format!("{system}\n\n{text}"),
        Some(ChatMessage::System(_) | ChatMessage::Assistant { .. } | ChatMessage::Tool { .. })
        | None => others.insert(0, ChatMessage::User(system)),
    }
    others
}

/// Merges adjacent messages of the same role; the first one is the user's.
fn alternating(messages: Vec<ChatMessage>) -> Vec<ChatMessage> {
    let mut put: Vec<ChatMessage> = Vec::new();
    for message in messages {
        match (put.last_mut(), message) {
            (Some(ChatMessage::User(before)), ChatMessage::User(text)) => {
                *before = format!("{before}\n\n{text}");
            }
            (
                Some(ChatMessage::Assistant {
                    text: before,
                    tool_calls: calls,
                }),
                ChatMessage::Assistant { text, tool_calls },
            ) => {
                *before = format!("{before}\n\n{text}").trim().to_owned();
                calls.extend(tool_calls);
            }
            (None | Some(ChatMessage::System(_)), answer @ ChatMessage::Assistant { .. }) => {
                put.push(ChatMessage::User("…".to_owned()));
                put.push(answer);
            }
            (_, other) => put.push(other),
        }
    }
    put
}

/// Adds images to the last user message, which becomes a list of parts.
fn add_images(messages: &mut [Value], images: &[Image]) {
    if images.is_empty() {
        return;
    }
    let messages = messages.iter_mut();
    let Some(last) = messages.rev().find(|message| message["role"] == "user") else {
        return;
    };
    let mut parts = vec![json!({ "type": "text", "text": last["content"] })];
    parts.extend(images.iter().map(|image| {
        let data = STANDARD.encode(&image.bytes);
        let url = format!("data:{};base64,{data}", image.media_type);
        json!({ "type": "image_url", "image_url": { "url": url } })
    }));
    last["content"] = parts.into();
}

fn message(message: &ChatMessage) -> Value {
    match message {
        ChatMessage::System(text) => json!({ "role": "system", "content": text }),
        ChatMessage::User(text) => json!({ "role": "user", "content": text }),
        ChatMessage::Assistant { text, tool_calls } if tool_calls.is_empty() => {
            json!({ "role": "assistant", "content": text })
        }
        ChatMessage::Assistant { text, tool_calls } => json!({
            "role": "assistant",
            "content": if text.is_empty() { Value::Null } else { text.as_str().into() },
            "tool_calls": tool_calls.iter().map(tool_call).collect::<Vec<_>>(),
        }),
        ChatMessage::Tool { call_id, text } => {
            json!({ "role": "tool", "tool_call_id": call_id, "content": text })
        }
    }
}

fn tool_call(call: &ToolCall) -> Value {
    // Services that parse the arguments fail the whole request if a model wrote invalid JSON.
    let valid = serde_json::from_str::<serde::de::IgnoredAny>(&call.arguments).is_ok();
    json!({
        "id": call.id,
        "type": "function",
        "function": { "name": call.name, "arguments": if valid { &call.arguments } else { "{}" } },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Purpose, Sampling, ToolSpec};

    fn request(messages: Vec<ChatMessage>) -> ChatRequest {
        ChatRequest {
            messages,
            images: Vec::new(),
            known_tools: Vec::new(),
            tools: vec![ToolSpec {
                name: "search".to_owned(),
                description: "Searches.".to_owned(),
                parameters: json!({}),
            }],
            shape: None,
            sampling: Sampling::default(),
            max_tokens: 10,
            purpose: Purpose::Answer,
            model: None,
            person: String::new(),
        }
    }

    fn said(text: &str) -> ChatMessage {
        ChatMessage::User(text.to_owned())
    }

    /// Roles and contents.
    fn put(request: &ChatRequest, can: &Capabilities) -> Vec<(String, String)> {
        let messages = messages(request, can);
        let messages = messages.as_array().unwrap().iter();
        messages
            .map(|message| {
                let word = |key: &str| message[key].as_str().unwrap_or_default().to_owned();
                (word("role"), word("content"))
            })
            .collect()
    }

    #[test]
    fn without_tools_and_roles_it_is_all_text() {
        let call = ToolCall {
            id: "a".to_owned(),
            name: "search".to_owned(),
            arguments: "{\"q\":1}".to_owned(),
        };
        let request = request(vec![
            ChatMessage::System("Be kind.".to_owned()),
            said("Find it"),
            ChatMessage::Assistant {
                text: String::new(),
                tool_calls: vec![call],
            },
            ChatMessage::Tool {
                call_id: "a".to_owned(),
                text: "one".to_owned(),
            },
            said("and?"),
        ]);
        let can = Capabilities {
            tools: ToolForm::Text,
            system_role: false,
            alternates: true,
            ..Capabilities::default()
        };
        let put = put(&request, &can);
        let roles: Vec<&str> = put.iter().map(|(role, _)| role.as_str()).collect();
        assert_eq!(roles, ["user", "assistant", "user"]);
        assert!(put[0].1.starts_with("You can call these tools"));
        assert!(put[0].1.ends_with("\n\nBe kind.\n\nFind it"));
        assert_eq!(
            put[1].1,
            "<tool_call>{\"arguments\":{\"q\":1},\"name\":\"search\"}</tool_call>"
        );
        assert_eq!(put[2].1, "<tool_response>\none\n</tool_response>\n\nand?");
    }

    #[test]
    fn roles_alternate_from_the_user_on() {
        let answer = |text: &str| ChatMessage::Assistant {
            text: text.to_owned(),
            tool_calls: Vec::new(),
        };
        let request = request(vec![
            ChatMessage::System("s".to_owned()),
            answer("a"),
            answer("b"),
            said("c"),
            said("d"),
        ]);
        let can = Capabilities {
            alternates: true,
            ..Capabilities::default()
        };
        let put = put(&request, &can);
        let roles: Vec<&str> = put.iter().map(|(role, _)| role.as_str()).collect();
        assert_eq!(roles, ["system", "user", "assistant", "user"]);
        assert_eq!(put[3].1, "c\n\nd");
    }
}
