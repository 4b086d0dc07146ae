//! Which folder is the data folder.

use std::path::{Path, PathBuf};

use etcetera::{AppStrategy, AppStrategyArgs, choose_app_strategy};

/// The folder in the working directory.
const HERE: &str = "./muninn-data";
/// What the embedded graph keeps itself in.
const GRAPH: &str = "graph.kgl";

/// Why this folder is the data folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataDirReason {
    /// `DATA_DIR` names it.
    Set,
    /// It is in the working directory.
    Here,
    /// It is where this system keeps data of programs.
    Platform,
    /// There is no such place: no home folder is known.
    Nowhere,
}

impl DataDirReason {
    /// In words, for `doctor`.
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

/// Decides by what is set and what is there.
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

/// The data folder, and why it is that.
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

/// The address of the graph where none is set: the data folder. A graph that is in `./muninn-data`
/// already, where it was by default whatever `DATA_DIR` said, is used on.
pub(super) fn graph_url(data_dir: &Path) -> String {
    let is_in = |folder: &Path| folder.join(GRAPH).exists();
    let folder = if !is_in(data_dir) && is_in(Path::new(HERE)) {
        Path::new(HERE)
    } else {
        data_dir
    };
    format!("embedded:{}", folder.display())
}

#[cfg(test)]
mod tests {
    use super::*;

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
