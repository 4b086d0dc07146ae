//! BM25 over an audience's exchanges.
//!
//! Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with
//! the logarithm that never turns negative (`ln(1 + (N - n + ½) / (n + ½))`, as in Lucene).

use std::borrow::Cow;
use std::collections::HashMap;

use crate::language::{LANGUAGES, Language};
use crate::rarity::rarity;
use crate::text::{WordStemmer, each_content_word};
use crate::translation::{English, english};

/// Saturation of term frequency. Set when the calibration was made.
const K1: f32 = 0.9;
/// Weight of the length of an exchange.
const B: f32 = 0.4;

/// Number of exchanges that the table of English talk counts as for rarities. Measured: 20 loses nothing in
/// long histories; 40 does.
const BACKGROUND: f32 = 20.0;
/// Scale of the table's rarities, relative to those counted in a history.
const BACKGROUND_SCALE: f32 = 0.55;

/// Above this number of exchanges, words in more than half of them are not searched: they are the least
/// telling and take longest.
const COMMON_WORDS_COUNT_UP_TO: usize = 8_192;
/// Maximum number of different words of a query; a longer text asks for nothing in particular.
const MAX_QUERY_WORDS: usize = 256;

/// A word in an exchange.
#[derive(Clone, Copy, Debug)]
struct Posting {
    entry: u32,
    /// Frequency of the word.
    count: u16,
    /// Length of the exchange in words.
    length: u16,
}

/// Data that shows, without the texts, that two exchanges do not say the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wording {
    /// Number of different words in question and answer.
    pub words: u16,
    /// A hash of the words with a digit.
    pub numbers: u32,
}

/// The inverted index: which exchanges contain which words, and how often.
#[derive(Debug, Default)]
pub struct Postings {
    words: WordStemmer,
    /// By stem.
    terms: HashMap<Box<str>, u32>,
    /// By word as written, for each language, so that each stem is computed once.
    written: [HashMap<Box<str>, u32>; LANGUAGES.len()],
    lists: Vec<Vec<Posting>>,
    /// For each word with a digit, a hash; zero for the others.
    digits: Vec<u32>,
    wordings: Vec<Wording>,
    total_length: u64,
    /// Foreign words by the stems of their English translations.
    foreign: HashMap<&'static str, Vec<u32>>,
}

/// A word of a query.
#[derive(Clone, Debug, PartialEq)]
pub struct SoughtWord {
    pub stem: String,
    /// Its stem as an English word, if it is not English.
    as_english: Option<String>,
    /// Its English translations.
    english: &'static [English],
    /// Its weight.
    pub weight: f32,
    /// Its rarity in English talk.
    background: f32,
}

impl SoughtWord {
    /// Its stem in English, or those of its translations.
    pub(crate) fn english_stems(&self) -> impl Iterator<Item = &str> {
        let own = self.as_english.is_none().then_some(&*self.stem);
        own.into_iter()
            .chain(self.english.iter().map(|it| &*it.stem))
    }

    /// Its rarity in English talk.
    pub(crate) fn background(&self) -> f32 {
        self.background
    }

    /// All stems by which it may be found.
    pub fn stems(&self) -> Vec<String> {
        let own = [Some(&self.stem), self.as_english.as_ref()];
        let own = own.into_iter().flatten().cloned();
        own.chain(self.english.iter().map(|it| it.stem.clone()))
            .collect()
    }
}

/// Stems, each with the entries that contain it and their frequencies.
pub(crate) type StemLists = Vec<(Box<str>, Vec<(u32, u16)>)>;

/// The distinct words of a query.
pub type WeightedWords = Vec<SoughtWord>;

/// The scores of a query's words, one value per exchange.
#[derive(Debug)]
pub struct WordScores {
    /// Zero if it has none of the words.
    pub bm25: Vec<f32>,
    /// Share of the query's words, weighted by rarity, that it contains: 0 to 1.
    pub coverage: Vec<f32>,
    /// Rarity of each word of the query, times its weight.
    pub rarities: Vec<f32>,
    /// Rarity of the rarest word that no exchange contains; zero if each is in one.
    pub unheard: f32,
}

/// Adds the words of a text, with their number of occurrences.
pub fn add_words(words: &WordStemmer, text: &str, weight: f32, into: &mut WeightedWords) {
    each_content_word(text, |language, written| {
        let stem = words.stem(language, written);
        let known = into.iter().position(|known| known.stem == *stem);
        match known {
            Some(place) => into[place].weight += weight,
            None if into.len() < MAX_QUERY_WORDS => {
                let english = english(language, &stem);
                let rarities = english.iter().map(|it| rarity(it.written));
                let as_english = || words.stem(Language::English, written).into_owned();
                into.push(SoughtWord {
                    weight,
                    english,
                    as_english: (language != Language::English).then(as_english),
                    background: rarities.reduce(f32::min).unwrap_or_else(|| rarity(written)),
                    stem: stem.into_owned(),
                });
            }
            None => {}
        }
    });
}

