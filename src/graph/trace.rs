//! How an answer came to be, kept with it for `/why`.

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
    /// What it was ranked by, as `muninn search` shows it.
    pub score: f32,
}

impl Trace {
    /// What all calls cost, in millionths of a dollar.
    pub fn cost_micros(&self) -> u64 {
        let costs = self.calls.iter().map(|call| call.cost_micros);
        costs.fold(0, u64::saturating_add)
    }

    /// Tokens that services had read before.
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
    /// Of those read: the service had read them before.
    #[serde(default)]
    pub cached: u32,
    /// Millionths of a dollar.
    #[serde(default)]
    pub cost_micros: u64,
    pub ms: u32,
}

/// What a model was called for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ModelStep {
    Rephrase,
    /// Picking what helps of what was recalled.
    Rerank,
    Route,
    /// Writing a statement, or repairing one.
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
    /// Rows or memories found; none where it failed.
    pub found: Option<usize>,
    /// Why it failed.
    pub error: Option<String>,
    /// How often a statement was written again.
    pub repairs: u32,
    /// What has to be known of how it went.
    #[serde(default)]
    pub notes: Vec<String>,
    /// It was not made: the person who asked is asked first.
    #[serde(default)]
    pub is_proposed: bool,
    pub ms: u32,
}

impl ModelStep {
    /// As people read it.
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
