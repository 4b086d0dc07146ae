//! Where the admin socket is.

use std::io;
use std::path::{Path, PathBuf};

use muninn::graph::GraphConfig;
use private_files::socket::fits;
use private_files::{private_file, private_folder};

/// The name of the socket in the data folder.
const NAME: &str = "admin.sock";
/// Says where it is instead, when its path would be too long.
const POINTER: &str = "admin.path";

/// Where a server makes its socket. When the path of the data folder is too long for one, that is a
/// folder of its own among the temporary files, and a file in the data folder says where.
///
/// # Errors
/// When that cannot be made.
pub(super) fn to_bind(data_dir: &Path) -> io::Result<PathBuf> {
    let beside = data_dir.join(NAME);
    if fits(&beside) {
        return Ok(beside);
    }
    let whole = std::path::absolute(data_dir)?;
    let name = blake3::hash(whole.as_os_str().as_encoded_bytes()).to_hex();
    let folder = std::env::temp_dir().join(format!("muninn-{}", &name[..16]));
    private_folder(&folder)?;
    let path = folder.join(NAME);
    let mut pointer = private_file()
        .write(true)
        .truncate(true)
        .open(data_dir.join(POINTER))?;
    io::Write::write_all(&mut pointer, path.as_os_str().as_encoded_bytes())?;
    Ok(path)
}

/// Where a client looks for it.
pub(super) fn to_connect(data_dir: &Path) -> Option<PathBuf> {
    let beside = data_dir.join(NAME);
    if fits(&beside) {
        return Some(beside);
    }
    let told = std::fs::read_to_string(data_dir.join(POINTER)).ok()?;
    Some(PathBuf::from(told))
}

/// Which graph it is, without saying where: a command for another one is none for this process.
pub(super) fn graph(config: &GraphConfig) -> String {
    let place = match config.url.strip_prefix("embedded:") {
        Some(folder) => {
            let folder = Path::new(folder);
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
