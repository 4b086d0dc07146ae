//! Mappings: a TOML file that describes how each type of record becomes nodes.
//!
//! The whole file is checked before anything is written: names, pointers, and whether the records
//! have the fields it names. `docs/knowledge.md` shows an example.

mod apply;
pub mod columns;
mod latin;
mod pointer;
mod property;
#[cfg(test)]
mod tests;
mod values;

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::Value;

pub use self::apply::Presence;
pub(crate) use self::pointer::Pointer;
use self::pointer::Template;
use crate::graph::ingest::{CHUNK, INCLUDES, NEXT, PropertyOrder};
use crate::graph::{MEMORY_LABELS, MEMORY_RELATIONSHIPS};
use property::{As, Property};

/// The US National Archives catalog.
const ARCHIVES: &str = include_str!("../../mappings/archives.toml");
/// A table whose rows name several entities each.
const CONTRACTS: &str = include_str!("../../mappings/contracts.toml");
/// Policies: what to keep in mind when certain words are said.
const POLICIES: &str = include_str!("../../mappings/policies.toml");

/// Names of mappings that are part of the program.
pub const BUILT_IN: &[&str] = &["archives", "contracts", "policies"];

/// Property names that are reserved for the chunk.
const RESERVED: &[&str] = &[
    "chunkId",
    "chunkSeqId",
    "contentHash",
    "embedder",
    "embedding",
    "file_name",
    "id",
    "kind",
    "line_num",
    "link",
    "recordKey",
    "source",
    "sourceVersion",
    "stagedAs",
    "text",
    "type",
];

/// A mapping that was checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Mapping {
    pub name: String,
    /// The path of the record within a line; `None`: the line itself.
    root: Option<Pointer>,
    /// Fields that no record has are no error.
    optional: bool,
    /// Records are identified by line number, in a field of its own.
    is_numbered: bool,
    types: Vec<RecordType>,
}

#[derive(Clone, Debug, PartialEq)]
struct RecordType {
    label: String,
    when: Vec<(Pointer, Value)>,
    id: Pointer,
    id_prefix: String,
    title: Vec<Pointer>,
    text: Vec<Pointer>,
    /// Short texts are written with the names of their fields.
    names_texts: bool,
    link: Option<Template>,
    properties: Vec<Property>,
    above: Option<Ancestors>,
    relations: Vec<Relation>,
    /// Keep file and line of each record.
    place: bool,
    /// It is made in addition to the first matching type, and several lines may name the same one.
    is_shared: bool,
}

/// The ancestors of a record.
#[derive(Clone, Debug, PartialEq)]
struct Ancestors {
    ids: Pointer,
    /// The distance of each, in the same order; without it the last one is the nearest.
    distances: Option<Pointer>,
    id_prefix: String,
}

#[derive(Clone, Debug, PartialEq)]
struct Relation {
    kind: String,
    ids: Pointer,
    id_prefix: String,
    direction: Direction,
}

/// The direction of a relationship.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Direction {
    /// From the record to what it names.
    #[default]
    Out,
    /// From what it names to the record.
    In,
}

/// Why a mapping is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MappingError {
    #[error("the mapping {name} is no TOML of a mapping: {problem}")]
    Unreadable { name: String, problem: String },
    #[error("the mapping {name} cannot be used: {}", problems.join("; "))]
    Wrong { name: String, problems: Vec<String> },
    /// Found by checking the records.
    #[error(
        "the mapping {name} names what no record has: {}; correct it, or say `optional = true`",
        missing.join("; ")
    )]
    Missing { name: String, missing: Vec<String> },
}

