//! Reloads settings while a bot runs: `.env`, allow lists and channel settings.
//!
//! Allow lists and channel settings apply at once. Every other setting is only compared with its
//! value at the start, to report what needs a restart. An error never widens access: with an
//! invalid allow list only people are admitted who were before and still are in it, and with
//! invalid channel settings the previous ones stay in use.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use clap::builder::Resettable;
use clap::parser::ValueSource;
use clap::{Arg, Command, FromArgMatches as _};
use muninn::agent::mcp::McpFile;
use muninn::config::Config;
use muninn::conversation::channel_kind;
use muninn::wiring::reloading::{Settings, SettingsRead};
use muninn_platform::{Channels, in_one_line, one_line};

use super::allow_lists::AllowLists;
use super::args::Cli;
use super::command_line::command_line;
use super::env_file;

const FILE: &str = ".env";
const CHANNEL_SETTINGS: &str = "CHANNEL_SETTINGS";

/// The environment of this process, without the values from `.env`.
#[derive(Clone)]
pub(crate) struct Environment(BTreeMap<OsString, OsString>);

impl Environment {
    /// Reads the current environment.
    pub(crate) fn read() -> Self {
        Self(std::env::vars_os().collect())
    }
}

/// Values of settings by variable name; without those on the command line.
type Values = BTreeMap<String, Option<OsString>>;

/// The settings of a running bot.
pub(super) struct LiveSettings {
    environment: Environment,
    arguments: Vec<OsString>,
    at_start: Values,
    allow_lists: AllowLists,
    channels: Arc<Channels>,
    prompts_dir: Option<PathBuf>,
    mcp_file: McpFile,
    /// The path at the last reload.
    channels_file: Mutex<Option<PathBuf>>,
    /// Whether `.env` was read.
    has_file: AtomicBool,
}

/// Values may be secrets.
impl fmt::Debug for LiveSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveSettings").finish_non_exhaustive()
    }
}

impl LiveSettings {
    /// Creates the settings of this process.
    pub(super) fn new(environment: Environment, allow_lists: AllowLists, config: &Config) -> Self {
        let mut live = Self {
            environment,
            arguments: std::env::args_os().collect(),
            at_start: Values::new(),
            allow_lists,
            channels: Arc::clone(&config.channels),
            prompts_dir: config.prompts_dir.clone(),
            mcp_file: config.mcp_file.clone(),
            channels_file: Mutex::new(config.channels_file.clone()),
            has_file: AtomicBool::new(false),
        };
        live.at_start = live.values().unwrap_or_default().0;
        live
    }

    /// Returns the current values, from the environment or `.env`, and whether `.env` was read before and is gone.
    fn values(&self) -> Result<(Values, bool), String> {
        let mut is_gone = false;
        let mut set: BTreeMap<OsString, OsString> = BTreeMap::new();
        let in_environment = |name: &str| self.environment.0.contains_key(OsStr::new(name));
        let read = std::fs::read_to_string(FILE).map_err(dotenvy::Error::Io);
        match read.and_then(|text| env_file::read(&text, in_environment)) {
            Ok(lines) => {
                self.has_file.store(true, Ordering::Relaxed);
                for (name, value) in lines {
                    // The first value counts, as at the start.
                    set.entry(name.into()).or_insert(value.into());
                }
            }
            Err(error) if error.not_found() => is_gone = self.has_file.load(Ordering::Relaxed),
            Err(error) => return Err(env_file::unread_env_file(&error)),
        }
        set.extend(self.environment.0.clone());
        Ok((values(&self.arguments, &mut set), is_gone))
    }

    /// `is_gone`: `.env` is not there any more, which is no reason to give up the path in it: without channel settings, tools,
    /// sources and what is kept would be those of every channel.
    fn replace_channels(&self, values: &Values, is_gone: bool) -> Result<bool, String> {
        let path = {
            let mut file = self
                .channels_file
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            // A setting on the command line cannot change.
            if let Some(set) = values.get(CHANNEL_SETTINGS)
                && (set.is_some() || !is_gone)
            {
                *file = set.as_ref().map(PathBuf::from);
            }
            file.clone()
        };
        let read = match path {
            Some(path) => Channels::load(&path).map_err(|error| in_one_line(&error))?,
            None => Channels::default(),
        };
        let problems = channel_kind::problems(&read, self.prompts_dir.as_deref(), &self.mcp_file);
        if !problems.is_empty() {
            return Err(problems.join("; "));
        }
        Ok(self.channels.replace(read))
    }
}

impl Settings for LiveSettings {
    fn files(&self) -> Vec<PathBuf> {
        let channels = self
            .channels_file
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let channels = channels.iter().cloned();
        [PathBuf::from(FILE)].into_iter().chain(channels).collect()
    }

    fn read_again(&self) -> SettingsRead {
        let mut read = SettingsRead::default();
        let (values, is_gone) = match self.values() {
            Ok(values) => values,
            Err(problem) => {
                let problem = format!("{problem}; all settings stay as they were");
                read.problems.push(problem);
                return read;
            }
        };
        let mut keep = |name: &str, replaced: Result<bool, String>| match replaced {
            Ok(true) => read.used.push(name.to_owned()),
            Ok(false) => {}
            Err(problem) => read.problems.push(problem),
        };
        for (name, replace) in &self.allow_lists.0 {
            // A setting on the command line cannot change.
            let Some(set) = values.get(*name) else {
                continue;
            };
            let text = set.as_ref().map(|set| set.to_string_lossy());
            let replaced = replace(text.as_deref().unwrap_or_default());
            let replaced = replaced.map_err(|problem| {
                format!("{problem}; until that is right, only those are let in who were before and are in it now")
            });
            keep(name, replaced);
        }
        let replaced = self.replace_channels(&values, is_gone);
        let replaced =
            replaced.map_err(|problem| format!("{problem}; channel settings stay as they were"));
        keep("channel settings", replaced);
        if is_gone {
            let problem = format!(
                "{FILE} is not there any more; allow lists in it are empty, and channel settings stay"
            );
            read.problems.push(problem);
        }
        read.waiting = waiting(&self.at_start, &values, &self.allow_lists);
        if let Err(problem) = usable(&self.arguments, &values) {
            let problem = format!("muninn could not start with these settings: {problem}");
            read.problems.push(problem);
        }
        read
    }
}

