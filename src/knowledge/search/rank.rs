//! From an index and a plan to ranked chunks: what the graph knows, what reads alike, what has the
//! words, and one score of all. Pure.

use std::collections::{HashMap, VecDeque};

use chrono::NaiveDate;

use super::index::KnowledgeIndex;
use super::plan::Plan;
use super::weights::{Choice, Fusion, Graph, Weights};
use crate::retrieval::postings::WeightedWords;
use crate::retrieval::proximity::{TermMatch, Terms};
use crate::retrieval::vectors::Quantised;

/// Chunks that each part hands over.
const CANDIDATES: usize = 100;
/// The first ones, whose texts are looked at for how close the question's words stand. Reading one takes some 20 us.
const READ_CLOSELY: usize = 50;
/// Names that are followed.
const SEEDS: usize = 24;
/// Chunks that are reached from names.
const REACHED: usize = 2_000;
/// What is as old as this has half of the recency of what is new.
const HALF_LIFE_DAYS: f32 = 365.0;

/// How a chunk was found in the graph.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Confidence {
    /// From 0 to 1.
    pub sure: f32,
    /// The chunk whose name the question has.
    pub named: usize,
    /// Steps from there.
    pub steps: u32,
}

/// The parts of a chunk's score, each from 0 to 1 before it is weighed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scores {
    pub graph: f32,
    /// With the question itself; NaN where the chunk has no vector.
    pub cosine: f32,
    /// As it is; [`Scores::total`] has it as a share of the best one's.
    pub bm25: f32,
    /// The part of the question's words that it has, by their rarity.
    pub coverage: f32,
    /// How closely the question's words stand together in it; zero where it is not among the first without that.
    pub proximity: f32,
    pub recency: f32,
    pub policy: f32,
    pub total: f32,
}

/// A chunk with its score.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    pub entry: usize,
    pub scores: Scores,
    pub named: Option<Confidence>,
    /// The share, by rarity, that the rarest word of the question has that it does not have. 1 where it was not looked for.
    pub missing: f32,
}

/// What reads alike and what has the words.
#[derive(Debug, Default)]
pub struct Scanned {
    /// Of every chunk; empty without a vector.
    cosines: Vec<f32>,
    bm25: Vec<f32>,
    coverage: Vec<f32>,
}

/// Looks at every vector and at the words' lists.
pub fn scan(index: &KnowledgeIndex, plan: &Plan, vector: Option<&[f32]>) -> Scanned {
    let query = vector
        .filter(|vector| vector.len() == index.vectors().dimension())
        .and_then(Quantised::new);
    let cosines = query.map_or_else(Vec::new, |query| {
        index.vectors().cosines(0..index.len(), &query)
    });
    let mut words = WeightedWords::new();
    index.postings().weighted(&plan.text, 1.0, &mut words);
    let found = index.postings().score(&words);
    Scanned {
        cosines,
        bm25: found.bm25,
        coverage: found.coverage,
    }
}

/// Looks for names in the question, and follows the graph from what has them.
pub fn graph_match(
    index: &KnowledgeIndex,
    plan: &Plan,
    weights: &Graph,
) -> HashMap<usize, Confidence> {
    let is_seen = |number: usize| plan.seen[index.source_number(number)];
    let named = index.names().found_in(&plan.text, weights.least_name);
    let mut named: Vec<(usize, f32)> = named
        .into_iter()
        .map(|(number, sure)| (number as usize, sure))
        .filter(|(number, _)| is_seen(*number))
        .collect();
    // Numbers differ from store to store, names of chunks do not.
    named.sort_by(|a, b| {
        let surer = b.1.total_cmp(&a.1);
        surer.then_with(|| index.entry(a.0).chunk.cmp(&index.entry(b.0).chunk))
    });
    let identified = plan.identified.iter().filter(|&&number| is_seen(number));
    named.splice(0..0, identified.map(|&number| (number, 1.0)));
    let mut found: HashMap<usize, Confidence> = HashMap::new();
    let seed = |(named, sure): (usize, f32)| {
        let steps = 0;
        (named, Confidence { sure, named, steps })
    };
    let mut waiting: VecDeque<(usize, Confidence)> =
        named.into_iter().take(SEEDS).map(seed).collect();
    while let Some((number, confidence)) = waiting.pop_front() {
        let is_better = found
            .get(&number)
            .is_none_or(|known| confidence.sure > known.sure);
        if !is_better || found.len() >= REACHED || !is_seen(number) {
            continue;
        }
        found.insert(number, confidence);
        if confidence.steps >= weights.depth {
            continue;
        }
        let further = |share: f32| Confidence {
            sure: confidence.sure * share,
            steps: confidence.steps + 1,
            ..confidence
        };
        let parts = index.children(number);
        waiting.extend(parts.map(|part| (part, further(weights.part))));
        let others = index.edges(number).iter().map(|edge| edge.other);
        waiting.extend(others.map(|other| (other, further(weights.related))));
    }
    found
}

