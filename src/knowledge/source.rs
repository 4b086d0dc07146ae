//! Determines what to read: files under the given paths, and the records in them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io::Read as _;
use std::ops::ControlFlow;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

mod definition;
mod item;
mod lines;
mod naming;
mod sorting;

use self::definition::{LOOKED_AT, SourceFile, extension};
pub use self::definition::{Source, SourceKind};
pub(super) use self::item::{Sink, SourceItem};
use self::lines::{read_lines, read_transcripts};
pub(super) use self::naming::source_name;
pub use self::naming::{is_name_below, is_name_of_file, may_be_file_of};
use self::sorting::FoundFiles;
use super::anonymise::{Anonymiser, Originals};
use super::conversations;
use super::documents::{self, Document, Format};
use super::folder::{Filter, LeftAlone, Reason, Walked};
use super::mapping::columns;
use super::mapping::{Mapping, Presence};
use super::record::{Rejection, RejectionLasts};
use super::rows::values;
use super::source_error::SourceError;

/// What can be ingested, for people.
const KINDS: &str = "documents are .md, .txt, .html, .pdf, .docx and more (docs/knowledge.md), records and conversations .json, .jsonl and .csv";

/// What to look for.
#[derive(Clone, Debug, Default)]
pub struct SourceSelection<'a> {
    pub paths: &'a [PathBuf],
    /// `None`: the name of the path.
    pub name: Option<&'a str>,
    pub mapping: Option<Mapping>,
    pub filter: Filter,
    /// Names that are not given to files, nor names below them: other sources have these.
    pub reserved: &'a [String],
}

/// What was found under the paths.
#[derive(Debug)]
pub struct Gathered {
    /// The given name, or that of the path.
    pub name: String,
    /// Documents first; empty if there is nothing to ingest.
    pub sources: Vec<Source>,
    pub left_alone: Vec<LeftAlone>,
    /// Names of documents that have their folders in them, because other folders have a document of
    /// that name.
    pub told_apart: Vec<String>,
}

impl Gathered {
    /// Examines the paths, and the first records. Writes nothing.
    ///
    /// # Errors
    /// Fails with the problem, and what to do.
    pub fn gather(wanted: SourceSelection<'_>) -> Result<Self, SourceError> {
        let name = source_name(wanted.paths, wanted.name)?;
        let mut walked = Walked::default();
        for path in wanted.paths {
            walked.walk_path(path, &wanted.filter)?;
        }
        let mut found = FoundFiles::of(walked);
        let mut told_apart = Vec::new();
        let (sources, left_alone) = match wanted.mapping {
            Some(mapping) => found.mapped(&name, mapping),
            None => {
                told_apart = found.tell_apart();
                found.unmapped(&name, wanted.reserved)?
            }
        };
        for source in &sources {
            source.check_mapping()?;
        }
        Ok(Self {
            name,
            sources,
            left_alone,
            told_apart,
        })
    }

    /// Returns the error that nothing was found, with what could be ingested.
    pub fn nothing(&self, paths: &[PathBuf]) -> SourceError {
        let counts = counts(&self.left_alone);
        let has_other_kind = self
            .left_alone
            .iter()
            .any(|one| one.reason == Reason::OtherKind);
        let hint = match (counts.is_empty(), has_other_kind) {
            (true, _) => KINDS.to_owned(),
            (false, true) => format!("left alone: {counts}; {KINDS}"),
            (false, false) => format!("left alone: {counts}"),
        };
        let paths = paths.iter().map(|path| path.display().to_string());
        SourceError::Nothing {
            paths: paths.collect(),
            hint,
        }
    }
}

