//! What is to be read: files under the paths that were named, and the records in them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::conversations;
use super::documents::{self, Format};
use super::mapping::{Mapping, MappingError, Presence};
use super::record::{Place, Record, Rejection};
use super::rows::values;
use crate::graph::ingest::PropertyOrder;

/// Records in which the fields of a mapping are looked for before anything is written.
const LOOKED_AT: usize = 2_000;

/// What a source is made of.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    Documents,
    Conversations,
    Records(Box<Mapping>),
}

impl Kind {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Documents => "documents",
            Self::Conversations => "conversations",
            Self::Records(_) => "records",
        }
    }

    pub fn mapping_name(&self) -> &str {
        match self {
            Self::Documents | Self::Conversations => "",
            Self::Records(mapping) => &mapping.name,
        }
    }

    /// In which order people are shown the properties of each label; nothing where none is better.
    pub fn property_order(&self) -> PropertyOrder {
        match self {
            Self::Documents | Self::Conversations => PropertyOrder::new(),
            Self::Records(mapping) => mapping.property_order(),
        }
    }
}

/// The files of a source.
#[derive(Clone, Debug)]
pub struct Source {
    pub name: String,
    pub kind: Kind,
    files: Vec<SourceFile>,
    /// Bytes of all files.
    pub bytes: u64,
    /// Files of kinds that are not read.
    pub skipped: u64,
}

#[derive(Clone, Debug, PartialEq)]
struct SourceFile {
    path: PathBuf,
    /// Its name within the source.
    key: String,
    bytes: u64,
}

/// Why there is nothing to ingest.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    #[error("{} cannot be read", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("there is nothing to ingest in {}; {hint}", paths.join(", "))]
    Nothing {
        paths: Vec<String>,
        hint: &'static str,
    },
    #[error("{name:?} cannot name a source: letters, digits, blanks, - _ and . do, 64 at most")]
    Name { name: String },
    #[error("several paths need a name for what they make together: add --as NAME")]
    Unnamed,
    #[error("{} holds records, so it needs a --mapping (or `messages`, if these are conversations)", path.display())]
    Unmapped { path: PathBuf },
    #[error("documents and lines of records cannot be one source; ingest them one by one")]
    Mixed,
    #[error(transparent)]
    Mapping(#[from] MappingError),
}

/// What comes out of reading.
#[derive(Debug)]
pub(super) enum Item {
    Record(Record),
    Refused(Rejection),
    /// So many bytes more were read.
    Read(u64),
}

type Sink<'a> = &'a mut dyn FnMut(Item) -> ControlFlow<()>;

impl Source {
    /// Looks at the paths, and at the first records if there is a mapping. Writes nothing.
    ///
    /// # Errors
    /// Says what is wrong, and what to do.
    pub fn find(
        paths: &[PathBuf],
        name: Option<&str>,
        mapping: Option<Mapping>,
    ) -> Result<Self, SourceError> {
        let name = source_name(paths, name)?;
        let mut found = Found::default();
        for path in paths {
            found.look(path, path.is_file())?;
        }
        let (kind, files) = found.decide(paths, mapping)?;
        let bytes = files.iter().map(|file| file.bytes).sum();
        let source = Self {
            name,
            kind,
            files,
            bytes,
            skipped: found.skipped,
        };
        source.check_mapping()?;
        Ok(source)
    }

