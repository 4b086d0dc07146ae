//! Paths that another process can read, too.

use std::io;
use std::path::{Path, PathBuf};

use muninn::knowledge::source::normalised_path;

/// What becomes of each path of a command.
pub(super) type ChangePath<'a> = &'a mut dyn FnMut(PathBuf) -> io::Result<PathBuf>;

/// Returns an absolute path, the same however it was written.
pub(super) fn whole(path: &Path) -> io::Result<PathBuf> {
    std::path::absolute(path).map(|path| normalised_path(&path))
}
