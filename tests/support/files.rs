//! Searches files.

use std::path::{Path, PathBuf};

/// Returns files below a folder whose bytes contain a text, plain or compressed.
pub fn files_with(folder: &Path, text: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_with(&path, text));
        } else if path.is_file() && holds(&std::fs::read(&path).unwrap(), text) {
            found.push(path);
        }
    }
    found
}

fn holds(bytes: &[u8], text: &str) -> bool {
    const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
    let has = |bytes: &[u8]| {
        bytes
            .windows(text.len())
            .any(|part| part == text.as_bytes())
    };
    has(bytes)
        || (0..bytes.len())
            .filter(|at| bytes[*at..].starts_with(&ZSTD))
            .any(|at| {
                let mut plain = Vec::new();
                let decoder = zstd::stream::read::Decoder::new(&bytes[at..]);
                // The bytes after the frame are not compressed, so it ends with an error.
                let _ = decoder.and_then(|mut decoder| std::io::copy(&mut decoder, &mut plain));
                has(&plain)
            })
}
