//! The served chunks, laid out for searching: vectors, words, names, and what is near what.
//!
//! Holds one version of each source, never two. Knows nothing of scores.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use chrono::NaiveDate;
use half::f16;
use muninn_platform::AudienceId;

use super::names::Names;
use super::nodes::NODES;
use super::policy::{POLICY, Policy};
use crate::graph::ingest::searching::{ServedLink, SourceVersion};
use crate::graph::ingest::{PropertyOrder, ServedChunk};
use crate::llm::tokens::estimate;
use crate::retrieval::postings::Postings;
use crate::retrieval::vectors::{Quantised, Vectors};

/// Bytes of texts that are kept, so that there is something to quote while the graph is away; of
/// chunks beyond that only the beginning is.
const TEXT_BYTES: usize = 256 << 20;
/// Characters of such a beginning.
const BEGINNING: usize = 160;

/// A chunk, as it is searched.
#[derive(Debug)]
pub struct Entry {
    pub chunk: Box<str>,
    pub record: Box<str>,
    pub sequence: i64,
    pub label: Arc<str>,
    pub title: Option<Arc<str>>,
    pub heading: Option<Arc<str>>,
    pub link: Option<Arc<str>>,
    pub tags: Vec<String>,
    pub date: Option<NaiveDate>,
    pub text: Box<str>,
    pub tokens: u32,
    /// The one above it.
    pub parent: Option<usize>,
}

/// A relationship, seen from one of its ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    pub kind: Arc<str>,
    pub other: usize,
}

/// Everything that is served.
#[derive(Debug)]
pub struct KnowledgeIndex {
    entries: Vec<Entry>,
    /// The number of each entry's source, apart from the entries: every search looks at all of them,
    /// and they lie close together here.
    source_numbers: Vec<u32>,
    sources: Vec<SourceVersion>,
    /// The words of each source's name.
    source_words: Vec<BTreeSet<String>>,
    /// By record: its chunks in their order.
    records: HashMap<Box<str>, Vec<u32>>,
    /// By identifier: a chunk of each record that has it.
    identifiers: HashMap<Box<str>, Vec<u32>>,
    children: Vec<Vec<u32>>,
    edges: Vec<Vec<Edge>>,
    vectors: Vectors,
    postings: Postings,
    names: Names,
    policies: Vec<Policy>,
    embedder: Option<String>,
}

/// The chunks do not belong to the versions that are served: something was exchanged meanwhile.
#[derive(Debug, PartialEq, Eq)]
pub struct Moved;

/// An index that is being made.
#[derive(Debug)]
pub struct Builder {
    index: KnowledgeIndex,
    by_chunk: HashMap<Box<str>, u32>,
    by_source: HashMap<String, usize>,
    /// Names of the chunks above, until all are there.
    above: Vec<Option<String>>,
    texts: usize,
    shared: HashSet<Arc<str>>,
    has_moved: bool,
}

impl Builder {
    /// For the chunks of these versions; `embedder` is whose vectors are compared, and how long
    /// they are.
    pub fn new(sources: Vec<SourceVersion>, embedder: Option<(&str, usize)>) -> Self {
        let numbered = sources.iter().enumerate();
        let names = Names::default();
        let named = sources.iter();
        Self {
            by_source: numbered.map(|(at, it)| (it.name.clone(), at)).collect(),
            index: KnowledgeIndex {
                source_words: named.map(|it| names.of_source(&it.name)).collect(),
                entries: Vec::new(),
                source_numbers: Vec::new(),
                sources,
                records: HashMap::new(),
                identifiers: HashMap::new(),
                children: Vec::new(),
                edges: Vec::new(),
                vectors: Vectors::new(embedder.map_or(0, |(_, dimension)| dimension)),
                postings: Postings::default(),
                names,
                policies: Vec::new(),
                embedder: embedder.map(|(name, _)| name.to_owned()),
            },
            by_chunk: HashMap::new(),
            above: Vec::new(),
            texts: 0,
            shared: HashSet::new(),
            has_moved: false,
        }
    }

    fn share(&mut self, text: &str) -> Arc<str> {
        if let Some(shared) = self.shared.get(text) {
            return Arc::clone(shared);
        }
        let shared: Arc<str> = text.into();
        self.shared.insert(Arc::clone(&shared));
        shared
    }

