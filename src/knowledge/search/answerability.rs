//! How likely it is that what was found answers a question. Pure.
//!
//! A question that nothing answers has its best finds close together, and the word that matters in none of them. Both numbers
//! mean the same in a folder of ten chunks and in one of thousands, which no single cosine or BM25 does. `docs/retrieval.md`
//! has the fit and what it costs.

use std::collections::HashSet;

use super::rank::{Ranked, Scores};
use super::weights::Fusion;

/// Logistic regression on 681 questions about seven collections, 92 of which nothing answers; a question counts as answered where
/// an answer is among the first eight chunks. Each collection has the same weight.
const BIAS: f32 = 0.14;
const STANDS_OUT: f32 = 9.1;
const MISSING: f32 = -3.92;

/// The first has to stand out from the best of the record at this place: chunks of one record may all answer.
const RIVAL: usize = 5;
/// As many of the first are looked at for what they miss.
const FIRST: usize = 5;

/// The probability that one of the first chunks answers the question: 0 where there is none. What is named, identified or wanted by a
/// policy is what was asked for.
pub(super) fn answerability(ranked: &[Ranked], weights: &Fusion) -> f32 {
    let Some(first) = ranked.first() else {
        return 0.0;
    };
    if is_asked_for(&first.scores) {
        return 1.0;
    }
    let mut records = HashSet::new();
    let best_of_each = ranked.iter().filter(|one| records.insert(one.head));
    let rival = best_of_each.take(RIVAL).last().unwrap_or(first);
    let stands_out = (first.scores.total - rival.scores.total) / weights.of_content();
    let missing = ranked.iter().take(FIRST).map(|one| one.missing);
    let missing = missing.fold(1.0, f32::min);
    let odds = (BIAS + STANDS_OUT * stands_out + MISSING * missing).exp();
    odds / (1.0 + odds)
}

fn is_asked_for(scores: &Scores) -> bool {
    scores.graph >= 1.0 || scores.policy > 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knowledge::search::Weights;

    fn ranked(totals: &[f32], missing: f32, graph: f32) -> Vec<Ranked> {
        let one = |(entry, &total): (usize, &f32)| Ranked {
            entry,
            head: entry,
            scores: Scores {
                total,
                graph,
                ..Scores::default()
            },
            named: None,
            missing,
        };
        totals.iter().enumerate().map(one).collect()
    }

    fn of(totals: &[f32], missing: f32, graph: f32) -> f32 {
        let weights = Weights::load(None).unwrap().fusion;
        answerability(&ranked(totals, missing, graph), &weights)
    }

    #[test]
    fn what_stands_out_and_misses_nothing_is_likely_to_answer() {
        let flat = [0.6; 9];
        let mut steep = [0.4; 9];
        steep[0] = 1.1;
        assert!(of(&steep, 0.0, 0.0) > 0.95);
        assert!(of(&flat, 0.4, 0.0) < 0.2);
        assert!(of(&steep, 0.4, 0.0) > of(&flat, 0.4, 0.0));
        assert!(of(&flat, 0.0, 0.0) > of(&flat, 0.4, 0.0));
    }

    #[test]
    fn chunks_of_one_record_are_no_rivals() {
        let weights = Weights::load(None).unwrap().fusion;
        let mut alike = ranked(&[0.9, 0.9, 0.9, 0.9, 0.9, 0.6, 0.5, 0.5, 0.4], 0.0, 0.0);
        let of_each = answerability(&alike, &weights);
        alike[..5].iter_mut().for_each(|one| one.head = 0);
        let of_one = answerability(&alike, &weights);
        assert!(of_one > 0.9 && of_each < 0.6, "{of_one} {of_each}");
    }

    #[test]
    fn what_is_named_is_what_was_asked_for_and_nothing_answers_nothing() {
        assert!((of(&[0.2, 0.2], 1.0, 1.0) - 1.0).abs() < f32::EPSILON);
        assert!(of(&[], 0.0, 0.0).abs() < f32::EPSILON);
    }
}
