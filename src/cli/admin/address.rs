//! The path of the admin socket.

use std::io;
use std::path::{Path, PathBuf};

use muninn::graph::GraphConfig;
use private_files::socket::fits;
use private_files::{create_private_folder, private_file};

/// The name of the socket in the data folder.
const NAME: &str = "admin.sock";
/// A file with the socket's path, if that would be too long within the data folder.
const POINTER: &str = "admin.path";

/// Returns where a server creates its socket. If the path within the data folder is too long for a
/// socket, that is a private temporary folder, and a file in the data folder contains its path.
///
/// # Errors
/// Fails when it cannot be created.
pub(super) fn to_bind(data_dir: &Path) -> io::Result<PathBuf> {
    let beside = data_dir.join(NAME);
    if fits(&beside) {
        return Ok(beside);
    }
    let whole = std::path::absolute(data_dir)?;
    let name = blake3::hash(whole.as_os_str().as_encoded_bytes()).to_hex();
    let folder = std::env::temp_dir().join(format!("muninn-{}", &name[..16]));
    create_private_folder(&folder)?;
    let path = folder.join(NAME);
    let mut pointer = private_file()
        .write(true)
        .truncate(true)
        .open(data_dir.join(POINTER))?;
    io::Write::write_all(&mut pointer, path.as_os_str().as_encoded_bytes())?;
    Ok(path)
}

/// Returns the path for a client.
pub(super) fn to_connect(data_dir: &Path) -> Option<PathBuf> {
    let beside = data_dir.join(NAME);
    if fits(&beside) {
        return Some(beside);
    }
    let told = std::fs::read_to_string(data_dir.join(POINTER)).ok()?;
    Some(PathBuf::from(told))
}

/// Returns a hash of the graph's location: a process with another graph cannot serve a command.
pub(super) fn graph(config: &GraphConfig) -> String {
    let place = match config.embedded_folder() {
        Some(folder) => {
            let whole = std::fs::canonicalize(folder).or_else(|_| std::path::absolute(folder));
            whole
                .unwrap_or_else(|_| folder.to_owned())
                .display()
                .to_string()
        }
        None => format!(
            "{} {}",
            config.url,
            config.database.as_deref().unwrap_or_default()
        ),
    };
    blake3::hash(place.as_bytes()).to_hex()[..16].to_owned()
}
