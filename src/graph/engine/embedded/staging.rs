//! Builds a new graph beside the one in use, which it then replaces as a whole.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kglite::api::durable::DurabilityLevel;
use kglite::api::io::GraphWriterLease;
use kglite::api::session::OpenError;

use super::database::FILE;
use super::open_error::open_error;
use super::staged_files::{cannot, folder, remove, remove_file};
use super::{Embedded, LEASE_WAIT, leavings};
use crate::graph::StoreError;

/// Maximum time of a statement while nobody else waits for the graph.
const IMPORT_STATEMENT_TIMEOUT: Duration = Duration::from_secs(300);

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
