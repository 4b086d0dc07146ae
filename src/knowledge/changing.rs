//! Removes and renames sources in the graph.

use std::path::Path;
use std::sync::Arc;

use super::anonymise::key;
use super::ingest::IngestError;
use super::lock::SourceLock;
use super::search::IndexFolder;
use super::source::source_name;
use super::source_error::SourceError;
use crate::graph::GraphStore;
use crate::graph::ingest::{Claim, Lease, SourceOverview};

/// Removes a source with everything that belongs to it. Returns how many chunks it had. Without a
/// source, this removes the originals of its placeholders, which an interrupted run may have left
/// behind.
///
/// # Errors
/// Fails when there is no source of that name, when it is being ingested, or when the store fails.
pub async fn remove(
    store: &Arc<GraphStore>,
    data_dir: &Path,
    name: &str,
) -> Result<u64, IngestError> {
    let source = match known(store, name).await {
        // The name may become part of a path.
        Err(IngestError::Source(SourceError::Unknown { .. }))
            if source_name(&[], Some(name)).is_ok() && key::remove(data_dir, name)? =>
        {
            return Ok(0);
        }
        found => found?,
    };
    let (lock, lease) = claim(store, data_dir, &source).await?;
    let removed = store.remove_source(&lease).await;
    drop(lock);
    let removed = removed?;
    IndexFolder::in_data_dir(data_dir).remove(name)?;
    key::remove(data_dir, name)?;
    Ok(removed)
}

/// Renames a source. Returns how many chunks it has.
///
/// # Errors
/// Fails when the old name does not exist or the new one does, when the source is being ingested,
/// or when the store fails.
pub async fn rename(
    store: &Arc<GraphStore>,
    data_dir: &Path,
    old: &str,
    new: &str,
) -> Result<u64, IngestError> {
    let new = source_name(&[], Some(new))?;
    let source = known(store, old).await?;
    let sources = store.sources().await?;
    if sources.iter().any(|source| source.name == new) {
        return Err(SourceError::Taken { name: new }.into());
    }
    // Prevents an ingest into the new name meanwhile.
    let folder = data_dir.join("ingest");
    let taken = SourceLock::take(&folder, &new)?.ok_or_else(|| busy(&new, ON_THIS_MACHINE))?;
    let (lock, lease) = claim(store, data_dir, &source).await?;
    // Whoever ingests it again without anonymising is refused under both names, whenever this ends.
    let renamed = match key::copy(data_dir, old, &new) {
        Ok(()) => store.rename_source(&lease, &new).await.map_err(Into::into),
        Err(error) => Err(IngestError::from(error)),
    };
    if renamed.is_err() {
        // The lease expires by itself if the graph is unavailable.
        let _ = store.release_source(&lease).await;
    }
    drop((lock, taken));
    let renamed = renamed?;
    IndexFolder::in_data_dir(data_dir).remove(old)?;
    let rejects = |name: &str| {
        let file = format!("{name}-{}.jsonl", source.version);
        data_dir.join("rejects").join(file)
    };
    match std::fs::rename(rejects(old), rejects(&new)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
        Ok(()) | Err(_) => {}
    }
    key::remove(data_dir, old)?;
    Ok(renamed)
}

const ON_THIS_MACHINE: &str = "another process on this machine";

fn busy(name: &str, holder: &str) -> IngestError {
    IngestError::Busy {
        name: name.to_owned(),
        holder: holder.to_owned(),
    }
}

/// Returns the source of a name.
///
/// # Errors
/// Fails when there is none; the error lists the existing ones.
async fn known(store: &Arc<GraphStore>, name: &str) -> Result<SourceOverview, IngestError> {
    let sources = store.sources().await?;
    let names = sources.iter().map(|source| source.name.clone()).collect();
    let found = sources.into_iter().find(|source| source.name == name);
    let unknown = || SourceError::Unknown {
        name: name.to_owned(),
        known: names,
    };
    Ok(found.ok_or_else(unknown)?)
}

async fn claim(
    store: &Arc<GraphStore>,
    data_dir: &Path,
    source: &SourceOverview,
) -> Result<(SourceLock, Lease), IngestError> {
    let name = &source.name;
    let lock = SourceLock::take(&data_dir.join("ingest"), name)?;
    let lock = lock.ok_or_else(|| busy(name, ON_THIS_MACHINE))?;
    let claim = Claim {
        source: name,
        machine: &lock.machine,
        process: &std::process::id().to_string(),
        channels: &source.of.channels,
    };
    let lease = store.claim_source(&claim).await?;
    let lease = lease.map_err(|holder| busy(name, &holder))?;
    Ok((lock, lease))
}
