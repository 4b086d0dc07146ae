//! Changing the embedder: reported by `doctor` and at the start, re-embedded, calibrated.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::home::{Home, eventually};
use crate::support::model_server::{Embeddings, ModelServer};

/// Returns as many statements as calibration needs.
fn told() -> Vec<String> {
    let shelf = |n: usize| format!("The parcel {n} is on shelf {}.", n % 7);
    (0..40).map(shelf).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_embedder_is_told_and_its_vectors_brought_over() {
    let server = ModelServer::start().await;
    let mut home = Home::new();
    let told = told();
    let lines: Vec<&str> = told.iter().map(String::as_str).collect();
    home.chat(&[], &lines).await.succeeds();
    let doctor = home.run(&["doctor"], "").await;
    assert!(!doctor.succeeds().contains("recall: "), "{doctor:?}");

    home = home.with_model(&server);
    home.set("EMBEDDING_MODEL", "embedding");
    server.echoes();
    home.set("TERMINAL_SOCKET", "socket");
    let note = "note     recall: vectors of another embedder: 40 turns; run `muninn reembed`";
    let doctor = home.run(&["doctor"], "").await;
    assert!(doctor.succeeds().contains(note), "{doctor:?}");
    let serving = home.start(&["serve"]);
    eventually("the line of the log", async || {
        let line = "only their words are found; run `muninn reembed` turns=40";
        serving.errors().contains(line).then_some(())
    })
    .await;
    serving.signal("TERM").await;
    serving.end().await.succeeds();

    server.embeds(Embeddings::Refused(500, "{}".to_owned()));
    let failed = home.run(&["reembed"], "").await;
    failed.fails(1, &["failed after 0 turns", "`muninn reembed` goes on"]);
    server.embeds(Embeddings::Words(64));
    let done = home.run(&["reembed"], "").await;
    let said = "Embedded with openai/embedding/64: 40 turns.\n";
    assert_eq!(done.succeeds(), said);
    assert_eq!(done.err, "", "no bar where nobody sees it");
    let again = home.run(&["reembed"], "").await;
    let said = "Every turn has its vector of openai/embedding/64 already.\n";
    assert_eq!(again.succeeds(), said);
    let doctor = home.run(&["doctor"], "").await;
    assert!(!doctor.succeeds().contains("recall: "), "{doctor:?}");
    server.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_calibration_is_written_drawn_and_missed_when_it_is_broken() {
    let home = Home::new();
    let early = home.run(&["calibrate"], "").await;
    early.fails(1, &["has 0 exchanges", "at least 30"]);
    let told = told();
    let lines: Vec<&str> = told.iter().map(String::as_str).collect();
    home.chat(&[], &lines).await.succeeds();
    let made = home.run(&["calibrate"], "").await;
    let text = made.succeeds();
    assert!(text.contains("<- in use"), "{text}");
    let folder = home.path("muninn-data/calibration");
    let file = |ending: &str| {
        let files = std::fs::read_dir(&folder).unwrap();
        let mut files = files.map(|file| file.unwrap().path());
        files.find(|path| path.extension().is_some_and(|is| is == ending))
    };
    let picture = std::fs::read_to_string(file("svg").unwrap()).unwrap();
    assert!(picture.starts_with("<svg"), "{picture}");
    std::fs::write(file("json").unwrap(), "{").unwrap();
    let doctor = home.run(&["doctor"], "").await;
    doctor.fails(1, &[]);
    assert!(doctor.out.contains("PROBLEM  recall: "), "{doctor:?}");
    let talk = home.chat(&[], &["hello"]).await;
    talk.fails(1, &["calibration", "`muninn calibrate`"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_curve_is_drawn_into_any_folder_whose_files_stay_as_they_are() {
    let home = Home::new();
    let told = told();
    let lines: Vec<&str> = told.iter().map(String::as_str).collect();
    home.chat(&[], &lines).await.succeeds();
    let (folder, page) = (home.path("pub"), home.path("pub/index.html"));
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(&page, "all of it").unwrap();
    let set = |path: &Path, mode| {
        std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    };
    set(&folder, 0o755);
    set(&page, 0o644);
    home.run(&["calibrate", "--out", "pub"], "")
        .await
        .succeeds();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&folder), mode(&page)), (0o755, 0o644));
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2);
}
