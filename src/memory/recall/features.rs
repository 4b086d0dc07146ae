//! The features of an exchange for a question: the numbers that ranking uses.

use super::calibration::{Calibration, Spread, probability};
use super::index::AudienceIndex;
use super::shortlist::{self, CosineEstimate, OwnScore};
use crate::memory::hints::asked::{Hints, ParsedQuestion};
use crate::retrieval::postings::{WeightedWords, WordScores};
use crate::retrieval::vectors::Quantised;

use super::feature_values::Features;

/// How many exchanges before and after on the chain describe its surroundings. Measured: 4 is better
/// than 2, 3, 6, 8 and 12.
const AROUND: usize = 4;
/// Number of leading exchanges with which the others are compared. Measured: 3 is better than 5.
const LEADERS: usize = 3;

impl Features {
    /// Whether any feature speaks for it: a vector, a common word, or a hint.
    pub(in crate::memory) fn speak_for_it(&self) -> bool {
        let Hints {
            mine,
            speaker,
            within,
            dated,
            lacking: _,
            age: _,
            beside: _,
            asking: _,
        } = self.hints;
        let is_hinted = [mine, speaker, within, dated]
            .iter()
            .any(|hint| *hint > 0.0);
        self.cosine.is_some() || self.coverage > 0.0 || is_hinted
    }

    /// The largest possible values, which a calibration has to withstand.
    pub(in crate::memory) fn extreme() -> Self {
        Self {
            cosine: Some(1.0),
            z_cosine: 1e3,
            ln_bm25: 10.0,
            z_bm25: 1e3,
            near_z_cosine: 1e3,
            near_z_bm25: 1e3,
            around_z_cosine: 1e3,
            around_z_bm25: 1e3,
            coverage: 1.0,
            peer_similarity: 1.0,
            hints: Hints::default(),
        }
    }
}

/// A candidate with its features and probability.
#[derive(Clone, Debug)]
pub(in crate::memory) struct Scored {
    pub(in crate::memory) entry: usize,
    pub(in crate::memory) features: Features,
    pub(in crate::memory) probability: f64,
}

/// The scores of one question against one index.
struct Scores<'a> {
    index: &'a AudienceIndex,
    asked: &'a ParsedQuestion,
    calibration: &'a Calibration,
    /// NaN for exchanges without a vector, or not compared; empty if the question has no vector.
    cosines: Vec<f32>,
    words: WordScores,
    cosine_spread: Spread,
    bm25_spread: Spread,
}

/// The candidates for a question.
pub(in crate::memory) struct ScoredCandidates {
    /// All candidates with their features and probabilities, unordered.
    pub(in crate::memory) scored: Vec<Scored>,
    /// Rarity of the question's rarest word that occurs nowhere in the index.
    pub(in crate::memory) unheard: f32,
}

/// Compares a question with an index.
pub(in crate::memory) fn score(
    index: &AudienceIndex,
    calibration: &Calibration,
    asked: &ParsedQuestion,
    vector: Option<&Quantised>,
    words: &WeightedWords,
) -> ScoredCandidates {
    let vector = vector.filter(|vector| vector.values.len() == index.dimension());
    let words = index.postings().score(words);
    let (prior, strength) = (&calibration.prior, calibration.prior_strength);
    let bm25_spread = prior.bm25.shrunk(&words.bm25, strength);
    let unheard = words.unheard;
    let mut scores = Scores {
        index,
        asked,
        calibration,
        cosines: Vec::new(),
        words,
        cosine_spread: prior.cosine,
        bm25_spread,
    };
    let candidates = match vector {
        Some(vector) if index.len() > shortlist::SCANNED => scores.glance(vector),
        Some(vector) => {
            scores.cosines = index.cosines(vector);
            scores.cosine_spread = prior.cosine.shrunk(&scores.cosines, strength);
            scores.candidates()
        }
        None => scores.candidates(),
    };
    let mut scored: Vec<Scored> = candidates
        .into_iter()
        .map(|entry| scores.first(entry))
        .collect();
    scores.add_peer_similarity(&mut scored);
    ScoredCandidates { scored, unheard }
}

