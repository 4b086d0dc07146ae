//! Maps scores to the probability that an exchange helps to answer. The coefficients are fitted
//! elsewhere (`crates/retrieval/embedder/training/fit_recall.py`) and applied here.

use serde::{Deserialize, Serialize};

use super::feature_values::Features;

const SHIPPED: &str = include_str!("calibration.json");

/// The coefficients for one embedder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// The embedder for which they were fitted.
    pub embedder: String,
    /// The probability from which recalling is worthwhile, by the measured operating points.
    pub threshold: f64,
    /// Number of exchanges that the prior counts as when a query's scores are centred.
    #[serde(rename = "K")]
    pub prior_strength: f32,
    pub prior: Prior,
    pub weights: WeightSets,
}

/// Mean and standard deviation of a query's scores over a usual history, so that a short history is
/// not judged by itself alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prior {
    pub cosine: Spread,
    pub bm25: Spread,
}

/// The distribution of scores.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    pub mean: f32,
    pub deviation: f32,
}

/// Three logistic models.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WeightSets {
    /// Without [`Features::peer_similarity`]; selects the leaders with which others are compared.
    pub first: Weights,
    /// With all features.
    pub fused: Weights,
    /// For exchanges without a vector: embeddings are down, or come from another embedder.
    pub words: Weights,
}

/// One coefficient per feature, named as in [`Features`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Weights {
    pub bias: f32,
    pub cosine: f32,
    pub z_cosine: f32,
    pub ln_bm25: f32,
    pub z_bm25: f32,
    pub near_z_cosine: f32,
    pub near_z_bm25: f32,
    pub around_z_cosine: f32,
    pub around_z_bm25: f32,
    pub coverage: f32,
    #[serde(rename = "company")]
    pub peer_similarity: f32,
}

