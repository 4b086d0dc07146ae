//! Compares figures before and after: differences with confidence intervals, which tell whether a figure got worse or may be
//! unchanged. Pure.
//!
//! Shares of different answers are compared by Newcombe's interval (two Wilson scores: R. G. Newcombe, Statistics in Medicine
//! 17, 1998, method 10); the results of the same questions are compared by a bootstrap of their differences.

use std::collections::HashMap;

use serde::Serialize;

use super::figures::{Better, Figure, Share};
use super::interval::DEVIATIONS;
use super::replay::Replayed;
use super::report::{EvaluationRun, Report};

pub use super::interval::{Interval, mean};

/// Minimum number of answers or questions: fewer show nothing.
pub const MIN_SAMPLE_SIZE: usize = 20;
/// A smaller difference does not matter, however certain it is.
const LEAST_DIFFERENCE: f64 = 0.01;
/// Number of bootstrap samples.
const SAMPLES: usize = 4_000;

/// The meaning of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ComparisonResult {
    /// They may be equal.
    Same,
    Better,
    Worse,
    /// There are too few values to tell.
    TooFew,
}

/// A figure before and after.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    pub figure: String,
    pub before: f64,
    pub after: f64,
    /// After minus before.
    pub difference: Interval,
    pub verdict: ComparisonResult,
}

impl Difference {
    fn new(
        figure: &str,
        (before, after): (f64, f64),
        difference: Interval,
        better: Better,
    ) -> Self {
        let is_sure = difference.low > 0.0 || difference.high < 0.0;
        let verdict = if difference.of < MIN_SAMPLE_SIZE {
            ComparisonResult::TooFew
        } else if !is_sure || difference.mean.abs() < LEAST_DIFFERENCE {
            ComparisonResult::Same
        } else {
            match (better, difference.mean > 0.0) {
                (Better::Up, true) | (Better::Down, false) => ComparisonResult::Better,
                (Better::Up, false) | (Better::Down, true) => ComparisonResult::Worse,
                (Better::Neither, _) => ComparisonResult::Same,
            }
        };
        Self {
            figure: figure.to_owned(),
            before,
            after,
            difference,
            verdict,
        }
    }
}

/// What is measured of questions that are asked again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    Found,
    Rank,
    Meaning,
}

impl Measure {
    pub const ALL: [Self; 3] = [Self::Found, Self::Rank, Self::Meaning];

    pub fn label(self) -> &'static str {
        match self {
            Self::Found => "asked again: found",
            Self::Rank => "asked again: place (1 is first)",
            Self::Meaning => "asked again: nearer than others by meaning alone",
        }
    }

    pub fn of(self, replayed: &Replayed) -> Option<f64> {
        match self {
            Self::Found => Some(if replayed.found { 1.0 } else { 0.0 }),
            Self::Rank => (!replayed.kind.has_nothing()).then_some(replayed.rank),
            Self::Meaning => replayed.meaning,
        }
    }
}

/// Wilson's interval of a share.
fn wilson(share: Share) -> (f64, f64) {
    let (part, whole) = (share.part as f64, share.whole as f64);
    let square = DEVIATIONS * DEVIATIONS;
    let centre = (part + square / 2.0) / (whole + square);
    let variance = part * (whole - part) / whole + square / 4.0;
    let reach = DEVIATIONS * variance.sqrt() / (whole + square);
    (centre - reach, centre + reach)
}

/// Compares two shares of different answers; `None` if one of them is empty.
pub fn shares(figure: Figure, before: Share, after: Share) -> Option<Difference> {
    let (old, new) = (before.value()?, after.value()?);
    let ((old_low, old_high), (new_low, new_high)) = (wilson(before), wilson(after));
    let below = ((new - new_low).powi(2) + (old_high - old).powi(2)).sqrt();
    let above = ((new_high - new).powi(2) + (old - old_low).powi(2)).sqrt();
    let difference = Interval {
        mean: new - old,
        low: new - old - below,
        high: new - old + above,
        of: usize::try_from(before.whole.min(after.whole)).unwrap_or(usize::MAX),
    };
    Some(Difference::new(
        figure.label(),
        (old, new),
        difference,
        figure.better(),
    ))
}

/// Compares values of the same questions before and after; `None` if there are none.
pub fn paired(measure: Measure, pairs: &[(f64, f64)]) -> Option<Difference> {
    let of = pairs.len();
    if of == 0 {
        return None;
    }
    let mean = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() / of as f64;
    let before = mean(&mut pairs.iter().map(|(before, _)| *before));
    let after = mean(&mut pairs.iter().map(|(_, after)| *after));
    let differences: Vec<f64> = pairs.iter().map(|(before, after)| after - before).collect();
    // Seeded, so that the same pairs give the same result.
    let mut state = of as u64;
    let mut means: Vec<f64> = (0..SAMPLES)
        .map(|_| mean(&mut (0..of).map(|_| differences[random(&mut state, of)])))
        .collect();
    means.sort_by(f64::total_cmp);
    let tail = SAMPLES / 200;
    let difference = Interval {
        mean: after - before,
        low: means[tail],
        high: means[SAMPLES - 1 - tail],
        of,
    };
    let ends = (before, after);
    Some(Difference::new(
        measure.label(),
        ends,
        difference,
        Better::Up,
    ))
}

