//! Retention, legal holds, and the audit, as an operator sees them.

use crate::home::Home;
use crate::support::files::files_with;

/// Returns the audience of the terminal.
async fn audience(home: &Home) -> String {
    let sessions = home.run(&["sessions", "--json"], "").await;
    let sessions: serde_json::Value = serde_json::from_str(sessions.succeeds()).unwrap();
    sessions[0]["audience"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_audit_tells_who_did_what_and_no_word_of_it() {
    let home = Home::new();
    let nothing = home.run(&["audit"], "").await;
    assert!(
        nothing.succeeds().starts_with("Nothing since "),
        "{nothing:?}"
    );
    home.chat(
        &[],
        &["About a walrus.", "/forget last", "About a seal.", "/mute"],
    )
    .await
    .succeeds();
    home.run(&["export", "all.jsonl"], "").await.succeeds();
    let told = home.run(&["audit"], "").await;
    let told = told.succeeds();
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), 3, "{told}");
    assert!(lines[0].contains("forgot their last turn") && lines[0].ends_with("(1 thing)"));
    assert!(lines[1].contains("changed what is answered"), "{told}");
    assert!(
        lines[2].contains("operator  exported what is kept: the whole graph"),
        "{told}"
    );
    let json = home
        .run(&["audit", "--since", "2020-01-01", "--json"], "")
        .await;
    let entries: serde_json::Value = serde_json::from_str(json.succeeds()).unwrap();
    assert_eq!(entries[0]["action"], "forgot_turn");
    assert!(!told.contains("walrus"));
    assert!(files_with(&home.path("muninn-data"), "walrus").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_legal_hold_keeps_copies_until_it_is_released() {
    let home = Home::new();
    home.chat(&[], &["About a walrus."]).await.succeeds();
    let place = audience(&home).await;
    let none = home.run(&["hold", "list"], "").await;
    let none = none.succeeds();
    assert!(none.starts_with("No place is under a legal hold"), "{none}");
    let settings = format!("['{place}']\nretain_days = 7\nlegal_hold = true\n");
    std::fs::write(home.path("channels.toml"), settings).unwrap();
    let home = home.with("CHANNEL_SETTINGS", "channels.toml");
    let doctor = home.run(&["doctor"], "").await;
    assert!(
        doctor.out.contains(&format!("{place}: under a legal hold")),
        "{doctor:?}"
    );
    assert!(!doctor.out.contains("CHANNEL_SETTINGS"), "{doctor:?}");
    home.chat(&[], &["/forget last"]).await.succeeds();
    let history = home.chat(&[], &["/history", "/memory"]).await;
    let history = history.succeeds();
    assert!(!history.contains("walrus"), "{history}");
    let held = home.run(&["hold", "list"], "").await;
    let held = held.succeeds();
    assert!(
        held.contains(&format!("{place}: 1 copy of what was forgotten")),
        "{held}"
    );
    home.run(&["export", "all.jsonl"], "").await.succeeds();
    let exported = std::fs::read_to_string(home.path("all.jsonl")).unwrap();
    assert!(exported.contains("walrus"));
    // While the settings demand the hold, nobody releases it by mistake.
    let release = ["hold", "release", &place, "--yes"];
    home.run(&release, "")
        .await
        .fails(1, &["take `legal_hold` out"]);
    std::fs::write(home.path("channels.toml"), "").unwrap();
    let released = home.run(&release, "").await;
    let released = released.succeeds();
    assert!(released.contains("1 copy of"), "{released}");
    assert!(files_with(&home.path("muninn-data"), "walrus").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_names_a_conversation_that_has_the_settings_of_a_channel() {
    let home = Home::new().with("CHANNEL_SETTINGS", "channels.toml");
    let settings =
        "['terminal/default']\nlegal_hold = true\n['terminals']\n['*']\nstyle = 'brief'\n";
    std::fs::write(home.path("channels.toml"), settings).unwrap();
    home.chat(&[], &["About a walrus."]).await.succeeds();
    let doctor = home.run(&["doctor"], "").await;
    let notes = doctor.out.lines();
    let notes: Vec<&str> = notes.filter(|it| it.contains("CHANNEL_SETTINGS")).collect();
    let [unknown, conversation] = notes.as_slice() else {
        panic!("{doctor:?}");
    };
    assert!(unknown.contains("no channel of a platform"), "{unknown}");
    assert!(
        conversation.contains("terminal/default, which is a conversation")
            && conversation.contains("write terminal in its place"),
        "{conversation}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_tells_how_long_things_are_kept() {
    let home = Home::new().with("CHANNEL_SETTINGS", "channels.toml");
    std::fs::write(home.path("channels.toml"), "['*']\nretain_days = 90\n").unwrap();
    let doctor = home.run(&["doctor"], "").await;
    let told = &doctor.out;
    assert!(
        told.contains("*: what is said is deleted after 90 days"),
        "{told}"
    );
}