/// Formats counts: `3 of another kind (.ics, .yaml), 1 hidden`
pub fn counts(left_alone: &[LeftAlone]) -> String {
    let mut counts: BTreeMap<Reason, u64> = BTreeMap::new();
    for one in left_alone {
        *counts.entry(one.reason).or_default() += 1;
    }
    let counts = counts.into_iter();
    let counts: Vec<String> = counts
        .map(|(reason, count)| match reason == Reason::OtherKind {
            true => format!("{count} {}{}", reason.sentence(), endings(left_alone)),
            false => format!("{count} {}", reason.sentence()),
        })
        .collect();
    counts.join(", ")
}

/// Returns the endings of the files of another kind: ` (.ics, .yaml)`; empty without any.
fn endings(left_alone: &[LeftAlone]) -> String {
    const SHOWN: usize = 5;
    let others = left_alone.iter();
    let others = others.filter(|one| one.reason == Reason::OtherKind);
    let endings: BTreeSet<String> = others.map(|one| extension(&one.path)).collect();
    let endings = endings.iter().filter(|ending| !ending.is_empty());
    let mut shown: Vec<String> = endings.map(|ending| format!(".{ending}")).collect();
    if shown.len() > SHOWN {
        shown.truncate(SHOWN);
        shown.push("…".to_owned());
    }
    if shown.is_empty() {
        return String::new();
    }
    format!(" ({})", shown.join(", "))
}

/// A path that is valid in any working directory, and the same however it was written: `docs`, `docs/`, `../team/docs`. Links
/// stay, unless `..` stands behind one.
pub fn normalised_path(path: &Path) -> PathBuf {
    let has_parent = path.components().any(|part| part == Component::ParentDir);
    let canonical = has_parent.then(|| path.canonicalize().ok()).flatten();
    let whole = canonical.or_else(|| std::path::absolute(path).ok());
    // Collected from its parts, it has no slash at the end.
    whole
        .unwrap_or_else(|| path.to_owned())
        .components()
        .collect()
}

impl Source {
    /// Returns the only source under the paths.
    ///
    /// # Errors
    /// Fails with the problem, and what to do.
    pub fn find(
        paths: &[PathBuf],
        name: Option<&str>,
        mapping: Option<Mapping>,
    ) -> Result<Self, SourceError> {
        let mut gathered = Gathered::gather(SourceSelection {
            paths,
            name,
            mapping,
            filter: Filter::default(),
            reserved: &[],
        })?;
        match gathered.sources.len() {
            0 => Err(gathered.nothing(paths)),
            1 => Ok(gathered.sources.remove(0)),
            _ => {
                let names = gathered.sources.into_iter().map(|source| source.name);
                Err(SourceError::Several {
                    names: names.collect(),
                })
            }
        }
    }

    fn of(name: String, kind: SourceKind, files: Vec<SourceFile>) -> Self {
        Self {
            name,
            kind,
            bytes: files.iter().map(|file| file.bytes).sum(),
            files,
            anonymiser: None,
        }
    }

    /// Whether it is anonymised.
    pub(super) fn is_anonymised(&self) -> bool {
        self.anonymiser.is_some()
    }

    /// Anonymises its conversations, which are read twice for that. Known placeholders stay the
    /// same. Returns the originals of all placeholders.
    ///
    /// # Errors
    /// Fails when it does not consist of conversations.
    pub fn anonymised(mut self, known: Originals) -> Result<(Self, Originals), SourceError> {
        if self.kind != SourceKind::Conversations {
            return Err(SourceError::NoTalk { name: self.name });
        }
        let mut anonymiser = Anonymiser::new(known);
        let _whole = self.read(&mut |item| {
            if let SourceItem::Record(record) = item {
                record.learn(&mut anonymiser);
            }
            ControlFlow::Continue(())
        });
        let originals = anonymiser.originals().clone();
        self.anonymiser = Some(Arc::new(anonymiser));
        Ok((self, originals))
    }

    /// Adds the addresses of its files, by their names within the source.
    pub(super) fn linked(mut self, links: &HashMap<String, String>) -> Self {
        for file in &mut self.files {
            file.link = links.get(&file.key).cloned();
        }
        self
    }