    fn check_mapping(&self) -> Result<(), SourceError> {
        let Kind::Records(mapping) = &self.kind else {
            return Ok(());
        };
        let mut presence = Presence::default();
        let mut left = LOOKED_AT;
        for file in &self.files {
            let each = &mut |line: Result<Value, Rejection>, _number| {
                if let Ok(value) = line {
                    mapping.look(&value, &mut presence);
                    left -= 1;
                }
                if left == 0 {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            };
            // What cannot be read is refused later, with its name.
            let _ = values(&file.path, each, &mut |_bytes| ControlFlow::Continue(()));
        }
        Ok(mapping.check(&presence)?)
    }

    /// Reads everything, until the receiver has enough.
    pub(super) fn read(&self, sink: Sink<'_>) -> ControlFlow<()> {
        for file in &self.files {
            match &self.kind {
                Kind::Documents => {
                    let Some(format) = Format::of(&file.path) else {
                        continue;
                    };
                    sink(match documents::read(&file.path, &file.key, format) {
                        Ok(record) => Item::Record(record),
                        Err(refused) => Item::Refused(refused),
                    })?;
                    sink(Item::Read(file.bytes))?;
                }
                Kind::Conversations => {
                    let make = |value: &Value, line| conversations::read(value, &file.path, line);
                    read_lines(&file.path, &make, sink)?;
                }
                Kind::Records(mapping) => {
                    let make = |value: &Value, line| mapping.apply(value, &file.path, line);
                    read_lines(&file.path, &make, sink)?;
                }
            }
        }
        ControlFlow::Continue(())
    }
}

type Make<'a> = &'a dyn Fn(&Value, u64) -> Result<Record, Rejection>;

fn read_lines(path: &Path, make: Make<'_>, sink: Sink<'_>) -> ControlFlow<()> {
    // Two closures share it, one after the other.
    let sink = std::cell::RefCell::new(sink);
    let each = &mut |line: Result<Value, Rejection>, number| {
        let item = match line.and_then(|value| make(&value, number)) {
            Ok(record) => Item::Record(record),
            Err(refused) => Item::Refused(refused),
        };
        (sink.borrow_mut())(item)
    };
    let read = values(path, each, &mut |bytes| {
        (sink.borrow_mut())(Item::Read(bytes))
    });
    match read {
        Ok(flow) => flow,
        Err(error) => {
            let refused = Place::file(path).refuse(format!("it cannot be read: {error}"));
            (sink.borrow_mut())(Item::Refused(refused))
        }
    }
}

fn extension(path: &Path) -> String {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.unwrap_or_default().to_ascii_lowercase()
}

fn is_lines(path: &Path) -> bool {
    matches!(
        extension(path).as_str(),
        "jsonl" | "ndjson" | "json" | "csv"
    )
}

/// Files that were come across.
#[derive(Debug, Default)]
struct Found {
    documents: Vec<SourceFile>,
    lines: Vec<SourceFile>,
    skipped: u64,
}

impl Found {
    fn look(&mut self, root: &Path, is_named: bool) -> Result<(), SourceError> {
        if is_named {
            let key = root
                .file_name()
                .map(|name| name.to_string_lossy().into_owned());
            self.add(root.to_owned(), key.unwrap_or_default());
            return Ok(());
        }
        self.walk(root, root)
    }

    /// In the order of names, so that every run reads in the same order. What begins with a dot
    /// and what only points elsewhere is left alone.
    fn walk(&mut self, root: &Path, folder: &Path) -> Result<(), SourceError> {
        let unreadable = |source| SourceError::Unreadable {
            path: folder.to_owned(),
            source,
        };
        let entries = std::fs::read_dir(folder).map_err(unreadable)?;
        let mut by_name = BTreeMap::new();
        for entry in entries {
            let entry = entry.map_err(unreadable)?;
            by_name.insert(entry.file_name(), entry);
        }
        for (name, entry) in by_name {
            let path = entry.path();
            let kind = entry.file_type().map_err(unreadable)?;
            if name.to_string_lossy().starts_with('.') || kind.is_symlink() {
                continue;
            }
            if kind.is_dir() {
                self.walk(root, &path)?;
            } else if kind.is_file() {
                let below = path.strip_prefix(root).unwrap_or(&path);
                let key = below.to_string_lossy().replace('\\', "/");
                self.add(path, key);
            }
        }
        Ok(())
    }

    fn add(&mut self, path: PathBuf, key: String) {
        let bytes = path.metadata().map_or(0, |metadata| metadata.len());
        let is_document = Format::of(&path).is_some();
        let is_lines = is_lines(&path);
        let file = SourceFile { path, key, bytes };
        match (is_document, is_lines) {
            (true, _) => self.documents.push(file),
            (false, true) => self.lines.push(file),
            (false, false) => self.skipped += 1,
        }
    }

