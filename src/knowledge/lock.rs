//! Allows one ingest of a source at a time on this machine.
//!
//! The graph also has a lease, which other machines see. A killed process leaves its lease behind,
//! but not this lock: whoever gets the lock may take over a lease of the same machine at once.

use std::fs::File;
use std::io;
use std::path::Path;

use private_files::{create_private_folder, folder_name, try_lock};

/// The lock of a source, held until it is dropped.
#[derive(Debug)]
pub(super) struct SourceLock {
    /// The id of the data folder.
    pub(super) machine: String,
    _file: File,
}

impl SourceLock {
    /// Takes the lock. `None`: another process holds it.
    pub(super) fn take(folder: &Path, source: &str) -> io::Result<Option<Self>> {
        create_private_folder(folder)?;
        let Some(file) = try_lock(&folder.join(format!("{source}.lock")))? else {
            return Ok(None);
        };
        Ok(Some(Self {
            machine: folder_name(folder)?,
            _file: file,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_and_the_machine_keeps_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let first = SourceLock::take(folder.path(), "s").unwrap().unwrap();
        assert!(SourceLock::take(folder.path(), "s").unwrap().is_none());
        let other = SourceLock::take(folder.path(), "t").unwrap().unwrap();
        assert_eq!(first.machine, other.machine);
        drop(first);
        assert!(SourceLock::take(folder.path(), "s").unwrap().is_some());
    }
}
