//! Sorts the files of a folder into documents, records and conversations, and those that are
//! skipped.

use std::collections::{BTreeMap, HashSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::definition::{Source, SourceFile, SourceKind, extension};
use super::naming::{is_name_below, name_of_file};
use crate::knowledge::conversations;
use crate::knowledge::documents::Format;
use crate::knowledge::folder::{FolderEntry, LeftAlone, Reason, Walked};
use crate::knowledge::mapping::Mapping;
use crate::knowledge::mapping::columns::Columns;
use crate::knowledge::record::Rejection;
use crate::knowledge::rows::{is_table, values};
use crate::knowledge::source_error::SourceError;
use crate::knowledge::transcripts::is_utterance;

fn is_lines(path: &Path) -> bool {
    matches!(
        extension(path).as_str(),
        "jsonl" | "ndjson" | "json" | "csv"
    )
}

/// The files that were found.
#[derive(Debug, Default)]
pub(super) struct FoundFiles {
    documents: Vec<SourceFile>,
    /// With whether each path was given explicitly.
    lines: Vec<(SourceFile, bool)>,
    left_alone: Vec<LeftAlone>,
}

pub(super) type Decided = (Vec<Source>, Vec<LeftAlone>);

impl FoundFiles {
    pub(super) fn of(walked: Walked) -> Self {
        let mut found = Self {
            left_alone: walked.left_alone,
            ..Self::default()
        };
        for FolderEntry {
            path,
            key,
            is_named,
        } in walked.entries
        {
            let bytes = path.metadata().map_or(0, |metadata| metadata.len());
            let is_document = Format::of(&path).is_some();
            let is_lines = is_lines(&path);
            let file = SourceFile {
                path,
                key,
                link: None,
                bytes,
            };
            match (is_document, is_lines) {
                (true, _) => found.documents.push(file),
                (false, true) => found.lines.push((file, is_named)),
                (false, false) => found.leave(file, Reason::OtherKind),
            }
        }
        found
    }

    fn leave(&mut self, file: SourceFile, reason: Reason) {
        let path = file.path;
        self.left_alone.push(LeftAlone { path, reason });
    }

    /// Puts the folders into the names of documents that have one name in several folders: only one
    /// of them would be kept. Returns these names.
    pub(super) fn tell_apart(&mut self) -> Vec<String> {
        let mut by_key: BTreeMap<String, Vec<(usize, PathBuf)>> = BTreeMap::new();
        for (at, SourceFile { path, key, .. }) in self.documents.iter().enumerate() {
            let real = path.canonicalize().unwrap_or_else(|_| path.clone());
            by_key.entry(key.clone()).or_default().push((at, real));
        }
        let mut told = Vec::new();
        for same in by_key.into_values() {
            let first = &same[0].1;
            // The same file may be below two of the given paths.
            if same.iter().all(|(_, path)| path == first) {
                continue;
            }
            let mut above = first.ancestors().skip(1);
            let above = above.find(|above| same.iter().all(|(_, path)| path.starts_with(above)));
            for (at, path) in &same {
                let below = above.and_then(|above| path.strip_prefix(above).ok());
                let parts = below.unwrap_or(path).components();
                let parts = parts.map(|part| part.as_os_str().to_string_lossy());
                let key = parts.collect::<Vec<_>>().join("/");
                self.documents[*at].key.clone_from(&key);
                told.push(key);
            }
        }
        told
    }

    /// With a mapping, all records are one source; documents are not taken.
    pub(super) fn mapped(mut self, name: &str, mapping: Mapping) -> Decided {
        for document in std::mem::take(&mut self.documents) {
            self.leave(document, Reason::NotMapped);
        }
        let files: Vec<SourceFile> = self.lines.into_iter().map(|(file, _)| file).collect();
        let kind = SourceKind::Records(Box::new(mapping));
        let source = (!files.is_empty()).then(|| Source::of(name.to_owned(), kind, files));
        (source.into_iter().collect(), self.left_alone)
    }

    /// The documents are one source, and each file of records or conversations is another one.
    pub(super) fn unmapped(
        mut self,
        name: &str,
        reserved: &[String],
    ) -> Result<Decided, SourceError> {
        let documents = std::mem::take(&mut self.documents);
        let is_alone = documents.is_empty() && self.lines.len() == 1;
        let (mut sources, mut taken) = (Vec::new(), HashSet::from([name.to_owned()]));
        if !documents.is_empty() {
            sources.push(Source::of(
                name.to_owned(),
                SourceKind::Documents,
                documents,
            ));
        }
        for (file, is_named) in std::mem::take(&mut self.lines) {
            let kind = match kind_of(&file.path)? {
                Ok(kind) => kind,
                Err(Reason::Unmapped) if is_named => {
                    return Err(SourceError::Unmapped { path: file.path });
                }
                Err(reason) => {
                    self.leave(file, reason);
                    continue;
                }
            };
            let own = if is_alone && is_named {
                name.to_owned()
            } else {
                name_of_file(name, &file.key, |own| {
                    taken.contains(own) || reserved.iter().any(|it| is_name_below(own, it))
                })
            };
            taken.insert(own.clone());
            sources.push(Source::of(own, kind, vec![file]));
        }
        Ok((sources, self.left_alone))
    }
}

/// Returns the kind of a file of lines; `Err` is the reason to skip it. All of its records are looked at: an id may be
/// there twice, and a field once, in any of them.
fn kind_of(path: &Path) -> Result<Result<SourceKind, Reason>, SourceError> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let (mut columns, mut looked) = (Columns::of(&stem), 0_u64);
    let mut is_conversation = false;
    let each = &mut |line: Result<Value, Rejection>, _number| {
        if let Ok(value) = line {
            looked += 1;
            is_conversation = looked == 1
                && (conversations::is_conversation(&value)
                    || is_table(path) && is_utterance(&value));
            columns.look(&value);
        }
        if is_conversation {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let told = &mut |_bytes| ControlFlow::Continue(());
    let read = values(path, each, told);
    let _is_enough = read.map_err(|source| SourceError::Unreadable {
        path: path.to_owned(),
        source,
    })?;
    if is_conversation {
        return Ok(Ok(SourceKind::Conversations));
    }
    if looked == 0 && extension(path) == "json" {
        return Ok(Err(Reason::NoRecords));
    }
    let mapping = columns.mapping();
    Ok(mapping.map_or(Err(Reason::Unmapped), |mapping| {
        Ok(SourceKind::Records(Box::new(mapping)))
    }))
}
