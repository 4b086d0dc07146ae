//! Applies a mapping to records.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Map, Value, json};

use super::columns::ROW;
use super::pointer::{Pointer, word};
use super::{Direction, Mapping, MappingError, RecordType, values};
use crate::graph::ingest::INCLUDES;
use crate::knowledge::chunking::{MarkupKind, pieces};
use crate::knowledge::documents::{PASSAGE, in_order};
use crate::knowledge::record::{
    Chunk, LinkEndpoint, Record, RecordLink, Rejection, SourceLocation, short_title, usable_key,
    usable_link,
};

/// Which fields of a mapping were found in records.
#[derive(Debug, Default)]
pub struct Presence {
    /// The number of records that had each field, by type and field.
    found: BTreeMap<(String, String), u64>,
    records: BTreeMap<String, u64>,
}

impl Mapping {
    /// Makes the records of a line: its own, and those shared with other lines.
    ///
    /// # Errors
    /// Fails with the reason why the whole line is refused.
    pub fn apply(&self, line: &Value, file: &Path, number: u64) -> Result<Vec<Record>, Rejection> {
        let place = SourceLocation::line(file, number);
        let numbered = self.is_numbered.then(|| numbered(line, number));
        let value = numbered.as_ref().unwrap_or_else(|| self.rooted(line));
        let kinds: Vec<&RecordType> = self.types_of(value).collect();
        let made = match kinds.as_slice() {
            [] => Err("no record type of the mapping fits it".to_owned()),
            [..] => {
                let records = kinds.iter().map(|kind| kind.record(value, place.clone()));
                records.collect()
            }
        };
        made.map_err(|reason| place.refuse(reason))
    }

    fn rooted<'a>(&self, line: &'a Value) -> &'a Value {
        let root = self.root.as_ref().and_then(|root| root.first(line));
        root.unwrap_or(line)
    }

    /// Returns the first matching type, and all shared types that match and that the line names.
    fn types_of<'a>(&'a self, record: &'a Value) -> impl Iterator<Item = &'a RecordType> {
        let fitting = |is_shared: bool| {
            let kinds = self.types.iter();
            kinds.filter(move |kind| kind.is_shared == is_shared && kind.fits(record))
        };
        let shared = fitting(true).filter(|kind| kind.id.first(record).and_then(word).is_some());
        fitting(false).take(1).chain(shared)
    }

    /// Records which of the named fields a line has.
    pub fn look(&self, line: &Value, presence: &mut Presence) {
        let record = self.rooted(line);
        for kind in self.types_of(record) {
            *presence.records.entry(kind.label.clone()).or_default() += 1;
            for (what, pointer) in kind.fields() {
                if !pointer.all(record).is_empty() {
                    *presence
                        .found
                        .entry((kind.label.clone(), what))
                        .or_default() += 1;
                }
            }
        }
    }

    /// Checks that every field is in some record of its type. A type without records passes, but if
    /// no type has any, the mapping does not fit these records.
    ///
    /// # Errors
    /// Fails with all fields that were not found.
    pub fn check(&self, presence: &Presence) -> Result<(), MappingError> {
        let mut missing = Vec::new();
        for kind in &self.types {
            let Some(records) = presence.records.get(&kind.label) else {
                continue;
            };
            for (what, pointer) in kind.fields() {
                let is_needed = !self.optional || what == ID;
                let key = (kind.label.clone(), what.clone());
                if is_needed && !presence.found.contains_key(&key) {
                    missing.push(format!(
                        "{}: {what} {} is in none of {records} records",
                        kind.label,
                        pointer.as_str()
                    ));
                }
            }
        }
        if presence.records.is_empty() {
            let labels: Vec<&str> = self.types.iter().map(|kind| kind.label.as_str()).collect();
            missing.push(format!("a record that is one of {}", labels.join(", ")));
        }
        if missing.is_empty() {
            return Ok(());
        }
        Err(MappingError::Missing {
            name: self.name.clone(),
            missing,
        })
    }
}