/// Puts the parts together: the best first.
pub fn fuse(
    index: &KnowledgeIndex,
    plan: &Plan,
    scanned: &Scanned,
    graph: &HashMap<usize, Confidence>,
    weights: &Fusion,
    today: NaiveDate,
) -> Vec<Ranked> {
    let is_seen = |number: usize| plan.seen[index.source_number(number)];
    let best = |scores: &[f32]| {
        let seen = scores.iter().enumerate().filter(|(at, _)| is_seen(*at));
        seen.map(|(_, score)| *score)
            .filter(|score| !score.is_nan())
            .fold(0.0_f32, f32::max)
    };
    let (best_cosine, best_bm25) = (best(&scanned.cosines), best(&scanned.bm25));
    // Where even the best has few of the words, it tells little how often and how closely they stand.
    let telling = best(&scanned.coverage).min(1.0);
    let boosted = boosts(index, plan);
    let mut candidates = Vec::new();
    candidates.extend(top(&scanned.cosines, &is_seen, index));
    candidates.extend(top(&scanned.bm25, &is_seen, index));
    let mut reached = vec![0.0; index.len()];
    for (&at, confidence) in graph {
        reached[at] = confidence.sure;
    }
    candidates.extend(top(&reached, &is_seen, index));
    candidates.extend(plan.policies.iter().map(|&at| index.policies()[at].entry));
    candidates.sort_unstable();
    candidates.dedup();
    let share = |score: f32, best: f32| {
        if best > 0.0 {
            (score / best).max(0.0)
        } else {
            0.0
        }
    };
    let ranked = candidates.into_iter().map(|number| {
        let cosine = scanned.cosines.get(number).copied().unwrap_or(f32::NAN);
        let mut scores = Scores {
            graph: reached[number],
            cosine,
            bm25: scanned.bm25[number],
            // Adding in another order may end a little above.
            coverage: scanned.coverage[number].min(1.0),
            proximity: 0.0,
            recency: recency(index.entry(number).date, today),
            policy: boosted(number),
            total: 0.0,
        };
        let alike = if cosine.is_nan() {
            0.0
        } else {
            share(cosine, best_cosine)
        };
        scores.total = weights.graph * scores.graph
            + weights.cosine * alike
            + weights.bm25 * telling * share(scores.bm25, best_bm25)
            + weights.coverage * scores.coverage
            + weights.recency * scores.recency
            + weights.policy * scores.policy;
        if plan.identified.contains(&number) {
            // More than everything else together.
            scores.total += weights.all();
        }
        Ranked {
            entry: number,
            scores,
            named: graph.get(&number).copied(),
            missing: 1.0,
        }
    });
    let mut ranked: Vec<Ranked> = ranked.collect();
    sort(&mut ranked, index);
    read_closely(&mut ranked, index, plan, weights.proximity * telling);
    sort(&mut ranked, index);
    ranked
}

/// Adds what only a look at the text tells, for the first ones.
fn read_closely(ranked: &mut [Ranked], index: &KnowledgeIndex, plan: &Plan, weight: f32) {
    let mut words = WeightedWords::new();
    index.postings().weighted(&plan.text, 1.0, &mut words);
    let terms = Terms::new(&words, index.postings());
    for one in ranked.iter_mut().take(READ_CLOSELY) {
        let entry = index.entry(one.entry);
        let heads = entry.title.iter().chain(&entry.heading).map(|head| &**head);
        let tags = entry.tags.iter().map(String::as_str);
        let TermMatch { proximity, missing } = terms.compare(&entry.text, heads.chain(tags));
        one.scores.proximity = proximity;
        one.scores.total += weight * proximity;
        one.missing = missing;
    }
}

