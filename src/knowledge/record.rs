//! The common output of all readers: records of chunks, and links between them.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::anonymise::Anonymiser;

/// Maximum characters of what each chunk has a copy of: a title, a heading, a tag. Without a limit
/// the copies of one long line need more memory than there is.
const TITLE_CHARS: usize = 300;
/// Maximum bytes of a link: every chunk has a copy of it, too, and a part of it leads nowhere.
const LINK_BYTES: usize = 2_000;
/// Maximum bytes of a record's key: an index of Neo4j takes about 8,000, and longer keys would stop
/// the whole source.
const KEY_BYTES: usize = 1_000;

/// Shortens a title, a heading or a tag.
pub(super) fn short_title(text: &str) -> String {
    match text.char_indices().nth(TITLE_CHARS) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

/// A link, unless it is too long.
pub(super) fn usable_link(link: String) -> Option<String> {
    (link.len() <= LINK_BYTES).then_some(link)
}

/// Refuses a key that is too long.
pub(super) fn usable_key(key: String) -> Result<String, String> {
    if key.len() <= KEY_BYTES {
        return Ok(key);
    }
    Err(format!(
        "its id has {} bytes; {KEY_BYTES} are the most",
        key.len()
    ))
}

/// A unit with its own identity within a source: a document, a conversation, a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Unique within the source.
    pub key: String,
    pub at: SourceLocation,
    /// In reading order; the first one represents the record. Never empty.
    pub chunks: Vec<Chunk>,
    pub links: Vec<RecordLink>,
    /// Several lines may yield it; the first one counts.
    pub is_shared: bool,
}

impl Record {
    /// Learns the people in its text, and its speakers.
    pub(super) fn learn(&self, anonymiser: &mut Anonymiser) {
        for chunk in &self.chunks {
            for said in chunk.text.split("\n\n") {
                if let Some((speaker, _)) = said.split_once(": ")
                    && let Some(name) = name_of(speaker)
                {
                    anonymiser.learn_person(name);
                }
                anonymiser.learn(said);
            }
            for text in chunk.properties.values().filter_map(Value::as_str) {
                anonymiser.learn(text);
            }
        }
    }

    /// Anonymises it with what was learnt. Its key and its link stay.
    pub(super) fn anonymised_by(mut self, anonymiser: &Anonymiser) -> Self {
        for chunk in &mut self.chunks {
            chunk.text = anonymiser.replace_learnt(&chunk.text);
            chunk.embedded = anonymiser.replace_learnt(&chunk.embedded);
            for (name, value) in &mut chunk.properties {
                if let Value::String(text) = value
                    && name != "link"
                {
                    *text = anonymiser.replace_learnt(text);
                }
            }
        }
        self
    }
}

/// Returns the name of a speaker who is given by name, not by role: a few capitalised words, which no
/// role is, with small words between them such as those in "Maria de la Cruz".
fn name_of(speaker: &str) -> Option<&str> {
    const MOST_WORDS: usize = 6;
    /// Roles that also stand before names.
    const TITLES: [&str; 3] = ["Coach", "Doctor", "Nurse"];
    const SMALL: [&str; 24] = [
        "af", "al", "bin", "da", "das", "de", "del", "della", "den", "der", "di", "do", "dos",
        "du", "el", "ibn", "la", "las", "le", "los", "ten", "van", "von", "y",
    ];
    const ROLES: [&str; 24] = [
        "Agent",
        "Answer",
        "Caller",
        "Client",
        "Coach",
        "Counsellor",
        "Counselor",
        "Customer",
        "Doctor",
        "Guest",
        "Host",
        "Interviewee",
        "Interviewer",
        "Moderator",
        "Nurse",
        "Operator",
        "Participant",
        "Patient",
        "Question",
        "Speaker",
        "Student",
        "Teacher",
        "Therapist",
        "User",
    ];
    let is_capitalised = |word: &str| word.chars().next().is_some_and(char::is_uppercase);
    let speaker = speaker.trim();
    let (first, rest) = speaker.split_once(' ').unwrap_or((speaker, ""));
    let name = if TITLES.contains(&first) {
        rest.trim()
    } else {
        speaker
    };
    let words: Vec<&str> = name.split_whitespace().collect();
    let (first, last) = (words.first()?, words.last()?);
    let is_name = words.len() <= MOST_WORDS
        && !ROLES.contains(first)
        && is_capitalised(last)
        && words
            .iter()
            .all(|word| is_capitalised(word) || SMALL.contains(word));
    is_name.then_some(name)
}

/// A piece of text that is embedded and found as a unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Chunk {
    /// Its label: `Document`, `Section`, `Passage`, a record type…
    pub label: String,
    pub text: String,
    /// The text that is embedded: its headings, then its own text.
    pub embedded: String,
    pub properties: Map<String, Value>,
}

/// A relationship of a record.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RecordLink {
    pub kind: String,
    pub from: LinkEndpoint,
    pub to: LinkEndpoint,
}

