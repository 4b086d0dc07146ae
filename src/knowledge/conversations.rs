//! Reads conversations: JSON lines with roles, as examples of how something was talked about.
//!
//! A line is `{"messages": [{"role": "user", "content": "…"}, …]}`, or has `conversations`, `from`
//! and `value` as other tools write them. Each exchange becomes a passage.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::chunking::{MarkupKind, pieces};
use super::documents::in_order;
use super::record::{
    Chunk, LinkEndpoint, Record, RecordLink, Rejection, SourceLocation, short_title, usable_key,
};
use crate::graph::ingest::INCLUDES;

pub const CONVERSATION: &str = "Conversation";
pub const EXEMPLAR: &str = "Exemplar";

/// Minimum characters of a conversation.
const LEAST_CHARS: usize = 40;

/// Characters of the first message that make a title.
const TITLE_CHARS: usize = 80;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    System,
    Asker,
    Answerer,
}

impl Role {
    fn of(name: &str) -> Option<Self> {
        match name.to_ascii_lowercase().as_str() {
            "system" | "developer" => Some(Self::System),
            "user" | "human" | "client" | "customer" | "prompter" => Some(Self::Asker),
            "assistant" | "gpt" | "bot" | "agent" | "model" | "therapist" | "counsellor"
            | "counselor" => Some(Self::Answerer),
            _other => None,
        }
    }
}

/// Whether a line looks like a conversation.
pub(super) fn is_conversation(line: &Value) -> bool {
    ["messages", "conversations"]
        .iter()
        .any(|name| line.get(name).is_some_and(Value::is_array))
}

/// Parses a line. Without an id, its position identifies it.
///
/// # Errors
/// Fails with the reason of the refusal.
pub(super) fn read(line: &Value, file: &Path, number: u64) -> Result<Record, Rejection> {
    let place = SourceLocation::line(file, number);
    record(line, file, number).map_err(|reason| place.refuse(reason))
}

fn record(line: &Value, file: &Path, number: u64) -> Result<Record, String> {
    let messages = ["messages", "conversations"]
        .iter()
        .find_map(|name| line.get(name)?.as_array())
        .ok_or("it has no list of messages")?;
    let said = messages
        .iter()
        .enumerate()
        .map(|(at, message)| said(message, at + 1))
        .collect::<Result<Vec<_>, _>>()?;
    let exchanges = exchanges(&said)?;
    let key = match line.get("id") {
        Some(Value::String(id)) if !id.trim().is_empty() => id.clone(),
        Some(Value::Number(id)) => id.to_string(),
        Some(_) | None => {
            let name = file
                .file_name()
                .map(|name| name.to_string_lossy().into_owned());
            format!("{}:{number}", name.unwrap_or_default())
        }
    };
    let title = line.get("title").and_then(Value::as_str).map(str::to_owned);
    let title = title.unwrap_or_else(|| exchanges[0].0.chars().take(TITLE_CHARS).collect());
    let (key, title) = (usable_key(key)?, short_title(&title));
    Ok(of_exchanges(key, &title, &exchanges, file, number))
}

/// Returns the role and text of a message.
fn said(message: &Value, at: usize) -> Result<(Role, String), String> {
    let text_of = |names: [&str; 2]| names.iter().find_map(|name| message.get(name)?.as_str());
    let role = text_of(["role", "from"]).ok_or(format!("message {at} has no role"))?;
    let role = Role::of(role).ok_or(format!("message {at} has the unknown role {role:?}"))?;
    let text = text_of(["content", "value"]).unwrap_or_default().trim();
    if text.is_empty() {
        return Err(format!("message {at} says nothing"));
    }
    Ok((role, text.to_owned()))
}

