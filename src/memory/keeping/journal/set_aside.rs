//! Turns that the graph refused for their content, kept for the operator to look at.
//!
//! All processes that share the folder use one file, under a lock that is held briefly.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::graph::NewTurn;
use private_files::line_log::{self, read_lines};
use private_files::{create_private_folder, private_file};

/// The file in the folder.
const FILE: &str = "journal.refused.jsonl";

/// A turn that was set aside.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Refused {
    pub turn: NewTurn,
    /// The graph's error.
    pub reason: String,
    pub at: DateTime<Utc>,
}

/// The turns that were set aside in a folder.
#[derive(Clone, Debug)]
pub struct SetAside {
    folder: PathBuf,
}

impl SetAside {
    /// For a folder that need not exist yet.
    pub fn of(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
        }
    }

    /// The path of the file.
    pub fn path(&self) -> PathBuf {
        self.folder.join(FILE)
    }

    /// Adds a turn.
    ///
    /// # Errors
    /// Fails when it could not be written.
    pub fn add(&self, refused: &Refused) -> io::Result<()> {
        let _lock = self.lock()?;
        line_log::append_line(&self.path(), &line_log::json_line(refused)?)
    }

    /// Returns all of them, in order.
    ///
    /// # Errors
    /// Fails when a file could not be read.
    pub fn all(&self) -> io::Result<Vec<Refused>> {
        if self.files()?.is_empty() {
            return Ok(Vec::new());
        }
        let _lock = self.lock()?;
        self.read()
    }

    /// Removes and returns the turns for which `gone` is true.
    ///
    /// # Errors
    /// Fails when the file could not be rewritten.
    pub fn take_where(&self, gone: impl Fn(&NewTurn) -> bool) -> io::Result<Vec<Refused>> {
        if self.files()?.is_empty() {
            return Ok(Vec::new());
        }
        let _lock = self.lock()?;
        let (taken, left): (Vec<Refused>, Vec<Refused>) =
            self.read()?.into_iter().partition(|it| gone(&it.turn));
        if taken.is_empty() {
            return Ok(taken);
        }
        if left.is_empty() {
            for file in self.files()? {
                std::fs::remove_file(file)?;
            }
            return Ok(taken);
        }
        line_log::replace(&self.path(), |out| {
            for refused in &left {
                out.write_all(&line_log::json_line(refused)?)?;
            }
            Ok(())
        })?;
        for file in self.files()? {
            if file != self.path() {
                std::fs::remove_file(file)?;
            }
        }
        Ok(taken)
    }

    /// The file, and those of earlier versions, which had one per journal.
    fn files(&self) -> io::Result<Vec<PathBuf>> {
        let entries = match std::fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut files = Vec::new();
        for entry in entries {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with("journal") && name.ends_with(".refused.jsonl") {
                files.push(path);
            }
        }
        files.sort_unstable();
        Ok(files)
    }

    fn read(&self) -> io::Result<Vec<Refused>> {
        let mut all = Vec::new();
        let mut unreadable = 0;
        for path in self.files()? {
            read_lines(&path, |_, line| {
                match refused(line) {
                    Some(refused) => all.push(refused),
                    None => unreadable += 1,
                }
                Ok::<(), io::Error>(())
            })?;
        }
        if unreadable > 0 {
            tracing::warn!(unreadable, path = %self.path().display(), "lines of the turns that were set aside cannot be read");
        }
        Ok(all)
    }

    fn lock(&self) -> io::Result<File> {
        create_private_folder(&self.folder)?;
        let path = self.folder.join("journal.refused.lock");
        let file = private_file().write(true).open(path)?;
        file.lock()?;
        Ok(file)
    }
}

/// Parses a line; earlier versions wrote the plain turn.
fn refused(line: &[u8]) -> Option<Refused> {
    let of_before = || {
        let turn: NewTurn = serde_json::from_slice(line).ok()?;
        Some(Refused {
            at: turn.turn.created_at,
            reason: "not known: an earlier version of muninn set it aside".to_owned(),
            turn,
        })
    };
    serde_json::from_slice(line).ok().or_else(of_before)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::new_turn;

    fn refused(said: &str) -> Refused {
        Refused {
            turn: new_turn("terminal/a", said),
            reason: "it is odd".to_owned(),
            at: Utc::now(),
        }
    }

    #[test]
    fn a_torn_line_does_not_swallow_the_next_one() {
        let folder = tempfile::tempdir().unwrap();
        let aside = SetAside::of(folder.path());
        aside.add(&refused("one")).unwrap();
        let whole = std::fs::read(aside.path()).unwrap();
        let torn = [&whole[..], &whole[..whole.len() / 2]].concat();
        std::fs::write(aside.path(), torn).unwrap();
        aside.add(&refused("two")).unwrap();
        let said: Vec<String> = aside
            .all()
            .unwrap()
            .into_iter()
            .map(|it| it.turn.turn.input)
            .collect();
        assert_eq!(said, ["one", "two"]);
    }

    #[test]
    fn what_was_set_aside_is_listed_and_taken_out_without_a_trace() {
        let folder = tempfile::tempdir().unwrap();
        let aside = SetAside::of(folder.path());
        assert!(aside.all().unwrap().is_empty());
        for said in ["one", "two", "three"] {
            aside.add(&refused(said)).unwrap();
        }
        // In the format of an earlier version.
        let line = line_log::json_line(&new_turn("terminal/a", "older")).unwrap();
        std::fs::write(folder.path().join("journal-0.refused.jsonl"), line).unwrap();
        assert_eq!(aside.all().unwrap().len(), 4);

        let gone = aside.take_where(|turn| turn.turn.input == "two").unwrap();
        assert_eq!(gone[0].reason, "it is odd");
        let left = std::fs::read_to_string(aside.path()).unwrap();
        assert!(!left.contains("two") && left.contains("older"), "{left}");
        assert_eq!(aside.take_where(|_| true).unwrap().len(), 3);
        assert!(aside.files().unwrap().is_empty());
    }
}