/// An end of a link.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LinkEndpoint {
    /// A chunk of the record itself.
    Own(usize),
    /// The first of these records that exists in the source.
    Record(Vec<String>),
}

/// Where something was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLocation {
    pub file: PathBuf,
    /// Counted from 1; `None` for the whole file.
    pub line: Option<u64>,
}

/// A refused line or file, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    pub at: SourceLocation,
    pub reason: String,
    pub lasts: RejectionLasts,
}

/// How long a refusal holds, and so what becomes of an earlier version of the same document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RejectionLasts {
    /// As long as the file stays as it is: an earlier version is not served any more.
    #[default]
    UntilItChanges,
    /// It took too long. An earlier version is still served, but the file is not read again for
    /// that: each time it would leave a busy thread behind.
    UntilReadAgain,
    /// It could not be read just now. An earlier version is still served, and the file is read
    /// again soon.
    ForNow,
}

impl SourceLocation {
    pub fn file(file: &Path) -> Self {
        Self {
            file: file.to_owned(),
            line: None,
        }
    }

    pub fn line(file: &Path, line: u64) -> Self {
        Self {
            file: file.to_owned(),
            line: Some(line),
        }
    }

    pub fn refuse(self, reason: impl Into<String>) -> Rejection {
        Rejection {
            at: self,
            reason: reason.into(),
            lasts: RejectionLasts::default(),
        }
    }
}

/// Bytes of a hash: enough to make collisions impossible in practice.
const HASH: usize = 16;

/// The hash for detecting changes. It does not cover where a record was read: otherwise a new first
/// line would change every record after it.
pub(super) type Hash = [u8; HASH];

/// Part of every hash: chunks made by other rules have other hashes.
const RULES: &str = "muninn knowledge 1";

/// Properties with the place where a record was read.
pub(super) const PLACE_PROPERTIES: [&str; 2] = ["file_name", "line_num"];

impl Record {
    pub(super) fn hash(&self) -> Hash {
        let mut hasher = blake3::Hasher::new();
        let mut part = |text: &str| {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        };
        part(RULES);
        for chunk in &self.chunks {
            part(&chunk.label);
            part(&chunk.text);
            part(&chunk.embedded);
            for (name, value) in &chunk.properties {
                if !PLACE_PROPERTIES.contains(&name.as_str()) {
                    part(name);
                    part(&value.to_string());
                }
            }
        }
        for link in &self.links {
            part(&link.kind);
            for end in [&link.from, &link.to] {
                match end {
                    LinkEndpoint::Own(at) => part(&at.to_string()),
                    LinkEndpoint::Record(keys) => keys.iter().for_each(|key| part(key)),
                }
            }
        }
        short(&hasher.finalize())
    }
}

fn short(hash: &blake3::Hash) -> Hash {
    let mut short = [0; HASH];
    short.copy_from_slice(&hash.as_bytes()[..HASH]);
    short
}

/// Returns the hash of a key, which is shorter than the key.
pub(super) fn key_hash(key: &str) -> Hash {
    short(&blake3::hash(key.as_bytes()))
}

/// Returns the hash as stored in the graph.
pub(super) fn hash_text(hash: &Hash) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn record(text: &str, line: u64) -> Record {
        let properties = json!({"title": "T", "line_num": line});
        Record {
            key: "k".to_owned(),
            at: SourceLocation::line(Path::new("f"), line),
            chunks: vec![Chunk {
                label: "Row".to_owned(),
                text: text.to_owned(),
                embedded: text.to_owned(),
                properties: properties.as_object().unwrap().clone(),
            }],
            is_shared: false,
            links: Vec::new(),
        }
    }

    #[test]
    fn speakers_are_names_or_roles() {
        for (speaker, expected) in [
            ("Maria de la Cruz", Some("Maria de la Cruz")),
            ("Anna van Dyke", Some("Anna van Dyke")),
            (
                "Ana Lucia Souza dos Santos",
                Some("Ana Lucia Souza dos Santos"),
            ),
            ("van Dyke", Some("van Dyke")),
            ("Doctor Rose", Some("Rose")),
            ("Doctor", None),
            ("Customer Service", None),
            ("Therapist", None),
            ("the caller", None),
            ("Note", Some("Note")),
            ("One two", None),
            ("The Answer Is That It All Works", None),
        ] {
            assert_eq!(name_of(speaker), expected, "{speaker}");
        }
    }

    #[test]
    fn content_makes_the_hash_and_not_the_place() {
        assert_eq!(record("a", 1).hash(), record("a", 2).hash());
        assert_ne!(record("a", 1).hash(), record("b", 1).hash());
        let mut linked = record("a", 1);
        linked.links.push(RecordLink {
            kind: "Includes".to_owned(),
            from: LinkEndpoint::Record(vec!["p".to_owned()]),
            to: LinkEndpoint::Own(0),
        });
        assert_ne!(linked.hash(), record("a", 1).hash());
        assert_eq!(hash_text(&key_hash("k")).len(), 32);
    }
}
