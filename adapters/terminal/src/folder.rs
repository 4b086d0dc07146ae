//! Hands files over in a terminal: writes them into the current folder.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use muninn_platform::{HandedOver, NotHandedOver, OwnFile};
use muninn_texts::text;
use private_files::private_file;

/// Maximum names tried per file.
const MOST_NAMES: usize = 100;

/// No limit: only the disk limits a file.
pub(crate) const LARGEST_FILE: u64 = u64::MAX;

/// Returns the current folder of this process.
pub(crate) fn current_folder() -> Option<PathBuf> {
    std::env::current_dir().ok()
}

/// Writes files into a folder, private to their owner and without replacing any. All of them, or
/// none.
pub(crate) async fn put(
    folder: Option<&Path>,
    files: &[OwnFile],
) -> Result<HandedOver, NotHandedOver> {
    let folder = folder.ok_or_else(|| NotHandedOver::new(text!("no-copy-folder")))?;
    let mut paths = Vec::with_capacity(files.len());
    for file in files {
        let written = async {
            let (path, opened) = open(folder, &file.name)?;
            paths.push(path);
            file.copy_to(opened).await
        };
        if let Err(error) = written.await {
            for path in &paths {
                // A partial copy is useless. If it cannot be removed, it is the person's own.
                let _ = std::fs::remove_file(path);
            }
            return Err(NotHandedOver::new(text!(
                "no-copy-folder-refused",
                folder = folder.display().to_string(),
                error = error.to_string()
            )));
        }
    }
    Ok(HandedOver::At(paths))
}

/// Creates a file of this name, or of the next free one: `a.json`, `a (2).json`…
fn open(folder: &Path, name: &str) -> io::Result<(PathBuf, File)> {
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    for number in 1..=MOST_NAMES {
        let path = folder.join(match number {
            1 => name.to_owned(),
            number => format!("{stem} ({number}).{extension}"),
        });
        match private_file().write(true).create_new(true).open(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
mod tests {
    use muninn_platform::testing::own_file;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn mine() -> [OwnFile; 2] {
        [
            own_file("mine.json", "application/json", b"[]"),
            own_file("mine.md", "text/markdown", b"# Mine"),
        ]
    }

    #[tokio::test]
    async fn files_are_for_their_owner_and_replace_nothing() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("mine.json"), "older").unwrap();
        let put = put(Some(folder.path()), &mine()).await.unwrap();
        let paths = ["mine (2).json", "mine.md"].map(|name| folder.path().join(name));
        assert_eq!(put, HandedOver::At(paths.to_vec()));
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(
            (read("mine.json"), read("mine (2).json")),
            ("older".to_owned(), "[]".to_owned())
        );
        for path in &paths {
            let mode = std::fs::metadata(path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[tokio::test]
    async fn a_folder_that_takes_nothing_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let gone = folder.path().join("gone");
        for folder in [Some(gone.as_path()), None] {
            let why = put(folder, &mine()).await.unwrap_err();
            assert!(why.to_string().ends_with("ask again"), "{why}");
        }
    }
}
