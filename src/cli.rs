//! The commands.

mod calibrate;
#[cfg(feature = "terminal")]
mod chat;
mod cypher;
mod demo;
#[cfg(feature = "discord")]
mod discord;
mod doctor;
mod ingest;
mod inspect;
#[cfg(feature = "matrix")]
mod matrix;
mod offline_turns;
mod platforms;
mod reembed;
mod schema;
mod search;
mod serve;
#[cfg(feature = "slack")]
mod slack;
mod transfer;

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use inspect::Scope;
use muninn::config::{Config, LogFormat, Options};
use muninn::memory::eval::EvalArgs;
use tracing_subscriber::EnvFilter;

/// A chat bot for teams that remembers.
#[derive(Debug, Parser)]
#[command(version, about, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    options: Options,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Talk to it here; with stdin not a terminal, a line a turn
    #[cfg(feature = "terminal")]
    Chat {
        /// The conversation to go on with
        #[arg(long, default_value = "default")]
        session: String,
    },
    /// Run every platform that is configured
    Serve,
    /// Check configuration, graph and models, and say what to do
    Doctor,
    /// Load knowledge to try things on, once however often it is called
    Demo {
        #[arg(value_enum)]
        demo: demo::Demo,
    },
    /// Take documents, conversations or records into the team's knowledge
    Ingest(ingest::IngestArgs),
    /// Show what was ingested: sources, versions, counts, what was refused
    Catalog,
    /// Search what was ingested, and show each find with its scores and why
    Search(search::SearchArgs),
    /// Print the manifest of an app
    #[cfg(feature = "slack")]
    Manifest {
        #[command(subcommand)]
        of: ManifestOf,
    },
    /// Print the address that invites the bot
    #[cfg(feature = "discord")]
    Invite {
        #[command(subcommand)]
        to: InviteTo,
    },
    /// Show what the team's knowledge is made of
    Schema {
        /// As JSON, in the form that other commands read
        #[arg(long)]
        json: bool,
    },
    /// List the conversations
    Sessions,
    /// Show what would be recalled for a question, and why
    Recall {
        question: String,
        /// The conversation in whose audience it is asked
        #[arg(long, conflicts_with = "audience")]
        session: Option<String>,
        /// The audience in which it is asked
        #[arg(long, default_value = "terminal")]
        audience: String,
        /// Candidates shown at most
        #[arg(long, default_value_t = 20)]
        limit: usize,
    },
    /// Recall for a file of questions, to measure it
    RecallEval(EvalArgs),
    /// Embed again what another embedder has embedded; goes on where it was stopped
    Reembed,
    /// What waits for the graph, and what it refused: list, retry, discard
    OfflineTurns {
        #[command(subcommand)]
        command: offline_turns::OfflineTurns,
    },
    /// Fit recall to the configured embedder, by the conversations there are
    Calibrate {
        /// Folder that gets the curve as a picture; unset for the one of the calibration
        #[arg(long)]
        out: Option<PathBuf>,
    },
    /// Look at generated Cypher
    Cypher {
        #[command(subcommand)]
        command: CypherCommand,
    },
    /// Write everything in the graph to a file of JSON lines
    Export { file: PathBuf },
    /// Remove what was set aside when the embedded graph's log was damaged; `doctor` says whether
    /// there is anything
    DiscardDamaged,
    /// Read a file that `export` wrote into an empty graph
    ///
    /// The file is checked as a whole first. An embedded graph is replaced as a whole or not at all.
    /// On Neo4j an interrupted import goes on when the same file is imported again; until then
    /// nothing else opens the graph.
    Import {
        file: PathBuf,
        /// Remove what is in the graph first
        #[arg(long)]
        replace: bool,
    },
}

#[cfg(feature = "slack")]
#[derive(Debug, Subcommand)]
enum ManifestOf {
    /// What Slack takes under "Create an app from a manifest"
    Slack(slack::ManifestArgs),
}

#[cfg(feature = "discord")]
#[derive(Debug, Subcommand)]
enum InviteTo {
    /// Into a guild, with the least permissions it needs
    Discord,
}

