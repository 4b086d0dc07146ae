//! Any file is read, or refused with a reason, in bounded time. The first byte selects the
//! extension of its name.

#![no_main]

use std::cell::RefCell;
use std::time::{Duration, Instant};

use libfuzzer_sys::fuzz_target;
use muninn::knowledge::documents::{Format, read};
use tempfile::TempDir;

const NAMES: [&str; 14] = [
    "a.md", "a.txt", "a.html", "a.pdf", "a.rst", "a.adoc", "a.org", "a.ipynb", "a.docx", "a.odt", "a.pptx", "a.xlsx", "a.epub", "a.eml",
];

/// Maximum time: many times what a few kilobytes need.
const LONG: Duration = Duration::from_secs(5);

thread_local! {
    static FOLDER: RefCell<TempDir> = RefCell::new(TempDir::new().expect("a folder"));
}

fuzz_target!(|bytes: &[u8]| {
    let Some((first, content)) = bytes.split_first() else {
        return;
    };
    FOLDER.with_borrow(|folder| {
        let path = folder.path().join(NAMES[usize::from(*first) % NAMES.len()]);
        std::fs::write(&path, content).expect("it is written");
        let format = Format::of(&path).expect("it is a document");
        let began = Instant::now();
        if let Err(refused) = read(&path, "a", None, format) {
            assert!(!refused.reason.is_empty());
        }
        assert!(began.elapsed() < LONG, "{:?} for {path:?}", began.elapsed());
    });
});
