//! Turns that were answered while the graph was away, kept on this machine until it is back.
//!
//! One JSON line a turn, synced before the answer goes out, in the order of the answers. A turn has
//! its response id and event id here already, so that replaying one twice saves it once.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use muninn_platform::Delivered;
use tokio::sync::Mutex;

use crate::files::{private_file, private_folder, replace_lines, try_lock};
use crate::graph::{NewTurn, ResponseId};

/// The journal could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error("the journal {} cannot be used", path.display())]
    Unusable {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("the journal {} is damaged in line {line}; move it away to start without its turns", path.display())]
    Damaged {
        path: PathBuf,
        line: usize,
        #[source]
        source: serde_json::Error,
    },
}

/// Processes that can share a folder, each with a journal of its own.
const SLOTS: usize = 64;

/// The turns that wait for the graph.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    waiting: Mutex<Vec<NewTurn>>,
    /// Held as long as the process lives: nobody else writes this journal.
    _lock: std::fs::File,
}

impl Journal {
    /// Takes the first journal of the folder that no other process uses, and reads what an earlier
    /// one left in it.
    ///
    /// A last line without its end was never acknowledged to anybody, so it is dropped.
    ///
    /// # Errors
    /// When the file cannot be read, or a whole line in it makes no turn.
    pub fn open(folder: &Path) -> Result<Self, JournalError> {
        let (path, lock) = free_slot(folder).map_err(|error| unusable(folder, error))?;
        let waiting = match std::fs::File::open(&path) {
            Ok(file) => read(&path, file)?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(source) => return Err(unusable(&path, source)),
        };
        if !waiting.is_empty() {
            replace_lines(&path, &waiting).map_err(|error| unusable(&path, error))?;
        }
        Ok(Self {
            path,
            waiting: Mutex::new(waiting),
            _lock: lock,
        })
    }

    /// Keeps a turn. When this returns, it survives the process and the machine.
    ///
    /// # Errors
    /// When it could not be written.
    pub async fn keep(&self, turn: NewTurn) -> Result<(), JournalError> {
        let mut waiting = self.waiting.lock().await;
        let line = self.line(&turn)?;
        let path = self.path.clone();
        in_background(move || append(&path, &line))
            .await
            .map_err(|error| unusable(&self.path, error))?;
        waiting.push(turn);
        Ok(())
    }

    /// The turn that an event made, if it waits here.
    pub async fn turn_of_event(&self, event: &str) -> Option<NewTurn> {
        let waiting = self.waiting.lock().await;
        waiting.iter().find(|it| it.turn.event == event).cloned()
    }

    /// Says what the answer of a waiting turn went out as. Says whether it waits here.
    ///
    /// # Errors
    /// When the file could not be written anew.
    pub async fn set_delivered(
        &self,
        response: ResponseId,
        delivered: &Delivered,
    ) -> Result<bool, JournalError> {
        let mut waiting = self.waiting.lock().await;
        let Some(found) = waiting.iter_mut().find(|it| it.turn.id == response) else {
            return Ok(false);
        };
        found.turn.delivered = Some(delivered.clone());
        self.rewrite(&waiting)?;
        Ok(true)
    }

    /// The turn that has waited longest.
    pub async fn first(&self) -> Option<NewTurn> {
        self.waiting.lock().await.first().cloned()
    }

    /// Whether turns of the session wait.
    pub async fn holds(&self, session: &str) -> bool {
        self.waiting
            .lock()
            .await
            .iter()
            .any(|waiting| waiting.turn.session == session)
    }

    pub async fn len(&self) -> usize {
        self.waiting.lock().await.len()
    }

    pub async fn is_empty(&self) -> bool {
        self.len().await == 0
    }

    /// Keeps a turn that the graph refuses in a file beside the journal, for a person to look at.
    ///
    /// # Errors
    /// When it could not be written there.
    pub async fn set_aside(&self, turn: &NewTurn) -> Result<(), JournalError> {
        let path = self.path.with_extension("refused.jsonl");
        let line = self.line(turn)?;
        let (file, failed) = (path.clone(), path);
        in_background(move || append(&file, &line))
            .await
            .map_err(|error| unusable(&failed, error))
    }

    fn line(&self, turn: &NewTurn) -> Result<Vec<u8>, JournalError> {
        let mut line =
            serde_json::to_vec(turn).map_err(|error| unusable(&self.path, error.into()))?;
        line.push(b'\n');
        Ok(line)
    }

    /// Drops a turn that is in the graph now.
    ///
    /// # Errors
    /// When the file could not be written anew; the turn is then replayed once more after a
    /// restart, and saved once all the same.
    pub async fn done(&self, turn: &NewTurn) -> Result<(), JournalError> {
        self.drop_where(|waiting| waiting.turn.id == turn.turn.id)
            .await
            .map(drop)
    }

