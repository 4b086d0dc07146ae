use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

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
    let mut known: BTreeMap<&str, &str> = known
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    // Read by `muninn mcp` alone. It is no option, as every account of the machine sees those.
    known.insert("MUNINN_MCP_TOKEN", "");
    assert_eq!(listed, known);
}

#[test]
fn crates_that_quote_people_are_logged_only_if_they_are_named() {
    for (chosen, is_off) in [("info", true), ("warn,async_openai=debug", false)] {
        let filter = log_filter(chosen).unwrap().to_string();
        assert_eq!(filter.contains("async_openai=off"), is_off, "{filter}");
        assert!(filter.contains("neo4rs=off"), "{filter}");
    }
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

#[test]
fn who_names_no_command_is_given_help_whatever_is_set() {
    for (line, usage, named) in [
        (
            &["muninn", "--data-dir=d"][..],
            "Usage: muninn [OPTIONS] <COMMAND>",
            "\n  chat ",
        ),
        (
            &["muninn", "source", "--data-dir=d"],
            "Usage: muninn source <COMMAND>",
            "\n  refresh ",
        ),
    ] {
        let error = command_line().try_get_matches_from(line).unwrap_err();
        let help = help_for_missing(&error).unwrap().to_string();
        assert!(help.contains(usage) && help.contains(named), "{help}");
    }
    for line in [&["muninn", "nonsense"][..], &["muninn", "--nonsense"]] {
        let error = command_line().try_get_matches_from(line).unwrap_err();
        assert!(help_for_missing(&error).is_none(), "{error}");
    }
}

/// Each file with this ending below these files and folders of the repository, with its text.
fn files(roots: &[&str], extension: &str) -> Vec<(String, String)> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let walks = roots.iter().map(|root| repository.join(root));
    let entries = walks.flat_map(|root| ignore::Walk::new(root).map(Result::unwrap));
    let wanted = entries.filter(|it| it.path().extension().is_some_and(|it| it == extension));
    let read = wanted.map(|it| {
        let name = it
            .path()
            .strip_prefix(repository)
            .expect("a file of the repository");
        let text = std::fs::read_to_string(it.path()).expect("a source that can be read");
        (name.display().to_string(), text)
    });
    read.collect()
}

/// What a line of a document calls by `muninn COMMAND`: the words behind the name of the program, as far as they may
/// name a command and its subcommand.
fn calls(line: &str) -> Vec<Vec<&str>> {
    let tokens: Vec<&str> = line.split_whitespace().collect();
    let starts = (0..tokens.len()).filter(|&at| {
        let token = tokens[at].trim_start_matches(['`', '(']);
        token.strip_prefix("./").unwrap_or(token) == "muninn"
    });
    let calls = starts.map(|at| {
        let mut words = Vec::new();
        for token in &tokens[at + 1..] {
            let end = token.find(|c: char| !c.is_ascii_lowercase() && c != '-');
            let (word, rest) = token.split_at(end.unwrap_or(token.len()));
            // An option, a file, an address or a value in capitals is no command, nor is the single letter of a process.
            if word.starts_with('-') || word.len() < 2 || rest.contains(char::is_alphanumeric) {
                break;
            }
            words.push(word);
            if !rest.is_empty() {
                break;
            }
        }
        words
    });
    calls.filter(|words| !words.is_empty()).collect()
}

/// Whether the program has the command that these words begin with, and its subcommand if it has any.
fn exists(command: &clap::Command, words: &[&str]) -> bool {
    let Some((word, rest)) = words.split_first() else {
        return true;
    };
    if command.get_subcommands().next().is_none() {
        return true;
    }
    let found = command.find_subcommand(word);
    found.is_some_and(|found| exists(found, rest))
}

#[test]
fn what_documents_call_is_found() {
    assert_eq!(
        calls("run `X=1 muninn source remove NAME` or (`./muninn chat`); see `muninn-llm`"),
        [vec!["source", "remove"], vec!["chat"]]
    );
    let none =
        "`muninn` does; image `muninn .`; host https://muninn.example.org; muninn d ── muninn d0";
    assert_eq!(calls(none), Vec::<Vec<&str>>::new());
}

#[test]
fn documents_name_commands_that_exist() {
    let command = command_line();
    let documents = files(
        &["README.md", "CONTRIBUTING.md", "SECURITY.md", "docs"],
        "md",
    );
    let mut named = 0;
    let mut wrong = Vec::new();
    for (name, text) in &documents {
        for words in text.lines().flat_map(calls) {
            named += 1;
            if !exists(&command, &words) {
                wrong.push(format!("{name}: muninn {}", words.join(" ")));
            }
        }
    }
    assert!(named > 100, "{named}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_glossary_names_types_that_exist() {
    let sources = files(&["src", "adapters", "crates", "tests"], "rs");
    let mut declared = BTreeSet::new();
    for (_, source) in &sources {
        for line in source.lines().map(str::trim) {
            let words: Vec<&str> = line
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .collect();
            let behind = words.windows(2).filter(|it| {
                ["struct", "enum", "trait", "type"].contains(&it[0]) && !line.starts_with("//")
            });
            declared.extend(behind.map(|it| it[1]));
            // A variant, or a type that a macro declares.
            let rest = &line[words[0].len()..];
            if line.starts_with(|c: char| c.is_ascii_uppercase())
                && (["", ",", " {"].contains(&rest) || rest.starts_with('('))
            {
                declared.insert(words[0]);
            }
        }
    }
    declared.extend(muninn::graph::MEMORY_LABELS);
    let glossary = include_str!("../../docs/GLOSSARY.md");
    let spans = glossary
        .lines()
        .flat_map(|line| line.split('`').skip(1).step_by(2));
    let names = spans.flat_map(|span| span.split(|c: char| !c.is_alphanumeric() && c != '_'));
    let types: Vec<&str> = names
        .filter(|it| it.starts_with(|c: char| c.is_ascii_uppercase()))
        .filter(|it| it.contains(|c: char| c.is_ascii_lowercase()))
        .collect();
    assert!(types.len() > 80, "{types:?}");
    let unknown: Vec<&&str> = types.iter().filter(|it| !declared.contains(**it)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}
