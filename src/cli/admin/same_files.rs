//! Whether a path means the same file to another process, which may have a `/tmp` of its own.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::bail;

/// Checks that paths are the same to this process and to another one, as far as the system tells.
///
/// # Errors
/// Fails with the first path that is not.
pub(super) fn check(pid: i32, paths: &[PathBuf]) -> anyhow::Result<()> {
    let root = PathBuf::from(format!("/proc/{pid}/root"));
    match paths.iter().find(|path| !is_same_below(&root, path)) {
        Some(path) => bail!(
            "{} is not the same file to process {pid}, which has the graph open and folders of its own, as for temporary files; name one elsewhere, such as in DATA_DIR",
            path.display()
        ),
        None => Ok(()),
    }
}

/// Whether an absolute path is the same seen from another root. What is not there yet is made in
/// its folder.
fn is_same_below(root: &Path, path: &Path) -> bool {
    let Some(here) = path.ancestors().find_map(|it| it.canonicalize().ok()) else {
        return true;
    };
    let there = root.join(here.strip_prefix("/").unwrap_or(&here));
    let id = |path: &Path| path.metadata().map(|file| (file.dev(), file.ino()));
    match (id(root), id(&here), id(&there)) {
        (Ok(_), Ok(here), Ok(there)) => here == there,
        (Ok(_), Ok(_), Err(error)) => error.kind() != io::ErrorKind::NotFound,
        // Not every system tells, and not everybody.
        (Err(_), _, _) | (_, Err(_), _) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_the_same_only_where_it_is_the_same_file() {
        let place = tempfile::tempdir().unwrap();
        let own = place.path().canonicalize().unwrap();
        std::fs::write(own.join("file"), "").unwrap();
        let other = tempfile::tempdir().unwrap();
        let (root, nowhere) = (Path::new("/"), other.path().join("nowhere"));
        let below = other.path().join(own.strip_prefix("/").unwrap());
        for name in ["file", "new", "new/file"] {
            let path = own.join(name);
            assert!(is_same_below(root, &path), "{name}");
            assert!(is_same_below(&nowhere, &path), "{name}: nothing is known");
            // The other one has no such folder, then one of its own, then one with such a file.
            assert!(!is_same_below(other.path(), &path), "{name}");
            std::fs::create_dir_all(&below).unwrap();
            assert!(!is_same_below(other.path(), &path), "{name}");
            std::fs::write(below.join("file"), "").unwrap();
            assert!(!is_same_below(other.path(), &path), "{name}");
            std::fs::remove_dir_all(&below).unwrap();
        }
    }
}