    /// Takes in a chunk. One of a version that is not served shows that something has moved.
    pub fn push(&mut self, chunk: ServedChunk) {
        let Some(&source) = self.by_source.get(&chunk.source) else {
            self.has_moved = true;
            return;
        };
        self.has_moved |= chunk.version > self.index.sources[source].version;
        let number = self.index.entries.len() as u32;
        let name = match (&chunk.heading, chunk.sequence) {
            (Some(heading), _) => Some(heading.as_str()),
            (None, 0) => chunk.title.as_deref(),
            (None, _) => None,
        };
        self.index
            .names
            .push(name, &self.index.source_words[source]);
        let vector = chunk.embedding.as_ref().filter(|embedding| {
            Some(&embedding.embedder) == self.index.embedder.as_ref()
                && embedding.vector.len() == self.index.vectors.dimension()
        });
        let vector = vector.and_then(|embedding| Quantised::new(&halved(&embedding.vector)));
        self.index.vectors.push(vector.as_ref());
        let heads = [&chunk.title, &chunk.heading];
        let heads = heads.into_iter().flatten().map(String::as_str);
        let tags = chunk.tags.iter().map(String::as_str);
        self.index
            .postings
            .push([&chunk.text, ""], heads.chain(tags));
        self.by_chunk.insert(chunk.chunk.as_str().into(), number);
        let record = self.index.records.entry(chunk.record.as_str().into());
        let chunks = record.or_default();
        if chunks.is_empty() {
            let tags = chunk.tags.iter().map(|tag| tag.to_lowercase());
            let tags = tags.filter(|tag| has_digit(tag) && !tag.contains(char::is_whitespace));
            for identifier in identifiers(&chunk.record).into_iter().chain(tags) {
                let known = self.index.identifiers.entry(identifier.into());
                known.or_default().push(number);
            }
        }
        chunks.push(number);
        self.above.push(chunk.parent);
        let tokens = estimate(&chunk.text);
        let text = self.kept(&chunk.text);
        let entry = Entry {
            record: chunk.record.into(),
            sequence: chunk.sequence,
            label: self.share(&chunk.label),
            title: chunk.title.map(|title| self.share(&title)),
            heading: chunk.heading.map(|heading| self.share(&heading)),
            link: chunk.link.map(|link| self.share(&link)),
            tags: chunk.tags,
            date: chunk.date.as_deref().and_then(day),
            text,
            tokens,
            parent: None,
            chunk: chunk.chunk.into(),
        };
        self.index.entries.push(entry);
        self.index.source_numbers.push(source as u32);
    }

    fn kept(&mut self, text: &str) -> Box<str> {
        self.texts += text.len();
        if self.texts <= TEXT_BYTES {
            return text.into();
        }
        let beginning: String = text.chars().take(BEGINNING).collect();
        format!("{beginning}…").into()
    }

    /// Takes in a relationship between chunks that are there already.
    pub fn link(&mut self, link: &ServedLink) {
        let edges = &mut self.index.edges;
        edges.resize_with(self.index.entries.len(), Vec::new);
        let number = |chunk: &str| self.by_chunk.get(chunk).map(|&number| number as usize);
        let (Some(from), Some(to)) = (number(&link.from), number(&link.to)) else {
            return;
        };
        let kind = self.share(&link.kind);
        for (end, other) in [(from, to), (to, from)] {
            let kind = Arc::clone(&kind);
            self.index.edges[end].push(Edge { kind, other });
        }
    }

    /// Names of the chunks that are policies.
    pub fn policies(&self) -> Vec<(usize, String, bool)> {
        let index = &self.index;
        let entries = index.entries.iter().enumerate();
        entries
            .filter(|(_, entry)| &*entry.label == POLICY)
            .map(|(at, entry)| (at, entry.chunk.to_string(), index.is_private(at)))
            .collect()
    }

    /// The index, unless what was pushed is of several versions.
    ///
    /// # Errors
    /// [`Moved`]: read again.
    pub fn finish(mut self, policies: Vec<Policy>) -> Result<KnowledgeIndex, Moved> {
        if self.has_moved {
            return Err(Moved);
        }
        let count = self.index.entries.len();
        self.index.edges.resize_with(count, Vec::new);
        self.index.children.resize_with(count, Vec::new);
        for (number, above) in self.above.iter().enumerate() {
            let parent = above.as_deref().and_then(|above| self.by_chunk.get(above));
            if let Some(&parent) = parent.filter(|&&parent| parent as usize != number) {
                self.index.entries[number].parent = Some(parent as usize);
                self.index.children[parent as usize].push(number as u32);
            }
        }
        let entries = &self.index.entries;
        for chunks in self.index.records.values_mut() {
            chunks.sort_by_key(|&number| entries[number as usize].sequence);
        }
        // Stores give chunks and relationships in any order.
        for children in &mut self.index.children {
            children.sort_by(|&a, &b| {
                let chunk = |number: u32| &entries[number as usize].chunk;
                chunk(a).cmp(chunk(b))
            });
        }
        for edges in &mut self.index.edges {
            edges.sort_by(|a, b| {
                let place = |edge: &Edge| (&entries[edge.other].chunk, Arc::clone(&edge.kind));
                place(a).cmp(&place(b))
            });
        }
        self.index.policies = policies;
        Ok(self.index)
    }
}