const ID: &str = "id";

/// Adds the line number to a record, so that it can serve as its id.
fn numbered(line: &Value, number: u64) -> Value {
    let mut value = line.clone();
    if let Some(fields) = value.as_object_mut() {
        fields.insert(ROW.to_owned(), json!(number));
    }
    value
}

impl RecordType {
    fn fits(&self, record: &Value) -> bool {
        self.when
            .iter()
            .all(|(at, value)| at.all(record).contains(&value))
    }

    /// Returns every field that it names, with its purpose.
    fn fields(&self) -> Vec<(String, &Pointer)> {
        let mut fields = vec![(ID.to_owned(), &self.id)];
        fields.extend(self.text.iter().map(|at| ("text".to_owned(), at)));
        if let [title] = self.title.as_slice() {
            fields.push(("title".to_owned(), title));
        }
        let links = self.link.iter().flat_map(|link| link.pointers());
        fields.extend(links.map(|at| ("link".to_owned(), at)));
        for property in &self.properties {
            fields.push((format!("property {}", property.name), &property.at));
        }
        if let Some(above) = &self.above {
            fields.push(("above.ids".to_owned(), &above.ids));
            let distances = above.distances.iter();
            fields.extend(distances.map(|at| ("above.distances".to_owned(), at)));
        }
        for relation in &self.relations {
            fields.push((format!("relation {}", relation.kind), &relation.ids));
        }
        fields
    }

    fn record(&self, value: &Value, place: SourceLocation) -> Result<Record, String> {
        let id = self.id.first(value).and_then(word);
        let id = id.ok_or_else(|| format!("it has no id at {}", self.id.as_str()))?;
        let key = usable_key(format!("{}{id}", self.id_prefix))?;
        let title = self.title.iter().find_map(|at| word(at.first(value)?));
        let whole = title.unwrap_or_else(|| key.clone());
        let title = short_title(&whole);
        let mut common = Map::new();
        common.insert("title".to_owned(), json!(title));
        let link = self.link.as_ref().and_then(|link| link.fill(value));
        if let Some(link) = link.and_then(usable_link) {
            common.insert("link".to_owned(), json!(link));
        }
        let mut own = common.clone();
        for property in &self.properties {
            if let Some(value) = values::of(property, value)? {
                own.insert(property.name.clone(), value);
            }
        }
        if self.place {
            own.insert("file_name".to_owned(), json!(place.file.to_string_lossy()));
            own.insert("line_num".to_owned(), json!(place.line));
        }
        // The words of a title that is shortened are found in the text.
        let lead = (title != whole).then_some(whole);
        let chunks = self.chunks(value, lead, &common, own);
        let mut links: Vec<RecordLink> = in_order(chunks.len()).collect();
        links.extend((1..chunks.len()).map(|at| RecordLink {
            kind: INCLUDES.to_owned(),
            from: LinkEndpoint::Own(0),
            to: LinkEndpoint::Own(at),
        }));
        links.extend(self.place_in_hierarchy(value));
        links.extend(self.related(value, &key));
        Ok(Record {
            key,
            at: place,
            chunks,
            links,
            is_shared: self.is_shared,
        })
    }

    fn chunks(
        &self,
        value: &Value,
        lead: Option<String>,
        common: &Map<String, Value>,
        own: Map<String, Value>,
    ) -> Vec<Chunk> {
        let title = common.get("title").and_then(Value::as_str);
        let title = title.unwrap_or_default();
        let mut texts = pieces(&self.said(value, lead), MarkupKind::Plain);
        if texts.is_empty() {
            texts.push(title.to_owned());
        }
        let mut own = Some(own);
        let chunk = |text: String| {
            let own = own.take();
            let label = if own.is_some() { &self.label } else { PASSAGE };
            Chunk {
                label: label.to_owned(),
                embedded: embedded(title, &text),
                text,
                properties: own.unwrap_or_else(|| common.clone()),
            }
        };
        texts.into_iter().map(chunk).collect()
    }

