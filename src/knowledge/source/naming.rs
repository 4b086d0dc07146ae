//! Names of sources.

use std::path::PathBuf;

use crate::knowledge::source_error::SourceError;

/// Maximum characters of a name.
const NAME_CHARS: usize = 64;

/// Returns the source name of a file within a folder: `wiki.data.ports.csv`. A name that would be
/// too long keeps its beginning and its end, around a short hash.
pub(super) fn name_of_file(folder: &str, key: &str) -> String {
    let fits = |c: char| match c {
        '/' => '.',
        c if is_name_part(c) => c,
        _ => '-',
    };
    let name: String = format!("{folder}.{key}").chars().map(fits).collect();
    let length = name.chars().count();
    if length <= NAME_CHARS {
        return name;
    }
    let own = blake3::hash(key.as_bytes()).to_hex();
    let head: String = folder.chars().take(NAME_CHARS / 2).collect();
    let head = format!("{head}.{}-", &own[..8]);
    let left = NAME_CHARS - head.chars().count();
    let end: String = name.chars().skip(length - left).collect();
    format!("{head}{end}")
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
        let names = names.map(|key| name_of_file("wiki", &key));
        assert_eq!(names[0], "wiki.a.csv");
        assert!(
            names[1].ends_with(".data.csv") && names[1] != names[2],
            "{names:?}"
        );
        for name in names {
            assert_eq!(source_name(&[], Some(&name)).unwrap(), name);
        }
    }
}
