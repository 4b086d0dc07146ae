//! What goes over the admin socket: a JSON value a line. The server speaks first.
//!
//! Settings are never sent: the process that runs has its own, and with them the secrets.

use serde::{Deserialize, Serialize};

use crate::cli::cypher::Known;
use crate::cli::doctor::Shown;
use crate::cli::open_commands::OpenCommand;
use crate::cli::output::{Exit, Far};

/// Of what is said here. Another one is told to the person who asks.
pub(in crate::cli) const PROTOCOL: u32 = 4;

/// The longest line, in bytes.
pub(in crate::cli) const LONGEST_LINE: usize = 8 * 1024 * 1024;

/// Characters of output that go together.
const OUTPUT: usize = 16 * 1024;

/// The server's first line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::cli) struct Hello {
    /// The version of the program.
    pub(in crate::cli) muninn: String,
    pub(in crate::cli) protocol: u32,
    pub(in crate::cli) pid: u32,
    /// A hash of where its graph is.
    pub(in crate::cli) graph: String,
    /// It does too much already, and says nothing more.
    pub(in crate::cli) is_full: bool,
}

/// The client's first line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::cli) struct Request {
    pub(in crate::cli) what: Asked,
    /// Whether the person sees how far a command is.
    pub(in crate::cli) shows_progress: bool,
}

/// What a client wants.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(in crate::cli) enum Asked {
    /// A command, with paths from the root.
    Run(OpenCommand),
    /// What `doctor` says of the graph.
    Health,
    /// Whether turns are answered and reach the graph.
    Ready { json: bool },
    /// What `cypher check` checks against.
    Known,
    /// A tool, for a program that asks here.
    #[cfg(feature = "mcp")]
    Call(crate::cli::mcp::RemoteCall),
    /// To talk: what is typed follows, a line each.
    #[cfg(feature = "terminal")]
    Chat { session: String, person: String },
}

/// What the server says then.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::cli) enum Frame {
    Out(String),
    Progress(Far),
    /// It is still at it.
    Alive,
    Findings(Vec<Shown>),
    Known(Known),
    #[cfg(feature = "mcp")]
    Called(muninn::mcp::ToolOutcome),
    #[cfg(feature = "terminal")]
    Told(muninn_terminal::Told),
    Exit(Exit),
    /// It failed, in a sentence.
    Failed(String),
}

impl Frame {
    /// A text in pieces that fit in a line.
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
