//! The file of withdrawals: one JSON line per conversation, one file per process.

use std::io;
use std::path::Path;

use super::Withdrawal;
use private_files::line_log::{Slot, Slots};
use private_files::replace_lines;

/// Base name of the files.
const NAME: &str = "withdrawals";

/// A file that no other process writes.
#[derive(Debug)]
pub(super) struct WithdrawalFile {
    slot: Slot,
    /// Serialises writes in their order.
    writing: tokio::sync::Mutex<()>,
}

impl WithdrawalFile {
    /// Takes an unused file, and reads all files that nobody uses any more.
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

    /// Replaces the content with what `all` returns when this write begins.
    pub(super) async fn write(&self, all: impl FnOnce() -> Vec<Withdrawal>) -> io::Result<()> {
        let _writing = self.writing.lock().await;
        let (path, all) = (self.slot.path.clone(), all());
        let written = tokio::task::spawn_blocking(move || replace_lines(&path, all));
        written.await.map_err(io::Error::other)?
    }
}

/// Skips unreadable lines: they were written by another version, or are incomplete.
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
