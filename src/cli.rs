//! The commands.

mod access_points;
mod admin;
mod allow_lists;
mod args;
#[cfg(feature = "terminal")]
mod ask;
mod audit;
mod backfill;
mod calibrate;
#[cfg(feature = "terminal")]
mod chat;
mod chat_export;
mod command_line;
mod context;
mod cypher;
mod data_owner;
mod demo;
#[cfg(feature = "discord")]
mod discord;
mod doctor;
pub(crate) mod env_file;
mod eval;
mod exit;
mod freshness;
mod graph_schema;
mod health;
mod hold;
mod ingest;
mod inspect;
mod live_settings;
#[cfg(feature = "mcp")]
mod mcp;
mod missing_feature;
mod names;
mod offline_turns;
mod open_access_points;
mod open_commands;
mod output;
#[cfg(any(feature = "mcp", feature = "terminal", feature = "web"))]
mod own_bot;
mod own_copy;
mod packaging;
mod paths;
mod platforms;
mod progress;
mod prompt;
mod reembed;
mod refresh;
#[cfg(feature = "mcp")]
mod remote_call;
mod schema;
mod search;
mod serve;
#[cfg(feature = "slack")]
mod slack;
mod source;
#[cfg(feature = "terminal")]
mod terminal_socket;
#[cfg(feature = "otel")]
mod traces;
#[cfg(not(feature = "otel"))]
#[path = "cli/no_traces.rs"]
mod traces;
mod transfer;
#[cfg(feature = "web")]
mod web;

use std::io::IsTerminal as _;
use std::process::ExitCode;

#[cfg(feature = "discord")]
use args::InviteTo;
#[cfg(feature = "slack")]
use args::ManifestOf;
#[cfg(feature = "mcp")]
use args::open::OpenCommand;
use args::platforms::PlatformArgs;
use args::{Cli, Command, CypherCommand};
use clap::FromArgMatches as _;
use command_line::{command_line, help_for_missing};
use context::Context;
use exit::Exit;
pub(crate) use live_settings::Environment;
use muninn::agent::telemetry;
use muninn::config::{Config, ConfigError, LogFormat, Options, data_dir};
use traces::Traces;
#[cfg(feature = "web")]
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _};

impl Command {
    /// Whether it needs what is in the data folder. `doctor` says of itself what is wrong there.
    fn uses_data(&self) -> bool {
        match self {
            #[cfg(feature = "terminal")]
            Self::Chat(_) => true,
            Self::Serve
            | Self::Health(_)
            | Self::Open(_)
            | Self::RecallEval(_)
            | Self::Audit(_)
            | Self::DiscardDamaged
            | Self::Import { .. } => true,
            #[cfg(feature = "slack")]
            Self::Manifest { .. } => false,
            #[cfg(feature = "discord")]
            Self::Invite { .. } => false,
            Self::Doctor(_) | Self::Cypher { .. } | Self::Completions { .. } | Self::Man { .. } => {
                false
            }
        }
    }
}

/// Reads the command line; ends the process with help that was asked for, or with what is wrong in it.
///
/// # Errors
/// With the code to end with, if a command is missing and the help says which there are.
#[expect(clippy::print_stderr, reason = "as the parser prints what is wrong")]
pub(crate) fn read() -> Result<Cli, ExitCode> {
    let mut command = command_line();
    let read = match command.try_get_matches_from_mut(std::env::args_os()) {
        Ok(read) => read,
        Err(error) => match help_for_missing(&error) {
            Some(help) => {
                eprint!("{help}");
                return Err(ExitCode::from(2));
            }
            None => error.exit(),
        },
    };
    let read = Cli::from_arg_matches(&read);
    Ok(read.unwrap_or_else(|error| error.format(&mut command).exit()))
}

/// Runs the command.
///
/// # Errors
/// With a sentence for the person at the terminal.
pub(crate) fn run(cli: Cli, environment: Environment) -> anyhow::Result<ExitCode> {
    let traces = log(&cli.command, &cli.options)?;
    for unknown in names::unknown_variables() {
        tracing::warn!(target: SETTINGS, "{unknown}");
    }
    // Who looks for what is wrong hears of everything else, too.
    let (config, wrong) = if matches!(cli.command, Command::Doctor(_)) {
        cli.options.into_config_to_check()?
    } else {
        (cli.options.into_config()?, None)
    };
    cli.platforms.check(&config)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let command = execute(cli.command, config, cli.platforms, environment, wrong);
    let code = runtime.block_on(command);
    if let Some(traces) = traces {
        traces.end();
    }
    // A thread that still reads a terminal must not keep the process.
    runtime.shutdown_background();
    code.map(ExitCode::from)
}