    /// Returns its paths for the catalog: the single file, or the given paths.
    pub fn paths(&self, named: &[PathBuf]) -> Vec<String> {
        let is_one = !matches!(self.kind, SourceKind::Documents) && self.files.len() == 1;
        let files = self.files.iter().map(|file| &file.path);
        let shown = |path: &PathBuf| normalised_path(path).display().to_string();
        if is_one {
            files.map(shown).collect()
        } else {
            named.iter().map(shown).collect()
        }
    }

    fn check_mapping(&self) -> Result<(), SourceError> {
        let SourceKind::Records(mapping) = &self.kind else {
            return Ok(());
        };
        if mapping.name == columns::NAME {
            return Ok(());
        }
        let mut presence = Presence::default();
        let mut left = LOOKED_AT;
        for file in &self.files {
            if left == 0 {
                break;
            }
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
            // Unreadable content is refused later, with its name.
            let _ = values(&file.path, each, &mut |_bytes| ControlFlow::Continue(()));
        }
        Ok(mapping.check(&presence)?)
    }

    /// Reads everything, until the receiver stops it.
    pub(super) fn read(&self, sink: Sink<'_>) -> ControlFlow<()> {
        let Some(anonymiser) = &self.anonymiser else {
            return self.read_as_is(sink);
        };
        self.read_as_is(&mut |item| match item {
            SourceItem::Record(record) => {
                sink(SourceItem::Record(record.anonymised_by(anonymiser)))
            }
            other @ (SourceItem::Refused(_)
            | SourceItem::Unread { .. }
            | SourceItem::Broken(..)
            | SourceItem::Warned(_)
            | SourceItem::Read(_)) => sink(other),
        })
    }

    fn read_as_is(&self, sink: Sink<'_>) -> ControlFlow<()> {
        for file in &self.files {
            match &self.kind {
                SourceKind::Documents => {
                    let Some(format) = Format::of(&file.path) else {
                        continue;
                    };
                    let read = documents::read(&file.path, &file.key, file.link.as_deref(), format);
                    match read {
                        Ok(Document { record, warning }) => {
                            if let Some(warning) = warning {
                                sink(SourceItem::Warned(warning))?;
                            }
                            sink(SourceItem::Record(record))?;
                        }
                        Err(refused) => match refused.lasts {
                            RejectionLasts::UntilItChanges => sink(SourceItem::Refused(refused))?,
                            RejectionLasts::UntilReadAgain | RejectionLasts::ForNow => {
                                let key = file.key.clone();
                                sink(SourceItem::Unread { key, refused })?;
                            }
                        },
                    }
                    sink(SourceItem::Read(file.bytes))?;
                }
                SourceKind::Conversations if extension(&file.path) == "csv" => {
                    read_transcripts(&file.path, file.bytes, sink)?;
                }
                SourceKind::Conversations => {
                    let make = |value: &Value, line| {
                        let read = conversations::read(value, &file.path, line);
                        read.map(|record| vec![record])
                    };
                    read_lines(&file.path, &make, sink)?;
                }
                SourceKind::Records(mapping) => {
                    let make = |value: &Value, line| mapping.apply(value, &file.path, line);
                    read_lines(&file.path, &make, sink)?;
                }
            }
        }
        ControlFlow::Continue(())
    }
}

