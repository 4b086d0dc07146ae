//! The adapter's folder. Its files are private to the bot, and written atomically.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The paths in the adapter's folder.
#[derive(Clone, Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// Creates the folder if it does not exist.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        Ok(Self(path.to_owned()))
    }

    /// Uses an existing folder, read-only.
    pub(crate) fn look(path: &Path) -> Self {
        Self(path.to_owned())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The file of device and tokens.
    pub(crate) fn session(&self) -> PathBuf {
        self.0.join("session.json")
    }

    /// The SDK's databases: rooms, and keys of encrypted messages.
    pub(crate) fn store(&self) -> PathBuf {
        self.0.join("store")
    }

    /// The database of the device's own keys, and the keys of encrypted messages.
    fn keys(&self) -> PathBuf {
        self.store().join("matrix-sdk-crypto.sqlite3")
    }

    /// Whether the keys exist. Without them, the SDK would create new ones for the same device,
    /// which nobody trusts any more.
    pub(crate) fn has_keys(&self) -> bool {
        let has_content = |path| fs::metadata(path).is_ok_and(|file| file.len() > 0);
        // Recent data may only be in the write-ahead log.
        let log = self.keys().with_extension("sqlite3-wal");
        self.keys().exists() && (has_content(self.keys()) || has_content(log))
    }

    /// The file of the databases' encryption key.
    pub(crate) fn store_key(&self) -> PathBuf {
        self.0.join("store-key")
    }

    /// The file of the reading position.
    pub(crate) fn place(&self) -> PathBuf {
        self.0.join("place.json")
    }

    /// The recovery key that the bot created, until somebody moves it away.
    pub(crate) fn recovery_key(&self) -> PathBuf {
        self.0.join("recovery-key")
    }
}

/// Reads a file; `None` if it does not exist.
pub(crate) fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(content) => Ok(Some(content)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Replaces a file atomically, also if the machine stops meanwhile.
pub(crate) fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let new = path.with_extension("new");
    // Left over from a killed process, perhaps with other permissions.
    match fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&new)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&new, path)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn files_are_for_the_bot_alone_and_replaced_whole() {
        let home = tempfile::tempdir().unwrap();
        let folder = Folder::open(&home.path().join("a/matrix")).unwrap();
        let path = folder.session();
        assert_eq!(read(&path).unwrap(), None);
        fs::write(path.with_extension("new"), "left over").unwrap();
        write(&path, b"one").unwrap();
        write(&path, b"two").unwrap();
        assert_eq!(read(&path).unwrap().unwrap(), b"two");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(folder.path())), (0o600, 0o700));
        assert!(!path.with_extension("new").exists());
    }
}
