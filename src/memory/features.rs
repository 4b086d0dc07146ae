//! What is known of an exchange in the light of a question, as numbers.

use super::calibration::{Calibration, Spread, probability};
use super::index::{AudienceIndex, Quantised};
use super::postings::{WeightedWords, WordScores};

/// Up to here every exchange is a candidate; above it, the best by their own scores are, and the
/// neighbours of the very best.
const ALL_ARE_CANDIDATES: usize = 1_024;
/// Candidates by their own scores in a long history.
const POOL: usize = 512;
/// Of these, the ones whose neighbours are candidates too.
const POOL_WITH_NEIGHBOURS: usize = 64;
/// How far along the chain the mood of a talk reaches, in exchanges each way. Measured: 4 is better
/// than 2, 3, 6, 8 and 12.
const AROUND: usize = 4;
/// Whose company is looked at. Measured: 3 is better than 5.
const LEADERS: usize = 3;

/// The features of one exchange for one question. `docs/recall.md` says what each brings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Features {
    /// Cosine of the question and the exchange; `None` where one has no vector, and then whatever
    /// follows of cosines is zero.
    pub cosine: Option<f32>,
    /// The cosine in deviations from this question's mean, shrunk to the prior.
    pub z_cosine: f32,
    /// `ln(1 + BM25)`.
    pub ln_bm25: f32,
    /// BM25 in deviations from this question's mean, shrunk to the prior.
    pub z_bm25: f32,
    /// The larger `z_cosine` of the exchanges next to it on its chain; zero if there is none.
    pub near_z_cosine: f32,
    /// The larger `z_bm25` of the exchanges next to it.
    pub near_z_bm25: f32,
    /// The mean `z_cosine` of up to four exchanges before and four after it.
    pub around_z_cosine: f32,
    /// The mean `z_bm25` of the same.
    pub around_z_bm25: f32,
    /// The part of the question's words, by their rarity, that it has: 0 to 1.
    pub coverage: f32,
    /// Its mean cosine with the three other exchanges that are most likely to help, by their
    /// probability: what helps with one part of a question looks like what helps with another.
    pub company: f32,
}

impl Features {
    /// As large as anything gets: what a calibration has to survive.
    pub(super) fn extreme() -> Self {
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
            company: 1.0,
        }
    }
}

/// An exchange that may help.
#[derive(Clone, Debug)]
pub(super) struct Scored {
    pub(super) entry: usize,
    pub(super) features: Features,
    pub(super) probability: f64,
}

/// One question against one index.
struct Scores<'a> {
    index: &'a AudienceIndex,
    calibration: &'a Calibration,
    /// NaN where an exchange has no vector; empty where the question has none.
    cosines: Vec<f32>,
    words: WordScores,
    cosine_spread: Spread,
    bm25_spread: Spread,
}

