//! A search hit with its context: neighbours, path to the root, related records.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::facts::{dates, is_part, kind_and_years, with_facts};
use super::index::KnowledgeIndex;
use super::nodes::NODES;
use super::policy::POLICY;
use super::rank::{Confidence, Ranked, Scores};
use crate::graph::ingest::searching::Passage;

/// Maximum number of related records.
const RELATED: usize = 8;

/// A step of a path, or a related record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelatedRecord {
    pub name: String,
    pub label: String,
    pub link: Option<String>,
    /// Its kind and years, such as `series, 1890–1904`; empty if not informative.
    pub told: String,
}

/// A search hit.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    pub chunk: String,
    pub source: String,
    pub label: String,
    pub title: String,
    pub heading: Option<String>,
    pub link: Option<String>,
    /// That of a record ends with the short properties and dates that are no part of it.
    pub text: String,
    /// The chunks before and after it in its record.
    pub before: Option<String>,
    pub after: Option<String>,
    /// From the root, without itself.
    pub path: Vec<RelatedRecord>,
    /// With the type of the relationship.
    pub related: Vec<(String, RelatedRecord)>,
    /// Number of further related records.
    pub more_related: usize,
    /// Properties of its record, most important first; empty if the graph did not answer.
    pub properties: Vec<(String, Value)>,
    pub scores: Scores,
    pub why: Vec<String>,
    /// `elementId`s of the chunk and its neighbours, valid for this turn only; empty if the graph
    /// did not answer.
    pub nodes: Vec<String>,
}

impl Hit {
    /// Returns its name, with its headings within the record.
    pub fn name(&self) -> String {
        match &self.heading {
            Some(heading) if *heading != self.title => format!("{} › {heading}", self.title),
            Some(_) | None => self.title.clone(),
        }
    }

    /// Lists its related records, each as `shown`, and how many more there are; `None` if there are none.
    pub fn related_in_words(
        &self,
        shown: impl Fn(&str, &RelatedRecord) -> String,
    ) -> Option<String> {
        let related = self.related.iter().map(|(kind, one)| shown(kind, one));
        let related: Vec<String> = related.collect();
        let listed = related.join(", ");
        (!related.is_empty()).then(|| match self.more_related {
            0 => listed,
            more => format!("{listed} and {more} more"),
        })
    }
}

