//! Names of sources.

use std::cell::Cell;
use std::path::PathBuf;

use crate::knowledge::source_error::SourceError;

/// Maximum characters of a name.
const NAME_CHARS: usize = 64;
/// Characters of the hash in a name.
const HASH_CHARS: usize = 8;

/// Returns the source name of a file within a folder, such as `wiki.data.ports.csv`. If that is
/// taken, as by `data.ports.csv`, the name has a short hash: two files of one name would replace
/// each other.
pub(super) fn name_of_file(folder: &str, key: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let fits = |c: char| match c {
        '/' => '.',
        c if is_name_part(c) => c,
        _ => '-',
    };
    let below: String = key.chars().map(fits).collect();
    let whole = format!("{folder}.{below}");
    let mut name = if whole.chars().count() <= NAME_CHARS {
        whole
    } else {
        with_hash(folder, key, &whole)
    };
    // Files of several folders may have one key.
    let mut number = 1_u64;
    while is_taken(&name) {
        name = with_hash(folder, &format!("{key}/{number}"), &below);
        number += 1;
    }
    name
}

/// Whether a file of a folder has this name, or would have it if others were taken.
pub fn is_name_of_file(name: &str, folder: &str, key: &str) -> bool {
    // Each file that has the same key takes a name more.
    const MOST_TAKEN: u32 = 16;
    let taken = Cell::new(0);
    let is_taken = |other: &str| {
        taken.set(taken.get() + 1);
        other != name && taken.get() <= MOST_TAKEN
    };
    name_of_file(folder, key, is_taken) == name
}

/// Whether a source has the name of another one, or one below it, as files of records have.
pub fn is_name_below(name: &str, above: &str) -> bool {
    let rest = name.strip_prefix(above);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Whether a source may be a file of records in a source of this name: one whose name would be too
/// long has only the beginning of it.
pub fn may_be_file_of(name: &str, above: &str) -> bool {
    let is_shortened = || {
        let (own, file) = name
            .strip_prefix(beginning(above).as_str())?
            .split_once('-')?;
        let hash = own.strip_prefix('.')?;
        Some(!file.is_empty() && hash.len() == HASH_CHARS && hash.bytes().all(is_hex))
    };
    is_name_below(name, above) || is_shortened().unwrap_or(false)
}

fn is_hex(byte: u8) -> bool {
    byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte)
}

/// The part of a folder's name that a name with a hash begins with.
fn beginning(folder: &str) -> String {
    folder.chars().take(NAME_CHARS / 2).collect()
}

/// Returns a name of the folder's beginning, a short hash of the key, and the end of a text.
fn with_hash(folder: &str, key: &str, text: &str) -> String {
    let own = blake3::hash(key.as_bytes()).to_hex();
    let head = format!("{}.{}-", beginning(folder), &own[..HASH_CHARS]);
    let left = NAME_CHARS - head.chars().count();
    let skipped = text.chars().count().saturating_sub(left);
    head.chars().chain(text.chars().skip(skipped)).collect()
}

/// Returns the name from `--as`, or from the path.
pub(in crate::knowledge) fn source_name(
    paths: &[PathBuf],
    name: Option<&str>,
) -> Result<String, SourceError> {
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
        && name.chars().count() <= NAME_CHARS
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
    fn a_name_of_a_file_is_never_too_long() {
        let long = format!("{}/data.csv", "deep/".repeat(30));
        let names = [
            "a.csv".to_owned(),
            long.clone(),
            long.replace("deep/d", "deep/x"),
        ];
        let names = names.map(|key| name_of_file("wiki", &key, |_| false));
        assert_eq!(names[0], "wiki.a.csv");
        assert!(
            names[1].ends_with(".data.csv") && names[1] != names[2],
            "{names:?}"
        );
        for name in names {
            assert_eq!(source_name(&[], Some(&name)).unwrap(), name);
        }
    }

    #[test]
    fn files_of_a_source_are_known_by_their_names() {
        let long = "engineering-handbook-and-runbooks-of-2026";
        let key = "data/ports-and-terminals-of-the-region-export.csv";
        let file = name_of_file(long, key, |_| false);
        assert!(!is_name_below(&file, long), "{file}");
        for (name, above, expected) in [
            (file.as_str(), long, true),
            (long, long, true),
            ("engineering-handbook-and-runbook.notes", long, false),
            (
                "engineering-handbook-and-runbook.0123456z-x.csv",
                long,
                false,
            ),
            ("docs.ports.csv", "docs", true),
            ("docs2.ports.csv", "docs", false),
        ] {
            assert_eq!(may_be_file_of(name, above), expected, "{name} {above}");
        }
    }

    #[test]
    fn no_two_files_have_one_name() {
        let long = format!("{}/data.csv", "deep/".repeat(30));
        let keys = ["a/b.csv", "a.b.csv", "a-b.csv", "R&D.csv", "R+D.csv"];
        // The last ones are of two folders that are ingested together.
        let keys = [&keys[..], &[long.as_str(), "a/b.csv", long.as_str()]].concat();
        let named = || -> Vec<String> {
            let mut names: Vec<String> = Vec::new();
            for key in &keys {
                let is_taken = |name: &str| names.iter().any(|taken| taken == name);
                let name = name_of_file("rec", key, is_taken);
                names.push(name);
            }
            names
        };
        let names = named();
        assert_eq!(names, named(), "the same each time");
        let mut different = names.clone();
        different.sort();
        different.dedup();
        assert_eq!(different.len(), keys.len(), "{names:?}");
        assert_eq!(names[0], "rec.a.b.csv");
        assert!(
            names[1].starts_with("rec.") && names[1].ends_with("-a.b.csv"),
            "{names:?}"
        );
        for (name, key) in names.iter().zip(&keys) {
            assert!(is_name_of_file(name, "rec", key), "{name} {key}");
        }
        assert!(!is_name_of_file("rec.b", "rec", "a/b.csv"));
        assert_eq!(names[2..4], ["rec.a-b.csv", "rec.R-D.csv"]);
        for name in names {
            assert_eq!(source_name(&[], Some(&name)).unwrap(), name);
        }
    }

    #[test]
    fn names_of_others_are_not_given_to_files() {
        let is_taken = |name: &str| is_name_below(name, "team.api");
        let named = |key: &str| name_of_file("team", key, is_taken);
        assert_eq!(named("apis.csv"), "team.apis.csv");
        for key in ["api", "api.csv", "api/ports.csv"] {
            let name = named(key);
            assert!(!is_taken(&name) && is_name_below(&name, "team"), "{name}");
        }
    }
}