/// Whether a word that this many of all exchanges contain is searched.
pub(crate) fn is_sought(all: usize, doc_freq: usize) -> bool {
    all <= COMMON_WORDS_COUNT_UP_TO || doc_freq <= all / 2
}

/// The BM25 score of a word with this rarity and frequency, in a text of this length.
#[inline]
pub(crate) fn bm25_score(idf: f32, often: u16, length: u16, average: f32) -> f32 {
    let (often, length) = (f32::from(often), f32::from(length));
    let saturation = often + K1 * (1.0 - B + B * length / average);
    idf * often * (K1 + 1.0) / saturation
}

/// The rarity of a word that this many exchanges contain. A few exchanges say little, so the table of English
/// talk is used as well.
pub(crate) fn idf(all: usize, doc_freq: usize, background: f32) -> f32 {
    let (all, doc_freq) = (all as f32, doc_freq as f32);
    let own = (1.0 + (all - doc_freq + 0.5) / (doc_freq + 0.5)).ln();
    (all * own + BACKGROUND * BACKGROUND_SCALE * background) / (all + BACKGROUND)
}

/// FNV-1a of a stem with a digit, never zero; zero for other stems.
fn hash_of_digits(stem: &str) -> u32 {
    if !stem.contains(char::is_numeric) {
        return 0;
    }
    let mix = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    stem.bytes().fold(0x811C_9DC5, mix).max(1)
}