impl KnowledgeIndex {
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn entry(&self, number: usize) -> &Entry {
        &self.entries[number]
    }

    /// The number of an entry's source.
    pub(super) fn source_number(&self, number: usize) -> usize {
        self.source_numbers[number] as usize
    }

    /// The source of an entry.
    pub fn source(&self, number: usize) -> &SourceVersion {
        &self.sources[self.source_number(number)]
    }

    /// The names of the sources of which not every chunk was read.
    pub fn incomplete(&self) -> Vec<&str> {
        let mut read = vec![0; self.sources.len()];
        for &source in &self.source_numbers {
            read[source as usize] += 1;
        }
        let sources = self.sources.iter().zip(read);
        sources
            .filter(|(source, read)| source.chunks.is_some_and(|chunks| chunks != *read))
            .map(|(source, _)| source.name.as_str())
            .collect()
    }

    /// The versions it holds.
    pub fn versions(&self) -> &[SourceVersion] {
        &self.sources
    }

    /// The version of a source that is in it.
    pub fn version_of(&self, source: &str) -> Option<SourceVersion> {
        let found = self.sources.iter().find(|it| it.name == source);
        found.cloned()
    }

    /// The labels of the nodes that are searched by meaning, by the alphabet.
    pub fn node_labels(&self) -> Vec<String> {
        self.node_properties().into_keys().collect()
    }

    /// What those nodes' texts are made of, by label.
    pub(super) fn node_properties(&self) -> PropertyOrder {
        let mut sources = self.sources.iter();
        let nodes = sources.find(|source| source.name == NODES);
        nodes.map_or_else(PropertyOrder::new, |nodes| nodes.property_order.clone())
    }

    /// Whether it is a node that others are connected to, and nothing that is searched by meaning.
    pub(super) fn is_beside(&self, number: usize) -> bool {
        let source = self.source(number);
        let label = &*self.entry(number).label;
        source.name == NODES && !source.property_order.contains_key(label)
    }

    pub fn embedder(&self) -> Option<&str> {
        self.embedder.as_deref()
    }

    pub(super) fn vectors(&self) -> &Vectors {
        &self.vectors
    }

    pub(super) fn postings(&self) -> &Postings {
        &self.postings
    }

    /// A question without the name of a source that it asks, as in "What does the Rust book say about
    /// ownership?": everything in there is about Rust. A name of one word may be what is asked about.
    pub(super) fn without_sources(&self, text: &str, seen: &[bool]) -> String {
        let stems: BTreeSet<String> = self.names.of_text(text);
        let named = self.source_words.iter().zip(seen);
        let named = named.filter(|(words, is_seen)| {
            **is_seen && words.len() > 1 && words.len() < stems.len() && words.is_subset(&stems)
        });
        let told: BTreeSet<&String> = named.flat_map(|(words, _)| words).collect();
        if told.is_empty() {
            return text.to_owned();
        }
        let is_kept = |word: &&str| {
            let own = self.names.of_text(word);
            own.is_empty() || own.iter().any(|stem| !told.contains(stem))
        };
        let kept: Vec<&str> = text.split_whitespace().filter(is_kept).collect();
        kept.join(" ")
    }

    pub(super) fn names(&self) -> &Names {
        &self.names
    }

    pub(super) fn policies(&self) -> &[Policy] {
        &self.policies
    }

    pub(super) fn policies_mut(&mut self) -> &mut [Policy] {
        &mut self.policies
    }

    pub(super) fn children(&self, number: usize) -> impl Iterator<Item = usize> {
        self.children[number].iter().map(|&child| child as usize)
    }

    /// What is related to a chunk, or to the record that it is part of.
    pub fn related(&self, number: usize) -> impl Iterator<Item = &Edge> {
        let head = self.head(number);
        let of_head = if head == number {
            &[][..]
        } else {
            &self.edges[head]
        };
        self.edges[number].iter().chain(of_head)
    }

    /// The relationships of a chunk itself.
    pub(super) fn edges(&self, number: usize) -> &[Edge] {
        &self.edges[number]
    }

    /// The first chunk of a chunk's record.
    pub fn head(&self, number: usize) -> usize {
        let chunks = self.records.get(&self.entries[number].record);
        let head = chunks.and_then(|chunks| chunks.first());
        head.map_or(number, |&head| head as usize)
    }

