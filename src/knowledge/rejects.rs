//! Writes refused lines to a file for people: file, line and reason, as JSON lines.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::json;

use super::record::Rejection;
use private_files::{create_private_folder, private_file};

/// A line, or a whole file, that was refused.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct RefusedLine {
    pub file: String,
    /// `None` for a whole file.
    pub line: Option<u64>,
    pub reason: String,
}

/// Returns the first refused lines of a version of a source.
///
/// # Errors
/// Fails when the file does not exist or cannot be read.
pub fn refused(
    data_dir: &Path,
    source: &str,
    version: i64,
    most: usize,
) -> io::Result<Vec<RefusedLine>> {
    let file = BufReader::new(File::open(path_of(data_dir, source, version))?);
    let lines = file.lines().take(most);
    let read = lines.map(|line| Ok(serde_json::from_str(&line?)?));
    read.collect()
}

fn path_of(data_dir: &Path, source: &str, version: i64) -> PathBuf {
    let name = format!("{source}-{version}.jsonl");
    data_dir.join("rejects").join(name)
}

/// Collects refusals in a temporary file, and renames it at the end.
#[derive(Debug)]
pub(super) struct Rejects {
    path: PathBuf,
    beside: PathBuf,
    /// Created by the first refusal.
    file: Option<BufWriter<File>>,
    pub(super) count: u64,
}

impl Rejects {
    pub(super) fn new(data_dir: &Path, source: &str, version: i64) -> Self {
        let path = path_of(data_dir, source, version);
        Self {
            beside: path.with_extension("partial"),
            path,
            file: None,
            count: 0,
        }
    }

    pub(super) fn add(&mut self, rejection: &Rejection) -> io::Result<()> {
        self.count += 1;
        let file = match &mut self.file {
            Some(file) => file,
            None => {
                if let Some(folder) = self.path.parent() {
                    create_private_folder(folder)?;
                }
                let file = private_file()
                    .write(true)
                    .truncate(true)
                    .open(&self.beside)?;
                self.file.insert(BufWriter::new(file))
            }
        };
        let line = json!({
            "file": rejection.at.file.to_string_lossy(),
            "line": rejection.at.line,
            "reason": rejection.reason,
        });
        writeln!(file, "{line}")
    }

    /// Returns the path of the file, if anything was refused. A file of an earlier run for the same
    /// version is replaced or removed.
    pub(super) fn finish(self) -> io::Result<Option<PathBuf>> {
        let Some(file) = self.file else {
            return match std::fs::remove_file(&self.path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                Ok(()) | Err(_) => Ok(None),
            };
        };
        file.into_inner()
            .map_err(|error| error.into_error())?
            .sync_all()?;
        std::fs::rename(&self.beside, &self.path)?;
        Ok(Some(self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knowledge::record::SourceLocation;

    #[test]
    fn refusals_are_in_a_file_and_nothing_makes_none() {
        let folder = tempfile::tempdir().unwrap();
        let mut rejects = Rejects::new(folder.path(), "s", 2);
        let place = SourceLocation::line(Path::new("a.jsonl"), 7);
        rejects.add(&place.refuse("no JSON")).unwrap();
        let whole = SourceLocation::file(Path::new("b.pdf"));
        rejects.add(&whole.refuse("a scan")).unwrap();
        let path = rejects.finish().unwrap().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(
            text,
            "{\"file\":\"a.jsonl\",\"line\":7,\"reason\":\"no JSON\"}\n\
             {\"file\":\"b.pdf\",\"line\":null,\"reason\":\"a scan\"}\n"
        );
        let read = refused(folder.path(), "s", 2, 5).unwrap();
        let read: Vec<(&str, Option<u64>)> =
            read.iter().map(|it| (it.file.as_str(), it.line)).collect();
        assert_eq!(read, [("a.jsonl", Some(7)), ("b.pdf", None)]);
        let none = Rejects::new(folder.path(), "s", 2).finish().unwrap();
        assert!(none.is_none() && !path.exists());
    }
}
