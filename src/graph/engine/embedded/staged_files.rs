//! The files of a graph that is made aside.

use std::io;
use std::path::{Path, PathBuf};

use crate::graph::StoreError;

/// The folder in which the replacement for this folder's graph is built.
pub(crate) fn folder(of: &Path) -> PathBuf {
    of.join(FOLDER)
}

/// Removes what an interrupted import left. Returns whether there was anything.
pub(super) fn remove_left_over(of: &Path) -> Result<bool, StoreError> {
    let was_there = folder(of).exists();
    remove(of).map_err(|error| cannot(of, &error))?;
    Ok(was_there)
}

pub(super) fn remove(of: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(folder(of)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

pub(super) fn remove_file(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Subfolder of the graph's folder in which the new one is built.
pub(super) const FOLDER: &str = "importing";

pub(super) fn cannot(of: &Path, error: &io::Error) -> StoreError {
    StoreError::Misconfigured(format!(
        "the files of the graph in {} cannot be changed: {error}",
        of.display()
    ))
}
