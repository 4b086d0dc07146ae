//! Stores the originals of a source's placeholders in a file that only the operator can read,
//! outside the graph.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use private_files::{create_private_folder, private_file};

use super::Originals;

fn folder(data_dir: &Path) -> PathBuf {
    data_dir.join("anonymised")
}

fn place(data_dir: &Path, source: &str) -> PathBuf {
    folder(data_dir).join(format!("{source}.json"))
}

/// Loads the originals; `None` if nothing of a source was anonymised.
///
/// # Errors
/// Fails when the file exists and cannot be read.
pub fn load(data_dir: &Path, source: &str) -> io::Result<Option<Originals>> {
    match std::fs::read(place(data_dir, source)) {
        Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes the file atomically.
///
/// # Errors
/// Fails when it cannot be written.
pub fn save(data_dir: &Path, source: &str, originals: &Originals) -> io::Result<()> {
    create_private_folder(&folder(data_dir))?;
    let path = place(data_dir, source);
    let beside = path.with_extension("partial");
    let mut file = private_file().write(true).truncate(true).open(&beside)?;
    file.write_all(&serde_json::to_vec_pretty(originals)?)?;
    file.sync_all()?;
    std::fs::rename(beside, path)
}

/// Removes the file together with its source. Returns whether there was one.
///
/// # Errors
/// Fails when it is there and cannot be removed.
pub(in crate::knowledge) fn remove(data_dir: &Path, source: &str) -> io::Result<bool> {
    match std::fs::remove_file(place(data_dir, source)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        done => done.map(|()| true),
    }
}

/// Copies the file for a source that is about to be renamed.
///
/// # Errors
/// Fails when it is there and cannot be copied.
pub(in crate::knowledge) fn copy(data_dir: &Path, old: &str, new: &str) -> io::Result<()> {
    match load(data_dir, old)? {
        Some(originals) => save(data_dir, new, &originals),
        None => Ok(()),
    }
}
