//! Tools that somebody else answers. What they give is evidence: quoted, bounded, and mostly true only now.

use async_trait::async_trait;
use muninn_platform::{counted, one_line};
use serde_json::{Map, Value};

use super::{ToolResult, heading, wrong_call};
use crate::agent::findings;
use crate::agent::prompts::Finding;
use crate::graph::trace::ToolUse;
use crate::llm::ToolSpec;

/// Tokens of what one call brings.
const TOKENS: u32 = 2_000;

/// A tool that somebody else answers.
#[async_trait]
pub trait OutsideTool: std::fmt::Debug + Send + Sync {
    fn spec(&self) -> &ToolSpec;

    /// What it returns is true only now: an answer made from it is never recalled.
    fn is_volatile(&self) -> bool;

    /// The arguments of a call, where they are what it takes.
    ///
    /// # Errors
    /// What is wrong with them, for the model.
    fn checked(&self, arguments: &str) -> Result<Map<String, Value>, String>;

    /// Asks, with arguments that were [checked](Self::checked), within a time of its own.
    async fn call(&self, arguments: &Map<String, Value>) -> Answered;
}

/// What came of asking outside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answered {
    pub lines: Vec<String>,
    /// Why it failed; the lines then tell what the other side said of it.
    pub error: Option<String>,
}

impl Answered {
    pub fn failed(why: impl Into<String>) -> Self {
        Self {
            lines: Vec::new(),
            error: Some(why.into()),
        }
    }
}

/// Calls it, and gives what it answers as evidence.
pub(super) async fn call(tool: &dyn OutsideTool, arguments: &str) -> ToolResult {
    let name = &tool.spec().name;
    let given = match tool.checked(arguments) {
        Ok(given) => given,
        Err(why) => return wrong_call(name, &why),
    };
    let answered = tool.call(&given).await;
    let heading = heading(name, &Value::Object(given));
    ToolResult {
        is_volatile: tool.is_volatile(),
        ..evidence(&heading, answered)
    }
}

fn evidence(heading: &str, answered: Answered) -> ToolResult {
    let Answered { lines, error } = answered;
    let outcome = match &error {
        Some(why) => format!("failed: {}", one_line(why)),
        None => counted(lines.len(), "line"),
    };
    let finding = Finding {
        heading: format!("{heading}: {outcome}"),
        // One line each, so that nothing gets out of its quotation.
        lines: lines.iter().map(|line| one_line(line)).collect(),
    };
    let mut fitted = findings::fitting(&[finding], TOKENS);
    ToolResult {
        used: ToolUse {
            found: error.is_none().then_some(lines.len()),
            error,
            ..ToolUse::default()
        },
        finding: fitted.pop().unwrap_or_default(),
        ..ToolResult::default()
    }
}
