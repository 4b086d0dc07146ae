//! Measures how closely the words of a question occur together in a text, and which of them are missing.
//!
//! Two adjacent words of the question are stronger evidence if they are close in the text too: Tao and Zhai, "An Exploration of
//! Proximity Measures in Information Retrieval" (2007). Stop words do not count, not even in distances.

use std::collections::HashMap;

use crate::postings::SoughtWord;
use crate::text::WordStemmer;

/// Words farther apart than this are considered unrelated.
const FARTHEST: usize = 8;

/// The distinct words of a question, in order.
#[derive(Debug)]
pub struct Terms<'a> {
    words: &'a WordStemmer,
    rarities: &'a [f32],
    /// For every stem by which a word may be found: the positions of these words in the question.
    by_stem: HashMap<String, Vec<usize>>,
}

/// How well a text matches a question.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TermMatch {
    /// 1 if all words follow one another as in the question, 0 if none is near the next: the mean of one over their distance,
    /// weighted by the rarity of the more common of the two.
    pub proximity: f32,
    /// Share, by rarity, of the rarest word that is missing: 0 to 1.
    pub missing: f32,
}

impl<'a> Terms<'a> {
    /// The words of a question, with their rarities in the searched collection.
    pub fn new(words: &'a WordStemmer, query: &[SoughtWord], rarities: &'a [f32]) -> Self {
        let mut by_stem: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, word) in query.iter().enumerate() {
            for stem in word.stems() {
                by_stem.entry(stem).or_default().push(at);
            }
        }
        Self {
            words,
            rarities,
            by_stem,
        }
    }

    /// Compares the question with a text and its headings, whose words count as present but near to nothing.
    pub fn compare<'t>(&self, text: &str, heads: impl Iterator<Item = &'t str>) -> TermMatch {
        let places = self.places(text);
        let mut is_there: Vec<bool> = places.iter().map(|places| !places.is_empty()).collect();
        for head in heads {
            let found = self.places(head).into_iter().zip(&mut is_there);
            found.for_each(|(places, is_there)| *is_there |= !places.is_empty());
        }
        let missing = self.rarities.iter().zip(is_there).filter(|(_, is)| !is);
        let rarest = missing.map(|(rarity, _)| *rarity).fold(0.0, f32::max);
        TermMatch {
            proximity: self.proximity(&places),
            missing: share(rarest, self.rarities.iter().sum()),
        }
    }

    /// The positions of each word of the question in a text.
    fn places(&self, text: &str) -> Vec<Vec<usize>> {
        let mut places = vec![Vec::new(); self.rarities.len()];
        let mut place = 0;
        self.words.each(text, |stem| {
            for &term in self.by_stem.get(stem).into_iter().flatten() {
                places[term].push(place);
            }
            place += 1;
        });
        places
    }

    fn proximity(&self, places: &[Vec<usize>]) -> f32 {
        let (mut near, mut all) = (0.0, 0.0);
        for (rarities, places) in self.rarities.windows(2).zip(places.windows(2)) {
            let commoner = rarities[0].min(rarities[1]);
            all += commoner;
            if let Some(distance) = distance(&places[0], &places[1]) {
                near += commoner / distance as f32;
            }
        }
        share(near, all)
    }
}

fn share(part: f32, all: f32) -> f32 {
    if all > 0.0 { part / all } else { 0.0 }
}

/// The smallest distance between two different positions, if it is not too large.
fn distance(one: &[usize], other: &[usize]) -> Option<usize> {
    let pairs = one
        .iter()
        .flat_map(|a| other.iter().map(|b| a.abs_diff(*b)));
    pairs.filter(|away| (1..=FARTHEST).contains(away)).min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::postings::{Postings, WeightedWords};

    fn compare(question: &str, text: &str, head: &str) -> TermMatch {
        let mut postings = Postings::default();
        postings.push([text, ""], std::iter::once(head));
        let mut query = WeightedWords::new();
        postings.weighted(question, 1.0, &mut query);
        let rarities = postings.score(&query).rarities;
        Terms::new(postings.words(), &query, &rarities).compare(text, std::iter::once(head))
    }

    #[test]
    fn words_that_follow_one_another_are_nearer_than_those_apart() {
        let question = "How do I set the write timeout?";
        let [together, turned, apart, away] = [
            "Set the write timeout in the settings.",
            "The timeout of a write is set here.",
            "Set it first. A write that takes long ends by its own timeout.",
            "Set it.",
        ]
        .map(|text| compare(question, text, "").proximity);
        assert!((together - 1.0).abs() < 1e-6 && (turned - 1.0).abs() < 1e-6);
        assert!(turned > apart && apart > away, "{apart} {away}");
        assert!(away.abs() < 1e-6, "{away}");
    }

    #[test]
    fn what_is_missing_is_neither_in_the_text_nor_in_its_heads() {
        let question = "kubernetes timeout";
        let [none, in_head, missing, nothing] = [
            ("The timeout of Kubernetes.", ""),
            ("The timeout.", "Kubernetes"),
            ("The timeout.", ""),
            ("Something else.", ""),
        ]
        .map(|(text, head)| compare(question, text, head).missing);
        assert!(none.abs() < 1e-6 && in_head.abs() < 1e-6);
        assert!(missing > 0.0 && missing < 1.0 && nothing > 0.0);
        assert!(compare("", "A text.", "").missing.abs() < 1e-6);
    }

    #[test]
    fn a_word_twice_is_not_near_to_itself() {
        assert!(compare("timeout timeouts", "a timeout", "").proximity.abs() < 1e-6);
    }
}
