//! Files with people's messages: only their owner can read them.

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

/// Creates a file without a name in a folder, for its owner alone. It is deleted when it is closed, however the process
/// ends.
///
/// # Errors
/// Fails when it cannot be created.
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

/// From now on everything that this process creates is readable by its owner only, including what libraries write.
pub fn set_private_umask() {
    #[cfg(unix)]
    nix::sys::stat::umask(nix::sys::stat::Mode::S_IRWXG | nix::sys::stat::Mode::S_IRWXO);
}

/// Creates a folder and its parents for the owner alone. An existing folder is restricted too, with the files in it:
/// others lose all rights, and the owner keeps theirs. It is for folders of the program's own.
///
/// # Errors
/// Fails when it cannot be created, or when others may read it and that cannot be changed.
pub fn create_private_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)?;
    #[cfg(unix)]
    {
        tighten(path)?;
        for entry in std::fs::read_dir(path)? {
            let entry = entry?;
            // Existing files, including the graph, but no links.
            if entry.file_type()?.is_file() {
                tighten(&entry.path())?;
            }
        }
    }
    Ok(())
}

/// Removes all rights of others.
#[cfg(unix)]
fn tighten(path: &Path) -> io::Result<()> {
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
    // A program stays one.
    let mode = permissions.mode() & 0o700;
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

/// Locks a file, which is created if needed, until the result is dropped. `None` if another process holds the lock.
///
/// # Errors
/// Fails when the file cannot be created or locked.
pub fn try_lock(path: &Path) -> io::Result<Option<File>> {
    let file = private_file().write(true).open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Returns the unique name of a data folder, which the first caller creates.
///
/// # Errors
/// Fails when it cannot be read or written.
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

/// Replaces a file's content with lines of JSON, so that a crash leaves either the old or the new content.
///
/// # Errors
/// Fails when they cannot be written; the file is then unchanged.
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
    use std::path::PathBuf;

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
        let program = folder.join("backup.sh");
        std::fs::write(&program, "all of it").unwrap();
        let set = |path, mode| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        set(&folder, 0o755);
        set(&file, 0o644);
        set(&program, 0o755);
        create_private_folder(&folder).unwrap();
        let mode = |path: &PathBuf| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let modes = [&folder, &file, &program].map(mode);
        assert_eq!(modes, [0o700, 0o600, 0o700]);
    }
}
