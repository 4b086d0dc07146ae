//! BM25 over lists on disk: the same scores as from [`Postings`], over any number of parts that count as one.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::blocks::{BlockFile, BlockWriter, FileRange};
use super::lists::{self, Having};
use super::runs::{Merged, SortedRun, Sorter};
use super::table::{Table, TablePart, TableWriter};
use crate::postings::{
    Postings, SoughtWord, WeightedWords, WordScores, Wording, bm25_score, idf, is_sought,
};

/// Number of entries after which the memory use of a block is measured again.
const COUNTED_EVERY: usize = 256;
/// The separator between the stems of one list.
const BETWEEN: char = ' ';

/// The position of a part's lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WordsPart {
    words: TablePart,
    /// Foreign words by the stems of their English translations.
    foreign: TablePart,
    /// Two bytes per entry.
    lengths: FileRange,
    total_length: u64,
}

/// Takes entries in order, and writes the lists of their words.
#[derive(Debug)]
pub struct WordsWriter {
    folder: PathBuf,
    most: usize,
    /// Entries that are not written yet; the first one has the number `before`.
    block: Postings,
    before: u32,
    runs: Vec<SortedRun>,
    foreign: Sorter,
    lengths: Vec<u8>,
    total_length: u64,
}

impl WordsWriter {
    /// Its files are in `folder`; about `most` bytes are held in memory.
    pub fn new(folder: &Path, most: usize) -> Self {
        Self {
            folder: folder.to_owned(),
            most,
            block: Postings::default(),
            before: 0,
            runs: Vec::new(),
            foreign: Sorter::new(folder, most / 16),
            lengths: Vec::new(),
            total_length: 0,
        }
    }

    /// Adds the next entry: its text, and additional tags by which it is found.
    ///
    /// # Errors
    /// Fails when a run cannot be written.
    pub fn push<'a>(
        &mut self,
        said: [&str; 2],
        tags: impl Iterator<Item = &'a str>,
    ) -> io::Result<Wording> {
        let length = self.block.push(said, tags);
        self.lengths.extend(length.to_le_bytes());
        self.total_length += u64::from(length);
        let count = self.block.count();
        let wording = self.block.wording_of(count - 1);
        if count.is_multiple_of(COUNTED_EVERY) && self.block.heap_bytes() > self.most {
            self.spill()?;
        }
        Ok(wording)
    }

    fn spill(&mut self) -> io::Result<()> {
        let block = std::mem::take(&mut self.block);
        let count = block.count() as u32;
        let (words, foreign) = block.into_lists();
        let mut run = SortedRun::new(&self.folder)?;
        for (stem, list) in words {
            let numbered = list
                .into_iter()
                .map(|(entry, told)| (self.before + entry, told));
            let numbered: Vec<Having> = numbered.collect();
            run.push(stem.as_bytes(), &lists::encode_part(numbered.into_iter()))?;
        }
        for (english, stem) in foreign {
            self.foreign.push(english.as_bytes(), stem.as_bytes())?;
        }
        self.runs.push(run);
        self.before += count;
        Ok(())
    }

    /// Writes the lists.
    ///
    /// # Errors
    /// Fails when they cannot be written.
    pub fn finish(mut self, to: &mut BlockWriter) -> io::Result<WordsPart> {
        self.spill()?;
        let mut words = TableWriter::default();
        let mut merged = Merged::of(self.runs)?;
        while let Some((stem, stretches)) = merged.group()? {
            words.push(&stem, &lists::join_parts(&stretches), to)?;
        }
        let words = words.finish(to)?;
        let mut foreign = TableWriter::default();
        let mut merged = self.foreign.finish()?;
        while let Some((english, mut stems)) = merged.group()? {
            stems.sort();
            stems.dedup();
            foreign.push(&english, &stems.join(&(BETWEEN as u8)), to)?;
        }
        let foreign = foreign.finish(to)?;
        let start = to.position();
        to.write(&self.lengths)?;
        Ok(WordsPart {
            words,
            foreign,
            lengths: FileRange::since(start, to),
            total_length: self.total_length,
        })
    }
}

/// The lists of a part.
#[derive(Debug)]
pub struct WordLists {
    words: Table,
    foreign: Table,
    /// Length of each entry in words.
    lengths: Vec<u16>,
    total_length: u64,
}

