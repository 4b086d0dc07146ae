//! Names and headings, found in a question.

use std::collections::BTreeSet;

use super::index::Segment;
use crate::retrieval::text::Words;

/// Different words of a name that count; what has more is no name.
const MAX_WORDS: usize = 12;

/// The words of a source's own name: who says them means all of it, and nothing in it.
pub(super) fn of_source(words: &Words, name: &str) -> BTreeSet<String> {
    let fits = |c: char| if c.is_alphanumeric() { c } else { ' ' };
    let name: String = name.chars().map(fits).collect();
    of_text(words, &name)
}

/// The different words of a text.
pub(super) fn of_text(words: &Words, text: &str) -> BTreeSet<String> {
    words.list(text).into_iter().collect()
}

/// The words by which a thing is known that is called so, of which the words of its source are no part; none of what is no
/// name.
pub(super) fn of_name(words: &Words, name: &str, of_source: &BTreeSet<String>) -> BTreeSet<String> {
    let mut stems = of_text(words, name);
    stems.retain(|stem| !of_source.contains(stem));
    if stems.len() > MAX_WORDS {
        stems.clear();
    }
    stems
}

/// What of the words of a name a text has.
#[derive(Clone, Copy, Default)]
struct Matched {
    rarity: f32,
    /// Words that are there, and words of the name.
    count: u8,
    words: u8,
}

/// What is named by these words of a text, in sources that are seen, and how surely: the part of the name's words that are
/// in it, by their rarity, and less where they are words of many names. From `least` on, in their order.
pub(super) fn found_in(
    sources: &[&Segment],
    stems: &BTreeSet<String>,
    least: f32,
    seen: &[bool],
) -> Vec<(usize, f32)> {
    let all = sources.iter().map(|source| source.count()).sum();
    let rarest = rarity(all, 1);
    // In their order: sums of floats depend on it.
    let having = stems.iter().map(|stem| {
        let counts = sources.iter().map(|source| source.named_count(stem));
        (stem, counts.sum::<usize>())
    });
    let having: Vec<(&String, usize)> = having.filter(|(_, having)| *having > 0).collect();
    let mut found = Vec::new();
    let mut start = 0;
    for (source, is_seen) in sources.iter().zip(seen) {
        if *is_seen && !having.is_empty() {
            let mut matched = vec![Matched::default(); source.count()];
            for (stem, having) in &having {
                let rarity = rarity(all, *having);
                for (number, words) in source.named(stem) {
                    let of_one = &mut matched[number as usize];
                    of_one.rarity += rarity;
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
    let Matched {
        rarity,
        count,
        words,
    } = matched;
    if count == 0 {
        return None;
    }
    // A word of a name that is not there is as rare as those that are, on the average.
    let share = f32::from(count) / f32::from(words.max(count));
    let telling = (rarity / f32::from(count) / rarest).min(1.0);
    (share >= least).then_some(share * telling)
}

fn rarity(all: usize, having: usize) -> f32 {
    (1.0 + all as f32 / having.max(1) as f32).ln()
}
