//! Estimates the probability that the hits answer a question. Pure.
//!
//! If nothing answers a question, the scores of its best hits are close together, and all of them
//! lack the question's most important word. Both features mean the same in a folder of ten chunks
//! and in one of thousands, which no single cosine or BM25 score does. `docs/retrieval.md` has the
//! fit and its cost.

use std::collections::HashSet;

use super::rank::{Ranked, Scores};
use super::weights::Fusion;

/// Logistic regression on 681 questions about seven collections, 92 of which nothing answers; a question counts as answered where
/// an answer is among the first eight chunks. Each collection has the same weight.
const BIAS: f32 = 0.14;
const STANDS_OUT: f32 = 9.1;
const MISSING: f32 = -3.92;

/// The best hit is compared with the best hit of the record at this rank: chunks of one record may
/// all answer.
const RIVAL: usize = 5;
/// The share of the maximum that the record at [`RIVAL`] has by chance, a lower bound for every
/// rival. The median is 0.24 to 0.34 in six collections of 16 to 155 documents; in a small folder
/// that record is unrelated to the question, or missing. This is the least of the six. In 540
/// folders of 1 to 10 documents of these collections, of the questions whose right passage is among
/// three, 82 to 86 % are above 0.6, of those that nothing answers 17 to 30 %; with 0.20 it is 88 to
/// 94 and 25 to 46 %, with 0.30 73 to 78 and 7 to 14 %.
const BY_CHANCE: f32 = 0.24;
/// The same for a question without a vector, ranked by words alone: with the cosines of those
/// folders removed, 67 to 73 % and 4 to 8 % are above 0.6.
const BY_WORDS: f32 = 0.1;
/// Number of top hits that are checked for missing words.
const FIRST: usize = 5;

/// Returns the probability that one of the first chunks answers the question; 0 without any. Hits
/// by name or identifier, and those that a policy wants, are what was asked for. `is_copy`: whether
/// an entry has the text of the best hit.
pub(super) fn answerability(
    ranked: &[Ranked],
    weights: &Fusion,
    is_copy: &dyn Fn(usize) -> bool,
) -> f32 {
    let Some(first) = ranked.first() else {
        return 0.0;
    };
    if is_asked_for(&first.scores) {
        return 1.0;
    }
    let rival = rival(first, ranked, weights, is_copy);
    let stands_out = first.scores.total / weights.of_content() - rival;
    let missing = ranked.iter().take(FIRST).map(|one| one.missing);
    let missing = missing.fold(1.0, f32::min);
    let odds = (BIAS + STANDS_OUT * stands_out + MISSING * missing).exp();
    odds / (1.0 + odds)
}

/// Returns the score that the best hit has to exceed, as a share of the maximum. A document that
/// stands in two places answers as well as one.
fn rival(
    first: &Ranked,
    ranked: &[Ranked],
    weights: &Fusion,
    is_copy: &dyn Fn(usize) -> bool,
) -> f32 {
    let mut records = HashSet::from([first.head]);
    let best_of_others = ranked
        .iter()
        .filter(|one| records.insert(one.head) && !is_copy(one.entry));
    let farthest = best_of_others.take(RIVAL - 1).last();
    let by_chance = if first.scores.cosine.is_nan() {
        BY_WORDS
    } else {
        BY_CHANCE
    };
    farthest.map_or(by_chance, |one| {
        by_chance.max(one.scores.total / weights.of_content())
    })
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
            has_identifier: false,
        };
        totals.iter().enumerate().map(one).collect()
    }

    fn unlike(_entry: usize) -> bool {
        false
    }

    fn of(totals: &[f32], missing: f32, graph: f32) -> f32 {
        let weights = Weights::load(None).unwrap().fusion;
        answerability(&ranked(totals, missing, graph), &weights, &unlike)
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
        let of_each = answerability(&alike, &weights, &unlike);
        alike[..5].iter_mut().for_each(|one| one.head = 0);
        let of_one = answerability(&alike, &weights, &unlike);
        assert!(of_one > 0.9 && of_each < 0.6, "{of_one} {of_each}");
    }

    #[test]
    fn copies_of_the_best_hit_are_no_rivals() {
        let weights = Weights::load(None).unwrap().fusion;
        let copies = ranked(&[0.9, 0.9, 0.2], 0.0, 0.0);
        let unknown = answerability(&copies[..2], &weights, &unlike);
        let known = answerability(&copies[..2], &weights, &|entry| entry == 1);
        assert!((known - of(&[0.9], 0.0, 0.0)).abs() < 1e-6);
        assert!(known > 0.9 && unknown < 0.6, "{known} {unknown}");
        let others = answerability(&copies, &weights, &|entry| entry == 1);
        assert!((others - of(&[0.9, 0.2], 0.0, 0.0)).abs() < 1e-6);
    }

    #[test]
    fn the_only_record_is_measured_by_chance() {
        let lone = |total: f32, missing: f32| of(&[total], missing, 0.0);
        assert!(lone(0.9, 0.0) > 0.9, "{}", lone(0.9, 0.0));
        assert!(lone(0.9, 0.4) > lone(0.4, 0.4));
        assert!(lone(0.4, 0.4) < 0.5, "{}", lone(0.4, 0.4));
        // All chunks of one file are one record.
        let weights = Weights::load(None).unwrap().fusion;
        let mut long = ranked(&[0.9, 0.85, 0.8, 0.8, 0.7, 0.7], 0.0, 0.0);
        long.iter_mut().for_each(|one| one.head = 0);
        assert!((answerability(&long, &weights, &unlike) - lone(0.9, 0.0)).abs() < 1e-6);
    }

    #[test]
    fn few_unrelated_records_are_no_proof() {
        // Nothing answers it, and the others have even less.
        assert!(of(&[0.4, 0.1], 0.2, 0.0) < 0.6);
        assert!(of(&[0.4, 0.1, 0.05, 0.02], 0.2, 0.0) < 0.6);
        assert!(of(&[0.9, 0.1], 0.0, 0.0) > 0.9);
        // As many files, one of which says nearly the same.
        assert!(of(&[0.9, 0.8], 0.0, 0.0) < of(&[0.9, 0.1], 0.0, 0.0));
    }

    #[test]
    fn a_rival_that_is_more_than_chance_is_the_fifth_record() {
        let rival = |others: [f32; 6]| {
            let totals: Vec<f32> = [1.0].into_iter().chain(others).collect();
            of(&totals, 0.1, 0.0)
        };
        let close = rival([0.9, 0.9, 0.9, 0.7, 0.1, 0.1]);
        assert!((close - rival([0.8, 0.8, 0.8, 0.7, 0.6, 0.6])).abs() < 1e-6);
        assert!(close < rival([0.9, 0.9, 0.9, 0.4, 0.1, 0.1]));
    }

    #[test]
    fn without_a_vector_chance_is_what_words_have() {
        let weights = Weights::load(None).unwrap().fusion;
        let mut lone = ranked(&[0.6], 0.1, 0.0);
        let with_vector = answerability(&lone, &weights, &unlike);
        lone[0].scores.cosine = f32::NAN;
        assert!(answerability(&lone, &weights, &unlike) > with_vector);
    }

    #[test]
    fn what_is_named_is_what_was_asked_for_and_nothing_answers_nothing() {
        assert!((of(&[0.2, 0.2], 1.0, 1.0) - 1.0).abs() < f32::EPSILON);
        assert!(of(&[], 0.0, 0.0).abs() < f32::EPSILON);
    }
}
