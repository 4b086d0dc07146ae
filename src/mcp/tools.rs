//! The tools offered to programs, and their arguments.

use std::sync::Arc;

use rmcp::model::{Tool, ToolAnnotations};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::call::{Mcp, Refused, ToolCall, ToolOutcome};
use super::caller::Caller;

const SEARCH_MEMORY: &str = "search_memory";
const SEARCH_KNOWLEDGE: &str = "search_knowledge";
const ASK: &str = "ask";
const LIST_SOURCES: &str = "list_sources";
const REMEMBER: &str = "remember";

/// Their names.
pub const TOOLS: &[&str] = &[SEARCH_MEMORY, SEARCH_KNOWLEDGE, ASK, LIST_SOURCES, REMEMBER];

/// Maximum characters of a call's ID and of a conversation's name, both chosen by the program.
const LONGEST_ID: usize = 128;
/// Maximum characters of a search.
const LONGEST_QUERY: usize = 2_000;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Search {
    pub(super) query: String,
    pub(super) place: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ask {
    pub(super) question: String,
    pub(super) place: Option<String>,
    /// The conversation that it continues.
    pub(super) conversation: Option<String>,
    /// Identifies a repeated call.
    pub(super) call_id: Option<String>,
    /// The trace of the call, which is not an argument.
    #[serde(skip)]
    pub(super) traceparent: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListSources {
    pub(super) place: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Remember {
    pub(super) text: String,
    pub(super) place: Option<String>,
    pub(super) call_id: Option<String>,
    /// The trace of the call, which is not an argument.
    #[serde(skip)]
    pub(super) traceparent: Option<String>,
}

/// Runs a tool.
pub(super) async fn run(
    mcp: &Mcp,
    caller: &Caller,
    call: ToolCall,
) -> Result<ToolOutcome, Refused> {
    let ToolCall {
        tool,
        arguments,
        traceparent,
    } = call;
    match tool.as_str() {
        SEARCH_MEMORY => mcp.search_memory(caller, searched(read(arguments)?)?).await,
        SEARCH_KNOWLEDGE => {
            mcp.search_knowledge(caller, searched(read(arguments)?)?)
                .await
        }
        LIST_SOURCES => mcp.list_sources(caller, read(arguments)?).await,
        ASK => {
            let ask = Ask {
                traceparent,
                ..read(arguments)?
            };
            check("question", &ask.question, usize::MAX)?;
            check_id("conversation", ask.conversation.as_deref())?;
            check_id("call_id", ask.call_id.as_deref())?;
            mcp.ask(caller, ask).await
        }
        REMEMBER => {
            let remember = Remember {
                traceparent,
                ..read(arguments)?
            };
            check("text", &remember.text, usize::MAX)?;
            check_id("call_id", remember.call_id.as_deref())?;
            mcp.remember(caller, remember).await
        }
        other => Err(Refused::Because(format!(
            "there is no tool {other:?}; there are {}",
            TOOLS.join(", ")
        ))),
    }
}

fn read<T: DeserializeOwned>(arguments: Map<String, Value>) -> Result<T, Refused> {
    serde_json::from_value(Value::Object(arguments))
        .map_err(|error| Refused::Because(format!("the arguments are not right: {error}")))
}

fn searched(search: Search) -> Result<Search, Refused> {
    check("query", &search.query, LONGEST_QUERY)?;
    Ok(search)
}

fn check(name: &str, text: &str, most: usize) -> Result<(), Refused> {
    if text.trim().is_empty() {
        return Err(Refused::Because(format!("{name} is empty")));
    }
    if text.chars().count() > most {
        return Err(Refused::Because(format!(
            "{name} has more than {most} characters"
        )));
    }
    Ok(())
}

/// Checks an ID chosen by a program: only letters, digits and characters that are harmless in our
/// IDs.
fn check_id(name: &str, id: Option<&str>) -> Result<(), Refused> {
    let is_of_id = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
    match id {
        Some(id) if id.is_empty() || id.len() > LONGEST_ID || !id.chars().all(is_of_id) => {
            Err(Refused::Because(format!(
                "{name} must be 1 to {LONGEST_ID} letters, digits or -_.:"
            )))
        }
        Some(_) | None => Ok(()),
    }
}

/// The tools with their descriptions.
pub(super) fn all() -> Vec<Tool> {
    let place = json!({
        "type": "string",
        "description": "Id or name of the channel, room or direct message, as list_sources gives it.",
    });
    let call_id = json!({
        "type": "string",
        "description": "An id of your own for this call. The same id again does not do it twice.",
    });
    let text = |about: &str| json!({ "type": "string", "description": about });
    let looks = || ToolAnnotations::new().read_only(true).open_world(false);
    let adds = || {
        let adds = ToolAnnotations::new().read_only(false).destructive(false);
        adds.open_world(false)
    };
    vec![
        tool(
            SEARCH_MEMORY,
            "Finds what was said earlier in the team's chat, with who said it, when, and a link. Searches all places that you \
             may read, or one.",
            &json!({ "query": text("A question, or words that may have been used."), "place": place }),
            &["query"],
        )
        .with_annotations(looks()),
        tool(
            SEARCH_KNOWLEDGE,
            "Finds passages in the team's documents and records, each with its source and a link.",
            &json!({ "query": text("What to look for."), "place": place }),
            &["query"],
        )
        .with_annotations(looks()),
        tool(
            ASK,
            "Asks the team's bot, which answers from the team's memory and knowledge and keeps question and answer for you alone. \
             Takes up to a few minutes.",
            &json!({
                "question": text("The question, so that it can be understood by itself."),
                "place": place,
                "conversation": text("The conversation to go on with, as an earlier answer gave it."),
                "call_id": call_id,
            }),
            &["question"],
        )
        .with_annotations(adds()),
        tool(
            LIST_SOURCES,
            "Lists the places that you may read, and the sources of the team's knowledge that can be searched.",
            &json!({ "place": place }),
            &[],
        )
        .with_annotations(looks()),
        tool(
            REMEMBER,
            "Keeps a note for you, which the bot recalls when it bears on a question of yours. Use it when the person asks for it.",
            &json!({
                "text": text("What to keep in mind, so that it can be understood by itself."),
                "place": place,
                "call_id": call_id,
            }),
            &["text"],
        )
        .with_annotations(adds()),
    ]
}

fn tool(
    name: &'static str,
    description: &'static str,
    properties: &Value,
    required: &[&str],
) -> Tool {
    let schema = json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    });
    let schema = match schema {
        Value::Object(schema) => schema,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::new()
        }
    };
    Tool::new(name, description, Arc::new(schema))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_is_described_briefly_and_says_what_it_takes() {
        let all = all();
        let names: Vec<&str> = all.iter().map(|tool| tool.name.as_ref()).collect();
        assert_eq!(names, TOOLS);
        for tool in all {
            let description = tool.description.unwrap();
            assert!(description.chars().count() < 250, "{description}");
            let schema = Value::Object((*tool.input_schema).clone());
            jsonschema::validator_for(&schema).unwrap();
        }
    }

    #[test]
    fn ids_that_programs_make_up_are_short_and_harmless() {
        for right in ["1", "a-b_c.d:e", &"x".repeat(LONGEST_ID)] {
            assert!(check_id("call_id", Some(right)).is_ok(), "{right}");
        }
        for wrong in ["", "a/b", "a b", "ä", &"x".repeat(LONGEST_ID + 1)] {
            assert!(check_id("call_id", Some(wrong)).is_err(), "{wrong}");
        }
    }
}
