//! Selects the exchanges of a long history that are worth a closer look.
//!
//! Up to [`SCANNED`] exchanges every vector is compared. With more, memory bandwidth is too low for
//! that: the signs of the vectors' components, an eighth of the size, select which vectors are
//! compared, and a sample shows what is usual.

use super::calibration::{Calibration, Spread};
use super::index::AudienceIndex;
use crate::retrieval::vectors::{Quantised, Vectors};

/// Number of exchanges up to which every vector is compared.
pub(in crate::memory) const SCANNED: usize = 8_192;
/// Number of vectors compared to learn what is usual, in [`RUN`]s spread evenly over the history.
const SAMPLE: usize = 2_048;
/// Number of adjacent vectors that are sampled together.
const RUN: usize = 16;
/// Number of vectors compared because of their signs or words.
const COMPARED: usize = 1_536;
/// Up to this number every exchange is a candidate. Above it, the best by their own scores are, and
/// the neighbours of the very best.
const ALL_ARE_CANDIDATES: usize = 1_024;
/// Number of candidates by their own scores.
const POOL: usize = 256;
/// Number of those whose neighbours are candidates too.
const POOL_WITH_NEIGHBOURS: usize = 64;

/// The part of an exchange's log-odds that does not depend on other exchanges: linear in cosine and
/// BM25.
#[derive(Clone, Copy, Debug)]
pub(in crate::memory) struct OwnScore {
    per_cosine: f32,
    per_bm25: f32,
    /// For an exchange without a vector.
    per_bm25_alone: f32,
    /// Offset for exchanges with a vector, so that both kinds have one scale.
    with_vector: f32,
}

impl OwnScore {
    pub(in crate::memory) fn new(calibration: &Calibration, cosine: Spread, bm25: Spread) -> Self {
        let (first, words) = (&calibration.weights.first, &calibration.weights.words);
        let per_cosine = first.z_cosine / cosine.deviation + first.cosine;
        let per_bm25 = first.z_bm25 / bm25.deviation;
        let per_bm25_alone = words.z_bm25 / bm25.deviation;
        Self {
            per_cosine,
            per_bm25,
            per_bm25_alone,
            with_vector: (per_bm25_alone - per_bm25) * bm25.mean - per_cosine * cosine.mean,
        }
    }

    pub(in crate::memory) fn of(&self, cosine: Option<f32>, bm25: f32) -> f32 {
        match cosine {
            Some(cosine) => self.with_vector + self.per_cosine * cosine + self.per_bm25 * bm25,
            None => self.per_bm25_alone * bm25,
        }
    }
}

/// The best candidates among `entries`, in the order of their exchanges.
pub(in crate::memory) fn candidates(
    index: &AudienceIndex,
    entries: impl ExactSizeIterator<Item = usize>,
    worth: impl Fn(usize) -> f32,
) -> Vec<usize> {
    if entries.len() <= ALL_ARE_CANDIDATES {
        return entries.collect();
    }
    let mut pool = best(entries, POOL, worth);
    let leading = POOL_WITH_NEIGHBOURS.min(pool.len());
    if leading < pool.len() {
        pool.select_nth_unstable_by(leading, best_first);
    }
    let mut chosen: Vec<usize> = pool.iter().map(|&(_, entry)| entry as usize).collect();
    for at in 0..leading {
        chosen.extend(index.before(chosen[at]).take(2));
        chosen.extend(index.after(chosen[at]).take(2));
    }
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}

/// A prefilter: estimates a question's cosines from signs.
#[derive(Debug)]
pub(in crate::memory) struct CosineEstimate<'a> {
    vectors: &'a Vectors,
    distances: Vec<u16>,
    sampled: Vec<usize>,
    /// Cosines of a sample; NaN if an exchange has no vector.
    pub(in crate::memory) sample: Vec<f32>,
    expected: RegressionLine,
}

/// A line that predicts the cosine from the number of differing signs.
#[derive(Clone, Copy, Debug)]
struct RegressionLine {
    of_none: f32,
    per_sign: f32,
}

impl<'a> CosineEstimate<'a> {
    pub(in crate::memory) fn new(vectors: &'a Vectors, query: &Quantised) -> Self {
        let distances = vectors.sign_distances(&query.signs());
        let sampled = sample(distances.len());
        let sample = vectors.cosines(sampled.iter().copied(), query);
        let pairs = sampled.iter().zip(&sample).filter(|(_, y)| !y.is_nan());
        let pairs: Vec<(f32, f32)> = pairs
            .map(|(&entry, &cosine)| (f32::from(distances[entry]), cosine))
            .collect();
        Self {
            vectors,
            expected: RegressionLine::through(&pairs, vectors.dimension()),
            distances,
            sampled,
            sample,
        }
    }

    /// The exchanges whose vectors are to be compared, in order. They include exchanges that have
    /// only words.
    pub(in crate::memory) fn choose(&self, bm25: &[f32], worth: &OwnScore) -> Vec<usize> {
        let worths = self.worths(bm25, worth);
        let least = self.least(&worths);
        let good_enough = (0..worths.len()).filter(|&entry| worths[entry] >= least);
        let mut chosen: Vec<usize> = best(good_enough, COMPARED, |entry| worths[entry])
            .into_iter()
            .map(|(_, entry)| entry as usize)
            .collect();
        chosen.sort_unstable();
        chosen
    }

    /// The score of each exchange by its predicted cosine and its words.
    fn worths(&self, bm25: &[f32], worth: &OwnScore) -> Vec<f32> {
        let RegressionLine { of_none, per_sign } = self.expected;
        let of_none = worth.of(Some(of_none), 0.0);
        let per_sign = worth.per_cosine * per_sign;
        let exchanges = self.distances.iter().zip(bm25).zip(self.vectors.scales());
        exchanges
            .map(|((&distance, &bm25), &scale)| {
                let dense = of_none + per_sign * f32::from(distance) + worth.per_bm25 * bm25;
                let words_alone = worth.per_bm25_alone * bm25;
                if scale > 0.0 { dense } else { words_alone }
            })
            .collect()
    }

