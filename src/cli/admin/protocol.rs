//! The protocol of the admin socket: one JSON value per line. The server speaks first.
//!
//! Settings are never sent: the running process has its own, and with them the secrets.

use serde::{Deserialize, Serialize};

use crate::cli::args::open::OpenCommand;
use crate::cli::doctor::finding::PrintedFinding;
use crate::cli::exit::Exit;
use crate::cli::graph_schema::GraphSchema;
use crate::cli::progress::ProgressUpdate;
#[cfg(feature = "mcp")]
use crate::cli::remote_call::RemoteCall;

/// Version of this protocol. A mismatch is reported to the user.
pub(in crate::cli) const PROTOCOL: u32 = 5;

/// Maximum bytes of a line.
pub(in crate::cli) const LONGEST_LINE: usize = 8 * 1024 * 1024;

/// Characters of output per frame.
const OUTPUT: usize = 16 * 1024;

/// The server's first line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::cli) struct ServerGreeting {
    /// The version of the program.
    pub(in crate::cli) muninn: String,
    pub(in crate::cli) protocol: u32,
    pub(in crate::cli) pid: u32,
    /// A hash of its graph's location.
    pub(in crate::cli) graph: String,
    /// It serves too many connections already, and sends nothing more.
    pub(in crate::cli) is_full: bool,
}

/// Why a process takes no command.
pub(in crate::cli) fn too_many_commands(pid: u32) -> String {
    format!(
        "process {pid}, which has the graph open, has too many commands under way; try again later"
    )
}

/// The client's first line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::cli) struct Request {
    pub(in crate::cli) what: AdminOperation,
    /// Whether the user sees progress.
    pub(in crate::cli) shows_progress: bool,
}

/// What a client asks for.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(in crate::cli) enum AdminOperation {
    /// A command, with absolute paths.
    Run(OpenCommand),
    /// The findings of `doctor` about the graph.
    Health,
    /// Whether turns are answered and reach the graph.
    Ready { json: bool },
    /// The schema for `cypher check`.
    Known,
    /// A tool call by a program.
    #[cfg(feature = "mcp")]
    Call(RemoteCall),
    /// A chat: lines of input follow.
    #[cfg(feature = "terminal")]
    Chat { session: String, person: String },
}

/// A message of the server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::cli) enum Frame {
    Out(String),
    Progress(ProgressUpdate),
    /// A sign of life.
    Alive,
    Findings(Vec<PrintedFinding>),
    Known(GraphSchema),
    #[cfg(feature = "mcp")]
    Called(muninn::mcp::ToolOutcome),
    #[cfg(feature = "terminal")]
    Told(muninn_terminal::RemoteEvent),
    Exit(Exit),
    /// The request failed; holds a sentence.
    Failed(String),
}

impl Frame {
    /// Splits a text into frames that fit into a line.
    pub(in crate::cli) fn out(text: &str) -> Vec<Self> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest
                .char_indices()
                .nth(OUTPUT)
                .map_or(rest.len(), |(at, _)| at);
            let (piece, after) = rest.split_at(end);
            pieces.push(Self::Out(piece.to_owned()));
            rest = after;
        }
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_goes_in_pieces() {
        let text = "ä".repeat(OUTPUT * 2 + 1);
        let pieces = Frame::out(&text);
        assert_eq!(pieces.len(), 3);
        let again: String = pieces
            .iter()
            .map(|piece| match piece {
                Frame::Out(text) => text.as_str(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(again, text);
    }
}
