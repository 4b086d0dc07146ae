//! Parses the sources file: origins, and when to refresh them.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use reqwest::Url;
use serde::Deserialize;

use super::git::{Git, is_relative_path};
use super::site::Site;
use crate::extract::settings::parsed;
use crate::knowledge::access::check_channels;
use crate::knowledge::folder::Filter;
use crate::knowledge::record::{Hash, key_hash};
use crate::knowledge::source::{is_name_below, source_name};

/// Its default name in `DATA_DIR`.
const NAME: &str = "sources.toml";

/// Minimum interval of scheduled refreshes.
const MIN_INTERVAL: Duration = Duration::from_secs(1);
/// Minimum interval for sites, to spare other people's servers.
const MIN_SITE_INTERVAL: Duration = Duration::from_secs(60);

/// Default interval for repositories and sites.
const GIT: Duration = Duration::from_secs(3_600);
const SITE: Duration = Duration::from_secs(86_400);

/// Pages of a site: the default, and the maximum.
const PAGES: usize = 500;
const MOST_PAGES: usize = 10_000;

/// The location of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcesFile {
    pub path: PathBuf,
    /// Whether it was named explicitly, so that it has to exist.
    pub is_named: bool,
}

impl SourcesFile {
    /// Returns the named file, or the one in the data folder.
    pub fn new(named: Option<PathBuf>, data_dir: &Path) -> Self {
        Self {
            is_named: named.is_some(),
            path: named.unwrap_or_else(|| data_dir.join(NAME)),
        }
    }
}

/// A source that is refreshed.
#[derive(Clone, Debug)]
pub struct Configured {
    pub name: String,
    pub origin: Origin,
    pub every: Every,
    pub mapping: Option<PathBuf>,
    pub channels: Vec<String>,
    pub filter: Filter,
    /// Other sections whose names begin as this one's (`docs.api` beside `docs`), with their
    /// origins: the sources of their names are theirs.
    pub(super) nested: Vec<(String, String)>,
    /// Hash of its settings in the file but `every`: when they change, everything is read again.
    pub(super) settings: Hash,
}

/// Where a source comes from.
#[derive(Clone, Debug)]
pub enum Origin {
    /// A folder, or a file.
    Folder(PathBuf),
    Git(Git),
    Site(Site),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(path) => write!(f, "{}", path.display()),
            Self::Git(git) => write!(f, "{}", git.shown()),
            Self::Site(site) => write!(f, "{}", site.start),
        }
    }
}

/// When a source is refreshed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Every {
    /// When a file has changed.
    Change,
    Time(Duration),
    /// Only on request.
    Never,
}

impl fmt::Display for Every {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Change => write!(f, "when a file changes"),
            Self::Time(time) => write!(f, "every {}", humantime::format_duration(*time)),
            Self::Never => write!(f, "when somebody runs `muninn source refresh`"),
        }
    }
}

/// The file is invalid.
#[derive(Debug, thiserror::Error)]
#[error("{} cannot be used: {problem}", path.display())]
pub struct SettingsError {
    path: PathBuf,
    problem: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OriginEntry {
    path: Option<PathBuf>,
    git: Option<String>,
    web: Option<String>,
    every: Option<String>,
    mapping: Option<PathBuf>,
    #[serde(default)]
    channels: Vec<String>,
    #[serde(default)]
    include: Vec<String>,
    #[serde(default)]
    exclude: Vec<String>,
    /// Repositories only; unset: the default branch.
    branch: Option<String>,
    /// Repositories only; unset: the whole repository.
    folder: Option<String>,
    /// Sites only.
    pages: Option<usize>,
    /// Sites only: whether the host may resolve to this machine or network.
    private: Option<bool>,
}

/// Reads the file; empty if it does not exist and none was named.
///
/// # Errors
/// Fails with the section and its problem.
pub fn load(file: &SourcesFile, data_dir: &Path) -> Result<Vec<Configured>, SettingsError> {
    let path = &file.path;
    let wrong = |problem: String| SettingsError {
        path: path.clone(),
        problem,
    };
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !file.is_named => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(wrong(error.to_string())),
    };
    let folder = std::path::absolute(path).map_err(|error| wrong(error.to_string()))?;
    let folder = folder.parent().unwrap_or(&folder);
    parse(&text, folder, data_dir).map_err(wrong)
}

