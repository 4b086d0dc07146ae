//! Forgotten content is in no file any more, whenever the process is killed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::home::Home;
use crate::support::files::files_with;

fn data(home: &Home) -> PathBuf {
    home.path("muninn-data")
}

fn has_intent(home: &Home) -> bool {
    let files = std::fs::read_dir(data(home)).unwrap();
    // An incomplete one was never acted on, and nobody was told about it.
    let is_whole = |path: &Path| {
        let text = std::fs::read(path).unwrap();
        serde_json::from_slice::<serde_json::Value>(&text).is_ok()
    };
    files.map(|file| file.unwrap()).any(|file| {
        let name = file.file_name();
        name.to_string_lossy().starts_with("forgetting-") && is_whole(&file.path())
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forgotten_text_is_in_no_file_whenever_it_is_killed() {
    let home = Home::new()
        .with("MESSAGES_PER_MINUTE", "1000")
        .with("RECALL_THRESHOLD", "1");
    for round in 0..16_u64 {
        let secret = format!("walrus{round}secret");
        let mut chat = home.start(&["chat"]);
        chat.say(&format!("The word is {secret}.")).await;
        chat.line().await.unwrap();
        chat.say("Something that stays.").await;
        chat.line().await.unwrap();
        chat.say(&format!("And {secret} again.")).await;
        chat.line().await.unwrap();
        assert!(!files_with(&data(&home), &secret).is_empty());
        chat.say("/forget session").await;
        let mut is_told = false;
        if round % 4 == 0 {
            is_told = chat.line().await.is_some();
            let left = files_with(&data(&home), &secret);
            assert!(left.is_empty(), "it was told: {left:?}");
        } else {
            tokio::time::sleep(Duration::from_millis(round * round / 4)).await;
        }
        chat.kill().await;
        let is_due = is_told || has_intent(&home);
        // The next start finishes it.
        let sessions = home.run(&["sessions"], "").await;
        let is_there = sessions.succeeds().contains("default");
        assert!(!(is_due && is_there), "{sessions:?}");
        if !is_there {
            let left = files_with(&data(&home), &secret);
            assert!(left.is_empty(), "{round}: {left:?}");
        }
        assert!(!has_intent(&home));
        home.chat(&[], &["/forget session"]).await.succeeds();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_is_forgotten_whole_whenever_it_is_killed() {
    let home = Home::new()
        .with("MESSAGES_PER_MINUTE", "1000")
        .with("RECALL_THRESHOLD", "1");
    for round in 0..12_u64 {
        let secret = format!("walrus{round}secret");
        let mut chat = home.start(&["chat"]);
        for n in 0..6 {
            chat.say(&format!("Number {n} of the {secret}.")).await;
            chat.line().await.unwrap();
        }
        chat.say("/forget me yes").await;
        if round % 4 == 0 {
            let told = chat.line().await.unwrap();
            assert!(
                told.contains("I forgot everything of yours: 6 questions"),
                "{told}"
            );
        } else {
            tokio::time::sleep(Duration::from_millis(round * round / 2)).await;
        }
        chat.kill().await;
        let is_due = round % 4 == 0 || has_intent(&home);
        // The next start finishes it; or it never began, and everything is there.
        let sessions = home.run(&["sessions"], "").await;
        let is_there = sessions.succeeds().contains("default");
        assert!(!(is_due && is_there), "{round}: {sessions:?}");
        let left = files_with(&data(&home), &secret);
        if is_there {
            assert_eq!(home.export().await.chain().len(), 6, "{round}");
        } else {
            assert!(left.is_empty(), "{round}: {left:?}");
        }
        assert!(!has_intent(&home));
        home.chat(&[], &["/forget session"]).await.succeeds();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_forgotten_of_many_leaves_the_others() {
    let home = Home::new();
    home.chat(
        &[],
        &["The first walrus.", "The second seal.", "The last otter."],
    )
    .await
    .succeeds();
    home.chat(&[], &["/forget last"]).await.succeeds();
    assert!(files_with(&data(&home), "otter").is_empty());
    assert!(!files_with(&data(&home), "seal").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn after_an_ingest_it_is_forgotten_at_every_start() {
    let home = Home::new();
    let manual = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/knowledge/manual");
    home.run(&["ingest", manual], "").await.succeeds();
    for word in ["walrus1word", "walrus2word", "walrus3word"] {
        let said = format!("The {word} is fed at six.");
        let chat = home.chat(&[], &[&said, "/forget last"]).await;
        assert!(chat.succeeds().contains("Forgotten: "), "{word}: {chat:?}");
        let left = files_with(&data(&home), word);
        assert!(left.is_empty(), "{word}: {left:?}");
    }
}

/// Creates a home whose chat was killed, with a byte of its log flipped, this many bytes from the
/// end.
async fn damaged(from_end: usize) -> Home {
    let home = Home::new();
    let mut chat = home.start(&["chat"]);
    for line in ["About a walrus.", "About a seal.", "About an otter."] {
        chat.say(line).await;
        chat.line().await.unwrap();
    }
    chat.kill().await;
    let log = data(&home).join("graph.kgl-wal");
    let mut bytes = std::fs::read(&log).unwrap();
    let at = bytes.len() - from_end;
    bytes[at] ^= 0xff;
    std::fs::write(&log, bytes).unwrap();
    home
}

fn set_aside(home: &Home) -> Vec<PathBuf> {
    let files = std::fs::read_dir(data(home)).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    paths
        .filter(|path| {
            let name = path.to_string_lossy();
            name.contains(".quarantine-") || name.contains(".torn-")
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_log_is_told_at_every_start_until_the_operator_decides() {
    let home = damaged(4_000).await;
    for _start in 0..2 {
        let doctor = home.run(&["doctor"], "").await;
        let files = set_aside(&home);
        assert_eq!(files.len(), 1, "{doctor:?}");
        let name = files[0].file_name().unwrap().to_str().unwrap();
        assert!(
            doctor.out.contains(name) && doctor.out.contains("muninn discard-damaged"),
            "{doctor:?}"
        );
        assert!(doctor.err.contains(name), "the log says so too: {doctor:?}");
    }
    let discarded = home.run(&["discard-damaged"], "").await;
    assert!(discarded.succeeds().contains("removed"), "{discarded:?}");
    assert!(set_aside(&home).is_empty());
    let doctor = home.run(&["doctor"], "").await;
    assert!(!doctor.out.contains("damaged"), "{doctor:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_set_aside_goes_with_what_is_forgotten() {
    for from_end in [10, 4_000] {
        let home = damaged(from_end).await;
        home.run(&["sessions"], "").await.succeeds();
        assert_eq!(set_aside(&home).len(), 1, "{from_end}");
        assert!(!files_with(&data(&home), "otter").is_empty());
        home.chat(&[], &["/forget session"]).await.succeeds();
        for word in ["walrus", "seal", "otter"] {
            let left = files_with(&data(&home), word);
            assert!(left.is_empty(), "{word}: {left:?}");
        }
    }
}