impl Scores<'_> {
    fn cosine(&self, entry: usize) -> Option<f32> {
        self.cosines.get(entry).copied().filter(|x| !x.is_nan())
    }

    fn z_cosine(&self, entry: usize) -> Option<f32> {
        self.cosine(entry)
            .map(|cosine| self.cosine_spread.z(cosine))
    }

    fn z_bm25(&self, entry: usize) -> f32 {
        self.bm25_spread.z(self.words.bm25[entry])
    }

    /// The exchanges for which the costlier features are computed.
    fn candidates(&self) -> Vec<usize> {
        let worth = self.own_worth();
        shortlist::candidates(self.index, 0..self.index.len(), |entry| {
            worth.of(self.cosine(entry), self.words.bm25[entry])
        })
    }

    /// The same for a history too long to compare every vector. Compared are the exchanges whose
    /// vectors' signs differ little from the question's, and the neighbours that their features need.
    fn glance(&mut self, query: &Quantised) -> Vec<usize> {
        let glance = CosineEstimate::new(self.index.vectors(), query);
        let strength = self.calibration.prior_strength;
        let prior = self.calibration.prior.cosine;
        self.cosine_spread = prior.shrunk(&glance.sample, strength);
        let worth = self.own_worth();
        let chosen = glance.choose(&self.words.bm25, &worth);
        self.cosines = vec![f32::NAN; self.index.len()];
        self.compare(&chosen, query);
        let candidates = shortlist::candidates(self.index, chosen.into_iter(), |entry| {
            worth.of(self.cosine(entry), self.words.bm25[entry])
        });
        let mut around: Vec<usize> = candidates
            .iter()
            .flat_map(|&entry| self.around(entry).chain([entry]))
            .filter(|&entry| self.cosines[entry].is_nan())
            .collect();
        around.sort_unstable();
        around.dedup();
        self.compare(&around, query);
        candidates
    }

    fn compare(&mut self, entries: &[usize], query: &Quantised) {
        let cosines = self.index.vectors().cosines(entries.iter().copied(), query);
        for (&entry, cosine) in entries.iter().zip(cosines) {
            self.cosines[entry] = cosine;
        }
    }

    fn own_worth(&self) -> OwnScore {
        OwnScore::new(self.calibration, self.cosine_spread, self.bm25_spread)
    }

    fn first(&self, entry: usize) -> Scored {
        let features = self.features(entry);
        let weights = &self.calibration.weights;
        let weights = match features.cosine {
            Some(_) => &weights.first,
            None => &weights.words,
        };
        let probability = probability(weights.logit(&features) + features.hints.logit());
        Scored {
            entry,
            features,
            probability,
        }
    }

    fn features(&self, entry: usize) -> Features {
        let cosine = self.cosine(entry);
        let mut around = [0; 2 * AROUND];
        let (before, after) = self.look_around(entry, &mut around);
        let around = || before.iter().chain(after).copied();
        let beside = || before.iter().take(1).chain(after.first()).copied();
        // Without a cosine of its own, the exchange is judged by the model without cosines.
        let dense = |entry| cosine.and(self.z_cosine(entry));
        let words = |entry| self.z_bm25(entry);
        let near_z_bm25 = beside().map(words).reduce(f32::max).unwrap_or(0.0);
        let mut hints = self.asked.hints(self.index, entry);
        hints.beside = hints.speaker.max(hints.mine) * near_z_bm25.clamp(0.0, 6.0);
        Features {
            cosine,
            z_cosine: dense(entry).unwrap_or(0.0),
            ln_bm25: self.words.bm25[entry].ln_1p(),
            z_bm25: words(entry),
            near_z_cosine: beside().filter_map(dense).reduce(f32::max).unwrap_or(0.0),
            near_z_bm25,
            around_z_cosine: mean(around().filter_map(dense)),
            around_z_bm25: mean(around().map(words)),
            coverage: self.words.coverage[entry].min(1.0),
            peer_similarity: 0.0,
            hints,
        }
    }

    /// The exchanges near it on its chain.
    fn around(&self, entry: usize) -> impl Iterator<Item = usize> {
        let before = self.index.before(entry).take(AROUND);
        before.chain(self.index.after(entry).take(AROUND))
    }

    /// The same, as those before and those after it, each nearest first.
    fn look_around<'a>(
        &self,
        entry: usize,
        into: &'a mut [usize; 2 * AROUND],
    ) -> (&'a [usize], &'a [usize]) {
        let (before, after) = into.split_at_mut(AROUND);
        let fill = |into: &mut [usize], near: &mut dyn Iterator<Item = usize>| {
            into.iter_mut()
                .zip(near)
                .map(|(into, one)| *into = one)
                .count()
        };
        let earlier = fill(before, &mut self.index.before(entry));
        let later = fill(after, &mut self.index.after(entry));
        (&before[..earlier], &after[..later])
    }

    /// The second pass: similarity to the exchanges that are most likely to help.
    fn add_peer_similarity(&self, scored: &mut [Scored]) {
        let vectors = self.index.vectors();
        let leaders = leaders(scored).into_iter();
        let peers: Vec<(usize, f32, Vec<f32>)> = leaders
            .filter_map(|(leader, probability)| {
                let entries = scored.iter().map(|one| one.entry);
                let cosines = vectors.cosines(entries, &vectors.get(leader)?);
                Some((leader, probability, cosines))
            })
            .collect();
        for (place, one) in scored.iter_mut().enumerate() {
            if one.features.cosine.is_none() {
                continue;
            }
            let (mut sum, mut weight) = (0.0, 0.0);
            for (leader, probability, cosines) in &peers {
                if *leader != one.entry {
                    sum += probability * cosines[place];
                    weight += probability;
                }
            }
            one.features.peer_similarity = if weight > 0.0 { sum / weight } else { 0.0 };
            let logit = self.calibration.weights.fused.logit(&one.features);
            one.probability = probability(logit + one.features.hints.logit());
        }
    }
}

/// The most probable exchanges that have vectors, with their probabilities.
fn leaders(scored: &[Scored]) -> Vec<(usize, f32)> {
    let mut leaders: Vec<&Scored> = Vec::with_capacity(LEADERS + 1);
    for one in scored.iter().filter(|one| one.features.cosine.is_some()) {
        let place = leaders.partition_point(|leader| leader.probability >= one.probability);
        if place < LEADERS {
            leaders.insert(place, one);
            leaders.truncate(LEADERS);
        }
    }
    leaders
        .iter()
        .map(|one| (one.entry, one.probability as f32))
        .collect()
}

fn mean(values: impl Iterator<Item = f32>) -> f32 {
    let (count, sum) = values.fold((0_u32, 0.0), |(count, sum), value| (count + 1, sum + value));
    if count == 0 { 0.0 } else { sum / count as f32 }
}
