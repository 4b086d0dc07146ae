//! Where it is written down: one JSON line per conversation, in a file of each process.

use std::io;
use std::path::Path;

use super::Withdrawal;
use private_files::line_log::{Slot, Slots};
use private_files::replace_lines;

/// What the files are called.
const NAME: &str = "withdrawals";

/// A file that no other process writes.
#[derive(Debug)]
pub(super) struct WithdrawalFile {
    slot: Slot,
    /// One write at a time, in their order.
    writing: tokio::sync::Mutex<()>,
}

impl WithdrawalFile {
    /// Takes a file nobody uses, and what is in those that nobody uses any more.
    pub(super) fn open(folder: &Path) -> io::Result<(Self, Vec<Withdrawal>)> {
        let Slots { own, left } = Slots::take(folder, NAME)?;
        let mut left_over = Vec::new();
        for slot in std::iter::once(&own).chain(&left) {
            left_over.extend(read(&slot.path)?);
        }
        if !left_over.is_empty() {
            replace_lines(&own.path, &left_over)?;
        }
        for slot in left {
            std::fs::remove_file(&slot.path)?;
        }
        let file = Self {
            slot: own,
            writing: tokio::sync::Mutex::new(()),
        };
        Ok((file, left_over))
    }

    /// Puts in the place of what is in it what `all` gives when it is its turn.
    pub(super) async fn write(&self, all: impl FnOnce() -> Vec<Withdrawal>) -> io::Result<()> {
        let _writing = self.writing.lock().await;
        let (path, all) = (self.slot.path.clone(), all());
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
