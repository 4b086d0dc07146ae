//! Files that hold what people said: only their owner can read them.

pub mod line_log;
#[cfg(unix)]
pub mod socket;

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

/// A new file in a folder that has no name there, for its owner alone: it is gone when it is closed, however the process
/// ends.
///
/// # Errors
/// When it cannot be made.
pub fn unnamed_file(folder: &Path) -> io::Result<File> {
    let path = folder.join(format!(".{}", Uuid::new_v4()));
    let mut options = private_file();
    let file = options
        .read(true)
        .write(true)
        .create_new(true)
        .open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

/// From now on whatever this process creates is for its owner alone, also what libraries write.
pub fn create_privately() {
    #[cfg(unix)]
    nix::sys::stat::umask(nix::sys::stat::Mode::S_IRWXG | nix::sys::stat::Mode::S_IRWXO);
}

/// Makes a folder, and those above it, for its owner alone. One that is there becomes so, with the
/// files in it.
///
/// # Errors
/// When it is not there and cannot be made, or others may read it and that cannot be changed.
pub fn private_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)?;
    #[cfg(unix)]
    {
        tighten(path, 0o700)?;
        for entry in std::fs::read_dir(path)? {
            let entry = entry?;
            // What was written before, the graph included; not what links elsewhere.
            if entry.file_type()?.is_file() {
                tighten(&entry.path(), 0o600)?;
            }
        }
    }
    Ok(())
}

/// Takes every right away from those who do not own it.
#[cfg(unix)]
fn tighten(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let permissions = match std::fs::metadata(path) {
        Ok(found) => found.permissions(),
        // Another process removed it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if permissions.mode() & 0o077 == 0 {
        return Ok(());
    }
    let private = std::fs::Permissions::from_mode(mode);
    match std::fs::set_permissions(path, private) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(io::Error::new(
            error.kind(),
            format!(
                "others on this machine may read {}, and its rights cannot be changed ({error}); give it to the \
                 account that runs muninn, with mode {mode:o}",
                path.display()
            ),
        )),
        Ok(()) => Ok(()),
    }
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

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_file_without_a_name_is_there_for_who_has_it_open() {
        use std::io::Seek as _;
        let folder = tempfile::tempdir().unwrap();
        let mut file = unnamed_file(folder.path()).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        file.write_all(b"all of it").unwrap();
        file.rewind().unwrap();
        let mut read = String::new();
        file.read_to_string(&mut read).unwrap();
        assert_eq!(read, "all of it");
    }

    #[test]
    fn a_folder_that_others_may_read_is_tightened_with_its_files() {
        let above = tempfile::tempdir().unwrap();
        let folder = above.path().join("data");
        std::fs::create_dir(&folder).unwrap();
        let file = folder.join("graph.kgl");
        std::fs::write(&file, "all of it").unwrap();
        let set = |path, mode| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        set(&folder, 0o755);
        set(&file, 0o644);
        private_folder(&folder).unwrap();
        let mode = |path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&folder), mode(&file)), (0o700, 0o600));
    }
}
