//! The tools a model may call in a turn.

use muninn_platform::AudienceId;
use serde::Deserialize;
use serde_json::json;

use super::prompt::Memory;
use crate::graph::ResponseId;
use crate::llm::{ToolCall, ToolSpec};
use crate::memory::{Recalled, Recaller};
use crate::prompts::Quoted;

/// The tools of one turn, and what they found.
#[derive(Debug)]
pub struct Tools<'a> {
    recaller: &'a Recaller,
    audience: &'a AudienceId,
    /// Turns the model sees already.
    shown: Vec<ResponseId>,
    found: Vec<Recalled>,
}

/// What `search_memory` takes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SearchMemory {
    query: String,
}

impl<'a> Tools<'a> {
    pub fn new(recaller: &'a Recaller, audience: &'a AudienceId, shown: Vec<ResponseId>) -> Self {
        Self {
            recaller,
            audience,
            shown,
            found: Vec::new(),
        }
    }

    /// What is offered to the model.
    pub fn specs() -> Vec<ToolSpec> {
        vec![ToolSpec {
            name: "search_memory".to_owned(),
            description: "Searches what was said in earlier conversations here. Use it when the \
                          question is about something said before that you were not given; put \
                          names and the subject in the query."
                .to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "query": {
                        "type": "string",
                        "description": "What to look for, in words that may have been used.",
                    },
                },
                "required": ["query"],
                "additionalProperties": false,
            }),
        }]
    }

    /// Calls a tool. What goes wrong is told to the model, which can do better.
    pub async fn call(&mut self, call: &ToolCall) -> String {
        match call.name.as_str() {
            "search_memory" => match serde_json::from_str(&call.arguments) {
                Ok(SearchMemory { query }) => self.search_memory(&query).await,
                Err(error) => format!("Wrong arguments for search_memory: {error}"),
            },
            other => format!("There is no tool {other:?}; there is search_memory."),
        }
    }

    /// The memories found beside those the prompt began with.
    pub fn into_found(self) -> Vec<Recalled> {
        self.found
    }

    async fn search_memory(&mut self, query: &str) -> String {
        let sought = self.recaller.seek(query).await;
        let found = self
            .recaller
            .recall(self.audience, &sought, &[], &self.shown);
        if found.is_empty() {
            return "Nothing more was found.".to_owned();
        }
        let text = found
            .iter()
            .map(|memory| as_text(&Memory::of(memory).quoted))
            .collect();
        self.shown.extend(found.iter().map(|memory| memory.id));
        self.found.extend(found);
        text
    }
}

fn as_text(memory: &Quoted) -> String {
    let mut text = format!("[{}, {}]\n", memory.date, memory.author);
    for line in &memory.input {
        text += &format!("> {line}\n");
    }
    if !memory.output.is_empty() {
        text += "Answered then:\n";
        for line in &memory.output {
            text += &format!("> {line}\n");
        }
    }
    text
}
