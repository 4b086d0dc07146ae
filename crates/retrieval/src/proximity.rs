//! How closely the words of a question stand together in a text, and which of them it does not have.
//!
//! Two words that follow one another in the question tell more where they do so in the text, too: Tao and Zhai, "An Exploration
//! of Proximity Measures in Information Retrieval" (2007). Stop words count for nothing, in the distance either.

use std::collections::HashMap;

use crate::postings::SoughtWord;
use crate::text::Words;

/// Words farther apart than this have nothing to do with one another.
const FARTHEST: usize = 8;

/// A word of a question, in every form by which it may be found.
#[derive(Debug)]
struct Term {
    stems: Vec<String>,
    rarity: f32,
}

/// The words of a question in their order, each once.
#[derive(Debug)]
pub struct Terms<'a> {
    words: &'a Words,
    terms: Vec<Term>,
}

/// What a text has of a question.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TermMatch {
    /// 1 where all words follow one another as in the question, 0 where none is near the next: the mean of one over their
    /// distance, by the rarity of the commoner of the two.
    pub proximity: f32,
    /// The share, by rarity, that the rarest word has that is not there: 0 to 1.
    pub missing: f32,
}

impl<'a> Terms<'a> {
    /// The words of a question, each with its rarity where it is asked.
    pub fn new(words: &'a Words, query: &[SoughtWord], rarities: &[f32]) -> Self {
        let term = |(word, &rarity): (&SoughtWord, &f32)| Term {
            stems: word.stems(),
            rarity,
        };
        Self {
            words,
            terms: query.iter().zip(rarities).map(term).collect(),
        }
    }

    /// Compares the question with a text that has these heads: they have words, too, but are near to nothing.
    pub fn compare<'t>(&self, text: &str, heads: impl Iterator<Item = &'t str>) -> TermMatch {
        let mut places: HashMap<String, Vec<usize>> = HashMap::new();
        let mut place = 0;
        self.words.each(text, |stem| {
            places.entry(stem.to_owned()).or_default().push(place);
            place += 1;
        });
        let of_term = |term: &Term| -> Vec<usize> {
            let found = term.stems.iter().filter_map(|stem| places.get(stem));
            found.flatten().copied().collect()
        };
        let in_text: Vec<Vec<usize>> = self.terms.iter().map(of_term).collect();
        let mut in_heads = Vec::new();
        heads.for_each(|head| in_heads.extend(self.words.list(head)));
        let is_missing = |(term, places): &(&Term, &Vec<usize>)| {
            places.is_empty() && !term.stems.iter().any(|stem| in_heads.contains(stem))
        };
        let missing = self.terms.iter().zip(&in_text).filter(is_missing);
        let rarest = missing.map(|(term, _)| term.rarity).fold(0.0, f32::max);
        TermMatch {
            proximity: self.proximity(&in_text),
            missing: share(rarest, self.terms.iter().map(|term| term.rarity).sum()),
        }
    }

    fn proximity(&self, places: &[Vec<usize>]) -> f32 {
        let (mut near, mut all) = (0.0, 0.0);
        for (terms, places) in self.terms.windows(2).zip(places.windows(2)) {
            let commoner = terms[0].rarity.min(terms[1].rarity);
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

/// The least distance between two different places, if it is not too far.
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