/// A searched part: its lists and their file.
#[derive(Clone, Copy, Debug)]
pub struct Searched<'a> {
    pub file: &'a BlockFile,
    pub lists: &'a WordLists,
    /// Whether its entries are scored. Its words count for the rarities in any case.
    pub is_seen: bool,
}

impl WordLists {
    /// `None` if the file is damaged.
    pub fn open(file: &BlockFile, part: WordsPart) -> Option<Self> {
        let lengths = part.lengths.read(file)?;
        let (lengths, _) = lengths.as_chunks::<2>();
        Some(Self {
            words: Table::open(file, part.words)?,
            foreign: Table::open(file, part.foreign)?,
            lengths: lengths.iter().map(|it| u16::from_le_bytes(*it)).collect(),
            total_length: part.total_length,
        })
    }

    pub fn count(&self) -> usize {
        self.lengths.len()
    }

    /// The positions of the lists of all stems by which a word may be found.
    fn places(&self, file: &BlockFile, word: &SoughtWord) -> Vec<Range<u64>> {
        let mut stems = word.stems();
        for english in word.english_stems() {
            let foreign = self.foreign.get(file, english.as_bytes());
            let foreign = String::from_utf8(foreign.unwrap_or_default()).unwrap_or_default();
            stems.extend(foreign.split(BETWEEN).map(str::to_owned));
        }
        stems.sort();
        stems.dedup();
        let places = stems.iter().filter(|stem| !stem.is_empty());
        places
            .filter_map(|stem| self.words.find(file, stem.as_bytes()))
            .collect()
    }

    /// The number of entries in any of these lists.
    fn doc_freq(&self, file: &BlockFile, places: &[Range<u64>]) -> usize {
        match places {
            [] => 0,
            [one] => lists::length_in(file, one),
            several => self.list(file, several).len(),
        }
    }

    /// The entries in any of these lists, in order, with their frequencies.
    fn list(&self, file: &BlockFile, places: &[Range<u64>]) -> Vec<Having> {
        let read = places
            .iter()
            .flat_map(|place| lists::read(file, place, self.count()));
        let mut all: Vec<Having> = read.collect();
        if places.len() > 1 {
            all.sort_by_key(|(entry, _)| *entry);
            all.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                if same {
                    kept.1 = kept.1.max(next.1);
                }
                same
            });
        }
        all
    }

    pub fn heap_bytes(&self) -> usize {
        self.words.heap_bytes()
            + self.foreign.heap_bytes()
            + self.lengths.capacity() * size_of::<u16>()
    }
}

/// A word of a question.
struct SearchedWord {
    /// The positions of its lists, by part.
    places: Vec<Vec<Range<u64>>>,
    /// The number of entries with this word.
    doc_freq: usize,
    idf: f32,
}