    /// A minimum score that slightly more than [`COMPARED`] exchanges reach, estimated from the
    /// sample.
    fn least(&self, worths: &[f32]) -> f32 {
        let mut sampled: Vec<f32> = self.sampled.iter().map(|&entry| worths[entry]).collect();
        let place = sampled.len() * (COMPARED + COMPARED / 2) / worths.len();
        let (_, least, _) = sampled.select_nth_unstable_by(place, |a, b| b.total_cmp(a));
        *least
    }
}

fn sample(count: usize) -> Vec<usize> {
    let runs = SAMPLE / RUN;
    let starts = (0..runs).map(|run| run * (count - RUN) / runs);
    starts.flat_map(|start| start..start + RUN).collect()
}

impl RegressionLine {
    /// A least-squares fit of cosines to numbers of differing signs.
    fn through(pairs: &[(f32, f32)], dimension: usize) -> Self {
        let count = pairs.len().max(1) as f32;
        let sums = pairs
            .iter()
            .fold((0.0, 0.0), |(a, b), (x, y)| (a + x, b + y));
        let (mean_x, mean_y) = (sums.0 / count, sums.1 / count);
        let (mut products, mut squares) = (0.0, 0.0);
        for (x, y) in pairs {
            products += (x - mean_x) * (y - mean_y);
            squares += (x - mean_x) * (x - mean_x);
        }
        // If the sample shows nothing, fewer differences are still better.
        let per_sign = if products < 0.0 {
            products / squares
        } else {
            -1.0 / dimension as f32
        };
        Self {
            of_none: mean_y - per_sign * mean_x,
            per_sign,
        }
    }
}

fn best_first(a: &(f32, u32), b: &(f32, u32)) -> std::cmp::Ordering {
    b.0.total_cmp(&a.0).then(b.1.cmp(&a.1))
}

/// The `keep` entries with the highest scores, unordered; of equals the newer.
fn best(
    entries: impl Iterator<Item = usize>,
    keep: usize,
    worth: impl Fn(usize) -> f32,
) -> Vec<(f32, u32)> {
    let mut best = Vec::with_capacity(2 * keep);
    let mut least = f32::NEG_INFINITY;
    for entry in entries {
        let worth = worth(entry);
        if worth < least {
            continue;
        }
        best.push((worth, entry as u32));
        if best.len() == 2 * keep {
            best.select_nth_unstable_by(keep, best_first);
            least = best[keep].0;
            best.truncate(keep);
        }
    }
    if best.len() > keep {
        best.select_nth_unstable_by(keep, best_first);
        best.truncate(keep);
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    /// xorshift64*, -1 to 1.
    struct Random(u64);

    impl Random {
        fn next(&mut self) -> f32 {
            self.0 ^= self.0 >> 12;
            self.0 ^= self.0 << 25;
            self.0 ^= self.0 >> 27;
            let high = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 40;
            high as f32 / (1_u64 << 23) as f32 - 1.0
        }

        /// A vector between `middle` and a random one.
        fn near(&mut self, middle: &[f32], likeness: f32) -> Vec<f32> {
            let mix = |x: &f32| likeness * x + (1.0 - likeness) * self.next();
            middle.iter().map(mix).collect()
        }
    }

    #[test]
    fn what_is_most_like_the_question_is_among_those_compared() {
        let mut random = Random(7);
        let question = random.near(&[0.0; 64], 0.0);
        let mut vectors = Vectors::new(64);
        for number in 0..SCANNED + 100 {
            let likeness = random.next().max(0.0).powi(3) * 0.8;
            let vector = random.near(&question, likeness);
            let known = number % 5 > 0;
            vectors.push(Quantised::new(&vector).filter(|_| known).as_ref());
        }
        let question = Quantised::new(&question).unwrap();
        let count = vectors.scales().len();
        let mut bm25 = vec![0.0; count];
        // Without a vector, but with many of the question's words.
        bm25[5_000] = 30.0;
        let glance = CosineEstimate::new(&vectors, &question);
        let calibration = Calibration::shipped().unwrap();
        let cosine = calibration.prior.cosine.shrunk(&glance.sample, 32.0);
        let worth = OwnScore::new(&calibration, cosine, calibration.prior.bm25);
        let chosen = glance.choose(&bm25, &worth);
        assert!(chosen.len() <= COMPARED && chosen.contains(&5_000));
        let exact = vectors.cosines(0..count, &question);
        let dense = (0..count).filter(|&entry| vectors.has(entry));
        for (_, entry) in best(dense, 100, |entry| exact[entry]) {
            assert!(chosen.contains(&(entry as usize)), "{entry}");
        }
    }

    #[test]
    fn a_sample_that_says_nothing_still_prefers_what_has_the_same_signs() {
        for pairs in [&[][..], &[(3.0, 0.5)], &[(3.0, 0.5), (4.0, 0.6)]] {
            let line = RegressionLine::through(pairs, 64);
            assert!(line.per_sign < 0.0 && line.of_none.is_finite());
        }
    }

    #[test]
    fn the_best_are_kept_and_of_equals_the_newest() {
        let worth = |entry: usize| if entry == 3 { 1.0 } else { 0.0 };
        let mut found = best(0..1_000, 4, worth);
        found.sort_unstable_by(best_first);
        assert_eq!(found, [(1.0, 3), (0.0, 999), (0.0, 998), (0.0, 997)]);
    }
}
