//! The search index of the served chunks: vectors, words, names and relationships.
//!
//! Its data is in files, one per source; little of it is in memory (`Segment`). It holds exactly
//! one version of each source, and does no scoring.

mod folder;
mod identifiers;
mod layout;
mod names;
mod segment;
mod signs;
#[cfg(test)]
mod tests;
mod writing;

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use muninn_platform::AudienceId;

pub use self::folder::IndexFolder;
pub use self::layout::ChunkEntry;
pub use self::segment::Segment;
pub use self::writing::{Builder, Moved};
use super::facts::{has_field, in_words};
use super::nodes::NODES;
use super::policy::Policy;
use crate::graph::ingest::PropertyOrder;
use crate::graph::ingest::searching::SourceVersion;
use crate::knowledge::plural::is_one_of;
use crate::retrieval::best::NOWHERE;
use crate::retrieval::disk::words::{Searched, score};
use crate::retrieval::postings::{WeightedWords, WordScores, add_words};
use crate::retrieval::proximity::Terms;
use crate::retrieval::text::WordStemmer;
use crate::retrieval::vectors::Quantised;

/// A relationship, seen from one of its ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    pub kind: Arc<str>,
    pub other: usize,
}

/// Everything that is served. Chunk numbers run through all sources: within a source by record, and
/// by position in it.
#[derive(Clone, Debug)]
pub struct KnowledgeIndex {
    /// In the order of the sources.
    segments: Vec<Arc<Segment>>,
    /// The number of each source's first chunk.
    starts: Vec<usize>,
    count: usize,
    sources: Vec<SourceVersion>,
    /// Who may still see each source, while another version than this one is served.
    standings: Vec<Standing>,
    /// The words of each source's name.
    source_words: Vec<BTreeSet<String>>,
    words: Arc<WordStemmer>,
    policies: Vec<Policy>,
    embedder: Option<String>,
    /// Dimension of the compared vectors; zero without any.
    dimension: usize,
}

/// Who may still see a version of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Standing {
    /// Whoever could see it.
    AsIndexed,
    /// Of those, only who may also see the version that is served now.
    LimitedTo(Vec<String>),
    /// Nobody: the source is not served any more.
    Gone,
}

impl KnowledgeIndex {
    /// Creates an index of versions, each with its file; `embedder` is the one whose vectors are
    /// compared, with their dimension.
    pub fn new(
        sources: Vec<(SourceVersion, Arc<Segment>)>,
        embedder: Option<(&str, usize)>,
    ) -> Self {
        let words = Arc::new(WordStemmer::default());
        let (sources, segments): (Vec<_>, Vec<_>) = sources.into_iter().unzip();
        let mut count = 0;
        let starts = segments.iter().map(|segment: &Arc<Segment>| {
            let start = count;
            count += segment.count();
            start
        });
        let starts = starts.collect();
        let named = sources.iter();
        Self {
            source_words: named.map(|it| names::of_source(&words, &it.name)).collect(),
            standings: vec![Standing::AsIndexed; sources.len()],
            segments,
            starts,
            count,
            sources,
            words,
            policies: Vec::new(),
            embedder: embedder.map(|(name, _)| name.to_owned()),
            dimension: embedder.map_or(0, |(_, dimension)| dimension),
        }
    }

    /// Adds the policies of its chunks.
    #[must_use]
    pub fn with_policies(self, policies: Vec<Policy>) -> Self {
        Self { policies, ..self }
    }

    /// The same index, for use until the versions that are served now are indexed: it shows nothing to
    /// whom they are not meant for. `None` if nothing changes by that.
    #[must_use]
    pub fn limited_to(&self, served: &[SourceVersion]) -> Option<Self> {
        let standing = |own: &SourceVersion| {
            let now = served.iter().find(|source| source.name == own.name);
            match now {
                // The nodes of the graph are no source, and limited by nothing.
                _ if own.name == NODES => Standing::AsIndexed,
                Some(now) if now.channels == own.channels => Standing::AsIndexed,
                Some(now) => Standing::LimitedTo(now.channels.clone()),
                None => Standing::Gone,
            }
        };
        let standings: Vec<Standing> = self.sources.iter().map(standing).collect();
        (standings != self.standings).then(|| Self {
            standings,
            ..self.clone()
        })
    }

