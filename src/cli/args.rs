//! What the command line takes: all commands, and the arguments of each.

#[cfg(feature = "terminal")]
pub(super) mod ask;
pub(super) mod audit;
pub(super) mod backfill;
pub(super) mod cypher;
pub(super) mod demo;
pub(super) mod doctor;
pub(super) mod eval;
pub(super) mod health;
pub(super) mod hold;
pub(super) mod ingest;
pub(super) mod inspect;
#[cfg(feature = "mcp")]
pub(super) mod mcp;
pub(super) mod offline_turns;
pub(super) mod open;
pub(super) mod platforms;
pub(super) mod schema;
pub(super) mod search;
#[cfg(feature = "slack")]
pub(super) mod slack;
pub(super) mod source;
pub(super) mod transfer;
#[cfg(feature = "web")]
pub(super) mod web;

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use clap_complete::Shell;
use muninn::config::Options;
use muninn::memory::recall_eval::EvalArgs;
#[cfg(feature = "terminal")]
use muninn_terminal::TerminalArgs;

use open::OpenCommand;
use platforms::PlatformArgs;

/// A chat bot for teams that remembers.
#[derive(Debug, Parser)]
#[command(version, about, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(in crate::cli) command: Command,
    #[command(flatten)]
    pub(in crate::cli) options: Options,
    #[command(flatten)]
    pub(in crate::cli) platforms: PlatformArgs,
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum Command {
    /// Chat in this terminal
    ///
    /// If stdin is not a terminal, each line is a message.
    #[cfg(feature = "terminal")]
    Chat(TerminalArgs),
    /// Run the bot on all configured platforms
    Serve,
    /// Check settings, graph, models and accounts
    ///
    /// Says how to fix what is wrong; exits with 1 if anything is.
    Doctor(doctor::DoctorArgs),
    /// Tell whether the bot that runs here is well
    ///
    /// For service managers and containers. Asks the process that has the data folder open. Exits with 0 if turns are answered and reach the graph, otherwise with 1.
    Health(health::HealthArgs),
    #[command(flatten)]
    Open(OpenCommand),
    /// Print an app manifest
    #[cfg(feature = "slack")]
    Manifest {
        #[command(subcommand)]
        of: ManifestOf,
    },
    /// Print the link that invites the bot
    #[cfg(feature = "discord")]
    Invite {
        #[command(subcommand)]
        to: InviteTo,
    },
    /// Measure recall on a file of questions
    RecallEval(EvalArgs),
    /// Check generated Cypher
    Cypher {
        #[command(subcommand)]
        command: CypherCommand,
    },
    /// Show who forgot, corrected, exported or changed what
    ///
    /// The words themselves are not in it.
    Audit(audit::AuditArgs),
    /// Delete damaged parts of the graph's log that were set aside
    ///
    /// Only the embedded graph has them; `doctor` lists them.
    DiscardDamaged,
    /// Print the completion script for a shell
    Completions { shell: Shell },
    /// Print the manual page
    Man {
        /// Write a page for each command into this folder instead
        #[arg(long)]
        out: Option<PathBuf>,
    },
    /// Import a file that `export` wrote into an empty graph
    ///
    /// The file is checked as a whole first. An embedded graph is replaced as a whole or not at all.
    /// On Neo4j an interrupted import goes on when the same file is imported again; until then
    /// nothing else opens the graph.
    Import {
        file: PathBuf,
        /// Delete the graph's current content first
        #[arg(long)]
        replace: bool,
    },
}

#[cfg(feature = "slack")]
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum ManifestOf {
    /// What Slack takes under "Create an app from a manifest"
    Slack(slack::ManifestArgs),
}

#[cfg(feature = "discord")]
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum InviteTo {
    /// Into a guild, with the least permissions it needs
    Discord,
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum CypherCommand {
    /// Print the statement as it would run, or why it is refused
    ///
    /// With `-` in its place, reads a statement a line from stdin (a line that begins with a double
    /// quote is a JSON string) and prints a JSON line each.
    Check(cypher::CheckArgs),
}