/// The scores of every entry of all parts, which are numbered consecutively. Only one list is in memory at a time.
pub fn score(parts: &[Searched<'_>], query: &WeightedWords) -> WordScores {
    let count: usize = parts.iter().map(|part| part.lists.count()).sum();
    let total_length: u64 = parts.iter().map(|part| part.lists.total_length).sum();
    let mut scores = WordScores {
        bm25: vec![0.0; count],
        coverage: vec![0.0; count],
        rarities: Vec::with_capacity(query.len()),
        unheard: 0.0,
    };
    let average = (total_length as f32 / count.max(1) as f32).max(1.0);
    let words = query.iter().map(|word| {
        let places = parts.iter().map(|it| it.lists.places(it.file, word));
        let places: Vec<Vec<Range<u64>>> = places.collect();
        let each = parts.iter().zip(&places);
        let doc_freqs = each.map(|(it, places)| it.lists.doc_freq(it.file, places));
        let doc_freq = doc_freqs.sum();
        let idf = word.weight * idf(count, doc_freq, word.background());
        SearchedWord {
            places,
            doc_freq,
            idf,
        }
    });
    let mut words: Vec<SearchedWord> = words.collect();
    scores.rarities.extend(words.iter().map(|word| word.idf));
    words.retain(|word| is_sought(count, word.doc_freq));
    let total: f32 = words.iter().map(|word| word.idf).sum();
    for SearchedWord {
        places,
        doc_freq,
        idf,
    } in words
    {
        if doc_freq == 0 {
            scores.unheard = scores.unheard.max(idf);
        }
        let share = idf / total;
        let mut start = 0;
        for (part, places) in parts.iter().zip(&places) {
            if part.is_seen {
                for (entry, often) in part.lists.list(part.file, places) {
                    let length = part.lists.lengths[entry as usize];
                    let entry = start + entry as usize;
                    scores.bm25[entry] += bm25_score(idf, often, length, average);
                    scores.coverage[entry] += share;
                }
            }
            start += part.lists.count();
        }
    }
    scores
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::postings::add_words;
    use crate::text::WordStemmer;

    const WORDS: [&str; 14] = [
        "raven", "ravens", "Hafen", "harbour", "port", "tide", "tides", "4711", "4712", "lantern",
        "Laterne", "the", "der", "Fähre",
    ];

    fn text() -> impl Strategy<Value = String> {
        prop::collection::vec(prop::sample::select(&WORDS[..]), 0..12)
            .prop_map(|words| words.join(" "))
    }

    /// Writes a file and opens it again.
    fn written(texts: &[(String, String)], most: usize) -> (BlockFile, WordLists, Vec<Wording>) {
        let folder = tempfile::tempdir().unwrap();
        let file = tempfile::tempfile().unwrap();
        let mut to = BlockWriter::new(file.try_clone().unwrap());
        let mut writer = WordsWriter::new(folder.path(), most);
        let wordings = texts
            .iter()
            .map(|(text, tag)| {
                writer
                    .push([text, ""], std::iter::once(tag.as_str()))
                    .unwrap()
            })
            .collect();
        let part = writer.finish(&mut to).unwrap();
        to.finish(b"").unwrap();
        let (file, _) = BlockFile::open(file).unwrap().unwrap();
        let lists = WordLists::open(&file, part).unwrap();
        (file, lists, wordings)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn parts_on_disk_score_as_one_in_memory(
            texts in prop::collection::vec((text(), text()), 0..600),
            question in text(),
            cut in 0..600_usize,
        ) {
            let mut naive = Postings::default();
            for (text, tag) in &texts {
                naive.push([text, ""], std::iter::once(tag.as_str()));
            }
            let cut = cut.min(texts.len());
            // The second part is written in many runs.
            let parts = [written(&texts[..cut], 1 << 20), written(&texts[cut..], 1)];
            let mut query = WeightedWords::new();
            add_words(&WordStemmer::default(), &question, 1.0, &mut query);
            let expected = naive.score(&query);
            let searched: Vec<Searched<'_>> = parts
                .iter()
                .map(|(file, lists, _)| Searched { file, lists, is_seen: true })
                .collect();
            let found = score(&searched, &query);
            prop_assert_eq!(&found.bm25, &expected.bm25);
            prop_assert_eq!(&found.coverage, &expected.coverage);
            prop_assert!((found.unheard - expected.unheard).abs() < 1e-6);
            for (one, other) in found.rarities.iter().zip(&expected.rarities) {
                prop_assert!((one - other).abs() < 1e-5);
            }
            let wordings: Vec<Wording> = parts.iter().flat_map(|it| it.2.clone()).collect();
            let naive: Vec<Wording> = (0..texts.len()).map(|at| naive.wording_of(at)).collect();
            prop_assert_eq!(wordings, naive);
        }

        #[test]
        fn what_is_not_seen_counts_for_rarity_alone(
            texts in prop::collection::vec((text(), text()), 1..60), question in text(),
        ) {
            let parts = [written(&texts, 1 << 20), written(&texts, 1 << 20)];
            let mut query = WeightedWords::new();
            add_words(&WordStemmer::default(), &question, 1.0, &mut query);
            let scored = |seen: [bool; 2]| {
                let parts = parts.iter().zip(seen);
                let parts: Vec<Searched<'_>> = parts
                    .map(|((file, lists, _), is_seen)| Searched { file, lists, is_seen })
                    .collect();
                score(&parts, &query)
            };
            let (both, first) = (scored([true, true]), scored([true, false]));
            prop_assert_eq!(&first.bm25[..texts.len()], &both.bm25[..texts.len()]);
            prop_assert!(first.bm25[texts.len()..].iter().all(|it| *it == 0.0));
        }
    }
}