    pub fn len(&self) -> usize {
        self.count
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns its size in memory, in bytes.
    pub fn heap_bytes(&self) -> usize {
        let segments = self.segments.iter();
        segments.map(|segment| segment.heap_bytes()).sum()
    }

    /// Returns the names of sources with damaged files: results from them are unreliable.
    pub fn damaged(&self) -> Vec<&str> {
        let segments = self.segments.iter().zip(&self.sources);
        let damaged = segments.filter(|(segment, _)| segment.is_damaged());
        damaged.map(|(_, source)| source.name.as_str()).collect()
    }

    /// Its files.
    pub fn segments(&self) -> &[Arc<Segment>] {
        &self.segments
    }

    /// Returns the source of an entry, and the entry's number within it.
    fn place(&self, number: usize) -> (usize, usize) {
        let source = self.source_number(number);
        (source, number - self.starts[source])
    }

    pub fn entry(&self, number: usize) -> ChunkEntry {
        let (source, own) = self.place(number);
        self.segments[source].entry(own)
    }

    /// Returns the text of a chunk.
    pub fn text(&self, number: usize) -> String {
        let (source, own) = self.place(number);
        self.segments[source].text(own)
    }

    /// Returns the entry and the text of a chunk.
    pub(super) fn entry_and_text(&self, number: usize) -> (ChunkEntry, String) {
        let (source, own) = self.place(number);
        self.segments[source].entry_and_text(own)
    }

    /// Returns the number of an entry's source.
    pub(super) fn source_number(&self, number: usize) -> usize {
        // A source without chunks begins at the same number as the next one; the last of them is
        // taken.
        self.starts.partition_point(|&start| start <= number) - 1
    }

    /// Returns the ranges of entries of visible sources.
    pub(super) fn seen_entries(&self, seen: &[bool]) -> impl Iterator<Item = Range<usize>> {
        let sources = self.starts.iter().zip(&self.segments).zip(seen);
        sources
            .filter(|(_, seen)| **seen)
            .map(|((start, segment), _)| *start..start + segment.count())
    }

    /// The source of an entry.
    pub fn source(&self, number: usize) -> &SourceVersion {
        &self.sources[self.source_number(number)]
    }

    /// Returns its versions.
    pub fn versions(&self) -> &[SourceVersion] {
        &self.sources
    }

    /// Returns its version of a source.
    pub fn version_of(&self, source: &str) -> Option<SourceVersion> {
        let found = self.sources.iter().find(|it| it.name == source);
        found.cloned()
    }

    /// Returns the labels of nodes searched by meaning, in alphabetical order.
    pub fn node_labels(&self) -> Vec<String> {
        self.node_properties().into_keys().collect()
    }

    /// Returns the properties that those nodes' texts consist of, by label.
    pub(super) fn node_properties(&self) -> PropertyOrder {
        let mut sources = self.sources.iter();
        let nodes = sources.find(|source| source.name == NODES);
        nodes.map_or_else(PropertyOrder::new, |nodes| nodes.property_order.clone())
    }

    /// Whether it is a node that is only connected to others, and not searched by meaning.
    pub(super) fn is_beside(&self, number: usize) -> bool {
        let source = self.source(number);
        source.name == NODES
            && !source
                .property_order
                .contains_key(&*self.entry(number).label)
    }

    pub fn embedder(&self) -> Option<&str> {
        self.embedder.as_deref()
    }

    /// Returns the dimension of the compared vectors; zero without any.
    pub(super) fn dimension(&self) -> usize {
        self.dimension
    }

    /// Returns the words of a question.
    pub(super) fn words_of(&self, text: &str) -> WeightedWords {
        let mut words = WeightedWords::new();
        add_words(&self.words, text, 1.0, &mut words);
        words
    }

    /// The same with the rarity of each, to compare texts with.
    pub(super) fn terms<'a>(&'a self, words: &WeightedWords, rarities: &'a [f32]) -> Terms<'a> {
        Terms::new(&self.words, words, rarities)
    }

    /// Returns the word scores within visible sources.
    pub(super) fn word_scores(&self, words: &WeightedWords, seen: &[bool]) -> WordScores {
        let parts = self.segments.iter().zip(seen);
        let parts: Vec<Searched<'_>> = parts.map(|(segment, seen)| segment.words(*seen)).collect();
        score(&parts, words)
    }

    /// Returns the number of signs in which each chunk differs from the query; [`NOWHERE`] for
    /// chunks without a vector or in invisible sources.
    pub(super) fn sign_distances(&self, seen: &[bool], query: &Quantised) -> Vec<u16> {
        let mut distances = Vec::with_capacity(self.count);
        for (segment, is_seen) in self.segments.iter().zip(seen) {
            let end = distances.len() + segment.count();
            if *is_seen && segment.dimension() == self.dimension {
                distances.extend(segment.sign_distances(query));
            }
            distances.resize(end, NOWHERE);
        }
        distances
    }

    /// Returns the cosines of entries, given in order, with the query; NaN for entries without a
    /// vector.
    pub fn cosines(&self, numbers: &[usize], query: &Quantised) -> Vec<f32> {
        let of_one_source = |a: &usize, b: &usize| self.source_number(*a) == self.source_number(*b);
        let sources = numbers.chunk_by(of_one_source);
        let cosines = sources.flat_map(|numbers| {
            let source = self.source_number(numbers[0]);
            let own = numbers.iter().map(|number| number - self.starts[source]);
            self.segments[source].cosines(&own.collect::<Vec<_>>(), query)
        });
        cosines.collect()
    }

    /// Returns an entry's own vector, to compare others with.
    pub(super) fn vector(&self, number: usize) -> Option<Quantised> {
        let (source, own) = self.place(number);
        self.segments[source].vector(own)
    }

    /// Removes the name of a source from a question such as "What does the Rust book say about
    /// ownership?": everything in that source is about Rust. A name of one word may be the subject
    /// of the question.
    pub(super) fn without_sources(&self, text: &str, seen: &[bool]) -> String {
        let stems: BTreeSet<String> = names::of_text(&self.words, text);
        let named = self.source_words.iter().zip(seen);
        let named = named.filter(|(words, is_seen)| {
            **is_seen && words.len() > 1 && words.len() < stems.len() && words.is_subset(&stems)
        });
        let told: BTreeSet<&String> = named.flat_map(|(words, _)| words).collect();
        if told.is_empty() {
            return text.to_owned();
        }
        let is_kept = |word: &&str| {
            let own = names::of_text(&self.words, word);
            own.is_empty() || own.iter().any(|stem| !told.contains(stem))
        };
        let kept: Vec<&str> = text.split_whitespace().filter(is_kept).collect();
        kept.join(" ")
    }

    /// Returns the entries named in the text, in visible sources, with their certainty.
    pub(super) fn named_in(&self, text: &str, least: f32, seen: &[bool]) -> Vec<(usize, f32)> {
        let segments: Vec<&Segment> = self.segments.iter().map(|segment| &**segment).collect();
        let stems = names::of_text(&self.words, text);
        names::found_in(&segments, &stems, least, seen)
    }

    pub(super) fn policies(&self) -> &[Policy] {
        &self.policies
    }

    pub(super) fn policies_mut(&mut self) -> &mut [Policy] {
        &mut self.policies
    }

    /// Returns the numbers of policy chunks.
    pub(super) fn policy_entries(&self) -> impl Iterator<Item = usize> {
        let segments = self.segments.iter().zip(&self.starts);
        segments.flat_map(|(segment, start)| {
            let own = segment.policies().iter();
            own.map(move |number| start + *number as usize)
        })
    }

    /// Returns the relationships of a chunk, and of the record that it belongs to.
    pub fn related(&self, number: usize) -> Vec<Edge> {
        let head = self.head(number);
        let mut related = self.near(number).1;
        if head != number {
            related.extend(self.near(head).1);
        }
        related
    }

    /// Returns the children of a chunk, and its own relationships.
    pub(super) fn near(&self, number: usize) -> (Vec<usize>, Vec<Edge>) {
        let (source, own) = self.place(number);
        let (segment, start) = (&self.segments[source], self.starts[source]);
        let near = segment.near(own);
        let inside = |other: &u32| (*other as usize) < segment.count();
        let children = near.children.iter().filter(|it| inside(it));
        let edges = near.edges.iter().filter(|(_, other)| inside(other));
        let edge = |(kind, other): &(u32, u32)| Edge {
            kind: segment.kind(*kind),
            other: start + *other as usize,
        };
        let children = children.map(|child| start + *child as usize);
        (children.collect(), edges.map(edge).collect())
    }

    /// Returns the first chunk of a chunk's record.
    pub fn head(&self, number: usize) -> usize {
        self.head_of(number, &self.entry(number))
    }

    /// The same for an entry that was already read.
    pub(super) fn head_of(&self, number: usize, entry: &ChunkEntry) -> usize {
        let start = self.starts[self.source_number(number)];
        (start + entry.head as usize).min(number)
    }

    /// Returns the chunk at this offset within its record.
    pub fn neighbour(&self, number: usize, places: i64) -> Option<usize> {
        let entry = self.entry(number);
        let other = number.checked_add_signed(isize::try_from(places).ok()?)?;
        let is_there =
            other < self.count && self.source_number(other) == self.source_number(number);
        let beside = is_there.then(|| self.entry(other))?;
        let is_next = beside.record == entry.record && beside.sequence == entry.sequence + places;
        is_next.then_some(other)
    }

    /// Returns the ancestors of a chunk, root first.
    pub fn path(&self, number: usize) -> Vec<usize> {
        /// Maximum depth: a deeper hierarchy contains a cycle.
        const DEEPEST: usize = 32;
        let (source, own) = self.place(number);
        let (segment, start) = (&self.segments[source], self.starts[source]);
        let parent = |own: usize| {
            let parent = segment.near(own).parent.map(|parent| parent as usize);
            parent.filter(|parent| *parent < segment.count())
        };
        let above = std::iter::successors(parent(own), |&at| parent(at).filter(|it| *it != own));
        let mut path: Vec<usize> = above.take(DEEPEST).map(|own| start + own).collect();
        path.reverse();
        path
    }

    /// Returns the records with these identifiers: the whole key, the part after its last slash or
    /// colon, a title of one word, or a tag, with a digit.
    pub fn identified(&self, identifiers: &[String]) -> Vec<usize> {
        let segments = self.segments.iter().zip(&self.starts);
        let mut found: Vec<usize> = segments
            .flat_map(|(segment, start)| {
                let own = identifiers.iter().flat_map(|it| segment.identified(it));
                own.map(move |number| start + number)
            })
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Returns the records that a word with a number behind it names, such as "room 214": the number is
    /// an identifier of theirs, and the word names their source, their label, or the field of the number.
    pub(super) fn numbered(&self, word: &str, number: &str) -> Vec<usize> {
        let mut found = self.identified(&[number.to_owned()]);
        found.retain(|&at| {
            let (entry, text) = self.entry_and_text(at);
            let source = self.source(at).name.to_lowercase();
            let label = in_words(&entry.label);
            let lists = [source, label];
            let mut lists = lists
                .iter()
                .flat_map(|it| it.split(|c: char| !c.is_alphanumeric()));
            let is_field = |name: &str| {
                let mut words = name.split(|c: char| !c.is_alphanumeric());
                words.any(|it| it.starts_with(word))
            };
            lists.any(|list| is_one_of(word, list)) || has_field(&text, number, is_field)
        });
        found
    }

    /// Whether only some channels may see a chunk.
    pub fn is_private(&self, number: usize) -> bool {
        !self.source(number).channels.is_empty()
    }

    /// Returns which sources an audience may see.
    pub fn visible_sources(&self, audience: &AudienceId) -> Vec<bool> {
        let sources = self.sources.iter().zip(&self.standings);
        let is_seen = |(source, standing): (&SourceVersion, &Standing)| {
            is_seen_by(&source.channels, audience)
                && match standing {
                    Standing::AsIndexed => true,
                    Standing::LimitedTo(channels) => is_seen_by(channels, audience),
                    Standing::Gone => false,
                }
        };
        sources.map(is_seen).collect()
    }
}

/// Whether an audience sees a source limited to these channels. A channel is named by the
/// audience's whole id, or by the platform's own id, its last part. Display names do not count:
/// whoever creates a channel could choose one.
fn is_seen_by(channels: &[String], audience: &AudienceId) -> bool {
    let id = audience.as_str();
    let own = id.rsplit('/').next().unwrap_or(id);
    channels.is_empty()
        || channels
            .iter()
            .any(|channel| channel == id || channel == own)
}

#[cfg(test)]
mod rules {
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
    fn until_the_served_versions_are_indexed_nobody_sees_more_than_they_show() {
        let folder = IndexFolder::temporary();
        let source = |name: &str, version, channels: &[&str]| SourceVersion {
            name: name.to_owned(),
            version,
            channels: channels.iter().map(|it| (*it).to_owned()).collect(),
            ..SourceVersion::default()
        };
        let indexed = |source: SourceVersion| {
            let builder = folder.build(&source, None).unwrap();
            let segment = folder.put(&source.name, builder).unwrap().unwrap();
            (source, Arc::new(segment))
        };
        let before = [
            source("same", 1, &["C1"]),
            source("moved", 1, &["C1"]),
            source("limited", 1, &[]),
            source("opened", 1, &["C1"]),
            source("gone", 1, &[]),
        ];
        let index = KnowledgeIndex::new(before.map(indexed).into(), None);
        let served = [
            source("same", 2, &["C1"]),
            source("moved", 2, &["C2"]),
            source("limited", 2, &["C2"]),
            source("opened", 2, &[]),
        ];
        let limited = index.limited_to(&served).unwrap();
        let seen = |channel: &str| limited.visible_sources(&AudienceId::new(channel));
        assert_eq!(seen("slack/T/C1"), [true, false, false, true, false]);
        assert_eq!(seen("slack/T/C2"), [false, false, true, false, false]);
        assert!(limited.limited_to(&served).is_none());
        assert!(index.limited_to(&index.sources.clone()).is_none());
    }
}