/// Returns changed settings that only apply after a restart.
fn waiting(at_start: &Values, now: &Values, live: &AllowLists) -> Vec<String> {
    let live: BTreeSet<&str> = live.0.iter().map(|(name, _)| *name).collect();
    let is_waiting = |name: &&String| {
        let name = name.as_str();
        name != CHANNEL_SETTINGS && !live.contains(name) && at_start.get(name) != now.get(name)
    };
    now.keys().filter(is_waiting).cloned().collect()
}

/// Reads the values of every setting that is not on the command line.
fn values(arguments: &[OsString], set: &mut BTreeMap<OsString, OsString>) -> Values {
    let matches = without_environment(command_line()).try_get_matches_from(arguments);
    let is_typed = |id: &str| {
        let matches = matches.as_ref().ok();
        let source = matches.and_then(|matches| matches.value_source(id));
        source == Some(ValueSource::CommandLine)
    };
    let free = variables().into_iter().filter(|it| !is_typed(&it.id));
    let values = free.map(|Variable { name, .. }| {
        let value = set.remove(&OsString::from(&name));
        (name, value)
    });
    values.collect()
}

/// Checks whether muninn could start with these.
fn usable(arguments: &[OsString], values: &Values) -> Result<(), String> {
    let mut arguments = arguments.to_vec();
    for Variable { name, long, .. } in variables() {
        if let Some(Some(value)) = values.get(&name) {
            let mut argument = OsString::from(format!("--{long}="));
            argument.push(value);
            arguments.push(argument);
        }
    }
    let wrong = |error: &clap::Error| {
        let said = error.to_string();
        let first = said.lines().next().unwrap_or_default();
        one_line(first.trim_start_matches("error: "))
    };
    let matches = without_environment(command_line()).try_get_matches_from(arguments);
    let matches = matches.map_err(|error| wrong(&error))?;
    let cli = Cli::from_arg_matches(&matches).map_err(|error| wrong(&error))?;
    let config = cli.options.into_config();
    let config = config.map_err(|error| in_one_line(&error))?;
    let checked = cli.platforms.check(&config);
    checked.map_err(|error| in_one_line(&error))
}

/// A setting, by variable and option.
struct Variable {
    id: String,
    name: String,
    long: String,
}

fn variables() -> Vec<Variable> {
    let of = |argument: &Arg| {
        Some(Variable {
            id: argument.get_id().to_string(),
            name: argument.get_env()?.to_str()?.to_owned(),
            long: argument.get_long()?.to_owned(),
        })
    };
    command_line().get_arguments().filter_map(of).collect()
}

/// Ignores the environment: that of this process dates from the start.
fn without_environment(command: Command) -> Command {
    let command = command.mut_args(|argument| argument.env(Resettable::Reset));
    command.mut_subcommands(without_environment)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn os(text: &[&str]) -> Vec<OsString> {
        text.iter().map(OsString::from).collect()
    }

    fn of(arguments: &[&str], set: &[(&str, &str)]) -> Values {
        let set = set.iter().map(|(name, value)| (name.into(), value.into()));
        values(&os(arguments), &mut set.collect())
    }

    #[test]
    fn what_has_changed_needs_a_restart_unless_it_is_used_at_once() {
        let arguments = ["muninn", "serve", "--chat-model=typed"];
        let at_start = of(&arguments, &[("BOT_NAME", "Ann"), ("CHAT_MODEL", "a")]);
        let mut live = AllowLists::default();
        live.0.push(("SLACK_ALLOW", Box::new(|_| Ok(true))));
        let waiting = |set: &[(&str, &str)]| waiting(&at_start, &of(&arguments, set), &live);
        let same = [("BOT_NAME", "Ann"), ("CHAT_MODEL", "b")];
        assert_eq!(waiting(&same), [""; 0]);
        let other = [
            ("SLACK_ALLOW", "*"),
            ("CHANNEL_SETTINGS", "x"),
            ("GRAPH_URL", "bolt://x"),
        ];
        assert_eq!(waiting(&other), ["BOT_NAME", "GRAPH_URL"]);
    }

    #[test]
    fn settings_with_which_nothing_could_start_are_named() {
        let arguments = ["muninn", "--log-format", "json", "serve"];
        let problem = |set: &[(&str, &str)]| {
            let problem = usable(&os(&arguments), &of(&arguments, set)).err();
            problem.unwrap_or_default()
        };
        assert_eq!(problem(&[]), "");
        assert_eq!(
            problem(&[("WINDOW_TURNS", "7"), ("MODEL_VISION", "true")]),
            ""
        );
        for (name, value, words) in [
            (
                "WINDOW_TURNS",
                "many",
                "invalid value 'many' for '--window-turns",
            ),
            ("WINDOW_TURNS", "0", "WINDOW_TURNS is 0"),
            ("GRAPH_USER", "neo4j", "GRAPH_PASSWORD"),
        ] {
            let problem = problem(&[(name, value)]);
            assert!(problem.contains(words), "{problem}");
        }
    }
}
