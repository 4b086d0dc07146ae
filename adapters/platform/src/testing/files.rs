//! Files for tests to hand over.

use std::fs::{File, OpenOptions};
use std::io::Write as _;

use crate::OwnFile;

/// Creates an unlinked file.
///
/// # Panics
/// Panics when the machine has no room for it.
pub fn own_file(name: &str, media_type: &'static str, content: &[u8]) -> OwnFile {
    let unique = super::ids::next_event().replace('/', "-");
    let path = std::env::temp_dir().join(unique);
    let mut options = OpenOptions::new();
    let opened = options.read(true).write(true).create_new(true).open(&path);
    let mut file: File = opened.expect("a file for the time being");
    std::fs::remove_file(&path).expect("it is ours");
    file.write_all(content).expect("room for it");
    OwnFile::new(name.to_owned(), media_type, file).expect("it is there")
}
