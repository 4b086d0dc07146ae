//! Compares texts by their words, without a model: what an answer repeats, and which texts say the same.

use std::collections::{BTreeSet, HashSet};

use crate::graph::Turn;
use crate::memory::recall::index::AudienceIndex;
use crate::retrieval::postings::WeightedWords;
use crate::retrieval::text::{WordStemmer, each_content_word, each_lowercase_word};

/// Minimum rarity of a word that counts: it is in about one of 20 exchanges.
const RARE: f32 = 3.0;
/// The shared rarity from which an answer uses a memory that it was given: one telling word.
pub(super) const USED: f32 = 4.0;
/// The shared rarity from which it repeats something it was not given, as far as is known: two telling words.
pub(super) const REPEATED: f32 = 9.0;
/// Minimum share of common words of two questions that are the same.
const SAME: f32 = 0.75;
/// Texts with fewer words are too short to be compared.
const LEAST_WORDS: usize = 3;

/// What an answer repeats of earlier exchanges.
#[derive(Debug)]
pub(super) struct RepeatedWords {
    words: WeightedWords,
    /// For each exchange, the rarity of the words that it shares with the answer.
    shared: Vec<f32>,
}

impl RepeatedWords {
    /// Compares an answer by the words that are not in its question or window. Names and dates are left out: every exchange of
    /// a person or of a day has them.
    pub(super) fn read(
        index: &AudienceIndex,
        turn: &Turn,
        window: &[&Turn],
        names: &HashSet<String>,
    ) -> Self {
        let postings = index.postings();
        let mut known: HashSet<String> = HashSet::new();
        let mut take = |text: &str| known.extend(postings.words().list(text));
        take(&turn.input);
        take(turn.understood());
        for shown in window {
            take(&shown.input);
            take(&shown.output);
        }
        let mut words = WeightedWords::new();
        postings.weighted(&turn.output, 1.0, &mut words);
        words.iter_mut().for_each(|word| word.weight = 1.0);
        words.retain(|word| {
            let own = !known.contains(&word.stem) && !is_of_a_date(&word.stem);
            own && !names.contains(&word.stem) && postings.rarity_of(word) >= RARE
        });
        let total: f32 = words.iter().map(|word| postings.rarity_of(word)).sum();
        let scores = postings.score(&words);
        let shared = scores.coverage.iter().map(|part| part * total).collect();
        Self { words, shared }
    }

    pub(super) fn shared(&self, entry: usize) -> f32 {
        self.shared.get(entry).copied().unwrap_or_default()
    }

    /// The exchanges that share the most with it: at least `least` each, and at most `most` of them.
    pub(super) fn best(&self, least: f32, most: usize) -> Vec<usize> {
        if self.words.is_empty() {
            return Vec::new();
        }
        let mut best: Vec<usize> = (0..self.shared.len()).collect();
        best.retain(|entry| self.shared[*entry] >= least);
        best.sort_by(|a, b| self.shared[*b].total_cmp(&self.shared[*a]));
        best.truncate(most);
        best
    }
}

/// The stems of all authors' names.
pub(super) fn names(turns: &[Turn]) -> HashSet<String> {
    let names: HashSet<&str> = turns.iter().map(|it| it.author_name.as_str()).collect();
    let words = WordStemmer::default();
    names.into_iter().flat_map(|it| words.list(it)).collect()
}

/// A day, a year, a month or a weekday. Exchanges are also indexed by these tags.
fn is_of_a_date(stem: &str) -> bool {
    const NAMES: [&str; 12] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ];
    let is_number = stem.bytes().all(|byte| byte.is_ascii_digit());
    let is_year = stem.len() == 4 && (stem.starts_with("19") || stem.starts_with("20"));
    (is_number && (stem.len() <= 2 || is_year))
        || stem.ends_with("day")
        || NAMES
            .iter()
            .any(|name| stem.starts_with(name) && stem.len() <= 9)
}

/// The distinct telling words of a text.
pub(super) fn telling(text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    each_content_word(text, |_, word| {
        words.insert(word.to_owned());
    });
    words
}

/// Whether two messages say or ask the same in nearly the same words.
pub(super) fn are_the_same(one: &BTreeSet<String>, other: &BTreeSet<String>) -> bool {
    if one.len() < LEAST_WORDS || other.len() < LEAST_WORDS {
        return false;
    }
    let common = one.intersection(other).count() as f32;
    common / (one.len() + other.len()) as f32 * 2.0 >= SAME
}

/// A signature that is equal for texts that differ only in order, case and punctuation; `None` for a text that is too short.
pub(super) fn signature(text: &str) -> Option<BTreeSet<String>> {
    let mut words = BTreeSet::new();
    each_lowercase_word(text, |word| {
        words.insert(word.to_owned());
    });
    (words.len() > LEAST_WORDS).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_question_is_known_in_other_order_and_another_is_not() {
        let same = |one, other| are_the_same(&telling(one), &telling(other));
        assert!(
            same(
                "who has the office keys?",
                "the office keys, who has them now?"
            ) || telling("who has the office keys?").len() < LEAST_WORDS
        );
        assert!(same(
            "what does the customer in Lyon pay a month?",
            "what does the customer in Lyon pay each month"
        ));
        assert!(!same(
            "what does the customer in Lyon pay a month?",
            "what does the customer in Oslo drink a month?"
        ));
        assert!(!same("who?", "who?"));
    }

    #[test]
    fn a_copy_has_the_same_signature() {
        assert_eq!(
            signature("The keys are with Fatima."),
            signature("the KEYS: are with Fatima")
        );
        assert_ne!(
            signature("The keys are with Fatima."),
            signature("The keys are with Tomasz.")
        );
        assert_eq!(signature("ok, thanks"), None);
    }

    #[test]
    fn dates_tell_nothing() {
        for stem in ["8", "2026", "monday", "march", "sept"] {
            assert!(is_of_a_date(stem), "{stem}");
        }
        for stem in ["4711", "kestrel", "119"] {
            assert!(!is_of_a_date(stem), "{stem}");
        }
    }
}
