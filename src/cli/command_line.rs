//! The command line with its help: settings are grouped, and each command's help lists only its own
//! options.

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, CommandFactory as _};

use super::args::Cli;

/// Groups of settings by name prefix, in the order of the help.
const GROUPS: &[(&str, &[&str])] = &[
    ("Graph and files", &["graph", "data", "sources"]),
    (
        "Model",
        &[
            "openai",
            "chat",
            "utility",
            "embedding",
            "model",
            "models",
            "price",
            "prices",
            "budget",
        ],
    ),
    (
        "Answers",
        &[
            "bot", "language", "time", "prompts", "answer", "context", "agent",
        ],
    ),
    ("Memory", &["recall", "window", "audit"]),
    (
        "Limits",
        &[
            "channel",
            "message",
            "messages",
            "attachment",
            "inbox",
            "turn",
            "turns",
            "shutdown",
            "missed",
        ],
    ),
    (
        "Process",
        &["terminal", "http", "web", "mcp", "log", "otel"],
    ),
    ("Matrix", &["matrix"]),
    ("Slack", &["slack"]),
    ("Discord", &["discord"]),
    ("Webhook", &["webhook"]),
];

const WHERE_SETTINGS_ARE: &str =
    "Settings: environment variables, lines of .env, or options; see `muninn --help`.";

/// Returns the group of a setting; `None` for an option of a command.
pub(super) fn group(setting: &Arg) -> Option<&'static str> {
    let word = setting.get_long()?.split('-').next()?;
    let group = GROUPS.iter().find(|(_, words)| words.contains(&word));
    group.map(|(name, _)| *name)
}

/// Returns the parser. A setting can be before or after a command.
pub(crate) fn command_line() -> Command {
    let mut command = Cli::command();
    let is_setting = |argument: &&Arg| argument.is_global_set();
    let settings: Vec<Arg> = command
        .get_arguments()
        .filter(is_setting)
        .cloned()
        .collect();
    for setting in &settings {
        let grouped = setting.clone().hide_short_help(true);
        let grouped = match group(setting) {
            Some(group) => grouped.help_heading(group),
            None => grouped,
        };
        command = command.mut_arg(setting.get_id(), |_| grouped);
    }
    let hidden: Vec<Arg> = settings.into_iter().map(|it| it.hide(true)).collect();
    hiding(command, &hidden).after_help(WHERE_SETTINGS_ARE)
}

/// Returns the help of the command whose subcommand is missing, if that is what is wrong. The parser gives it itself only
/// where nothing is set, as it takes a variable of the environment for an argument.
pub(crate) fn help_for_missing(error: &clap::Error) -> Option<StyledStr> {
    if error.kind() != ErrorKind::MissingSubcommand {
        return None;
    }
    let Some(ContextValue::String(words)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let mut command = command_line();
    command.build();
    let mut lacking = &mut command;
    for name in words.split(' ').skip(1) {
        lacking = lacking.find_subcommand_mut(name)?;
    }
    Some(lacking.render_help())
}

/// Adds the settings to each command, hidden from its help.
fn hiding(command: Command, settings: &[Arg]) -> Command {
    command.mut_subcommands(|command| {
        let command = command.args(settings.to_vec());
        hiding(command, settings).after_help(WHERE_SETTINGS_ARE)
    })
}