/// Pairs questions with their answers.
fn exchanges(said: &[(Role, String)]) -> Result<Vec<(String, String)>, String> {
    let said: Vec<&(Role, String)> = said
        .iter()
        .skip_while(|(role, _)| *role == Role::System)
        .collect();
    let mut exchanges = Vec::new();
    for (at, pair) in said.chunks(2).enumerate() {
        match pair {
            [(Role::Asker, question), (Role::Answerer, answer)] => {
                exchanges.push((question.clone(), answer.clone()));
            }
            // The last message may be an unanswered question.
            [(Role::Asker, _)] => {}
            [_, ..] | [] => {
                return Err(format!(
                    "the roles do not alternate at message {}: a question comes first, and an \
                     answer follows each",
                    at * 2 + 1
                ));
            }
        }
    }
    let length: usize = exchanges
        .iter()
        .map(|(a, b)| a.chars().count() + b.chars().count())
        .sum();
    match exchanges.len() {
        0 => Err("it holds no question with an answer".to_owned()),
        _ if length < LEAST_CHARS => Err(format!(
            "it says only {length} characters; {LEAST_CHARS} are the least"
        )),
        _ => Ok(exchanges),
    }
}

fn of_exchanges(
    key: String,
    title: &str,
    exchanges: &[(String, String)],
    file: &Path,
    number: u64,
) -> Record {
    let mut properties = Map::new();
    properties.insert("title".to_owned(), json!(title));
    let mut chunks = vec![Chunk {
        label: CONVERSATION.to_owned(),
        text: title.to_owned(),
        embedded: title.to_owned(),
        properties: properties.clone(),
    }];
    for (question, answer) in exchanges {
        let text = format!("Question: {question}\n\nAnswer: {answer}");
        for text in pieces(&text, MarkupKind::Plain) {
            chunks.push(Chunk {
                label: EXEMPLAR.to_owned(),
                embedded: text.clone(),
                text,
                properties: properties.clone(),
            });
        }
    }
    let parts = (1..chunks.len()).map(|at| RecordLink {
        kind: INCLUDES.to_owned(),
        from: LinkEndpoint::Own(0),
        to: LinkEndpoint::Own(at),
    });
    Record {
        key,
        at: SourceLocation::line(file, number),
        is_shared: false,
        links: parts.chain(in_order(chunks.len())).collect(),
        chunks,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const Q: &str = "Where do the ravens sleep when it rains?";
    const A: &str = "Under the eaves, on the side away from the wind.";

    fn line(messages: &[(&str, &str)]) -> Value {
        let messages = messages.iter();
        let messages: Vec<Value> = messages
            .map(|(role, content)| json!({"role": role, "content": content}))
            .collect();
        json!({"messages": messages})
    }

    fn of(line: &Value) -> Result<Record, String> {
        read(line, Path::new("x/talks.jsonl"), 3).map_err(|refused| refused.reason)
    }

    #[test]
    fn exchanges_become_exemplars() {
        let read = of(&line(&[
            ("system", "Be kind."),
            ("user", Q),
            ("assistant", A),
            ("user", Q),
        ]));
        let read = read.unwrap();
        assert_eq!(read.key, "talks.jsonl:3");
        let labels: Vec<&str> = read
            .chunks
            .iter()
            .map(|chunk| chunk.label.as_str())
            .collect();
        assert_eq!(labels, ["Conversation", "Exemplar"]);
        assert_eq!(read.chunks[1].text, format!("Question: {Q}\n\nAnswer: {A}"));
        let shared = json!({"id": 7, "conversations": [
            {"from": "human", "value": Q}, {"from": "gpt", "value": A},
        ]});
        assert!(is_conversation(&shared));
        assert_eq!(of(&shared).unwrap().key, "7");
    }

    #[test]
    fn what_is_no_conversation_is_refused_in_words() {
        for (messages, words) in [
            (
                vec![("assistant", A), ("user", Q)],
                "do not alternate at message 1",
            ),
            (vec![("user", Q), ("user", Q)], "do not alternate"),
            (vec![("user", Q)], "no question with an answer"),
            (
                vec![("user", "Hm?"), ("assistant", "No.")],
                "says only 6 characters",
            ),
            (
                vec![("user", Q), ("assistant", " ")],
                "message 2 says nothing",
            ),
            (
                vec![("user", Q), ("narrator", A)],
                "unknown role \"narrator\"",
            ),
            (vec![], "no question with an answer"),
        ] {
            let refused = of(&line(&messages)).unwrap_err();
            assert!(refused.contains(words), "{messages:?}: {refused}");
        }
        assert!(
            of(&json!({"text": "x"}))
                .unwrap_err()
                .contains("no list of messages")
        );
    }
}
