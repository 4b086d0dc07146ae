//! The commands that work on the open graph.

use std::path::PathBuf;

use clap::Subcommand;
use serde::{Deserialize, Serialize};

#[cfg(feature = "terminal")]
use super::ask;
use super::eval::EvalArgs;
use super::inspect::{RecallArgs, SessionsArgs};
#[cfg(feature = "mcp")]
use super::mcp::McpArgs;
use super::schema::SchemaArgs;
use super::transfer::ExportArgs;
#[cfg(feature = "web")]
use super::web::WebArgs;
use super::{backfill, demo, hold, ingest, offline_turns, search, source};

#[derive(Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::cli) enum OpenCommand {
    /// Ask one question; what comes on stdin is read with it
    #[cfg(feature = "terminal")]
    Ask(ask::AskArgs),
    /// Load a sample knowledge graph
    ///
    /// Running it again changes nothing.
    Demo {
        #[arg(value_enum)]
        demo: demo::Demo,
    },
    /// Add documents, conversations or records to the knowledge
    Ingest(ingest::IngestArgs),
    /// List the ingested sources with versions and counts
    Catalog(ingest::CatalogArgs),
    /// List, remove or rename ingested sources
    Source {
        #[command(subcommand)]
        command: source::SourceCommand,
    },
    /// List or delete the copies that a legal hold keeps
    ///
    /// Of what people forget or edit in a channel under a legal hold, copies are kept for the operator.
    Hold {
        #[command(subcommand)]
        command: hold::HoldCommand,
    },
    /// Read what was said in a channel before the bot listened
    ///
    /// Only where the channel is remembered; goes on after a restart.
    Backfill(backfill::BackfillArgs),
    /// Search the knowledge and explain each result's score
    Search(search::SearchArgs),
    /// Show labels, relationships and properties of the knowledge
    Schema(SchemaArgs),
    /// List the conversations
    Sessions(SessionsArgs),
    /// Show which exchanges a question would recall, and why
    Recall(RecallArgs),
    /// Measure how well this memory does, from what is in it
    ///
    /// No model is asked. Exits with 1 if the embedder is broken, or if something is worse than in the report that --against names.
    Eval(EvalArgs),
    /// List, retry or discard turns answered without the graph
    ///
    /// While the graph is away, turns wait in a file; one that the graph then refuses is set aside.
    OfflineTurns {
        #[command(subcommand)]
        command: offline_turns::OfflineTurns,
    },
    /// Re-embed turns that another embedding model embedded
    ///
    /// Can be interrupted and resumed.
    Reembed,
    /// Calibrate recall for the configured embedder
    ///
    /// Measures on the stored conversations.
    Calibrate {
        /// Folder for the curve as an SVG; by default beside the calibration file
        #[arg(long)]
        out: Option<PathBuf>,
    },
    /// Let a program ask by the Model Context Protocol
    ///
    /// A program, such as an editor, asks on stdin and stdout; or by HTTP, with tokens that are made and revoked here.
    #[cfg(feature = "mcp")]
    Mcp(McpArgs),
    /// Open the pages: conversations, and what answers came from
    #[cfg(feature = "web")]
    Web(WebArgs),
    /// Export the graph, one person's data, or conversations
    ///
    /// The whole graph as JSON Lines, what is kept of one person, or conversations for fine-tuning.
    Export(ExportArgs),
}
