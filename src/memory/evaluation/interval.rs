//! A mean with its interval.

use serde::{Deserialize, Serialize};

/// A mean with its 99 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    pub mean: f64,
    pub low: f64,
    pub high: f64,
    /// Number of values.
    pub of: usize,
}

/// The mean of values, with a normal approximation of the interval.
pub fn mean(values: &[f64]) -> Option<Interval> {
    let of = values.len();
    if of == 0 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / of as f64;
    let squares: f64 = values.iter().map(|it| (it - mean).powi(2)).sum();
    let error = DEVIATIONS * (squares / (of.max(2) - 1) as f64 / of as f64).sqrt();
    Some(Interval {
        mean,
        low: mean - error,
        high: mean + error,
        of,
    })
}

/// 99 % of a normal distribution are within this many standard deviations: one of about ten figures should not raise an alarm
/// by chance.
pub(super) const DEVIATIONS: f64 = 2.576;
