//! Files that hold what people said: only their owner can read them.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use serde::Serialize;
use uuid::Uuid;

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

/// The lock of a file, which is made if it is not there, until it is dropped. None: another process
/// has it.
///
/// # Errors
/// When the file cannot be made or locked.
pub fn try_lock(path: &Path) -> io::Result<Option<File>> {
    let file = private_file().write(true).open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// The name of a data folder, which no other has; made by whoever comes first.
///
/// # Errors
/// When it cannot be read or written.
pub fn folder_name(folder: &Path) -> io::Result<String> {
    let path = folder.join("machine");
    let mut file = private_file().read(true).append(true).open(path)?;
    file.lock()?;
    let mut name = String::new();
    file.read_to_string(&mut name)?;
    if name.trim().is_empty() {
        name = Uuid::new_v4().to_string();
        file.write_all(name.as_bytes())?;
        file.sync_all()?;
    }
    Ok(name.trim().to_owned())
}

/// Puts lines of JSON in the place of what is in a file, so that a crash leaves one of the two.
///
/// # Errors
/// When they cannot be written; the file is then as it was.
pub fn replace_lines<T: Serialize>(
    path: &Path,
    lines: impl IntoIterator<Item = T>,
) -> io::Result<()> {
    let beside = path.with_extension("new");
    let mut file = private_file().truncate(true).write(true).open(&beside)?;
    for line in lines {
        serde_json::to_writer(&mut file, &line)?;
        file.write_all(b"\n")?;
    }
    file.sync_data()?;
    std::fs::rename(beside, path)
}
