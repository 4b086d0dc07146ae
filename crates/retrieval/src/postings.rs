//! BM25 over an audience's exchanges.
//!
//! Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with
//! the logarithm that never turns negative (`ln(1 + (N - n + ½) / (n + ½))`, as in Lucene).

use std::borrow::Cow;
use std::collections::HashMap;

use crate::language::{LANGUAGES, Language};
use crate::rarity::rarity;
use crate::text::{Words, each_read};
use crate::translation::{English, english};

/// How soon repeating a word stops to count. Set as the calibration was made.
const K1: f32 = 0.9;
/// How much the length of an exchange counts.
const B: f32 = 0.4;

/// As many exchanges the table of English talk counts for when rarities are told. Measured: 20 loses
/// nothing in long histories; 40 does.
const BACKGROUND: f32 = 20.0;
/// How far apart the table's rarities lie, beside those that a history counts.
const BACKGROUND_SCALE: f32 = 0.55;

/// Exchanges above which words that are in more than half of them are no longer looked for: they
/// tell least, and take longest.
const COMMON_WORDS_COUNT_UP_TO: usize = 8_192;
/// Different words of one query that count; a longer text asks for nothing in particular.
const MAX_QUERY_WORDS: usize = 256;

/// A word in an exchange.
#[derive(Clone, Copy, Debug)]
struct Posting {
    entry: u32,
    /// How often it is there.
    count: u16,
    /// Words of the exchange.
    length: u16,
}

/// What tells without a look at the texts that two exchanges do not say the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wording {
    /// Different words of question and answer.
    pub words: u16,
    /// A hash of those that have a digit.
    pub numbers: u32,
}

/// Which exchanges hold which words, and how often.
#[derive(Debug, Default)]
pub struct Postings {
    words: Words,
    /// Stems.
    terms: HashMap<Box<str>, u32>,
    /// Words as they were written, in each language, so that the stem of each is taken once.
    written: [HashMap<Box<str>, u32>; LANGUAGES.len()],
    lists: Vec<Vec<Posting>>,
    /// Of each word that has a digit, a hash; zero of the others.
    digits: Vec<u32>,
    wordings: Vec<Wording>,
    total_length: u64,
    /// Words of other languages by the stems of their English ones.
    foreign: HashMap<&'static str, Vec<u32>>,
}

/// A word of a query.
#[derive(Clone, Debug, PartialEq)]
pub struct SoughtWord {
    pub stem: String,
    /// Where it is not English: as an English word it would have this stem.
    as_english: Option<String>,
    /// What it is in English.
    english: &'static [English],
    /// How much it counts.
    pub weight: f32,
    /// How rare it is in English talk.
    background: f32,
}

impl SoughtWord {
    /// Its stem in English, or those of what it is in English.
    pub(crate) fn english_stems(&self) -> impl Iterator<Item = &str> {
        let own = self.as_english.is_none().then_some(&*self.stem);
        own.into_iter()
            .chain(self.english.iter().map(|it| &*it.stem))
    }

    /// How rare it is in English talk.
    pub(crate) fn background(&self) -> f32 {
        self.background
    }

    /// All the stems by which it may be found.
    pub fn stems(&self) -> Vec<String> {
        let own = [Some(&self.stem), self.as_english.as_ref()];
        let own = own.into_iter().flatten().cloned();
        own.chain(self.english.iter().map(|it| it.stem.clone()))
            .collect()
    }
}

/// Stems, each with who has it and how often.
pub(crate) type StemLists = Vec<(Box<str>, Vec<(u32, u16)>)>;

/// A query's words, each once.
pub type WeightedWords = Vec<SoughtWord>;

/// What the words of a query found, one of each an exchange.
#[derive(Debug)]
pub struct WordScores {
    /// Zero where it has none of the words.
    pub bm25: Vec<f32>,
    /// The part of the query's words (by their rarity) that it has: 0 to 1.
    pub coverage: Vec<f32>,
    /// How rare each word of the query is, times its weight.
    pub rarities: Vec<f32>,
    /// The rarity of the rarest word that no exchange has; zero where each is in one.
    pub unheard: f32,
}

/// A text's words, counted as often as they occur.
pub fn weigh(words: &Words, text: &str, weight: f32, into: &mut WeightedWords) {
    each_read(text, |language, written| {
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

/// Whether a word that so many of all have is looked for.
pub(crate) fn is_sought(all: usize, having: usize) -> bool {
    all <= COMMON_WORDS_COUNT_UP_TO || having <= all / 2
}

/// What a word of this rarity counts that is there so often, in a text that is so long.
#[inline]
pub(crate) fn worth(idf: f32, often: u16, length: u16, average: f32) -> f32 {
    let (often, length) = (f32::from(often), f32::from(length));
    let saturation = often + K1 * (1.0 - B + B * length / average);
    idf * often * (K1 + 1.0) / saturation
}

/// How rare a word is that so many exchanges have: a few exchanges cannot tell, so the table of
/// English talk has its say.
pub(crate) fn idf(all: usize, having: usize, background: f32) -> f32 {
    let (all, having) = (all as f32, having as f32);
    let own = (1.0 + (all - having + 0.5) / (having + 0.5)).ln();
    (all * own + BACKGROUND * BACKGROUND_SCALE * background) / (all + BACKGROUND)
}

/// FNV-1a, never zero, of a stem with a digit; zero of another.
fn hash_of_digits(stem: &str) -> u32 {
    if !stem.contains(char::is_numeric) {
        return 0;
    }
    let mix = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    stem.bytes().fold(0x811C_9DC5, mix).max(1)
}

impl Postings {
    /// Adds the next exchange: what is said in it, and by what else it is found. Says of how many words it is.
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

    /// The numbers of a text's words, new ones for those that were never seen.
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
        each_read(text, |language, word| {
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
            // A number is seldom written again.
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
            // Any mix will do that the order is of no consequence to: what it takes for the same is
            // compared word by word.
            numbers: numbers.fold(0, u32::wrapping_add),
        }
    }

    /// How many exchanges there are.
    pub fn count(&self) -> usize {
        self.wordings.len()
    }

    /// The stems in their order, each with who has it and how often; and the stems of English words,
    /// each with one of another language that means it.
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

    pub fn words(&self) -> &Words {
        &self.words
    }

    /// A text's words, counted as often as they occur.
    pub fn weighted(&self, text: &str, weight: f32, into: &mut WeightedWords) {
        weigh(&self.words, text, weight, into);
    }

    /// What the words found in every exchange.
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
                scores.bm25[entry] += worth(idf, posting.count, posting.length, average);
                scores.coverage[entry] += share;
            }
        }
        scores
    }

    /// Where a word of a query is, in whatever language.
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

    /// The lists of several words as of one.
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

    /// How much of a query, by rarity, its rarest word is that the exchange does not have: 0 to 1.
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

    /// How rare a stem is that is so rare in English talk.
    pub fn rarity_of_stem(&self, stem: &str, background: f32) -> f32 {
        self.idf(self.list(stem).len(), background)
    }

    /// The same of a word of a query.
    pub fn rarity_of(&self, word: &SoughtWord) -> f32 {
        word.weight * self.idf(self.found(word).len(), word.background)
    }

    fn list(&self, word: &str) -> &[Posting] {
        self.terms
            .get(word)
            .map_or(&[], |&term| &self.lists[term as usize])
    }

    fn idf(&self, having: usize, background: f32) -> f32 {
        idf(self.wordings.len(), having, background)
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
