//! Ranks chunks for a plan: by the graph, by vectors and by words, fused into one score. It only
//! reads the index.

use std::collections::{HashMap, VecDeque};

use chrono::NaiveDate;

use super::alike;
use super::index::{ChunkEntry, KnowledgeIndex};
use super::plan::{Plan, has_one_of, identifiers, is_of_version, versions};
use super::weights::{Choice, Fusion, Graph, Weights};
use crate::retrieval::best::{best, better, greatest, keep_best};
use crate::retrieval::postings::{WeightedWords, WordScores};
use crate::retrieval::proximity::TermMatch;
use crate::retrieval::vectors::Quantised;

/// Candidates from each part.
const CANDIDATES: usize = 100;
/// Number of top chunks whose texts are read for proximity. Reading one takes some 20 us.
const READ_CLOSELY: usize = 50;
/// Stems of the words that frame a question, as in "What does the manual say about …?": no text
/// needs to contain them.
const FRAME: [&str; 12] = [
    "accord", "book", "describ", "doc", "document", "explain", "guid", "handbook", "manual",
    "mention", "say", "tell",
];
/// Maximum names to follow.
const SEEDS: usize = 24;
/// Maximum names whose versions are compared.
const VERSIONED: usize = 200;
/// Maximum chunks reached from names.
const REACHED: usize = 2_000;
/// Age at which recency is half of that of new content.
const HALF_LIFE_DAYS: f32 = 365.0;

/// How the graph led to a chunk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Confidence {
    /// From 0 to 1.
    pub sure: f32,
    /// The chunk named in the question.
    pub named: usize,
    /// Number of steps from there.
    pub steps: u32,
}

/// The components of a chunk's score, each from 0 to 1 before weighting.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scores {
    pub graph: f32,
    /// With the question itself; NaN if the chunk has no vector.
    pub cosine: f32,
    /// Unscaled; [`Scores::total`] takes it as a share of the best.
    pub bm25: f32,
    /// The part of the question's words in the chunk, weighted by rarity.
    pub coverage: f32,
    /// How closely the question's words occur together in it; zero outside of the chunks read
    /// closely.
    pub proximity: f32,
    pub recency: f32,
    pub policy: f32,
    pub total: f32,
}

/// A chunk with its score.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    pub entry: usize,
    /// The first chunk of its record.
    pub head: usize,
    pub scores: Scores,
    pub named: Option<Confidence>,
    /// The rarity of the rarest question word that it lacks, as a share of all. 1 if not examined.
    pub missing: f32,
    /// Whether its text has an identifier of the question, such as `B-1042`.
    pub has_identifier: bool,
}

/// The results of vectors and words.
#[derive(Debug, Default)]
pub struct Scanned {
    /// `None` without a vector.
    query: Option<Quantised>,
    /// Of the compared chunks, in order; the others are less similar, within the precision of
    /// signs.
    cosines: Vec<(usize, f32)>,
    bm25: Vec<f32>,
    coverage: Vec<f32>,
    /// The question's words, with the rarity of each.
    words: WeightedWords,
    rarities: Vec<f32>,
}

/// Searches the vectors and the word lists.
pub fn scan(index: &KnowledgeIndex, plan: &Plan, vector: Option<&[f32]>) -> Scanned {
    let query = vector
        .filter(|vector| vector.len() == index.dimension())
        .and_then(Quantised::new);
    let cosines = query.as_ref().map_or_else(Vec::new, |query| {
        let compared = alike::compared(index, &plan.seen, query);
        let cosines = index.cosines(&compared, query);
        compared.into_iter().zip(cosines).collect()
    });
    let words = index.words_of(&plan.text);
    let WordScores {
        bm25,
        coverage,
        rarities,
        unheard: _,
    } = index.word_scores(&words, &plan.seen);
    Scanned {
        query,
        cosines,
        bm25,
        coverage,
        words,
        rarities,
    }
}

