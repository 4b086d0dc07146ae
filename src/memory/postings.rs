//! BM25 over an audience's exchanges.
//!
//! Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with
//! the logarithm that never turns negative (`ln(1 + (N - n + ½) / (n + ½))`, as in Lucene).

use std::collections::HashMap;

use super::text::Words;

/// How soon repeating a word stops to count. Set as the calibration was made.
const K1: f32 = 0.9;
/// How much the length of an exchange counts.
const B: f32 = 0.4;

/// A word's exchanges.
#[derive(Clone, Copy, Debug)]
struct Posting {
    entry: u32,
    count: u16,
}

/// Which exchanges hold which words, and how often.
#[derive(Debug, Default)]
pub(super) struct Postings {
    words: Words,
    terms: HashMap<Box<str>, u32>,
    lists: Vec<Vec<Posting>>,
    lengths: Vec<u16>,
    total_length: u64,
}

/// A query's words, each once, with how much it counts.
pub(super) type WeightedWords = Vec<(String, f32)>;

/// What the words of a query found.
#[derive(Debug)]
pub(super) struct WordScores {
    /// One an exchange; zero where it has none of the words.
    pub(super) bm25: Vec<f32>,
    /// The part of the query's words (by their rarity) that the exchange has: 0 to 1.
    pub(super) coverage: Vec<f32>,
}

impl Postings {
    /// Adds the next exchange.
    pub(super) fn push<'a>(&mut self, texts: impl Iterator<Item = &'a str>) {
        let entry = self.lengths.len() as u32;
        let mut length = 0_u16;
        let Self {
            words,
            terms,
            lists,
            ..
        } = self;
        for text in texts {
            words.each(text, |word| {
                length = length.saturating_add(1);
                let term = match terms.get(word) {
                    Some(&term) => term,
                    None => {
                        lists.push(Vec::new());
                        let term = lists.len() as u32 - 1;
                        terms.insert(word.into(), term);
                        term
                    }
                };
                let list = &mut lists[term as usize];
                match list.last_mut() {
                    Some(last) if last.entry == entry => last.count = last.count.saturating_add(1),
                    Some(_) | None => list.push(Posting { entry, count: 1 }),
                }
            });
        }
        self.lengths.push(length);
        self.total_length += u64::from(length);
    }

    pub(super) fn words(&self) -> &Words {
        &self.words
    }

    /// A text's words, counted as often as they occur.
    pub(super) fn weighted(&self, text: &str, weight: f32, into: &mut WeightedWords) {
        self.words.each(text, |word| {
            let known = into.iter().position(|(known, _)| known == word);
            match known {
                Some(place) => into[place].1 += weight,
                None if into.len() < MAX_QUERY_WORDS => into.push((word.to_owned(), weight)),
                None => {}
            }
        });
    }

    pub(super) fn score(&self, query: &WeightedWords) -> WordScores {
        let mut scores = WordScores {
            bm25: vec![0.0; self.lengths.len()],
            coverage: vec![0.0; self.lengths.len()],
        };
        let average = (self.total_length as f32 / self.lengths.len().max(1) as f32).max(1.0);
        let total: f32 = query
            .iter()
            .map(|(word, weight)| weight * self.idf(word))
            .sum();
        for (word, weight) in query {
            let idf = self.idf(word) * weight;
            for posting in self.list(word) {
                let entry = posting.entry as usize;
                let length = f32::from(self.lengths[entry]);
                let count = f32::from(posting.count);
                let saturation = count + K1 * (1.0 - B + B * length / average);
                scores.bm25[entry] += idf * count * (K1 + 1.0) / saturation;
                scores.coverage[entry] += idf / total;
            }
        }
        scores
    }

    fn list(&self, word: &str) -> &[Posting] {
        self.terms
            .get(word)
            .map_or(&[], |&term| &self.lists[term as usize])
    }

    fn idf(&self, word: &str) -> f32 {
        let all = self.lengths.len() as f32;
        let having = self.list(word).len() as f32;
        (1.0 + (all - having + 0.5) / (having + 0.5)).ln()
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let lists: usize = self.lists.iter().map(Vec::capacity).sum();
        let terms: usize = self.terms.keys().map(|term| term.len()).sum();
        lists * size_of::<Posting>()
            + self.lists.capacity() * size_of::<Vec<Posting>>()
            + terms
            + self.terms.capacity() * (size_of::<(Box<str>, u32)>() + 1)
            + self.lengths.capacity() * size_of::<u16>()
    }
}

/// Different words of one query that count; a longer text asks for nothing in particular.
const MAX_QUERY_WORDS: usize = 256;
