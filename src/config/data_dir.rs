//! Determines the data folder.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use etcetera::{AppStrategy, AppStrategyArgs, choose_app_strategy};

/// The folder in the working directory.
const HERE: &str = "./muninn-data";

/// Why this folder is the data folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataDirReason {
    /// `DATA_DIR` names it.
    Set,
    /// It is in the working directory.
    Here,
    /// It is the system's folder for application data.
    Platform,
    /// The system has no such folder, as no home folder is known.
    Nowhere,
}

impl DataDirReason {
    /// The reason as a sentence, for `doctor`.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Set => "as DATA_DIR says",
            Self::Here => {
                "which is in the working directory; set DATA_DIR to use the same one everywhere"
            }
            Self::Platform => {
                "where this system keeps data, since DATA_DIR is not set and ./muninn-data is not there"
            }
            Self::Nowhere => "since DATA_DIR is not set and no home folder is known",
        }
    }
}

/// Decides by the settings and the existing folders.
fn decide(
    set: Option<PathBuf>,
    is_here: bool,
    platform: Option<PathBuf>,
) -> (PathBuf, DataDirReason) {
    match (set, is_here, platform) {
        (Some(set), _, _) => (set, DataDirReason::Set),
        (None, true, _) => (PathBuf::from(HERE), DataDirReason::Here),
        (None, false, Some(platform)) => (platform, DataDirReason::Platform),
        (None, false, None) => (PathBuf::from(HERE), DataDirReason::Nowhere),
    }
}

/// Version of the files that this program writes to the data folder. It is increased with every change that an
/// older program would not understand; the embedded graph has its own version.
pub const FORMAT: u32 = 1;
/// The file with a folder's format version.
const FORMAT_FILE: &str = "format";

/// Why a data folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DataDirError {
    #[error(
        "{} was written by a newer muninn (format {found}; this one knows {FORMAT}); update muninn, or set DATA_DIR to another folder",
        folder.display()
    )]
    Newer { folder: PathBuf, found: u32 },
    #[error("{} holds no number; it says in which format the data folder is, which has been {FORMAT} so far", path.display())]
    Damaged { path: PathBuf },
    #[error("cannot use {}", path.display())]
    Unusable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// Returns the format version of a data folder. A folder without one, or a missing folder, has the first.
///
/// # Errors
/// Fails when it is newer than this program, or cannot be read.
pub fn format(folder: &Path) -> Result<u32, DataDirError> {
    let path = folder.join(FORMAT_FILE);
    let found = match std::fs::read_to_string(&path) {
        // Earlier versions of this program left it empty when the disk was full.
        Ok(text) if text.trim().is_empty() => Some(1),
        Ok(text) => text.trim().parse().ok(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Some(1),
        Err(source) => return Err(DataDirError::Unusable { path, source }),
    };
    match found {
        Some(found) if found > FORMAT => Err(DataDirError::Newer {
            folder: folder.to_owned(),
            found,
        }),
        Some(found) => Ok(found),
        None => Err(DataDirError::Damaged { path }),
    }
}

/// Creates the data folder if it does not exist, and writes this program's format version to it.
///
/// # Errors
/// Fails like [`format()`], or when it cannot be written.
pub fn prepare(folder: &Path) -> Result<(), DataDirError> {
    let path = folder.join(FORMAT_FILE);
    let is_said = std::fs::metadata(&path).is_ok_and(|file| file.len() > 0);
    if format(folder)? == FORMAT && is_said {
        return Ok(());
    }
    let written = private_files::create_private_folder(folder)
        .and_then(|()| private_files::replace_lines(&path, [FORMAT]));
    written.map_err(|source| DataDirError::Unusable { path, source })
}

/// How much [`check_writable`] writes: a full disk may still have room for a few bytes.
static WRITTEN: [u8; 64 * 1024] = [0; 64 * 1024];

/// Checks whether this process can write files in a data folder, or the folder itself if it does not exist. Leaves
/// nothing behind.
///
/// # Errors
/// Fails when it cannot.
pub fn check_writable(folder: &Path) -> Result<(), DataDirError> {
    let unusable = |source| DataDirError::Unusable {
        path: folder.to_owned(),
        source,
    };
    let whole = std::path::absolute(folder).map_err(unusable)?;
    let there = whole.ancestors().find(|above| above.exists());
    let file = private_files::unnamed_file(there.unwrap_or(&whole));
    let written = file.and_then(|mut file| {
        file.write_all(&WRITTEN)?;
        file.sync_all()
    });
    written.map_err(unusable)
}

/// The data folder, and why it was chosen.
pub(super) fn data_dir(set: Option<PathBuf>) -> (PathBuf, DataDirReason) {
    let set = set.filter(|path| !path.as_os_str().is_empty());
    let names = AppStrategyArgs {
        top_level_domain: "dev".to_owned(),
        author: "Muninn".to_owned(),
        app_name: "muninn".to_owned(),
    };
    let platform = choose_app_strategy(names).ok().map(|it| it.data_dir());
    decide(set, Path::new(HERE).is_dir(), platform)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_says_in_which_format_it_is_and_a_newer_one_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("data");
        assert_eq!(format(&folder).unwrap(), 1);
        prepare(&folder).unwrap();
        prepare(&folder).unwrap();
        let file = folder.join(FORMAT_FILE);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "1\n");

        std::fs::write(&file, "2\n").unwrap();
        let refused = prepare(&folder).unwrap_err().to_string();
        let said = "was written by a newer muninn (format 2; this one knows 1); update muninn";
        assert!(refused.contains(said), "{refused}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "2\n");

        std::fs::write(&file, "one").unwrap();
        let refused = format(&folder).unwrap_err().to_string();
        assert!(refused.contains("holds no number"), "{refused}");
    }

    #[test]
    fn a_format_that_a_full_disk_cut_off_refuses_no_folder() {
        let place = tempfile::tempdir().unwrap();
        let (file, beside) = (
            place.path().join(FORMAT_FILE),
            place.path().join("format.new"),
        );
        // As earlier versions left it.
        std::fs::write(&file, "").unwrap();
        assert_eq!(format(place.path()).unwrap(), 1);
        prepare(place.path()).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "1\n");

        // What cannot be written leaves no file that counts.
        std::fs::remove_file(&file).unwrap();
        std::fs::create_dir(&beside).unwrap();
        prepare(place.path()).unwrap_err();
        assert!(!file.exists());
        std::fs::remove_dir(&beside).unwrap();
        // Left by a process that was killed while it wrote.
        std::fs::write(&beside, "").unwrap();
        prepare(place.path()).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "1\n");
    }

    #[test]
    fn a_folder_in_which_no_file_can_be_created_is_told() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("file");
        std::fs::write(&file, "").unwrap();
        for (folder, is_right) in [
            (place.path().to_owned(), true),
            (place.path().join("not/there/yet"), true),
            (file.clone(), false),
            (file.join("below"), false),
        ] {
            let checked = check_writable(&folder);
            assert_eq!(checked.is_ok(), is_right, "{checked:?}");
        }
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_set_goes_before_what_is_there_and_that_before_the_systems_place() {
        let path = |path: &str| Some(PathBuf::from(path));
        for (set, is_here, platform, expected, reason) in [
            (path("/d"), true, path("/p"), "/d", DataDirReason::Set),
            (None, true, path("/p"), HERE, DataDirReason::Here),
            (None, false, path("/p"), "/p", DataDirReason::Platform),
            (None, false, None, HERE, DataDirReason::Nowhere),
        ] {
            let decided = decide(set, is_here, platform);
            assert_eq!(decided, (PathBuf::from(expected), reason));
        }
    }
}