/// Finds names in the question, and follows the graph from the named chunks.
pub fn graph_match(
    index: &KnowledgeIndex,
    plan: &Plan,
    weights: &Graph,
) -> HashMap<usize, Confidence> {
    let is_seen = |number: usize| plan.seen[index.source_number(number)];
    let mut named = index.named_in(&plan.text, weights.least_name, &plan.seen);
    keep_version(&mut named, index, &plan.text);
    keep_best(&mut named, SEEDS);
    named.sort_unstable_by(better);
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
        let (parts, edges) = index.near(number);
        let parts = parts.into_iter();
        waiting.extend(parts.map(|part| (part, further(weights.part))));
        let others = edges.iter().map(|edge| edge.other);
        waiting.extend(others.map(|other| (other, further(weights.related))));
    }
    found
}

/// Removes names of other versions than a question has: the words of `2.39.2` are among those of
/// `2.39.0`.
fn keep_version(named: &mut Vec<(usize, f32)>, index: &KnowledgeIndex, text: &str) {
    let versions = versions(text);
    if versions.is_empty() {
        return;
    }
    keep_best(named, VERSIONED);
    named.retain(|&(number, _)| {
        let entry = index.entry(number);
        let name = entry.heading.or(entry.title).unwrap_or_default();
        is_of_version(&name, &versions)
    });
}

/// The best score of each part, which scales the others.
#[derive(Clone, Copy, Debug)]
struct Best {
    cosine: f32,
    bm25: f32,
    /// If even the best chunk has few of the words, their frequency and proximity are less
    /// informative.
    telling: f32,
}

impl Best {
    fn of(index: &KnowledgeIndex, plan: &Plan, scanned: &Scanned) -> Self {
        let seen = |scores: &[f32]| {
            let seen = index.seen_entries(&plan.seen);
            seen.map(|range| greatest(&scores[range]))
                .fold(0.0, f32::max)
        };
        let cosines = scanned.cosines.iter().map(|(_, cosine)| *cosine);
        Self {
            cosine: cosines
                .filter(|cosine| !cosine.is_nan())
                .fold(0.0, f32::max),
            bm25: seen(&scanned.bm25),
            telling: seen(&scanned.coverage).min(1.0),
        }
    }
}

/// Fuses the parts into a ranking, best first.
pub fn fuse(
    index: &KnowledgeIndex,
    plan: &Plan,
    scanned: &Scanned,
    graph: &HashMap<usize, Confidence>,
    weights: &Fusion,
    today: NaiveDate,
) -> Vec<Ranked> {
    let best = Best::of(index, plan, scanned);
    let candidates = candidates(index, plan, scanned, graph);
    let cosines = cosines(index, scanned, &candidates);
    let ranked = candidates.into_iter().zip(cosines).map(|(number, cosine)| {
        let entry = index.entry(number);
        let source = &index.source(number).name;
        let named = graph.get(&number).copied();
        let mut scores = Scores {
            graph: named.map_or(0.0, |named| named.sure),
            cosine,
            bm25: scanned.bm25[number],
            // Summing in another order may exceed 1 slightly.
            coverage: scanned.coverage[number].min(1.0),
            proximity: 0.0,
            recency: recency(entry.date, today),
            policy: boost(index, plan, number, &entry, source),
            total: 0.0,
        };
        scores.total = total(&scores, best, weights);
        if plan.identified.contains(&number) {
            // More than all other parts together.
            scores.total += weights.all();
        }
        Ranked {
            entry: number,
            head: index.head_of(number, &entry),
            scores,
            named,
            missing: 1.0,
            has_identifier: false,
        }
    });
    let mut ranked: Vec<Ranked> = ranked.collect();
    sort(&mut ranked);
    read_closely(
        &mut ranked,
        index,
        plan,
        scanned,
        weights.proximity * best.telling,
    );
    sort(&mut ranked);
    ranked
}

