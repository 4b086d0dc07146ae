//! Why a source cannot be read.

use std::io;
use std::path::PathBuf;

use super::mapping::MappingError;

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
    Nothing { paths: Vec<String>, hint: String },
    #[error("{name:?} cannot name a source: letters, digits, blanks, - _ and . do, 64 at most")]
    Name { name: String },
    #[error("several paths need a name for what they make together: add --as NAME")]
    Unnamed,
    #[error("{} holds records, so it needs a --mapping (or `messages`, if these are conversations)", path.display())]
    Unmapped { path: PathBuf },
    #[error("there are several sources in it: {}", names.join(", "))]
    Several { names: Vec<String> },
    #[error("{pattern:?} is no pattern as in .gitignore: {problem}")]
    Pattern { pattern: String, problem: String },
    #[error("there is no source {name:?}; {}", listed(known))]
    Unknown { name: String, known: Vec<String> },
    #[error("there is a source {name:?} already; choose another name, or remove that one first")]
    Taken { name: String },
    #[error(
        "people were taken out of {name} when it was ingested: give --anonymise again, or remove it first with `muninn source remove {name}`"
    )]
    Anonymised { name: String },
    #[error(
        "{name} holds no conversations: people are taken out of conversations and transcripts only (--anonymise)"
    )]
    NoTalk { name: String },
    #[error(transparent)]
    Mapping(#[from] MappingError),
}

pub(super) fn listed(names: &[String]) -> String {
    if names.is_empty() {
        return "nothing was ingested yet".to_owned();
    }
    format!("there are {}", names.join(", "))
}
