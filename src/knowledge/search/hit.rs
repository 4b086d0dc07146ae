//! A find with all that is around it: its neighbours, its path to the root, what it is related to.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::facts::{dates, kind_and_years};
use super::index::KnowledgeIndex;
use super::rank::{Confidence, Ranked, Scores};
use crate::graph::ingest::searching::Passage;

/// Related things that are named.
const RELATED: usize = 8;

/// A step of a path, or something related.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub name: String,
    pub label: String,
    pub link: Option<String>,
    /// What it is and when, such as `series, 1890–1904`; empty where that tells nothing.
    pub told: String,
}

/// A find.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    pub chunk: String,
    pub source: String,
    pub label: String,
    pub title: String,
    pub heading: Option<String>,
    pub link: Option<String>,
    pub text: String,
    /// What stands before it in its record, and what comes after: whole chunks.
    pub before: Option<String>,
    pub after: Option<String>,
    /// The root first, without itself.
    pub path: Vec<Step>,
    /// By the type of the relationship.
    pub related: Vec<(String, Step)>,
    /// Of its record, the most important first; nothing where the graph did not tell.
    pub properties: Vec<(String, Value)>,
    pub scores: Scores,
    pub why: Vec<String>,
    /// Of the chunk and of its neighbours; good for this turn only. Nothing where the graph did not
    /// tell.
    pub nodes: Vec<String>,
}

impl Hit {
    /// What it is called, with what it stands under in its record.
    pub fn name(&self) -> String {
        match &self.heading {
            Some(heading) if *heading != self.title => format!("{} › {heading}", self.title),
            Some(_) | None => self.title.clone(),
        }
    }
}

/// Every chunk of which something is asked.
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

/// The finds, told as far as the graph has told. What it does not serve any more is left out.
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

/// Those that are named first come first, the others by the alphabet.
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
    // What is a find of its own is not told twice.
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
    Hit {
        chunk: entry.chunk,
        source: index.source(number).name.clone(),
        label,
        title: entry.title.unwrap_or(entry.record),
        heading: entry.heading,
        link: entry.link,
        text: of(number).map_or_else(|| index.text(number), |it| it.text.clone()),
        before: text(before),
        after: text(after),
        path: index
            .path(number)
            .into_iter()
            .map(|at| Step {
                told: told(index, at, of(index.head(at))),
                ..step(index, at)
            })
            .collect(),
        related: related(index, number),
        properties: properties.unwrap_or_default(),
        scores: one.scores,
        why: why(index, one),
        nodes: nodes.map(|it| it.element.clone()).collect(),
    }
}

fn step(index: &KnowledgeIndex, number: usize) -> Step {
    let entry = index.entry(number);
    Step {
        name: entry.heading.or(entry.title).unwrap_or(entry.record),
        label: entry.label.to_string(),
        link: entry.link,
        told: String::new(),
    }
}

/// What a step of a path is, and when.
fn told(index: &KnowledgeIndex, number: usize, passage: Option<&Passage>) -> String {
    let label = index.entry(index.head(number)).label;
    let properties = passage.map(|it| ordered(&it.properties, &[]));
    let dates = dates(&properties.unwrap_or_default());
    let span = dates.iter().find(|it| it.from != it.until);
    kind_and_years(&label, span)
}

/// Each related record once, with all the ways in which it is related; without what the path tells
/// already.
fn related(index: &KnowledgeIndex, number: usize) -> Vec<(String, Step)> {
    let path = index.path(number).into_iter();
    let mut told: Vec<String> = path.map(|above| index.entry(above).record).collect();
    told.push(index.entry(number).record);
    let mut related: Vec<(String, Vec<Arc<str>>, usize)> = Vec::new();
    for edge in index.related(number) {
        let record = index.entry(edge.other).record;
        if told.contains(&record) {
            continue;
        }
        let is_full = related.len() == RELATED;
        match related.iter_mut().find(|(known, ..)| *known == record) {
            Some((_, kinds, _)) if kinds.contains(&edge.kind) => {}
            Some((_, kinds, _)) => kinds.push(edge.kind),
            // More are not shown.
            None if is_full => {}
            None => related.push((record, vec![edge.kind], index.head(edge.other))),
        }
    }
    let related = related.into_iter();
    related
        .map(|(_, kinds, other)| (kinds.join(", "), step(index, other)))
        .collect()
}

/// Why it is there, for people.
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
