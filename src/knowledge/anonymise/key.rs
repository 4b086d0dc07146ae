//! What the placeholders of a source stand for: a file that only whoever runs the bot can read, apart from the graph.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use private_files::{private_file, private_folder};

use super::Originals;

fn folder(data_dir: &Path) -> PathBuf {
    data_dir.join("anonymised")
}

fn place(data_dir: &Path, source: &str) -> PathBuf {
    folder(data_dir).join(format!("{source}.json"))
}

/// None where nothing was taken out of a source.
///
/// # Errors
/// When the file is there and cannot be read.
pub fn load(data_dir: &Path, source: &str) -> io::Result<Option<Originals>> {
    match std::fs::read(place(data_dir, source)) {
        Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Keeps it, whole or not at all.
///
/// # Errors
/// When it cannot be written.
pub fn save(data_dir: &Path, source: &str, originals: &Originals) -> io::Result<()> {
    private_folder(&folder(data_dir))?;
    let path = place(data_dir, source);
    let beside = path.with_extension("partial");
    let mut file = private_file().write(true).truncate(true).open(&beside)?;
    file.write_all(&serde_json::to_vec_pretty(originals)?)?;
    file.sync_all()?;
    std::fs::rename(beside, path)
}

/// Removes it with its source.
///
/// # Errors
/// When it is there and cannot be removed.
pub(in crate::knowledge) fn remove(data_dir: &Path, source: &str) -> io::Result<()> {
    gone_is_fine(std::fs::remove_file(place(data_dir, source)))
}

/// Goes with its source to another name.
///
/// # Errors
/// When it is there and cannot be renamed.
pub(in crate::knowledge) fn rename(data_dir: &Path, old: &str, new: &str) -> io::Result<()> {
    gone_is_fine(std::fs::rename(place(data_dir, old), place(data_dir, new)))
}

fn gone_is_fine(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
