//! Finds names and headings in a question.

use std::collections::BTreeSet;

use super::segment::Segment;
use crate::retrieval::text::WordStemmer;

/// Maximum different words of a name; a longer text is not a name.
const MAX_WORDS: usize = 12;

/// Returns the words of a source's own name: they mean the whole source, and nothing in it.
pub(super) fn of_source(words: &WordStemmer, name: &str) -> BTreeSet<String> {
    let fits = |c: char| if c.is_alphanumeric() { c } else { ' ' };
    let name: String = name.chars().map(fits).collect();
    of_text(words, &name)
}

/// Returns the different words of a text.
pub(super) fn of_text(words: &WordStemmer, text: &str) -> BTreeSet<String> {
    words.list(text).into_iter().collect()
}

/// Returns the words that identify a thing with this name, without those of its source; empty if it
/// is not a name.
pub(super) fn of_name(
    words: &WordStemmer,
    name: &str,
    of_source: &BTreeSet<String>,
) -> BTreeSet<String> {
    let mut stems = of_text(words, name);
    stems.retain(|stem| !of_source.contains(stem));
    if stems.len() > MAX_WORDS {
        stems.clear();
    }
    stems
}

/// How much of a name occurs in a text.
#[derive(Clone, Copy, Default)]
struct Matched {
    idf: f32,
    /// Number of matching words, and of words in the name.
    count: u8,
    words: u8,
}

/// Returns what these words of a text name, in visible sources, with the certainty: the matched
/// part of the name's words, by rarity, and less for words of many names. At least `least`, in
/// order.
pub(super) fn found_in(
    sources: &[&Segment],
    stems: &BTreeSet<String>,
    least: f32,
    seen: &[bool],
) -> Vec<(usize, f32)> {
    let all = sources.iter().map(|source| source.count()).sum();
    let rarest = idf(all, 1);
    // In order, because floating-point sums depend on it.
    let doc_freqs = stems.iter().map(|stem| {
        let counts = sources.iter().map(|source| source.named_count(stem));
        (stem, counts.sum::<usize>())
    });
    let doc_freqs: Vec<(&String, usize)> =
        doc_freqs.filter(|(_, doc_freq)| *doc_freq > 0).collect();
    let mut found = Vec::new();
    let mut start = 0;
    for (source, is_seen) in sources.iter().zip(seen) {
        if *is_seen && !doc_freqs.is_empty() {
            let mut matched = vec![Matched::default(); source.count()];
            for (stem, doc_freq) in &doc_freqs {
                let idf = idf(all, *doc_freq);
                for (number, words) in source.named(stem) {
                    let of_one = &mut matched[number as usize];
                    of_one.idf += idf;
                    of_one.count += 1;
                    of_one.words = words.min(u16::from(u8::MAX)) as u8;
                }
            }
            let sure = matched.iter().map(|matched| sure(*matched, rarest, least));
            let numbered = (start..).zip(sure);
            found.extend(numbered.filter_map(|(number, sure)| Some((number, sure?))));
        }
        start += source.count();
    }
    found
}

fn sure(matched: Matched, rarest: f32, least: f32) -> Option<f32> {
    let Matched { idf, count, words } = matched;
    if count == 0 {
        return None;
    }
    // A missing word of a name counts as rare as the matching ones on average.
    let share = f32::from(count) / f32::from(words.max(count));
    let telling = (idf / f32::from(count) / rarest).min(1.0);
    (share >= least).then_some(share * telling)
}

fn idf(all: usize, doc_freq: usize) -> f32 {
    (1.0 + all as f32 / doc_freq.max(1) as f32).ln()
}