impl Postings {
    /// Adds the next exchange: its text, and additional tags by which it is found. Returns its number of
    /// words.
    pub fn push<'a>(&mut self, said: [&str; 2], tags: impl Iterator<Item = &'a str>) -> u16 {
        let mut found: Vec<u32> = Vec::new();
        for text in said {
            self.number(text, &mut found);
        }
        self.wordings.push(self.wording(&found));
        for text in tags {
            self.number(text, &mut found);
        }
        let entry = self.wordings.len() as u32 - 1;
        let length = u16::try_from(found.len()).unwrap_or(u16::MAX);
        found.sort_unstable();
        for same in found.chunk_by(|a, b| a == b) {
            self.lists[same[0] as usize].push(Posting {
                entry,
                count: u16::try_from(same.len()).unwrap_or(u16::MAX),
                length,
            });
        }
        self.total_length += u64::from(length);
        length
    }

    /// The numbers of a text's words; new words get new numbers.
    fn number(&mut self, text: &str, into: &mut Vec<u32>) {
        let Self {
            words,
            terms,
            written,
            lists,
            digits,
            foreign,
            ..
        } = self;
        let words = &*words;
        each_content_word(text, |language, word| {
            let written = &mut written[language as usize];
            if let Some(&term) = written.get(word) {
                return into.push(term);
            }
            let stem = words.stem(language, word);
            let term = match terms.get(&*stem) {
                Some(&term) => term,
                None => {
                    let term = lists.len() as u32;
                    lists.push(Vec::new());
                    digits.push(hash_of_digits(&stem));
                    terms.insert((*stem).into(), term);
                    term
                }
            };
            for english in english(language, &stem) {
                let known = foreign.entry(&*english.stem).or_default();
                if !known.contains(&term) {
                    known.push(term);
                }
            }
            // A number rarely occurs again.
            if digits[term as usize] == 0 {
                written.insert(word.into(), term);
            }
            into.push(term);
        });
    }

    fn wording(&self, found: &[u32]) -> Wording {
        let mut words = found.to_vec();
        words.sort_unstable();
        words.dedup();
        let numbers = words.iter().map(|term| self.digits[*term as usize]);
        Wording {
            words: u16::try_from(words.len()).unwrap_or(u16::MAX),
            // The sum does not depend on the order. Exchanges that it considers equal are compared word by
            // word.
            numbers: numbers.fold(0, u32::wrapping_add),
        }
    }

    /// Number of exchanges.
    pub fn count(&self) -> usize {
        self.wordings.len()
    }

    /// The stems in order, each with its entries and their frequencies; and the stems of English words, each
    /// with a foreign word that it translates.
    pub(crate) fn into_lists(self) -> (StemLists, Vec<(&'static str, String)>) {
        let mut stems: Vec<(Box<str>, u32)> = self.terms.into_iter().collect();
        stems.sort_unstable();
        let mut foreign = Vec::new();
        let by_term: HashMap<u32, &str> =
            stems.iter().map(|(stem, term)| (*term, &**stem)).collect();
        for (english, terms) in self.foreign {
            let named = terms.iter().filter_map(|term| by_term.get(term));
            foreign.extend(named.map(|stem| (english, (*stem).to_owned())));
        }
        let mut lists = self.lists;
        let words = stems.into_iter().map(|(stem, term)| {
            let list = std::mem::take(&mut lists[term as usize]).into_iter();
            let list = list.map(|posting| (posting.entry, posting.count));
            (stem, list.collect())
        });
        (words.collect(), foreign)
    }

    pub fn wording_of(&self, entry: usize) -> Wording {
        self.wordings[entry]
    }

    pub fn words(&self) -> &WordStemmer {
        &self.words
    }

    /// Adds the words of a text, with their number of occurrences.
    pub fn weighted(&self, text: &str, weight: f32, into: &mut WeightedWords) {
        add_words(&self.words, text, weight, into);
    }

    /// The scores of every exchange for the words.
    pub fn score(&self, query: &WeightedWords) -> WordScores {
        let count = self.wordings.len();
        let mut scores = WordScores {
            bm25: vec![0.0; count],
            coverage: vec![0.0; count],
            rarities: Vec::with_capacity(query.len()),
            unheard: 0.0,
        };
        let average = (self.total_length as f32 / count.max(1) as f32).max(1.0);
        let lists: Vec<(Cow<'_, [Posting]>, f32)> = query
            .iter()
            .map(|word| {
                let list = self.found(word);
                let idf = self.idf(list.len(), word.background);
                (list, word.weight * idf)
            })
            .collect();
        scores.rarities.extend(lists.iter().map(|(_, idf)| *idf));
        let lists: Vec<(Cow<'_, [Posting]>, f32)> = lists
            .into_iter()
            .filter(|(list, _)| is_sought(count, list.len()))
            .collect();
        let total: f32 = lists.iter().map(|(_, idf)| idf).sum();
        for (list, idf) in lists {
            if list.is_empty() {
                scores.unheard = scores.unheard.max(idf);
            }
            let share = idf / total;
            for posting in &*list {
                let entry = posting.entry as usize;
                scores.bm25[entry] += bm25_score(idf, posting.count, posting.length, average);
                scores.coverage[entry] += share;
            }
        }
        scores
    }

    /// The postings of a word of a query, in any language.
    fn found(&self, word: &SoughtWord) -> Cow<'_, [Posting]> {
        let own = [Some(&word.stem), word.as_english.as_ref()];
        let own = own.into_iter().flatten().map(String::as_str);
        let own = own.chain(word.english.iter().map(|it| &*it.stem));
        let own = own.filter_map(|stem| self.terms.get(stem));
        let foreign = word
            .english_stems()
            .filter_map(|stem| self.foreign.get(stem));
        let mut terms: Vec<u32> = own.chain(foreign.flatten()).copied().collect();
        terms.sort_unstable();
        terms.dedup();
        match *terms {
            [] => Cow::Borrowed(&[]),
            [term] => Cow::Borrowed(&self.lists[term as usize]),
            _ => Cow::Owned(self.together(&terms)),
        }
    }

    /// Merges the postings of several words.
    fn together(&self, terms: &[u32]) -> Vec<Posting> {
        let lists = terms.iter().flat_map(|&term| &self.lists[term as usize]);
        let mut all: Vec<Posting> = lists.copied().collect();
        all.sort_by_key(|posting| posting.entry);
        all.dedup_by(|next, kept| {
            let same = next.entry == kept.entry;
            if same {
                kept.count = kept.count.max(next.count);
            }
            same
        });
        all
    }

    /// Whether an exchange has one of the words.
    pub fn has_any<'a>(
        &self,
        mut words: impl Iterator<Item = &'a SoughtWord>,
        entry: usize,
    ) -> bool {
        words.any(|word| {
            let list = self.found(word);
            list.binary_search_by_key(&entry, |posting| posting.entry as usize)
                .is_ok()
        })
    }

    /// Share of a query, by rarity, of its rarest word that the exchange lacks: 0 to 1.
    pub fn missing(&self, query: &WeightedWords, entry: usize) -> f32 {
        let (mut total, mut most) = (0.0, 0.0_f32);
        for word in query {
            let list = self.found(word);
            let counts = word.weight * self.idf(list.len(), word.background);
            total += counts;
            let has = list.binary_search_by_key(&entry, |posting| posting.entry as usize);
            if has.is_err() {
                most = most.max(counts);
            }
        }
        if total > 0.0 { most / total } else { 1.0 }
    }

    /// The rarity of a stem with this rarity in English talk.
    pub fn rarity_of_stem(&self, stem: &str, background: f32) -> f32 {
        self.idf(self.list(stem).len(), background)
    }

    /// The same for a word of a query.
    pub fn rarity_of(&self, word: &SoughtWord) -> f32 {
        word.weight * self.idf(self.found(word).len(), word.background)
    }

    fn list(&self, word: &str) -> &[Posting] {
        self.terms
            .get(word)
            .map_or(&[], |&term| &self.lists[term as usize])
    }

    fn idf(&self, doc_freq: usize, background: f32) -> f32 {
        idf(self.wordings.len(), doc_freq, background)
    }

    pub fn heap_bytes(&self) -> usize {
        let lists: usize = self.lists.iter().map(Vec::capacity).sum();
        let maps = || self.written.iter().chain([&self.terms]);
        let terms: usize = maps()
            .flat_map(|map| map.keys())
            .map(|term| term.len())
            .sum();
        let slots: usize = maps().map(|map| map.capacity()).sum();
        lists * size_of::<Posting>()
            + self.lists.capacity() * size_of::<Vec<Posting>>()
            + terms
            + slots * (size_of::<(Box<str>, u32)>() + 1)
            + self.digits.capacity() * size_of::<u32>()
            + self.wordings.capacity() * size_of::<Wording>()
    }
}