/// The best first. Numbers differ from store to store, names of chunks do not.
fn sort(ranked: &mut [Ranked], index: &KnowledgeIndex) {
    ranked.sort_by(|a, b| {
        let better = b.scores.total.total_cmp(&a.scores.total);
        better.then_with(|| index.entry(a.entry).chunk.cmp(&index.entry(b.entry).chunk))
    });
}

/// The best of a part, those without a score left out.
fn top(scores: &[f32], is_seen: &dyn Fn(usize) -> bool, index: &KnowledgeIndex) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..scores.len())
        .filter(|&at| scores[at] > 0.0 && is_seen(at))
        .collect();
    let better = |&a: &usize, &b: &usize| {
        let better = scores[b].total_cmp(&scores[a]);
        better.then_with(|| index.entry(a).chunk.cmp(&index.entry(b).chunk))
    };
    if numbers.len() > CANDIDATES {
        numbers.select_nth_unstable_by(CANDIDATES, better);
        numbers.truncate(CANDIDATES);
    }
    numbers
}

/// How much the triggered policies want a chunk.
fn boosts<'a>(index: &'a KnowledgeIndex, plan: &'a Plan) -> impl Fn(usize) -> f32 + 'a {
    move |number| {
        let entry = index.entry(number);
        let policies = plan.policies.iter().map(|&at| &index.policies()[at]);
        let wanting = policies.filter(|policy| {
            let source = &index.source(number).name;
            policy.entry == number || policy.is_about(&entry.tags, &entry.label, source)
        });
        wanting.fold(0.0, |most: f32, policy| most.max(policy.weight))
    }
}

/// 1 for what is new; zero where nothing is known.
fn recency(date: Option<NaiveDate>, today: NaiveDate) -> f32 {
    date.map_or(0.0, |date| {
        let days = (today - date).num_days().max(0) as f32;
        (-days / HALF_LIFE_DAYS * std::f32::consts::LN_2).exp()
    })
}

/// What is kept of what was ranked: enough alike the question, none twice, within the budget.
pub fn choose(
    index: &KnowledgeIndex,
    ranked: &[Ranked],
    weights: &Weights,
    limit: usize,
) -> Vec<Ranked> {
    let choice = &weights.choice;
    let mut kept: Vec<Ranked> = Vec::new();
    let mut left = choice.tokens;
    for one in ranked {
        if kept.len() >= limit {
            break;
        }
        let tokens = index.entry(one.entry).tokens;
        let fits = tokens <= left || kept.is_empty();
        if !fits
            || !is_enough(&one.scores, choice)
            || is_there_already(index, &kept, one.entry, choice)
        {
            continue;
        }
        left = left.saturating_sub(tokens);
        kept.push(one.clone());
    }
    kept
}

/// Whether a chunk has to do with the question at all.
pub(super) fn is_enough(scores: &Scores, choice: &Choice) -> bool {
    scores.policy > 0.0
        || scores.graph >= 0.5
        || scores.coverage >= choice.least_coverage
        || scores.cosine >= choice.least_cosine
}

/// Whether what it says is there: too many of the same record, or the same in other words.
fn is_there_already(
    index: &KnowledgeIndex,
    kept: &[Ranked],
    number: usize,
    choice: &Choice,
) -> bool {
    let record = &index.entry(number).record;
    let of_record = kept
        .iter()
        .filter(|it| index.entry(it.entry).record == *record);
    if of_record.count() >= choice.per_record {
        return true;
    }
    let (postings, vectors) = (index.postings(), index.vectors());
    let own = postings.wording_of(number);
    kept.iter().any(|one| {
        let other = postings.wording_of(one.entry);
        let (fewer, more) = (own.words.min(other.words), own.words.max(other.words));
        if own.numbers != other.numbers || f32::from(fewer) < 0.9 * f32::from(more) {
            return false;
        }
        if index.entry(one.entry).text == index.entry(number).text {
            return true;
        }
        let cosine = vectors
            .get(number)
            .and_then(|own| vectors.cosine(one.entry, &own));
        cosine.is_some_and(|cosine| cosine >= choice.same_cosine)
    })
}