/// Every candidate with its features and the probability that it helps, in no order.
pub(super) fn score(
    index: &AudienceIndex,
    calibration: &Calibration,
    vector: Option<&Quantised>,
    words: &WeightedWords,
) -> Vec<Scored> {
    let cosines = vector
        .filter(|vector| vector.values.len() == index.dimension())
        .map_or_else(Vec::new, |vector| index.cosines(vector));
    let words = index.postings().score(words);
    let strength = calibration.prior_strength;
    let scores = Scores {
        cosine_spread: calibration.prior.cosine.shrunk(&cosines, strength),
        bm25_spread: calibration.prior.bm25.shrunk(&words.bm25, strength),
        index,
        calibration,
        cosines,
        words,
    };
    let mut scored: Vec<Scored> = scores
        .candidates()
        .into_iter()
        .map(|entry| scores.first(entry))
        .collect();
    scores.add_company(&mut scored);
    scored
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

    /// Which exchanges are worth the dearer features.
    fn candidates(&self) -> Vec<usize> {
        let count = self.index.len();
        if count <= ALL_ARE_CANDIDATES {
            return (0..count).collect();
        }
        let mut order: Vec<(f32, u32)> = (0..count as u32)
            .map(|entry| (self.own_worth(entry as usize), entry))
            .collect();
        let best_first = |a: &(f32, u32), b: &(f32, u32)| b.0.total_cmp(&a.0);
        order.select_nth_unstable_by(POOL, best_first);
        order.truncate(POOL);
        order.select_nth_unstable_by(POOL_WITH_NEIGHBOURS, best_first);
        let mut chosen: Vec<usize> = order.iter().map(|&(_, entry)| entry as usize).collect();
        for best in 0..POOL_WITH_NEIGHBOURS {
            chosen.extend(self.before(chosen[best]).take(2));
            chosen.extend(self.after(chosen[best]).take(2));
        }
        chosen.sort_unstable();
        chosen.dedup();
        chosen
    }

    /// The log-odds by what needs no look at other exchanges, for choosing the candidates.
    fn own_worth(&self, entry: usize) -> f32 {
        let z_bm25 = self.z_bm25(entry);
        match self.z_cosine(entry) {
            Some(z_cosine) => {
                let weights = &self.calibration.weights.first;
                let per_deviation = weights.cosine * self.cosine_spread.deviation;
                (weights.z_cosine + per_deviation) * z_cosine + weights.z_bm25 * z_bm25
            }
            None => self.calibration.weights.words.z_bm25 * z_bm25,
        }
    }

    fn first(&self, entry: usize) -> Scored {
        let features = self.features(entry);
        let weights = &self.calibration.weights;
        let weights = match features.cosine {
            Some(_) => &weights.first,
            None => &weights.words,
        };
        let probability = probability(weights.logit(&features));
        Scored {
            entry,
            features,
            probability,
        }
    }

    fn features(&self, entry: usize) -> Features {
        let cosine = self.cosine(entry);
        let beside = || self.before(entry).take(1).chain(self.after(entry).take(1));
        let around = || {
            let before = self.before(entry).take(AROUND);
            before.chain(self.after(entry).take(AROUND))
        };
        // Without a cosine of its own the other model judges it, which knows no cosines.
        let dense = |entry| cosine.and(self.z_cosine(entry));
        let words = |entry| self.z_bm25(entry);
        Features {
            cosine,
            z_cosine: dense(entry).unwrap_or(0.0),
            ln_bm25: self.words.bm25[entry].ln_1p(),
            z_bm25: words(entry),
            near_z_cosine: beside().filter_map(dense).reduce(f32::max).unwrap_or(0.0),
            near_z_bm25: beside().map(words).reduce(f32::max).unwrap_or(0.0),
            around_z_cosine: mean(around().filter_map(dense)),
            around_z_bm25: mean(around().map(words)),
            coverage: self.words.coverage[entry].min(1.0),
            company: 0.0,
        }
    }

    fn before(&self, entry: usize) -> impl Iterator<Item = usize> {
        let step = |&at: &usize| self.index.entry(at).previous.map(|at| at as usize);
        std::iter::successors(step(&entry), step)
    }

    fn after(&self, entry: usize) -> impl Iterator<Item = usize> {
        let step = |&at: &usize| self.index.entry(at).next.map(|at| at as usize);
        std::iter::successors(step(&entry), step)
    }

    /// The second look: who resembles those that are most likely to help.
    fn add_company(&self, scored: &mut [Scored]) {
        let leaders = leaders(scored);
        for one in scored
            .iter_mut()
            .filter(|one| one.features.cosine.is_some())
        {
            let (mut sum, mut weight) = (0.0, 0.0);
            for &(leader, probability) in leaders.iter().filter(|(leader, _)| *leader != one.entry)
            {
                if let Some(cosine) = self.index.cosine_between(leader, one.entry) {
                    sum += probability * cosine;
                    weight += probability;
                }
            }
            one.features.company = if weight > 0.0 { sum / weight } else { 0.0 };
            let logit = self.calibration.weights.fused.logit(&one.features);
            one.probability = probability(logit);
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
