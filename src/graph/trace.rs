//! The trace of an answer: how it came to be, kept with it for `/why`.

use serde::{Deserialize, Serialize};

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
    /// JSON, as the model wrote it.
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
