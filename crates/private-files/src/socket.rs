//! A Unix socket that only its owner can open. It replaces one that a dead process left.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{
    DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, PermissionsExt as _,
};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// Maximum length of a socket's path in bytes that works on every system.
pub const LONGEST_PATH: usize = 100;

/// Additional length of the path of the hidden folder in which the socket is bound first:
/// `/.muninn-4194304/s`, minus the final name.
const WHILE_BINDING: usize = 20;

/// A listening socket. It does not block, and is removed when it is dropped.
#[derive(Debug)]
pub struct PrivateSocket {
    listener: UnixListener,
    _file: SocketFile,
}

impl PrivateSocket {
    /// Binds the socket, also if a process died without removing it.
    ///
    /// # Errors
    /// Fails when another process listens there ([`io::ErrorKind::AddrInUse`]), when something else
    /// has this path, or when it cannot be created.
    pub fn bind(path: &Path) -> io::Result<Self> {
        refuse_if_taken(path)?;
        let (listener, file) = bind_privately(path)?;
        Ok(Self {
            listener,
            _file: file,
        })
    }

    /// Returns the listener that accepts connections.
    ///
    /// # Errors
    /// Fails when the process has too many open files.
    pub fn listener(&self) -> io::Result<UnixListener> {
        self.listener.try_clone()
    }
}

/// Whether a socket can have this path: systems limit it to about a hundred bytes.
pub fn fits(path: &Path) -> bool {
    let folder = path.parent().map_or(0, |folder| folder.as_os_str().len());
    path.as_os_str().len().max(folder + WHILE_BINDING) <= LONGEST_PATH
}

/// Checks that a socket and its folder belong to one account that alone can open them. Otherwise
/// somebody else could have put it there.
///
/// # Errors
/// Says what is wrong, or that it does not exist ([`io::ErrorKind::NotFound`]).
pub fn check_private(path: &Path) -> io::Result<()> {
    let found = fs::symlink_metadata(path)?;
    let folder = fs::metadata(folder_of(path))?;
    let wrong = if !found.file_type().is_socket() {
        "it is no socket"
    } else if folder.mode() & 0o022 != 0 {
        "others may write in its folder"
    } else if found.mode() & 0o077 != 0 {
        "others may open it"
    } else if found.uid() != folder.uid() {
        "it belongs to another account than its folder"
    } else {
        return Ok(());
    };
    Err(io::Error::other(wrong))
}

fn refuse_if_taken(path: &Path) -> io::Result<()> {
    let found = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found?,
    };
    if !found.file_type().is_socket() {
        return Err(io::Error::other("something that is no socket is there"));
    }
    match UnixStream::connect(path) {
        Ok(_) => Err(io::Error::new(
            io::ErrorKind::AddrInUse,
            "another process is listening there",
        )),
        // Left over from a process that died.
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(()),
        Err(error) => Err(error),
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        Some(_) | None => Path::new("."),
    }
}

/// Binds in a hidden place and then moves the socket, so that there is no moment in which others
/// could open it. The move also replaces a left-over socket.
fn bind_privately(path: &Path) -> io::Result<(UnixListener, SocketFile)> {
    let hidden = folder_of(path).join(format!(".muninn-{}", std::process::id()));
    // Left by a killed process with the same ID: in a container it is always the same.
    let _ = fs::remove_dir_all(&hidden);
    DirBuilder::new().mode(0o700).create(&hidden)?;
    let bound = bind_and_move(&hidden.join("s"), path);
    // Empty after the move; after a failure its content is removed too.
    let _ = fs::remove_dir_all(&hidden);
    bound
}

fn bind_and_move(hidden: &Path, path: &Path) -> io::Result<(UnixListener, SocketFile)> {
    let listener = UnixListener::bind(hidden)?;
    listener.set_nonblocking(true)?;
    fs::set_permissions(hidden, Permissions::from_mode(0o600))?;
    let inode = fs::symlink_metadata(hidden)?.ino();
    fs::rename(hidden, path)?;
    let file = SocketFile {
        path: path.to_owned(),
        inode,
    };
    Ok((listener, file))
}

/// Removes the socket at the end, unless another one has replaced it.
#[derive(Debug)]
struct SocketFile {
    path: PathBuf,
    inode: u64,
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if fs::symlink_metadata(&self.path).is_ok_and(|found| found.ino() == self.inode) {
            // If this fails it is left over, which the next start handles.
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_takes_the_place_of_a_dead_one_and_of_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        // A listener that is dropped leaves its file, as a killed process does.
        drop(UnixListener::bind(&path).unwrap());
        let bound = PrivateSocket::bind(&path).unwrap();
        check_private(&path).unwrap();
        let error = PrivateSocket::bind(&path).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
        fs::set_permissions(&path, Permissions::from_mode(0o666)).unwrap();
        assert!(check_private(&path).is_err());
        drop(bound);
        assert!(!path.exists());

        fs::write(&path, "something else").unwrap();
        assert!(PrivateSocket::bind(&path).is_err());
        assert!(check_private(&path).is_err());
        assert_eq!(fs::read(&path).unwrap(), b"something else");
    }

    #[test]
    fn a_long_path_is_known_before_it_fails() {
        assert!(fits(Path::new("muninn-data/admin.sock")));
        let long = PathBuf::from("x".repeat(85)).join("admin.sock");
        assert!(long.as_os_str().len() < LONGEST_PATH && !fits(&long));
    }
}
