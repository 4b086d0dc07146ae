//! Outside tools, which somebody else answers. Their results are evidence: quoted, limited in length, and
//! mostly true only now.

use async_trait::async_trait;
use muninn_platform::{count_with_noun, one_line};
use serde_json::{Map, Value};

use super::result::{ToolResult, heading, wrong_call};
use crate::agent::findings;
use crate::agent::prompts::Finding;
use crate::graph::trace::ToolUse;
use crate::llm::ToolSpec;

/// Maximum characters of the arguments of a proposed call: they are shown completely.
const LONGEST_PROPOSAL: usize = 1_500;
/// Maximum tokens of the result of one call.
const TOKENS: u32 = 2_000;

/// A tool that somebody else answers.
#[async_trait]
pub trait OutsideTool: std::fmt::Debug + Send + Sync {
    fn spec(&self) -> &ToolSpec;

    /// Whether its results are true only now, so that an answer made from them is never recalled.
    fn is_volatile(&self) -> bool;

    /// Whether it may change something, so that the person is asked first.
    fn requires_approval(&self) -> bool;

    /// Checks the arguments of a call.
    ///
    /// # Errors
    /// Describes for the model what is wrong with them.
    fn checked(&self, arguments: &str) -> Result<Map<String, Value>, String>;

    /// Makes a call with [checked](Self::checked) arguments, within its own time limit.
    async fn call(&self, arguments: &Map<String, Value>) -> OutsideResponse;
}

/// The result of an outside call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutsideResponse {
    pub lines: Vec<String>,
    /// Why it failed; the lines then contain the other side's message.
    pub error: Option<String>,
}

impl OutsideResponse {
    pub fn failed(why: impl Into<String>) -> Self {
        Self {
            lines: Vec::new(),
            error: Some(why.into()),
        }
    }
}

/// Calls a tool, and returns its result as evidence.
pub(super) async fn call(tool: &dyn OutsideTool, arguments: &str) -> ToolResult {
    let name = &tool.spec().name;
    let given = match tool.checked(arguments) {
        Ok(given) => given,
        Err(why) => return wrong_call(name, &why),
    };
    if tool.requires_approval() {
        return proposal(name, given);
    }
    let answered = tool.call(&given).await;
    let heading = heading(name, &Value::Object(given));
    ToolResult {
        is_volatile: tool.is_volatile(),
        ..evidence(&heading, answered)
    }
}

/// A call that is shown to the person before it is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposedCall {
    pub tool: String,
    /// JSON, as it is shown and sent.
    pub arguments: String,
}

impl ProposedCall {
    /// Distinguishes one call from another.
    pub fn version(&self) -> u64 {
        let whole = format!("{}\n{}", self.tool, self.arguments);
        let hash = blake3::hash(whole.as_bytes());
        let mut first = [0; 8];
        first.copy_from_slice(&hash.as_bytes()[..8]);
        u64::from_le_bytes(first)
    }
}

/// The call proposed below an answer, found among its tool calls.
pub fn proposed(tools: &[ToolUse]) -> Option<ProposedCall> {
    let used = tools.iter().find(|used| used.is_proposed)?;
    Some(ProposedCall {
        tool: used.name.clone(),
        arguments: used.arguments.clone(),
    })
}

fn proposal(name: &str, given: Map<String, Value>) -> ToolResult {
    let given = Value::Object(given);
    let arguments = given.to_string();
    if arguments.chars().count() > LONGEST_PROPOSAL {
        let why = format!(
            "the arguments have more than {LONGEST_PROPOSAL} characters, and are shown whole before it is done"
        );
        return wrong_call(name, &why);
    }
    let heading = heading(name, &given);
    ToolResult {
        finding: Finding {
            heading: format!(
                "{heading}: not done yet. Below your answer they are asked, and it is done when they say yes. Do not say \
                 that it is done, and do not ask yourself"
            ),
            lines: Vec::new(),
        },
        used: ToolUse {
            found: Some(1),
            arguments,
            is_proposed: true,
            ..ToolUse::default()
        },
        is_volatile: true,
        ..ToolResult::default()
    }
}

fn evidence(heading: &str, answered: OutsideResponse) -> ToolResult {
    let OutsideResponse { lines, error } = answered;
    let outcome = match &error {
        Some(why) => format!("failed: {}", one_line(why)),
        None => count_with_noun(lines.len(), "line"),
    };
    let finding = Finding {
        heading: format!("{heading}: {outcome}"),
        // One line each, so that nothing escapes its quotation.
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
