//! Collects the files under the given paths, and records why others are skipped.
//!
//! Follows the rules of common tools: hidden files are skipped, `.gitignore` applies within a git
//! repository, `.muninnignore` everywhere and with precedence. Every skipped file or folder is
//! recorded with its reason, so that it can be counted and shown.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::source_error::SourceError;

/// The file in which teams exclude files from ingestion, in the syntax of `.gitignore`.
pub const IGNORE_FILE: &str = ".muninnignore";

/// Which files of a folder to take, in the syntax of `.gitignore`.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Empty: all.
    pub include: Vec<String>,
    pub exclude: Vec<String>,
    /// The bot's own data folder, which is never ingested.
    pub data_dir: Option<PathBuf>,
    /// The folder is the bot's own copy of something, so that git's ignore files do not apply.
    pub is_copy: bool,
}

/// Why something was skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    OtherKind,
    Hidden,
    Ignored,
    Excluded,
    NotIncluded,
    Link,
    NoFile,
    OwnData,
    NoRecords,
    Unmapped,
    NotMapped,
}

impl Reason {
    pub fn sentence(self) -> &'static str {
        match self {
            Self::OtherKind => "of another kind",
            Self::Hidden => "hidden",
            Self::Ignored => "named in .gitignore or .muninnignore",
            Self::Excluded => "excluded",
            Self::NotIncluded => "not among --include",
            Self::Link => "a link to elsewhere",
            Self::NoFile => "no file",
            Self::OwnData => "the bot's own data",
            Self::NoRecords => "JSON that is no list of records",
            Self::Unmapped => "records without text; ingest it with a --mapping",
            Self::NotMapped => "a document, which a --mapping is not for",
        }
    }
}

/// A file or a whole folder that was skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftAlone {
    pub path: PathBuf,
    pub reason: Reason,
}

/// A file to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FolderEntry {
    pub(super) path: PathBuf,
    /// Its path below the given folder, with `/`.
    pub(super) key: String,
    /// The path itself was given.
    pub(super) is_named: bool,
}

/// The result of a walk.
#[derive(Debug, Default)]
pub(super) struct Walked {
    pub(super) entries: Vec<FolderEntry>,
    pub(super) left_alone: Vec<LeftAlone>,
}

impl Walked {
    /// Walks a file or everything below a folder, in the order of names.
    pub(super) fn walk_path(&mut self, root: &Path, filter: &Filter) -> Result<(), SourceError> {
        if root.is_file() {
            let key = root.file_name().unwrap_or_default().to_string_lossy();
            self.entries.push(FolderEntry {
                path: root.to_owned(),
                key: key.into_owned(),
                is_named: true,
            });
            return Ok(());
        }
        let real = root
            .canonicalize()
            .map_err(|source| unreadable(root, source))?;
        let data_dir = filter.data_dir.as_deref();
        let data_dir = data_dir.and_then(|it| it.canonicalize().ok());
        let mut rules = match filter.is_copy {
            true => IgnoreRules::above_in_copy(&real, data_dir.as_deref().unwrap_or(&real)),
            false => IgnoreRules::above(&real),
        };
        let walk = Walk {
            root,
            include: globs(&real, &filter.include)?,
            exclude: globs(&real, &filter.exclude)?,
            data_dir,
            real,
        };
        self.walk(&walk, &mut rules, &walk.real)
    }

    fn walk(
        &mut self,
        walk: &Walk<'_>,
        rules: &mut IgnoreRules,
        folder: &Path,
    ) -> Result<(), SourceError> {
        let shown = walk.shown(folder);
        let entries = std::fs::read_dir(folder).map_err(|source| unreadable(&shown, source))?;
        let mut by_name = BTreeMap::new();
        for entry in entries {
            let entry = entry.map_err(|source| unreadable(&shown, source))?;
            by_name.insert(entry.file_name(), entry);
        }
        let added = rules.enter(folder);
        for entry in by_name.into_values() {
            let path = entry.path();
            let kind = entry
                .file_type()
                .map_err(|source| unreadable(&walk.shown(&path), source))?;
            if let Some(reason) = walk.refusal(rules, &path, kind) {
                self.record_skipped(walk.shown(&path), reason);
            } else if kind.is_dir() {
                self.walk(walk, rules, &path)?;
            } else {
                self.entries.push(FolderEntry {
                    key: walk.key(&path),
                    path: walk.shown(&path),
                    is_named: false,
                });
            }
        }
        rules.leave(added);
        Ok(())
    }

