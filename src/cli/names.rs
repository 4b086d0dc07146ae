//! Finds unknown settings in the environment and in `.env`.

use std::collections::BTreeSet;

use muninn::config::{UnknownName, VariableSource, unknown};

use super::command_line::command_line;

/// Returns variables that look like settings and are none. Their values are not read.
pub(super) fn unknown_variables() -> Vec<UnknownName> {
    let known: BTreeSet<String> = command_line()
        .get_arguments()
        .filter_map(|argument| Some(argument.get_env()?.to_str()?.to_owned()))
        .collect();
    let file: BTreeSet<String> = dotenvy::from_path_iter(".env")
        .into_iter()
        .flatten()
        .filter_map(|line| Some(line.ok()?.0))
        .collect();
    // Variables of the file are in the environment too, because they were loaded from it.
    let environment: Vec<String> = std::env::vars_os()
        .filter_map(|(name, _)| name.into_string().ok())
        .filter(|name| !file.contains(name))
        .collect();
    let set = environment
        .iter()
        .map(|name| (VariableSource::Environment, name));
    let set = set.chain(file.iter().map(|name| (VariableSource::File, name)));
    unknown(set.map(|(place, name)| (place, name.as_str())), &known)
}
