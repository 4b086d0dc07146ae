//! A file of lines beside that of the time until which everything was seen.

use std::io;
use std::path::{Path, PathBuf};

use muninn_platform::{Missed, replace_file};

/// The file; `None` if nothing is kept.
#[derive(Debug)]
pub(crate) struct KeptLines(Option<PathBuf>);

impl KeptLines {
    pub(crate) fn beside(missed: &Missed, extension: &str) -> Self {
        let file = missed.file.as_ref();
        Self(file.map(|file| file.with_extension(extension)))
    }

    pub(crate) fn file(&self) -> Option<&Path> {
        self.0.as_deref()
    }

    /// Returns what is in the file, one entry on each line, without lines that are none; nothing where it is absent.
    ///
    /// # Errors
    /// Fails when it is there and cannot be read.
    pub(crate) fn read<T, C: FromIterator<T>>(
        &self,
        entry: impl Fn(&str) -> Option<T>,
    ) -> io::Result<C> {
        let text = match self.file().map(std::fs::read_to_string) {
            Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Some(Err(_)) | None => String::new(),
            Some(Ok(text)) => text,
        };
        Ok(text.lines().filter_map(|line| entry(line.trim())).collect())
    }

    /// Replaces what is in the file.
    ///
    /// # Errors
    /// Fails when it cannot be written.
    pub(crate) fn replace(&self, lines: impl Iterator<Item = String>) -> io::Result<()> {
        match self.file() {
            Some(file) => replace_file(file, &lines.map(|line| line + "\n").collect::<String>()),
            None => Ok(()),
        }
    }
}
