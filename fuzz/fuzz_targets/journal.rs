//! Any file of offline turns, after a torn write or a manual edit, is opened or refused with a
//! reason. A file that was opened once opens again with as many turns.

#![no_main]

use libfuzzer_sys::fuzz_target;
use muninn::memory::journal::{Journal, waiting_in};
use tempfile::TempDir;

fuzz_target!(|bytes: &[u8]| {
    let folder = TempDir::new().expect("a folder");
    std::fs::write(folder.path().join("journal-0.jsonl"), bytes).expect("it is written");
    let Ok(journal) = Journal::open(folder.path()) else {
        return;
    };
    let waiting = journal.len();
    drop(journal);
    let again = Journal::open(folder.path()).expect("it opens again");
    assert_eq!(again.len(), waiting);
    drop(again);
    assert_eq!(waiting_in(folder.path()).expect("it is counted"), waiting);
});