    pub(super) fn record_skipped(&mut self, path: PathBuf, reason: Reason) {
        self.left_alone.push(LeftAlone { path, reason });
    }
}

/// Lists every file to take, with size and modification time: while this is the same, nothing has
/// changed. Reads no file.
///
/// # Errors
/// Fails when a folder cannot be read.
pub(super) fn listing(root: &Path, filter: &Filter) -> Result<String, SourceError> {
    let mut walked = Walked::default();
    walked.walk_path(root, filter)?;
    let mut listing = String::new();
    for FolderEntry { path, key, .. } in walked.entries {
        let metadata = path
            .metadata()
            .map_err(|source| unreadable(&path, source))?;
        let changed = metadata.modified().ok();
        let changed = changed.and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
        let nanos = changed.unwrap_or_default().as_nanos();
        // Writing to a string does not fail.
        let _ = writeln!(listing, "{key:?} {} {nanos}", metadata.len());
    }
    Ok(listing)
}

fn unreadable(path: &Path, source: io::Error) -> SourceError {
    SourceError::Unreadable {
        path: path.to_owned(),
        source,
    }
}

/// Compiles patterns into one matcher; `None` without patterns.
fn globs(root: &Path, patterns: &[String]) -> Result<Option<Gitignore>, SourceError> {
    let wrong = |pattern: &str, error: &ignore::Error| SourceError::Pattern {
        pattern: pattern.to_owned(),
        problem: error.to_string(),
    };
    let mut builder = GitignoreBuilder::new(root);
    for pattern in patterns {
        builder
            .add_line(None, pattern)
            .map_err(|error| wrong(pattern, &error))?;
    }
    let built = builder
        .build()
        .map_err(|error| wrong(&patterns.join(", "), &error))?;
    Ok((!patterns.is_empty()).then_some(built))
}

/// A walk of one given folder.
struct Walk<'a> {
    root: &'a Path,
    /// The same path, canonical, as patterns need it.
    real: PathBuf,
    include: Option<Gitignore>,
    exclude: Option<Gitignore>,
    data_dir: Option<PathBuf>,
}

impl Walk<'_> {
    fn shown(&self, path: &Path) -> PathBuf {
        self.root
            .join(path.strip_prefix(&self.real).unwrap_or(path))
    }

    fn key(&self, path: &Path) -> String {
        let below = path.strip_prefix(&self.real).unwrap_or(path);
        below.to_string_lossy().replace('\\', "/")
    }

    fn refusal(&self, rules: &IgnoreRules, path: &Path, kind: std::fs::FileType) -> Option<Reason> {
        let is_dir = kind.is_dir();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with('.') {
            return Some(Reason::Hidden);
        }
        if kind.is_symlink() {
            return Some(Reason::Link);
        }
        if !is_dir && !kind.is_file() {
            return Some(Reason::NoFile);
        }
        if is_dir && self.data_dir.as_deref() == Some(path) {
            return Some(Reason::OwnData);
        }
        let is_in = |globs: &Gitignore| globs.matched_path_or_any_parents(path, is_dir).is_ignore();
        if self.exclude.as_ref().is_some_and(is_in) {
            return Some(Reason::Excluded);
        }
        if rules.ignore(path, is_dir) {
            return Some(Reason::Ignored);
        }
        // Folders that match no pattern may contain files that do.
        let is_wanted = is_dir || self.include.as_ref().is_none_or(is_in);
        (!is_wanted).then_some(Reason::NotIncluded)
    }
}

