//! Data that belongs to another account than the one who types a command.

use std::os::unix::fs::{MetadataExt as _, chown};
use std::path::{Path, PathBuf};

use crate::admin::serving;
use crate::home::Home;

/// An account that every system has.
const NOBODY: u32 = 65534;

/// Returns a folder with everything in it.
fn everything(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_owned()];
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(everything(&path)),
            false => found.push(path),
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
#[allow(clippy::print_stderr, reason = "says why nothing was tried")]
async fn root_leaves_the_data_of_an_account_alone() {
    let home = Home::new();
    home.chat(&[], &["The code of the coffee machine is 4711."])
        .await
        .succeeds();
    home.export().await;
    let data = home.path("muninn-data");
    if std::fs::metadata(&data).unwrap().uid() != 0 {
        eprintln!("skipped: only root can give files to another account");
        return;
    }
    for path in everything(&data) {
        chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    for command in [
        &["catalog"][..],
        &["doctor"],
        &["chat"],
        &["ask", "What is the code?"],
        &["export", "again.jsonl"],
        &["import", "--replace", "export.jsonl"],
        &["discard-damaged"],
        &["cypher", "check", "MATCH (n:Person) RETURN n"],
        &["serve"],
    ] {
        let refused = home.run(command, "").await;
        refused.fails(1, &["setpriv --reuid=65534 --regid=65534"]);
        assert!(!refused.err.contains("muninn serve"), "{refused:?}");
        assert_eq!(refused.out, "");
    }
    for path in everything(&data) {
        let owner = std::fs::metadata(&path).unwrap().uid();
        assert_eq!(owner, NOBODY, "{}", path.display());
    }
}

#[tokio::test(flavor = "multi_thread")]
#[allow(clippy::print_stderr, reason = "says why nothing was tried")]
async fn root_serves_in_an_empty_folder_of_another_account() {
    let home = Home::new().with("TERMINAL_SOCKET", "socket");
    let data = home.path("muninn-data");
    std::fs::create_dir(&data).unwrap();
    if std::fs::metadata(&data).unwrap().uid() != 0 {
        eprintln!("skipped: only root can give files to another account");
        return;
    }
    chown(&data, Some(NOBODY), Some(NOBODY)).unwrap();
    // As in a container with a folder of the host: at the next start the files are its own.
    for _start in 0..2 {
        let serving = serving(&home).await;
        serving.signal("TERM").await;
        serving.end().await.succeeds();
    }
}

/// Nobody can create a file in `/proc`, not even root.
#[tokio::test(flavor = "multi_thread")]
async fn a_data_folder_that_cannot_be_written_is_a_problem() {
    if cfg!(not(target_os = "linux")) {
        return;
    }
    let home = Home::new()
        .with("DATA_DIR", "/proc")
        .with("GRAPH_URL", "embedded:./graph");
    let doctor = home.run(&["doctor"], "").await;
    doctor.fails(1, &[]);
    let told = "PROBLEM  data: cannot use /proc";
    assert!(doctor.out.contains(told), "{doctor:?}");
}