    fn decide(
        &mut self,
        paths: &[PathBuf],
        mapping: Option<Mapping>,
    ) -> Result<(Kind, Vec<SourceFile>), SourceError> {
        let documents = std::mem::take(&mut self.documents);
        let lines = std::mem::take(&mut self.lines);
        let nothing = |hint| SourceError::Nothing {
            paths: paths
                .iter()
                .map(|path| path.display().to_string())
                .collect(),
            hint,
        };
        if let Some(mapping) = mapping {
            self.skipped += documents.len() as u64;
            if lines.is_empty() {
                return Err(nothing("records come as .jsonl or .csv"));
            }
            return Ok((Kind::Records(Box::new(mapping)), lines));
        }
        match (documents.is_empty(), lines.is_empty()) {
            (true, true) => Err(nothing(
                "documents are .md, .txt, .html and .pdf, records and conversations .jsonl and .csv",
            )),
            (false, true) => Ok((Kind::Documents, documents)),
            (true, false) => {
                for file in &lines {
                    if !holds_conversations(&file.path)? {
                        let path = file.path.clone();
                        return Err(SourceError::Unmapped { path });
                    }
                }
                Ok((Kind::Conversations, lines))
            }
            (false, false) => Err(SourceError::Mixed),
        }
    }
}

/// By the first line that can be read.
fn holds_conversations(path: &Path) -> Result<bool, SourceError> {
    let mut found = None;
    let each = &mut |line: Result<Value, Rejection>, _number| match line {
        Ok(value) => {
            found = Some(conversations::is_conversation(&value));
            ControlFlow::Break(())
        }
        Err(_refused) => ControlFlow::Continue(()),
    };
    let told = &mut |_bytes| ControlFlow::Continue(());
    let read = values(path, each, told);
    let _is_enough = read.map_err(|source| SourceError::Unreadable {
        path: path.to_owned(),
        source,
    })?;
    Ok(found.unwrap_or(false))
}

/// Of `--as`, or of the path.
fn source_name(paths: &[PathBuf], name: Option<&str>) -> Result<String, SourceError> {
    let name = match (name, paths) {
        (Some(name), _) => name.trim().to_owned(),
        (None, [path]) => {
            // `.` has no name of its own.
            let path = path.canonicalize().unwrap_or_else(|_| path.clone());
            let stem = if path.is_dir() {
                path.file_name()
            } else {
                path.file_stem()
            };
            let stem = stem.map(|stem| stem.to_string_lossy().into_owned());
            let fits = |c: char| if is_name_part(c) { c } else { '-' };
            stem.unwrap_or_default().chars().map(fits).collect()
        }
        (None, _) => return Err(SourceError::Unnamed),
    };
    let is_fit = !name.is_empty()
        && name.chars().count() <= 64
        && !name.starts_with(['.', ' ', '-'])
        && name.chars().all(is_name_part);
    if is_fit {
        Ok(name)
    } else {
        Err(SourceError::Name { name })
    }
}

fn is_name_part(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ' ')
}

/// The whole of a mapping's file, or of one that is built in.
///
/// # Errors
/// When it cannot be read or is none.
pub fn mapping(name: &str) -> Result<Mapping, SourceError> {
    if let Some(built_in) = Mapping::built_in(name) {
        return Ok(built_in?);
    }
    let path = Path::new(name);
    let mut text = String::new();
    let read = File::open(path).and_then(|mut file| file.read_to_string(&mut text));
    read.map_err(|source| SourceError::Unreadable {
        path: path.to_owned(),
        source,
    })?;
    let name = path
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned());
    Ok(Mapping::parse(&name.unwrap_or_default(), &text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_of_paths_or_given() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("Our wiki (new)");
        std::fs::create_dir(&path).unwrap();
        let named = |paths: &[PathBuf], name| source_name(paths, name).map_err(|e| e.to_string());
        assert_eq!(
            named(std::slice::from_ref(&path), None).unwrap(),
            "Our wiki -new-"
        );
        assert_eq!(
            named(std::slice::from_ref(&path), Some("wiki")).unwrap(),
            "wiki"
        );
        assert!(
            named(&[path.clone(), path.clone()], None)
                .unwrap_err()
                .contains("--as")
        );
        for name in ["", "../x", ".hidden", "a/b", "a\nb"] {
            assert!(
                named(std::slice::from_ref(&path), Some(name)).is_err(),
                "{name:?}"
            );
        }
    }

    #[test]
    fn an_empty_folder_and_mixed_ones_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let find = || {
            let found = Source::find(&[folder.path().to_owned()], Some("s"), None);
            found.map_err(|error| error.to_string())
        };
        assert!(find().unwrap_err().contains("nothing to ingest"));
        std::fs::write(folder.path().join("a.jsonl"), "{\"x\": 1}\n").unwrap();
        assert!(find().unwrap_err().contains("--mapping"));
        std::fs::write(folder.path().join("b.md"), "x").unwrap();
        assert!(find().unwrap_err().contains("one by one"));
        std::fs::remove_file(folder.path().join("a.jsonl")).unwrap();
        std::fs::write(folder.path().join("c.exe"), "x").unwrap();
        let found = find().unwrap();
        assert_eq!((found.files.len(), found.skipped), (1, 1));
    }
}
