use clap::{Args as _, Command, FromArgMatches};
use secrecy::ExposeSecret as _;

use super::*;

/// Parses a command line. The test's environment is not used, as nothing here sets these variables.
fn options(arguments: &[&str]) -> Options {
    let command = Options::augment_args(Command::new("muninn"));
    let arguments = std::iter::once("muninn").chain(arguments.iter().copied());
    Options::from_arg_matches(&command.get_matches_from(arguments)).unwrap()
}

fn error(arguments: &[&str]) -> String {
    options(arguments).into_config().unwrap_err().to_string()
}

#[test]
fn nothing_set_is_a_configuration() {
    let config = options(&[]).into_config().unwrap();
    assert!(config.model.is_none());
    // The path depends on the machine.
    let folder = config.data_dir.display();
    assert_eq!(config.graph.url, format!("embedded:{folder}"));
    let config = options(&["--data-dir", "d"]).into_config().unwrap();
    assert_eq!(config.graph.url, "embedded:d");
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
fn models_are_tried_in_their_order_each_with_its_services_key() {
    let config = options(&[
        "--openai-api-key",
        "k",
        "--utility-model",
        "small",
        "--models",
        "llama@http://localhost:11434/v1, gpt-4o, big@https://x.example/v1",
        "--model-keys",
        "x.example=kx",
    ]);
    let config = config.into_config().unwrap();
    let chain: Vec<_> = config.model.iter().chain(&config.fallbacks).collect();
    let told: Vec<_> = chain
        .iter()
        .map(|it| {
            let key = it
                .api_key
                .as_ref()
                .map(|key| key.expose_secret().to_owned());
            (
                it.base_url.as_str(),
                it.chat_model.as_str(),
                it.utility_model.as_str(),
                key,
            )
        })
        .collect();
    let key = |key: &str| Some(key.to_owned());
    assert_eq!(
        told,
        [
            ("http://localhost:11434/v1", "llama", "small", None),
            ("https://api.openai.com/v1", "gpt-4o", "gpt-4o", key("k")),
            ("https://x.example/v1", "big", "big", key("kx")),
        ]
    );
    let embeds = config.embedding_service.unwrap();
    assert_eq!(embeds.base_url, "https://api.openai.com/v1");
    assert!(error(&["--models", "gpt-4o"]).contains("gpt-4o@ADDRESS"));
    assert!(error(&["--model-keys", "x.example=kx"]).contains("x.example"));
}

#[test]
fn a_service_in_the_list_by_its_address_has_its_key_of_the_list_unless_it_has_one() {
    let at = "http://gpu.local:8000/v1";
    let listed = format!("llama@{at}/");
    for (own, expected) in [("", "listed"), ("own", "own")] {
        let config = options(&[
            "--openai-base-url",
            at,
            "--openai-api-key",
            own,
            "--models",
            &listed,
            "--model-keys",
            "gpu.local:8000=listed",
        ]);
        let config = config.into_config().unwrap();
        for service in [config.model, config.embedding_service] {
            let key = service.unwrap().api_key.unwrap();
            assert_eq!(key.expose_secret(), expected);
        }
    }
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
fn secrets_are_not_shown() {
    let options = options(&[
        "--openai-api-key",
        "hunter2",
        "--graph-user",
        "u",
        "--graph-password",
        "hunter3",
        "--models",
        "m@http://a.example/v1",
        "--model-keys",
        "a.example=hunter4",
    ]);
    let shown = format!("{options:?} {:?}", options.clone().into_config().unwrap());
    assert!(!shown.contains("hunter"), "{shown}");
}
