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

#[test]
fn every_setting_is_in_a_group_and_help_is_short() {
    let command = command_line();
    for setting in command.get_arguments().filter(|it| it.is_global_set()) {
        assert!(
            command_line::group(setting).is_some(),
            "{}",
            setting.get_id()
        );
    }
    // In a terminal of the usual width, it fits one screen.
    let short = command.clone().term_width(80).render_help().to_string();
    assert!(short.lines().all(|line| line.len() <= 80), "{short}");
    assert!(short.lines().count() <= 45, "{short}");
    for name in command.get_subcommands().map(clap::Command::get_name) {
        let line = format!("\n  {name} ");
        assert!(short.contains(&line), "{name} is not in {short}");
    }
    let long = command.clone().render_long_help().to_string();
    assert!(long.contains("\nGraph and files:\n") && long.contains("\nSlack:\n"));

    let mut command = command;
    command.build();
    let ingest = command.find_subcommand_mut("ingest").unwrap();
    let help = ingest.render_long_help().to_string();
    assert!(
        help.contains("--mapping") && !help.contains("--graph-url"),
        "{help}"
    );
}

#[test]
fn a_setting_may_stand_before_and_behind_a_command() {
    for line in [
        ["muninn", "--graph-url=bolt://a", "catalog"],
        ["muninn", "catalog", "--graph-url=bolt://a"],
    ] {
        let read = command_line().try_get_matches_from(line).unwrap();
        let cli = Cli::from_arg_matches(&read).unwrap();
        assert_eq!(cli.options.graph_url, "bolt://a", "{line:?}");
    }
}