/// Parses the text; its paths are relative to `folder`.
fn parse(text: &str, folder: &Path, data_dir: &Path) -> Result<Vec<Configured>, String> {
    let entries: BTreeMap<String, OriginEntry> = parsed(text)?;
    let entries = entries.into_iter();
    let all = entries.map(|(name, entry)| {
        let read = configured(&name, entry, folder, data_dir);
        read.map_err(|problem| format!("[{name}] {problem}"))
    });
    let mut all = all.collect::<Result<Vec<Configured>, String>>()?;
    let named = |of: &Configured| (of.name.clone(), of.origin.to_string());
    let named: Vec<(String, String)> = all.iter().map(named).collect();
    for of in &mut all {
        let is_nested =
            |(name, _): &&(String, String)| *name != of.name && is_name_below(name, &of.name);
        of.nested = named.iter().filter(is_nested).cloned().collect();
    }
    Ok(all)
}

fn configured(
    name: &str,
    mut entry: OriginEntry,
    folder: &Path,
    data_dir: &Path,
) -> Result<Configured, String> {
    let name = source_name(&[], Some(name)).map_err(|error| error.to_string())?;
    // When it is read makes no difference to what is read.
    let interval = entry.every.take();
    let settings = key_hash(&format!("{entry:?}"));
    check_kind(&entry)?;
    check_channels(&entry.channels)?;
    let (origin, usual, least) = match (entry.path, entry.git, entry.web) {
        (Some(path), None, None) => (
            Origin::Folder(plain(&folder.join(path))),
            Every::Change,
            MIN_INTERVAL,
        ),
        (None, Some(mut address), None) => {
            if is_relative_path(&address) {
                address = plain(&folder.join(address)).display().to_string();
            }
            let git = Git::new(&address, entry.branch, entry.folder)?;
            (Origin::Git(git), Every::Time(GIT), MIN_INTERVAL)
        }
        (None, None, Some(address)) => {
            let pages = entry.pages.unwrap_or(PAGES).clamp(1, MOST_PAGES);
            let site = site(&address, pages, entry.private.unwrap_or_default())?;
            (Origin::Site(site), Every::Time(SITE), MIN_SITE_INTERVAL)
        }
        (_, _, _) => return Err("needs one of path, git and web".to_owned()),
    };
    Ok(Configured {
        name,
        origin,
        every: match interval {
            Some(text) => every(&text, least)?,
            None => usual,
        },
        mapping: entry.mapping.map(|named| {
            let path = folder.join(&named);
            // A built-in one has no file.
            if path.is_file() { path } else { named }
        }),
        channels: entry.channels,
        filter: Filter {
            include: entry.include,
            exclude: entry.exclude,
            data_dir: Some(data_dir.to_owned()),
            ..Filter::default()
        },
        nested: Vec::new(),
        settings,
    })
}

/// Removes `.` and `..`, so that the catalog shows a path as people would write it.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(part),
        }
    }
    plain
}

