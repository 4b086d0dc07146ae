//! Manages the index files, one per served source. A file is written under another name, synced,
//! and renamed, so it is either complete or absent. It may be deleted at any time, and is then
//! rebuilt from the graph.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use private_files::{create_private_folder, private_file};
use uuid::Uuid;

use super::segment::Segment;
use super::writing::{Builder, Moved};
use crate::graph::ingest::searching::SourceVersion;
use crate::knowledge::search::nodes::NODES;

/// The folder in `DATA_DIR`.
const FOLDER: &str = "knowledge-index";
const INDEX: &str = "index";
/// Extension of a file that is being written, and locked meanwhile.
const PART: &str = "part";
/// The name of the file of nodes, which is not a valid source name.
const OF_NODES: &str = "@nodes";

/// The folder of the files.
#[derive(Debug)]
pub struct IndexFolder {
    path: PathBuf,
    /// It is removed when the process ends.
    is_temporary: bool,
}

impl IndexFolder {
    pub fn in_data_dir(data_dir: &Path) -> Self {
        Self {
            path: data_dir.join(FOLDER),
            is_temporary: false,
        }
    }

    /// Creates a folder of its own for this process.
    pub fn temporary() -> Self {
        let name = format!("muninn-{FOLDER}-{}", Uuid::new_v4());
        Self {
            path: std::env::temp_dir().join(name),
            is_temporary: true,
        }
    }

    fn file(&self, source: &str) -> PathBuf {
        let name = if source == NODES { OF_NODES } else { source };
        self.path.join(format!("{name}.{INDEX}"))
    }

    /// Opens the file of this version, if it exists and matches.
    pub fn open(&self, source: &SourceVersion, embedder: Option<(&str, usize)>) -> Option<Segment> {
        let opened = Segment::open(&self.file(&source.name)).ok()??;
        (opened.is_of(source, embedder) && !opened.is_partial()).then_some(opened)
    }

    /// Begins to build the file of a version of a source.
    ///
    /// # Errors
    /// Fails when the folder cannot be created.
    pub fn build(
        &self,
        source: &SourceVersion,
        embedder: Option<(&str, usize)>,
    ) -> io::Result<Builder> {
        create_private_folder(&self.path)?;
        Ok(Builder::new(source, embedder, &self.path))
    }

    /// Moves a built file into place, and opens it.
    ///
    /// # Errors
    /// Fails when it cannot be written.
    pub fn put(&self, source: &str, built: Builder) -> io::Result<Result<Segment, Moved>> {
        let part = self.path.join(format!("{}.{PART}", Uuid::new_v4()));
        let file = private_file().write(true).create_new(true).open(&part)?;
        file.lock()?;
        let written = built.finish(file.try_clone()?);
        if !matches!(written, Ok(Ok(()))) {
            std::fs::remove_file(&part)?;
        }
        if let Err(moved) = written? {
            return Ok(Err(moved));
        }
        let path = self.file(source);
        std::fs::rename(&part, &path)?;
        sync(&self.path)?;
        drop(file);
        let damaged = || io::Error::other("what was just written is damaged");
        Segment::open(&path)?.ok_or_else(damaged).map(Ok)
    }

    /// Removes the file of a source.
    ///
    /// # Errors
    /// Fails when it is there and cannot be removed.
    pub fn remove(&self, source: &str) -> io::Result<()> {
        match std::fs::remove_file(self.file(source)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Removes the files of all other sources, and unfinished files of processes that ended.
    ///
    /// # Errors
    /// Fails when the folder cannot be read, or a file not removed.
    pub fn remove_all_but<'a>(&self, sources: impl Iterator<Item = &'a str>) -> io::Result<()> {
        let kept: Vec<PathBuf> = sources.map(|source| self.file(source)).collect();
        let entries = match std::fs::read_dir(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries?,
        };
        for entry in entries {
            let path = entry?.path();
            let is_stale = match path.extension().and_then(|it| it.to_str()) {
                Some(INDEX) => !kept.contains(&path),
                Some(PART) => is_abandoned(&path)?,
                Some(_) | None => false,
            };
            if is_stale {
                std::fs::remove_file(&path)?;
            }
        }
        Ok(())
    }
}

impl Drop for IndexFolder {
    fn drop(&mut self) {
        if self.is_temporary {
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

/// Whether no process is writing it any more.
fn is_abandoned(path: &Path) -> io::Result<bool> {
    match File::open(path)?.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Syncs a folder to disk.
fn sync(folder: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}
