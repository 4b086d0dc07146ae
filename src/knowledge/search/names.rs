//! Names and headings, found in a question.

use std::collections::{BTreeSet, HashMap};

use crate::retrieval::text::Words;

/// Different words of a name that count; what has more is no name.
const MAX_WORDS: usize = 12;

/// Which things are called what.
#[derive(Debug, Default)]
pub(super) struct Names {
    words: Words,
    /// By stem: who has it in its name.
    terms: HashMap<Box<str>, Vec<u32>>,
    /// How many words each has in its name; zero for what has no name.
    lengths: Vec<u8>,
}

impl Names {
    /// The words of a source's own name: who says them means all of it, and nothing in it.
    pub(super) fn of_source(&self, name: &str) -> BTreeSet<String> {
        let fits = |c: char| if c.is_alphanumeric() { c } else { ' ' };
        let name: String = name.chars().map(fits).collect();
        self.of_text(&name)
    }

    /// The different words of a text.
    pub(super) fn of_text(&self, text: &str) -> BTreeSet<String> {
        self.words.list(text).into_iter().collect()
    }

    /// Adds the next thing, with its name, of which the words of its source are no part.
    pub(super) fn push(&mut self, name: Option<&str>, of_source: &BTreeSet<String>) {
        let number = self.lengths.len() as u32;
        let mut stems: BTreeSet<String> = match name {
            Some(name) => self.words.list(name).into_iter().collect(),
            None => BTreeSet::new(),
        };
        stems.retain(|stem| !of_source.contains(stem));
        if stems.len() > MAX_WORDS {
            self.lengths.push(0);
            return;
        }
        self.lengths.push(stems.len() as u8);
        for stem in stems {
            self.terms.entry(stem.into()).or_default().push(number);
        }
    }

    /// What is named in the text, and how surely: the part of the name's words that are in it, by
    /// their rarity, and less where they are words of many names. From `least` on, best first.
    pub(super) fn found_in(&self, text: &str, least: f32) -> Vec<(u32, f32)> {
        // In their order: sums of floats depend on it.
        let stems: BTreeSet<String> = self.words.list(text).into_iter().collect();
        let rarest = self.rarity(1);
        // Rarity of the words that are there, and their number.
        let mut matched: HashMap<u32, (f32, u8)> = HashMap::new();
        for stem in &stems {
            let Some(named) = self.terms.get(stem.as_str()) else {
                continue;
            };
            let rarity = self.rarity(named.len());
            for number in named {
                let found = matched.entry(*number).or_default();
                found.0 += rarity;
                found.1 += 1;
            }
        }
        let sure = |(number, (rarity, count)): (u32, (f32, u8))| {
            let missing = self.lengths[number as usize].saturating_sub(count);
            // A word of a name that is not there is as rare as those that are, on the average.
            let share = f32::from(count) / f32::from(count + missing);
            let telling = (rarity / f32::from(count.max(1)) / rarest).min(1.0);
            (share >= least).then_some((number, share * telling))
        };
        let mut found: Vec<(u32, f32)> = matched.into_iter().filter_map(sure).collect();
        found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        found
    }

    fn rarity(&self, having: usize) -> f32 {
        let all = self.lengths.len() as f32;
        (1.0 + all / having.max(1) as f32).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_by_its_words_in_any_order() {
        let mut names = Names::default();
        for name in [
            Some("Marsh, Ada"),
            Some("Overview"),
            Some("Overview"),
            None,
            Some("Harbour dues and tolls"),
        ] {
            names.push(name, &BTreeSet::new());
        }
        let found = |text: &str| -> Vec<u32> {
            let found = names.found_in(text, 0.6);
            found.into_iter().map(|(number, _)| number).collect()
        };
        assert_eq!(found("What did Ada Marsh write?"), [0]);
        // Two of three words are less than one of one.
        assert_eq!(found("an overview of harbour dues"), [1, 2, 4]);
        assert_eq!(found("Who is Ada?"), [0; 0]);
        assert_eq!(found(""), [0; 0]);
    }

    #[test]
    fn the_name_of_the_source_names_nothing_in_it() {
        let mut names = Names::default();
        let own = names.of_source("the-rust_book");
        for name in ["The Rust Book", "Traits in Rust", "Drop"] {
            names.push(Some(name), &own);
        }
        let found = |text: &str| -> Vec<u32> {
            let found = names.found_in(text, 1.0);
            found.into_iter().map(|(number, _)| number).collect()
        };
        assert_eq!(found("What does the Rust book say about it?"), [0; 0]);
        assert_eq!(found("What does the Rust book say about traits?"), [1]);
        assert_eq!(found("drop"), [2]);
    }
}
