//! Files that the engine leaves beside the graph: parts cut off its log, and files that it was
//! writing when it was killed. All of them may contain text that is to be forgotten.

use std::io;
use std::path::{Path, PathBuf};

use super::database::FILE;
use super::staged_files;

/// The kind of a file beside the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LeftoverFileKind {
    /// The log as it was when a part of it was found damaged.
    Quarantined,
    /// The end of a log whose last write was interrupted.
    Torn,
    /// An incomplete copy of the graph or its log. It is not needed, as the complete one still
    /// exists.
    Unfinished,
}

fn kind(name: &str) -> Option<LeftoverFileKind> {
    let rest = name.strip_prefix(FILE)?;
    let log = rest.strip_prefix("-wal");
    if log.is_some_and(|rest| rest.starts_with(".quarantine-")) {
        Some(LeftoverFileKind::Quarantined)
    } else if log.is_some_and(|rest| rest.starts_with(".torn-")) {
        Some(LeftoverFileKind::Torn)
    } else if log == Some(".trim") || rest.starts_with(".tmp.") {
        Some(LeftoverFileKind::Unfinished)
    } else {
        None
    }
}

fn found(folder: &Path) -> io::Result<Vec<(LeftoverFileKind, PathBuf)>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if let Some(kind) = entry.file_name().to_str().and_then(kind) {
            found.push((kind, entry.path()));
        }
    }
    found.sort_by(|(_, one), (_, other)| one.cmp(other));
    Ok(found)
}

/// The files that were set aside and await the operator's decision, as sentences.
pub(super) fn set_aside(folder: &Path) -> Vec<String> {
    let found = found(folder).unwrap_or_default().into_iter();
    found
        .filter_map(|(kind, path)| {
            let path = path.display();
            match kind {
                LeftoverFileKind::Quarantined => Some(format!(
                    "a part of the graph's log was damaged, so the last turns before that may be \
                     missing; the log as it was is kept in {path}: restore a backup of the folder \
                     if you miss turns, or run `muninn discard-damaged` to remove it"
                )),
                LeftoverFileKind::Torn => Some(format!(
                    "the last write to the graph's log was cut off, so the last turn may be \
                     missing; what there is of it is kept in {path}: ask again if you miss it, and \
                     run `muninn discard-damaged` to remove it"
                )),
                LeftoverFileKind::Unfinished => None,
            }
        })
        .collect()
}

/// Removes files that the engine was writing when it was killed. Only for the process that holds
/// the graph.
pub(super) fn remove_unfinished(folder: &Path) -> io::Result<()> {
    for (_, path) in found(folder)?
        .iter()
        .filter(|(kind, _)| *kind == LeftoverFileKind::Unfinished)
    {
        staged_files::remove_file(path)?;
    }
    Ok(())
}

/// Removes all files that were set aside and logs their names. They may contain forgotten text,
/// which cannot be found in them.
pub(super) fn remove(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut removed = Vec::new();
    for (kind, path) in found(folder)? {
        // Another thread may be writing a copy right now, and it removes its own file.
        if kind == LeftoverFileKind::Unfinished {
            continue;
        }
        staged_files::remove_file(&path)?;
        removed.push(path);
    }
    if !removed.is_empty() {
        std::fs::File::open(folder)?.sync_all()?;
    }
    Ok(removed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_the_engine_are_told_apart() {
        for (name, expected) in [
            ("graph.kgl", None),
            ("graph.kgl-wal", None),
            ("graph.kgl-wal.lock", None),
            (
                "graph.kgl-wal.quarantine-20260102T030405Z",
                Some(LeftoverFileKind::Quarantined),
            ),
            (
                "graph.kgl-wal.torn-20260102T030405Z-at-99",
                Some(LeftoverFileKind::Torn),
            ),
            ("graph.kgl-wal.trim", Some(LeftoverFileKind::Unfinished)),
            ("graph.kgl.tmp.1.2", Some(LeftoverFileKind::Unfinished)),
            ("notes.torn-1", None),
        ] {
            assert_eq!(kind(name), expected, "{name}");
        }
    }
}