    /// Drops the turns for which `gone` holds, and says how many there were.
    ///
    /// # Errors
    /// When the file could not be written anew.
    pub async fn drop_where(
        &self,
        gone: impl Fn(&NewTurn) -> bool + Send,
    ) -> Result<usize, JournalError> {
        let mut waiting = self.waiting.lock().await;
        let before = waiting.len();
        waiting.retain(|turn| !gone(turn));
        let dropped = before - waiting.len();
        if dropped > 0 {
            self.rewrite(&waiting)?;
        }
        Ok(dropped)
    }

    fn rewrite(&self, turns: &[NewTurn]) -> Result<(), JournalError> {
        replace_lines(&self.path, turns).map_err(|error| unusable(&self.path, error))
    }
}

/// The path of a journal nobody uses, and the lock that keeps it so.
fn free_slot(folder: &Path) -> std::io::Result<(PathBuf, std::fs::File)> {
    private_folder(folder)?;
    for slot in 0..SLOTS {
        if let Some(lock) = try_lock(&folder.join(format!("journal-{slot}.lock")))? {
            return Ok((folder.join(format!("journal-{slot}.jsonl")), lock));
        }
    }
    Err(std::io::Error::other(format!(
        "{SLOTS} processes use this folder already"
    )))
}

fn read(path: &Path, file: std::fs::File) -> Result<Vec<NewTurn>, JournalError> {
    let mut reader = BufReader::new(file);
    let mut turns = Vec::new();
    let mut bytes = Vec::new();
    for line in 1.. {
        bytes.clear();
        reader
            .read_until(b'\n', &mut bytes)
            .map_err(|error| unusable(path, error))?;
        if bytes.last() != Some(&b'\n') {
            break;
        }
        turns.push(
            serde_json::from_slice(&bytes).map_err(|source| JournalError::Damaged {
                path: path.to_owned(),
                line,
                source,
            })?,
        );
    }
    Ok(turns)
}

fn append(path: &Path, line: &[u8]) -> std::io::Result<()> {
    let mut file = private_file().append(true).open(path)?;
    let before = file.metadata()?.len();
    let written = file.write_all(line).and_then(|()| file.sync_data());
    if written.is_err() {
        // Half a line would make the whole of the next one unreadable.
        file.set_len(before)?;
    }
    written
}

async fn in_background(
    act: impl FnOnce() -> std::io::Result<()> + Send + 'static,
) -> std::io::Result<()> {
    tokio::task::spawn_blocking(act)
        .await
        .map_err(std::io::Error::other)?
}

fn unusable(path: &Path, source: std::io::Error) -> JournalError {
    JournalError::Unusable {
        path: path.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::new_turn;

    #[tokio::test]
    async fn what_was_kept_is_there_after_a_restart_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let turns: Vec<NewTurn> = (0..3)
            .map(|n| new_turn("terminal/a", &n.to_string()))
            .collect();
        let journal = Journal::open(folder.path()).unwrap();
        for turn in &turns {
            journal.keep(turn.clone()).await.unwrap();
        }
        drop(journal);

        let journal = Journal::open(folder.path()).unwrap();
        assert!(journal.holds("terminal/a").await);
        for turn in &turns {
            assert_eq!(journal.first().await.unwrap().turn, turn.turn);
            journal.done(turn).await.unwrap();
        }
        drop(journal);
        assert!(Journal::open(folder.path()).unwrap().is_empty().await);
    }

    #[tokio::test]
    async fn half_a_line_was_never_acknowledged() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(folder.path()).unwrap();
        journal.keep(new_turn("terminal/a", "whole")).await.unwrap();
        let path = journal.path.clone();
        drop(journal);
        let mut file = std::fs::OpenOptions::new()
            .append(true)
            .open(&path)
            .unwrap();
        file.write_all(b"{\"audience\":").unwrap();

        let journal = Journal::open(folder.path()).unwrap();
        assert_eq!(journal.len().await, 1);
        journal.keep(new_turn("terminal/a", "next")).await.unwrap();
        drop(journal);
        assert_eq!(Journal::open(folder.path()).unwrap().len().await, 2);
    }

    #[tokio::test]
    async fn what_the_graph_refuses_is_set_aside() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(folder.path()).unwrap();
        let turn = new_turn("terminal/a", "odd");
        journal.keep(turn.clone()).await.unwrap();
        journal.set_aside(&turn).await.unwrap();
        journal.done(&turn).await.unwrap();
        drop(journal);
        assert!(Journal::open(folder.path()).unwrap().is_empty().await);
        let aside = std::fs::read(folder.path().join("journal-0.refused.jsonl")).unwrap();
        let aside: NewTurn = serde_json::from_slice(&aside).unwrap();
        assert_eq!(aside.turn, turn.turn);
    }

    #[tokio::test]
    async fn a_damaged_line_is_named() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("journal-0.jsonl"), "nonsense\n").unwrap();
        let error = Journal::open(folder.path()).unwrap_err().to_string();
        assert!(error.contains("line 1"), "{error}");
    }

    #[tokio::test]
    async fn two_processes_have_a_journal_each() {
        let folder = tempfile::tempdir().unwrap();
        let one = Journal::open(folder.path()).unwrap();
        let other = Journal::open(folder.path()).unwrap();
        assert_ne!(one.path, other.path);
    }
}
