//! The result of a call.

use serde_json::{Value, json};

use crate::agent::findings;
use crate::agent::prompts::Finding;
use crate::graph::ResponseId;
use crate::graph::trace::ToolUse;
use crate::knowledge::search::citations::Cited;
use crate::knowledge::search::{Degradation, Policy};
use crate::memory::Recalled;

/// The result of a call.
#[derive(Debug, Default)]
pub struct ToolResult {
    pub finding: Finding,
    pub used: ToolUse,
    pub recalled: Vec<Recalled>,
    /// Turns that it shows beside those: the answer is withdrawn when they are forgotten.
    pub listed: Vec<ResponseId>,
    /// `elementId`s of the returned nodes.
    pub nodes: Vec<String>,
    pub is_volatile: bool,
    /// Passages of the team's knowledge, by number.
    pub cited: Vec<Cited>,
    pub degradations: Vec<Degradation>,
    pub policies: Vec<Policy>,
    /// Whether the team's knowledge was searched.
    pub has_searched: bool,
    /// Whether the records themselves are the answer.
    pub shows_records: bool,
    /// An unknown tool, or arguments that it does not accept: the model can correct the call.
    pub is_wrong_call: bool,
}

pub(super) fn takes_text(name: &str, description: &str) -> Value {
    json!({
        "type": "object",
        "properties": { name: { "type": "string", "description": description } },
        "required": [name],
        "additionalProperties": false,
    })
}

/// `find(name: "Keanu Reeves")`
pub(super) fn heading(name: &str, arguments: &Value) -> String {
    let arguments: Vec<String> = arguments
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    format!("{name}({})", arguments.join(", "))
}

pub(super) fn wrong_call(name: &str, why: &str) -> ToolResult {
    ToolResult {
        finding: findings::without(name, &format!("not called: {why}")),
        used: ToolUse {
            error: Some(why.to_owned()),
            ..ToolUse::default()
        },
        is_wrong_call: true,
        ..ToolResult::default()
    }
}