/// Loads a mapping, from a file or a built-in one.
///
/// # Errors
/// Fails when it cannot be read or is not a mapping.
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
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn documents_of_one_name_have_their_folders_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        };
        for name in ["a/docs/in/x.md", "b/docs/in/x.md", "b/docs/y.md"] {
            put(name);
        }
        let look = |names: &[&str]| {
            let paths: Vec<PathBuf> = names.iter().map(|it| folder.path().join(it)).collect();
            let gathered = Gathered::gather(SourceSelection {
                paths: &paths,
                name: Some("s"),
                ..SourceSelection::default()
            });
            let gathered = gathered.unwrap();
            let keys = gathered.sources[0].files.iter();
            let keys: Vec<String> = keys.map(|file| file.key.clone()).collect();
            (keys, gathered.told_apart)
        };
        let (keys, told) = look(&["a/docs", "b/docs"]);
        assert_eq!(keys, ["a/docs/in/x.md", "b/docs/in/x.md", "y.md"]);
        assert_eq!(told, keys[..2]);
        let (keys, _) = look(&["a/docs/in/x.md", "b/docs/in/x.md"]);
        assert_eq!(keys, ["a/docs/in/x.md", "b/docs/in/x.md"]);
        // The same file twice is one document.
        let (keys, told) = look(&["b/docs", "b/docs"]);
        assert_eq!(keys, ["in/x.md", "y.md", "in/x.md", "y.md"]);
        assert!(told.is_empty(), "{told:?}");
    }

    #[test]
    fn a_mapping_is_compared_with_the_first_records_only() {
        let folder = tempfile::tempdir().unwrap();
        let rows: String = (0..LOOKED_AT + 500)
            .map(|id| format!("{{\"id\": {id}, \"name\": \"n{id}\"}}\n"))
            .collect();
        let paths = ["a.jsonl", "b.jsonl"].map(|name| folder.path().join(name));
        for path in &paths {
            std::fs::write(path, &rows).unwrap();
        }
        let by = Mapping::parse(
            "by",
            "[[record]]\nlabel = \"Thing\"\nid = \"/id\"\ntext = [\"/name\"]\n",
        );
        let source = Source::find(&paths, Some("s"), Some(by.unwrap())).unwrap();
        assert_eq!(source.files.len(), 2);
    }

    #[test]
    fn a_folder_of_anything_is_sorted() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let look = || {
            let paths = [folder.path().to_owned()];
            let gathered = Gathered::gather(SourceSelection {
                paths: &paths,
                name: Some("s"),
                ..SourceSelection::default()
            });
            let gathered = gathered.unwrap();
            let sources = gathered.sources.iter();
            let sources: Vec<(String, &str)> = sources
                .map(|source| (source.name.clone(), source.kind.name()))
                .collect();
            (sources, counts(&gathered.left_alone))
        };
        let found = Source::find(&[folder.path().to_owned()], Some("s"), None);
        assert!(found.unwrap_err().to_string().contains("nothing to ingest"));
        put("c.exe", "x");
        let named = Source::find(&[folder.path().join("c.exe")], Some("s"), None);
        let said = named.unwrap_err().to_string();
        let expected = "left alone: 1 of another kind (.exe); documents are .md, .txt";
        assert!(said.contains(expected), "{said}");
        put("package.json", "{\n  \"name\": \"x\"\n}");
        put("numbers.csv", "a,b\n1,2\n");
        assert_eq!(
            look(),
            (
                vec![],
                "1 of another kind (.exe), 1 JSON that is no list of records, \
                 1 records without text; ingest it with a --mapping"
                    .to_owned()
            )
        );
        put("b.md", "x");
        put("in/ports.csv", "code,name\nN1,North\n");
        put("list.json", "[{\"name\": \"a\"},\n {\"name\": \"b\"}]");
        put("talk.jsonl", "{\"messages\": []}\n");
        let expected = [
            ("s", "documents"),
            ("s.in.ports.csv", "records"),
            ("s.list.json", "records"),
            ("s.talk.jsonl", "conversations"),
        ];
        assert_eq!(
            look().0,
            expected.map(|(name, kind)| (name.to_owned(), kind))
        );
        // Two files whose paths make one name are two sources, and stay what they are.
        put("in.ports.csv", "code,name\nS1,South\n");
        let found = look();
        assert_eq!(found.0.len(), expected.len() + 1, "{found:?}");
        let names: HashSet<&String> = found.0.iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), found.0.len(), "{found:?}");
        assert_eq!(found, look());
    }
}
