//! One ingest of a source at a time on this machine.
//!
//! The graph has a lease for that as well, which other machines see. A process that was killed
//! leaves its lease behind, but not this lock: whoever gets the lock may take over a lease of the
//! same machine at once.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use uuid::Uuid;

use crate::files::{private_file, private_folder, try_lock};

/// The lock of a source, held until it is dropped.
#[derive(Debug)]
pub(super) struct SourceLock {
    /// Names the data folder.
    pub(super) machine: String,
    _file: File,
}

impl SourceLock {
    /// None: another process has it.
    pub(super) fn take(folder: &Path, source: &str) -> io::Result<Option<Self>> {
        private_folder(folder)?;
        let Some(file) = try_lock(&folder.join(format!("{source}.lock")))? else {
            return Ok(None);
        };
        Ok(Some(Self {
            machine: machine(folder)?,
            _file: file,
        }))
    }
}

/// The name of the folder, made by whoever comes first.
fn machine(folder: &Path) -> io::Result<String> {
    let mut file = private_file()
        .read(true)
        .append(true)
        .open(folder.join("machine"))?;
    file.lock()?;
    let mut name = String::new();
    file.read_to_string(&mut name)?;
    if name.trim().is_empty() {
        name = Uuid::new_v4().to_string();
        file.write_all(name.as_bytes())?;
        file.sync_all()?;
    }
    Ok(name.trim().to_owned())
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
