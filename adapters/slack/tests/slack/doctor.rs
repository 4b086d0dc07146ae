//! The output of `muninn doctor` and `muninn manifest slack`.

use loopback_slack::manifest_faults;
use muninn_platform::CheckStatus;
use muninn_slack::{Mode, check, manifest};

use crate::support::{EventTransport, SlackInstallation, app};

/// Returns the findings that are not OK.
async fn faults(home: &SlackInstallation) -> Vec<String> {
    let found = check(&home.options).await;
    let faults = found
        .into_iter()
        .filter(|finding| finding.verdict != CheckStatus::Ok);
    faults.map(|finding| finding.text).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_app_of_our_manifest_is_well() {
    let home = SlackInstallation::new(app()).await;
    let found = check(&home.options).await;
    let texts: Vec<&str> = found.iter().map(|finding| finding.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "logged in as @muninn in Ravens (T00RAVENS1)",
            "the app has every scope it needs",
            "Socket Mode is on, and the app's token opens a socket",
        ]
    );
    assert!(
        found
            .iter()
            .all(|finding| finding.verdict == CheckStatus::Ok)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_missing_is_named() {
    let home = SlackInstallation::new(
        app()
            .without_scope("files:read")
            .without_scope("users:read"),
    )
    .await;
    let found = faults(&home).await;
    assert!(
        matches!(&found[..], [one] if one.contains("files:read (reads files") && one.contains("users:read")),
        "{found:?}"
    );

    let mut no_socket = app();
    no_socket.app_scopes.clear();
    let home = SlackInstallation::new(no_socket).await;
    let found = faults(&home).await;
    assert!(
        matches!(&found[..], [one] if one.contains("connections:write")),
        "{found:?}"
    );
    let _ = home.slack.take_violations();

    let home = SlackInstallation::new(app()).await;
    home.slack.revoke_tokens();
    let found = faults(&home).await;
    assert!(
        found[0].contains("SLACK_BOT_TOKEN (token_revoked)"),
        "{found:?}"
    );
    assert!(
        found[1].contains("SLACK_APP_TOKEN (token_revoked)"),
        "{found:?}"
    );
    let _ = home.slack.take_violations();

    let mut home = SlackInstallation::by(EventTransport::Http, app()).await;
    home.options.allow = "".parse().unwrap();
    let found = faults(&home).await;
    assert!(found[0].contains("SLACK_ALLOW is empty"), "{found:?}");
    assert!(found[1].contains("/slack/events"), "{found:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn where_no_slack_is_that_is_said() {
    let mut home = SlackInstallation::new(app()).await;
    for url in [
        "http://127.0.0.1:9/api",
        "https://127.0.0.1:9/api",
        "nonsense",
    ] {
        home.options.api_url = url.to_owned();
        let found = faults(&home).await;
        assert!(
            found[0].contains(&format!("{url} cannot be reached")),
            "{found:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tls_address_is_an_error_and_no_panic() {
    let mut home = SlackInstallation::new(app()).await;
    // The server does not speak TLS.
    home.options.api_url = home.options.api_url.replace("http://", "https://");
    let found = faults(&home).await;
    assert!(found[0].contains("cannot be reached"), "{found:?}");
    // The bot's own client.
    assert!(found[1].contains("no socket"), "{found:?}");
}

#[test]
fn slack_takes_the_manifests() {
    let http = Mode::Http("https://bot.example.org".to_owned());
    for mode in [Mode::Socket, http] {
        let manifest = manifest(&mode, "Muninn", "/muninn");
        assert_eq!(manifest_faults(&manifest), [""; 0], "{mode:?}");
    }
}
