//! Finds the sources of which an ingest leaves nothing.

use std::path::{Path, PathBuf};

use muninn::graph::ingest::SourceOverview;
use muninn::knowledge::folder::LeftAlone;
use muninn::knowledge::source::{Gathered, SourceKind, is_name_below, is_name_of_file};

use crate::cli::paths::whole;

/// Returns the sources that an earlier call made of these paths and that are empty now: the
/// documents of a folder without any, and records of deleted files. What another call made of a part
/// of these paths, under a name of its own, is not gone.
pub(super) fn gone(
    gathered: &Gathered,
    paths: &[PathBuf],
    known: &[SourceOverview],
) -> Vec<String> {
    let is_there = |name: &String| gathered.sources.iter().any(|source| source.name == *name);
    let gone = known.iter().filter(|source| {
        source.version > 0
            && !is_there(&source.name)
            && is_of_call(gathered, paths, source)
            && !is_of_another(&gathered.name, source, known)
    });
    gone.map(|source| source.name.clone()).collect()
}

/// Whether this call made a source before, of which it makes nothing now.
fn is_of_call(gathered: &Gathered, paths: &[PathBuf], source: &SourceOverview) -> bool {
    let call = &gathered.name;
    let own = absolute(source);
    let is_documents = source.of.kind == SourceKind::Documents.name();
    if source.name == *call {
        let is_same = own.iter().all(|path| paths.contains(path))
            && paths.iter().all(|path| own.contains(path));
        return is_same || !is_documents && own.iter().all(|file| is_lost(gathered, paths, file));
    }
    let [file] = own.as_slice() else {
        return false;
    };
    // Several files with one mapping are told by their folder.
    if is_documents || file.extension().is_none() || file.is_dir() {
        return false;
    }
    let is_named_so = |root: &PathBuf| {
        let below = file.strip_prefix(root).ok();
        let key = below.map(|below| below.to_string_lossy().replace('\\', "/"));
        key.is_some_and(|key| is_name_of_file(&source.name, call, &key))
    };
    paths.iter().any(is_named_so)
}

/// Whether a file below the paths is missing, or was left alone.
fn is_lost(gathered: &Gathered, paths: &[PathBuf], file: &Path) -> bool {
    let is_below = paths.iter().any(|path| file.starts_with(path));
    let mut left_alone = gathered.left_alone.iter();
    let is_left_alone = |one: &LeftAlone| whole(&one.path).is_ok_and(|left| file.starts_with(left));
    is_below && (!file.exists() || left_alone.any(is_left_alone))
}

/// Whether a source is one of those that a call of a longer name made, as of a folder within.
fn is_of_another(call: &str, source: &SourceOverview, known: &[SourceOverview]) -> bool {
    let own = absolute(source);
    let mut others = known.iter().filter(|other| {
        let is_within = other.name != call && is_name_below(&other.name, call);
        let is_above = other.name != source.name && is_name_below(&source.name, &other.name);
        other.version > 0 && is_within && is_above
    });
    others.any(|other| {
        let above = absolute(other);
        let is_below = |path: &PathBuf| above.iter().any(|above| path.starts_with(above));
        own.iter().all(is_below)
    })
}

fn absolute(source: &SourceOverview) -> Vec<PathBuf> {
    let paths = source.of.paths.iter();
    paths
        .filter_map(|path| whole(Path::new(path)).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(name: &str, kind: &str, paths: &[&str]) -> SourceOverview {
        let mut source = SourceOverview {
            name: name.to_owned(),
            version: 1,
            ..SourceOverview::default()
        };
        source.of.kind = kind.to_owned();
        source.of.paths = paths.iter().map(|&path| path.to_owned()).collect();
        source
    }

    #[test]
    fn only_what_the_same_call_made_is_gone() {
        let gathered = Gathered {
            name: "docs".to_owned(),
            sources: Vec::new(),
            left_alone: Vec::new(),
            told_apart: Vec::new(),
        };
        for (name, kind, paths, is_gone) in [
            ("docs", "documents", &["/t/docs"][..], true),
            ("docs", "records", &["/t/docs"], true),
            ("docs", "records", &["/t/docs/a.csv"], true),
            ("docs.a.csv", "records", &["/t/docs/a.csv"], true),
            (
                "docs.in.talk.jsonl",
                "conversations",
                &["/t/docs/in/talk.jsonl"],
                true,
            ),
            // The hash is of another file.
            ("docs.8c1f9af9-a.csv", "records", &["/t/docs/a.csv"], false),
            // Other calls made these.
            ("docs", "documents", &["/t/docs/api"], false),
            ("docs", "documents", &["/t/docs", "/t/more"], false),
            ("docs", "documents", &["/elsewhere/docs"], false),
            ("docs.api", "documents", &["/t/docs/api"], false),
            ("docs.api", "documents", &["/t/docs"], false),
            ("docs.api", "records", &["/t/docs/api"], false),
            ("docs.ports", "records", &["/t/docs/a.csv"], false),
            ("docs.a.csv", "records", &["/elsewhere/docs/a.csv"], false),
            ("docsa.csv", "records", &["/t/docs/a.csv"], false),
            ("other", "documents", &["/t/docs"], false),
        ] {
            let known = [source(name, kind, paths)];
            let found = gone(&gathered, &["/t/docs".into()], &known);
            assert_eq!(!found.is_empty(), is_gone, "{name} {kind} {paths:?}");
        }
        // A file of a folder within, which has documents too.
        let mut known = vec![
            source("docs.api.a.csv", "records", &["/t/docs/api/a.csv"]),
            source("docs.api", "documents", &["/t/docs/api"]),
        ];
        let paths = ["/t/docs".into()];
        assert_eq!(gone(&gathered, &paths, &known), [""; 0]);
        known.pop();
        assert_eq!(gone(&gathered, &paths, &known), ["docs.api.a.csv"]);
    }
}
