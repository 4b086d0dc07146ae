//! Commands that work on the open graph, in this process or in the one that has it open.

use std::io;

use super::admin;
#[cfg(feature = "mcp")]
use super::args::mcp::McpArgs;
use super::args::open::OpenCommand;
use super::args::transfer::ExportArgs;
#[cfg(feature = "terminal")]
use super::ask;
use super::context::Context;
use super::data_owner::refuse_root;
use super::eval;
use super::exit::Exit;
use super::live_settings::Environment;
#[cfg(feature = "mcp")]
use super::mcp;
use super::paths::ChangePath;
#[cfg(feature = "web")]
use super::web;
use super::{
    backfill, calibrate, demo, hold, ingest, inspect, offline_turns, reembed, schema, search,
    source, transfer,
};

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
        refuse_root(&at.config)?;
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
            #[cfg(all(feature = "terminal", feature = "web"))]
            Self::Web(args) => Self::Web(args.complete()),
            other => other,
        })
    }

    /// Changes the paths of the files and folders that it reads and writes.
    ///
    /// # Errors
    /// Fails like `change`.
    pub(super) fn with_paths(self, change: ChangePath<'_>) -> io::Result<Self> {
        Ok(match self {
            Self::Ingest(args) => Self::Ingest(args.with_paths(change)?),
            Self::Calibrate { out } => Self::Calibrate {
                out: out.map(change).transpose()?,
            },
            Self::Eval(args) => Self::Eval(args.with_paths(change)?),
            Self::Export(args) => Self::Export(ExportArgs {
                file: change(args.file)?,
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
