//! Where it is written down: one JSON line a conversation, in a file of each process.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::Withdrawal;
use crate::files::{private_folder, replace_lines, try_lock};

/// Processes that can share a folder.
const SLOTS: usize = 64;

/// A file that no other process writes.
#[derive(Debug)]
pub(super) struct Slot {
    path: PathBuf,
    /// One write at a time, in their order.
    writing: tokio::sync::Mutex<()>,
    _lock: File,
}

impl Slot {
    /// Takes a file nobody uses, and what is in those that nobody uses any more.
    pub(super) fn open(folder: &Path) -> io::Result<(Self, Vec<Withdrawal>)> {
        private_folder(folder)?;
        let mut own = None;
        let mut left_over = Vec::new();
        for slot in 0..SLOTS {
            let path = folder.join(format!("withdrawals-{slot}.jsonl"));
            if own.is_some() && !path.exists() {
                continue;
            }
            let Some(lock) = try_lock(&folder.join(format!("withdrawals-{slot}.lock")))? else {
                continue;
            };
            left_over.extend(read(&path)?);
            match own {
                None => own = Some((path, lock, Vec::new())),
                Some((_, _, ref mut emptied)) => emptied.push((path, lock)),
            }
        }
        let Some((path, lock, emptied)) = own else {
            return Err(io::Error::other(format!(
                "{SLOTS} processes use this folder already"
            )));
        };
        if !left_over.is_empty() {
            replace_lines(&path, &left_over)?;
        }
        for (path, _lock) in emptied {
            std::fs::remove_file(path)?;
        }
        let slot = Self {
            path,
            writing: tokio::sync::Mutex::new(()),
            _lock: lock,
        };
        Ok((slot, left_over))
    }

    /// Puts in the place of what is in it what `all` gives when it is its turn.
    pub(super) async fn write(&self, all: impl FnOnce() -> Vec<Withdrawal>) -> io::Result<()> {
        let _writing = self.writing.lock().await;
        let (path, all) = (self.path.clone(), all());
        let written = tokio::task::spawn_blocking(move || replace_lines(&path, all));
        written.await.map_err(io::Error::other)?
    }
}

/// A line that cannot be read is of another version, or was not finished: it is passed over.
fn read(path: &Path) -> io::Result<Vec<Withdrawal>> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}