/// Refuses settings of repositories or sites in other entries.
fn check_kind(entry: &OriginEntry) -> Result<(), String> {
    let of_git = [
        ("branch", entry.branch.is_some()),
        ("folder", entry.folder.is_some()),
    ];
    let of_site = [
        ("pages", entry.pages.is_some()),
        ("private", entry.private.is_some()),
    ];
    let misplaced = |keys: [(&'static str, bool); 2], is_right: bool| {
        let mut keys = keys.into_iter();
        keys.find(|(_, is_set)| *is_set && !is_right)
    };
    if let Some((key, _)) = misplaced(of_git, entry.git.is_some()) {
        return Err(format!("{key} is for git = … only"));
    }
    if let Some((key, _)) = misplaced(of_site, entry.web.is_some()) {
        return Err(format!("{key} is for web = … only"));
    }
    Ok(())
}

fn site(address: &str, pages: usize, is_private_allowed: bool) -> Result<Site, String> {
    let start =
        Url::parse(address).map_err(|error| format!("{address:?} is no address: {error}"))?;
    if !matches!(start.scheme(), "http" | "https") || start.host_str().is_none() {
        return Err(format!("{address:?} is no http:// or https:// address"));
    }
    if !start.username().is_empty() || start.password().is_some() {
        return Err("web is read without a name and password; leave them out".to_owned());
    }
    Ok(Site {
        start,
        pages,
        is_private_allowed,
    })
}

fn every(text: &str, least: Duration) -> Result<Every, String> {
    if text.trim() == "never" {
        return Ok(Every::Never);
    }
    let time = humantime::parse_duration(text.trim()).map_err(|_| {
        format!("every = {text:?} is no time; write one like 90s, 15m, 6h or 1d, or never")
    })?;
    if time < least {
        let least = humantime::format_duration(least);
        return Err(format!("every = {text:?} is too often; {least} at least"));
    }
    Ok(Every::Time(time))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::ingest::SourceOverview;

    fn read(text: &str) -> Result<Vec<Configured>, String> {
        parse(text, Path::new("/etc/muninn"), Path::new("data"))
    }

    #[test]
    fn a_file_says_where_and_how_often() {
        let read = read(
            "[docs]\npath = \"../docs/.\"\nexclude = [\"drafts/\"]\n\
             [book]\ngit = \"https://ada:secret@example.org/book.git\"\nfolder = \"src\"\nevery = \"1d\"\n\
             [near]\ngit = \"../work/./notes\"\n[there]\ngit = \"git@example.org:team/notes\"\n\
             [site]\nweb = \"https://docs.example.org/\"\npages = 99999\n\
             [old]\npath = \"/old\"\nevery = \"never\"\n",
        );
        let read = read.unwrap();
        let told: Vec<String> = read
            .iter()
            .map(|of| format!("{}: {}, {}", of.name, of.origin, of.every))
            .collect();
        assert_eq!(
            told,
            [
                "book: https://…@example.org/book.git, every 1day",
                "docs: /etc/docs, when a file changes",
                "near: /etc/work/notes, every 1h",
                "old: /old, when somebody runs `muninn source refresh`",
                "site: https://docs.example.org/, every 1day",
                "there: git@example.org:team/notes, every 1h",
            ]
        );
        assert!(matches!(&read[4].origin, Origin::Site(site) if site.pages == MOST_PAGES));
        // Debug output contains no secrets either.
        assert!(!format!("{read:?}").contains("secret"));
    }

    #[test]
    fn a_source_belongs_to_the_section_that_its_name_begins_with_most_of() {
        let one = "git = \"https://x/y.git\"";
        let (docs, api) = ("path = \"/docs\"", "path = \"/api\"");
        let (here, there) = (["https://x/y.git"], ["/docs"]);
        for (team, nested, paths, name, owner) in [
            (one, one, here, "team", Some("team")),
            (one, one, here, "team.a.csv", Some("team")),
            (one, one, here, "team.apis.csv", Some("team")),
            (one, one, here, "team.api", Some("team.api")),
            (one, one, here, "team.api.a.csv", Some("team.api")),
            (one, one, here, "teams", None),
            (one, one, there, "team", None),
            // It is of a file `api/a.csv`, from before there was the other section.
            (docs, api, there, "team.api.a.csv", Some("team")),
        ] {
            let all = read(&format!("[team]\n{team}\n[\"team.api\"]\n{nested}\n")).unwrap();
            let mut source = SourceOverview {
                name: name.to_owned(),
                version: 1,
                ..SourceOverview::default()
            };
            source.of.paths = Vec::from(paths.map(str::to_owned));
            let owners = all.iter().filter(|of| of.is_origin_of(&source));
            let owners: Vec<&str> = owners.map(|of| of.name.as_str()).collect();
            assert_eq!(owners, Vec::from_iter(owner), "{name}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, words) in [
            ("[a]\n", "[a] needs one of path, git and web"),
            ("[a]\npath = \"x\"\ngit = \"y\"\n", "needs one of"),
            ("[a]\npath = \"x\"\nevery = \"soon\"\n", "90s, 15m"),
            (
                "[a]\nweb = \"https://x/\"\nevery = \"5s\"\n",
                "too often; 1m",
            ),
            ("[a]\npath = \"x\"\nbranch = \"b\"\n", "branch is for git"),
            ("[a]\npath = \"x\"\nprivate = true\n", "private is for web"),
            (
                "[a]\npath = \"x\"\nchannels = [\"everybody\", \"C2\"]\n",
                "[a] everybody opens",
            ),
            ("[a]\npth = \"x\"\n", "unknown field"),
            ("[\"a/b\"]\npath = \"x\"\n", "cannot name a source"),
            ("[a]\nweb = \"file:///etc\"\n", "no http://"),
            ("[a]\nweb = \"https://u:p@x/\"\n", "without a name"),
            ("[a]\ngit = \"--upload-pack=x\"\n", "no address"),
            ("[a]\ngit = \"ext::sh -c x\"\n", "no address"),
            ("[a]\ngit = \"https://x/y\"\nfolder = \"../z\"\n", "folder"),
        ] {
            let refused = read(text).unwrap_err();
            assert!(refused.contains(words), "{text}: {refused}");
        }
        let mistyped = "[a]\ngti = \"https://oauth2:glpat-SECRET@git.example/x.git\"\n";
        let refused = read(mistyped).unwrap_err();
        assert!(
            refused.contains("line 2") && refused.contains("gti"),
            "{refused}"
        );
        assert!(!refused.contains("SECRET"), "{refused}");
    }
}
