//! A tool call for another process.

use muninn::mcp::ToolCall;
use serde::{Deserialize, Serialize};

/// A tool call for the process that has the graph open.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RemoteCall {
    /// The token of the caller. `None`: the user of this machine.
    pub(super) token: Option<String>,
    pub(super) person: String,
    pub(super) call: ToolCall,
}