/// The file as written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MappingFile {
    root: Option<String>,
    #[serde(default)]
    optional: bool,
    #[serde(default)]
    record: Vec<RecordEntry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordEntry {
    label: String,
    #[serde(default)]
    when: BTreeMap<String, toml::Value>,
    id: String,
    #[serde(default)]
    id_prefix: String,
    title: Option<OneOrMore>,
    #[serde(default)]
    text: Vec<String>,
    link: Option<String>,
    #[serde(default)]
    place: bool,
    #[serde(default)]
    shared: bool,
    #[serde(default)]
    properties: IndexMap<String, PropertyEntry>,
    above: Option<AboveEntry>,
    #[serde(default)]
    relation: Vec<RelationEntry>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum PropertyEntry {
    Pointer(String),
    Full(PropertyTable),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PropertyTable {
    at: String,
    #[serde(default, rename = "as")]
    kind: As,
    split: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AboveEntry {
    ids: String,
    distances: Option<String>,
    #[serde(default)]
    id_prefix: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RelationEntry {
    #[serde(rename = "type")]
    kind: String,
    ids: String,
    #[serde(default)]
    id_prefix: String,
    #[serde(default)]
    direction: Direction,
}

impl Mapping {
    /// Returns a built-in mapping.
    ///
    /// # Errors
    /// Fails with a [`MappingError`] only if the program was built from an invalid file.
    pub fn built_in(name: &str) -> Option<Result<Self, MappingError>> {
        let texts = BUILT_IN.iter().zip([ARCHIVES, CONTRACTS, POLICIES]);
        let text = texts.into_iter().find(|(built_in, _)| **built_in == name);
        text.map(|(_, text)| Self::parse(name, text))
    }

    /// Parses a mapping; `name` is its name in messages and in the catalog.
    ///
    /// # Errors
    /// Fails with a list of all problems.
    pub fn parse(name: &str, text: &str) -> Result<Self, MappingError> {
        let file: MappingFile = toml::from_str(text).map_err(|error| MappingError::Unreadable {
            name: name.to_owned(),
            problem: error.to_string().trim().replace('\n', " "),
        })?;
        let mut problems = Vec::new();
        if file.record.is_empty() {
            problems.push("it has no [[record]]".to_owned());
        }
        let root = file
            .root
            .and_then(|root| pointer(&root, "root", &mut problems));
        let types = file.record.into_iter();
        let types: Vec<RecordType> = types
            .filter_map(|entry| record_type(entry, &mut problems))
            .collect();
        if !problems.is_empty() {
            return Err(MappingError::Wrong {
                name: name.to_owned(),
                problems,
            });
        }
        Ok(Self {
            name: name.to_owned(),
            root,
            optional: file.optional,
            is_numbered: false,
            types,
        })
    }

    /// Returns the properties of each label, in the order of the file.
    pub fn property_order(&self) -> PropertyOrder {
        let mut order = PropertyOrder::new();
        for record in &self.types {
            let names = order.entry(record.label.clone()).or_default();
            for property in &record.properties {
                if !names.contains(&property.name) {
                    names.push(property.name.clone());
                }
            }
        }
        order
    }
}

/// Parses a pointer, or adds a problem.
fn pointer(text: &str, what: &str, problems: &mut Vec<String>) -> Option<Pointer> {
    match Pointer::parse(text) {
        Ok(pointer) => Some(pointer),
        Err(problem) => {
            problems.push(format!("{what} {text:?} {problem}"));
            None
        }
    }
}

/// Checks one type of record, and adds its problems.
fn record_type(entry: RecordEntry, problems: &mut Vec<String>) -> Option<RecordType> {
    let label = entry.label;
    let name = |what: &str| format!("{label}: {what}");
    check_name(&label, &[MEMORY_LABELS, &[CHUNK]], &name("label"), problems);
    let mut read = |text: &str, what: &str| pointer(text, &name(what), problems);
    let id = read(&entry.id, "id");
    let when = entry.when.iter().filter_map(|(at, value)| {
        let value = serde_json::to_value(value).ok()?;
        Some((read(at, "when")?, value))
    });
    let when = when.collect();
    let title = match entry.title {
        None => Vec::new(),
        Some(OneOrMore::One(one)) => vec![one],
        Some(OneOrMore::More(more)) => more,
    };
    let title = title.iter().filter_map(|at| read(at, "title")).collect();
    let text = entry
        .text
        .iter()
        .filter_map(|at| read(at, "text"))
        .collect();
    let above = entry.above.and_then(|above| {
        let distances = above.distances.map(|at| read(&at, "above.distances"));
        Some(Ancestors {
            ids: read(&above.ids, "above.ids")?,
            distances: distances.flatten(),
            id_prefix: above.id_prefix,
        })
    });
    let link = entry.link.and_then(|link| match Template::parse(&link) {
        Ok(template) => Some(template),
        Err(problem) => {
            problems.push(format!("{label}: link {link:?} {problem}"));
            None
        }
    });
    if entry.shared && (above.is_some() || !entry.relation.is_empty()) {
        problems.push(format!(
            "{label}: it is shared by several lines, so it has no relation and nothing above; say those of the type whose \
             line it is"
        ));
    }
    let relations = relations(&label, entry.relation, problems);
    let properties = properties(&label, entry.properties, problems);
    Some(RecordType {
        when,
        id: id?,
        id_prefix: entry.id_prefix,
        title,
        text,
        names_texts: false,
        link,
        properties,
        above,
        relations,
        place: entry.place,
        is_shared: entry.shared,
        label,
    })
}

fn properties(
    label: &str,
    entries: IndexMap<String, PropertyEntry>,
    problems: &mut Vec<String>,
) -> Vec<Property> {
    let mut read = Vec::new();
    for (name, entry) in entries {
        let what = format!("{label}: property {name}");
        check_name(&name, &[RESERVED], &what, problems);
        let (at, kind, split) = match entry {
            PropertyEntry::Pointer(at) => (at, As::default(), None),
            PropertyEntry::Full(PropertyTable { at, kind, split }) => (at, kind, split),
        };
        if split.as_deref() == Some("") {
            problems.push(format!("{what}: split is empty"));
        }
        read.extend(pointer(&at, &what, problems).map(|at| Property {
            name,
            at,
            kind,
            split,
        }));
    }
    read
}

fn relations(
    label: &str,
    entries: Vec<RelationEntry>,
    problems: &mut Vec<String>,
) -> Vec<Relation> {
    let mut read = Vec::new();
    let mut kinds = BTreeSet::new();
    for entry in entries {
        let what = format!("{label}: relation {}", entry.kind);
        let taken: &[&[&str]] = &[MEMORY_RELATIONSHIPS, &[INCLUDES, NEXT]];
        check_name(&entry.kind, taken, &what, problems);
        if !kinds.insert(entry.kind.clone()) {
            problems.push(format!("{what} is there twice"));
        }
        read.extend(pointer(&entry.ids, &what, problems).map(|ids| Relation {
            kind: entry.kind,
            ids,
            id_prefix: entry.id_prefix,
            direction: entry.direction,
        }));
    }
    read
}

/// Checks that a name is valid in Cypher and not taken.
fn check_name(name: &str, taken: &[&[&str]], what: &str, problems: &mut Vec<String>) {
    let is_word = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !is_word {
        problems.push(format!(
            "{what}: {name:?} is no name; letters, digits and _ are"
        ));
    }
    if taken.iter().any(|names| names.contains(&name)) {
        problems.push(format!(
            "{what}: the name {name} is taken; choose another one"
        ));
    }
}