    /// The chunk so many places further in its record.
    pub fn neighbour(&self, number: usize, places: i64) -> Option<usize> {
        let entry = &self.entries[number];
        let chunks = self.records.get(&entry.record)?;
        let sought = entry.sequence + places;
        let at = chunks.binary_search_by_key(&sought, |&it| self.entries[it as usize].sequence);
        at.ok().map(|at| chunks[at] as usize)
    }

    /// What stands above a chunk, the root first.
    pub fn path(&self, number: usize) -> Vec<usize> {
        /// A hierarchy that is deeper runs in a circle.
        const DEEPEST: usize = 32;
        let above = std::iter::successors(self.entries[number].parent, |&at| {
            self.entries[at].parent.filter(|&parent| parent != number)
        });
        let mut path: Vec<usize> = above.take(DEEPEST).collect();
        path.reverse();
        path
    }

    /// The records of these identifiers: the whole key, what follows its last slash or colon, or a tag with a digit.
    pub fn identified(&self, identifiers: &[String]) -> Vec<usize> {
        let mut found: Vec<usize> = identifiers
            .iter()
            .filter_map(|identifier| self.identifiers.get(identifier.as_str()))
            .flatten()
            .map(|&number| self.head(number as usize))
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Whether only some channels may see a chunk.
    pub fn is_private(&self, number: usize) -> bool {
        !self.source(number).channels.is_empty()
    }

    /// Which sources these people may see.
    pub fn seen_by(&self, audience: &AudienceId) -> Vec<bool> {
        let sources = self.sources.iter();
        sources
            .map(|source| is_seen_by(&source.channels, audience))
            .collect()
    }
}

/// By what people call a record: its key, and the last part of it, where there is a digit in them.
fn identifiers(record: &str) -> Vec<String> {
    let key = record.to_lowercase();
    let mut all = vec![key.clone()];
    if let Some((_, last)) = key.rsplit_once(['/', ':']) {
        all.push(last.to_owned());
    }
    all.retain(|identifier| has_digit(identifier));
    all
}

fn has_digit(text: &str) -> bool {
    text.chars().any(|it| it.is_ascii_digit())
}

/// As the embedded store keeps vectors, so that both stores give the same cosines.
fn halved(vector: &[f32]) -> Vec<f32> {
    let half = |x: &f32| f16::from_f32(*x).to_f32();
    vector.iter().map(half).collect()
}

/// Whether a source limited to these channels is seen by an audience. A channel is named by the
/// audience's whole id, or by the platform's own id, its last part. Never by a name that people
/// give: whoever makes a channel could take it.
fn is_seen_by(channels: &[String], audience: &AudienceId) -> bool {
    let id = audience.as_str();
    let own = id.rsplit('/').next().unwrap_or(id);
    channels.is_empty()
        || channels
            .iter()
            .any(|channel| channel == id || channel == own)
}

/// The day that a date of whatever form begins with; a year is its first day.
fn day(text: &str) -> Option<NaiveDate> {
    let mut parts = text.trim().splitn(3, '-');
    let number = |part: Option<&str>, digits: usize| {
        let part = part.map(|part| part.get(..digits.min(part.len())).unwrap_or_default());
        part.map_or(Some(1), |part| part.parse::<u32>().ok())
    };
    let year = number(parts.next(), 4)?;
    let (month, day) = (number(parts.next(), 2)?, number(parts.next(), 2)?);
    NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_seen_where_its_channels_say() {
        let audience = AudienceId::new("slack/T1/C2");
        for (channels, expected) in [
            (vec![], true),
            (vec!["slack/T1/C2"], true),
            (vec!["C1", "C2"], true),
            (vec!["C1"], false),
            (vec!["T1"], false),
            (vec!["slack/T1/C"], false),
            (vec![""], false),
        ] {
            let channels: Vec<String> = channels.into_iter().map(str::to_owned).collect();
            assert_eq!(is_seen_by(&channels, &audience), expected, "{channels:?}");
        }
    }

    #[test]
    fn a_day_is_read_of_any_date() {
        let of = |year, month, day| NaiveDate::from_ymd_opt(year, month, day);
        for (text, expected) in [
            ("2026-01-02", of(2026, 1, 2)),
            ("2026-01-02T03:04:05Z", of(2026, 1, 2)),
            ("1950", of(1950, 1, 1)),
            ("1950-06", of(1950, 6, 1)),
            ("spring", None),
            ("2026-99-99", None),
            ("", None),
        ] {
            assert_eq!(day(text), expected, "{text}");
        }
    }
}