#[derive(Debug, Subcommand)]
enum CypherCommand {
    /// Print the statement as it would run, or why it is refused
    ///
    /// With `-` in its place, reads a statement a line from stdin (a line that begins with a double
    /// quote is a JSON string) and prints a JSON line each.
    Check(cypher::CheckArgs),
}

/// Runs the command.
///
/// # Errors
/// With a sentence for the person at the terminal.
pub(crate) fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    log(&cli.command, &cli.options)?;
    let config = cli.options.into_config()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let code = runtime.block_on(execute(cli.command, config));
    // A thread that still reads a terminal must not keep the process.
    runtime.shutdown_background();
    code
}

async fn execute(command: Command, config: Config) -> anyhow::Result<ExitCode> {
    match command {
        #[cfg(feature = "terminal")]
        Command::Chat { session } => chat::run(&config, &session).await,
        Command::Serve => serve::run(&config).await,
        Command::Doctor => doctor::run(&config).await,
        Command::Demo { demo } => demo::run(&config, demo).await,
        Command::Ingest(args) => ingest::run(&config, args).await,
        Command::Catalog => ingest::catalog(&config).await,
        Command::Search(args) => search::run(&config, args).await,
        #[cfg(feature = "slack")]
        Command::Manifest {
            of: ManifestOf::Slack(args),
        } => slack::print_manifest(&config, args),
        #[cfg(feature = "discord")]
        Command::Invite {
            to: InviteTo::Discord,
        } => discord::print_invite(&config).await,
        Command::Schema { json } => schema::run(&config, json).await,
        Command::Sessions => inspect::sessions(&config).await,
        Command::Recall {
            question,
            session,
            audience,
            limit,
        } => {
            let scope = match session {
                Some(session) => Scope::Session(session),
                None => Scope::Audience(audience),
            };
            inspect::recall(&config, &question, scope, limit).await
        }
        Command::RecallEval(args) => {
            muninn::memory::eval::run(&args)?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Reembed => reembed::run(&config).await,
        Command::OfflineTurns { command } => offline_turns::run(&config, command).await,
        Command::Calibrate { out } => calibrate::run(&config, out.as_deref()).await,
        Command::Cypher {
            command: CypherCommand::Check(args),
        } => cypher::check(&config, &args).await,
        Command::Export { file } => transfer::export(&config, &file).await,
        Command::DiscardDamaged => transfer::discard_damaged(&config),
        Command::Import { file, replace } => transfer::import(&config, &file, replace).await,
    }
}

/// Its errors quote whole answers of the model, so `async_openai` is silent. The Matrix client calls
/// every refusal an error, also those that are part of asking; what matters is said by us.
const SERVICE_LOG: &str = "warn,muninn=info,async_openai=off,matrix_sdk::http_client=off,matrix_sdk_crypto::backups=error";
#[cfg(feature = "terminal")]
const CHAT_LOG: &str = "error,async_openai=off";

fn log(command: &Command, options: &Options) -> anyhow::Result<()> {
    let chosen = options.log.as_deref().unwrap_or(match command {
        // A person talks there; what they should know is said in the chat.
        #[cfg(feature = "terminal")]
        Command::Chat { .. } => CHAT_LOG,
        #[cfg(feature = "slack")]
        Command::Manifest { .. } => SERVICE_LOG,
        #[cfg(feature = "discord")]
        Command::Invite { .. } => SERVICE_LOG,
        Command::Serve
        | Command::Doctor
        | Command::Demo { .. }
        | Command::Ingest(_)
        | Command::Catalog
        | Command::Search(_)
        | Command::Schema { .. }
        | Command::Sessions
        | Command::Recall { .. }
        | Command::RecallEval(_)
        | Command::Reembed
        | Command::OfflineTurns { .. }
        | Command::Calibrate { .. }
        | Command::Cypher { .. }
        | Command::DiscardDamaged
        | Command::Export { .. }
        | Command::Import { .. } => SERVICE_LOG,
    });
    let filter = EnvFilter::try_new(chosen)
        .map_err(|error| anyhow::anyhow!("LOG is {chosen:?}: {error}"))?;
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    match options.log_format {
        LogFormat::Text => builder.init(),
        LogFormat::Json => builder.json().init(),
    }
    Ok(())
}