/// The ignore files from the repository's root down to the current folder.
#[derive(Default)]
struct IgnoreRules {
    git: Vec<Gitignore>,
    own: Vec<Gitignore>,
    /// Whether it is within a git repository; elsewhere `.gitignore` does not apply.
    is_git: bool,
    is_git_left_out: bool,
}

impl IgnoreRules {
    /// Returns the rules above a folder, if it is in a git repository.
    fn above(root: &Path) -> Self {
        let mut rules = Self::default();
        rules.enter_above(root.ancestors().skip(1));
        rules
    }

    /// Returns the rules above a folder of a copy in the data folder. The data folder may be in a
    /// repository itself, whose rules are not about the copy.
    fn above_in_copy(root: &Path, data_dir: &Path) -> Self {
        let mut rules = Self {
            is_git_left_out: true,
            ..Self::default()
        };
        let above = root.ancestors().skip(1);
        rules.enter_above(above.take_while(|it| it.starts_with(data_dir)));
        rules
    }

    /// Adds the rules of folders, innermost first, up to the top of the repository.
    fn enter_above<'a>(&mut self, above: impl Iterator<Item = &'a Path>) {
        let above: Vec<&Path> = above.collect();
        if let Some(top) = above.iter().position(|folder| folder.join(".git").exists()) {
            for folder in above[..=top].iter().rev() {
                self.enter(folder);
            }
        }
    }

    fn enter_git(&mut self, folder: &Path) -> bool {
        if self.is_git_left_out {
            return false;
        }
        let is_top = folder.join(".git").exists();
        self.is_git |= is_top;
        let file = folder.join(".gitignore");
        if !self.is_git || !(is_top || file.exists()) {
            return false;
        }
        let mut builder = GitignoreBuilder::new(folder);
        // An invalid pattern is ignored, as in git.
        let _wrong = builder.add(file);
        if is_top {
            let _wrong = builder.add(folder.join(".git/info/exclude"));
        }
        self.git.extend(builder.build().ok());
        true
    }

    /// Adds the rules of a folder; returns the previous state for [`IgnoreRules::leave`].
    fn enter(&mut self, folder: &Path) -> (usize, usize, bool) {
        let before = (self.git.len(), self.own.len(), self.is_git);
        self.enter_git(folder);
        let file = folder.join(IGNORE_FILE);
        if file.exists() {
            let mut builder = GitignoreBuilder::new(folder);
            let _wrong = builder.add(file);
            self.own.extend(builder.build().ok());
        }
        before
    }

    fn leave(&mut self, before: (usize, usize, bool)) {
        self.git.truncate(before.0);
        self.own.truncate(before.1);
        self.is_git = before.2;
    }

    /// The nearest file with a matching pattern decides; ours before git's.
    fn ignore(&self, path: &Path, is_dir: bool) -> bool {
        let matched = self.own.iter().rev().chain(self.git.iter().rev());
        let mut matched = matched.map(|rules| rules.matched(path, is_dir));
        matched
            .find(|it| !it.is_none())
            .is_some_and(|it| it.is_ignore())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(folder: &Path, name: &str, text: &str) {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn walked(folder: &Path, filter: &Filter) -> (Vec<String>, Vec<(String, Reason)>) {
        let mut walked = Walked::default();
        walked.walk_path(folder, filter).unwrap();
        let below = |path: &Path| path.strip_prefix(folder).unwrap().display().to_string();
        let left = walked.left_alone.iter();
        (
            walked
                .entries
                .iter()
                .map(|entry| entry.key.clone())
                .collect(),
            left.map(|it| (below(&it.path), it.reason)).collect(),
        )
    }

    fn tree() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in [
            "a.md",
            "b.txt",
            "drafts/c.md",
            "drafts/keep.md",
            "build/d.md",
            ".secret/e.md",
        ] {
            put(folder.path(), name, "x");
        }
        put(folder.path(), ".gitignore", "build/\n");
        put(folder.path(), ".muninnignore", "drafts/*\n!keep.md\n");
        folder
    }

    #[test]
    fn ignore_files_count_and_gitignore_only_in_a_repository() {
        let folder = tree();
        let (taken, left) = walked(folder.path(), &Filter::default());
        assert_eq!(taken, ["a.md", "b.txt", "build/d.md", "drafts/keep.md"]);
        let hidden = |name: &str| (name.to_owned(), Reason::Hidden);
        let ignored = |name: &str| (name.to_owned(), Reason::Ignored);
        let dots = [".gitignore", ".muninnignore", ".secret"].map(hidden);
        assert_eq!(left, [dots.as_slice(), &[ignored("drafts/c.md")]].concat());

        std::fs::create_dir(folder.path().join(".git")).unwrap();
        let (taken, left) = walked(folder.path(), &Filter::default());
        assert_eq!(taken, ["a.md", "b.txt", "drafts/keep.md"]);
        assert!(left.contains(&ignored("build")), "{left:?}");
        // Rules above the given folder apply too.
        put(folder.path(), "docs/build/f.md", "x");
        put(folder.path(), "docs/g.md", "x");
        let (taken, _) = walked(&folder.path().join("docs"), &Filter::default());
        assert_eq!(taken, ["g.md"]);
    }

    #[test]
    fn the_teams_own_rules_above_the_folder_count_up_to_the_top_of_the_repository() {
        let outside = tempfile::tempdir().unwrap();
        put(outside.path(), ".muninnignore", "*.md\n");
        let data_dir = outside.path().join("data");
        let top = data_dir.join("repository");
        for name in [
            "docs/a.md",
            "docs/build/b.md",
            "docs/private/c.md",
            "docs/d.txt",
        ] {
            put(&top, name, "x");
        }
        put(&top, ".gitignore", "build/\n");
        put(&top, ".muninnignore", "docs/private/\n");
        put(&top, "docs/.muninnignore", "*.txt\n");
        let docs = top.join("docs");
        let of_copy = Filter {
            data_dir: Some(data_dir),
            is_copy: true,
            ..Filter::default()
        };
        // Without a repository, only the folder's own rules are known to be meant.
        let all = ["a.md", "build/b.md", "private/c.md"];
        assert_eq!(walked(&docs, &Filter::default()).0, all);
        assert_eq!(walked(&docs, &of_copy).0, all);
        std::fs::create_dir(outside.path().join(".git")).unwrap();
        assert_eq!(walked(&docs, &of_copy).0, all, "another repository");
        std::fs::create_dir(top.join(".git")).unwrap();
        assert_eq!(walked(&docs, &Filter::default()).0, ["a.md"]);
        assert_eq!(walked(&docs, &of_copy).0, ["a.md", "build/b.md"]);
    }

    #[test]
    fn patterns_take_some_and_leave_some() {
        let folder = tree();
        let filter = |include: &[&str], exclude: &[&str]| Filter {
            include: include.iter().map(|it| (*it).to_owned()).collect(),
            exclude: exclude.iter().map(|it| (*it).to_owned()).collect(),
            data_dir: Some(folder.path().join("build")),
            is_copy: false,
        };
        let taken = |filter: &Filter| walked(folder.path(), filter).0;
        assert_eq!(taken(&filter(&["*.md"], &[])), ["a.md", "drafts/keep.md"]);
        assert_eq!(taken(&filter(&["drafts/"], &[])), ["drafts/keep.md"]);
        assert_eq!(taken(&filter(&[], &["drafts", "/b.*"])), ["a.md"]);
        let (_, left) = walked(folder.path(), &filter(&["a.md"], &["drafts"]));
        for expected in [
            ("b.txt", Reason::NotIncluded),
            ("build", Reason::OwnData),
            ("drafts", Reason::Excluded),
        ] {
            assert!(
                left.contains(&(expected.0.to_owned(), expected.1)),
                "{left:?}"
            );
        }
        let mut walked = Walked::default();
        let wrong = walked.walk_path(folder.path(), &filter(&["a[z-a]"], &[]));
        assert!(wrong.unwrap_err().to_string().contains("a[z-a]"));
    }
}
