//! Files that hold what people said: only their owner can read them.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::path::Path;

/// Options that create a file for its owner alone.
pub fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Makes a folder, and those above it, for its owner alone. One that is there stays as it is.
///
/// # Errors
/// When it is not there and cannot be made.
pub fn private_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}
