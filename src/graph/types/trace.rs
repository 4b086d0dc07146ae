//! The trace of an answer: how it came to be, kept with it for `/why`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What was done for an answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Trace {
    /// In the order in which they ended.
    pub calls: Vec<ModelCall>,
    pub tools: Vec<ToolUse>,
    /// The critic's questions.
    pub follow_ups: Vec<String>,
    /// The passages that were found, best first.
    pub passages: Vec<FoundPassage>,
}

/// A passage that was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FoundPassage {
    pub chunk: String,
    /// Its ranking score, as `muninn search` shows it.
    pub score: f32,
}

impl Trace {
    /// What was written for an answer, of its kept trace.
    pub(in crate::graph) fn texts(kept: &str) -> Vec<String> {
        let Ok(Self {
            tools, follow_ups, ..
        }) = serde_json::from_str(kept)
        else {
            // It is not known what is in it.
            return vec![kept.to_owned()];
        };
        let mut texts = follow_ups;
        for tool in tools {
            match serde_json::from_str(&tool.arguments) {
                // In JSON the letter of an escape like `\n` would be taken for a part of the next word.
                Ok(arguments) => add_strings(arguments, &mut texts),
                Err(_) => texts.push(tool.arguments),
            }
            texts.extend(tool.cypher.into_iter().chain(tool.error).chain(tool.notes));
        }
        texts
    }

    /// Total cost of the calls, in millionths of a dollar.
    pub fn cost_micros(&self) -> u64 {
        let costs = self.calls.iter().map(|call| call.cost_micros);
        costs.fold(0, u64::saturating_add)
    }

    /// Number of tokens that the services had cached.
    pub fn cached(&self) -> u64 {
        self.calls.iter().map(|call| u64::from(call.cached)).sum()
    }
}

/// One call of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelCall {
    pub step: ModelStep,
    /// Tokens read and written.
    pub prompt: u32,
    pub completion: u32,
    /// How many of the read tokens the service had cached.
    #[serde(default)]
    pub cached: u32,
    /// In millionths of a dollar.
    #[serde(default)]
    pub cost_micros: u64,
    pub ms: u32,
}

/// The purpose of a model call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ModelStep {
    Rephrase,
    /// Selecting the recalled memories that help.
    Rerank,
    Route,
    /// Writing or repairing a statement.
    Cypher,
    Critique,
    Answer,
}

/// One call of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolUse {
    pub name: String,
    /// JSON, as the model wrote it, or as what it proposes is shown and kept.
    pub arguments: String,
    /// The statement that ran.
    pub cypher: Option<String>,
    /// Number of rows or memories found; `None` if it failed.
    pub found: Option<usize>,
    /// Why it failed.
    pub error: Option<String>,
    /// Number of times a statement was repaired.
    pub repairs: u32,
    /// Remarks on its course.
    #[serde(default)]
    pub notes: Vec<String>,
    /// It was not made, but proposed to the person who asked.
    #[serde(default)]
    pub is_proposed: bool,
    pub ms: u32,
}

impl ModelStep {
    /// The name shown to people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rephrase => "rephrase",
            Self::Rerank => "rerank",
            Self::Route => "route",
            Self::Cypher => "cypher",
            Self::Critique => "critique",
            Self::Answer => "answer",
        }
    }
}

fn add_strings(value: Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Number(number) => texts.push(number.to_string()),
        Value::Array(all) => all.into_iter().for_each(|it| add_strings(it, texts)),
        Value::Object(all) => all.into_iter().for_each(|(name, it)| {
            texts.push(name);
            add_strings(it, texts);
        }),
        Value::Null | Value::Bool(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_model_wrote_for_its_tools_is_among_the_texts_of_a_trace() {
        let tool = |arguments: &str| ToolUse {
            arguments: arguments.to_owned(),
            ..ToolUse::default()
        };
        let trace = Trace {
            tools: vec![
                ToolUse {
                    cypher: Some("RETURN 'okapi'".to_owned()),
                    error: Some("no gnu".to_owned()),
                    notes: vec!["no ocelot".to_owned()],
                    ..tool(r#"{"query":"whose is\nZEBRA-4711","of":["quokka",815]}"#)
                },
                tool(r#"{"query":"tapir"#),
            ],
            follow_ups: vec!["Is it a wombat?".to_owned()],
            ..Trace::default()
        };
        let mut texts = Trace::texts(&serde_json::to_string(&trace).unwrap());
        texts.sort();
        let mut expected = [
            "Is it a wombat?",
            "query",
            "whose is\nZEBRA-4711",
            "of",
            "quokka",
            "815",
            "RETURN 'okapi'",
            "no gnu",
            "no ocelot",
            r#"{"query":"tapir"#,
        ];
        expected.sort_unstable();
        assert_eq!(texts, expected);
        assert_eq!(Trace::texts("a zebra"), ["a zebra"]);
    }
}