/// Why a calibration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CalibrationError {
    #[error("the recall calibration is not what is expected: {0}")]
    Malformed(#[from] serde_json::Error),
    #[error("the recall calibration holds a number that makes no sense: {0}")]
    Nonsense(&'static str),
}

impl Calibration {
    /// Returns the calibration of the embedder in the program.
    ///
    /// # Errors
    /// Fails when the program was built from a broken file.
    pub fn shipped() -> Result<Self, CalibrationError> {
        Self::from_json(SHIPPED)
    }

    /// Reads and checks a calibration file.
    ///
    /// # Errors
    /// Fails when it is not JSON of this shape, or contains numbers that cannot be used.
    pub fn from_json(json: &str) -> Result<Self, CalibrationError> {
        let calibration: Self = serde_json::from_str(json)?;
        calibration.check()?;
        Ok(calibration)
    }

    pub(in crate::memory) fn check(&self) -> Result<(), CalibrationError> {
        let Prior { cosine, bm25 } = &self.prior;
        let sound = |spread: &Spread| spread.mean.is_finite() && spread.deviation > 0.0;
        if !sound(cosine) || !sound(bm25) {
            return Err(CalibrationError::Nonsense("prior"));
        }
        if !(self.prior_strength > 0.0 && self.prior_strength.is_finite()) {
            return Err(CalibrationError::Nonsense("K"));
        }
        if !(0.0..=1.0).contains(&self.threshold) {
            return Err(CalibrationError::Nonsense("threshold"));
        }
        let WeightSets {
            first,
            fused,
            words,
        } = &self.weights;
        let extreme = Features::extreme();
        if ![first, fused, words]
            .iter()
            .all(|weights| weights.logit(&extreme).is_finite())
        {
            return Err(CalibrationError::Nonsense("weights"));
        }
        Ok(())
    }

    /// The same weights mapped to the scale of an embedder with another distribution of cosines. A
    /// substitute until its own history is calibrated.
    #[must_use]
    pub fn moved_to(&self, embedder: &str, cosine: Spread) -> Self {
        let mut moved = self.clone();
        embedder.clone_into(&mut moved.embedder);
        let stretch = self.prior.cosine.deviation / cosine.deviation.max(1e-3);
        for weights in [&mut moved.weights.first, &mut moved.weights.fused] {
            weights.bias += weights.cosine * (self.prior.cosine.mean - stretch * cosine.mean);
            weights.cosine *= stretch;
            weights.peer_similarity *= stretch;
        }
        moved.prior.cosine = cosine;
        moved
    }
}

impl Spread {
    /// The mean and deviation of the scores, shrunk towards `self`, which counts as `strength`
    /// scores. Scores that are not numbers are left out.
    pub(in crate::memory) fn shrunk(self, scores: &[f32], strength: f32) -> Self {
        let Moments {
            count,
            sum,
            squares,
        } = Moments::of(scores);
        let strength = f64::from(strength);
        let own_mean = if count > 0.0 { sum / count } else { 0.0 };
        let own_variance = if count > 0.0 {
            (squares / count - own_mean * own_mean).max(0.0)
        } else {
            0.0
        };
        let prior_variance = f64::from(self.deviation).powi(2);
        let blend = |own: f64, prior: f64| (count * own + strength * prior) / (count + strength);
        Self {
            mean: blend(own_mean, f64::from(self.mean)) as f32,
            deviation: blend(own_variance, prior_variance).sqrt() as f32,
        }
    }

    /// The standard score: how many deviations a score is above the mean.
    pub(in crate::memory) fn z(self, score: f32) -> f32 {
        (score - self.mean) / self.deviation
    }
}

/// The number of scores, their sum and the sum of their squares.
struct Moments {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Moments {
    /// Counts only scores that are numbers.
    fn of(scores: &[f32]) -> Self {
        // Independent sums, since each addition has to wait for the previous one.
        const LANES: usize = 8;
        let (mut count, mut sum, mut squares) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        for scores in scores.chunks(LANES) {
            let mut numbers = [0.0_f64; LANES];
            for (lane, score) in scores.iter().enumerate() {
                let is_number = !score.is_nan();
                numbers[lane] = if is_number { f64::from(*score) } else { 0.0 };
                count[lane] += f64::from(u8::from(is_number));
            }
            for lane in 0..LANES {
                sum[lane] += numbers[lane];
                squares[lane] += numbers[lane] * numbers[lane];
            }
        }
        Self {
            count: count.iter().sum(),
            sum: sum.iter().sum(),
            squares: squares.iter().sum(),
        }
    }
}

impl Weights {
    /// The log-odds that an exchange with these features helps.
    pub(in crate::memory) fn logit(&self, features: &Features) -> f32 {
        let Features {
            cosine,
            z_cosine,
            ln_bm25,
            z_bm25,
            near_z_cosine,
            near_z_bm25,
            around_z_cosine,
            around_z_bm25,
            coverage,
            peer_similarity,
            // The same for every embedder, and so not part of a calibration.
            hints: _,
        } = features;
        self.bias
            + self.cosine * cosine.unwrap_or(0.0)
            + self.z_cosine * z_cosine
            + self.ln_bm25 * ln_bm25
            + self.z_bm25 * z_bm25
            + self.near_z_cosine * near_z_cosine
            + self.near_z_bm25 * near_z_bm25
            + self.around_z_cosine * around_z_cosine
            + self.around_z_bm25 * around_z_bm25
            + self.coverage * coverage
            + self.peer_similarity * peer_similarity
    }
}

/// Converts log-odds to a probability.
pub(in crate::memory) fn probability(logit: f32) -> f64 {
    1.0 / (1.0 + (-f64::from(logit)).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_file_is_sound() {
        let shipped = Calibration::shipped().unwrap();
        assert_eq!(shipped.embedder, crate::retrieval::LocalEmbedder::NAME);
    }

    #[test]
    fn a_broken_file_is_a_clear_error() {
        for (from, to, sentence) in [
            ("{", "", "not what is expected"),
            (
                "\"threshold\":",
                "\"threshold\": 7, \"was\":",
                "makes no sense: threshold",
            ),
            ("\"K\": 32", "\"K\": 0", "makes no sense: K"),
            (
                "\"deviation\":",
                "\"deviation\": -1, \"was\":",
                "makes no sense: prior",
            ),
            (
                "\"bias\":",
                "\"bias\": 1e39, \"was\":",
                "not what is expected",
            ),
        ] {
            let broken = SHIPPED.replacen(from, to, 1);
            let error = Calibration::from_json(&broken).unwrap_err().to_string();
            assert!(error.contains(sentence), "{to}: {error}");
        }
    }

    #[test]
    fn few_scores_are_judged_by_the_prior() {
        let prior = Spread {
            mean: 0.2,
            deviation: 0.1,
        };
        let close = |a: f32, b: f32| assert!((a - b).abs() < 1e-4, "{a} {b}");
        let none = prior.shrunk(&[f32::NAN], 32.0);
        close(none.mean, 0.2);
        close(none.deviation, 0.1);
        let one = prior.shrunk(&[0.9], 32.0);
        close(one.mean, (0.9 + 32.0 * 0.2) / 33.0);
        let many = prior.shrunk(&[0.5; 100_000], 32.0);
        close(many.mean, 0.5);
    }

    #[test]
    fn another_scale_of_cosines_gives_the_same_odds() {
        let shipped = Calibration::shipped().unwrap();
        let wide = Spread {
            mean: shipped.prior.cosine.mean * 2.0 + 0.1,
            deviation: shipped.prior.cosine.deviation * 2.0,
        };
        let moved = shipped.moved_to("other", wide);
        let features = |cosine: f32| Features {
            cosine: Some(cosine),
            ..Features::default()
        };
        let here = shipped.weights.first.logit(&features(0.4));
        let there = moved.weights.first.logit(&features(0.4 * 2.0 + 0.1));
        assert!((here - there).abs() < 1e-4);
    }
}