/// Adds what needs the text itself, for the top chunks.
fn read_closely(
    ranked: &mut [Ranked],
    index: &KnowledgeIndex,
    plan: &Plan,
    scanned: &Scanned,
    weight: f32,
) {
    let identifiers = identifiers(&plan.text);
    let words = scanned.words.iter().zip(&scanned.rarities);
    let rarities = words.map(|(word, &rarity)| {
        let is_frame = FRAME.contains(&word.stem.as_str());
        if is_frame { 0.0 } else { rarity }
    });
    let rarities: Vec<f32> = rarities.collect();
    let terms = index.terms(&scanned.words, &rarities);
    for one in ranked.iter_mut().take(READ_CLOSELY) {
        let (entry, text) = index.entry_and_text(one.entry);
        let heads = entry.title.iter().chain(&entry.heading).chain(&entry.tags);
        let heads = heads.map(String::as_str);
        let TermMatch { proximity, missing } = terms.compare(&text, heads);
        one.scores.proximity = proximity;
        one.scores.total += weight * proximity;
        one.missing = missing;
        one.has_identifier = has_one_of(&text, &identifiers);
    }
}

/// Sorts best first; ties in the order of the source.
fn sort(ranked: &mut [Ranked]) {
    ranked.sort_by(|a, b| {
        let better = b.scores.total.total_cmp(&a.scores.total);
        better.then_with(|| a.entry.cmp(&b.entry))
    });
}

/// Returns the numbers of all possible top chunks, in order.
fn candidates(
    index: &KnowledgeIndex,
    plan: &Plan,
    scanned: &Scanned,
    graph: &HashMap<usize, Confidence>,
) -> Vec<usize> {
    let words = index.seen_entries(&plan.seen).flat_map(|range| {
        let found = best(&scanned.bm25[range.clone()], CANDIDATES).into_iter();
        found.map(move |(own, score)| (range.start + own, score))
    });
    let reached = graph.iter().map(|(number, found)| (*number, found.sure));
    let mut candidates = top(words);
    candidates.extend(top(scanned.cosines.iter().copied()));
    candidates.extend(top(reached));
    candidates.extend(plan.policies.iter().map(|&at| index.policies()[at].entry));
    candidates.sort_unstable();
    candidates.dedup();
    candidates
}

/// Returns the cosines of candidates, computing the missing ones.
fn cosines(index: &KnowledgeIndex, scanned: &Scanned, candidates: &[usize]) -> Vec<f32> {
    let Some(query) = &scanned.query else {
        return vec![f32::NAN; candidates.len()];
    };
    let known = |number: &usize| {
        let place = scanned
            .cosines
            .binary_search_by_key(number, |(own, _)| *own);
        place.ok().map(|place| scanned.cosines[place].1)
    };
    let others = candidates.iter().filter(|it| known(it).is_none());
    let others: Vec<usize> = others.copied().collect();
    let mut compared = index.cosines(&others, query).into_iter();
    let of = |number| {
        known(number)
            .or_else(|| compared.next())
            .unwrap_or(f32::NAN)
    };
    candidates.iter().map(of).collect()
}

/// Returns the weighted sum of the parts.
fn total(scores: &Scores, best: Best, weights: &Fusion) -> f32 {
    let share = |score: f32, best: f32| {
        if best > 0.0 {
            (score / best).max(0.0)
        } else {
            0.0
        }
    };
    let alike = if scores.cosine.is_nan() {
        0.0
    } else {
        share(scores.cosine, best.cosine)
    };
    weights.graph * scores.graph
        + weights.cosine * alike
        + weights.bm25 * best.telling * share(scores.bm25, best.bm25)
        + weights.coverage * scores.coverage
        + weights.recency * scores.recency
        + weights.policy * scores.policy
}