/// A random number below `below`: `SplitMix64`, from its highest bits.
fn random(state: &mut u64, below: usize) -> usize {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((mixed >> 32) as usize * below) >> 32
}

/// Compares the questions that two runs have in common.
pub fn runs(before: &EvaluationRun, after: &EvaluationRun) -> Vec<Difference> {
    let key = |it: &Replayed| (it.id.clone(), it.kind.clone(), it.channel.clone());
    let earlier: HashMap<_, &Replayed> = before.replayed.iter().map(|it| (key(it), it)).collect();
    let of = |measure: Measure| {
        let pair = |it: &Replayed| {
            let before = earlier.get(&key(it))?;
            Some((measure.of(before)?, measure.of(it)?))
        };
        let pairs: Vec<(f64, f64)> = after.replayed.iter().filter_map(pair).collect();
        paired(measure, &pairs)
    };
    Measure::ALL.into_iter().filter_map(of).collect()
}

/// Compares a report with an earlier one. Of the answers, only those since then count.
pub fn reports(before: &Report, after: &Report) -> Vec<Difference> {
    let figure = |figure: Figure| {
        let since = after.since.as_ref()?.get(figure);
        shares(figure, before.total.get(figure), since)
    };
    let figures = Figure::ALL.into_iter().filter_map(figure);
    let mut all: Vec<Difference> = figures.collect();
    // With words only, questions find other exchanges.
    if let (Some(before), Some(after)) = (before.runs.first(), after.runs.first())
        && before.is_by_words == after.is_by_words
    {
        all.extend(runs(before, after));
    }
    all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn verdict(before: (u64, u64), after: (u64, u64)) -> ComparisonResult {
        let share = |(part, whole)| Share { part, whole };
        let figure = Figure::AskedAgain;
        shares(figure, share(before), share(after)).unwrap().verdict
    }

    #[test]
    fn a_share_is_worse_where_there_are_enough_to_say_so() {
        assert_eq!(verdict((10, 200), (60, 200)), ComparisonResult::Worse);
        assert_eq!(verdict((60, 200), (10, 200)), ComparisonResult::Better);
        assert_eq!(verdict((10, 200), (14, 200)), ComparisonResult::Same);
        assert_eq!(verdict((1, 20), (5, 20)), ComparisonResult::Same);
        assert_eq!(verdict((0, 10), (10, 10)), ComparisonResult::TooFew);
        let nothing = Share::default();
        assert_eq!(shares(Figure::Silent, nothing, nothing), None);
    }

    #[test]
    fn newcombe_s_interval_is_that_of_his_paper_but_for_the_level() {
        // 56 of 70 and 48 of 80: 0.0524 to 0.3339 at 95 %, so wider at 99 %.
        let share = |part, whole| Share { part, whole };
        let compared = shares(Figure::RatedGood, share(48, 80), share(56, 70)).unwrap();
        let Interval {
            mean, low, high, ..
        } = compared.difference;
        assert!((mean - 0.2).abs() < 1e-9);
        assert!(
            (0.0..0.0524).contains(&low) && (0.3339..0.40).contains(&high),
            "{low} {high}"
        );
    }

    fn pairs(lost: usize, won: usize, same: usize) -> Vec<(f64, f64)> {
        let all = [(lost, (1.0, 0.0)), (won, (0.0, 1.0)), (same, (1.0, 1.0))];
        let all = all.into_iter();
        all.flat_map(|(times, pair)| std::iter::repeat_n(pair, times))
            .collect()
    }

    #[test]
    fn a_few_questions_more_or_less_are_no_regression() {
        let verdict = |lost, won, same| {
            paired(Measure::Found, &pairs(lost, won, same))
                .unwrap()
                .verdict
        };
        assert_eq!(verdict(0, 0, 300), ComparisonResult::Same);
        assert_eq!(verdict(2, 0, 300), ComparisonResult::Same);
        assert_eq!(verdict(20, 18, 300), ComparisonResult::Same);
        assert_eq!(verdict(30, 2, 300), ComparisonResult::Worse);
        assert_eq!(verdict(2, 30, 300), ComparisonResult::Better);
        assert_eq!(verdict(10, 0, 5), ComparisonResult::TooFew);
        assert_eq!(paired(Measure::Found, &[]), None);
    }

    proptest! {
        #[test]
        fn an_interval_holds_its_mean(values in prop::collection::vec((0.0..1.0_f64, 0.0..1.0_f64), 1..60)) {
            let Interval { mean, low, high, of } = paired(Measure::Rank, &values).unwrap().difference;
            prop_assert!(low <= mean + 1e-9 && mean <= high + 1e-9);
            prop_assert_eq!(of, values.len());
        }
    }
}
