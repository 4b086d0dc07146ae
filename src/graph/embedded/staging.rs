//! Builds a new graph beside the one in use, which it then replaces as a whole.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kglite::api::durable::DurabilityLevel;
use kglite::api::io::GraphWriterLease;
use kglite::api::session::OpenError;

use super::{Embedded, FILE, LEASE_WAIT, leavings, open_error};
use crate::graph::StoreError;

/// Subfolder of the graph's folder in which the new one is built.
const FOLDER: &str = "importing";

/// Maximum time of a statement while nobody else waits for the graph.
const IMPORT_STATEMENT_TIMEOUT: Duration = Duration::from_secs(300);

/// The folder in which the replacement for this folder's graph is built.
pub(crate) fn folder(of: &Path) -> PathBuf {
    of.join(FOLDER)
}

impl Embedded {
    /// Opens an empty graph beside the one in this folder. It has no log: if anything fails, the
    /// one in use is unchanged.
    pub(crate) async fn stage(of: &Path) -> Result<Self, StoreError> {
        remove(of).map_err(|error| cannot(of, &error))?;
        Self::open_at(folder(of), IMPORT_STATEMENT_TIMEOUT, DurabilityLevel::Off).await
    }
}

/// Removes the graph that was built beside the one in this folder.
pub(crate) fn discard(of: &Path) -> Result<(), StoreError> {
    remove(of).map_err(|error| cannot(of, &error))
}

/// Removes the parts of a damaged log that were set aside, while nobody has the graph open.
pub(crate) fn discard_set_aside(of: &Path) -> Result<Vec<PathBuf>, StoreError> {
    if !of.join(FILE).exists() {
        return Ok(Vec::new());
    }
    let _lease = lease(of)?;
    leavings::remove(of).map_err(|error| cannot(of, &error))
}

fn lease(of: &Path) -> Result<GraphWriterLease, StoreError> {
    GraphWriterLease::acquire_ex(&of.join(FILE), LEASE_WAIT)
        .map_err(|refusal| open_error(of, OpenError::Lease(refusal)))
}

/// Replaces the graph in this folder with the one built beside it. Both are closed.
pub(crate) fn publish(of: &Path) -> Result<(), StoreError> {
    let _lease = lease(of)?;
    replace(of, &of.join(FILE)).map_err(|error| cannot(of, &error))
}

/// Removes the log first: it is already folded in, and must not be applied to another graph.
fn replace(of: &Path, graph: &Path) -> io::Result<()> {
    remove_file(&of.join(format!("{FILE}-wal")))?;
    std::fs::rename(folder(of).join(FILE), graph)?;
    std::fs::File::open(of)?.sync_all()?;
    leavings::remove(of)?;
    remove(of)
}

/// Removes what an interrupted import left. Returns whether there was anything.
pub(super) fn remove_left_over(of: &Path) -> Result<bool, StoreError> {
    let was_there = folder(of).exists();
    remove(of).map_err(|error| cannot(of, &error))?;
    Ok(was_there)
}

fn remove(of: &Path) -> io::Result<()> {
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

fn cannot(of: &Path, error: &io::Error) -> StoreError {
    StoreError::Misconfigured(format!(
        "the files of the graph in {} cannot be changed: {error}",
        of.display()
    ))
}