/// Returns the best entries of a part, without those that have no score.
fn top(scores: impl Iterator<Item = (usize, f32)>) -> Vec<usize> {
    let mut scored: Vec<(usize, f32)> = scores.filter(|(_, score)| *score > 0.0).collect();
    keep_best(&mut scored, CANDIDATES);
    scored.into_iter().map(|(number, _)| number).collect()
}

/// Returns how much the triggered policies boost a chunk.
fn boost(
    index: &KnowledgeIndex,
    plan: &Plan,
    number: usize,
    entry: &ChunkEntry,
    source: &str,
) -> f32 {
    let policies = plan.policies.iter().map(|&at| &index.policies()[at]);
    let wanting = policies.filter(|policy| {
        policy.entry == number || policy.is_about(&entry.tags, &entry.label, source)
    });
    wanting.fold(0.0, |most: f32, policy| most.max(policy.weight))
}

/// Returns the recency: 1 for new content; zero if the date is unknown.
fn recency(date: Option<NaiveDate>, today: NaiveDate) -> f32 {
    date.map_or(0.0, |date| {
        let days = (today - date).num_days().max(0) as f32;
        (-days / HALF_LIFE_DAYS * std::f32::consts::LN_2).exp()
    })
}

/// Chooses from the ranking: similar enough to the question, without repetitions, within the
/// budget.
pub fn choose(index: &KnowledgeIndex, ranked: &[Ranked], choice: &Choice) -> Vec<Ranked> {
    let mut kept: Vec<(Ranked, ChunkEntry)> = Vec::new();
    let mut left = choice.tokens;
    for one in ranked {
        if kept.len() >= choice.limit {
            break;
        }
        // Words that no text has make the others of the question count little.
        if !is_enough(&one.scores, choice) && !one.has_identifier {
            continue;
        }
        let entry = index.entry(one.entry);
        let fits = entry.tokens <= left || kept.is_empty();
        if !fits || is_there_already(index, &kept, one.entry, &entry, choice) {
            continue;
        }
        left = left.saturating_sub(entry.tokens);
        kept.push((one.clone(), entry));
    }
    kept.into_iter().map(|(one, _)| one).collect()
}

/// Whether a chunk is related to the question at all.
pub(super) fn is_enough(scores: &Scores, choice: &Choice) -> bool {
    scores.policy > 0.0
        || scores.graph >= 0.5
        || scores.coverage >= choice.least_coverage
        || scores.cosine >= choice.least_cosine
}

/// Whether a chunk is quoted to a person below the best one, because its score is not far below that one's. What a policy
/// wants is, in any case.
pub(super) fn is_quoted_below(best: &Scores, scores: &Scores, weights: &Weights) -> bool {
    // What is identified has more than all other parts together.
    let best_total = best.total.min(weights.fusion.all());
    // Without a vector the scores are others, for which no share was measured.
    best.cosine.is_nan()
        || scores.policy > 0.0
        || scores.total >= weights.choice.least_share * best_total
}

/// Whether it adds nothing: too many of the same record, or the same in other words.
fn is_there_already(
    index: &KnowledgeIndex,
    kept: &[(Ranked, ChunkEntry)],
    number: usize,
    entry: &ChunkEntry,
    choice: &Choice,
) -> bool {
    let of_record = kept.iter().filter(|(_, it)| it.record == entry.record);
    if of_record.count() >= choice.per_record {
        return true;
    }
    let own = entry.wording;
    kept.iter().any(|(one, kept)| {
        let other = kept.wording;
        let (fewer, more) = (own.words.min(other.words), own.words.max(other.words));
        if own.numbers != other.numbers || f32::from(fewer) < 0.9 * f32::from(more) {
            return false;
        }
        if index.text(one.entry) == index.text(number) {
            return true;
        }
        let vectors = index.vector(one.entry).zip(index.vector(number));
        vectors.is_some_and(|(one, own)| {
            one.values.len() == own.values.len() && one.cosine(&own) >= choice.same_cosine
        })
    })
}