async fn execute(
    command: Command,
    config: Config,
    platforms: PlatformArgs,
    environment: Environment,
    wrong: Option<ConfigError>,
) -> anyhow::Result<Exit> {
    let at = Context::here(config);
    let config = &at.config;
    if command.uses_data() {
        data_dir::format(&config.data_dir)?;
    }
    match command {
        #[cfg(feature = "terminal")]
        Command::Chat(args) => chat::run(&at, &args.session, environment).await,
        Command::Serve => serve::run(config, &platforms, environment).await,
        Command::Doctor(args) => doctor::run(&at, &platforms, &args, wrong.as_ref()).await,
        Command::Health(args) => health::run(config, &args).await,
        Command::Open(command) => command.execute(&at, environment).await,
        #[cfg(feature = "slack")]
        Command::Manifest {
            of: ManifestOf::Slack(args),
        } => slack::print_manifest(config, &platforms.slack, args),
        #[cfg(feature = "discord")]
        Command::Invite {
            to: InviteTo::Discord,
        } => discord::print_invite(config, &platforms.discord).await,
        Command::RecallEval(args) => {
            muninn::memory::recall_eval::run(&args)?;
            Ok(Exit::SUCCESS)
        }
        Command::Cypher {
            command: CypherCommand::Check(args),
        } => cypher::check(&at, &args).await,
        Command::Completions { shell } => packaging::completions(shell),
        Command::Man { out } => packaging::manual(out.as_deref()),
        Command::Audit(args) => audit::run(&at, &args).await,
        Command::DiscardDamaged => transfer::discard_damaged(config).await,
        Command::Import { file, replace } => transfer::import(config, &file, replace).await,
    }
}

/// `async_openai` quotes whole answers of the model in its errors, and `neo4rs` logs each error at length although it is
/// logged here, too: both are silent. The Matrix client logs every refusal as an error, also expected ones.
const SERVICE_LOG: &str = "warn,muninn=info,async_openai=off,neo4rs=off,matrix_sdk::http_client=off,matrix_sdk_crypto::backups=error";
/// The same, whatever else somebody wants to have logged.
const QUIET: [&str; 2] = ["async_openai", "neo4rs"];
/// What is said of settings.
const SETTINGS: &str = "muninn::settings";
#[cfg(any(feature = "mcp", feature = "terminal"))]
const CHAT_LOG: &str = "error,muninn::settings=warn,async_openai=off,neo4rs=off";

/// Begins to log, and to trace where somebody wants it.
fn log(command: &Command, options: &Options) -> anyhow::Result<Option<Traces>> {
    let chosen = options.log.as_deref().unwrap_or(match command {
        // A person talks there; what they should know is said in the chat.
        #[cfg(feature = "terminal")]
        Command::Chat(_) => CHAT_LOG,
        // A program talks there, which shows nobody what is logged.
        #[cfg(feature = "mcp")]
        Command::Open(OpenCommand::Mcp(_)) => CHAT_LOG,
        #[cfg(feature = "slack")]
        Command::Manifest { .. } => SERVICE_LOG,
        #[cfg(feature = "discord")]
        Command::Invite { .. } => SERVICE_LOG,
        Command::Serve
        | Command::Doctor(_)
        | Command::Health(_)
        | Command::Open(_)
        | Command::RecallEval(_)
        | Command::Cypher { .. }
        | Command::Audit(_)
        | Command::DiscardDamaged
        | Command::Completions { .. }
        | Command::Man { .. }
        | Command::Import { .. } => SERVICE_LOG,
    });
    let filter = log_filter(chosen)?;
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    let lines = match options.log_format {
        LogFormat::Text => lines.boxed(),
        LogFormat::Json => lines.json().boxed(),
    };
    let log = tracing_subscriber::registry().with(lines.with_filter(filter));
    // Whatever is logged, the pages show what went wrong.
    #[cfg(feature = "web")]
    let log = log.with(web::logged_errors().with_filter(LevelFilter::WARN));
    let traces = Traces::new(&options.traces)?;
    log.with(traces.as_ref().map(Traces::layer)).init();
    Ok(traces)
}

fn log_filter(chosen: &str) -> anyhow::Result<EnvFilter> {
    let mut filter = EnvFilter::try_new(chosen)
        .map_err(|error| anyhow::anyhow!("LOG is {chosen:?}: {error}"))?
        // Spans of traces are no part of the log.
        .add_directive(format!("{}=off", telemetry::SPAN_TARGET).parse()?);
    for quiet in QUIET.iter().filter(|target| !chosen.contains(**target)) {
        filter = filter.add_directive(format!("{quiet}=off").parse()?);
    }
    Ok(filter)
}

#[cfg(all(
    test,
    feature = "discord",
    feature = "matrix",
    feature = "slack",
    feature = "webhook"
))]
mod tests;