/// Returns every chunk whose content is needed.
pub(super) fn around(index: &KnowledgeIndex, chosen: &[Ranked]) -> Vec<usize> {
    let mut numbers: Vec<usize> = chosen
        .iter()
        .flat_map(|one| {
            let neighbours = [-1, 1].map(|places| index.neighbour(one.entry, places));
            let own = [one.entry, index.head(one.entry)];
            let path = index.path(one.entry).into_iter().map(|at| index.head(at));
            let told = own.into_iter().chain(path);
            told.chain(neighbours.into_iter().flatten())
        })
        .collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// Builds the hits from what the graph returned. Chunks that it no longer serves are left out.
pub(super) fn hits(
    index: &KnowledgeIndex,
    chosen: &[Ranked],
    passages: Option<&HashMap<usize, Passage>>,
) -> Vec<Hit> {
    let is_there = |one: &&Ranked| passages.is_none_or(|it| it.contains_key(&one.entry));
    let chosen: Vec<&Ranked> = chosen.iter().filter(is_there).collect();
    let numbers: Vec<usize> = chosen.iter().map(|one| one.entry).collect();
    let hits = chosen.into_iter();
    hits.map(|one| hit(index, one, passages, &numbers))
        .collect()
}

/// Sorts by `order` first, then alphabetically.
fn ordered(properties: &Map<String, Value>, order: &[String]) -> Vec<(String, Value)> {
    let mut ordered: Vec<(String, Value)> = properties.clone().into_iter().collect();
    ordered.sort_by_key(|(name, _)| {
        let place = order.iter().position(|one| one == name);
        (place.unwrap_or(order.len()), name.clone())
    });
    ordered
}

fn hit(
    index: &KnowledgeIndex,
    one: &Ranked,
    passages: Option<&HashMap<usize, Passage>>,
    chosen: &[usize],
) -> Hit {
    let number = one.entry;
    let entry = index.entry(number);
    let of = |number: usize| passages.and_then(|passages| passages.get(&number));
    // A neighbour that is a hit itself is not repeated.
    let neighbour = |places: i64| {
        let beside = index.neighbour(number, places);
        let beside = beside.filter(|beside| !chosen.contains(beside))?;
        Some((beside, of(beside)?))
    };
    let (before, after) = (neighbour(-1), neighbour(1));
    let text = |it: Option<(usize, &Passage)>| it.map(|(_, passage)| passage.text.clone());
    let shown = [Some(number), before.map(|it| it.0), after.map(|it| it.0)];
    let nodes = shown.into_iter().flatten().filter_map(&of);
    let head = index.head(number);
    let label = index.entry(head).label.to_string();
    let order = index.source(number).property_order.get(&label);
    let properties = of(head).map(|it| ordered(&it.properties, order.map_or(&[], Vec::as_slice)));
    let properties = properties.unwrap_or_default();
    let own = of(number).map_or_else(|| index.text(number), |it| it.text.clone());
    // The text of a node has its properties already.
    let is_whole = is_part(&label) || label == POLICY || index.source(number).name == NODES;
    let (related, more_related) = related(index, number);
    Hit {
        chunk: entry.chunk,
        source: index.source(number).name.clone(),
        label,
        title: entry.title.unwrap_or(entry.record),
        heading: entry.heading,
        link: entry.link,
        text: match is_whole {
            true => own,
            false => with_facts(own, &properties),
        },
        before: text(before),
        after: text(after),
        path: index
            .path(number)
            .into_iter()
            .map(|at| RelatedRecord {
                told: told(index, at, of(index.head(at))),
                ..step(index, at)
            })
            .collect(),
        related,
        more_related,
        properties,
        scores: one.scores,
        why: why(index, one),
        nodes: nodes.map(|it| it.element.clone()).collect(),
    }
}

fn step(index: &KnowledgeIndex, number: usize) -> RelatedRecord {
    let entry = index.entry(number);
    RelatedRecord {
        name: entry.heading.or(entry.title).unwrap_or(entry.record),
        label: entry.label.to_string(),
        link: entry.link,
        told: String::new(),
    }
}

/// Returns kind and years of a related record.
fn told(index: &KnowledgeIndex, number: usize, passage: Option<&Passage>) -> String {
    let label = index.entry(index.head(number)).label;
    let properties = passage.map(|it| ordered(&it.properties, &[]));
    let dates = dates(&properties.unwrap_or_default());
    let span = dates.iter().find(|it| it.from != it.until);
    kind_and_years(&label, span)
}

/// Returns each related record once, with all its relationships, without those on the path; and the
/// number of further ones.
fn related(index: &KnowledgeIndex, number: usize) -> (Vec<(String, RelatedRecord)>, usize) {
    let path = index.path(number).into_iter();
    let mut told: Vec<String> = path.map(|above| index.entry(above).record).collect();
    told.push(index.entry(number).record);
    let mut related: Vec<(String, Vec<Arc<str>>, usize)> = Vec::new();
    let mut more = BTreeSet::new();
    for edge in index.related(number) {
        let record = index.entry(edge.other).record;
        if told.contains(&record) {
            continue;
        }
        let is_full = related.len() == RELATED;
        match related.iter_mut().find(|(known, ..)| *known == record) {
            Some((_, kinds, _)) if kinds.contains(&edge.kind) => {}
            Some((_, kinds, _)) => kinds.push(edge.kind),
            // Only their number is told.
            None if is_full => {
                more.insert(record);
            }
            None => related.push((record, vec![edge.kind], index.head(edge.other))),
        }
    }
    let related = related.into_iter();
    let related = related.map(|(_, kinds, other)| (kinds.join(", "), step(index, other)));
    (related.collect(), more.len())
}

/// Returns why it was found, for people.
fn why(index: &KnowledgeIndex, one: &Ranked) -> Vec<String> {
    let Scores {
        graph: _,
        cosine,
        bm25,
        coverage,
        proximity,
        recency,
        policy,
        total: _,
    } = one.scores;
    let mut why = Vec::new();
    if let Some(Confidence { named, steps, sure }) = one.named {
        let name = step(index, named).name;
        why.push(match steps {
            0 => format!("the question names {name:?} ({sure:.2})"),
            1 => format!("one step from {name:?}, which the question names ({sure:.2})"),
            steps => format!("{steps} steps from {name:?}, which the question names ({sure:.2})"),
        });
    }
    if cosine > 0.0 {
        why.push(format!("reads like it (cosine {cosine:.2})"));
    }
    if bm25 > 0.0 {
        why.push(format!(
            "has {:.0} % of its words (BM25 {bm25:.1})",
            100.0 * coverage
        ));
    }
    if proximity > 0.0 {
        why.push(format!("has them close together ({proximity:.2})"));
    }
    if recency > 0.0 {
        why.push(format!("is recent ({recency:.2})"));
    }
    if policy > 0.0 {
        why.push(format!("a policy wants it ({policy:.2})"));
    }
    why
}
