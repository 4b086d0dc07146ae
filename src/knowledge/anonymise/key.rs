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

/// Removes the file together with its source.
///
/// # Errors
/// Fails when it is there and cannot be removed.
pub(in crate::knowledge) fn remove(data_dir: &Path, source: &str) -> io::Result<()> {
    gone_is_fine(std::fs::remove_file(place(data_dir, source)))
}

/// Renames the file together with its source.
///
/// # Errors
/// Fails when it is there and cannot be renamed.
pub(in crate::knowledge) fn rename(data_dir: &Path, old: &str, new: &str) -> io::Result<()> {
    gone_is_fine(std::fs::rename(place(data_dir, old), place(data_dir, new)))
}

fn gone_is_fine(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
