//! Paths that another process can read, too.

use std::io;
use std::path::{Path, PathBuf};

/// Returns an absolute path.
pub(super) fn whole(path: &Path) -> io::Result<PathBuf> {
    std::path::absolute(path)
}
