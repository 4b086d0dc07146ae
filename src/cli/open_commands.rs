//! Commands that work on the open graph, in this process or in the one that has it open.

use std::io;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use serde::{Deserialize, Serialize};

use super::admin;
#[cfg(feature = "terminal")]
use super::ask;
use super::context::Context;
use super::eval::{self, EvalArgs};
use super::inspect::{RecallArgs, SessionsArgs};
use super::live_settings::Environment;
#[cfg(feature = "mcp")]
use super::mcp::{self, McpArgs};
use super::output::Exit;
use super::schema::SchemaArgs;
use super::transfer::ExportArgs;
#[cfg(feature = "web")]
use super::web::{self, WebArgs};
use super::{
    backfill, calibrate, demo, hold, ingest, inspect, offline_turns, reembed, schema, search,
    source, transfer,
};

#[derive(Debug, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum OpenCommand {
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

impl OpenCommand {
    /// Runs it where the graph is open: in the running process, if there is one.
    ///
    /// # Errors
    /// Fails with a sentence for the user of the terminal.
    pub(super) async fn execute(
        self,
        at: &Context,
        environment: Environment,
    ) -> anyhow::Result<Exit> {
        let command = self.complete()?;
        // The user is here, wherever the graph is.
        if let Self::Source { command } = &command
            && !command.is_meant()?
        {
            return at.out.say("Nothing was removed.").await;
        }
        if let Self::Hold { command } = &command
            && !command.is_meant()?
        {
            return at.out.say("Nothing was deleted.").await;
        }
        #[cfg(feature = "mcp")]
        if let Self::Mcp(McpArgs { command: None }) = &command {
            return Box::pin(mcp::stdio(at, environment)).await;
        }
        match admin::connect(&at.config).await? {
            Some(connection) => connection.run(command).await,
            None => command.run_alone(at, environment).await,
        }
    }

    /// Runs it in a process of its own.
    #[cfg_attr(
        not(feature = "web"),
        expect(unused_variables, reason = "no command has a bot of its own")
    )]
    async fn run_alone(self, at: &Context, environment: Environment) -> anyhow::Result<Exit> {
        match self {
            #[cfg(feature = "web")]
            Self::Web(args) => web::alone(at, args, environment).await,
            command => command.run(at).await,
        }
    }

    /// Runs it here.
    ///
    /// # Errors
    /// Fails with a sentence for the user of the terminal.
    pub(super) async fn run(self, at: &Context) -> anyhow::Result<Exit> {
        match self {
            #[cfg(feature = "terminal")]
            Self::Ask(args) => ask::run(at, args).await,
            Self::Demo { demo } => demo::run(at, demo).await,
            Self::Ingest(args) => ingest::run(at, args).await,
            Self::Catalog(args) => ingest::catalog(at, &args).await,
            Self::Source { command } => source::run(at, command).await,
            Self::Hold { command } => hold::run(at, command).await,
            Self::Backfill(args) => backfill::run(at, &args).await,
            Self::Search(args) => search::run(at, args).await,
            Self::Schema(args) => schema::run(at, &args).await,
            Self::Sessions(args) => inspect::sessions(at, &args).await,
            Self::Recall(args) => inspect::recall(at, args).await,
            Self::Eval(args) => eval::run(at, args).await,
            Self::OfflineTurns { command } => offline_turns::run(at, command).await,
            Self::Reembed => reembed::run(at).await,
            Self::Calibrate { out } => calibrate::run(at, out.as_deref()).await,
            #[cfg(feature = "mcp")]
            Self::Mcp(args) => mcp::run(at, args).await,
            #[cfg(feature = "web")]
            Self::Web(args) => web::run(at, args).await,
            Self::Export(args) => transfer::export_as_wanted(at, &args).await,
        }
    }

    /// Adds what only this process can read.
    ///
    /// # Errors
    /// Fails when that is impossible.
    fn complete(self) -> anyhow::Result<Self> {
        Ok(match self {
            #[cfg(feature = "terminal")]
            Self::Ask(args) => Self::Ask(args.complete()?),
            other => other,
        })
    }

    /// Makes its paths absolute.
    ///
    /// # Errors
    /// Fails when this process has no working directory.
    pub(super) fn with_whole_paths(self) -> io::Result<Self> {
        Ok(match self {
            Self::Ingest(args) => Self::Ingest(args.with_whole_paths()?),
            Self::Calibrate { out } => Self::Calibrate {
                out: out.map(|out| whole(&out)).transpose()?,
            },
            Self::Eval(args) => Self::Eval(args.with_whole_paths()?),
            Self::Export(args) => Self::Export(ExportArgs {
                file: whole(&args.file)?,
                ..args
            }),
            #[cfg(feature = "terminal")]
            Self::Ask(_) => self,
            #[cfg(feature = "mcp")]
            Self::Mcp(_) => self,
            #[cfg(feature = "web")]
            Self::Web(_) => self,
            Self::Demo { .. }
            | Self::Catalog(_)
            | Self::Source { .. }
            | Self::Hold { .. }
            | Self::Backfill(_)
            | Self::Search(_)
            | Self::Schema(_)
            | Self::Sessions(_)
            | Self::Recall(_)
            | Self::OfflineTurns { .. }
            | Self::Reembed => self,
        })
    }
}

/// Returns an absolute path.
pub(super) fn whole(path: &Path) -> io::Result<PathBuf> {
    std::path::absolute(path)
}