    /// Returns all texts of a record. What has a name stands in one line below the title: a row of a table says little
    /// without the names of its columns.
    fn said(&self, value: &Value, lead: Option<String>) -> String {
        let mut said: Vec<String> = lead.into_iter().collect();
        let mut named: Vec<String> = Vec::new();
        for at in &self.text {
            let is_named = self.names_texts && !self.title.contains(at);
            let name = at.name().filter(|_| is_named);
            let name = name.filter(|it| !PLAIN_TEXT.contains(&it.to_lowercase().as_str()));
            for text in at.all(value).into_iter().flat_map(texts) {
                match name {
                    Some(name) if is_short(&text) => named.push(format!("{name}: {text}")),
                    _ if said.contains(&text) => {}
                    _ => said.push(text),
                }
            }
        }
        if !named.is_empty() {
            let after_title = said.len().min(1);
            said.insert(after_title, named.join("; "));
        }
        said.join("\n\n")
    }

    fn place_in_hierarchy(&self, value: &Value) -> Option<RecordLink> {
        let above = self.above.as_ref()?;
        let ids: Vec<String> = ids(&above.ids, value).collect();
        let distances: Vec<f64> = match &above.distances {
            Some(at) => at
                .all(value)
                .into_iter()
                .filter_map(Value::as_f64)
                .collect(),
            None => Vec::new(),
        };
        let mut nearest: Vec<(f64, String)> = ids
            .into_iter()
            .enumerate()
            // Without distances the last one is the nearest.
            .map(|(at, id)| (distances.get(at).copied().unwrap_or(-(at as f64)), id))
            .collect();
        nearest.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let keys = nearest.into_iter();
        let keys: Vec<String> = keys
            .map(|(_, id)| format!("{}{id}", above.id_prefix))
            .collect();
        (!keys.is_empty()).then(|| RecordLink {
            kind: INCLUDES.to_owned(),
            from: LinkEndpoint::Record(keys),
            to: LinkEndpoint::Own(0),
        })
    }

    fn related(&self, value: &Value, key: &str) -> Vec<RecordLink> {
        let mut links = Vec::new();
        for relation in &self.relations {
            let ids = ids(&relation.ids, value);
            // A relationship named twice is made once.
            let ids: BTreeSet<String> = ids
                .map(|id| format!("{}{id}", relation.id_prefix))
                .collect();
            for other in ids.into_iter().filter(|other| other != key) {
                let (own, other) = (LinkEndpoint::Own(0), LinkEndpoint::Record(vec![other]));
                let (from, to) = match relation.direction {
                    Direction::Out => (own, other),
                    Direction::In => (other, own),
                };
                links.push(RecordLink {
                    kind: relation.kind.clone(),
                    from,
                    to,
                });
            }
        }
        links
    }
}

/// Returns the ids at a pointer, a single one or a list.
fn ids<'a>(at: &Pointer, record: &'a Value) -> impl Iterator<Item = String> + use<'a> {
    let flat = |value: &'a Value| match value {
        Value::Array(items) => items.iter().collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            vec![value]
        }
    };
    at.all(record).into_iter().flat_map(flat).filter_map(word)
}

/// Fields whose names say nothing of what is in them.
const PLAIN_TEXT: &[&str] = &["body", "content", "description", "text"];

/// Maximum characters of a text that stands in one line with others.
const SHORT: usize = 100;

fn is_short(text: &str) -> bool {
    text.chars().count() <= SHORT && !text.contains('\n')
}

/// Prepends the title, unless the text begins with it.
fn embedded(title: &str, text: &str) -> String {
    if text.starts_with(title) {
        text.to_owned()
    } else {
        format!("{title}\n{text}")
    }
}

/// Returns the texts in a field of any structure.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => vec![text.trim().to_owned()],
        Value::Number(number) => vec![number.to_string()],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(object) => object.values().flat_map(texts).collect(),
        Value::Null | Value::Bool(_) | Value::String(_) => Vec::new(),
    }
}
