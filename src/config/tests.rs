use std::collections::BTreeMap;

use clap::{Args as _, Command, FromArgMatches};

use super::*;

/// The options that a command line makes. The environment of the test is not looked at: nothing
/// here sets these variables.
fn options(arguments: &[&str]) -> Options {
    let command = Options::augment_args(Command::new("muninn"));
    let arguments = std::iter::once("muninn").chain(arguments.iter().copied());
    Options::from_arg_matches(&command.get_matches_from(arguments)).unwrap()
}

fn error(arguments: &[&str]) -> String {
    options(arguments).into_config().unwrap_err().to_string()
}

#[test]
fn the_example_file_lists_every_variable_with_its_default() {
    let example = include_str!("../../.env.example");
    let listed: BTreeMap<&str, &str> = example
        .lines()
        .filter_map(|line| line.strip_prefix("# ").unwrap_or(line).split_once('='))
        .filter(|(name, _)| name.chars().all(|c| c.is_ascii_uppercase() || c == '_'))
        .collect();
    let command = Options::augment_args(Command::new("muninn"));
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
fn nothing_set_is_a_configuration() {
    let config = options(&[]).into_config().unwrap();
    assert!(config.model.is_none());
    assert_eq!(config.graph.url, "embedded:./muninn-data");
}

#[test]
fn a_key_or_an_address_makes_a_model() {
    let config = options(&["--openai-api-key", "k"]).into_config().unwrap();
    assert_eq!(config.model.unwrap().base_url, "https://api.openai.com/v1");
    let config = options(&[
        "--openai-base-url",
        "http://localhost:1/v1",
        "--chat-model",
        "m",
    ]);
    let model = config.into_config().unwrap().model.unwrap();
    assert_eq!(
        (model.chat_model.as_str(), model.utility_model.as_str()),
        ("m", "m")
    );
}

#[test]
fn what_does_not_go_together_is_named() {
    assert_eq!(
        error(&["--graph-user", "neo4j"]),
        "GRAPH_USER is set but GRAPH_PASSWORD is not; set both or neither"
    );
    assert!(error(&["--graph-password", "p"]).contains("GRAPH_USER is not"));
    assert!(error(&["--embedding-model", "m"]).contains("OPENAI_BASE_URL"));
    assert!(error(&["--context-tokens", "2000"]).contains("CONTEXT_TOKENS (2000)"));
    assert!(error(&["--window-turns", "0"]).contains("WINDOW_TURNS is 0"));
}

#[test]
fn a_matrix_account_is_set_up_whole_or_not_at_all() {
    fn with<'a>(server: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
        [server, more].concat()
    }
    assert!(options(&[]).into_config().unwrap().matrix.is_none());
    let server = ["--matrix-homeserver", "example.org"];
    assert!(error(&server).contains("MATRIX_USER (or MATRIX_ACCESS_TOKEN) is not"));
    assert!(error(&with(&server, &["--matrix-password", "p"])).contains("MATRIX_USER is not"));
    for option in ["user", "password", "access-token", "recovery-key", "allow"] {
        let said = error(&[&format!("--matrix-{option}"), "x"]);
        assert!(said.contains("MATRIX_HOMESERVER is not"), "{said}");
    }
    let config = options(&with(&server, &["--matrix-user", "@a:b"])).into_config();
    let login = config.unwrap().matrix.unwrap().login;
    assert!(matches!(
        login,
        MatrixLogin::Password { password: None, .. }
    ));
    let config = options(&with(&server, &["--matrix-access-token", "t"])).into_config();
    let login = config.unwrap().matrix.unwrap().login;
    assert!(matches!(login, MatrixLogin::AccessToken(_)));
}

#[test]
fn secrets_are_not_shown() {
    let options = options(&[
        "--matrix-homeserver",
        "example.org",
        "--matrix-user",
        "u",
        "--matrix-password",
        "hunter4",
        "--matrix-recovery-key",
        "hunter5",
        "--slack-bot-token",
        "hunter6",
        "--slack-app-token",
        "hunter7",
        "--discord-token",
        "hunter9",
        "--openai-api-key",
        "hunter2",
        "--graph-user",
        "u",
        "--graph-password",
        "hunter3",
    ]);
    let shown = format!("{options:?} {:?}", options.clone().into_config().unwrap());
    assert!(!shown.contains("hunter"), "{shown}");
}

#[test]
fn a_slack_app_is_set_up_whole_or_not_at_all() {
    assert!(options(&[]).into_config().unwrap().slack.is_none());
    let with = |more: &[&str]| {
        let mut all = vec!["--slack-bot-token", "xoxb-1"];
        all.extend(more);
        error(&all)
    };
    assert!(with(&[]).contains("SLACK_APP_TOKEN (or SLACK_HTTP_ADDR"));
    assert!(with(&["--slack-http-addr", "0.0.0.0:1"]).contains("SLACK_SIGNING_SECRET is not"));
    assert!(with(&["--slack-signing-secret", "s"]).contains("SLACK_HTTP_ADDR is not"));
    let said = with(&["--slack-http-addr", "here", "--slack-signing-secret", "s"]);
    assert!(
        said.contains("SLACK_HTTP_ADDR is \"here\", but must be an IP address"),
        "{said}"
    );
    for option in ["app-token", "signing-secret", "http-addr", "allow"] {
        let said = error(&[&format!("--slack-{option}"), "x"]);
        assert!(said.contains("SLACK_BOT_TOKEN is not"), "{said}");
    }
    let socket = ["--slack-bot-token", "xoxb-1", "--slack-app-token", "xapp-1"];
    let config = options(&socket).into_config().unwrap().slack.unwrap();
    assert!(matches!(config.entrance, SlackEntrance::Socket { .. }));
    assert_eq!(config.answer, muninn_platform::AnswerMode::Threads);
}

#[test]
fn what_is_set_for_discord_is_read() {
    assert!(options(&[]).into_config().unwrap().discord.is_none());
    assert!(error(&["--discord-allow", "*"]).contains("DISCORD_TOKEN is not"));
    let with = |more: &[&'static str]| {
        let mut all = vec!["--discord-token", "t"];
        all.extend(more);
        options(&all).into_config()
    };
    for wrong in [["--discord-guild", "here"], ["--discord-shards", "0"]] {
        let said = with(&wrong).unwrap_err().to_string();
        assert!(said.contains(wrong[1]), "{said}");
    }
    let config = with(&["--discord-guild", "7", "--discord-shards", "2"]);
    let config = config.unwrap().discord.unwrap();
    assert_eq!((config.guild, config.shards), (Some(7), Some(2)));
    assert_eq!(with(&[]).unwrap().discord.unwrap().shards, None);
}
