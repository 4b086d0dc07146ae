use std::collections::BTreeMap;

use clap::CommandFactory as _;

use super::*;

#[test]
fn the_example_file_lists_every_variable_with_its_default() {
    let example = include_str!("../../.env.example");
    let listed: BTreeMap<&str, &str> = example
        .lines()
        .filter_map(|line| line.strip_prefix("# ").unwrap_or(line).split_once('='))
        .filter(|(name, _)| name.chars().all(|c| c.is_ascii_uppercase() || c == '_'))
        .collect();
    let command = Cli::command();
    let known: BTreeMap<String, String> = command
        .get_arguments()
        .filter_map(|argument| {
            let name = argument.get_env()?.to_str()?.to_owned();
            let default = argument.get_default_values().first();
            Some((
                name,
                default.map_or(String::new(), |value| value.to_string_lossy().into_owned()),
            ))
        })
        .collect();
    let known: BTreeMap<&str, &str> = known
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    assert_eq!(listed, known);
}
